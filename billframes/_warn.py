"""Warnings that point at the user's line, however deep in billframes they arise."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from billframes.errors import BillframesWarning

__all__ = ["kept_warnings", "warn"]

_PACKAGE = str(Path(__file__).parent)


_KEPT: ContextVar[list[tuple[str, type[BillframesWarning]]] | None] = ContextVar("kept", default=None)


def warn(message: str, category: type[BillframesWarning]) -> None:
    """Give a warning, shown at the first line outside billframes that led here."""
    if (kept := _KEPT.get()) is not None:
        kept.append((message, category))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def kept_warnings() -> Iterator[list[tuple[str, type[BillframesWarning]]]]:
    """Keep this thread's warnings in a list: what a worker says, the user is told elsewhere."""
    kept: list[tuple[str, type[BillframesWarning]]] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)
