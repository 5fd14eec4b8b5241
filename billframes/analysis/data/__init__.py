"""The frames of a book or of a call: converted and checked once, with the facts that are made from them."""
