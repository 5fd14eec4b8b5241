"""Load checked arguments as a typed frame, and turn arguments into request bodies."""
