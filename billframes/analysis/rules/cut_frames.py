"""Note frames that were cut to a part of the past and don't remember it, in figures of a day and of budgets.

An open amount can be of any age, so these figures need all records. `loads` refuses loads that are too short. Frames
from a file or a merge don't remember their load, but other records can show that the firm is older than they are.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw

from billframes._names import join_names
from billframes._notes import Rule
from billframes.analysis.data.call import Call
from billframes.analysis.declare.columns import DATE_OF, PLAUSIBLE_DAYS, Frame, column_names
from billframes.analysis.frames.engine import (
    collect,
    collect_counts,
    collect_values,
    join_by_id,
    lazy,
    sum_by,
    to_dicts,
)
from billframes.analysis.frames.expressions import as_day, as_float, count_if, midnight, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.frames.native import select_columns
from billframes.analysis.rules.invoices import UNKNOWN_INVOICE
from billframes.loading.load_info import load_info

C = nw.col

_MONTH, _YEAR = dt.timedelta(days=31), dt.timedelta(days=366)
# A matter can be opened long before its first work.
_SEVERAL = 5
_NUMBER = re.compile(r"(\d+)\D*$")
# Some firms leave out or use up a few numbers before their first invoice.
_FIRST_NUMBERS = 20
_CUT_FRAMES = Rule(
    name="cut_frames",
    seen="{subject}: {frames} begin on {begin}, but {signs}. Older ones may be missing, and {consequence}.",
    remedy="Pass all records, whenever they were made.",
    unit="signs",
)


# Small firms pause for a month, and send their last invoices in its first days.
_FOUR_WEEKS, _TWO_WEEKS = dt.timedelta(days=28), dt.timedelta(days=14)
_ENDED_TIME = Rule(
    name="ended_time",
    seen="{subject}: time entries end on {last}, but {n} invoices are dated more than two weeks later. Later time may "
    "be missing, and is not counted.",
    remedy="Pass all time entries up to the day.",
    unit="invoices",
)


def note_cut_frames(
    frames: Frames | Call,
    day: dt.date | None,
    consequence: str,
    *,
    dated: Collection[str] = ("time_entries", "invoices"),
    start: dt.date | None = None,
) -> None:
    """
    Note that the work and the invoices begin within a year before a day, although the firm seems to be older.

    Matters that were opened earlier, or first invoices whose numbers are not those that firms begin with, show it. An
    analysis that calls others notes it for them. By default `day` is the last day with a record. `consequence` ends a
    sentence after "and". Records of the frames `dated` that begin within a month after `start` are enough.
    """
    columns = {name: DATE_OF[name] for name in dated if DATE_OF[name] in _columns_of(frames.get(name))}
    if frames.is_inner or not columns or any(load_info(each) is not None for each in frames.passed(*columns).values()):
        return
    begin, last, last_of_time = _ends(frames, columns)
    if day and last_of_time and "invoices" in columns and last_of_time < day - _FOUR_WEEKS:
        later = C("invoice_date").is_between(midnight(last_of_time + _TWO_WEEKS), midnight(day), "right")
        rows, _ = select_columns(lazy(frames["invoices"]), "invoices", ("invoice_date",))
        count = collect_counts((rows, {"later": count_if(later)}))["later"]
        frames.notes.add(_ENDED_TIME, count if count >= _SEVERAL else 0, last=last_of_time)
    if begin is None or last is None or not (day or last) - _YEAR < begin <= (day or last):
        return
    if start and begin <= start + _MONTH:
        return
    # The first invoice of a matter follows months after it was opened.
    margin = _MONTH if "time_entries" in columns else 4 * _MONTH
    if seen := list(_signs_of_age(frames, begin, margin)):
        names = join_names([name.replace("_", " ") for name in columns])
        about = {"frames": names, "begin": begin, "signs": join_names(seen), "consequence": consequence}
        frames.notes.add(_CUT_FRAMES, len(seen), **about)


def note_cut_invoices(frames: Frames | Call, day: dt.date, consequence: str) -> None:
    """
    Note that time of the same clients is on several invoices that were not passed, and all are older than the others.

    If all invoices passed are open, the others can be paid, so there is no note.
    """
    if "time_entries" not in frames or load_info(frames.natives["invoices"]) is not None:
        return
    invoices = frames.select("invoices", ("invoice_id", "invoice_date", "client_id", "balance"))
    found = collect_values((invoices, {"first": C("invoice_date").min(), "paid": count_if(C("balance") == 0)}))
    first = as_day(found["first"])
    if first is None or not found["paid"]:
        return
    time = frames.select("time_entries", ("invoice_id", "client_id", "date"))
    time = time.filter(~C("invoice_id").is_null(), C("date") <= midnight(day))
    named = time.group_by("invoice_id", "client_id").agg(C("date").max().alias("_last"), _rows=nw.len())
    marked = invoices.select("invoice_id", "client_id", _passed=nw.lit(1.0))
    for name, marks in (
        ("invoice_id", marked.drop("client_id")),
        ("client_id", sum_by(marked, ["client_id"], ["_passed"])),
    ):
        named = join_by_id(named, marks.rename({"_passed": f"_{name}"}), name)
    is_lost = C("_invoice_id").is_null() & ~C("_client_id").is_null() & (C("_last") < midnight(first))
    counts = collect_counts(
        (named, {"invoices": count_if(is_lost), "rows": value_if(is_lost, as_float(C("_rows"))).sum()})
    )
    if counts["invoices"] >= _SEVERAL:
        items = f"{counts['rows']:,.0f} time entries"
        frames.notes.add(UNKNOWN_INVOICE, counts["rows"], items=items, reasons="", consequence=consequence)


def _columns_of(frame: Frame | None) -> list[str]:
    return [] if frame is None else column_names(frame)


def _ends(
    frames: Mapping[str, Frame], dated: Mapping[str, str]
) -> tuple[dt.date | None, dt.date | None, dt.date | None]:
    """Return the first and the last day of the frames, and the last one of the time entries."""
    low, high = map(midnight, PLAUSIBLE_DAYS)
    queries = []
    for name, column in dated.items():
        rows, _ = select_columns(lazy(frames[name]), name, (column,))
        plausible = nw.when(C(column).is_between(low, high)).then(C(column))
        queries.append((rows, {f"_first_{name}": plausible.min(), f"_last_{name}": plausible.max()}))
    found = {name: as_day(value) for name, value in collect_values(*queries).items()}
    days = [(value, name.startswith("_first")) for name, value in found.items() if value is not None]
    firsts, lasts = ([value for value, is_first in days if is_first is wanted] for wanted in (True, False))
    return min(firsts, default=None), max(lasts, default=None), found.get("_last_time_entries")


def _signs_of_age(frames: Mapping[str, Frame], begin: dt.date, margin: dt.timedelta) -> Iterator[str]:
    """Yield what shows that the firm is older than its records: main clauses."""
    matters = frames.get("matters")
    if matters is not None and "opened" in column_names(matters):
        rows, _ = select_columns(matters, "matters", ("opened",))
        count = collect_counts((rows, {"older": count_if(C("opened") < midnight(begin - margin))}))["older"]
        if count >= _SEVERAL:
            yield f"{count:,.0f} matters were opened more than {margin.days} days earlier"
    invoices = frames.get("invoices")
    if {"invoice_number", "invoice_date"} <= set(_columns_of(invoices)) and invoices is not None:
        early = C("invoice_date").cast(nw.Datetime("us")) <= midnight(begin + _MONTH)
        rows = lazy(invoices).select("invoice_number", "invoice_date").filter(early)
        found = [_number_of(row["invoice_number"], row["invoice_date"]) for row in to_dicts(collect(rows))]
        lowest = min((number for number in found if number is not None), key=_place, default=0)
        if _place(lowest) > _FIRST_NUMBERS:
            yield f"the lowest number of their first invoices is {lowest}"


def _number_of(text: str | None, day: Any) -> int | None:
    """Return the number of an invoice, without letters and without the year that it may begin with."""
    found = _NUMBER.search(text or "")
    if found is None:
        return None
    digits, year = found[1], str(day.year)
    for start in (year, year[2:]):
        digits = digits.removeprefix(start) if len(digits) > len(start) + 2 else digits
    return int(digits)


def _place(number: int) -> int:
    """
    Return the place of a number among those of a firm that begins with 1, 1000, 1001, 5000 or the like.

    Examples
    --------
    >>> _place(3), _place(1001), _place(5012), _place(11400)
    (3, 1, 12, 1400)
    """
    step = 10 ** (len(str(number)) - 1)
    return number if number < 100 else number % step
