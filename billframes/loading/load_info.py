"""Keep with a frame how it was loaded.

pandas keeps it in `attrs["load"]`, Arrow in the schema's metadata. A Polars frame has no place for it, so it is kept
beside the frame for as long as that very frame lives; frames made from it do not have it.
"""

from __future__ import annotations

import datetime as dt
import json
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa

__all__ = ["LoadInfo", "as_whole", "attach_load_info", "load_info", "told_of"]

_METADATA = b"billframes.load"
_polars: dict[int, tuple[weakref.ref[Any], dict[str, Any]]] = {}


@dataclass(frozen=True, slots=True)
class LoadInfo:
    """
    How a frame was loaded.

    Parameters
    ----------
    rows : int, optional
        Rows as loaded; a frame with fewer was cut afterwards.
    start, end : date, optional
        The requested period, both ends inclusive; None is open.
    arguments : mapping of str to Any
        The loader's other arguments that decide which records are in the frame, such as `user_id` or `limit`.
    time : datetime, optional
        The server's time when the load began.
    server : str, optional
        The address of the server that it came from.
    """

    rows: int | None = None
    start: dt.date | None = None
    end: dt.date | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    time: dt.datetime | None = None
    server: str | None = None


def attach_load_info(frame: Any, told: Mapping[str, Any]) -> Any:
    """
    Attach to a frame how it was loaded, and return it.

    Parameters
    ----------
    frame : DataFrame
        pandas, Polars or Arrow.
    told : mapping
        The content of `attrs["load"]`, with values that JSON has.
    """
    if isinstance(frame, pd.DataFrame):
        frame.attrs["load"] = dict(told)
        return frame
    if isinstance(frame, pa.Table):
        return frame.replace_schema_metadata({**(frame.schema.metadata or {}), _METADATA: json.dumps(dict(told))})
    key = id(frame)
    _polars[key] = (weakref.ref(frame, lambda _: _polars.pop(key, None)), dict(told))
    return frame


def load_info(frame: Any) -> LoadInfo | None:
    """Return how a frame of any engine was loaded; None if that is unknown."""
    told = told_of(frame)
    if not isinstance(told, Mapping):
        return None
    period, time = told.get("period") or {}, told.get("time")
    return LoadInfo(
        told.get("rows"),
        _date(period.get("start")),
        _date(period.get("end")),
        dict(told.get("arguments") or {}),
        dt.datetime.fromisoformat(str(time)) if time else None,
        told.get("server"),
    )


def as_whole(frame: pd.DataFrame) -> pd.DataFrame:
    """
    Return a pandas frame that counts as a whole load: for code that cuts frames and knows what it leaves out.

    The time of the load stays.
    """
    told = {name: each for name, each in (frame.attrs.get("load") or {}).items() if name in {"resource", "time"}}
    if not told:
        return frame
    whole = frame.copy(deep=False)
    whole.attrs = {**frame.attrs, "load": {**told, "rows": len(frame)}}
    return whole


def told_of(frame: Any) -> Any:
    """Return what `attach_load_info` attached to a frame; None if nothing."""
    if isinstance(frame, pa.Table):
        metadata = (frame.schema.metadata or {}).get(_METADATA)
        return json.loads(metadata) if metadata else None
    if isinstance(attrs := getattr(frame, "attrs", None), Mapping):
        return attrs.get("load")
    kept, told = _polars.get(id(frame), (None, None))
    return told if kept is not None and kept() is frame else None


def _date(text: Any) -> dt.date | None:
    return dt.date.fromisoformat(text) if text else None
