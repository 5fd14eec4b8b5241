"""Closed months that moved: what figures were in an earlier version of a mirror, what they are now, and why.

The rows behind a figure are listed in both versions, and in the steps between them. A step is one kind of change: its
fields and those of earlier steps have their later values, and all others their earlier ones. What the rows of a step
add up to, less those of the step before, is the part of its kind of change. Parts are by record, so they add up to the
change by any key. Fees are those of the earlier version, in proportion to the value of the work, until the last step
replaces what invoices decide: they are spread first, then compared.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import closest
from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.data.arrow import ArrowRows
from billframes.analysis.data.call import Reader
from billframes.analysis.data.data import Columns, Data, FactKey
from billframes.analysis.declare.columns import IDS, ITEMS, MATTER_TYPES, Frame
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.facts.items import items
from billframes.analysis.facts.work import work
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.results.figure_names import Figure, find_figures
from billframes.analysis.results.rows_behind import run_rows
from billframes.book import Book
from billframes.book.methods import call_analysis
from billframes.errors import ParameterError
from billframes.periods import Period

STEPS = ("redated", "retyped", "hours_changed", "repriced", "moved")
"""The kinds of changes of a record that both versions have, in order; what invoices change is the rest."""

_REDATED, _RETYPED, _HOURS, _REPRICED, _MOVED = range(len(STEPS))
_STEP_OF = {
    "date": _REDATED,
    **dict.fromkeys(("billing_type", "type", "is_billable", "is_untyped", "is_priced"), _RETYPED),
    "hours": _HOURS,
    **dict.fromkeys(("amount", "rate"), _REPRICED),
    # What invoices decide is later than all steps.
    **dict.fromkeys(("state", "is_final", "is_mixed", "is_unspread", "is_cancelled", "open", "balance"), len(STEPS)),
    **dict.fromkeys(("due_date", "billed"), len(STEPS)),
}
_CENT = 0.005

Numbers = npt.NDArray[np.float64]
Columns_ = Mapping[str, pa.ChunkedArray]

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
    rows = rows[~rows["cause"].isin(["then", "now"])]
    rows["cause"] = pd.Categorical(rows["cause"], CAUSES, ordered=True)
    by = ["figure", "cause", "kind", "record_id", *columns]
    groups = rows.groupby(by, dropna=False, observed=True)
    parts = groups["amount"].sum(skipna=False).to_frame().join(groups["date"].first()).reset_index()
    parts = parts[~(parts["amount"].abs() < _NOTHING)]
    return parts[[*by[:4], "date", *columns, "amount"]].astype({"figure": "str", "cause": "str"}).reset_index(drop=True)


class Between:
    """The rows that two books have in common, with the facts of each step."""

    def __init__(self, then: Book, now: Book) -> None:
        self.then, self.now = then, now
        self._read = functools.cache(self._read_rows)
        self._places = functools.cache(self._find_places)

    def versions_of(self, ids: pd.Series[Any]) -> npt.NDArray[np.str_]:
        """Return which versions have each item, "then", "now" or "both"; empty for an id of no item."""
        return np.array([self._versions.get(id_, "") for id_ in ids], dtype="U4")

    @functools.cached_property
    def _versions(self) -> dict[Any, str]:
        then, now = (
            [id_ for name in ITEMS for id_ in getattr(book, name)[IDS[name]]] for book in (self.then, self.now)
        )
        found = dict.fromkeys(now, "now") | dict.fromkeys(then, "then")
        return found | dict.fromkeys(found.keys() & {*then} & {*now}, "both")

    def book(self, step: int) -> Book:
        """Return the book of a step, with only the items that both versions have."""
        book = copy.copy(self.now if step >= _MOVED else self.then)
        # Each step counts the same days.
        book._days, book._data = self.now._days, self._data(step)
        return book

    def _data(self, step: int) -> Data:
        book = self.now if step >= _MOVED else self.then
        base = book._view([*book._data.natives], book.settings)

        def make(key: FactKey, of_base: Callable[[], tuple[Frame, Columns]]) -> tuple[Frame, Columns]:
            if key.build not in (work, items):
                return base.fact(key, of_base)
            rows = self._rows_of(key, step)
            return cast("Frame", ArrowRows.of(pa.table({**rows}))), frozenset()

        return base.with_facts(make)

    def _rows_of(self, key: FactKey, step: int) -> dict[str, Any]:
        then, now = (self._common(key, is_now) for is_now in (False, True))
        rows = {name: now[name] if _step_of(name) <= step else then[name] for name in now}
        return rows | self._values(key, step) if key.build is work and not key.own else rows

    def _common(self, key: FactKey, is_now: bool) -> Columns_:
        rows, place = self._read(key, is_now), pa.array(self._places(key._replace(own=()))[is_now])
        return {name: pa.chunked_array([each.combine_chunks().take(place)]) for name, each in rows.items()}

    def _read_rows(self, key: FactKey, is_now: bool) -> Columns_:
        book = self.now if is_now else self.then
        of = Reader(book._view([*key.frames], book.settings))
        rows: Any = of.fact(key.build, key.own, among=key.frames, **dict(key.choices))
        table = (rows.select(*key.own) if key.own else rows).to_native()
        return dict(zip(table.column_names, table.columns, strict=True))

    def _find_places(self, key: FactKey) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return where the common rows are in each version, by the id of the record."""
        then, now = (self._records(key, is_now) for is_now in (False, True))
        place = pc.index_in(now, value_set=then, skip_nulls=True)
        found = place.is_valid()
        return place.filter(found).to_numpy(), np.flatnonzero(found.to_numpy(zero_copy_only=False))

    def _records(self, key: FactKey, is_now: bool) -> pa.Array:
        frames = ITEMS if key.build is work else (dict(key.choices).get("frame", ITEMS[0]),)
        ids = tuple(IDS[name] for name in frames)
        columns = [self._read(key._replace(own=(each,)), is_now)[each] for each in ids]
        return pc.coalesce(*(each.combine_chunks().cast(pa.string()) for each in columns))

    def _values(self, key: FactKey, step: int) -> dict[str, Any]:
        """Return the value of time and its fees, whose type, hours and rate changed one after the other."""
        then, now = _Time(self, key, False), _Time(self, key, True)
        if step < _RETYPED:
            return {name: then.columns[name] for name in ("value", *_FEES)}
        rate = np.where(then.counts & np.isfinite(then.rate), then.rate, now.rate)
        hours = now.hours if step >= _HOURS else then.hours
        value = np.where(then.counts & (hours == then.hours), then.value, _to_cents(hours * rate))
        value = np.where(now.counts, now.value if step >= _REPRICED else value, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_value, by_hours = value / then.value, hours / then.hours
        share = np.where(np.isfinite(by_value), by_value, np.where(np.isfinite(by_hours), by_hours, 1.0))
        share = np.where(then.is_time, np.where(now.counts, share, 0.0), 1.0)
        return {"value": _column(value)} | {name: _column(_numbers(then.columns[name]) * share) for name in _FEES}


_FEES = ("fees", "settled_fees")


class _Time:
    """The value, hours and rate of the common rows in one version."""

    def __init__(self, of: Between, key: FactKey, is_now: bool) -> None:
        self.columns = of._common(key, is_now)
        self.value, self.hours = (_numbers(self.columns[name]) for name in ("value", "hours"))
        self.is_time = np.asarray(pc.equal(self.columns["kind"], "time"))
        self.counts = np.asarray(pc.or_(self.columns["is_billable"], self.columns["is_untyped"]))
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = self.value / self.hours
        given = _numbers(of._common(key._replace(own=("rate",)), is_now)["rate"])
        # The amount of an hour is rounded to cents; the rate is exact, if it is the rate of the amount.
        exact = np.abs(self.hours * given - self.value) <= _CENT * 2
        self.rate: Numbers = np.where(exact, given, rate)


def _step_of(column: str) -> int:
    return len(STEPS) if column.startswith("invoice_") else _STEP_OF.get(column, _MOVED)


def _to_cents(amounts: Numbers) -> Numbers:
    """Round halves away from 0, also those that a float misses by little."""
    return np.asarray(np.copysign(np.floor(np.abs(amounts) * 100 + 0.5 + 1e-6) / 100, amounts))


def _numbers(column: pa.ChunkedArray) -> Numbers:
    return np.asarray(column.cast(pa.float64()), dtype="float64")


def _column(values: Numbers) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])
