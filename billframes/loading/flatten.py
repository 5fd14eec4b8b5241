"""Turn columns of lists into text, for methods and files that can't hold lists."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from billframes.loading.enrich import kind_and_columns
from billframes.loading.load_info import attach, attached

FrameT = TypeVar("FrameT")
_LISTS = (list, tuple, np.ndarray)


def flatten(frame: FrameT, separator: str = "; ") -> FrameT:
    """
    Turn each column of lists, such as `originator_names`, into text.

    Some columns of matters have lists, because a matter can have several originators and code sets. pandas can't
    compare lists, so `drop_duplicates`, `nunique`, `groupby` and `to_sql` fail on them.

    Parameters
    ----------
    frame : DataFrame
        Of pandas, Polars or Arrow. It is not changed.
    separator : str
        Stands between the values of a list.

    Returns
    -------
    DataFrame
        Of the same kind, with the same rows and columns. A list becomes text, such as "Ada Cole; Ben Ito". A list that
        is missing or has no value becomes a missing text. Other columns are unchanged.

    Raises
    ------
    ParameterError
        It is not a frame of pandas, Polars or Arrow.

    Examples
    --------
    >>> matters = pd.DataFrame({"name": ["Will", "Lease"], "originator_names": [["Ada Cole", "Ben Ito"], []]})
    >>> bf.flatten(matters)
        name   originator_names
    0   Will  Ada Cole; Ben Ito
    1  Lease                NaN
    """
    kind, _ = kind_and_columns(frame)
    of_kind: Any = {"pandas": _flatten_pandas, "arrow": _flatten_arrow}.get(kind, _flatten_polars)
    result: FrameT = of_kind(frame, separator)
    info = attached(frame, "load")
    return attach(result, "load", info) if info else result


def _flatten_pandas(frame: pd.DataFrame, separator: str) -> pd.DataFrame:
    flat = frame.copy(deep=False)
    for place, (_, column) in enumerate(frame.items()):
        values = column.tolist() if column.dtype == object or isinstance(column.dtype, pd.ArrowDtype) else []
        if any(isinstance(each, _LISTS) for each in values):
            flat.isetitem(place, pd.array(_texts(values, separator), "str"))
    return flat


def _flatten_arrow(frame: pa.Table, separator: str) -> pa.Table:
    for place, field in enumerate(frame.schema):
        if pa.types.is_list(field.type) or pa.types.is_large_list(field.type):
            texts = pa.array(_texts(frame.column(place).to_pylist(), separator), pa.string())
            frame = frame.set_column(place, field.name, texts)
    return frame


def _flatten_polars(frame: Any, separator: str) -> Any:
    import polars as pl

    lists = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    return frame.with_columns([pl.Series(each, _texts(frame[each].to_list(), separator), pl.String) for each in lists])


def _texts(lists: list[Any], separator: str) -> list[str | None]:
    return [
        separator.join(str(value) for value in each if value is not None) or None if isinstance(each, _LISTS) else None
        for each in lists
    ]
