"""The analyses: pure functions from frames to frames, on any engine.

Each analysis is one module here, in which `ANALYSIS` declares everything that the rest of billframes needs. What they
share is in folders; a module imports only from folders above its own:

- `declare`: the declarations of analyses, facts and columns, and the words that explain them
- `frames`: users' frames, converted to Narwhals and checked, and results converted back
- `rules`: what is noted about frames that would give a wrong figure without an error
- `model`: the rows that analyses add up, and the keys that group them
- `results`: results explained, compared, and put side by side

The names here are the functions, not the modules with the same names.
"""

from __future__ import annotations

from billframes.analysis.declare.lookup import analyses

__all__ = list(analyses())

globals().update({name: each.function for name, each in analyses().items()})
