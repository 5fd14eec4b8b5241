"""Passes over every row, each the way its engine is quickest; what follows them has few rows.

Eager Polars frames are planned as a whole, from `deferred` to `computed`, and never copied in between. pandas hashes
text anew for every join and every grouping, and copies it; here each key is hashed once, to whole numbers, and
the rest is arithmetic with these. Other engines do it their own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis._frames import Frame

__all__ = ["alike", "computed", "deferred", "grouped", "lookup"]

C = nw.col

# Room for the sums of groups that may be: beyond it, only those that are get numbers.
_SLOTS = 1 << 20


def deferred(frame: Frame) -> Frame:
    """Make an eager Polars frame lazy, until `computed`; leave others as they are."""
    native = frame.to_native()
    return cast("Frame", nw.from_native(native.lazy())) if _eager_polars(frame) else frame


def computed(frame: Frame, like: Frame) -> Frame:
    """Compute what was deferred: lazy frames stay lazy where `like` is lazy."""
    if _eager_polars(like) and isinstance(frame, nw.LazyFrame):
        return cast("Frame", frame.collect())
    return frame


def alike(other: Frame, frame: Frame) -> Frame:
    """Defer a frame that is to be joined to a deferred one."""
    return deferred(other) if isinstance(frame, nw.LazyFrame) else other


def lookup(frame: Frame, other: Frame, on: str, how: Literal["left", "inner"] = "left") -> Frame:
    """Join a frame that has each id once; a missing id finds nothing."""
    left, right = frame.to_native(), other.to_native()
    if isinstance(left, pd.DataFrame) and left[on].dtype == "str" and right[on].dtype == "str":
        return nw.from_native(_looked_up(left, right, on, how))
    return frame.join(alike(other, frame), on=on, how=how)


def grouped(frame: Frame, by: Sequence[str], measures: Sequence[str]) -> Frame:
    """Add up measures over columns, of which missing is a value like any other."""
    native = frame.to_native()
    if isinstance(native, pd.DataFrame) and all(native[name].dtype == "float64" for name in measures):
        return nw.from_native(_grouped(native, by, measures))
    return frame.group_by(*by).agg(*[C(measure).sum() for measure in measures])


def _eager_polars(frame: Frame) -> bool:
    return isinstance(frame, nw.DataFrame) and frame.implementation.is_polars()


def _looked_up(left: pd.DataFrame, right: pd.DataFrame, on: str, how: str) -> pd.DataFrame:
    found = pc.index_in(pa.array(left[on]), value_set=pa.array(right[on]), skip_nulls=True)
    at = found.fill_null(-1).to_numpy(zero_copy_only=False)
    if how == "inner":
        left, at = left[at >= 0], at[at >= 0]
    columns = right.drop(columns=on).set_axis(pd.RangeIndex(len(right))).reindex(at).set_axis(left.index)
    return left.assign(**{str(name): columns[name] for name in columns})


def _grouped(frame: pd.DataFrame, by: Sequence[str], measures: Sequence[str]) -> pd.DataFrame:
    group, slots = _numbered([frame[name] for name in by])
    last = np.full(slots, -1)
    last[group] = np.arange(len(frame))
    there = last >= 0
    keys = frame[list(by)].take(last[there]).reset_index(drop=True)
    sums = {name: np.bincount(group, _without_missing(frame[name]), slots)[there] for name in measures}
    # Of no rows at all numpy counts in whole numbers, whatever the weights.
    return keys.assign(**sums).astype(dict.fromkeys(measures, "float64"))


def _numbered(keys: Sequence[pd.Series[Any]]) -> tuple[np.ndarray[Any, Any], int]:
    """Give each row the number of its group, and say how many numbers there may be."""
    group, slots = np.zeros(len(keys[0]), dtype="int64"), 1
    for key in keys:
        codes, size = _codes(key)
        group, slots = group * size + codes, slots * size
        if slots > _SLOTS:
            group, found = pd.factorize(group)
            slots = len(found)
    return group, slots


def _codes(key: pd.Series[Any]) -> tuple[np.ndarray[Any, Any], int]:
    """Give each value a number from 1 on; 0 is missing."""
    codes, values = pd.factorize(key)
    return codes + 1, len(values) + 1


def _without_missing(values: pd.Series[Any]) -> np.ndarray[Any, Any]:
    numbers = values.to_numpy()
    return np.where(np.isnan(numbers), 0.0, numbers)
