"""Call several analyses of the same frames: check each frame once, and collect the warnings.

`guards` checks every frame that an analysis is given, which takes a third of the time of an analysis of a few thousand
rows. Who calls several analyses, and knows that nobody changes the frames meanwhile, lets them share a memory.
"""

from __future__ import annotations

import re
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from billframes.analysis.column_types import Frame
from billframes.errors import BillframesWarning

__all__ = ["CheckedFrames", "Findings", "checked_frames", "collect_warnings", "share_checks"]


@dataclass(slots=True)
class Findings:
    """Warnings not yet given, by frame and column, and the unknown values of enums."""

    messages: dict[tuple[str, str], str] = field(default_factory=dict)
    unknown: dict[tuple[str, str], list[Any]] = field(default_factory=dict)

    def add(self, frame: str, column: str, message: str) -> None:
        """Add a warning of a column, which may have others."""
        before = self.messages.get((frame, column))
        self.messages[frame, column] = f"{before} {message}" if before else message

    @classmethod
    def of(cls, parts: Iterable[Findings]) -> Findings:
        """Put together what was found in several frames; the parts stay as they are."""
        whole = cls()
        for part in parts:
            whole.messages |= part.messages
            whole.unknown |= part.unknown
        return whole


Checked = tuple[Frame, Findings]


class CheckedFrames:
    """pandas frames as they were checked, and what was found in them; forgotten when a frame is gone."""

    def __init__(self) -> None:
        self._checked: dict[int, dict[tuple[str, bool], Checked]] = {}
        self._alive: dict[int, weakref.ref[Any]] = {}

    def known(self, natives: Mapping[str, Any], *, ids_only: bool) -> dict[str, Checked]:
        """Return the frames that were checked before under the same name, by name."""
        found = {name: self._checked.get(id(each), {}).get((name, ids_only)) for name, each in natives.items()}
        return {name: each for name, each in found.items() if each is not None}

    def keep(self, name: str, native: Any, checked: Checked, *, ids_only: bool) -> None:
        """Remember what was found."""
        if not isinstance(native, pd.DataFrame):
            return
        place = id(native)
        if place not in self._checked:
            self._checked[place] = {}
            # Another frame may get the place of one that is gone.
            self._alive[place] = weakref.ref(native, lambda _gone: self._forget(place))
        self._checked[place][name, ids_only] = checked

    def _forget(self, place: int) -> None:
        del self._checked[place], self._alive[place]


_MEMORY: ContextVar[CheckedFrames | None] = ContextVar("memory", default=None)


def checked_frames() -> CheckedFrames:
    """Return the memory of the analysis that is called now; without `share_checks` a new one, which nobody keeps."""
    return _MEMORY.get() or CheckedFrames()


@contextmanager
def share_checks(memory: CheckedFrames | None = None) -> Iterator[None]:
    """
    Let the analyses called here share a memory; each of them gives the same warnings as without it.

    Parameters
    ----------
    memory : CheckedFrames, optional
        For frames that nobody changes as long as it is used. By default the memory in use, or a new one.
    """
    token = _MEMORY.set(memory or checked_frames())
    try:
        yield
    finally:
        _MEMORY.reset(token)


@contextmanager
def collect_warnings(notes: list[str], memory: CheckedFrames | None = None) -> Iterator[None]:
    """
    Add the messages of billframes' warnings to `notes`, each kind once, and issue other warnings as usual.

    The analyses called meanwhile check each frame once; with a `memory`, once for all blocks that are given it.

    Examples
    --------
    >>> notes = []
    >>> with collect_warnings(notes):
    ...     warnings.warn("Three entries have no matter.", BillframesWarning)
    ...     warnings.warn("Three entries have no matter.", BillframesWarning)
    >>> notes
    ['Three entries have no matter.']
    """
    with warnings.catch_warnings(record=True) as given, share_checks(memory):
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
