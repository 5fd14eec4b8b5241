"""The one door between users' frames and the analyses.

Inside, every frame is a Narwhals frame with dates as `Datetime("us")`, money and hours as `Float64` and enums
as text, whichever engine it came from. Code inside uses only what lazy frames offer too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias, cast

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes.errors import MissingColumnError, ParameterError

__all__ = [
    "Frame",
    "among",
    "close",
    "collect_row",
    "flag",
    "is_dask",
    "mapped",
    "noted_columns",
    "nothing",
    "open_frames",
    "plain",
    "ratio",
    "require",
    "take",
]

Frame: TypeAlias = "nw.LazyFrame[Any]"
"""Any frame inside the analyses, eager ones too: typed as lazy so that only what all engines can is used."""

C = nw.col

DATES = frozenset({"date", "invoice_date", "due_date"})
NUMBERS = frozenset({"hours", "amount", "balance"})
LISTS = frozenset({"originator_ids", "originator_names"})

# Sums of doubles that should be zero come out as a residue; a ratio over a residue would be nonsense.
RESIDUE = 1e-9

_NOTED: ContextVar[dict[str, set[str]] | None] = ContextVar("noted", default=None)
_PANDAS_TYPES = ("str", "float64", "datetime64[us]")

LOADERS = {
    "time_entries": "time_entries()",
    "expenses": "expenses()",
    "fixed_fees": "fixed_fees()",
    "invoices": "invoices()",
    "matters": "matters()",
    "users": "users()",
}
SELECTS = {
    "client_name": "client",
    "matter_name": "matter",
    "user_name": "user",
    "responsible_name": "responsible",
    "originator_names": "originator",
    "practice_area_label": "practiceArea",
}


def open_frames(**natives: Any) -> dict[str, Frame]:
    """
    Wrap the frames that were given (those that are None are left out).

    Raises
    ------
    ParameterError
        One is not a frame, or they are of different engines.
    """
    given = {name: native for name, native in natives.items() if native is not None}
    engines = {name: _engine(name, native) for name, native in given.items()}
    if len(set(engines.values())) > 1:
        kinds = ", ".join(f"{name} is {engine}" for name, engine in engines.items())
        raise ParameterError(f"All frames must be of one engine, but {kinds}; convert them to the same kind.")
    return {name: _wrap(name, native) for name, native in given.items()}


def is_dask(native: Any) -> bool:
    """Tell whether something is a Dask frame: these are analysed in a task of their own (see `_dask`)."""
    return nw.dependencies.is_dask_dataframe(native)


@contextmanager
def noted_columns() -> Iterator[dict[str, set[str]]]:
    """Note which columns of which frames are taken in this thread."""
    noted: dict[str, set[str]] = {}
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def close(frame: Frame) -> Any:
    """Give back the engine's own kind of frame; pandas with a RangeIndex."""
    if isinstance(frame, nw.DataFrame):
        return nw.maybe_reset_index(frame).to_native()
    return frame.to_native()


def require(frame: Frame, name: str, columns: Iterable[str]) -> None:
    """
    Refuse a frame that lacks a column.

    Raises
    ------
    MissingColumnError
        Names what is missing, what is there, and what supplies it.
    """
    there, needed = frame.collect_schema().names(), list(columns)
    missing = [column for column in needed if column not in there]
    if missing:
        raise MissingColumnError(
            f"{name} has no column {', '.join(map(repr, missing))}; it has {', '.join(there) or 'none'}. "
            f"{_supplier(name, missing)}"
        )
    _note(name, needed)


def take(frame: Frame, name: str, columns: Iterable[str], optional: Iterable[str] = ()) -> Frame:
    """Select and cast what an analysis uses: all of `columns`, and those of `optional` that are there."""
    needed = list(dict.fromkeys(columns))
    require(frame, name, needed)
    schema = frame.collect_schema()
    chosen = [*needed, *(each for each in dict.fromkeys(optional) if each in schema and each not in needed)]
    _note(name, chosen)
    lists = [each for each in chosen if each in LISTS]
    frame = _with_lists(frame, lists)
    _refuse_texts(name, [each for each in lists if frame.collect_schema()[each] == nw.String])
    frame = _pandas_texts(frame, chosen)
    ready = _ready(frame, chosen)
    return frame.select(*[C(each) if each in ready else _cast(each, schema[each]) for each in chosen])


def among(frame: Frame, column: str, values: Iterable[str]) -> nw.Expr:
    """
    Tell whether a column of text or enums, not yet taken, holds one of the values.

    Turning a million of pandas' categories into text costs as much as a whole analysis; comparing them costs nothing.
    """
    native = frame.to_native()
    categories = isinstance(native, pd.DataFrame) and isinstance(native[column].dtype, pd.CategoricalDtype)
    return (C(column) if categories else C(column).cast(nw.String)).is_in(list(values))


def collect_row(frame: Frame, **sums: nw.Expr) -> dict[str, float]:
    """Compute sums over a frame now, also on a lazy one: what warnings need to know. The most of no rows is 0."""
    row = frame.select(**sums)
    eager = row.collect() if isinstance(row, nw.LazyFrame) else cast("nw.DataFrame[Any]", row)
    values = {name: eager[name].to_list()[0] for name in sums}
    return {name: 0.0 if pd.isna(value) else float(value) for name, value in values.items()}


def mapped(column: str, mapping: Mapping[str, Any], default: Any, dtype: Any) -> nw.Expr:
    """Look each value of a column up in a small mapping; `default`, or None, where it is not there."""
    if not mapping:
        return nothing(dtype) if default is None else nw.lit(default).cast(dtype)
    keys, values = list(mapping), list(mapping.values())
    return C(column).replace_strict(keys, values, default=default, return_dtype=dtype)


def flag(condition: nw.Expr) -> nw.Expr:
    """Return 1.0 where the condition holds and 0.0 elsewhere: counts that every engine can add up."""
    return nw.when(condition).then(nw.lit(1.0)).otherwise(nw.lit(0.0))


def nothing(dtype: Any) -> nw.Expr:
    """Return a column of missing values."""
    # A missing literal has no type: cast to pandas' booleans it reads False.
    return nw.when(nw.lit(1) == nw.lit(0)).then(nw.lit(True)) if dtype == nw.Boolean else nw.lit(None).cast(dtype)


def ratio(numerator: str, denominator: str) -> nw.Expr:
    """Divide two columns; missing where the denominator is 0 or missing."""
    return nw.when(C(denominator).abs() > RESIDUE).then(C(numerator) / C(denominator))


def plain(frame: Frame, like: str, **kinds: str) -> Frame:
    """
    Give computed columns pandas' usual types where the column `like` has one.

    What comes out of lists has Arrow types in pandas, which would spread to every figure multiplied by it.
    """
    native = frame.to_native()
    if not isinstance(native, pd.DataFrame) or isinstance(native[like].dtype, pd.ArrowDtype):
        return frame
    return nw.from_native(native.astype(kinds))


def _note(name: str, columns: Iterable[str]) -> None:
    if (noted := _NOTED.get()) is not None:
        noted.setdefault(name, set()).update(columns)


def _wrap(name: str, native: Any) -> Frame:
    try:
        return cast("Frame", nw.from_native(native))
    except TypeError as error:
        raise ParameterError(
            f"{name} is a {type(native).__name__}; it takes a pandas, Polars, Arrow, DuckDB, Dask or PySpark frame."
        ) from error


def _engine(name: str, native: Any) -> str:
    if is_dask(native):
        return "dask (lazy)"
    frame = _wrap(name, native)
    kind = " (lazy)" if isinstance(frame, nw.LazyFrame) else ""
    return f"{frame.implementation.name.lower()}{kind}"


def _supplier(name: str, missing: list[str]) -> str:
    selects = sorted({SELECTS[column] for column in missing if column in SELECTS})
    loader = f"The loader {LOADERS[name]} supplies it" if name in LOADERS else "A loader supplies it"
    return f"{loader}, with select={selects}." if selects else f"{loader}."


def _cast(name: str, dtype: Any) -> nw.Expr:
    if name in DATES:
        return C(name).cast(nw.Datetime("us"))
    if name in NUMBERS:
        return C(name).cast(nw.Float64)
    if name in LISTS:
        return C(name)
    textual = name.endswith(("_id", "_name", "_label")) or name in {"billing_type", "invoice_state", "name"}
    if textual or dtype in (nw.Categorical, nw.Enum, nw.String, nw.Object):
        return C(name).cast(nw.String)
    return C(name)


def _ready(frame: Frame, columns: list[str]) -> set[str]:
    """Columns that pandas has in the right type already: casting these to themselves costs a copy each."""
    native = frame.to_native()
    if not isinstance(native, pd.DataFrame):
        return set()
    wanted = {**dict.fromkeys(DATES, "datetime64[us]"), **dict.fromkeys(NUMBERS, "float64")}
    return {name for name in columns if native[name].dtype in ((wanted[name],) if name in wanted else _PANDAS_TYPES)}


def _pandas_texts(frame: Frame, columns: list[str]) -> Frame:
    """Turn pandas' categories into text by their codes: its own cast makes a Python string a row."""
    native = frame.to_native()
    if not isinstance(native, pd.DataFrame):
        return frame
    coded = [name for name in columns if isinstance(native[name].dtype, pd.CategoricalDtype)]
    texts = {name: _decoded(native[name].cat) for name in coded}
    return nw.from_native(native[columns].assign(**texts)) if texts else frame


def _decoded(values: Any) -> Any:
    return values.categories.astype("str").array.take(values.codes.to_numpy(), allow_fill=True)


def _with_lists(frame: Frame, columns: list[str]) -> Frame:
    """Give lists that pandas holds as objects a type: its own frames and handmade ones then work alike."""
    native = frame.to_native()
    if not isinstance(native, pd.DataFrame):
        return frame
    lists = {
        column: pd.arrays.ArrowExtensionArray(
            pa.array([_as_list(value) for value in native[column]], pa.list_(pa.string()))
        )
        for column in columns
        if native[column].dtype == object
    }
    return nw.from_native(native.assign(**lists)) if lists else frame


def _refuse_texts(name: str, columns: list[str]) -> None:
    if columns:
        raise ParameterError(
            f"{name} has {', '.join(columns)} as text, not as lists of text. Dask turns Python's lists into text: make "
            "the frame within dask.config.set({'dataframe.convert-string': False}), or with Arrow's lists as the "
            "loaders have them."
        )


def _as_list(value: Any) -> list[str] | None:
    return [str(each) for each in value] if hasattr(value, "__iter__") else None
