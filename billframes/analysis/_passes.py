"""Passes over every row, each the way its engine is quickest; what follows them has few rows.

Eager Polars frames are planned as a whole, from `deferred` to `computed`, and never copied in between. Arrow's own
join copies every column of both sides; here ids are looked up, and only what is found is added. Other engines do it
their own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis._frames import Frame

__all__ = ["computed", "deferred", "grouped", "lookup"]

C = nw.col

# From so many rows on, Polars' streaming engine is the quicker one; to start it takes milliseconds.
_MANY = 200_000


def deferred(frame: Frame) -> Frame:
    """Make an eager Polars frame lazy, until `computed`; leave others as they are."""
    native = frame.to_native()
    return cast("Frame", nw.from_native(native.lazy())) if _eager_polars(frame) else frame


def computed(frame: Frame, like: Frame) -> Frame:
    """Compute what was deferred: lazy frames stay lazy where `like` is lazy."""
    if isinstance(like, nw.DataFrame) and _eager_polars(like) and isinstance(frame, nw.LazyFrame):
        few = like.shape[0] < _MANY
        return cast("Frame", frame.collect(engine="in-memory" if few else "auto"))
    return frame


def lookup(frame: Frame, other: Frame, on: str, how: Literal["left", "inner"] = "left") -> Frame:
    """Join a frame that has each id once; a missing id finds nothing."""
    left, right = frame.to_native(), other.to_native()
    if isinstance(left, pa.Table) and isinstance(right, pa.Table):
        return cast("Frame", nw.from_native(_looked_up(left, right, on, how)))
    return frame.join(deferred(other) if isinstance(frame, nw.LazyFrame) else other, on=on, how=how)


def grouped(frame: Frame, by: Sequence[str], measures: Sequence[str]) -> Frame:
    """Add up measures over columns, of which missing is a value like any other; keys still coded become text."""
    totals = frame.group_by(*by).agg(C(*measures).sum())
    schema = totals.collect_schema()
    coded = [name for name in by if schema[name] in (nw.Categorical, nw.Enum)]
    return totals.with_columns(C(*coded).cast(nw.String)) if coded else totals


def _eager_polars(frame: Frame) -> bool:
    return isinstance(frame, nw.DataFrame) and frame.implementation.is_polars()


def _looked_up(left: pa.Table, right: pa.Table, on: str, how: str) -> pa.Table:
    at = pc.index_in(left[on], value_set=right[on].combine_chunks(), skip_nulls=True)
    if how == "inner":
        left, at = left.filter(at.is_valid()), at.drop_null()
    for name in right.column_names:
        left = left if name == on else left.append_column(name, right[name].combine_chunks().take(at))
    return left
