"""The steps of Narwhals expressions over columns and values of Arrow; each returns None for what only Narwhals does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc


def _literal(value: Any, dtype: Any) -> Any:
    return None if dtype is not None or isinstance(value, list | dict | tuple) else pa.scalar(value)


def _compared(compare: Callable[..., Any]) -> Callable[..., Any]:
    def step(value: Any, other: Any) -> Any:
        if isinstance(other, pa.Scalar) and (coded := _coded(value)) is not None:
            return pa.chunked_array([compare(coded.dictionary, other).take(coded.indices)])
        return compare(value, other)

    return step


def _coded(value: Any) -> pa.DictionaryArray | None:
    is_coded = isinstance(value, pa.ChunkedArray) and pa.types.is_dictionary(value.type) and value.num_chunks == 1
    return cast("pa.DictionaryArray", value.chunk(0)) if is_coded else None


def _is_in(value: Any, other: Any) -> Any:
    if (coded := _coded(value)) is not None:
        return pa.chunked_array([_is_in(coded.dictionary, other).take(coded.indices)])
    return pc.if_else(pc.is_null(value), None, pc.is_in(value, value_set=pa.array(other)))


def _divided(value: Any, other: Any) -> Any:
    return pc.divide(value, other) if pa.types.is_floating(value.type) or pa.types.is_floating(other.type) else None


def _floor_divided(value: Any, other: Any) -> Any:
    if not (pa.types.is_integer(value.type) and isinstance(other, pa.Scalar) and (other.as_py() or 0) > 0):
        return None
    toward_zero = pc.divide(value, other)
    return pc.subtract(toward_zero, pc.cast(pc.less(value, pc.multiply(toward_zero, other)), toward_zero.type))


def _filled(found: Any, /, other: Any = None, **options: Any) -> Any:
    if other is None or any(each is not None for each in options.values()):
        return None
    is_whole = isinstance(found, pa.ChunkedArray) and not found.null_count
    return found if is_whole else pc.fill_null(found, other)


def _when(holds: Any, then: Any, otherwise: Any = None) -> Any:
    holds = _filled(holds, False)
    # Checks are often true of all rows: text of a million rows is not copied then.
    if (otherwise is None or otherwise.type == then.type) and is_all(holds):
        return then
    return pc.if_else(holds, then, pa.scalar(None, then.type) if otherwise is None else otherwise)


def is_all(holds: Any) -> bool:
    """Tell whether a condition holds in all rows."""
    return isinstance(holds, pa.ChunkedArray) and bool(pc.all(holds, min_count=0, skip_nulls=False).as_py())


def _first(value: Any, *others: Any) -> Any:
    is_whole = isinstance(value, pa.ChunkedArray) and not value.null_count
    return value if is_whole and all(each.type == value.type for each in others) else pc.coalesce(value, *others)


def _cast(value: Any, dtype: Any) -> Any:
    found = _TYPES.get(dtype)
    return None if found is None else pc.cast(value, found)


def _all(*values: Any, ignore_nulls: bool) -> Any:
    return None if ignore_nulls else functools.reduce(pc.and_kleene, values)


_TYPES = {
    nw.Float64: pa.float64(),
    nw.Int64: pa.int64(),
    nw.String: pa.string(),
    nw.Boolean: pa.bool_(),
    nw.Datetime("us"): pa.timestamp("us"),
}
STEPS: dict[str, Callable[..., Any]] = {
    "lit": _literal,
    "alias": lambda value, name: value,
    "__eq__": _compared(pc.equal),
    "__ne__": _compared(pc.not_equal),
    "__lt__": pc.less,
    "__le__": pc.less_equal,
    "__gt__": pc.greater,
    "__ge__": pc.greater_equal,
    "__and__": pc.and_kleene,
    "__or__": pc.or_kleene,
    "__invert__": pc.invert,
    "__add__": pc.add,
    "__sub__": pc.subtract,
    "__rsub__": lambda value, other: pc.subtract(other, value),
    "__mul__": pc.multiply,
    "__truediv__": _divided,
    "__floordiv__": _floor_divided,
    "dt.year": pc.year,
    "dt.ordinal_day": pc.day_of_year,
    "abs": pc.abs,
    "is_null": pc.is_null,
    "is_nan": pc.is_nan,
    "is_in": _is_in,
    "fill_null": _filled,
    "cast": _cast,
    "when_then": _when,
    "all_horizontal": _all,
    "any_horizontal": lambda *values, ignore_nulls: None if ignore_nulls else functools.reduce(pc.or_kleene, values),
    "coalesce": _first,
    "sum": lambda value: pc.sum(value, min_count=0) if isinstance(value, pa.ChunkedArray) else None,
    "min": lambda value: pc.min(value) if isinstance(value, pa.ChunkedArray) else None,
    "max": lambda value: pc.max(value) if isinstance(value, pa.ChunkedArray) else None,
}
"""Functions by the name of the step in Narwhals."""
