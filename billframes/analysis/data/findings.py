"""Findings of the checks of a frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from billframes._shared.notes import Note, Rule


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
