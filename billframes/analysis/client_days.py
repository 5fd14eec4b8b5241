"""Find when clients came and when they were last worked for, beside the twelve months that say who is new."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes.analysis.column_types import Frame
from billframes.analysis.engine import collect, lazy, to_dicts
from billframes.analysis.expressions import midnight
from billframes.analysis.frames import select_columns
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period, resolve

__all__ = ["ClientDays", "Spans", "days_of_clients", "known_days", "year_before"]

C = nw.col


@dataclass(frozen=True, slots=True)
class Spans:
    """The period, the same one a year before, and the first day of the twelve months up to the period's end."""

    period: Period
    before: Period
    year: dt.date
    last: dt.date

    @classmethod
    def of(cls, start: DateLike, end: DateLike | None) -> Spans:
        """Read `start=` and `end=`; both ends have to be known."""
        period = resolve(start, end)
        if period.start is None or period.end is None:
            raise ParameterError(
                f"start={start!r}, end={end!r} leaves an end open; new_business needs both, or a period such as "
                "start='2026-10'."
            )
        # The day after the last one is the first of a month if a month ends, whatever its length.
        year = year_before(period.end + dt.timedelta(days=1))
        before = Period(year_before(period.start), year - dt.timedelta(days=1))
        return cls(period, before, year, period.end)


def year_before(day: dt.date) -> dt.date:
    """Return the same day a year before; of 29 February the 1 March."""
    return dt.date(day.year - 1, 3, 1) if (day.month, day.day) == (2, 29) else day.replace(year=day.year - 1)


@dataclass(slots=True)
class ClientDays:
    """The first day known of a client, and that of its last work up to the period's end."""

    first: dt.datetime | None = None
    last_work: dt.datetime | None = None

    def is_new(self, spans: Spans) -> bool:
        """Whether the first day lies in the twelve months."""
        return self.first is not None and midnight(spans.year) <= self.first <= midnight(spans.last)

    def is_dormant(self, spans: Spans) -> bool:
        """Whether there was work once, and none in the twelve months."""
        return self.last_work is not None and self.last_work < midnight(spans.year)


def days_of_clients(frames: Mapping[str, Frame], spans: Spans) -> dict[str, ClientDays]:
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
            days.first = min(known_days(days.first, row["_first"]), default=None)
            if name == "time_entries":
                days.last_work = row["_last"]
    return known


def known_days(*days: dt.datetime | None) -> Iterator[dt.datetime]:
    """Return the days that are not missing."""
    return (day for day in days if day is not None)
