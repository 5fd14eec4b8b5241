"""Remember what a load gave, so that an analysis can tell whether a frame that arrives is still what was loaded.

A stamp has the number of rows, what each column of figures adds up to, and the first and last date. It stays in this
process: the frame carries only its key, so that a file of one client does not hold the firm's totals.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes.loading.load_info import attach, attached

FrameT = TypeVar("FrameT")

FIGURES = ("hours", "amount", "rate", "balance")
_DATES = ("date", "invoice_date")
# So much of a number is lost in 32 bits.
_SINGLE = 6e-8
_CENT = 0.005

_stamps: dict[str, Stamp] = {}


@dataclass(frozen=True, slots=True)
class Total:
    """What a column of figures adds up to, how many of its values are missing, and what rounding may change."""

    sum: float
    missing: int
    rounding: float = _CENT

    def is_like(self, other: Total) -> bool:
        """Whether the sums are equal up to half a cent, or up to the precision of the numbers."""
        return abs(self.sum - other.sum) <= max(self.rounding, other.rounding)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is in a frame: its rows, the total of each column of figures, and the first and last date."""

    rows: int
    totals: Mapping[str, Total]
    days: tuple[dt.date, dt.date] | None

    @classmethod
    def of(cls, frame: pd.DataFrame | pa.Table) -> Stamp:
        """Return what is in a frame; columns that are not numbers or dates are left out."""
        names = frame.column_names if isinstance(frame, pa.Table) else frame.columns
        numbers = {name: _numbers(frame[name]) for name in FIGURES if name in names}
        totals = {name: _total(each, frame[name]) for name, each in numbers.items() if each is not None}
        days = [_span(frame[name]) for name in _DATES if name in names]
        return cls(len(frame), totals, days[0] if days else None)


def remember(table: pa.Table) -> str:
    """Keep the stamp of a load, and return its key."""
    key = secrets.token_hex(8)
    _stamps[key] = Stamp.of(table)
    return key


def stamp_of_load(frame: Any) -> Stamp | None:
    """Return the stamp of the load that a frame was made from; None if this process does not know it."""
    info = attached(frame, "load")
    if not isinstance(info, Mapping):
        return None
    stamp = _stamps.get(str(info.get("key")))
    # Code that removes rows and accounts for them says so by other `rows`.
    return stamp if stamp is not None and stamp.rows == info.get("rows") else None


def forget(frame: FrameT) -> FrameT:
    """
    Return a frame that is no longer compared with its load, for figures that you changed deliberately.

    Analyses warn of a loaded frame that has as many rows as were loaded, and other sums. The returned frame gives no
    such warning, and no result tells which part of the load it is. The period, filters and day of the load stay known.

    Parameters
    ----------
    frame : DataFrame
        Of any engine. It is not changed.

    Returns
    -------
    DataFrame
        Of the same kind, with the same rows and columns.

    Examples
    --------
    >>> entries = bf.time_entries("2026-10")
    >>> raised = bf.forget(entries.assign(rate=entries["rate"] * 1.05, amount=entries["amount"] * 1.05))
    >>> "key" in entries.attrs["load"], "key" in raised.attrs["load"]
    (True, False)
    """
    info = attached(frame, "load")
    if not info or not isinstance(frame, pd.DataFrame | pa.Table):
        return frame
    known = {name: each for name, each in info.items() if name not in {"key", "rows"}}
    copy = frame.copy(deep=False) if isinstance(frame, pd.DataFrame) else frame
    return cast("FrameT", attach(copy, "load", known))


def _numbers(column: Any) -> npt.NDArray[np.float64] | None:
    """Return the values of a column, NaN where one is missing; None if they are not numbers."""
    if isinstance(column, pa.ChunkedArray):
        kind = column.type
        is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
        return column.cast(pa.float64(), safe=False).to_numpy() if is_number else None
    if not isinstance(column, pd.Series) or not pd.api.types.is_numeric_dtype(column):
        return None
    return column.to_numpy(dtype=float, na_value=np.nan)


def _total(numbers: npt.NDArray[np.float64], column: Any) -> Total:
    missing = np.isnan(numbers)
    known = numbers[~missing] if missing.any() else numbers
    is_single = "float32" in str(getattr(column, "dtype", "")) or getattr(column, "type", None) == pa.float32()
    with np.errstate(over="ignore"):
        rounding = max(_CENT, float(np.abs(known).sum()) * _SINGLE) if is_single else _CENT
        return Total(float(known.sum()), int(missing.sum()), rounding)


def _span(column: Any) -> tuple[dt.date, dt.date] | None:
    """Return the first and last date of a column; None if it has none."""
    if isinstance(column, pd.Series):
        if not pd.api.types.is_datetime64_any_dtype(column):
            return None
        ends = [column.min(), column.max()]
    elif isinstance(column, pa.ChunkedArray) and pa.types.is_temporal(column.type):
        ends = [*pc.min_max(column).as_py().values()]
    else:
        return None
    if any(pd.isna(each) for each in ends):
        return None
    first, last = (each.date() if isinstance(each, dt.datetime) else each for each in ends)
    return first, last
