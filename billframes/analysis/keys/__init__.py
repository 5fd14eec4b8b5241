"""The keys that `by=` names: which columns they are of, and how rows are added up by them."""
