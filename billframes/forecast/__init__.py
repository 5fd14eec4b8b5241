"""The cash that is expected week by week, and how earlier forecasts came true."""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
