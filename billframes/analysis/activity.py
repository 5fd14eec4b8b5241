"""Find when matters were last worked on and last invoiced."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.column_types import ITEMS, Frame
from billframes.analysis.engine import collect, join_by_id, lazy, to_dicts
from billframes.analysis.expressions import as_day, midnight
from billframes.analysis.frames import select_columns

__all__ = ["Activity", "activity_of_matters", "as_midnight"]

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
