"""Warnings become notes: sentences at the end of the report instead of lines on somebody's stderr."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from billframes.errors import BillframesWarning

__all__ = ["gathered"]


@contextmanager
def gathered(notes: list[str]) -> Iterator[None]:
    """
    Add the words of billframes' own warnings to `notes`, each kind once; others are given as usual.

    Examples
    --------
    >>> notes = []
    >>> with gathered(notes):
    ...     warnings.warn("Three entries have no matter.", BillframesWarning)
    ...     warnings.warn("Three entries have no matter.", BillframesWarning)
    >>> notes
    ['Three entries have no matter.']
    """
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", BillframesWarning)
        yield
    for each in given:
        if not issubclass(each.category, BillframesWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        elif _shape(str(each.message)) not in map(_shape, notes):
            notes.append(str(each.message))


def _shape(note: str) -> str:
    """Leave out the numbers: an analysis of each month warns of the same, each time with its own count."""
    return re.sub(r"\d[\d,.-]*", "#", note)
