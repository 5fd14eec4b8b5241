"""From checked arguments to a typed frame, and from arguments to request bodies."""
