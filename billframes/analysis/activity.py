"""Find the last days of work and invoices of matters and clients, and the first days of clients."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes.analysis.frames.engine import collect, to_dicts
from billframes.analysis.frames.expressions import as_day, midnight
from billframes.analysis.frames.frames import Frames
from billframes.analysis.rules.loads import need_all_dates, need_period, need_work_on_invoices
from billframes.analysis.rules.periods import NEW_CLIENTS
from billframes.loading.load_info import load_info
from billframes.periods import Period, shift_days

C = nw.col

# Fewer clients can have a wrong date, and the first weeks of a year may have no work.
_SEVERAL, _MONTH = 5, dt.timedelta(days=31)


def as_midnight(value: Any) -> dt.datetime | None:
    """Return midnight of a date or datetime, as in the date columns of the analyses; None if missing."""
    day = as_day(value)
    return None if day is None else midnight(day)


@dataclass(frozen=True, slots=True)
class NewBusinessPeriods:
    """A period, the same a year before, and the first and last day of the twelve months up to the period's end."""

    period: Period
    before: Period
    year_start: dt.date
    last: dt.date

    @classmethod
    def of(cls, first: dt.date, last: dt.date) -> NewBusinessPeriods:
        """Return the periods to compare with the days from `first` to `last`."""
        # Counted from the day after the last day, so that the twelve months are whole also if they end in February.
        ends_year = (last.month, last.day) == (12, 31)
        year_start = last.replace(month=1, day=1) if ends_year else _year_before(last + dt.timedelta(days=1))
        before = Period(_year_before(first), shift_days(year_start, -1))
        return cls(Period(first, last), before, year_start, last)


def _year_before(day: dt.date) -> dt.date:
    """Return the same day a year before, or the first day of the calendar; for 29 February, 1 March."""
    if day.year == dt.MINYEAR:
        return dt.date.min
    return dt.date(day.year - 1, 3, 1) if (day.month, day.day) == (2, 29) else day.replace(year=day.year - 1)


@dataclass(slots=True)
class ClientDays:
    """The first day of a client in each frame that has one, and that of the last work up to the period's end."""

    firsts: dict[str, dt.datetime] = field(default_factory=dict)
    last_work: dt.datetime | None = None

    @property
    def first(self) -> dt.datetime | None:
        """The first of all days."""
        return min(self.firsts.values(), default=None)

    def is_new(self, periods: NewBusinessPeriods) -> bool:
        """Tell whether the first day is in the twelve months."""
        return self.first is not None and midnight(periods.year_start) <= self.first <= midnight(periods.last)

    def is_dormant(self, periods: NewBusinessPeriods) -> bool:
        """Tell whether there was work before the twelve months, and none since."""
        return self.last_work is not None and self.last_work < midnight(periods.year_start)


def need_days_of_clients(frames: Frames, periods: NewBusinessPeriods) -> None:
    """Refuse loads without the year before, or in which all clients would look new."""
    both = Period(periods.before.start, periods.period.end)
    need_period(frames, ("time_entries",), Period(_year_before(periods.year_start), periods.last))
    need_work_on_invoices(frames, both)
    need_all_dates(frames, ("time_entries", "matters"))


def days_of_clients(frames: Frames, periods: NewBusinessPeriods) -> dict[str, ClientDays]:
    """Find the first day of each client, of a matter, time entry or invoice, and the day of its last work."""
    clients: dict[str, ClientDays] = {}
    for name, column in (("time_entries", "date"), ("matters", "opened"), ("invoices", "invoice_date")):
        rows = frames.select(name, ("client_id", column), lazily=True)
        past = nw.when(C(column) <= midnight(periods.last)).then(C(column))
        ends = rows.with_columns(_past=past).group_by("client_id").agg(_first=C(column).min(), _last=C("_past").max())
        for row in to_dicts(collect(ends, frames[name])):
            if row["client_id"] is None:
                continue
            days = clients.setdefault(row["client_id"], ClientDays())
            if row["_first"] is not None:
                days.firsts[name] = row["_first"]
            if name == "time_entries":
                days.last_work = row["_last"]
    return clients


def _known(*days: dt.datetime | None) -> Iterator[dt.datetime]:
    return (day for day in days if day is not None)


def note_short_history(frames: Frames, clients: Mapping[str, ClientDays], periods: NewBusinessPeriods) -> None:
    """Note that no record is older than twelve months."""
    first = min(_known(*(days.first for days in clients.values())), default=None)
    loads = [load_info(frames.natives[name]) for name in ("time_entries", "invoices", "matters")]
    whole = all(info is not None and info.start is None for info in loads)
    if first is not None and first >= midnight(periods.year_start) and not whole:
        frames.notes.add(NEW_CLIENTS, len(clients), first=first.date(), last=periods.last)


def table_of_clients(clients: Mapping[str, ClientDays], periods: NewBusinessPeriods) -> pa.Table:
    """Return one row per client: whether it is new, whether it is without work, and its days."""
    columns = {
        "client_id": (list(clients), pa.string()),
        "new_clients": ([float(days.is_new(periods)) for days in clients.values()], pa.float64()),
        "dormant_clients": ([float(days.is_dormant(periods)) for days in clients.values()], pa.float64()),
        "client_since": ([days.first for days in clients.values()], pa.timestamp("us")),
        "last_work_date": ([days.last_work for days in clients.values()], pa.timestamp("us")),
    }
    return pa.table({name: pa.array(values, kind) for name, (values, kind) in columns.items()})
