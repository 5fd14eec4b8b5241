"""Check whether columns of a frame were swapped, or are in different units: then most rows are implausible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from billframes.analysis.column_types import Frame
from billframes.analysis.engine import collect_counts
from billframes.analysis.expressions import count_if

__all__ = ["find_warning", "implausible_counts"]

C = nw.col

# So many rows show what is true of most rows.
_FIRST = 1_000
# Fewer implausible rows are exceptions.
_SEVERAL = 5
# Amounts in cents are 100 times too high. A lower limit allows for other differences.
_SCALE = 40.0
# The hours of a day, which is a spreadsheet's unit of time, and of a working day. Days may be rounded.
_DAYS = (24.0, 8.0)
_ROUNDING = 0.03


@dataclass(frozen=True, slots=True)
class _ColumnCheck:
    """
    A check of columns whose values must fit each other.

    Parameters
    ----------
    name : str
    columns : tuple of str
        The columns that the check needs. If it fails, analyses that use the last of them give the warning.
    dates : bool
        Whether the columns are dates; otherwise they are numbers.
    implausible, plausible : callable
        Functions of these columns, as expressions or as arrays, that tell whether a row is (im)plausible. A row
        can be neither, for example if a value is missing.
    message : str
        The warning.
    """

    name: str
    columns: tuple[str, ...]
    dates: bool
    implausible: Callable[..., Any]
    plausible: Callable[..., Any]
    message: str

    def count(self, condition: Callable[..., Any]) -> nw.Expr:
        """Count the rows that are `implausible` or `plausible`."""
        return count_if(condition(*[C(name) for name in self.columns]))

    def fails(self, rows: Mapping[str, Any]) -> bool:
        """Tell whether several of these rows are implausible, and more than are plausible."""
        columns = [rows[name] for name in self.columns]
        with np.errstate(all="ignore"):
            count = int(self.implausible(*columns).sum())
            return count >= _SEVERAL and count > int(self.plausible(*columns).sum())


def _abs(values: Any) -> Any:
    return values.abs() if isinstance(values, nw.Expr) else np.abs(values)


def _if_unequal(hours: Any, rate: Any, amount: Any, condition: Any) -> Any:
    """Return the condition for rows whose amount is not hours × rate; a database computes it for these rows only."""
    unequal = _abs(amount - hours * rate) >= 0.01
    return nw.when(unequal).then(condition) if isinstance(unequal, nw.Expr) else unequal & condition


def _is_near(amount: Any, due: Any, share: float) -> Any:
    """Tell whether an amount differs from what is due by less than a share of it; an amount of 0 is near nothing."""
    return _abs(amount - due) < _abs(amount) * share


def _is_scaled(hours: Any, rate: Any, amount: Any) -> Any:
    due = _abs(hours * rate)
    return _if_unequal(hours, rate, amount, (_abs(amount) > due * _SCALE) & (due > 0))


def _is_not_scaled(hours: Any, rate: Any, amount: Any) -> Any:
    due = _abs(hours * rate)
    return (due > 0) & (_abs(amount) <= due * _SCALE)


def _is_swapped(hours: Any, rate: Any, amount: Any) -> Any:
    # For one hour, rate and amount are equal.
    swapped = (_abs(rate - hours * amount) < 0.01) & (rate != 0) & (_abs(_abs(hours) - 1.0) > 0.05)
    return _if_unequal(hours, rate, amount, swapped)


def _is_not_swapped(hours: Any, rate: Any, amount: Any) -> Any:
    due = hours * rate
    return (_abs(_abs(hours) - 1.0) > 0.05) & (_abs(due) > 0) & (_abs(amount - due) < 0.01)


def _is_in_minutes(rate: Any, amount: Any, hours: Any) -> Any:
    decimal = hours - hours % 1 + hours % 1 / 0.6
    fits = _is_near(amount, decimal * rate, 0.01)
    fits = fits & (_abs(amount - hours * rate) > _abs(amount) * 0.05)
    return _if_unequal(hours, rate, amount, fits & (hours > 0) & (rate > 0))


def _is_decimal(rate: Any, amount: Any, hours: Any) -> Any:
    return (hours % 1 > 0.05) & (rate > 0) & _is_near(amount, hours * rate, 0.01)


def _is_in_days(rate: Any, amount: Any, hours: Any) -> Any:
    whole, working = (_is_near(amount, hours * rate * day, _ROUNDING) for day in _DAYS)
    return _if_unequal(hours, rate, amount, whole | working)


def _is_in_hours(rate: Any, amount: Any, hours: Any) -> Any:
    return _is_near(amount, hours * rate, _ROUNDING)


def _negative_amounts(name: str, words: str) -> _ColumnCheck:
    return _ColumnCheck(
        "negative",
        ("amount",),
        False,
        lambda amount: amount < 0,
        lambda amount: amount > 0,
        f"{name}: amount is negative in most rows. Invoices bill {words} as positive amounts, which are "
        "subtracted from the amounts of the invoices. Change the sign.",
    )


_CHECKS = {
    "expenses": (_negative_amounts("expenses", "expenses"),),
    "fixed_fees": (_negative_amounts("fixed_fees", "fixed fees"),),
    "time_entries": (
        _ColumnCheck(
            "scaled",
            ("hours", "rate", "amount"),
            False,
            _is_scaled,
            _is_not_scaled,
            "time_entries: amount is many times hours times rate, so it seems to be in another unit, such as cents, or "
            "to be another column. Each entry's amount is its hours times its rate.",
        ),
        _ColumnCheck(
            "swapped",
            ("hours", "rate", "amount"),
            False,
            _is_swapped,
            _is_not_swapped,
            "time_entries: rate is hours times amount, so the two seem to be swapped. Each entry's amount is its hours "
            "times its rate.",
        ),
        _ColumnCheck(
            "minutes",
            ("rate", "amount", "hours"),
            False,
            _is_in_minutes,
            _is_decimal,
            "time_entries: hours seem to be hours and minutes, such as 1.30 for an hour and a half, because amount is "
            "rate times 1.5. Hours are decimal: add the minutes divided by 60 to the whole hours.",
        ),
        _ColumnCheck(
            "days",
            ("rate", "amount", "hours"),
            False,
            _is_in_days,
            _is_in_hours,
            "time_entries: hours seem to be days, because amount is 24 or 8 times hours times rate in most rows. Hours "
            "are decimal hours, such as 1.5: multiply days by 24, or working days by 8.",
        ),
    ),
    "invoices": (
        _ColumnCheck(
            "empty",
            ("balance", "amount"),
            False,
            lambda balance, amount: (_abs(amount) < 0.005) & (_abs(balance) < 0.005),
            lambda _balance, amount: _abs(amount) > 0.005,
            "invoices: amount is 0 on most invoices, so it seems to be the balance or another column. The amount is "
            "that of the whole invoice, paid or not.",
        ),
        _ColumnCheck(
            "open",
            ("amount", "balance"),
            False,
            lambda amount, balance: _abs(balance) > _abs(amount) + 0.005,
            lambda amount, balance: _abs(balance) < _abs(amount) - 0.005,
            "invoices: balance is more than amount on most invoices that are not fully open, so the two seem to be "
            "swapped or in different units. The balance is the part of the amount that is still open.",
        ),
        _ColumnCheck(
            "due",
            ("due_date", "invoice_date"),
            True,
            lambda due, invoiced: due < invoiced,
            lambda due, invoiced: due >= invoiced,
            "invoices: due_date is before invoice_date on most invoices, so the two seem to be swapped.",
        ),
    ),
}


def _possible_checks(name: str, schema: Mapping[str, Any]) -> list[_ColumnCheck]:
    """Return the checks for whose columns a frame has the right types."""
    return [
        check
        for check in _CHECKS.get(name, ())
        if all(_has_type(schema.get(column), dates=check.dates) for column in check.columns)
    ]


def _has_type(dtype: Any, *, dates: bool) -> bool:
    if dtype is None:
        return False
    is_date = dtype == nw.Date or (dtype == nw.Datetime and getattr(dtype, "time_zone", None) is None)
    return is_date if dates else bool(dtype.is_numeric())


def implausible_counts(name: str, frame: Frame, schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
    """
    Return the counts of implausible rows that the caller must compute, by the name of the check.

    For eager frames, the first rows are checked at once, and only failed checks are returned. For lazy frames, all
    rows are counted: a database that sorts or groups rows would have to compute everything twice to find the first.
    """
    checks = _possible_checks(name, schema)
    if not isinstance(frame, nw.DataFrame) or not checks:
        return {check.name: check.count(check.implausible) for check in checks}
    rows = _first_rows(frame, {column: check.dates for check in checks for column in check.columns})
    return {check.name: nw.len() for check in checks if check.fails(rows)}


def _first_rows(frame: nw.DataFrame[Any], columns: Mapping[str, bool]) -> dict[str, Any]:
    """Return the first values of columns of dates or numbers as arrays: a query would take longer to build."""
    series = {name: frame.get_column(name).head(_FIRST) for name in columns}
    return {
        name: pd.Series(each.to_numpy()) if columns[name] else each.cast(nw.Float64).to_numpy()
        for name, each in series.items()
    }


def find_warning(name: str, frame: Frame, check_name: str, count: float) -> tuple[str, str] | None:
    """
    Return the warning of a check, after the column whose use gives the warning; None if the check does not fail.

    Parameters
    ----------
    name : str
        The name of the frame.
    frame : Frame
    check_name : str
        A name from `implausible_counts`.
    count : float
        The number of implausible rows in a lazy frame; an eager frame has failed the check already.
    """
    check = next(each for each in _CHECKS[name] if each.name == check_name)
    if not isinstance(frame, nw.DataFrame) and not (count >= _SEVERAL and count > _count_plausible(frame, check)):
        return None
    return check.columns[-1], check.message


def _count_plausible(frame: Frame, check: _ColumnCheck) -> float:
    return collect_counts((frame, {"rows": check.count(check.plausible)}))["rows"]
