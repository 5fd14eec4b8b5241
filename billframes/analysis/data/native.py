"""Convert users' frames to Narwhals, and results back.

Inside the analyses, every frame is a Narwhals frame with dates as `Datetime("us")`, money and hours as `Float64` and
enums as text, on every engine. The analyses use only methods that lazy frames have, too.

Frames of pandas become rows of Arrow, which adds up and joins a million rows of text in half the time of pandas, and
few rows in a third of it. A column is converted when it is first used; most of a loaded frame are Arrow already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes._shared.names import join_names, type_in_words
from billframes.analysis.data.arrow import ArrowRows
from billframes.analysis.data.data_span import DAYS
from billframes.analysis.data.engine import SUPPORTED, arrow_rows, from_arrow, to_arrow
from billframes.analysis.data.expressions import C
from billframes.analysis.declare.columns import (
    EMPTY,
    IDS,
    ITEMS,
    Frame,
    column_names,
    key_column,
    selects_for,
    source_of,
    typed_column,
)
from billframes.errors import MissingColumnError, ParameterError
from billframes.loading.load_info import attach

# Older versions of Dask have `dask_expr` as a separate package.
_DASK = {"dask", "dask_expr"}
_DUCKDB = {"duckdb", "_duckdb"}


def wrap_frames(natives: Mapping[str, Any], *, whole: bool = False) -> dict[str, Frame]:
    """
    Convert users' frames to Narwhals, and refuse frames of several engines and frames in the place of others.

    With `whole`, frames of pandas stay so and keep their `attrs`, for analyses that return whole rows.
    """
    otherwise = "it takes a pandas, Polars, Arrow, DuckDB, Ibis or PySpark frame"
    frames = {
        name: _with_columns(wrap_frame(_without_index(native, name, keep_attrs=whole), name, otherwise), name)
        for name, native in natives.items()
    }
    engines = {name: _engine(frame) for name, frame in frames.items()}
    if len(set(engines.values())) > 1:
        kinds = ", ".join(f"{name} is {engine}" for name, engine in engines.items())
        raise ParameterError(f"All frames must be of one engine, but {kinds}; convert them to the same kind.")
    _refuse_misplaced(frames)
    return frames if whole else {name: arrow_rows(frame) for name, frame in frames.items()}


def _refuse_twice(native: Any, name: str) -> None:
    names = native.columns.tolist() if isinstance(native, pd.DataFrame) else getattr(native, "column_names", ())
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise ParameterError(
            f"{name} has the column {twice!r} more than once, so it is not known which of them counts. Drop or rename "
            "the others, in pandas with frame.loc[:, ~frame.columns.duplicated()]."
        )


def _with_columns(frame: Frame, name: str) -> Frame:
    """Give an empty frame without any column those of its kind, so that it is an empty list."""
    if column_names(frame) or name not in EMPTY:
        return frame
    native, table = frame.to_native(), EMPTY[name]
    empty = table.to_pandas() if isinstance(native, pd.DataFrame) else from_arrow(frame, table).to_native()
    return cast("Frame", nw.from_native(empty))


def without_attrs(native: Any) -> Any:
    """Return a pandas frame without `attrs`, which pandas copies at every step; return others unchanged."""
    if not isinstance(native, pd.DataFrame):
        return native
    plain = native.copy(deep=False)
    plain.attrs = {}
    return plain


def as_table(frame: pd.DataFrame, columns: Sequence[str]) -> pa.Table:
    """Return columns of a pandas result as an Arrow table."""
    table = pa.Table.from_pandas(without_attrs(frame[[*dict.fromkeys(columns)]]), preserve_index=False)
    return table.replace_schema_metadata()


def _without_index(native: Any, name: str, *, keep_attrs: bool) -> Any:
    """Return a pandas frame of records whose named index is columns, as before `set_index`; results keep theirs."""
    plain = native if keep_attrs else without_attrs(native)
    if not isinstance(plain, pd.DataFrame) or plain.index.names == [None] or name not in EMPTY:
        return plain
    levels = [each for each in plain.index.names if each is not None and each not in plain.columns]
    return (plain.reset_index(level=levels) if levels else plain).reset_index(drop=True)


# Items and invoices all have amounts and invoice ids. The first of these columns that a frame has identifies it.
_MARKS = {"time_entry_id": "time_entries", "expense_id": "expenses", "fixed_fee_id": "fixed_fees"}


def _refuse_misplaced(frames: dict[str, Frame]) -> None:
    for name in (*ITEMS, "invoices"):
        there = column_names(frames[name]) if name in frames else ()
        # Time entries under a fixed fee have its id.
        own = {"fixed_fee_id"} if name == "time_entries" else set()
        mark = next((column for column in _MARKS if column in there and column not in own), "")
        if not mark and {"invoice_state", "balance"} <= set(there) and "date" not in there:
            mark = "balance"
        kind = _MARKS.get(mark, "invoices")
        if mark and kind != name:
            raise ParameterError(
                f"{name} has the column {mark!r}, so it seems to be the frame {kind}. Pass each frame in its own place."
            )


def wrap_frame(native: Any, name: str, otherwise: str) -> Frame:
    """
    Convert a frame of any supported engine to Narwhals; refuse other values and engines.

    `name` is the argument, and `otherwise` the end of the error's sentence "users is a list; …": what to pass instead.
    """
    package = type(native).__module__.partition(".")[0]
    if package in _DUCKDB and int(version("duckdb").partition(".")[0]) < 2:
        raise ParameterError(
            f"{name} is a frame of DuckDB {version('duckdb')}, which computes some figures differently. Update it with "
            "pip install 'duckdb>=2'."
        )
    if package in _DASK:
        raise ParameterError(
            f"{name} is a Dask frame, and Dask is not supported. Use DuckDB or Polars for data larger than memory, or "
            "Spark for data larger than one machine."
        )
    _refuse_twice(native, name)
    try:
        frame = cast("Frame", nw.from_native(native))
    except TypeError as error:
        raise ParameterError(f"{name} is {type_in_words(native)}; {otherwise}.") from error
    if frame.implementation.name not in SUPPORTED:
        raise ParameterError(
            f"{name} is a frame of {package}, which is not supported. Convert it to pandas, Polars or Arrow, or use "
            "DuckDB, Ibis or PySpark."
        )
    return frame


def to_native(frame: Frame, like: IntoFrameT, days: Mapping[str, Any] | None = None) -> IntoFrameT:
    """Convert a result to the kind of frame that the user passed, `like`; it remembers `days` (see `data_span`)."""
    result = _as_kind_of(like, frame)
    return cast("IntoFrameT", attach(result, DAYS, days) if days else result)


def _as_kind_of(like: Any, frame: Frame) -> Any:
    native: Any = frame.to_native()
    if not isinstance(like, pd.DataFrame):
        given = cast("Frame", nw.from_native(like))
        same = type(given) is type(frame) and given.implementation is frame.implementation
        return native if same else from_arrow(given, to_arrow(frame)).to_native()
    if isinstance(native, pd.DataFrame):
        return native.reset_index(drop=True)
    # A frame of pandas' own types can have an Arrow column, too: pandas has no type for a time of day.
    arrow = [isinstance(dtype, pd.ArrowDtype) for dtype in like.dtypes]
    return native.to_pandas(types_mapper=pd.ArrowDtype if sum(arrow) * 2 > len(arrow) else None)


def nan_to_null(frame: Frame) -> Frame:
    """Replace NaN by null. A figure is NaN if a number that it needs is missing; see `typed_column`."""
    # Whole rows of pandas keep their dtypes.
    if frame.implementation.is_pyarrow():
        return cast("Frame", cast("ArrowRows", arrow_rows(frame)).without_nan())
    figures = [name for name, dtype in frame.collect_schema().items() if dtype in (nw.Float64, nw.Float32)]
    replaced = [nw.when(~C(name).is_nan()).then(C(name)).alias(name) for name in figures]
    return frame.with_columns(*replaced) if replaced else frame


def require(frame: Frame, name: str, columns: Iterable[str]) -> None:
    """Refuse a frame that lacks a column, naming the loader that supplies it."""
    require_among(column_names(frame), name, list(columns))


def require_among(there: Collection[str], name: str, needed: list[str]) -> None:
    """Refuse a frame whose columns lack one; see `require`."""
    missing = [column for column in needed if column not in there]
    if missing:
        merged = [f"{column}_x" for column in missing if f"{column}_x" in there]
        renamed = f"A merge made {join_names(merged)} of it: merge without the columns that both frames have. "
        raise MissingColumnError(
            f"{name} has no column {', '.join(map(repr, missing))}; it has {', '.join(there) or 'none'}. "
            f"{renamed if merged else ''}{_supplier(name, missing)}"
        )


def select_columns(
    frame: Frame, name: str, columns: Iterable[str], optional: Iterable[str] = (), *, like: Any = None
) -> tuple[Frame, list[str]]:
    """
    Select and cast columns as `Reader.select` does; also return the names of the columns that were used.

    `like` is the frame as the user passed it, for messages.
    """
    there = column_names(frame)
    needed = dict.fromkeys(columns)
    require_among(there, name, [source_of(each, there) for each in needed])
    found = {each: source for each in (*needed, *optional) if (source := source_of(each, there)) in there}
    engine = "PANDAS" if isinstance(like, pd.DataFrame) else frame.implementation.name
    frame = arrow_rows(frame)
    schema = frame.collect_schema()
    selected: list[nw.Expr | str] = []
    for each, source in found.items():
        typed = typed_column(frame, name, source, schema[source], engine)
        if each == source:
            selected.append(each if typed is None else typed)
        else:
            value = C(source) if typed is None else typed
            selected.append(key_column(name, source, schema[source], value).alias(each))
    return frame.select(*selected), list(found.values())


def _engine(frame: Frame) -> str:
    kind = " (lazy)" if isinstance(frame, nw.LazyFrame) else ""
    return f"{frame.implementation.name.lower()}{kind}"


def _supplier(name: str, missing: list[str]) -> str:
    selects = selects_for(missing)
    loader = f"The loader {name}() supplies it" if name in IDS else "A loader supplies it"
    return f"{loader}, with select={selects}." if selects else f"{loader}."
