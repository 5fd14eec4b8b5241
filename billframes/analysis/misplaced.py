"""Find columns that are in each other's place or in another unit: most rows then say something that can't be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from billframes.analysis.column_types import Frame
from billframes.analysis.engine import collect_counts
from billframes.analysis.expressions import count_if

__all__ = ["message_of", "odd_counts"]

C = nw.col

# So many rows tell what holds for most.
_FIRST = 1_000
_SEVERAL = 5
# A hundred times, give or take.
_SCALE = 40.0


@dataclass(frozen=True, slots=True)
class _Oddity:
    """
    What can't be of most rows.

    Parameters
    ----------
    name : str
    columns : tuple of str
        What it needs; an analysis that uses the last of them warns.
    dates : bool
        Whether these are dates; otherwise numbers.
    odd, plain : callable
        Tell of these columns whether a row is odd, and whether it is one that tells the contrary; missing is neither.
        They take expressions and pandas Series alike.
    message : str
    """

    name: str
    columns: tuple[str, ...]
    dates: bool
    odd: Callable[..., Any]
    plain: Callable[..., Any]
    message: str

    def count(self, which: Callable[..., Any]) -> nw.Expr:
        """Count the rows that are `odd` or `plain`."""
        return count_if(which(*[C(name) for name in self.columns]))

    def is_in(self, rows: Mapping[str, pd.Series]) -> bool:
        """Tell whether more of these rows are odd than plain; a few odd ones don't count."""
        columns = [rows[name] for name in self.columns]
        odd = int(self.odd(*columns).sum())
        return odd >= _SEVERAL and odd > int(self.plain(*columns).sum())


def _unless_equal(hours: Any, rate: Any, amount: Any, odd: Any) -> Any:
    """Return what is odd of rows whose amount is not hours times rate: a database works it out for these few only."""
    unequal = (amount - hours * rate).abs() >= 0.01
    return nw.when(unequal).then(odd) if isinstance(unequal, nw.Expr) else unequal & odd


def _scaled(hours: Any, rate: Any, amount: Any) -> Any:
    due = (hours * rate).abs()
    return _unless_equal(hours, rate, amount, (amount.abs() > due * _SCALE) & (due > 0))


def _unscaled(hours: Any, rate: Any, amount: Any) -> Any:
    due = (hours * rate).abs()
    return (due > 0) & (amount.abs() <= due * _SCALE)


def _swapped(hours: Any, rate: Any, amount: Any) -> Any:
    # With an hour, rate and amount are the same.
    odd = ((rate - hours * amount).abs() < 0.01) & (rate != 0) & ((hours.abs() - 1.0).abs() > 0.05)
    return _unless_equal(hours, rate, amount, odd)


def _in_place(hours: Any, rate: Any, amount: Any) -> Any:
    due = hours * rate
    return ((hours.abs() - 1.0).abs() > 0.05) & (due.abs() > 0) & ((amount - due).abs() < 0.01)


_ODDITIES = {
    "time_entries": (
        _Oddity(
            "scaled",
            ("hours", "rate", "amount"),
            False,
            _scaled,
            _unscaled,
            "time_entries: amount is many times hours times rate, so it seems to be in another unit, such as cents, or "
            "another column's. Each entry's amount is its hours times its rate.",
        ),
        _Oddity(
            "swapped",
            ("hours", "rate", "amount"),
            False,
            _swapped,
            _in_place,
            "time_entries: rate is hours times amount, so the two seem to be in each other's place. Each entry's "
            "amount is its hours times its rate.",
        ),
    ),
    "invoices": (
        _Oddity(
            "open",
            ("amount", "balance"),
            False,
            lambda amount, balance: balance.abs() > amount.abs() + 0.005,
            lambda amount, balance: balance.abs() < amount.abs() - 0.005,
            "invoices: balance is more than amount on most invoices that are not wholly open, so the two seem to be in "
            "each other's place or in different units. The balance is what is still open of the amount.",
        ),
        _Oddity(
            "due",
            ("due_date", "invoice_date"),
            True,
            lambda due, invoiced: due < invoiced,
            lambda due, invoiced: due >= invoiced,
            "invoices: due_date is before invoice_date on most invoices, so the two seem to be in each other's place.",
        ),
    ),
}


def _oddities(name: str, schema: Mapping[str, Any]) -> list[_Oddity]:
    """List what can be looked for in a frame that has these columns."""
    return [each for each in _ODDITIES.get(name, ()) if all(_fits(schema.get(c), each.dates) for c in each.columns)]


def _fits(dtype: Any, dates: bool) -> bool:
    if dtype is None:
        return False
    plain = dtype == nw.Date or (dtype == nw.Datetime and getattr(dtype, "time_zone", None) is None)
    return plain if dates else bool(dtype.is_numeric())


def odd_counts(name: str, frame: Frame, schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
    """
    Return the counts of odd rows to take of a frame, by the name of the oddity.

    Of eager frames the first rows are looked at now, and only what is odd is returned. Of lazy frames all rows are
    counted: to take the first ones of what it groups or sorts, a database works all of it out a second time.
    """
    found = _oddities(name, schema)
    if not isinstance(frame, nw.DataFrame) or not found:
        return {each.name: each.count(each.odd) for each in found}
    rows = _first_rows(frame, {column: each.dates for each in found for column in each.columns})
    return {each.name: nw.len() for each in found if each.is_in(rows)}


def _first_rows(frame: nw.DataFrame[Any], columns: Mapping[str, bool]) -> dict[str, pd.Series]:
    """Take the first rows of some columns, dates or numbers: NumPy counts a thousand rows before a query is built."""
    series = {name: frame.get_column(name).head(_FIRST) for name in columns}
    return {
        name: pd.Series((each if columns[name] else each.cast(nw.Float64)).to_numpy()) for name, each in series.items()
    }


def message_of(name: str, frame: Frame, oddity: str, count: float) -> tuple[str, str] | None:
    """
    Return the column whose use is warned of, and the warning.

    None if `count`, the odd rows of a lazy frame, are few, or fewer than those that tell the contrary.
    """
    found = next(each for each in _ODDITIES[name] if each.name == oddity)
    if not isinstance(frame, nw.DataFrame) and count <= _plain_rows(frame, found, count):
        return None
    return found.columns[-1], found.message


def _plain_rows(frame: Frame, oddity: _Oddity, odd: float) -> float:
    """Count the rows of a lazy frame that are not odd, if more than a few are."""
    return odd if odd < _SEVERAL else collect_counts((frame, {"plain": oddity.count(oddity.plain)}))["plain"]
