"""The journal of an apply: a file that knows of each change whether it may have been sent, and what became of it.

It is an SQLite database with one row a change. A change is `planned`, then `sent` (written before the request leaves,
so that a process killed in between leaves a trace), then it has an outcome. `bf.resume` takes up what is `planned` or
`sent`; what has an outcome is never sent again.

The file holds narratives and names of clients, so it is created readable by its owner alone. It has no credentials: it
says which server it belongs to, and whoever resumes it brings their own client. While a process writes it, no other
process can.
"""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec
import platformdirs

from billframes.errors import ParameterError

__all__ = ["FINISHED", "Entry", "Journal", "folder", "same_server"]

VERSION = 1
# A change that has one of these is never sent again.
FINISHED = ("done", "changed since planned", "billed", "refused", "gone", "uncertain", "failed")
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE change (
    number INTEGER PRIMARY KEY, action TEXT NOT NULL, place INTEGER, id TEXT, body BLOB, cells BLOB NOT NULL,
    base TEXT, twins BLOB NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, sent_at TEXT, tries INTEGER NOT NULL
);
CREATE INDEX change_state ON change (state, number);
CREATE INDEX change_planned ON change (lower(id)) WHERE state = 'planned';
"""
# Without reading the values.
_CELLS = msgspec.json.Decoder(list[tuple[str, msgspec.Raw, msgspec.Raw]])
_COLUMNS = "number, action, place, id, body, cells, base, twins, state, reason, sent_at, tries"


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A change as the journal has it.

    Parameters
    ----------
    number : int
    action : {"update", "create", "delete"}
    place : int, optional
        The row in the edited frame.
    id : str, optional
        The record; of a create, once it is known.
    body : bytes, optional
        What is sent, as JSON.
    cells : list of (str, value, value)
        Column, value before and value after; dates as ISO text.
    base : str, optional
        When the record was last changed as the plan saw it, as ISO text.
    twins : tuple of str
        Records that are the same as a new one, and were there before.
    state, reason : str
        "planned", "sent", "unanswered" (a create whose answer never came) or one of `FINISHED`.
    sent_at : str, optional
        When it was first sent, by this machine's clock.
    tries : int
        How often it was sent.
    """

    number: int
    action: str
    place: int | None
    id: str | None
    body: bytes | None
    cells: list[tuple[str, Any, Any]]
    base: str | None = None
    twins: tuple[str, ...] = ()
    state: str = "planned"
    reason: str = ""
    sent_at: str | None = None
    tries: int = 0

    def with_outcome(self, state: str, reason: str = "", id_: str | None = None) -> Entry:
        """Return it with an outcome."""
        return replace(self, state=state, reason=reason, id=id_ or self.id)


def folder() -> Path:
    """Return the folder of journals that were given no name; it is readable by its owner alone."""
    path = platformdirs.user_state_path("billframes", appauthor=False) / "journals"
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(OSError):
        path.chmod(0o700)
    return path


def same_server(one: str, other: str) -> bool:
    """Tell whether two addresses are of the same API: case, a default port and a slash at the end don't count."""
    return _normal(one) == _normal(other)


def _normal(address: str) -> tuple[str, str, int | None, str]:
    parts = urlsplit(address)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), port, parts.path.rstrip("/")


class Journal:
    """
    An open journal; made by `create` and `open`.

    Parameters
    ----------
    path : Path
    database : sqlite3.Connection
    """

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database

    @classmethod
    def create(cls, path: Path, about: Mapping[str, str], entries: Iterable[Entry]) -> Journal:
        """
        Write a new journal with changes that are all planned.

        Raises
        ------
        ParameterError
            The file exists, or can't be written.
        """
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise ParameterError(
                f"The journal {path} exists. bf.resume({str(path)!r}) goes on with it; for another apply, give another "
                "name."
            ) from None
        except OSError as error:
            raise ParameterError(f"The journal {path} can't be written: {error.strerror}.") from None
        try:
            # What a journal of this name left when it was deleted is not of this one.
            _beside(path).unlink(missing_ok=True)
            journal = cls(path, _connected(path, "TRUNCATE"))
            with _closed_on_failure(journal._database), journal._database as database:
                database.executescript("BEGIN;" + _SCHEMA)
                database.executemany("INSERT INTO about VALUES (?, ?)", [*about.items(), ("version", str(VERSION))])
                marks = ", ".join("?" * len(_COLUMNS.split(", ")))
                database.executemany(f"INSERT INTO change VALUES ({marks})", map(_row, entries))  # noqa: S608
            database.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return journal

    @classmethod
    def open(cls, path: Path) -> Journal:
        """
        Open a journal.

        Raises
        ------
        ParameterError
            There is no such file, it is not a journal, or another process is writing it.
        """
        if not path.is_file():
            raise ParameterError(f"There is no journal {path}.")
        try:
            journal = cls(path, _connected(path, "WAL"))
            with _closed_on_failure(journal._database):
                version = journal.about.get("version")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise ParameterError(
                    f"The journal {path} is being written by another process; wait until it has ended."
                ) from None
            raise ParameterError(f"{path} is not a journal of billframes, or it is damaged: {error}.") from None
        except sqlite3.DatabaseError:
            raise ParameterError(f"{path} is not a journal of billframes, or it is damaged.") from None
        if version != str(VERSION):
            journal.close()
            raise ParameterError(f"The journal {path} was written by another version of billframes.")
        return journal

    @property
    def about(self) -> dict[str, str]:
        """
        What the journal is of.

        The server (`base_url`), the `resource`, whether it is `finished`, and up to when by the server's clock it is
        known which records moved (`read_at`).
        """
        return dict(self._database.execute("SELECT name, value FROM about"))

    def finish(self) -> None:
        """Note that nothing is left to be done."""
        with self._database as database:
            database.execute("INSERT OR REPLACE INTO about VALUES ('finished', 'yes')")

    def waiting(self, state: str, actions: Sequence[str], most: int) -> list[Entry]:
        """Return the first changes in a state."""
        marks = ", ".join("?" * len(actions))
        sql = f"SELECT {_COLUMNS} FROM change WHERE state = ? AND action IN ({marks}) ORDER BY number LIMIT ?"  # noqa: S608
        return [_entry(row) for row in self._database.execute(sql, [state, *actions, most])]

    def entries(self, state: str | None = None) -> Iterator[Entry]:
        """Yield all changes, or those in a state."""
        where = "" if state is None else "WHERE state = ?"
        sql = f"SELECT {_COLUMNS} FROM change {where} ORDER BY number"  # noqa: S608
        for row in self._database.execute(sql, [] if state is None else [state]):
            yield _entry(row)

    def creates_without_id(self) -> list[Entry]:
        """Return the creates that were made, and whose ids are not known."""
        sql = f"SELECT {_COLUMNS} FROM change WHERE state = 'done' AND action = 'create' AND id IS NULL ORDER BY number"  # noqa: S608
        return [_entry(row) for row in self._database.execute(sql)]

    def outcomes(self) -> Iterator[tuple[str | None, str, str, str, str | None, int | None]]:
        """Yield of each change its id, action, columns, state, reason and place."""
        for id_, action, cells, state, reason, place in self._database.execute(
            "SELECT id, action, cells, state, reason, place FROM change ORDER BY number"
        ):
            yield id_, action, ", ".join(name for name, *_ in _CELLS.decode(cells)), state, reason or None, place

    def count(self, state: str | None = None) -> int:
        """Return how many changes there are, or how many in a state."""
        where = "" if state is None else "WHERE state = ?"
        sql = f"SELECT count(*) FROM change {where}"  # noqa: S608
        return int(self._database.execute(sql, [] if state is None else [state]).fetchone()[0])

    def planned_updates(self, ids: Sequence[str]) -> list[Entry]:
        """Return the updates of these records that are not sent yet; ids in lower case."""
        # SQLite would rather go through everything that is planned.
        sql = (
            f"SELECT {_COLUMNS} FROM change INDEXED BY change_planned "  # noqa: S608
            "WHERE state = 'planned' AND action = 'update' AND lower(id) IN (SELECT value FROM json_each(?))"
        )
        return [_entry(row) for row in self._database.execute(sql, [msgspec.json.encode(ids).decode()])]

    def note_sent(self, entries: Sequence[Entry], read_at: str | None = None) -> list[Entry]:
        """
        Note that changes are about to be sent, on disk when this returns; return them as they are now.

        `read_at` is up to when the records that moved are known and noted.
        """
        now = dt.datetime.now(dt.UTC).isoformat()
        noted = [replace(each, state="sent", sent_at=each.sent_at or now) for each in entries]
        # On the disk before a request leaves. An outcome need not be: what is lost of it is asked again.
        self._database.execute("PRAGMA synchronous = FULL")
        self._save(noted, read_at)
        self._database.execute("PRAGMA synchronous = NORMAL")
        return noted

    def note(self, entries: Sequence[Entry]) -> None:
        """Note what became of changes."""
        self._save(entries)

    def _save(self, entries: Sequence[Entry], read_at: str | None = None) -> None:
        if not entries:
            return
        sql = "UPDATE change SET state = ?, reason = ?, id = ?, sent_at = ?, tries = ? WHERE number = ?"
        with self._database as database:
            database.executemany(
                sql, [(each.state, each.reason, each.id, each.sent_at, each.tries, each.number) for each in entries]
            )
            if read_at is not None:
                database.execute("INSERT OR REPLACE INTO about VALUES ('read_at', ?)", [read_at])

    def close(self) -> None:
        """Close the file, with everything in it. Safe to call twice."""
        with suppress(sqlite3.Error):
            self._database.execute("PRAGMA journal_mode = DELETE")
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _beside(path: Path) -> Path:
    """Return the file with what SQLite noted last; it is there while a process writes, and after one was killed."""
    return path.with_name(path.name + "-wal")


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=0.5, check_same_thread=False)
    with _closed_on_failure(database):
        # One writer at a time, for as long as it lives.
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN EXCLUSIVE")
        database.commit()
    return database


@contextmanager
def _closed_on_failure(database: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        database.close()
        raise


def _row(entry: Entry) -> tuple[Any, ...]:
    return (
        entry.number,
        entry.action,
        entry.place,
        entry.id,
        entry.body,
        msgspec.json.encode(entry.cells),
        entry.base,
        msgspec.json.encode(entry.twins),
        entry.state,
        entry.reason,
        entry.sent_at,
        entry.tries,
    )


def _entry(row: Sequence[Any]) -> Entry:
    number, action, place, id_, body, cells, base, twins, state, reason, sent_at, tries = row
    known = [tuple(each) for each in msgspec.json.decode(cells)]
    return Entry(
        number, action, place, id_, body, known, base, tuple(msgspec.json.decode(twins)), state, reason, sent_at, tries
    )
