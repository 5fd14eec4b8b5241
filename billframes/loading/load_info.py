"""Record with a frame how it was loaded.

A pandas frame has this information in `attrs["load"]`, an Arrow table in the schema's metadata. A Polars frame has no
place for it, so it is kept in this module as long as the frame exists; frames derived from it don't have it.
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

from billframes.periods import local_day

__all__ = ["LoadInfo", "as_whole", "attach_load_info", "load_attrs", "load_day", "load_info"]

_METADATA = b"billframes.load"
_polars_info: dict[int, tuple[weakref.ref[Any], dict[str, Any]]] = {}


@dataclass(frozen=True, slots=True)
class LoadInfo:
    """
    How a frame was loaded.

    Parameters
    ----------
    rows : int, optional
        Number of rows loaded; a frame with fewer rows was cut afterwards.
    start, end : date, optional
        The requested period, both ends inclusive; None is open.
    arguments : mapping of str to Any
        The loader's other arguments that decide which records are in the frame, such as `user_id` or `limit`.
    time : datetime, optional
        The server's time when the load began.
    server : str, optional
        The server's address.
    """

    rows: int | None = None
    start: dt.date | None = None
    end: dt.date | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    time: dt.datetime | None = None
    server: str | None = None


def attach_load_info(frame: Any, info: Mapping[str, Any]) -> Any:
    """
    Attach to a frame how it was loaded, and return it.

    Parameters
    ----------
    frame : DataFrame
        pandas, Polars or Arrow.
    info : mapping
        The content of `attrs["load"]`, as JSON values.
    """
    if isinstance(frame, pd.DataFrame):
        frame.attrs["load"] = dict(info)
        return frame
    if isinstance(frame, pa.Table):
        return frame.replace_schema_metadata({**(frame.schema.metadata or {}), _METADATA: json.dumps(dict(info))})
    key = id(frame)
    _polars_info[key] = (weakref.ref(frame, lambda _: _polars_info.pop(key, None)), dict(info))
    return frame


def load_info(frame: Any) -> LoadInfo | None:
    """Return how a frame of any engine was loaded; None if that is unknown."""
    info = load_attrs(frame)
    if not isinstance(info, Mapping):
        return None
    period, time = info.get("period") or {}, info.get("time")
    return LoadInfo(
        info.get("rows"),
        _date(period.get("start")),
        _date(period.get("end")),
        dict(info.get("arguments") or {}),
        dt.datetime.fromisoformat(str(time)) if time else None,
        info.get("server"),
    )


def load_day(frame: Any, time_zone: str) -> dt.date | None:
    """Return the day on which a frame of any engine was loaded, in a time zone; None if that is unknown."""
    info = load_info(frame)
    return local_day(info.time, time_zone) if info is not None and info.time is not None else None


def as_whole(frame: pd.DataFrame) -> pd.DataFrame:
    """
    Return a pandas frame that is treated as a whole load, for code that removes rows and accounts for them itself.

    The time of the load is kept.
    """
    info = {name: each for name, each in (frame.attrs.get("load") or {}).items() if name in {"resource", "time"}}
    if not info:
        return frame
    whole = frame.copy(deep=False)
    whole.attrs = {**frame.attrs, "load": {**info, "rows": len(frame)}}
    return whole


def load_attrs(frame: Any) -> Any:
    """Return the information that `attach_load_info` attached to a frame, as JSON values; None if there is none."""
    if isinstance(frame, pa.Table):
        metadata = (frame.schema.metadata or {}).get(_METADATA)
        return json.loads(metadata) if metadata else None
    if isinstance(attrs := getattr(frame, "attrs", None), Mapping):
        return attrs.get("load")
    reference, info = _polars_info.get(id(frame), (None, None))
    return info if reference is not None and reference() is frame else None


def _date(text: Any) -> dt.date | None:
    return dt.date.fromisoformat(text) if text else None
