"""Find columns that are in each other's place or in another unit: most rows then say something that can't be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.column_types import Frame
from billframes.analysis.engine import collect_counts

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
    odd, plain : Expr
        Whether a row is odd, and whether it is one that tells the contrary.
    message : str
    """

    name: str
    columns: tuple[str, ...]
    dates: bool
    odd: nw.Expr
    plain: nw.Expr
    message: str

    @property
    def excess(self) -> nw.Expr:
        """Count how many more rows are odd than plain; a few odd ones don't count."""
        odd = nw.when(self.odd).then(nw.lit(1.0)).otherwise(nw.lit(0.0)).sum()
        plain = nw.when(self.plain).then(nw.lit(1.0)).otherwise(nw.lit(0.0)).sum()
        return nw.when(odd >= _SEVERAL).then(odd - plain).otherwise(nw.lit(0.0))


_DUE = (C("hours") * C("rate")).abs()
_SCALED = (_DUE > 0) & (C("amount").abs() > _DUE * _SCALE)
# With an hour, rate and amount are the same.
_TELLING = (C("hours").abs() - 1.0).abs() > 0.05
_SWAPPED = _TELLING & (C("rate") != 0) & ((C("rate") - C("hours") * C("amount")).abs() < 0.01)
_ODDITIES = {
    "time_entries": (
        _Oddity(
            "scaled",
            ("hours", "rate", "amount"),
            False,
            _SCALED,
            (_DUE > 0) & (C("amount").abs() <= _DUE * _SCALE),
            "time_entries: amount is many times hours times rate, so it seems to be in another unit, such as cents, or "
            "another column's. Each entry's amount is its hours times its rate.",
        ),
        _Oddity(
            "swapped",
            ("hours", "rate", "amount"),
            False,
            _SWAPPED,
            _TELLING & (_DUE > 0) & ((C("amount") - C("hours") * C("rate")).abs() < 0.01),
            "time_entries: rate is hours times amount, so the two seem to be in each other's place. Each entry's "
            "amount is its hours times its rate.",
        ),
    ),
    "invoices": (
        _Oddity(
            "open",
            ("amount", "balance"),
            False,
            C("balance").abs() > C("amount").abs() + 0.005,
            C("balance").abs() < C("amount").abs() - 0.005,
            "invoices: balance is more than amount on most invoices that are not wholly open, so the two seem to be in "
            "each other's place or in different units. The balance is what is still open of the amount.",
        ),
        _Oddity(
            "due",
            ("due_date", "invoice_date"),
            True,
            C("due_date") < C("invoice_date"),
            C("due_date") >= C("invoice_date"),
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
    Return the counts to take of a frame, by the name of the oddity.

    Of eager frames the first rows are looked at now, and only what is odd is returned.
    """
    found = _oddities(name, schema)
    if not isinstance(frame, nw.DataFrame) or not found:
        return {each.name: each.excess for each in found}
    columns = list(dict.fromkeys(column for each in found for column in each.columns))
    first = frame.select(*columns).head(_FIRST)
    counts = collect_counts((first, {each.name: each.excess for each in found}))
    return {each: nw.len() for each, excess in counts.items() if excess > 0}


def message_of(name: str, oddity: str) -> tuple[str, str]:
    """Return the column whose use is warned of, and the warning."""
    found = next(each for each in _ODDITIES[name] if each.name == oddity)
    return found.columns[-1], found.message
