"""Warnings that point at the user's line, however deep in billframes they arise."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from billframes.errors import BillframesWarning

__all__ = ["warn"]

_PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[BillframesWarning]) -> None:
    """Give a warning, shown at the first line outside billframes that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
