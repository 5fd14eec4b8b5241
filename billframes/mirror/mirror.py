"""`Mirror`, the class that users work with: loaders that read the tables, and methods for the tables themselves."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import pandas as pd

from billframes.analysis.data.distinct_names import attach_names_of
from billframes.analysis.keys.by import By
from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.config.firm_calendar import FirmCalendar
from billframes.config.firm_file import fiscal_year_of_account
from billframes.days import FiscalYear
from billframes.errors import MirrorError, ParameterError
from billframes.loaders.loader_set import LoaderSet, Owner
from billframes.loading.progress import Progress, check_progress
from billframes.mirror.bucket import BucketOptions
from billframes.mirror.catalogue import Catalogue, Version, check_tag, checked_span, find_version, format_span
from billframes.mirror.cleanup import remove_versions, versions_to_keep
from billframes.mirror.connection import MirrorConnection
from billframes.mirror.engines import MEMORY_LIMIT, scan
from billframes.mirror.falls import compare, versions_to_compare
from billframes.mirror.firm_settings import settings_of
from billframes.mirror.history import changes, history, summary, version_of_day
from billframes.mirror.ledgers import LedgerTable
from billframes.mirror.lock import folder_lock
from billframes.mirror.refresh import Refresh, checked_full
from billframes.mirror.restated import month_of, restated
from billframes.mirror.server_lists import ServerLists
from billframes.mirror.side_tables import ItemCodeTable
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.storage import Storage
from billframes.mirror.tables import TABLES
from billframes.periods import DateLike, resolve

if TYPE_CHECKING:
    from billframes.analysis.results._figure_names import FigureName
    from billframes.client import Client

# The seconds to wait for a refresh by another process.
WAIT = 3600.0


class Mirror(LoaderSet):
    """
    A local copy of all resources, with a loader for each.

    Created by `bf.mirror`. It has a client's loaders, with the same names, arguments and frames, but they send no
    request. All of them read one version: the newest when the mirror is first read, and the new one after `refresh`.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        default: Callable[[], Client],
        client: Client | None = None,
        max_age: dt.timedelta | None = None,
        version: Version | None = None,
    ) -> None:
        self._storage, self._catalogue = storage, Catalogue(storage)
        self._default, self._client = default, client
        self._max_age = max_age
        self._own_fiscal_year: FiscalYear | None = None
        # The facts of the newest version, of a mirror that is open at an earlier one.
        self._newest_facts: Mapping[str, Any] | None = None
        self._fixed_version = version
        self._snapshot: Snapshot | None = None if version is None else Snapshot(storage, version)
        self._connection = MirrorConnection(self._snapshot_to_load)
        self._kept_falls: tuple[int, tuple[dt.date, pd.DataFrame, pd.DataFrame] | None] | None = None
        LoaderSet.__init__(self, Owner(self))

    @functools.cached_property
    def settings(self) -> FirmSettings | None:
        """The settings of the firm's profile, else those with which the mirror was refreshed; they can be set."""
        if self._client is not None and not self._catalogue.exists():
            return self._client.settings
        return settings_of(self._client, self._newest_facts or self._open_snapshot().version.firm)

    @property
    def fiscal_year(self) -> FiscalYear | None:
        """The fiscal year that `connect`, the client or the profile was given, else that of the firm's settings."""
        given = self._own_fiscal_year
        if given is None and self._client is not None:
            given = self._client._given_fiscal_year
        elif given is None:
            given = fiscal_year_of_account(self._open_snapshot().version.firm["address"])
        return given or (self.settings.fiscal_year if self.settings else None)

    @property
    def path(self) -> str:
        """The mirror's folder or address."""
        return str(self._storage.local or self._storage.location)

    @property
    def _item_codes(self) -> ItemCodeTable:
        """The codes of expenses and fixed fees that e-billing checks have read, stored with the mirror."""
        return ItemCodeTable(self._storage)

    @property
    def _ledgers(self) -> LedgerTable:
        """The reports of the firm's books that were read with the mirror."""
        return LedgerTable(self._storage)

    @property
    def version(self) -> int:
        """The number of the version that is read."""
        return self._open_snapshot().version.number

    @property
    def time(self) -> dt.datetime:
        """The server's time when the version's refresh began. Earlier changes are in the version."""
        return self._open_snapshot().version.time

    @property
    def age(self) -> dt.timedelta:
        """The time since the version's refresh began, by this machine's clock."""
        return dt.datetime.now(dt.UTC) - self._open_snapshot().version.began

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
        client = self._client or self._default_client()
        with folder_lock(self._storage.local, WAIT):
            version = Refresh(self._storage, ServerLists(client, progress), names).run()
        self._snapshot = Snapshot(self._storage, version)
        return summary(version)

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
        earlier = Mirror(self._storage, default=self._default, client=self._client, version=version)
        earlier._own_fiscal_year, earlier._newest_facts = self._own_fiscal_year, versions[-1].firm
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

    def history(self) -> pd.DataFrame:
        """
        List the versions, oldest first.

        Returns
        -------
        DataFrame
            One row per version: `version`, `time` (the server's, when the refresh began), `tags`, `added`, `updated`,
            `removed`, `requests`, `seconds`.
        """
        return history(self._versions())

    def _version_of_day(self, day: dt.date, time_zone: str) -> tuple[int, dt.date] | None:
        return version_of_day(self.history(), day, time_zone)

    def changes(self, since: str | dt.date | int, resource: str | None = None) -> pd.DataFrame:
        """
        List the changes since a version, cell by cell.

        Parameters
        ----------
        since : date, datetime, str or int
            The version, as for `as_of`.
        resource : str, optional
            Only this resource.

        Returns
        -------
        DataFrame
            One row per changed cell: `resource`, `id`, `change` ("changed"), `column`, `before` and `after` as text,
            `when` (the time of the first refresh that found it) and that refresh's `version`. An added or removed row
            is one row with the `change` "added" or "removed" and no column. If a client is renamed, only the client is
            listed, and not the other records that show its name.
        """
        if resource is not None and resource not in TABLES:
            raise ParameterError(f"resource={resource!r} is not known; it takes {', '.join(TABLES)}.")
        versions = self._versions()
        first = find_version(versions, since, self._storage.location)
        later = [each for each in versions if each.number >= first.number]
        return changes(self._storage, later, [resource] if resource else list(TABLES))

    def implied_receipts(self, start: DateLike, end: DateLike | None = None) -> pd.DataFrame:
        """
        List by how much the balances of final invoices fell between refreshes.

        Parameters
        ----------
        start, end : date-like
            A period, or its first and last day, inclusive, in UTC. A fall counts on the day of the first refresh that
            found it. The more often the mirror was refreshed before and in the period, the more exact are the times.

        Returns
        -------
        DataFrame
            One row for each invoice and pair of refreshes between which its balance changed. A rise, as after a
            reversed payment, is a negative fall. Voided and negative invoices are left out. If an invoice was not final
            at the earlier refresh, its amount counts as the balance before.

            - `invoice_id`, `invoice_number`, `client_id`, `client_name`
            - `after`, `until`: the times of the two refreshes
            - `balance_before`, `balance_after`, `fall_amount`
            - `adjusted_amount`: the part of the fall by which the invoice's own amount was reduced
            - `credited_amount`: the part that the client's credits explain, because they were used in the same time.
              They count for the oldest invoices first.
            - `implied_receipt_amount`: the rest of the fall

        Raises
        ------
        MirrorError
            The mirror has no two versions to compare in the period.

        Examples
        --------
        >>> m.implied_receipts("2026-10")["implied_receipt_amount"].sum()  # doctest: +SKIP
        """
        span = resolve(start, end, calendar=FirmCalendar(lambda: self))
        chosen = versions_to_compare(self._versions(), span, self.path)
        found = compare(self._storage, chosen, self._client_names())[0]
        return cast("pd.DataFrame", attach_names_of(found, [self.clients(select="reference")]))

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

    def tag(self, name: str, version: int | None = None) -> None:
        """
        Name a version, such as "2026-10 close"; `as_of` finds it, and `vacuum` keeps it.

        Parameters
        ----------
        name : str
            Not a date. If another version has the name, the name is moved to this version.
        version : int, optional
            The version's number; the version that is read if not given.
        """
        check_tag(name)
        found = find_version(self._versions(), self.version if version is None else version, self._storage.location)
        with folder_lock(self._storage.local, WAIT):
            self._catalogue.tag(found.number, name)

    def vacuum(self, keep: str | dt.timedelta = "30 days", *, month_ends: bool = False) -> pd.DataFrame:
        """
        Remove old versions, and the files that no other version needs. It needs no free space on the disk.

        It also removes what a refresh left that was killed.

        Parameters
        ----------
        keep : timedelta or str, default "30 days"
            Versions that are newer than this are kept, and so are tagged versions and the newest one.
        month_ends : bool, default False
            Whether the last version of each month (of the server's time, in UTC) is kept, too.

        Returns
        -------
        DataFrame
            The remaining versions, as `history` lists them. `attrs["vacuum"]` has the number of removed `versions`, and
            the `bytes` of the removed files (None in a bucket).

        Raises
        ------
        MirrorError
            There is no mirror here, or it can't be written. Versions that are kept are complete.
        """
        span = checked_span("keep", keep)
        now = dt.datetime.now(dt.UTC)
        if self._storage.local and not self._storage.local.exists():
            # Raises, and does not make the folder.
            self._catalogue.read()
        with folder_lock(self._storage.local, WAIT):
            kept, freed = remove_versions(
                self._storage, self._catalogue, lambda all_: versions_to_keep(all_, span, now, month_ends=month_ends)
            )
        frame = history(kept)
        frame.attrs["vacuum"] = {"versions": freed.versions, "bytes": freed.bytes}
        return frame

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

    def _falls(self) -> tuple[dt.date, pd.DataFrame, pd.DataFrame] | None:
        """Return the first day of the mirror, and what its versions up to the one that is read show; None for one."""
        # Each forecast asks for both, and comparing the versions takes longer than the forecast.
        if self._kept_falls is None or self._kept_falls[0] != self.version:
            known, names = self._versions(), self._client_names
            seen = (known[0].time.date(), *compare(self._storage, known, names())) if len(known) > 1 else None
            self._kept_falls = self.version, seen
        return self._kept_falls[1]

    def _client_names(self) -> dict[str, str]:
        return dict(self.clients(select="")[["client_id", "name"]].itertuples(index=False, name=None))

    def _versions(self) -> list[Version]:
        return [each for each in self._catalogue.read() if each.number <= self.version]

    def _open_snapshot(self) -> Snapshot:
        if self._snapshot is None:
            self._snapshot = Snapshot(self._storage, self._catalogue.newest())
        return self._snapshot

    def _snapshot_to_load(self) -> Snapshot:
        """Return the version to load from; if it is too old, open the newest one, and raise if that is too old, too."""
        if self._max_age is None or self._fixed_version is not None:
            return self._open_snapshot()
        if self.age > self._max_age:
            self._snapshot = Snapshot(self._storage, self._catalogue.newest())
        if self.age > self._max_age:
            raise MirrorError(
                f"The mirror {self.path} is {format_span(self.age)} old, and max_age is {format_span(self._max_age)}. "
                "Refresh it."
            )
        return self._open_snapshot()

    def _default_client(self) -> Client:
        """Return the default client to refresh from; raise if it is a mirror."""
        client: Any = self._default()
        if isinstance(client, Mirror):
            raise MirrorError(
                "The default client is itself a mirror, so the server to refresh from is unknown. "
                "Use bf.mirror(path, client=bf.Client(…))."
            )
        return cast("Client", client)

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
        kept = {"default": self._default, "max_age": self._max_age, "version": self._fixed_version}
        known = {"settings": self.settings} if vars(self).get("settings") else None
        return _reopen, (self._storage.location, self._storage.options, kept), known


def _reopen(location: str, options: BucketOptions, kept: dict[str, Any]) -> Mirror:
    return Mirror(Storage(location, options), **kept)
