"""Find when matters and clients were worked for and invoiced: the last days, and of clients also the first."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes._messages import warn
from billframes.analysis.arguments import read_bounded_period
from billframes.analysis.column_types import ITEMS, Frame
from billframes.analysis.coverage import need_all_dates, need_period, need_work_on_invoices, warn_of_removed_rows
from billframes.analysis.engine import collect, join_by_id, lazy, to_dicts
from billframes.analysis.expressions import as_day, midnight
from billframes.analysis.frames import select_columns
from billframes.errors import IncompleteDataWarning
from billframes.periods import DateLike, Period

__all__ = [
    "Activity",
    "ClientDays",
    "NewBusinessPeriods",
    "activity_of_matters",
    "as_midnight",
    "days_of_clients",
    "need_days_of_clients",
    "table_of_clients",
    "warn_of_short_history",
    "year_before",
]

C = nw.col


@dataclass(slots=True)
class Activity:
    """The last days of a matter; None if there were none."""

    work: dt.datetime | None = None
    invoice: dt.datetime | None = None

    @property
    def last(self) -> dt.datetime | None:
        """The later of the two."""
        return max([each for each in (self.work, self.invoice) if each is not None], default=None)


def activity_of_matters(frames: Mapping[str, Frame], day: dt.date) -> dict[str, Activity]:
    """
    Find the last work on each matter and its last final invoice, both dated up to a day.

    As in `exposure`, work is a time entry of any billing type; an invoice is one above 0, and it is of the matters that
    it has items on.

    Parameters
    ----------
    frames : mapping of str to Frame
        `time_entries`, `invoices` and, if they were passed, `expenses` and `fixed_fees`.
    day : date

    Returns
    -------
    dict of str to Activity
        By the matter's id; matters without either are not in it.
    """
    found: dict[str, Activity] = {}
    for matter, worked, invoiced in _days(frames, day):
        if matter is not None:
            known = found.setdefault(matter, Activity())
            known.work = max([each for each in (known.work, worked) if each is not None], default=None)
            known.invoice = max([each for each in (known.invoice, invoiced) if each is not None], default=None)
    return found


def as_midnight(value: Any) -> dt.datetime | None:
    """Return midnight of a date or of an instant's day, as dates inside the analyses are; None if missing."""
    day = as_day(value)
    return None if day is None else midnight(day)


def _days(frames: Mapping[str, Frame], day: dt.date) -> Iterator[tuple[str | None, dt.datetime | None, Any]]:
    """List each matter with a day of work and the date of an invoice, either of which may be missing."""
    columns = ("invoice_id", "invoice_date", "invoice_state", "amount")
    final = select_columns(frames["invoices"], "invoices", columns).filter(
        C("invoice_state") == "final", C("invoice_date") <= midnight(day), C("amount") > 0
    )
    dates = final.select("invoice_id", "invoice_date")
    for name in ITEMS:
        if name in frames:
            items = select_columns(lazy(frames[name]), name, ("matter_id", "invoice_id", "date"))
            dated = join_by_id(items, dates, "invoice_id").with_columns(
                _worked=nw.when(C("date") <= midnight(day)).then(C("date"))
            )
            last = dated.group_by("matter_id").agg(C("_worked", "invoice_date").max())
            for row in to_dicts(collect(last, frames[name])):
                yield row["matter_id"], row["_worked"] if name == "time_entries" else None, row["invoice_date"]


@dataclass(frozen=True, slots=True)
class NewBusinessPeriods:
    """The period, the same one a year before, and the first day of the twelve months up to the period's end."""

    period: Period
    before: Period
    year: dt.date
    last: dt.date

    @classmethod
    def of(cls, start: DateLike, end: DateLike | None) -> NewBusinessPeriods:
        """Read `start=` and `end=`; both ends have to be known."""
        first, last = read_bounded_period(start, end, "new_business")
        # The day after the last one is the first of a month if a month ends, whatever its length.
        year = year_before(last + dt.timedelta(days=1))
        before = Period(year_before(first), year - dt.timedelta(days=1))
        return cls(Period(first, last), before, year, last)


def year_before(day: dt.date) -> dt.date:
    """Return the same day a year before; of 29 February the 1 March."""
    return dt.date(day.year - 1, 3, 1) if (day.month, day.day) == (2, 29) else day.replace(year=day.year - 1)


@dataclass(slots=True)
class ClientDays:
    """The first day known of a client, and that of its last work up to the period's end."""

    first: dt.datetime | None = None
    last_work: dt.datetime | None = None

    def is_new(self, spans: NewBusinessPeriods) -> bool:
        """Whether the first day lies in the twelve months."""
        return self.first is not None and midnight(spans.year) <= self.first <= midnight(spans.last)

    def is_dormant(self, spans: NewBusinessPeriods) -> bool:
        """Whether there was work once, and none in the twelve months."""
        return self.last_work is not None and self.last_work < midnight(spans.year)


def need_days_of_clients(natives: Mapping[str, Any], spans: NewBusinessPeriods) -> None:
    """Refuse loads that lack the year before, or from which no client would look old; warn of rows taken away."""
    work = {"time_entries": natives["time_entries"]}
    both = Period(spans.before.start, spans.period.end)
    need_period("new_business", work, Period(year_before(spans.year), spans.last))
    need_work_on_invoices("new_business", natives, both)
    need_all_dates("new_business", work | {"matters": natives["matters"]})
    known_by = {name: natives[name] for name in ("time_entries", "invoices", "matters")}
    warn_of_removed_rows("new_business", known_by, "clients can look new, or without work, that are not")


def days_of_clients(frames: Mapping[str, Frame], spans: NewBusinessPeriods) -> dict[str, ClientDays]:
    """Find the first and last days of each client: matters opened, time entries of every kind, invoices."""
    known: dict[str, ClientDays] = {}
    for name, column in (("time_entries", "date"), ("matters", "opened"), ("invoices", "invoice_date")):
        rows = select_columns(lazy(frames[name]), name, ("client_id", column))
        past = nw.when(C(column) <= midnight(spans.last)).then(C(column))
        ends = rows.with_columns(_past=past).group_by("client_id").agg(_first=C(column).min(), _last=C("_past").max())
        for row in to_dicts(collect(ends, frames[name])):
            if row["client_id"] is None:
                continue
            days = known.setdefault(row["client_id"], ClientDays())
            days.first = min(_known(days.first, row["_first"]), default=None)
            if name == "time_entries":
                days.last_work = row["_last"]
    return known


def _known(*days: dt.datetime | None) -> Iterator[dt.datetime]:
    """Return the days that are not missing."""
    return (day for day in days if day is not None)


def warn_of_short_history(known: Mapping[str, ClientDays], spans: NewBusinessPeriods) -> None:
    """Warn if nothing is older than twelve months, so that every client looks new."""
    first = min(_known(*(days.first for days in known.values())), default=None)
    if first is not None and first >= midnight(spans.year):
        warn(
            f"new_business: the oldest matter, time entry or invoice passed is of {first.date()}, less than twelve "
            f"months before {spans.last}, so every client counts as new. Load matters(), time_entries() and invoices() "
            "without dates.",
            IncompleteDataWarning,
        )


def table_of_clients(known: Mapping[str, ClientDays], spans: NewBusinessPeriods) -> pa.Table:
    """Return a row a client: whether it is new or without work, and its days."""
    columns = {
        "client_id": (list(known), pa.string()),
        "new_clients": ([float(days.is_new(spans)) for days in known.values()], pa.float64()),
        "dormant_clients": ([float(days.is_dormant(spans)) for days in known.values()], pa.float64()),
        "client_since": ([days.first for days in known.values()], pa.timestamp("us")),
        "last_work_date": ([days.last_work for days in known.values()], pa.timestamp("us")),
    }
    return pa.table({name: pa.array(values, kind) for name, (values, kind) in columns.items()})
