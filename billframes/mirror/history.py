"""The versions of a mirror: list, compare, name and remove them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import pandas as pd

from billframes.analysis.data.distinct_names import attach_names_of
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import MirrorError, ParameterError
from billframes.loaders.loader_set import LoaderSet, Owner
from billframes.mirror.catalogue import Catalogue, Version, check_tag, checked_span, find_version, format_span
from billframes.mirror.cleanup import remove_versions, versions_to_keep
from billframes.mirror.comparison import INSTANT, cells, falls, sorted_frame, versions_to_compare
from billframes.mirror.connection import MirrorConnection
from billframes.mirror.lock import folder_lock
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.storage import Storage
from billframes.mirror.tables import TABLES
from billframes.periods import DateLike, local_day, resolve

# The seconds to wait for a refresh by another process.
WAIT = 3600.0
# A refresh up to this many days after a day is used for it. Payments of these days are already deducted.
_DAYS_AFTER = 7
_CHANGES = dict.fromkeys(("resource", "id", "change", "column", "before", "after"), "str")
_CHANGES |= {"when": INSTANT, "version": "int64"}
SUMS = dict.fromkeys(("added", "updated", "removed", "requests"), "int64") | {"seconds": "float64"}
_HISTORY = {"version": "int64", "time": INSTANT, "tags": "str", **SUMS}


class MirrorHistory(LoaderSet):
    """The version of a mirror that is read, and those before it, as methods of `Mirror`."""

    def __init__(self, storage: Storage, version: Version | None, max_age: dt.timedelta | None) -> None:
        self._storage, self._catalogue = storage, Catalogue(storage)
        self._fixed_version, self._max_age = version, max_age
        self._snapshot = None if version is None else Snapshot(storage, version)
        self._connection = MirrorConnection(self._snapshot_to_load)
        self._kept_falls: dict[int, tuple[dt.date, pd.DataFrame, pd.DataFrame] | None] = {}
        LoaderSet.__init__(self, Owner(self))

    @property
    def path(self) -> str:
        """The mirror's folder or address."""
        return str(self._storage.local or self._storage.location)

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

    def history(self) -> pd.DataFrame:
        """
        List the versions, oldest first.

        Returns
        -------
        DataFrame
            One row per version: `version`, `time` (the server's, when the refresh began), `tags`, `added`, `updated`,
            `removed`, `requests`, `seconds`.
        """
        return _list(self._versions())

    def _version_of_day(self, last: dt.date, time_zone: str) -> tuple[int, dt.date] | None:
        """
        Return the number and the day of the version with the balances of a day; None if there is none.

        It is one whose tag contains the day's month ("2026-09 close"), else the last refresh on the day, else the first
        one in the week after it. An older version would lack the last invoices.
        """
        days = [(each, local_day(each.time, time_zone)) for each in self._versions()]
        week = last + dt.timedelta(days=_DAYS_AFTER)
        tagged = [(each, day) for each, day in days if f"{last:%Y-%m}" in ", ".join(each.tags) and day >= last]
        on_the_day = [(each, day) for each, day in days if day == last]
        after = [(each, day) for each, day in days if last < day <= week]
        found = [*tagged[-1:], *on_the_day[-1:], *after[:1]]
        return (found[0][0].number, found[0][1]) if found else None

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
        rows = [
            {"resource": name, **row, "when": after.time, "version": after.number}
            for before, after in pairwise(each for each in versions if each.number >= first.number)
            for name in ([resource] if resource else TABLES)
            for row in cells(self._storage, TABLES[name], before, after)
        ]
        return sorted_frame(rows, _CHANGES, ["version", "resource", "id", "column"])

    def implied_receipts(self, start: DateLike, end: DateLike | None = None) -> pd.DataFrame:
        """
        List by how much the balances of final invoices fell between refreshes.

        Parameters
        ----------
        start, end : date-like
            A period, or its first and last day, inclusive, in UTC. The refreshes of these days count, each with what
            fell since the one before. So `start="2026-09-30"` also counts what the refresh of 30 September found: the
            falls of the days before it. For the falls after it, pass `start="2026-10-01"`. Falls before the mirror's
            first refresh are not known.

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
        found = self._compare(versions_to_compare(self._versions(), span, self.path))[0]
        return cast("pd.DataFrame", attach_names_of(found, [self.clients(select="reference")]))

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
        frame = _list(kept)
        frame.attrs["vacuum"] = freed._asdict()
        return frame

    def _falls(self) -> tuple[dt.date, pd.DataFrame, pd.DataFrame] | None:
        """Return the first day of the mirror, and what its versions up to the one that is read show; None for one."""
        # Each forecast asks for both, and comparing the versions takes longer than the forecast.
        if self.version not in self._kept_falls:
            known = self._versions()
            seen = (known[0].time.date(), *self._compare(known)) if len(known) > 1 else None
            self._kept_falls = {self.version: seen}
        return self._kept_falls[self.version]

    def _compare(self, versions: Sequence[Version]) -> tuple[pd.DataFrame, pd.DataFrame]:
        names = self.clients(select="")[["client_id", "name"]].itertuples(index=False, name=None)
        return falls(self._storage, versions, dict(names))

    def _versions(self) -> list[Version]:
        return [each for each in self._catalogue.read() if each.number <= self.version]


def _list(versions: Sequence[Version]) -> pd.DataFrame:
    rows = [
        {
            "version": each.number,
            "time": each.time,
            "tags": ", ".join(each.tags),
            **{name: sum(getattr(row, name) for row in each.summary) for name in SUMS},
        }
        for each in versions
    ]
    return sorted_frame(rows, _HISTORY, ["version"])
