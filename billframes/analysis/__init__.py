"""The analyses: pure functions from frames to frames, on any engine.

Each has a module of its own, in which `ANALYSIS` declares all that the rest of billframes needs to know of it; see
`billframes.analysis.spec`. The names here are the functions, which the modules of the same names would hide.
"""

from __future__ import annotations

from billframes.analysis.spec import analyses

__all__ = list(analyses())

globals().update({name: each.function for name, each in analyses().items()})
