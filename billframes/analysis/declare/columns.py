"""Convert columns to the types that the analyses use, and refuse columns of other types.

A column without any values may have any type, because pandas and DuckDB can't derive its type from values.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Iterable
from typing import Any, NoReturn, TypeAlias

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes.config.firm_values import UNKNOWN_TYPE
from billframes.errors import ParameterError
from billframes.schema.resources import RESOURCE_OF, RESOURCES
from billframes.schema.sources import sources_of

ITEMS = ("time_entries", "expenses", "fixed_fees")
"""The frames of items, which invoices bill."""

Frame: TypeAlias = "nw.LazyFrame[Any]"
"""Any frame inside the analyses, also an eager one: typed as lazy, so that only methods of all engines are used."""

C = nw.col

IDS = {
    "time_entries": "time_entry_id",
    "expenses": "expense_id",
    "fixed_fees": "fixed_fee_id",
    "invoices": "invoice_id",
    "matters": "matter_id",
    "users": "user_id",
    "clients": "client_id",
}
"""The id column of each frame."""

REQUIRED_NUMBERS = {
    "time_entries": ("hours",),
    "expenses": ("amount",),
    "fixed_fees": ("amount",),
    "invoices": ("amount", "balance"),
}
"""Numbers that every row of a frame must have. The amount of time entries is not included: it can be hidden."""

DATE_OF = dict.fromkeys(ITEMS, "date") | {"invoices": "invoice_date", "matters": "opened"}
"""The date of the records of a frame. Matters can be without one."""

PLAUSIBLE_DAYS = (dt.date(1990, 1, 1), dt.date(2100, 12, 31))
"""The first and the last plausible date. Others are mistakes, or stand for a missing date."""

_COLUMNS = [
    each.column for resource in RESOURCES if resource.name in (*IDS, "codes") for each in sources_of(resource.record)
]
_VALUES = {column.name: column.values for column in _COLUMNS}  # noqa: PD011
ENUMS = {name: _VALUES[name] for name in ("billing_type", "invoice_state", "matter_type", "role")}
ENUMS["user_role"] = ENUMS["role"]
"""The declared values of each enum."""

UNASSIGNED, UNKNOWN = "Unassigned", UNKNOWN_TYPE
"""The labels of rows without a key, and without a type of matter."""
MATTER_TYPES = (*ENUMS["matter_type"], UNKNOWN)

_SELECTS = {column.name: column.select for column in _COLUMNS if column.select}

LISTS, DATES, INSTANTS, FLAGS = (
    frozenset(column.name for column in _COLUMNS if column.kind == kind)
    for kind in ("texts", "date", "instant", "flag")
)
_BALANCES = ("current", "overdue", "overdue0_to30", "overdue30_to60", "overdue60_to90", "overdue_over90")
NUMBERS = frozenset({"hours", "rate", "amount", "balance", *_BALANCES, "overdue30", "overdue60", "overdue90"})
_KINDS = {
    **dict.fromkeys((column.name for column in _COLUMNS if column.kind in ("id", "text")), "text"),
    **dict.fromkeys(ENUMS, "enum"),
    **dict.fromkeys(FLAGS, "flag"),
    **dict.fromkeys(INSTANTS, "instant"),
    **dict.fromkeys(LISTS, "list"),
    **dict.fromkeys(NUMBERS, "number"),
    **dict.fromkeys(DATES, "date"),
}
_CODED = (nw.Categorical, nw.Enum)
# Engines give these types to columns whose type they do not know.
_UNTYPED = (nw.Object, nw.Unknown)

# Floats from here on stand for several whole numbers.
_ROUNDED = 2.0**53

KEY_PREFIX = "by_"
"""The beginning of the names of keys' columns inside an analysis, which may use a column of the same name itself."""

_TO_DATE = {
    "PANDAS": "frame['{column}'] = frame['{column}'].dt.tz_convert('Europe/Berlin').dt.tz_localize(None)",
    "POLARS": "frame.with_columns(pl.col('{column}').dt.convert_time_zone('Europe/Berlin').dt.date())",
    "PYARROW": "pyarrow.compute.local_timestamp(frame['{column}'].cast(pyarrow.timestamp('us', 'Europe/Berlin')))",
    "DUCKDB": "cast({column} at time zone 'Europe/Berlin' as date)",
    "PYSPARK": "frame.withColumn('{column}', functions.to_date('{column}')), in the session's time zone",
}


def _empty_table(name: str) -> pa.Table:
    """Return a table without rows, with the columns that the API's records of a kind have."""
    columns = [each.column for each in sources_of(RESOURCE_OF[name].record)]
    return pa.table({column.name: pa.array([], _ARROW_KINDS.get(column.kind, pa.string())) for column in columns})


_ARROW_KINDS = {
    "texts": pa.list_(pa.string()),
    "date": pa.timestamp("us"),
    "instant": pa.timestamp("us", "UTC"),
    "flag": pa.bool_(),
    **dict.fromkeys(("hours", "money", "rate"), pa.float64()),
}
EMPTY = {name: _empty_table(name) for name in IDS}
"""A table without rows of each frame, for empty frames without columns."""


def selects_for(columns: Iterable[str]) -> list[str]:
    """Return the details that a loader must `select` for columns."""
    return sorted({_SELECTS[column] for column in columns if column in _SELECTS})


def column_names(frame: Frame) -> list[str]:
    """Return a frame's column names without its types: pandas derives types from values, DuckDB from a query."""
    return frame.columns


def source_of(column: str, there: Collection[str]) -> str:
    """Return the column that a key is taken from; other columns are returned unchanged."""
    plain = column.removeprefix(KEY_PREFIX)
    return plain if column not in there and plain in there else column


def key_column(name: str, column: str, dtype: Any, value: nw.Expr) -> nw.Expr:
    """Return a key's column; refuse lists. A time of day becomes text, because engines don't group by it."""
    if dtype in (nw.List, nw.Array, nw.Struct):
        raise ParameterError(
            f"by={column!r}: the column of {name} has lists. Group by single values, such as by='originator'."
        )
    return value.cast(nw.String) if dtype == nw.Time else value


# Narwhals compares types slowly, and each call asks for the same few.
@functools.lru_cache(maxsize=1_000)
def is_categorical(dtype: Any) -> bool:
    """Tell whether a type is categorical or an enum."""
    return dtype in _CODED


def typed_column(frame: Frame, name: str, column: str, dtype: Any, engine: str) -> nw.Expr | None:
    """
    Return the expression that converts a column to its type in the analyses; None if it has that type already.

    Types that don't fit the column's name are refused. Dates lose their time of day. In columns of `REQUIRED_NUMBERS`,
    missing numbers become NaN, so that every sum with one is NaN, too; `to_native` replaces NaN by missing.
    """
    value, kind, in_database = C(column), _KINDS.get(column, ""), isinstance(frame, nw.LazyFrame)
    # An engine in memory knows all types of numbers and dates; pandas' periods are none.
    is_unknown = dtype in _UNTYPED and (in_database or kind not in ("date", "number"))
    if not (is_unknown or has_kind(dtype, kind)):
        if (example := _first_value(frame, column)) is None:
            return _typed_nulls(name, column, in_database=in_database)
        if not (kind == "text" and dtype.is_numeric() and _are_whole(frame, column)):
            _refuse(name, column, dtype, engine, example)
        value = nw.when(~value.is_nan()).then(value).cast(nw.Int64) if dtype.is_float() else value.cast(nw.Int64)
    if kind == "date":
        # A cast to a date removes the time of day, and is faster than truncating it.
        return (value.cast(nw.Date) if dtype == nw.Datetime else value).cast(nw.Datetime("us"))
    if kind == "number":
        return _number(name, column, dtype)
    # Polars has one type of text. Other engines have several, which Narwhals calls the same.
    needs_no_cast = engine == "POLARS" and dtype == nw.String
    return value.cast(nw.String) if _is_text(column, dtype) and not needs_no_cast else None


@functools.lru_cache(maxsize=1_000)
def has_kind(dtype: Any, kind: str) -> bool:
    """Tell whether a type, which can be None, holds values of a kind of column; an unknown kind has any type."""
    if dtype is None:
        return False
    is_words = dtype in (*_CODED, nw.String)
    found = {
        "date": dtype == nw.Date or (dtype == nw.Datetime and getattr(dtype, "time_zone", None) is None),
        "number": dtype.is_numeric(),
        "list": dtype in (nw.List, nw.Array),
        "instant": dtype == nw.Datetime,
        "flag": dtype == nw.Boolean,
        "enum": is_words,
        "text": is_words or dtype.is_integer(),
    }
    return bool(found.get(kind, True))


def refuse_odd_ids(name: str, native: Any, column: str) -> None:
    """Refuse ids of pandas that are lists, complex numbers or other values that can't be compared."""
    values = native[column] if isinstance(native, pd.DataFrame) and column in native else None
    # Text has the kind of objects, too, but it takes a second to look at a million texts.
    if values is not None and values.dtype.kind in "Oc" and not isinstance(values.dtype, pd.StringDtype):
        odd = next((each for each in values if isinstance(each, list | dict | set | complex)), None)
        if odd is not None:
            raise ParameterError(f"{name}: {column} has the value {odd!r}, {_hint(column, nw.Object)}")


def _typed_nulls(name: str, column: str, *, in_database: bool) -> nw.Expr | None:
    """Return a column without values, with the type that fits its name."""
    kind, is_null = _KINDS.get(column, ""), C(column).is_null()
    if column in REQUIRED_NUMBERS.get(name, ()):
        return nw.when(is_null).then(nw.lit(float("nan"))).alias(column)
    if kind == "list":
        return nw.lit(None).cast(nw.List(nw.String)).alias(column)
    if kind == "flag" or (kind == "instant" and in_database):
        return None
    types = {"date": nw.Datetime("us"), "instant": nw.Datetime("us", "UTC"), "number": nw.Float64()}
    return nw.when(is_null).then(nw.lit(None).cast(types.get(kind, nw.String()))).alias(column)


def _number(name: str, column: str, dtype: Any) -> nw.Expr:
    number = C(column) if dtype == nw.Float64 else C(column).cast(nw.Float64)
    if column in REQUIRED_NUMBERS.get(name, ()):
        return number.fill_null(float("nan"))
    return nw.when(~number.is_nan()).then(number).alias(column) if dtype.is_float() else number


def _is_text(column: str, dtype: Any) -> bool:
    kind = _KINDS.get(column, "text" if column.endswith(("_id", "_name", "_label")) else "")
    return kind in ("enum", "text") or (not kind and dtype in (*_CODED, nw.String, nw.Object))


def _first_value(frame: Frame, column: str) -> Any:
    """Return a value of a column; None if all are missing."""
    known = frame.filter(~C(column).is_null()).select(column).head(1)
    eager: Any = known.collect() if isinstance(known, nw.LazyFrame) else known
    return next(iter(eager[column].to_list()), None)


def _are_whole(frame: Frame, column: str) -> bool:
    """Tell whether numbers can be ids, as in a CSV file with gaps: whole, and too small to have been rounded."""
    value = C(column).cast(nw.Float64)
    odd = frame.filter((value % 1 != 0) | (value.abs() >= _ROUNDED)).select(column)
    return _first_value(odd, column) is None


def _refuse(name: str, column: str, dtype: Any, engine: str, example: Any) -> NoReturn:
    zone = getattr(dtype, "time_zone", None) if dtype == nw.Datetime else None
    if zone is not None and column in DATES:
        raise ParameterError(
            f"{name}: {column} is an instant (time zone {zone}), not a calendar date, so the day depends on where the "
            "firm is. Convert it to the firm's time zone first, here for example Europe/Berlin: "
            f"{_TO_DATE[engine].format(column=column)}."
        )
    kind = "of a type that analyses don't know" if dtype in _UNTYPED else f"of the type {dtype}"
    raise ParameterError(f"{name}: {column} is {kind}, such as {example!r}, {_hint(column, dtype)}")


def _hint(column: str, dtype: Any) -> str:
    kind = _KINDS.get(column, "text")
    if kind in ("date", "flag") and dtype.is_numeric():
        kind = f"{kind} as a number"
    elif kind == "date" and dtype in _UNTYPED:
        kind = "period"
    elif kind == "number" and dtype == nw.Duration:
        kind = "duration"
    return _HINTS[kind].format(column=column)


_HINTS = {
    "date": "not dates. Convert it with its format, for example 31.10.2026 with pandas.to_datetime(frame['{column}'], "
    "format='%d.%m.%Y') and 2026-10-31 with format='%Y-%m-%d': without it, pandas reads 05.10.2026 as 10 May.",
    "date as a number": "not dates. Convert it first, for example 20261031 with "
    "pandas.to_datetime(frame['{column}'].astype('str'), format='%Y%m%d').",
    "period": "not dates. Convert it first, for example periods with frame['{column}'].dt.to_timestamp().",
    "number": "not numbers. Convert it first, for example with pandas.to_numeric(frame['{column}']).",
    "duration": "not numbers. Convert it to hours first, in pandas with frame['{column}'].dt.total_seconds() / 3600.",
    "list": "not lists of text. Pass the lists as the loaders give them; a CSV file turns lists into text.",
    "instant": "not times. Convert it first, for example with pandas.to_datetime(frame['{column}'], utc=True).",
    "flag": "not true and false. Convert it first, for example with frame['{column}'] == 'True'.",
    "flag as a number": "not true and false. Convert it first, for example with frame['{column}'].astype(bool).",
    "enum": "not text. The loaders supply it.",
    "text": "not text. Read it as text, in pandas with read_csv(…, dtype={{'{column}': 'str'}}).",
}


def arrow_column(frame: pd.DataFrame | pa.Table, name: Any) -> pa.ChunkedArray:
    """Convert a column of pandas or Arrow to Arrow, with text of one type."""
    values = frame[name]
    array = values if isinstance(values, pa.ChunkedArray) else _from_pandas(values)
    kind = array.type
    if str(kind) == "extension<arrow.uuid>":
        # DuckDB gives UUIDs as objects.
        array = pa.array([None if value is None else str(value) for value in array.to_pylist()], pa.string())
    # In a file, a column without values has no type.
    elif pa.types.is_null(kind.value_type if pa.types.is_dictionary(kind) else kind) or (
        pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    ):
        array = array.cast(pa.string())
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _from_pandas(values: pd.Series[Any]) -> pa.Array | pa.ChunkedArray:
    """Convert a column of pandas to Arrow; values of several types become text."""
    if values.name in LISTS and values.dtype == object:
        lists = [[*map(str, each)] if hasattr(each, "__iter__") else None for each in values]
        return pa.array(lists, pa.list_(pa.string()))
    kind = values.cat.categories.dtype if isinstance(values.dtype, pd.CategoricalDtype) else values.dtype
    if isinstance(kind, pd.IntervalDtype) or (isinstance(kind, pd.PeriodDtype) and values.name not in DATES | NUMBERS):
        # They are keys, such as those of pandas.cut.
        return _as_texts(values)
    try:
        return pa.Array.from_pandas(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return _as_texts(values)


def _as_texts(values: pd.Series[Any]) -> pa.Array:
    known = values.notna()
    return pa.array([str(value) if is_known else None for value, is_known in zip(values, known, strict=True)])
