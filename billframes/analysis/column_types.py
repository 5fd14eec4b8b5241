"""The types that columns have inside the analyses, and the errors for columns of another type.

A column that holds nothing at all may be of any type: pandas and DuckDB can't tell what it would have been.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias, cast

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes.errors import ParameterError

__all__ = [
    "ENUMS",
    "IDS",
    "ITEMS",
    "ITEM_ID",
    "LISTS",
    "REQUIRED_DATES",
    "REQUIRED_NUMBERS",
    "Frame",
    "as_arrow",
    "is_categorical",
    "typed_column",
]

ITEMS = ("time_entries", "expenses", "fixed_fees")
"""The frames of what invoices are made of."""

Frame: TypeAlias = "nw.LazyFrame[Any]"
"""Any frame inside the analyses, eager ones too: typed as lazy so that only what all engines can is used."""

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
"""The id of each frame's rows."""

ITEM_ID = "item_id"
"""The id of a time entry, expense or fixed fee, in frames that have all three."""

REQUIRED_NUMBERS = {
    "time_entries": ("hours",),
    "expenses": ("amount",),
    "fixed_fees": ("amount",),
    "invoices": ("amount", "balance"),
}
"""Numbers that every row of a frame has. The amount of time is not among them: it can be hidden."""

REQUIRED_DATES = {
    "time_entries": ("date",),
    "expenses": ("date",),
    "fixed_fees": ("date",),
    "invoices": ("invoice_date",),
}
"""Dates that every row of a frame has."""

_ROLES = ("principal", "attorney", "paralegal", "timekeeper", "operator", "accountant")
ENUMS = {
    "billing_type": ("nonBillable", "billable", "fixedFee"),
    "invoice_state": ("draft", "review", "approved", "final"),
    "matter_type": ("hourly", "fixedFee", "contingency", "probono", "internal"),
    "role": _ROLES,
    "user_role": _ROLES,
}
"""The values of each enum that analyses know."""

LISTS = frozenset({"originator_ids", "originator_names", "ledes_code_set_ids"})
DATES = frozenset({"date", "invoice_date", "due_date", "opened"})
_BALANCES = ("current", "overdue", "overdue0_to30", "overdue30_to60", "overdue60_to90", "overdue_over90")
NUMBERS = frozenset({"hours", "amount", "balance", *_BALANCES, "overdue30", "overdue60", "overdue90"})
INSTANTS = frozenset({"created_at", "modified_at"})
FLAGS = frozenset(
    {
        "archived",
        "billed",
        "selectable",
        "ledes_enabled",
        "ledes_activity_code_required",
        "ledes_task_code_required",
        "ledes_expense_code_required",
    }
)
_KEYS = frozenset(IDS.values())
_TEXTS = frozenset({"name", *ENUMS})
_CODED = (nw.Categorical, nw.Enum)
# The types that engines give to columns of an unknown type.
_ANY = (nw.Object, nw.Unknown)

_TO_DATE = {
    "PANDAS": "frame['{column}'] = frame['{column}'].dt.tz_convert('Europe/Berlin').dt.tz_localize(None)",
    "POLARS": "frame.with_columns(pl.col('{column}').dt.convert_time_zone('Europe/Berlin').dt.date())",
    "PYARROW": "pyarrow.compute.local_timestamp(frame['{column}'].cast(pyarrow.timestamp('us', 'Europe/Berlin')))",
    "DUCKDB": "cast({column} at time zone 'Europe/Berlin' as date)",
    "PYSPARK": "frame.withColumn('{column}', functions.to_date('{column}')), in the session's time zone",
}


def column_names(frame: Frame) -> list[str]:
    """Return a frame's column names without asking for types: pandas finds them in the values, DuckDB in a query."""
    return frame.columns


def as_arrow(frame: Frame, columns: Sequence[str] | None = None) -> Frame:
    """Turn columns of pandas or Arrow, those named or all, into an Arrow table with one type of text."""
    native = frame.to_native()
    if not isinstance(native, pd.DataFrame | pa.Table):
        return frame
    names = frame.columns if columns is None else columns
    return cast("Frame", nw.from_native(pa.table({name: _arrow(native[name]) for name in names})))


def is_categorical(dtype: Any) -> bool:
    """Tell whether a column is an enum: its values are codes of few texts."""
    return dtype in _CODED


def typed_column(frame: Frame, name: str, column: str, dtype: Any, engine: str) -> nw.Expr | None:
    """
    Return the expression that gives a column its type inside; None if it has that type.

    Dates count for their calendar day. A missing number that every row should have becomes NaN, so that every sum it
    is part of is NaN too; `to_native` makes these missing.

    Raises
    ------
    ParameterError
        The column has a type that can't be what its name says.
    """
    if not _fits(column, dtype):
        if not _is_void(frame, column):
            _refuse(name, column, dtype, engine)
        return _nothing(column)
    value = C(column)
    if column in DATES:
        # A time of day is cut off by the date, which is quicker than to truncate.
        return (value.cast(nw.Date) if dtype == nw.Datetime else value).cast(nw.Datetime("us"))
    if column in NUMBERS:
        return _number(name, column, dtype)
    # Polars has one type of text; others' types of that name may differ.
    done = engine == "POLARS" and dtype == nw.String
    return value.cast(nw.String) if _is_text(column, dtype) and not done else None


def _nothing(column: str) -> nw.Expr | None:
    """Give a column that holds nothing the type that its name says."""
    if column in LISTS:
        return nw.lit(None).cast(nw.List(nw.String)).alias(column)
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
    """Tell whether a column is text inside."""
    if column in LISTS | INSTANTS | FLAGS:
        return False
    textual = column in _TEXTS or column.endswith(("_id", "_name", "_label"))
    return textual or dtype in (*_CODED, nw.String, nw.Object)


def _fits(column: str, dtype: Any) -> bool:
    """Tell whether a column's type can be what its name says."""
    if dtype in _ANY:
        return True
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
    if column in _TEXTS:
        return dtype in (*_CODED, nw.String)
    return column not in _KEYS or dtype in (*_CODED, nw.String) or dtype.is_integer()


def _is_void(frame: Frame, column: str) -> bool:
    """Tell whether a column holds nothing at all."""
    known = frame.select((~C(column).is_null()).any().alias("known"))
    eager: Any = known.collect() if isinstance(known, nw.LazyFrame) else known
    # Over no rows, databases answer with neither yes nor no.
    return not eager["known"].to_list()[0]


def _refuse(name: str, column: str, dtype: Any, engine: str) -> NoReturn:
    zone = getattr(dtype, "time_zone", None) if dtype == nw.Datetime else None
    if zone is not None and column in DATES:
        raise ParameterError(
            f"{name}: {column} is an instant (time zone {zone}), not a calendar date, so the day depends on where the "
            "firm is. Convert it to the firm's time zone first, here for example Europe/Berlin: "
            f"{_TO_DATE[engine].format(column=column)}."
        )
    raise ParameterError(f"{name}: {column} is of the type {dtype}, {_hint(column)}")


def _hint(column: str) -> str:
    if column in DATES:
        return f"not dates. Convert it first, for example with pandas.to_datetime(frame['{column}'])."
    if column in NUMBERS:
        return f"not numbers. Convert it first, for example with pandas.to_numeric(frame['{column}'])."
    if column in LISTS:
        return "not lists of text. Pass the lists as the loaders give them; a CSV file turns lists into text."
    if column in INSTANTS:
        return f"not times. Convert it first, for example with pandas.to_datetime(frame['{column}'], utc=True)."
    if column in FLAGS:
        return "not true and false. Convert it to booleans first."
    if column in _TEXTS:
        return "not text. The loaders supply it."
    return (
        "not text. Ids with gaps become numbers with decimals in pandas: keep them as text "
        f"(frame['{column}'].astype('Int64').astype('str'))."
    )


def _arrow(values: pd.Series[Any] | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column as Arrow's, with text of one type."""
    made = values if isinstance(values, pa.ChunkedArray) else _from_pandas(values)
    # A file written without a single value has no type for its values.
    return made.cast(pa.string()) if _is_odd_text(made.type) or _is_untyped(made.type) else made


def _from_pandas(values: pd.Series[Any]) -> pa.Array:
    """Read a column of pandas; what no one type holds is text."""
    if values.name in LISTS and values.dtype == object:
        return pa.array([_as_list(value) for value in values], pa.list_(pa.string()))
    try:
        return pa.Array.from_pandas(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if pd.isna(value) else str(value) for value in values])


def _is_odd_text(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype))


def _is_untyped(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_null(dtype.value_type if pa.types.is_dictionary(dtype) else dtype))


def _as_list(value: Any) -> list[str] | None:
    return [str(each) for each in value] if hasattr(value, "__iter__") else None
