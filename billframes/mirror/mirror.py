"""The mirror as users hold it: loaders that read the tables, and what keeps the tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import pandas as pd

from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.errors import MirrorError, ParameterError
from billframes.loaders.loader_set import LoaderSet, Owner
from billframes.loading.progress import Progress, checked_progress
from billframes.mirror.catalogue import Catalogue, Version, checked_span, find, in_words
from billframes.mirror.connection import MirrorConnection
from billframes.mirror.engines import MEMORY_LIMIT, scan
from billframes.mirror.history import changes, history, summary
from billframes.mirror.lock import locked
from billframes.mirror.refresh import Refresh, checked_full
from billframes.mirror.remembered import MirrorCodes
from billframes.mirror.server import Server
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.storage import Storage
from billframes.mirror.tables import TABLES
from billframes.periods import DateLike, resolve

if TYPE_CHECKING:
    from billframes.client import Client
    from billframes.ebilling import CodeStore

__all__ = ["Mirror"]

# Seconds that a refresh waits for another one.
WAIT = 3600.0


class Mirror(MirrorConnection, LoaderSet):
    """
    A local copy of all resources, with a loader for each.

    Made by `bf.mirror`. The loaders are those of a client: same names, same arguments, same frames, without a request.
    All of them read one version: the newest when the mirror is first read, and the new one after `refresh`.
    """

    # Settings of the firm come from a client's profile.
    settings: FirmSettings | None = None

    def __init__(
        self,
        storage: Storage,
        *,
        default: Callable[[], Client],
        client: Client | None = None,
        max_age: dt.timedelta | None = None,
        version: Version | None = None,
    ) -> None:
        MirrorConnection.__init__(self, self._opened)
        self._storage = storage
        self._default, self._client = default, client
        self._max_age = max_age
        self._pinned = version
        self._snapshot: Snapshot | None = None if version is None else Snapshot(storage, version)
        LoaderSet.__init__(self, Owner(self))

    @property
    def path(self) -> str:
        """Where the mirror is."""
        return str(self._storage.local or self._storage.place)

    @property
    def item_codes(self) -> CodeStore:
        """The codes of expenses and fixed fees that e-billing checks read one by one, remembered with the mirror."""
        return MirrorCodes(self._storage)

    @property
    def version(self) -> int:
        """The number of the version that is read."""
        return self._open().version.number

    @property
    def time(self) -> dt.datetime:
        """The server's time when the version's refresh began: what was changed before is in it."""
        return self._open().version.time

    @property
    def age(self) -> dt.timedelta:
        """How long ago the version's refresh began, by this machine's clock."""
        return dt.datetime.now(dt.UTC) - self._open().version.began

    def refresh(
        self, full: bool | str | Collection[str] = False, *, progress: bool | Progress | None = None
    ) -> pd.DataFrame:
        """
        Bring the mirror up to date; the first time, load everything.

        Parameters
        ----------
        full : bool, str or list of str, default False
            Load these resources whole (True is all) and take the server's data as they are. Finds edits that did not
            move a record's modified date.
        progress : bool or callable, optional
            As for loaders.

        Returns
        -------
        DataFrame
            One row a resource: `resource`, `added`, `updated`, `removed`, `requests`, `seconds`.

        Raises
        ------
        MirrorError
            The mirror is another firm's, much of a table seems to have vanished, or the folder can't be written. What
            was there stays as it was.
        ApiError, PagingError, DecodeError
            As for loaders; what was there stays as it was.
        """
        if self._pinned is not None:
            raise MirrorError(f"This is the mirror as of {self._pinned.time:%Y-%m-%d %H:%M} UTC; refresh bf.mirror(…).")
        names = checked_full(full)
        checked_progress(progress)
        client = self._client or self._default_server()
        with locked(self._storage.local, WAIT):
            version = Refresh(self._storage, Server(client, progress), names).run()
        self._snapshot = Snapshot(self._storage, version)
        return summary(version)

    def as_of(self, when: str | dt.date | int) -> Mirror:
        """
        Open the mirror as it stood.

        Parameters
        ----------
        when : date, datetime, str or int
            A date (the last refresh that began on or before that day, in UTC), an instant, a tag, or a version's
            number.

        Returns
        -------
        Mirror
            With the same loaders; it can't be refreshed.

        Raises
        ------
        MirrorError
            The mirror does not go back so far, or has no such version or tag.
        """
        versions = Catalogue(self._storage).read()
        return Mirror(self._storage, default=self._default, version=find(versions, when, self._storage.place))

    def book(self, start: DateLike, end: DateLike | None = None, *, settings: FirmSettings | None = None) -> Book:
        """
        Open a period's book on the mirror; see `bf.book`.

        Parameters
        ----------
        start, end : date-like
            A period such as "2026-Q3", or the first and last day, inclusive.
        settings : FirmSettings, optional

        Returns
        -------
        Book
        """
        return Book(resolve(start, end), settings=settings, client=cast("Client", self.as_of(self.version)))

    def history(self) -> pd.DataFrame:
        """
        List the versions, oldest first.

        Returns
        -------
        DataFrame
            One row a version: `version`, `time` (the server's, when the refresh began), `tags`, `added`, `updated`,
            `removed`, `requests`, `seconds`.
        """
        return history(self._versions())

    def changes(self, since: str | dt.date | int, resource: str | None = None) -> pd.DataFrame:
        """
        List what changed since a version, cell by cell.

        Parameters
        ----------
        since : date, datetime, str or int
            As `as_of` takes it.
        resource : str, optional
            Only this one.

        Returns
        -------
        DataFrame
            One row a changed cell: `resource`, `id`, `change` ("changed"), `column`, `before` and `after` as text,
            `when` (the time of the refresh that saw it first) and its `version`. A row that was added or removed is one
            row with that `change` and no column. Names that belong to another record change there, once.
        """
        if resource is not None and resource not in TABLES:
            raise ParameterError(f"resource={resource!r} is not known; it takes {', '.join(TABLES)}.")
        versions = self._versions()
        first = find(versions, since, self._storage.place)
        later = [each for each in versions if each.number >= first.number]
        return changes(self._storage, later, [resource] if resource else list(TABLES))

    def tag(self, name: str, version: int | None = None) -> None:
        """
        Name a version, such as "2026-10 close"; `as_of` finds it, and `vacuum` keeps it.

        Parameters
        ----------
        name : str
            If another version has the name, it loses it.
        version : int, optional
            The version that is read if not given.
        """
        if not isinstance(name, str) or not name.strip():
            raise ParameterError(f"name={name!r} is not a text.")
        found = find(self._versions(), self.version if version is None else version, self._storage.place)
        with locked(self._storage.local, WAIT):
            Catalogue(self._storage).tag(found.number, name)

    def vacuum(self, keep: str | dt.timedelta = "30 days") -> pd.DataFrame:
        """
        Remove the files that only old versions need.

        Parameters
        ----------
        keep : timedelta or str, default "30 days"
            Versions that were made within this time stay, and so do tagged ones and the newest.

        Returns
        -------
        DataFrame
            The versions that are left, as `history` lists them.
        """
        span = checked_span("keep", keep) or dt.timedelta(0)
        with locked(self._storage.local, WAIT):
            versions = Catalogue(self._storage).read()
            since = dt.datetime.now(dt.UTC) - span
            kept = [each for each in versions if each.tags or each.began >= since or each is versions[-1]]
            Catalogue(self._storage).keep([each.number for each in kept])
            for name in versions[-1].tables:
                self._storage.vacuum(name, sorted({each.tables[name] for each in kept if name in each.tables}))
        return history(kept)

    def scan(
        self,
        resource: str,
        engine: str = "arrow",
        *,
        columns: Collection[str] | None = None,
        session: Any = None,
        memory_limit: str = MEMORY_LIMIT,
    ) -> Any:
        """
        Hand a resource over to an engine as a lazy table, without loading it.

        Parameters
        ----------
        resource : str
            Such as "time_entries".
        engine : {"arrow", "polars", "duckdb", "pyspark"}
            "arrow" gives a dataset of the stored columns; the others a lazy table with the frame's columns.
        columns : list of str, optional
            Only these. What other records show, such as an invoice's state on a time entry, is joined only if a column
            of it is among them.
        session : optional
            A DuckDB connection or a SparkSession; the default one if not given.
        memory_limit : str, default "1GB"
            What DuckDB's default connection may hold, unless a limit was set there already; it writes what is more to
            disk, and no longer keeps the order of the files.

        Returns
        -------
        pyarrow.dataset.Dataset, polars.LazyFrame, duckdb.DuckDBPyRelation or pyspark.sql.DataFrame
        """
        return scan(self._open(), resource, engine, session, columns, memory_limit)

    def sizes(self) -> pd.DataFrame:
        """
        Tell how large each table is.

        Returns
        -------
        DataFrame
            One row a table: `resource`, `rows`, `bytes` of the files that the version needs.
        """
        return self._open().sizes()

    def _versions(self) -> list[Version]:
        """Return the versions up to the one that is read."""
        return [each for each in Catalogue(self._storage).read() if each.number <= self.version]

    def _open(self) -> Snapshot:
        """Return the version that is read: the newest when this was first asked for."""
        if self._snapshot is None:
            self._snapshot = Snapshot(self._storage, self._newest())
        return self._snapshot

    def _newest(self) -> Version:
        return Catalogue(self._storage).newest()

    def _opened(self) -> Snapshot:
        """Return the version to load from; look for a newer one if it is too old, and refuse if there is none."""
        if self._max_age is None or self._pinned is not None:
            return self._open()
        if self.age > self._max_age:
            self._snapshot = Snapshot(self._storage, self._newest())
        if self.age > self._max_age:
            raise MirrorError(
                f"The mirror {self.path} is {in_words(self.age)} old, and max_age is {in_words(self._max_age)}. "
                "Refresh it."
            )
        return self._open()

    def _default_server(self) -> Client:
        """Return the default client to refresh from."""
        client: Any = self._default()
        if isinstance(client, Mirror):
            raise MirrorError(
                "The default client is itself a mirror, so nothing says which server to refresh from. "
                "Give bf.mirror(path, client=bf.Client(…))."
            )
        return cast("Client", client)

    def close(self) -> None:
        """Do nothing: a mirror holds nothing open. It can take a client's place."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._pinned is None and not Catalogue(self._storage).exists():
            return f"<billframes mirror {self.path}, empty>"
        return f"<billframes mirror {self.path}, version {self.version} of {self.time:%Y-%m-%d %H:%M} UTC>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._storage.place, self._storage.options, self._default, self._max_age, self._pinned)


def _reopen(
    place: str,
    options: Mapping[str, str],
    default: Callable[[], Client],
    max_age: dt.timedelta | None,
    version: Version | None,
) -> Mirror:
    return Mirror(Storage(place, options), default=default, max_age=max_age, version=version)
