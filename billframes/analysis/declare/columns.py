"""Convert columns to the types that the analyses use, and refuse columns of other types.

A column without any values may have any type, because pandas and DuckDB can't derive its type from values.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NoReturn, TypeAlias, cast

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
_TEXTS = frozenset(column.name for column in _COLUMNS if column.kind in ("id", "text"))
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
    """
    Return a key's column. A time of day becomes text, because engines don't group by it.

    Raises
    ------
    ParameterError
        It has lists.
    """
    if dtype in (nw.List, nw.Array, nw.Struct):
        raise ParameterError(
            f"by={column!r}: the column of {name} has lists. Group by single values, such as by='originator'."
        )
    return value.cast(nw.String) if dtype == nw.Time else value


def as_arrow(frame: Frame, columns: Sequence[str] | None = None) -> Frame:
    """
    Convert columns of a pandas or Arrow frame (by default all) to an Arrow table with one type of text.

    Other frames are returned unchanged.
    """
    native = frame.to_native()
    if not isinstance(native, pd.DataFrame | pa.Table):
        return frame
    names = frame.columns if columns is None else columns
    return cast("Frame", nw.from_native(pa.table({name: _arrow(native[name]) for name in names})))


def is_categorical(dtype: Any) -> bool:
    """Tell whether a type is categorical or an enum."""
    return dtype in _CODED


def typed_column(frame: Frame, name: str, column: str, dtype: Any, engine: str) -> nw.Expr | None:
    """
    Return the expression that converts a column to its type in the analyses; None if it has that type already.

    Dates lose their time of day. In columns of `REQUIRED_NUMBERS`, missing numbers become NaN, so that every sum with
    one is NaN, too; `to_native` replaces NaN by missing.

    Raises
    ------
    ParameterError
        The type of the column does not fit its name.
    """
    value = C(column)
    if not _fits(column, dtype, in_database=isinstance(frame, nw.LazyFrame)):
        if (example := _first_value(frame, column)) is None:
            return _typed_nulls(name, column, in_database=isinstance(frame, nw.LazyFrame))
        if not (column in _TEXTS and dtype.is_numeric() and _are_whole(frame, column)):
            _refuse(name, column, dtype, engine, example)
        value = nw.when(~value.is_nan()).then(value).cast(nw.Int64) if dtype.is_float() else value.cast(nw.Int64)
    if column in DATES:
        # A cast to a date removes the time of day, and is faster than truncating it.
        return (value.cast(nw.Date) if dtype == nw.Datetime else value).cast(nw.Datetime("us"))
    if column in NUMBERS:
        return _number(name, column, dtype)
    # Polars has one type of text. Other engines have several, which Narwhals calls the same.
    needs_no_cast = engine == "POLARS" and dtype == nw.String
    return value.cast(nw.String) if _is_text(column, dtype) and not needs_no_cast else None


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
    if column in REQUIRED_NUMBERS.get(name, ()):
        return nw.when(C(column).is_null()).then(nw.lit(float("nan"))).alias(column)
    if column in LISTS:
        return nw.lit(None).cast(nw.List(nw.String)).alias(column)
    if column in INSTANTS and not in_database:
        return nw.when(C(column).is_null()).then(nw.lit(None).cast(nw.Datetime("us", "UTC"))).alias(column)
    if column in INSTANTS | FLAGS:
        return None
    dtype: Any = nw.Datetime("us") if column in DATES else nw.Float64() if column in NUMBERS else nw.String()
    return nw.when(C(column).is_null()).then(nw.lit(None).cast(dtype)).alias(column)


def _number(name: str, column: str, dtype: Any) -> nw.Expr:
    number = C(column) if dtype == nw.Float64 else C(column).cast(nw.Float64)
    if column in REQUIRED_NUMBERS.get(name, ()):
        return number.fill_null(float("nan"))
    return nw.when(~number.is_nan()).then(number).alias(column) if dtype.is_float() else number


def _is_text(column: str, dtype: Any) -> bool:
    if column in LISTS | INSTANTS | FLAGS:
        return False
    textual = column in ENUMS or column in _TEXTS or column.endswith(("_id", "_name", "_label"))
    return textual or dtype in (*_CODED, nw.String, nw.Object)


def _fits(column: str, dtype: Any, *, in_database: bool) -> bool:
    if dtype in _UNTYPED:
        # An engine in memory knows all types of numbers and dates; pandas' periods are none.
        return in_database or column not in DATES | NUMBERS
    if column in DATES:
        return bool(dtype == nw.Date or (dtype == nw.Datetime and getattr(dtype, "time_zone", None) is None))
    if column in NUMBERS:
        return bool(dtype.is_numeric())
    if column in LISTS:
        return dtype in (nw.List, nw.Array)
    if column in INSTANTS:
        return bool(dtype == nw.Datetime)
    if column in FLAGS:
        return bool(dtype == nw.Boolean)
    if column in ENUMS:
        return dtype in (*_CODED, nw.String)
    return column not in _TEXTS or dtype in (*_CODED, nw.String) or dtype.is_integer()


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
    if column in DATES and dtype.is_numeric():
        example = f"pandas.to_datetime(frame['{column}'].astype('str'), format='%Y%m%d')"
        return f"not dates. Convert it first, for example 20261031 with {example}."
    if column in NUMBERS and dtype == nw.Duration:
        return f"not numbers. Convert it to hours first, in pandas with frame['{column}'].dt.total_seconds() / 3600."
    if column in DATES and dtype in _UNTYPED:
        return f"not dates. Convert it first, for example periods with frame['{column}'].dt.to_timestamp()."
    if column in DATES:
        return (
            "not dates. Convert it with its format, for example 31.10.2026 with "
            f"pandas.to_datetime(frame['{column}'], format='%d.%m.%Y') and 2026-10-31 with format='%Y-%m-%d': without "
            "it, pandas reads 05.10.2026 as 10 May."
        )
    if column in NUMBERS:
        return f"not numbers. Convert it first, for example with pandas.to_numeric(frame['{column}'])."
    if column in LISTS:
        return "not lists of text. Pass the lists as the loaders give them; a CSV file turns lists into text."
    if column in INSTANTS:
        return f"not times. Convert it first, for example with pandas.to_datetime(frame['{column}'], utc=True)."
    if column in FLAGS:
        to_flag = ".astype(bool)" if dtype.is_numeric() else " == 'True'"
        return f"not true and false. Convert it first, for example with frame['{column}']{to_flag}."
    if column in ENUMS:
        return "not text. The loaders supply it."
    return f"not text. Read it as text, in pandas with read_csv(…, dtype={{'{column}': 'str'}})."


def _arrow(values: pd.Series[Any] | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Convert a column to Arrow, with text of one type."""
    array = values if isinstance(values, pa.ChunkedArray) else _from_pandas(values)
    if str(array.type) == "extension<arrow.uuid>":
        # DuckDB gives UUIDs as objects.
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], pa.string())
    # In a file, a column without values has no type.
    kind = array.type
    untyped = pa.types.is_null(kind.value_type if pa.types.is_dictionary(kind) else kind)
    return (
        array.cast(pa.string()) if untyped or pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else array
    )


def _from_pandas(values: pd.Series[Any]) -> pa.Array:
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
