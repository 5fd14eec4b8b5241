"""Join the columns of each record's matter, client and user.

A joined column is named after the record that it belongs to: the matter's `opened` becomes `matter_opened`, its custom
fields `matter_cf_…`, and the user's `role` `user_role`. The columns of the matter's references keep their names
(`practice_area_label`, `responsible_name`). Columns that the frame already has stay unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import type_in_words
from billframes._shared.suggestions import check_choice
from billframes.errors import MissingColumnError, ParameterError
from billframes.loading.load_info import attach, attached

ENTITIES = ("matter", "client", "user")
_OWN_NAMES = ("practice_area_", "responsible_", "originator_", "ledes_", "client_")


def checked_entities(by: str | Iterable[str]) -> list[str]:
    """Return the entities to join as a list; raise `ParameterError` if one is unknown, or there are none."""
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise ParameterError(f"by={by!r} names nothing to join; it takes {', '.join(map(repr, ENTITIES))}.")
    return [check_choice(name, "by", ENTITIES) for name in names]


def kind_and_columns(frame: Any) -> tuple[str, Collection[str]]:
    """Return a frame's kind, as loaders take it, and its columns; raise `ParameterError` if it is not a frame."""
    if not hasattr(frame, "columns"):
        raise ParameterError(f"frame is {type_in_words(frame)}; pass a DataFrame of pandas, Polars or Arrow.")
    kind = type(frame).__module__.partition(".")[0]
    columns = getattr(frame, "column_names", None) or frame.columns
    return {"polars": "polars", "pyarrow": "arrow"}.get(kind, "pandas"), list(columns)


def join_details(frame: Any, details: Mapping[str, Any]) -> Any:
    """
    Join the frames in `details` to a frame of the same kind by `<entity>_id`; the rows and their order don't change.

    The details of a row are missing if its id is missing or unknown, so booleans become nullable.
    """
    # Imported here, because the first load of a process does not need it.
    import narwhals.stable.v2 as nw

    known = set(nw.from_native(frame, eager_only=True).columns)
    joinable = {entity: each for entity, each in details.items() if f"{entity}_id" in known}
    if not joinable:
        ids = ", ".join(f"{entity}_id" for entity in details)
        raise MissingColumnError(f"enrich needs one of the columns {ids}; the frame has {', '.join(sorted(known))}.")
    for entity, each in joinable.items():
        frame = _join(frame, entity, each)
    return frame


def _join(frame: Any, entity: str, details: Any) -> Any:
    import narwhals.stable.v2 as nw

    left = nw.from_native(frame, eager_only=True)
    right = nw.from_native(details, eager_only=True)
    if left.implementation != right.implementation:
        raise ParameterError(
            f"enrich: the frame is of {left.implementation.name}, {entity}s= is of {right.implementation.name}. "
            f"Convert one of them, or load {entity}s with to=."
        )
    key = f"{entity}_id"
    if right[key].is_duplicated().any():
        raise ParameterError(
            f"enrich: {entity}s= has an id twice, so the result would have more rows than the frame. Remove one of the "
            "two rows."
        )
    names = {column: _joined_name(entity, column) for column in right.columns if column != key}
    added = {old: new for old, new in names.items() if new not in left.columns}
    right = right.select(key, *(nw.col(old).alias(new) for old, new in added.items()))
    if isinstance(frame, pd.DataFrame):
        fields = details.attrs.get("custom_fields", {})
        custom = {added[name]: each for name, each in fields.items() if name in added}
        return _join_pandas(frame, right.to_native(), key, custom)
    if isinstance(frame, pa.Table):
        return _join_arrow(frame, right.to_native(), key)
    # A join need not keep the order of rows, so the result is sorted again.
    joined = left.with_row_index("_place").join(right, on=key, how="left").sort("_place")
    result = joined.select(*left.columns, *added.values()).to_native()
    info = attached(frame, "load")
    return attach(result, "load", info) if info else result


def _join_arrow(frame: pa.Table, details: pa.Table, key: str) -> pa.Table:
    # Arrow's own join does not accept columns of lists.
    places = pc.index_in(frame.column(key), value_set=details.column(key).combine_chunks())
    for name in details.drop_columns(key).column_names:
        frame = frame.append_column(name, details.column(name).take(places))
    return frame


def _join_pandas(frame: pd.DataFrame, details: pd.DataFrame, key: str, custom: dict[str, Any]) -> pd.DataFrame:
    flags = details.select_dtypes("bool").columns
    places = pd.Index(details[key]).get_indexer(frame[key])
    joined = details.drop(columns=key).astype(dict.fromkeys(flags, "boolean")).reset_index(drop=True).reindex(places)
    joined.index = frame.index
    result = pd.concat([frame, joined], axis="columns")
    result.attrs = dict(frame.attrs)
    if custom:
        attach(result, "custom_fields", {**frame.attrs.get("custom_fields", {}), **custom})
    return result


def _joined_name(entity: str, column: str) -> str:
    keeps = column.startswith((f"{entity}_", *_OWN_NAMES))
    return column if keeps else f"{entity}_{column}"
