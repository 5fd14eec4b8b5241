"""Keep the firm in one SQLite file, and lend connections to it, each to one thread at a time.

A forked process opens connections of its own, and leaves its parent's open: SQLite forbids even to close them there.

Readers see one snapshot and never wait. Writers take turns, and each gets an instant later than any before it. When a
write has been acknowledged, it is on the disk, unless the file is a temporary one.

A new firm is made in a file of its own, which is moved to its path when it is complete. A file without a clock, which
is stored last, is refused. So is a path that can't hold a database (a folder, a device, a read-only place), before
anything is written.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue

from billframes._shared.forks import PerProcess, keep_in_children, remove_at_end
from billframes.errors import ConfigError
from billframes.sandbox.cache import Cache, CachingConnection
from billframes.sandbox.clock import Clock, instant_text
from billframes.sandbox.schema import SCHEMA, add_audit

_Fill = Callable[[sqlite3.Connection], object]
_FindTemplate = Callable[[], Path | None]

_PRAGMAS = ("foreign_keys = ON", "cache_size = -16384", "mmap_size = 1073741824")
_CLOCK = "clock_offset_seconds"
_LAST_INSTANT = "last_instant"
# The table `setting` is missing, or the file is damaged or not a database.
_NOT_A_SANDBOX = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_KEPT_TEMPLATES = 3
_ADVICE = "Name a file in a folder that you can write to."
# Seconds to wait for a lock that another process holds.
_LOCK_TIMEOUT = 30.0


class Store:
    """
    An open sandbox database in the SQLite file `path`; None makes a temporary file.

    `close`, or the end of the process, removes a temporary file. If the file does not exist, it is created and `fill`
    inserts the rows, or it is a copy of the file that `template` returns, which `fill` has filled. If there is no such
    file, the new database is saved there, unless its folder can't be written. With `audit`, every change is recorded.
    `ConfigError` is raised if the file is not a complete sandbox database, or can't be created, read or written.
    """

    def __init__(
        self, path: str | Path | None, fill: _Fill, *, template: _FindTemplate | None = None, audit: bool = False
    ) -> None:
        self._remove: Callable[[], object] | None = None
        if path is None:
            folder = _temporary_folder()
            self._remove = remove_at_end(folder, self)
            path = folder / "firm.db"
        self.path = Path(path)
        self._connections = PerProcess(_Connections)
        keep_in_children(self._connections)
        self._closed = False
        try:
            with _raise_config_errors(self.path):
                if _is_new(self.path):
                    _create(self.path, fill, template() if template else None)
                self.clock = _read_clock(self.path)
                _check_writable(self.path)
                if audit:
                    with closing(_connect(self.path)) as connection:
                        add_audit(connection)
                self._connections.own.cache = Cache(_connect(self.path))
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read_transaction(self) -> Iterator[CachingConnection]:
        """Lend a connection in a read transaction, so that all reads see one snapshot."""
        connection = self._borrow()
        try:
            connection.begin(self._connections.own.cache)
            yield connection
        finally:
            connection.end()
            self._give_back(connection)

    @contextmanager
    def write_transaction(self, at: str | None = None) -> Iterator[tuple[sqlite3.Connection, str]]:
        """
        Lend a connection in a write transaction, with the instant of its changes.

        The transaction is committed at the end and rolled back if anything is raised. `at` overrides the instant.
        """
        connection = self._borrow()
        try:
            with self._connections.own.write_lock:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    yield connection, at or self._instant(connection)
                    connection.execute("COMMIT")
                finally:
                    connection.rollback()
        finally:
            self._give_back(connection)

    def _instant(self, connection: sqlite3.Connection) -> str:
        """Return the current time; if that is not after the last write's instant, a microsecond after that instant."""
        now = instant_text(self.clock.now())
        found = connection.execute("SELECT value FROM setting WHERE name = ?", (_LAST_INSTANT,)).fetchone()
        if found and found[0] >= now:
            now = instant_text(dt.datetime.fromisoformat(found[0]) + dt.timedelta(microseconds=1))
        connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_LAST_INSTANT, now))
        return now

    def close(self) -> None:
        """Close all connections (those in use, when they are given back); remove the file if it is temporary."""
        self._closed = True
        self._connections.own.close()
        if self._remove is not None:
            self._remove()

    def _borrow(self) -> CachingConnection:
        try:
            return self._connections.own.idle.get_nowait()
        except Empty:
            return _connect(self.path, durable=self._remove is None)

    def _give_back(self, connection: CachingConnection) -> None:
        self._connections.own.idle.put(connection)
        if self._closed:
            self.close()


class _Connections:
    """The connections of one process; only the process that opened the store has a cache."""

    def __init__(self) -> None:
        self.idle: LifoQueue[CachingConnection] = LifoQueue()
        self.write_lock = threading.Lock()
        self.cache: Cache | None = None

    def close(self) -> None:
        with suppress(Empty):
            while True:
                self.idle.get_nowait().close()
        cache, self.cache = self.cache, None
        if cache:
            cache.close()


def _connect(path: Path, *, durable: bool = True) -> CachingConnection:
    """Return a connection in autocommit mode that waits for locks and has the SQL function `matches`."""
    # The pool lends a connection to one thread at a time, which SQLite allows but its check can't see.
    connection = sqlite3.connect(
        path, isolation_level=None, timeout=_LOCK_TIMEOUT, check_same_thread=False, factory=CachingConnection
    )
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
    except sqlite3.DatabaseError:
        connection.close()
        raise
    connection.create_function("matches", 3, _matches, deterministic=True)
    return connection


def _matches(field: str | None, text: str, whole: int) -> bool:
    """Tell whether `field` contains `text`, or equals it if `whole`, ignoring case."""
    if field is None:
        return False
    field, text = field.casefold(), text.casefold()
    return field == text if whole else text in field


@contextmanager
def _raise_config_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the system into a `ConfigError` of one sentence."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in _NOT_A_SANDBOX:
            raise ConfigError(f"{path} is not a sandbox database: {error}. Name another file.") from error
        raise ConfigError(f"The firm can't be stored in {path}: {error}. {_ADVICE}") from error
    except OSError as error:
        raise ConfigError(f"The firm can't be stored in {path}: {error.strerror}. {_ADVICE}") from error


def _temporary_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="billframes-sandbox-"))
    except OSError as error:
        message = f"The sandbox can't create a temporary folder: {error.strerror}. Set TMPDIR, or name a file with db."
        raise ConfigError(message) from error


def _is_new(path: Path) -> bool:
    if path.is_dir():
        raise ConfigError(f"{path} is a folder. Name a file in it, such as {path / 'firm.db'}.")
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a regular file. {_ADVICE}")
    return not path.exists() or path.stat().st_size == 0


def _check_writable(path: Path) -> None:
    """Begin a write, so that a read-only file or folder is refused at the start, not at the first write."""
    with closing(_connect(path)) as connection:
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise


def _create(path: Path, fill: _Fill, template: Path | None) -> None:
    """Create a new firm beside the path, from a template if there is one, and move it there when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Path(f"{path}.new")
    made.unlink(missing_ok=True)
    # An empty file may be for its owner only.
    made.touch(path.stat().st_mode & 0o777 if path.exists() else 0o666)
    try:
        if template is None or not _copy_template(template, made):
            made.write_bytes(b"")
            _fill_new(made, fill)
            if template is not None:
                _save_template(made, template)
        made.replace(path)
    finally:
        for ending in ("", "-journal", "-wal", "-shm"):
            Path(f"{made}{ending}").unlink(missing_ok=True)


def _copy_template(template: Path, path: Path) -> bool:
    """Copy a template, with a clock that starts now; return False if there is no template or it can't be copied."""
    try:
        shutil.copyfile(template, path)
        with suppress(OSError):
            os.utime(template)
        with closing(_connect(path)) as connection:
            _start_clock(connection)
    except (OSError, sqlite3.DatabaseError):
        return False
    return True


def _save_template(path: Path, template: Path) -> None:
    """Save a new database as the template, and remove others, except those that were used last."""
    with suppress(OSError):
        template.parent.mkdir(parents=True, exist_ok=True)
        copy = template.with_name(f"{template.name}.{os.getpid()}")
        shutil.copyfile(path, copy)
        copy.replace(template)
        # Environments with other versions of the sandbox have templates of their own.
        by_use = sorted(template.parent.glob(f"*{template.suffix}"), key=lambda each: each.stat().st_mtime)
        for other in by_use[:-_KEPT_TEMPLATES]:
            other.unlink(missing_ok=True)


def _fill_new(path: Path, fill: _Fill) -> None:
    with closing(_connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(SCHEMA)
        connection.execute("BEGIN")
        fill(connection)
        _start_clock(connection)
        connection.execute("COMMIT")
        connection.execute("ANALYZE")


def _start_clock(connection: sqlite3.Connection) -> None:
    offset = repr(Clock.starting().offset.total_seconds())
    connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_CLOCK, offset))


def _read_clock(path: Path) -> Clock:
    """Read the clock; raise `ConfigError` if there is none, because the database is incomplete."""
    with closing(_connect(path)) as connection:
        found = connection.execute("SELECT value FROM setting WHERE name = ?", (_CLOCK,)).fetchone()
    if found is None:
        raise ConfigError(f"{path} was left unfinished by an interrupted start. Delete it and start again.")
    return Clock(dt.timedelta(seconds=float(found[0])))
