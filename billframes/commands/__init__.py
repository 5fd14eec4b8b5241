"""Commands that belong to no other package: `doctor`, `export` and `login`."""
