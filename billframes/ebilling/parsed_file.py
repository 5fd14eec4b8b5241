"""The lines of a file that is read, packed, and the findings about it.

The values of some thousand lines are packed into Arrow columns in which a repeated value is there once, so that a file
is never in memory as Python texts as a whole. Reading stops at a limit of findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes.ebilling.findings import Finding
from billframes.ebilling.ledes_formats import FIELDS_1998B, LEDES_98BI, REJECTED, LedesFormat, Severity
from billframes.errors import LedesFormatError

# Lines, and characters, that are packed at once.
_LINES, _CHARACTERS = 10_000, 20_000_000
# Of so many lines, the least average of characters, so that memory is in proportion to the file's size.
_MANY = 200_000


def unknown_format(text: str) -> LedesFormatError:
    """Return the error for a file of another format, which begins with `text`."""
    known, begins = "1998B, 98BI, XML 2.0 to 2.2, 2000", " ".join(text[:40].split())
    return LedesFormatError(f"This is not a LEDES file of a known format ({known}). It begins with: {begins}")


class StopError(Exception):
    """Reading stops here, because of the problem that was reported last."""


class _Columns:
    def __init__(self, names: Sequence[str]) -> None:
        self._packed: dict[str, list[pa.DictionaryArray]] = {name: [] for name in names}
        # One flat list, because a list for each line would cost the garbage collector seconds on large files.
        self._texts: list[str] = []
        self._unpacked = self.characters = 0

    @property
    def names(self) -> list[str]:
        """The columns that are left."""
        return [*self._packed]

    def add(self, values: Iterable[str], characters: int) -> bool:
        """Add a line; return whether lines were packed."""
        self._texts += values
        self._unpacked += characters
        if len(self._texts) < _LINES * len(self._packed) and self._unpacked < _CHARACTERS:
            return False
        self.pack()
        return True

    def pack(self) -> None:
        """Pack the lines that were added last."""
        for place, packed in enumerate(self._packed.values()):
            packed.append(pa.array(self._texts[place :: len(self._packed)], pa.string()).dictionary_encode())
        self.characters += self._unpacked
        self._texts, self._unpacked = [], 0

    def lists(self) -> dict[str, list[str]]:
        """Return the columns as texts, and give up the packed ones."""
        return {name: _texts_of(self._packed.pop(name)) for name in self.names}

    def frame(self) -> pd.DataFrame:
        """Return the columns as a frame, and give up the packed ones; an empty text is missing."""
        return pd.DataFrame({name: _series_of(self._packed.pop(name)) for name in self.names})


def _texts_of(packed: Iterable[pa.DictionaryArray]) -> list[str]:
    texts: list[str] = []
    for each in packed:
        texts += map(each.dictionary.to_pylist().__getitem__, each.indices.to_numpy().tolist())
    return texts


def _series_of(packed: Iterable[pa.DictionaryArray]) -> pd.Series[str]:
    chunks = []
    for each in packed:
        texts = pc.if_else(pc.equal(each.dictionary, ""), None, each.dictionary)
        chunks.append(pa.DictionaryArray.from_arrays(each.indices, texts).cast(pa.large_string()))
    dtype: Any = pd.StringDtype(na_value=float("nan"))
    return pd.Series(dtype.__from_arrow__(pa.chunked_array(chunks, pa.large_string())))


class Part:
    """The lines of one format in a file: their values, their numbers in the file, and which lack columns."""

    def __init__(self, form: LedesFormat) -> None:
        self.form = form
        self.columns = _Columns(form.columns)
        self.numbers: list[int] = []
        self.broken: set[int] = set()


@dataclass(slots=True)
class ParsedFile:
    """The lines of a file by format, the findings about it, and the fields that a heading does not name."""

    max_findings: int
    parts: dict[LedesFormat, Part] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unknown_taxes: int = 0
    unnamed: set[str] = field(default_factory=set)
    stopped: bool = False

    def part(self, form: LedesFormat) -> Part:
        """Return the lines of a format."""
        if form not in self.parts:
            self.parts[form] = Part(form)
        return self.parts[form]

    def add_line(self, part: Part, number: int, values: Iterable[str], characters: int) -> None:
        """Add a line; stop if many lines are too short to be lines of a bill."""
        part.numbers.append(number)
        if part.columns.add(values, characters):
            self.check_size(len(part.numbers), part.columns.characters, part.form.shortest)

    def check_size(self, lines: int, characters: int, shortest: int) -> None:
        """Stop if many lines, or segments of XML, are shorter than those of a bill can be."""
        if lines > _MANY and characters < shortest * lines:
            fix = "Write the fields that the format requires."
            self.stop(f"the lines have fewer than {shortest} characters, and those of a bill have more", None, fix)

    def report(self, problem: str, line: int | None, fix: str, severity: Severity = REJECTED, value: str = "") -> None:
        """Add a finding about the file as a whole, or a whole line."""
        self.add(Finding(0, severity, problem, value, fix, line=line))

    def add(self, finding: Finding) -> None:
        """Add a finding; stop if there are too many."""
        if len(self.findings) >= self.max_findings:
            fix = "Correct these first, or raise max_findings."
            stop = f"there are more than {self.max_findings:,} findings, and the others are not listed"
            self.stop(stop, finding.line, fix)
        self.findings.append(finding)

    def stop(self, problem: str, line: int | None, fix: str) -> None:
        """Add a last finding, and stop."""
        self.findings.append(Finding(0, REJECTED, problem, "", fix, line=line))
        self.stopped = True
        raise StopError

    def pack(self) -> None:
        """Pack the lines that were added last."""
        for part in self.parts.values():
            part.columns.pack()

    def frame(self) -> pd.DataFrame:
        """Return the lines in the file's order, with the columns of the widest format, and give up the packed ones."""
        wide = any(part.form.has_taxes for part in self.parts.values())
        names = LEDES_98BI.columns if wide else [each.column for each in FIELDS_1998B]
        frames = [part.columns.frame().set_axis(part.numbers) for part in self.parts.values()]
        if not frames:
            return pd.DataFrame({name: pd.Series(dtype="str") for name in names})
        whole = frames[0] if len(frames) == 1 else pd.concat(frames).sort_index(kind="stable")
        lacking = {name: pd.Series(index=whole.index, dtype="str") for name in names if name not in whole}
        return whole.assign(**lacking)[[*names]].reset_index(drop=True)
