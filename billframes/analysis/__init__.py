"""The analyses: pure functions from frames to frames, on any engine.

Each analysis has its own module, in which `ANALYSIS` declares everything that the rest of billframes needs; see
`billframes.analysis.spec`. The names here are the functions, not the modules with the same names.
"""

from __future__ import annotations

from billframes.analysis.spec import analyses

__all__ = list(analyses())

globals().update({name: each.function for name, each in analyses().items()})
