"""How fast billframes is, always beside the same thing done by hand and in the same run."""
