"""Closed months that moved: what figures were in an earlier version of a mirror, what they are now, and why.

The rows behind a figure are listed in both versions, and in the steps between them (`restated_facts`). What the rows of
a step add up to, less those of the step before, is the part of its kind of change. Parts are by record, so they add up
to the change by any key.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from billframes._shared.names import closest
from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.declare.columns import IDS, ITEMS, MATTER_TYPES
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.results.figure_names import Figure, find_figures
from billframes.analysis.results.rows_behind import run_rows
from billframes.book import Book
from billframes.book.methods import call_analysis
from billframes.errors import ParameterError
from billframes.mirror.restated_facts import STEPS, Between
from billframes.periods import Period

FIGURES = ("client_hours", "cohort_amount", "worked_amount", "billed_amount", "fixed_fee_amount", "fees_amount")
"""The figures that are compared by default."""

CAUSES = ("entered_late", "deleted", *STEPS, "invoice_changed")
"""The causes of a change, in the order in which they are taken."""

_SUMS = ("then", "now", "change", *CAUSES)
_MONTH = re.compile(r"(?<![\d-])\d{4}-(?:0[1-9]|1[0-2])(?![\d-])")
# The value of work is known by its day. It counts on matters of every type, so that what is moved is 0 for the firm.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {"cohort_amount": {"basis": "work_date", "matter_types": MATTER_TYPES}}
_ITEM_IDS = tuple(IDS[name] for name in ITEMS)
_PEOPLE = ("user", "client", "matter")
_KINDS = ("time", "expense", "fixed fee", "fees without time", "balance without items")
_DIGITS = 6
# Smaller parts are rests of floating-point numbers.
_NOTHING = 1e-6


def month_of(tag: object) -> str | None:
    """Return the month that a tag names, such as "2026-09" of "2026-09 close"; None if it names none."""
    found = _MONTH.findall(tag) if isinstance(tag, str) else []
    return found[0] if len(found) == 1 else None


def restated(
    then: Book, now: Book, period: Period, names: Sequence[str], by: By, options: Mapping[str, Any], *, records: bool
) -> pd.DataFrame:
    """Compare the figures of a period in two books; see `Mirror.restated`."""
    figures, keys = _figures(names or FIGURES, options), names_in(by)
    listed = [*dict.fromkeys([*keys, *_PEOPLE])] if records else keys
    between, days = Between(then, now), {"start": period.start, "end": period.end}
    rows = pd.concat(_causes(between, figures, listed, {**options, **days}), ignore_index=True)
    rows["figure"] = pd.Categorical(rows["figure"], [each.column for each in figures], ordered=True)
    columns = [
        name for name in map(str, rows) if name not in ("figure", "cause", "kind", "record_id", "date", "amount")
    ]
    return _list_records(rows, columns) if records else _add_up(rows, columns)


def _figures(names: Sequence[str], options: Mapping[str, Any]) -> list[Figure]:
    """Look up figures; refuse those that are not sums of a period, and options that none of them takes."""
    figures = find_figures(names)
    for each in figures:
        if "start" not in each.analysis.takes:
            raise ParameterError(f"{each.column!r} is a balance of a day; restated compares figures of a period.")
        if not each.measure.adds_up or each.measure.unit in ("ratio", "rate", "points") or each.analysis.needs_payments:
            raise _without_parts(each.column)
    taken = {option for each in figures for option in each.analysis.takes} - {"by", "start", "end"}
    for name in options:
        if name not in taken:
            raise ParameterError(f"restated takes no {name!r}.{closest(name, {*taken, 'records', 'by'})}")
    return figures


def _without_parts(column: str) -> ParameterError:
    return ParameterError(f"{column!r} is not a sum of records, so its change has no parts.")


def _causes(
    between: Between, figures: Sequence[Figure], keys: Sequence[str], options: Mapping[str, Any]
) -> Iterator[pd.DataFrame]:
    """Yield the rows of what was, what is, and what each cause changed; of a cause, those that it took are negative."""
    calls: dict[str, tuple[Analysis, dict[str, Any], dict[str, str]]] = {}
    for each in figures:
        given = {**_OPTIONS.get(each.column, {}), **options}
        given = {"by": [*keys] or None, **{name: value for name, value in given.items() if name in each.analysis.takes}}
        _, _, names = calls.setdefault(repr((each.analysis.name, given)), (each.analysis, given, {}))
        names[each.measure.name] = each.column
    for analysis, given, names in calls.values():
        then, now = (_rows(analysis, given, names, book) for book in (between.then, between.now))
        yield then.assign(cause="then")
        yield now.assign(cause="now")
        of_then, of_now = between.versions_of(then["record_id"]), between.versions_of(now["record_id"])
        yield now[of_now == "now"].assign(cause="entered_late")
        yield _less(then[of_then == "then"], "deleted")
        before = then[of_then == "both"]
        for step, cause in enumerate(STEPS):
            after = _rows(analysis, given, names, between.book(step))
            after = after[between.versions_of(after["record_id"]) == "both"]
            yield after.assign(cause=cause)
            yield _less(before, cause)
            before = after
        # What no item explains of an invoice is the invoice's.
        yield now[(of_now == "both") | (of_now == "")].assign(cause="invoice_changed")
        yield _less(pd.concat([before, then[of_then == ""]]), "invoice_changed")


def _less(rows: pd.DataFrame, cause: str) -> pd.DataFrame:
    return rows.assign(cause=cause, amount=-rows["amount"])


def _rows(analysis: Analysis, given: Mapping[str, Any], names: Mapping[str, str], book: Book) -> pd.DataFrame:
    """List the rows behind figures of an analysis, one row per record and figure."""
    with collect_notes(Notes("book")):
        rows = call_analysis(analysis, book, given, partial(run_rows, [*names]))
    for name, column in names.items():
        if name not in rows or not rows["kind"].isin(_KINDS).all():
            raise _without_parts(column)
    keys = [*rows][: [*rows].index("kind")]
    rows["record_id"] = _first_of(rows, (*_ITEM_IDS, "invoice_id"))
    rows["date"] = _first_of(rows, ("date", "invoice_date"))
    return rows.rename(columns=names).melt([*keys, "kind", "record_id", "date"], [*names.values()], "figure", "amount")


def _first_of(rows: pd.DataFrame, columns: Sequence[str]) -> pd.Series[Any]:
    """Return the first value of each row that is not missing."""
    return functools.reduce(pd.Series.fillna, [rows[name] for name in columns if name in rows])


def _add_up(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per figure and group; a sum is missing if a part of it is unknown."""
    sums = {name: rows["amount"].where(rows["cause"] == name, 0.0) for name in _SUMS}
    groups = rows.assign(**sums).groupby(["figure", *columns], dropna=False, observed=bool(columns))
    # Rests of floating-point numbers are 0, not −0.
    found = groups[[*_SUMS]].sum(skipna=False).round(_DIGITS).add(0.0).reset_index()
    found["change"] = found["now"] - found["then"]
    order = sorted(columns, key=lambda name: name.endswith("_id"))
    return found.sort_values(["figure", *order], ignore_index=True).astype({"figure": "str"})


def _list_records(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return one row per figure, cause and record, with its part."""
    rows = rows[~rows["cause"].isin(["then", "now"])]
    rows["cause"] = pd.Categorical(rows["cause"], CAUSES, ordered=True)
    by = ["figure", "cause", "kind", "record_id", *columns]
    groups = rows.groupby(by, dropna=False, observed=True)
    parts = groups["amount"].sum(skipna=False).to_frame().join(groups["date"].first()).reset_index()
    parts = parts[~(parts["amount"].abs() < _NOTHING)]
    return parts[[*by[:4], "date", *columns, "amount"]].astype({"figure": "str", "cause": "str"}).reset_index(drop=True)
