"""The facts between two versions of a mirror: the rows that both have, as if only some fields had changed.

A step is one kind of change, in the order of `STEPS`. In the facts of a step, the fields of this and the earlier steps
have their later values, and all other fields their earlier ones. Fees are those of the earlier version, in proportion
to the value of the work, until the last step replaces what invoices decide: they are spread first, then compared.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis.data.arrow import ArrowRows
from billframes.analysis.data.call import Reader
from billframes.analysis.data.data import Columns, Data, FactKey
from billframes.analysis.declare.columns import IDS, ITEMS, Frame
from billframes.analysis.facts.items import items
from billframes.analysis.facts.work import work
from billframes.book import Book

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
_RECORDS = tuple(IDS[name] for name in ITEMS)

Numbers = npt.NDArray[np.float64]
Columns_ = Mapping[str, pa.ChunkedArray]


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
        """Return the columns of the rows that both versions have, in one order."""
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
