"""The mirror's versions: which versions of the tables belong together, as one row each of the table `versions`.

The row is written last, in one Delta commit, so a version is there whole or not at all. Delta refuses the commit if
somebody else's came first. The rows also hold what a refresh needs of the one before it: the server's time at which it
began, and whose data the mirror holds.

`find` reads how users name a version, `checked_span` how they give a span of time.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes.errors import MirrorError, ParameterError
from billframes.mirror.storage import Storage

__all__ = ["FORMAT", "Catalogue", "Version", "checked_span", "find", "in_words"]

# Raised when the tables change so that an older billframes would misread them.
FORMAT = 1
NAME = "versions"
_SCHEMA = pa.schema(
    {
        "number": pa.int64(),
        "time": pa.timestamp("us", "UTC"),
        "began": pa.timestamp("us", "UTC"),
        "tables": pa.string(),
        "summary": pa.string(),
        "firm": pa.string(),
        "tags": pa.list_(pa.string()),
        "format": pa.int64(),
    }
)


@dataclass(frozen=True, slots=True)
class Version:
    """
    One consistent set of tables.

    Parameters
    ----------
    number : int
        Counted from 1.
    time : datetime
        The server's time when the refresh began: what was changed before is in it.
    began : datetime
        When the refresh began, by this machine's clock.
    tables : mapping of str to int
        Each table's Delta version.
    firm : mapping
        Whose data these are: the API's address, and whether rates are shown.
    summary : sequence of mapping
        What the refresh did, a row a resource.
    tags : tuple of str
        Names that keep the version for good.
    """

    number: int
    time: dt.datetime
    began: dt.datetime
    tables: Mapping[str, int]
    firm: Mapping[str, Any]
    summary: Sequence[Mapping[str, Any]] = ()
    tags: tuple[str, ...] = ()
    format: int = field(default=FORMAT)

    def row(self) -> dict[str, Any]:
        """Return the version as a row of the table."""
        return {
            "number": self.number,
            "time": self.time,
            "began": self.began,
            "tables": json.dumps(dict(self.tables)),
            "summary": json.dumps([dict(each) for each in self.summary]),
            "firm": json.dumps(dict(self.firm)),
            "tags": list(self.tags),
            "format": self.format,
        }


class Catalogue:
    """
    The versions of the mirror in one place.

    Parameters
    ----------
    storage : Storage
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def exists(self) -> bool:
        """Tell whether a version was ever committed."""
        return self._storage.exists(NAME)

    def newest(self) -> Version:
        """Return the newest version; raise `MirrorError` as `read` does."""
        rows, _ = self._rows()
        return _version(rows.sort_by("number").slice(rows.num_rows - 1).to_pylist()[0])

    def read(self) -> list[Version]:
        """
        Return all versions, oldest first.

        Raises
        ------
        MirrorError
            There is no mirror here, or a later release of billframes made it.
        """
        return self._read()[0]

    def _read(self) -> tuple[list[Version], int]:
        rows, at = self._rows()
        return [_version(row) for row in rows.sort_by("number").to_pylist()], at

    def _rows(self) -> tuple[pa.Table, int]:
        """Return the table of versions, and its own Delta version."""
        if not self.exists():
            raise MirrorError(
                f"{self._storage.place} is not a mirror, or its first refresh has not finished. "
                f"Fill it with bf.mirror(…).refresh() or `billframes sync {self._storage.place}`."
            )
        at = self._storage.version(NAME)
        rows = self._storage.read(NAME, at)
        if "format" not in rows.column_names:
            raise MirrorError(f"{self._storage.place} holds a table called {NAME} that is not a mirror's.")
        written = pc.max(rows.column("format")).as_py()
        if written > FORMAT:
            raise MirrorError(
                f"The mirror {self._storage.place} was written by a later release of billframes (format "
                f"{written}, this one reads up to {FORMAT}). Upgrade billframes; nothing was changed."
            )
        return rows, at

    def commit(self, version: Version) -> None:
        """Add a version."""
        rows, at = self._rows() if self.exists() else (_SCHEMA.empty_table(), None)
        if rows.num_rows and pc.max(rows.column("number")).as_py() >= version.number:
            raise MirrorError(
                f"Another refresh of {self._storage.place} finished first. Its version is whole; refresh again."
            )
        # The other rows are written as they were read: a mirror that is refreshed every hour has thousands of them.
        new = pa.Table.from_pylist([version.row()], _SCHEMA)
        self._storage.write_at(NAME, pa.concat_tables([rows.select(_SCHEMA.names).cast(_SCHEMA), new]), at)

    def tag(self, number: int, name: str) -> None:
        """Give a version a name; another version that had it loses it."""
        versions, at = self._read()
        self._write([_tagged(each, name, number) for each in versions], at)

    def keep(self, numbers: Sequence[int]) -> None:
        """Forget all versions but these."""
        versions, at = self._read()
        self._write([each for each in versions if each.number in numbers], at)

    def _write(self, versions: Sequence[Version], at: int | None) -> None:
        rows = pa.Table.from_pylist([each.row() for each in versions], _SCHEMA)
        self._storage.write_at(NAME, rows, at)


def find(versions: Sequence[Version], which: Any, place: str) -> Version:
    """
    Return the version that a number, tag, date or time names.

    A date means the last version whose refresh began on or before that day, in UTC; a time without a zone is UTC.

    Raises
    ------
    MirrorError
        There is none.
    ParameterError
        It is none of these.
    """
    if isinstance(which, bool) or not isinstance(which, int | str | dt.date):
        raise ParameterError(f"{which!r} names no version; give a date, a time, a version's number or a tag.")
    if isinstance(which, int):
        return _numbered(versions, which, place)
    tagged = [each for each in versions if which in each.tags]
    if tagged:
        return tagged[-1]
    until = _until(which)
    if until is None:
        known = ", ".join(repr(tag) for each in versions for tag in each.tags) or "none"
        raise MirrorError(
            f"The mirror {place} has no tag {which!r} (it has {known}), and that is not a day such as '2026-10-31'."
        )
    before = [each for each in versions if each.time < until]
    if not before:
        raise MirrorError(
            f"The mirror {place} goes back to {versions[0].time:%Y-%m-%d %H:%M} UTC; it can't show {which} as it stood."
        )
    return before[-1]


def _numbered(versions: Sequence[Version], number: int, place: str) -> Version:
    found = next((each for each in versions if each.number == number), None)
    if found is None:
        raise MirrorError(
            f"The mirror {place} has no version {number}; it has {versions[0].number} to {versions[-1].number}, "
            "less those that were vacuumed."
        )
    return found


def _until(which: str | dt.date) -> dt.datetime | None:
    """Return the instant before which a version's time must be."""
    try:
        if isinstance(which, str) and len(which) == 10:
            which = dt.date.fromisoformat(which)
        elif isinstance(which, str):
            which = dt.datetime.fromisoformat(which)
    except ValueError:
        return None
    if not isinstance(which, dt.datetime):
        return dt.datetime(which.year, which.month, which.day, tzinfo=dt.UTC) + dt.timedelta(days=1)
    utc = which if which.tzinfo else which.replace(tzinfo=dt.UTC)
    return utc + dt.timedelta(microseconds=1)


def _tagged(version: Version, name: str, number: int) -> Version:
    tags = [each for each in version.tags if each != name]
    return replace(version, tags=(*tags, name) if version.number == number else tuple(tags))


def _version(row: Mapping[str, Any]) -> Version:
    return Version(
        number=row["number"],
        time=row["time"],
        began=row["began"],
        tables=json.loads(row["tables"]),
        firm=json.loads(row["firm"]),
        summary=json.loads(row["summary"]),
        tags=tuple(row["tags"] or ()),
        format=row["format"],
    )


def checked_span(name: str, given: str | dt.timedelta | None) -> dt.timedelta | None:
    """
    Return a span that was given as text. Raise `ParameterError`, which names the argument, if the text is not a span.

    Examples
    --------
    >>> checked_span("keep", "2 days")
    datetime.timedelta(days=2)
    """
    if given is None or isinstance(given, dt.timedelta):
        return given
    try:
        span: dt.timedelta = pd.Timedelta(given).to_pytimedelta()
    except ValueError:
        raise ParameterError(f"{name}={given!r} is not a span of time; it takes one such as '1 day'.") from None
    return span


def in_words(span: dt.timedelta) -> str:
    """
    Return a span in hours, or in days if it is long.

    Examples
    --------
    >>> in_words(dt.timedelta(hours=47)), in_words(dt.timedelta(hours=60))
    ('47.0 hours', '2.5 days')
    """
    hours = span / dt.timedelta(hours=1)
    return f"{hours / 24:.1f} days" if hours >= 48 else f"{hours:.1f} hours"
