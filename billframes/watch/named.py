"""The rules that are not a figure by a key: budgets, drafts, people without time, fixed fees, and the data's age."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from billframes._shared.format import count_of, format_number, money
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.book import Book
from billframes.book.records import bills_of, draft_items
from billframes.config.watch import Rule
from billframes.errors import MirrorError

# Fewer hours are none.
_NO_HOURS = 1e-9
_DAY = dt.timedelta(1)
_YEAR = dt.timedelta(365)
# The calendar days in which days without time are counted.
_LOOK_BACK = 120
# The days in which there is work on a fixed fee that is still worked for.
_RECENT = 30


@dataclass(frozen=True)
class Held:
    """
    Something that holds, and the sentence that says it.

    `key` is the id of the client, matter, person or bill; empty for the whole firm. `before` is what the figure was.
    """

    rule: Rule
    key: str
    name: str
    value: float
    before: float | None
    text: str


def named(rule: Rule, book: Book, day: dt.date, age: dt.timedelta | None) -> list[Held]:
    """Return what holds of a rule in `NAMED`; `age` is that of the mirror."""
    if rule.rule == "old_data":
        if age is None:
            raise MirrorError("Only `billframes watch` knows how old a mirror is.")
        days = age / _DAY
        text = f"The data are {format_number(days, 'days')} days old, more than {rule.limit:g}: run billframes sync."
        return [Held(rule, "", "", days, None, text)] if rule.holds(days) else []
    rows = _FINDERS[rule.rule](rule, book, day)
    found = [Held(rule, key, name, value, None, text) for key, name, value, text in rows if rule.holds(value)]
    return sorted(found, key=lambda each: -each.value)


_Rows = Iterator[tuple[str, str, float, str]]


def _budget_used(rule: Rule, book: Book, _day: dt.date) -> _Rows:
    rows = DistinctNames(book.matters)(book.budget_burn())
    for row in rows.to_dict("records"):
        if rule.matter in ("", row["matter_id"]):
            name, used = str(row["matter_name"]), float(row["budget_burn"])
            text = (
                f"{name} has used {money(row['used_amount'])} of its budget of {money(row['budget_amount'])} "
                f"({format_number(used, 'ratio')})."
            )
            yield row["matter_id"], name, used, text


def _old_drafts(rule: Rule, book: Book, day: dt.date) -> _Rows:
    bills = DistinctNames(book.clients, book.users)(bills_of(draft_items(book)))
    for row in bills.dropna(subset="invoice_date").to_dict("records"):
        days = (day - row["invoice_date"].date()).days
        name = " ".join(str(each) for each in ("Draft bill", row["invoice_number"]) if pd.notna(each))
        whose = f"; {row['responsible_name']} is responsible" if pd.notna(row["responsible_name"]) else ""
        bill = f"{name} for {row['client_name']} ({money(row['invoice_amount'])})"
        text = f"{bill} is {count_of(days, 'day')} old, more than {rule.limit:g}{whose}."
        yield row["invoice_id"], name, days, text


def _no_time(rule: Rule, book: Book, day: dt.date) -> _Rows:
    """Count the working days without time, up to the day before that of the data, which is not over."""
    last = day - _DAY
    start = max(last - _LOOK_BACK * _DAY, book.first_day or last)
    rows = DistinctNames(book.users)(book.missing_time(start=start, end=last))
    entries = book.time_entries[(book.time_entries["hours"] > _NO_HOURS) & (book.time_entries["date"] <= str(last))]
    latest = rows["user_id"].map(entries.groupby("user_id")["date"].max())
    rows = rows[(rows["hours"] <= _NO_HOURS) & ~(rows["date"] <= latest)]
    for (key, name), dates in rows.groupby(["user_id", "user_name"], dropna=False)["date"]:
        # The days before the first one are not looked at.
        more = " or more" if dates.min().date() < start + _DAY * 7 else ""
        text = f"{name} has recorded no time on the last {count_of(len(dates), 'working day')}{more}."
        yield str(key), str(name), len(dates), text


def _fixed_fee_hours(_rule: Rule, book: Book, day: dt.date) -> _Rows:
    """Compare the fixed fees of a year with the hours under them, if there is recent work."""
    entries = book.time_entries
    recent = entries.loc[entries["date"] > str(day - _RECENT * _DAY), "fixed_fee_id"]
    rows = book.fixed_fee_realization("fixed_fee_id", start=day - _YEAR, end=day)
    rows = rows.merge(book.fixed_fees, on="fixed_fee_id")
    rows = rows[rows["fixed_fee_id"].isin(recent)]
    for row in DistinctNames(book.clients, book.matters)(rows[rows["fee_amount"] > 0]).to_dict("records"):
        used = float(row["standard_amount"]) / float(row["fee_amount"])
        name = f"{row['matter_name']}: {row['description']}"
        text = (
            f"The hours under the fixed fee “{row['description']}” of {row['matter_name']} are worth "
            f"{money(row['standard_amount'])} at standard rates, {format_number(used, 'ratio')} of the fee of "
            f"{money(row['fee_amount'])}."
        )
        yield row["fixed_fee_id"], name, used, text


_FINDERS: dict[str, Callable[[Rule, Book, dt.date], _Rows]] = {
    "budget_used": _budget_used,
    "old_drafts": _old_drafts,
    "no_time": _no_time,
    "fixed_fee_hours": _fixed_fee_hours,
}
