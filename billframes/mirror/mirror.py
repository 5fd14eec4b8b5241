"""Open a mirror, refresh it and read it: `bf.mirror` and `Mirror`."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec
import pandas as pd

from billframes._session import default_client
from billframes.analysis.keys.by import By
from billframes.book import Book
from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.config.firm_calendar import FirmCalendar
from billframes.config.firm_file import fiscal_year_of_account
from billframes.days import FiscalYear
from billframes.errors import MirrorError, ParameterError
from billframes.loading.progress import Progress, check_progress
from billframes.mirror.bucket import BucketOptions
from billframes.mirror.catalogue import Firm, Version, checked_span, find_version
from billframes.mirror.engines import MEMORY_LIMIT, scan
from billframes.mirror.firm_check import settings_of
from billframes.mirror.history import SUMS, WAIT, MirrorHistory
from billframes.mirror.lock import folder_lock
from billframes.mirror.refresh import Refresh, checked_full
from billframes.mirror.restated import month_of, restated
from billframes.mirror.server_lists import ServerLists
from billframes.mirror.side_tables import ItemCodeTable, LedgerTable
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.storage import Storage, check_installed
from billframes.periods import DateLike, resolve

if TYPE_CHECKING:
    from billframes.analysis.results._figure_names import FigureName


def mirror(
    path: str | Path,
    *,
    client: Client | None = None,
    max_age: str | dt.timedelta | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Mirror:
    """
    Open a local copy of all resources, or choose the place of a new copy.

    Parameters
    ----------
    path : str or Path
        A folder, or "s3://…".
    client : Client, optional
        The client to refresh from; by default the default client.
    max_age : timedelta or str, optional
        Largest age of the data, such as "1 day". Loads raise an error if the data are older.
    storage_options : mapping of str to str, optional
        Options of the object store, such as `AWS_ENDPOINT_URL`. No repr shows their credentials, and a pickle leaves
        them out.

    Returns
    -------
    Mirror

    Raises
    ------
    MirrorError
        `deltalake` is not installed.

    Examples
    --------
    >>> m = bf.mirror(folder / "firm")  # doctest: +SKIP
    >>> m.refresh()  # doctest: +SKIP
    >>> m.time_entries("2026-10")  # doctest: +SKIP
    """
    # This comes first: if anything fails later, no frame of the traceback holds a credential as text.
    options, storage_options = BucketOptions(storage_options), None
    check_installed()
    span = None if max_age is None else checked_span("max_age", max_age)
    return Mirror(Storage(path, options), client=client, max_age=span)


class Mirror(MirrorHistory):
    """
    A local copy of all resources, with a loader for each.

    Created by `bf.mirror`. It has a client's loaders, with the same names, arguments and frames, but they send no
    request. All of them read one version: the newest when the mirror is first read, and the new one after `refresh`.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        client: Client | None = None,
        max_age: dt.timedelta | None = None,
        version: Version | None = None,
    ) -> None:
        super().__init__(storage, version, max_age)
        self._client = client
        self._own_fiscal_year: FiscalYear | None = None
        # The firm of the newest version, of a mirror that is open at an earlier one.
        self._newest_firm: Firm | None = None

    @functools.cached_property
    def settings(self) -> FirmSettings | None:
        """The settings of the firm's profile, else those with which the mirror was refreshed; they can be set."""
        if self._client is not None and not self._catalogue.exists():
            return self._client.settings
        return settings_of(self._client, self._newest_firm or self._open_snapshot().version.firm)

    @property
    def fiscal_year(self) -> FiscalYear | None:
        """The fiscal year that `connect`, the client or the profile was given, else that of the firm's settings."""
        given = self._own_fiscal_year
        if given is None and self._client is not None:
            given = self._client._given_fiscal_year
        elif given is None:
            given = fiscal_year_of_account(self._open_snapshot().version.firm.address)
        return given or (self.settings.fiscal_year if self.settings else None)

    @property
    def _item_codes(self) -> ItemCodeTable:
        return ItemCodeTable(self._storage)

    @property
    def _ledgers(self) -> LedgerTable:
        return LedgerTable(self._storage)

    def refresh(
        self, full: bool | str | Collection[str] = False, *, progress: bool | Progress | None = None
    ) -> pd.DataFrame:
        """
        Update the mirror to the server's current state; the first time, load everything.

        Parameters
        ----------
        full : bool, str or list of str, default False
            Resources to load completely (True for all), accepting the server's data without the check for vanished
            records. This finds edits that did not change a record's modified date.
        progress : bool or callable, optional
            As for loaders.

        Returns
        -------
        DataFrame
            One row per resource: `resource`, `added`, `updated`, `removed`, `requests`, `seconds`.

        Raises
        ------
        MirrorError
            The mirror has another firm's data, much of a table seems to have vanished, or the folder can't be written.
            The last version is unchanged, and in a folder no new file is left.
        ApiError, PagingError, DecodeError
            As for the loaders. The last version is unchanged.
        """
        if self._fixed_version is not None:
            raise MirrorError(
                f"This is the mirror as of {self._fixed_version.time:%Y-%m-%d %H:%M} UTC; refresh bf.mirror(…)."
            )
        names = checked_full(full)
        check_progress(progress)
        client: Any = self._client or default_client()
        if isinstance(client, Mirror):
            raise MirrorError(
                "The default client is itself a mirror, so the server to refresh from is unknown. "
                "Use bf.mirror(path, client=bf.Client(…))."
            )
        with folder_lock(self._storage.local, WAIT):
            version = Refresh(self._storage, ServerLists(client, progress), names).run()
        self._snapshot = Snapshot(self._storage, version)
        return pd.DataFrame(map(msgspec.structs.asdict, version.summary), columns=["resource", *SUMS])

    def as_of(self, when: str | dt.date | int) -> Mirror:
        """
        Open an earlier version of the mirror.

        Parameters
        ----------
        when : date, datetime, str or int
            A date or an instant (for the last refresh that began by then, in UTC), a tag, or a version's number.

        Returns
        -------
        Mirror
            A mirror with the same loaders that can't be refreshed.

        Raises
        ------
        MirrorError
            The mirror has no version from that time, or no such version or tag.
        """
        versions = self._catalogue.read()
        version = find_version(versions, when, self._storage.location)
        earlier = Mirror(self._storage, client=self._client, version=version)
        earlier._own_fiscal_year, earlier._newest_firm = self._own_fiscal_year, versions[-1].firm
        if "settings" in vars(self):
            earlier.settings = self.settings
        return earlier

    def book(self, start: DateLike, end: DateLike | None = None, *, settings: FirmSettings | None = None) -> Book:
        """
        Open the book of a period on the mirror; see `bf.book`.

        Parameters
        ----------
        start, end : date-like
            A period such as "2026-Q3" or "last month" (counted from today), or the first and last day, inclusive.
        settings : FirmSettings, optional

        Returns
        -------
        Book
        """
        period = resolve(start, end, calendar=FirmCalendar(lambda: self, settings))
        return Book(period, settings=settings, client=cast("Client", self.as_of(self.version)))

    def restated(
        self,
        since: str | dt.date | int,
        *figures: FigureName,
        by: By = None,
        start: DateLike | None = None,
        end: DateLike | None = None,
        records: bool = False,
        **options: Any,
    ) -> pd.DataFrame:
        """
        Compare a closed period with what it was in an earlier version, and say what changed it.

        Parameters
        ----------
        since : str, date, datetime or int
            The version, as for `as_of`, such as the tag "2026-09 close".
        *figures : str
            Sums of a period, as in `Book.figures`; by default hours, the value of work, and fees.
        by : str or list of str, optional
            Keys, as in `Book.figures`.
        start, end : date-like, optional
            The period; by default the month that the tag names.
        records : bool, default False
            Whether to list the parts, one row per figure, cause and record, with its person and day.
        **options
            Options of the figures' analyses, such as `matter_types`.

        Returns
        -------
        DataFrame
            One row per figure and group: `figure`, the keys, `then`, `now`, `change`, and the parts of the change. Each
            part is what the figure changes by if only that changed, after those before it:

            - `entered_late`, `deleted`: records that only one of the versions has
            - `redated`: records moved to or from the period
            - `retyped`: time made billable or not
            - `hours_changed`
            - `repriced`: another rate or amount
            - `moved`: to another matter, client or person; 0 for the firm
            - `invoice_changed`: billed, voided, credited or changed. Fees are spread over each invoice's work first.

        Raises
        ------
        MirrorError
            The mirror has no such tag, or no version from that time.
        ParameterError
            No period is known, or a figure, a key or an option is unknown, or a figure is not a sum of records.

        Examples
        --------
        >>> m.restated("2026-09 close", "cohort_amount", by="client")  # doctest: +SKIP
        """
        start = month_of(since) if start is None else start
        if start is None:
            raise ParameterError(f"{since!r} names no month; pass the period, such as start='2026-09'.")
        then = self.as_of(since)
        if then.version > self.version:
            raise ParameterError(f"{since!r} is version {then.version}, after the one that is read ({self.version}).")
        was, is_now = (each.book(start, end, settings=self.settings) for each in (then, self))
        return restated(was, is_now, is_now.period, figures, by, options, records=records)

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
        Open a resource in an engine as a lazy table, without loading it.

        Parameters
        ----------
        resource : str
            Such as "time_entries".
        engine : {"arrow", "polars", "duckdb", "pyspark"}
            "arrow" returns a dataset of the stored columns; the others return a lazy table with the frame's columns.
        columns : list of str, optional
            Only these columns. Columns of other records, such as an invoice's state on a time entry, are joined only if
            they are among them.
        session : optional
            A DuckDB connection or a SparkSession; the default one if not given.
        memory_limit : str, default "1GB"
            The memory that DuckDB's default connection may use, unless it has a limit already. It writes more data to
            disk, and does not keep the order of the files.

        Returns
        -------
        pyarrow.dataset.Dataset, polars.LazyFrame, duckdb.DuckDBPyRelation or pyspark.sql.DataFrame
        """
        return scan(self._open_snapshot(), resource, engine, session, columns, memory_limit)

    def sizes(self) -> pd.DataFrame:
        """
        Return the size of each table.

        Returns
        -------
        DataFrame
            One row per table: `resource`, `rows`, and the `bytes` of the version's files.
        """
        return self._open_snapshot().sizes()

    def close(self) -> None:
        """Do nothing. A client has this method, and a mirror can take its place."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        # Nothing is read for it: a bucket would be asked by the network.
        if self._snapshot is None:
            return f"<billframes mirror {self.path}>"
        version = self._snapshot.version
        return f"<billframes mirror {self.path}, version {version.number} of {version.time:%Y-%m-%d %H:%M} UTC>"

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {"max_age": self._max_age, "version": self._fixed_version}
        known = {"settings": self.settings} if vars(self).get("settings") else None
        return _reopen, (self._storage.location, self._storage.options, kept), known


def _reopen(location: str, options: BucketOptions, kept: dict[str, Any]) -> Mirror:
    return Mirror(Storage(location, options), **kept)
