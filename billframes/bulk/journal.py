"""The journal of an apply: a file with each change, whether it may have been sent, and its outcome.

It is an SQLite database with one row per change. A change is first `planned`. It is `sent` before its request leaves,
so that a process killed in between leaves a trace. Then it has an outcome. `bf.bulk.resume` sends or checks the changes
that are `planned` or `sent`. A change with an outcome is never sent again.

The file holds narratives and names of clients, so only its owner can read it, and a file that others can write is
refused. It has the server's address and no credentials; a client for that address is needed to resume it. Only one
process at a time can open it.
"""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import msgspec
import platformdirs

from billframes._shared.forks import Process, keep_in_children
from billframes.bulk.columns import EditColumn
from billframes.bulk.journal_entry import (
    LONGEST_VALUE,
    DamagedJournalError,
    Entry,
    check_cells,
    check_changes,
    check_tables,
    check_writers,
)
from billframes.errors import ParameterError

VERSION = 1
# `base` holds `Entry.modified_at`, `twins` holds `Entry.existing_ids`.
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE change (
    number INTEGER PRIMARY KEY, action TEXT NOT NULL, place INTEGER, id TEXT, body BLOB, cells BLOB NOT NULL,
    base TEXT, twins BLOB NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, sent_at TEXT, tries INTEGER NOT NULL
);
CREATE INDEX change_state ON change (state, number);
CREATE INDEX change_planned ON change (lower(id)) WHERE state = 'planned';
"""
_COLUMNS = "number, action, place, id, body, cells, base, twins, state, reason, sent_at, tries"


def folder() -> Path:
    """Return the folder for journals without a given path; only its owner can read it."""
    path = platformdirs.user_state_path("billframes", appauthor=False) / "journals"
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(OSError):
        path.chmod(0o700)
    return path


class Journal:
    """An open journal; made by `create` and `open`."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database
        self._process = Process.current()
        keep_in_children(self)

    @classmethod
    def create(cls, path: Path, about: Mapping[str, str], entries: Iterable[Entry]) -> Journal:
        """Write a new journal with planned changes; raise `ParameterError` if that is impossible."""
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise ParameterError(
                f"The journal {path} exists already. bf.bulk.resume({str(path)!r}) finishes it; for another apply, "
                "give another name."
            ) from None
        except OSError as error:
            raise ParameterError(f"The journal {path} can't be written: {error.strerror}.") from None
        try:
            # Left by a deleted journal of the same name.
            path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
            check_writers(path)
            journal = cls(path, _open_database(path, "TRUNCATE"))
            with _close_on_failure(journal._database), journal._database as database:
                database.executescript("BEGIN;" + _SCHEMA)
                database.executemany("INSERT INTO about VALUES (?, ?)", [*about.items(), ("version", str(VERSION))])
                marks = ", ".join("?" * len(_COLUMNS.split(", ")))
                database.executemany(f"INSERT INTO change VALUES ({marks})", (each.row for each in entries))  # noqa: S608
            database.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return journal

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Open a journal; raise `ParameterError` if it is missing, damaged, of another user or in use."""
        if not path.is_file():
            raise ParameterError(f"There is no journal {path}.")
        check_writers(path)
        try:
            journal = cls(path, _open_database(path, "WAL", check=True))
            with _close_on_failure(journal._database):
                about = journal.about
                if about.get("version") != str(VERSION):
                    raise ParameterError(f"The journal {path} was written by another version of billframes.")
                check_changes(about, journal._database.execute(f"SELECT {_COLUMNS} FROM change ORDER BY number"))  # noqa: S608
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise ParameterError(
                    f"The journal {path} is being written by another process; wait until it has ended."
                ) from None
            raise _damaged(path, error) from None
        except (sqlite3.Error, DamagedJournalError, ValueError, OverflowError) as error:
            if isinstance(error, ParameterError):
                raise
            raise _damaged(path, error) from None
        return journal

    @property
    def about(self) -> dict[str, str]:
        """The journal's `base_url`, `resource`, `version`, and `read_at` and `finished` if known."""
        return dict(self._database.execute("SELECT name, value FROM about"))

    def finish(self) -> None:
        """Mark the journal as finished."""
        with self._database as database:
            database.execute("INSERT OR REPLACE INTO about VALUES ('finished', 'yes')")

    def first_in_state(self, state: str, actions: Sequence[str], most: int) -> list[Entry]:
        """Return the first changes with one of the actions that are in a state, at most `most`."""
        marks = ", ".join("?" * len(actions))
        clause = f"WHERE state = ? AND action IN ({marks}) ORDER BY number LIMIT ?"
        return list(self._select(clause, [state, *actions, most]))

    def entries(self, state: str | None = None) -> Iterator[Entry]:
        """Yield all changes, or those in a state."""
        if state is None:
            return self._select("ORDER BY number")
        return self._select("WHERE state = ? ORDER BY number", [state])

    def check_cells(self, columns: Mapping[str, EditColumn]) -> None:
        """Raise `ParameterError` if a change is of no column, or not a value of its column."""
        try:
            for entry in self.entries():
                check_cells(entry, columns)
        except DamagedJournalError as error:
            raise _damaged(self.path, error) from None

    def outcomes(self) -> Iterator[tuple[str | None, str, str | None, str, str, int | None]]:
        """Yield the id, state, reason, action, columns and place of each change."""
        for each in self.entries():
            columns = ", ".join(name for name, *_ in each.cells)
            yield each.id, each.state, each.reason or None, each.action, columns, each.place

    def count(self, state: str | None = None) -> int:
        """Return the number of all changes, or of those in a state."""
        where = "" if state is None else "WHERE state = ?"
        sql = f"SELECT count(*) FROM change {where}"  # noqa: S608
        return int(self._database.execute(sql, [] if state is None else [state]).fetchone()[0])

    @property
    def unfinished(self) -> int:
        """The number of changes that are not done, or whose outcome is unknown."""
        return sum(map(self.count, ("planned", "sent", "unanswered")))

    def add_note(self, error: BaseException) -> None:
        """Add a note to the error that interrupts an apply: how far it came, and the call that finishes it."""
        if self._process.is_current and "bf.bulk.resume" not in str(error):
            with suppress(sqlite3.Error):
                total = self.count()
                error.add_note(
                    f"{total - self.unfinished:,} of {total:,} changes have an outcome. "
                    f"Finish with bf.bulk.resume({str(self.path)!r})."
                )

    def planned_updates(self, ids: Sequence[str]) -> list[Entry]:
        """Return the updates of these records that are not sent yet; ids in lower case."""
        # Without the index's name, SQLite reads all planned changes.
        clause = (
            "INDEXED BY change_planned "
            "WHERE state = 'planned' AND action = 'update' AND lower(id) IN (SELECT value FROM json_each(?))"
        )
        return list(self._select(clause, [msgspec.json.encode(ids).decode()]))

    def _select(self, clause: str, values: Sequence[Any] = ()) -> Iterator[Entry]:
        for row in self._database.execute(f"SELECT {_COLUMNS} FROM change {clause}", values):  # noqa: S608
            yield Entry.of_row(row)

    def mark_sent(self, entries: Sequence[Entry], read_at: str | None = None) -> list[Entry]:
        """Mark changes as sent before they are, on the disk; until `read_at` it is known which records were changed."""
        now = dt.datetime.now(dt.UTC).isoformat()
        noted = [msgspec.structs.replace(each, state="sent", sent_at=each.sent_at or now) for each in entries]
        # A power failure must not lose that a change was sent. It may lose an outcome, which can be found out again.
        self._database.execute("PRAGMA synchronous = FULL")
        self._save(noted, read_at)
        self._database.execute("PRAGMA synchronous = NORMAL")
        return noted

    def save(self, entries: Sequence[Entry]) -> None:
        """Save the state of changes."""
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
        """Close the journal, and merge the `-wal` file into it. No effect the second time or in a forked process."""
        if not self._process.is_current:
            return
        with suppress(sqlite3.Error):
            self._database.execute("PRAGMA journal_mode = DELETE")
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_finished(path: Path) -> bool:
    """Tell whether all changes of a journal have an outcome."""
    with Journal.open(path) as journal:
        return "finished" in journal.about


def _damaged(path: Path, error: Exception) -> ParameterError:
    return ParameterError(
        f"{path} is not a journal of billframes, or it is damaged: {error}. None of its changes were sent."
    )


def _open_database(path: Path, mode: str, *, check: bool = False) -> sqlite3.Connection:
    """Open a file that only this process can use until it is closed; `check` that it is a journal before it changes."""
    database = sqlite3.connect(path, timeout=0.5, check_same_thread=False)
    with _close_on_failure(database):
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        if check:
            check_tables(database, _SCHEMA)
        database.execute(f"PRAGMA journal_mode = {mode}")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN EXCLUSIVE")
        database.commit()
    return database


@contextmanager
def _close_on_failure(database: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        database.close()
        raise
