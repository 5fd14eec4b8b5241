"""The mirror's versions: each row of the table `versions` names the Delta versions of all tables that belong together.

The row is written last, in one Delta commit, so a version is either complete or does not exist. Delta refuses the
commit if another process has committed first.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import closest
from billframes.config.credentials import is_loopback
from billframes.errors import MirrorError, ParameterError
from billframes.mirror.storage import Storage

# Increased when the tables change in such a way that an older billframes would misread them.
FORMAT = 1
_LAST = dt.datetime.max.replace(tzinfo=dt.UTC) - dt.timedelta(microseconds=1)
NAME = "versions"
"""The table of versions."""
_SCHEMA = pa.schema(
    {"number": pa.int64()}
    | dict.fromkeys(("time", "began"), pa.timestamp("us", "UTC"))
    | dict.fromkeys(("tables", "summary", "firm"), pa.string())
    | {"tags": pa.list_(pa.string()), "format": pa.int64()}
)


class Firm(msgspec.Struct, frozen=True):
    """
    The firm whose data a mirror has: the API's address, whether the credential sees rates, and the file of settings.

    The next refresh loads the changes since `mark`. It continues with the balances after the client `checked`, and
    custom `fields` keep the names of their columns.
    """

    address: str
    rates: bool | None
    mark: dt.datetime
    checked: str = ""
    fields: tuple[str, ...] = ()
    settings: str | None = None


class Refreshed(msgspec.Struct):
    """What a refresh did to a table; `added`, `updated` and `removed` are numbers of rows."""

    resource: str
    added: int
    updated: int
    removed: int
    requests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Version:
    """
    One consistent set of tables.

    `time` is the server's time when the refresh began, so earlier changes are in the version; `began` is the same by
    this machine's clock. `tables` are the Delta versions of the tables. A version with a tag is never removed.
    """

    number: int
    time: dt.datetime
    began: dt.datetime
    tables: Mapping[str, int]
    firm: Firm
    summary: Sequence[Refreshed] = ()
    tags: tuple[str, ...] = ()
    format: int = FORMAT

    def row(self) -> dict[str, Any]:
        """Return the version as a row of the table."""
        values = {name: getattr(self, name) for name in _SCHEMA.names}
        return values | {name: msgspec.json.encode(values[name]).decode() for name in ("tables", "summary", "firm")}


class Catalogue:
    """The table of the mirror's versions."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def exists(self) -> bool:
        """Tell whether there is a version."""
        return self._storage.exists(NAME)

    def newest(self) -> Version:
        """Return the newest version; raise `MirrorError` as `read` does."""
        rows, _ = self._rows()
        return _version(rows.sort_by("number").slice(rows.num_rows - 1).to_pylist()[0], self._storage.location)

    def read(self) -> list[Version]:
        """Return all versions, oldest first; raise `MirrorError` if there is no mirror, or a later release wrote it."""
        return self._read()[0]

    def _read(self) -> tuple[list[Version], int]:
        rows, at = self._rows()
        return [_version(row, self._storage.location) for row in rows.sort_by("number").to_pylist()], at

    def _rows(self) -> tuple[pa.Table, int]:
        if not self.exists():
            raise MirrorError(
                f"{self._storage.location} is not a mirror, or its first refresh has not finished. "
                f"Fill it with bf.mirror(…).refresh() or `billframes sync {self._storage.location}`."
            )
        at = self._storage.version(NAME)
        rows = self._storage.read(NAME, at)
        if "format" not in rows.column_names:
            raise MirrorError(f"{self._storage.location} holds a table called {NAME} that is not a mirror's.")
        written = pc.max(rows.column("format")).as_py() if pa.types.is_integer(rows.column("format").type) else None
        if written is None:
            raise _damaged(self._storage.location)
        if written > FORMAT:
            raise MirrorError(
                f"The mirror {self._storage.location} was written by a later release of billframes (format "
                f"{written}, this one reads up to {FORMAT}). Upgrade billframes; nothing was changed."
            )
        try:
            return rows.select(_SCHEMA.names).cast(_SCHEMA), at
        except (KeyError, pa.ArrowException) as error:
            raise _damaged(self._storage.location) from error

    def commit(self, version: Version) -> None:
        """Add a version."""
        rows, at = self._rows() if self.exists() else (_SCHEMA.empty_table(), None)
        if rows.num_rows and pc.max(rows.column("number")).as_py() >= version.number:
            raise MirrorError(
                f"Another refresh of {self._storage.location} finished first. Its version is complete; refresh again."
            )
        # The other rows are not decoded: a mirror that is refreshed every hour has thousands of them.
        self._storage.replace_if_at(NAME, pa.concat_tables([rows, _rows_of([version])]), at)

    def tag(self, number: int, name: str) -> None:
        """Give a version a name, and take the name from any other version."""
        versions, at = self._read()
        others = [[tag for tag in each.tags if tag != name] for each in versions]
        own = [[name] if each.number == number else [] for each in versions]
        tagged = [replace(each, tags=(*old, *new)) for each, old, new in zip(versions, others, own, strict=True)]
        self._storage.replace_if_at(NAME, _rows_of(tagged), at)

    def keep_only(self, numbers: Sequence[int]) -> None:
        """Remove all versions except these; write nothing if there are no others."""
        versions, at = self._read()
        if len(versions) == len(numbers):
            return
        self._storage.replace_if_at(NAME, _rows_of([each for each in versions if each.number in numbers]), at)


def find_version(versions: Sequence[Version], which: Any, location: str) -> Version:
    """
    Return the version that a number, tag, date or time names; raise `MirrorError` if there is no such version.

    A date means the last version whose refresh began on or before that day, in UTC; a time without a zone is UTC.
    """
    if isinstance(which, bool) or which is pd.NaT or not isinstance(which, Integral | str | dt.date):
        raise ParameterError(f"{which!r} names no version; give a date, a time, a version's number or a tag.")
    if isinstance(which, Integral):
        return _numbered(versions, int(which), location)
    tagged = [each for each in versions if which in each.tags]
    if tagged:
        return tagged[-1]
    until = _end_of(which)
    if until is None:
        tags = [tag for each in versions for tag in each.tags]
        raise MirrorError(
            f"The mirror {location} has no tag {which!r} (it has {', '.join(map(repr, tags)) or 'none'}), and that is "
            f"not a day such as '2026-10-31'.{closest(which, tags)}"
        )
    before = [each for each in versions if each.time < until]
    if not before:
        raise MirrorError(
            f"The mirror {location} goes back to {versions[0].time:%Y-%m-%d %H:%M} UTC, so it has no version of "
            f"{which}.{if_sandbox(versions[-1].firm)}"
        )
    return before[-1]


def if_sandbox(firm: Firm) -> str:
    """Return advice for a mirror of a server on this machine, which may be the sandbox; else nothing."""
    local = is_loopback(urlsplit(firm.address).hostname or "")
    return " For a mirror of the sandbox with earlier months, see bf.sandbox.replay." if local else ""


def _numbered(versions: Sequence[Version], number: int, location: str) -> Version:
    found = next((each for each in versions if each.number == number), None)
    if found is None:
        raise MirrorError(
            f"The mirror {location} has no version {number}; it has {versions[0].number} to {versions[-1].number}, "
            "without those that were vacuumed."
        )
    return found


def _end_of(which: str | dt.date) -> dt.datetime | None:
    """Return the instant before which a version must have begun; None if the text is not a date or time."""
    try:
        if isinstance(which, str) and len(which) == 10:
            which = dt.date.fromisoformat(which)
        elif isinstance(which, str):
            which = dt.datetime.fromisoformat(which)
    except ValueError:
        return None
    if not isinstance(which, dt.datetime):
        which = dt.datetime.combine(which, dt.time.max, dt.UTC)
    utc = which if which.tzinfo else which.replace(tzinfo=dt.UTC)
    return min(utc, _LAST) + dt.timedelta(microseconds=1)


def check_tag(name: Any) -> None:
    """Raise `ParameterError` if a version can't have this name: no text, or one that `find_version` reads as a date."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"name={name!r} is not a text.")
    if _end_of(name.strip()) is not None:
        raise ParameterError(
            f"name={name!r} is a date, and as_of opens the last version of a date. Add a word, such as "
            f"{f'{name.strip()} close'!r}."
        )


def _rows_of(versions: Sequence[Version]) -> pa.Table:
    return pa.Table.from_pylist([each.row() for each in versions], _SCHEMA)


class _Tables(dict[str, int]):
    """The versions of tables; a table that is not there is an error of one sentence."""

    def __init__(self, tables: Mapping[str, int], location: str) -> None:
        super().__init__(tables)
        self._location = location

    def __missing__(self, name: str) -> int:
        raise MirrorError(f"The mirror {self._location} has no table of {name}; refresh it with full=True.")


def _version(row: Mapping[str, Any], location: str) -> Version:
    try:
        return Version(
            number=row["number"],
            time=row["time"],
            began=row["began"],
            tables=_Tables(msgspec.json.decode(row["tables"], type=dict[str, int]), location),
            firm=msgspec.json.decode(row["firm"], type=Firm),
            summary=msgspec.json.decode(row["summary"], type=list[Refreshed]),
            tags=tuple(row["tags"] or ()),
            format=row["format"],
        )
    except (msgspec.MsgspecError, TypeError, RecursionError) as error:
        raise _damaged(location) from error


def _damaged(location: str) -> MirrorError:
    return MirrorError(
        f"The mirror {location} is damaged: its table of versions has values that billframes does not write. Restore "
        "it from a copy, or make a new mirror in another folder."
    )


def checked_span(name: str, given: str | dt.timedelta) -> dt.timedelta:
    """Convert a span of time from text; a number without a unit is refused, and so is a negative span."""
    span = given if isinstance(given, dt.timedelta) else _span(given)
    if span is None or span < dt.timedelta(0):
        raise ParameterError(f"{name}={given!r} is not a span of time such as '1 day'.")
    return span


def _span(text: Any) -> dt.timedelta | None:
    """Return the span that a text names; None if it names none. pandas would read a number as nanoseconds."""
    if not isinstance(text, str) or not any(map(str.isalpha, text)):
        return None
    try:
        span: Any = pd.Timedelta(text)
    except ValueError:
        return None
    return None if span is pd.NaT else span.to_pytimedelta()


def format_span(span: dt.timedelta) -> str:
    """Return a span as text in hours, or in days if it is at least two days."""
    hours = span / dt.timedelta(hours=1)
    return f"{hours / 24:.1f} days" if hours >= 48 else f"{hours:.1f} hours"
