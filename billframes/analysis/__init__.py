"""What the figures of a firm mean: pure functions from frames to frames, on any engine."""

from __future__ import annotations

from billframes.analysis.aging import aging
from billframes.analysis.realization import realization
from billframes.analysis.utilization import utilization

__all__ = ["aging", "realization", "utilization"]
