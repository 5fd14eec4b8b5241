"""Collect the warnings of the analyses that a report calls, for its notes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from billframes.analysis.checked_frames import remembered
from billframes.errors import BillframesWarning

__all__ = ["collect_warnings"]


@contextmanager
def collect_warnings(notes: list[str]) -> Iterator[None]:
    """
    Add the messages of billframes' warnings to `notes`, each kind once, and issue other warnings as usual.

    The analyses called meanwhile check each frame once.

    Examples
    --------
    >>> notes = []
    >>> with collect_warnings(notes):
    ...     warnings.warn("Three entries have no matter.", BillframesWarning)
    ...     warnings.warn("Three entries have no matter.", BillframesWarning)
    >>> notes
    ['Three entries have no matter.']
    """
    with warnings.catch_warnings(record=True) as given, remembered():
        warnings.simplefilter("always", BillframesWarning)
        yield
    for each in given:
        if not issubclass(each.category, BillframesWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        elif _shape(str(each.message)) not in map(_shape, notes):
            notes.append(str(each.message))


def _shape(note: str) -> str:
    """Replace numbers: the analysis of each month gives the same warning with another count."""
    return re.sub(r"\d[\d,.-]*", "#", note)
