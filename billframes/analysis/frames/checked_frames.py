"""Call several analyses of the same frames: check each frame only once, and keep the results.

Every frame that is passed to an analysis is checked (see `frames.values`). For a few thousand rows, this is a third of
the time of the analysis. Code that calls several analyses, and does not change the frames meanwhile, can share the
checks among them.
"""

from __future__ import annotations

import datetime as dt
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from billframes._notes import Note, Notes, Rule, collect_notes
from billframes.analysis.declare.columns import Frame


@dataclass(slots=True)
class Findings:
    """The notes and the unknown values of enums, by frame and column."""

    notes: dict[tuple[str, str], list[Note]] = field(default_factory=dict)
    unknown: dict[tuple[str, str], list[Any]] = field(default_factory=dict)

    def add(self, rule: Rule, amount: float, frame: str, column: str, /, **values: Any) -> None:
        """Add a note of a column; a column can have several."""
        note = Note(rule, frame, float(amount), column, values)
        self.notes.setdefault((frame, column), []).append(note)

    @classmethod
    def of(cls, parts: Iterable[Findings]) -> Findings:
        """Return a copy of the findings of several frames."""
        findings = cls()
        for part in parts:
            findings.notes |= part.notes
            findings.unknown |= part.unknown
        return findings


Checked = tuple[Frame, Findings]


class CheckedFrames:
    """A cache of checked frames, with the findings in them; that of a pandas frame is dropped with the frame."""

    def __init__(self) -> None:
        self._checked: dict[int, dict[tuple[str, bool], Checked]] = {}
        self._references: dict[int, weakref.ref[Any]] = {}

    def get(self, natives: Mapping[str, Any], *, ids_only: bool) -> dict[str, Checked]:
        """Return the frames that were already checked under the same name, by name."""
        found = {name: self._checked.get(id(each), {}).get((name, ids_only)) for name, each in natives.items()}
        return {name: each for name, each in found.items() if each is not None}

    def add(self, name: str, native: Any, checked: Checked, *, ids_only: bool) -> None:
        """Add a checked frame; frames of an engine that does not allow to keep track of them are not cached."""
        address = id(native)
        if address not in self._checked:
            try:
                # When a frame is deleted, a new one can get the same id.
                self._references[address] = weakref.ref(native, lambda _deleted: self._drop(address))
            except TypeError:
                return
            self._checked[address] = {}
        self._checked[address][name, ids_only] = checked

    def _drop(self, address: int) -> None:
        del self._checked[address], self._references[address]


@dataclass(frozen=True, slots=True)
class _Same:
    """Equal to itself only. It keeps the object, so that no other one gets its id."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _key(value: Any) -> Hashable:
    """Return what is equal for equal arguments of a call; a frame is the same only if it is the same object."""
    if isinstance(value, Mapping):
        return type(value), tuple((name, _key(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_key, value))
    # 1, 1.0 and True are equal.
    return (type(value), value) if isinstance(value, _PLAIN) else _Same(value)


_PLAIN = (str, int, float, dt.date, type(None))


class KeptResults:
    """Results of analyses, each calculated once. Its notes are passed on again whenever the result is used."""

    def __init__(self) -> None:
        self._results: dict[Hashable, tuple[pd.DataFrame, Notes]] = {}

    def __len__(self) -> int:
        return len(self._results)

    def __contains__(self, call: object) -> bool:
        return _key(call) in self._results

    def get(self, call: object, calculate: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return the result of a call, such as its name and arguments; `calculate` is called if there is none yet."""
        key = _key(call)
        if key not in self._results:
            with collect_notes(Notes("book")) as notes:
                self._results[key] = calculate(), notes
        result, notes = self._results[key]
        notes.finish()
        return result


_SHARED: ContextVar[CheckedFrames | None] = ContextVar("shared", default=None)


def current_checks() -> CheckedFrames:
    """Return the cache of the innermost `share_checks`, or else a new one."""
    return _SHARED.get() or CheckedFrames()


@contextmanager
def share_checks(checked: CheckedFrames | None = None) -> Iterator[None]:
    """
    Let the analyses called in this block share their checks; each gives the same notes as without it.

    With `checked`, several blocks share a cache. The frames must not change between them.
    """
    token = _SHARED.set(checked or current_checks())
    try:
        yield
    finally:
        _SHARED.reset(token)
