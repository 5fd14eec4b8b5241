"""Wheel and sdist, installed into empty environments: the core alone, and each extra alone.

`python -m tests.packaging [EXTRA …]` builds both and tries all extras, or those named. It needs `build`,
`uv` and a package index, so the suite does not run it. `python -m tests.packaging --release` says what a release lacks.
"""
