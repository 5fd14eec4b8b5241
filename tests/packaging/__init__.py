"""Wheel and sdist, installed into empty environments: the core alone, and each extra alone.

`python -m tests.packaging [EXTRA …]` builds both and tries all extras, or those named. It needs `uv`
and a package index, so the suite does not run it.
"""
