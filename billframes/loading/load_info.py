"""Record with a frame how it was loaded, and with the result of an analysis its days and its notes.

A pandas frame has this information in `attrs`, an Arrow table in the schema's metadata. Frames of other engines have no
place for it, so it is kept in this module as long as the frame exists; frames derived from it don't have it.
"""

from __future__ import annotations

import datetime as dt
import json
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pandas as pd
import pyarrow as pa

from billframes._shared.notes import FACTS, NOTES, Notes
from billframes.periods import local_day

ANALYSIS = "analysis"
"""The name under which a pandas result remembers the analysis that it is of."""

_kept: dict[tuple[int, str], tuple[weakref.ref[Any], Any]] = {}


class Attribute(dict[str, Any]):
    """A value in `attrs`, which pandas copies in each operation; no function of ours changes what is inside of it."""

    def __deepcopy__(self, _memo: object) -> Attribute:
        return Attribute(self)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


@dataclass(frozen=True, slots=True)
class LoadInfo:
    """
    How a frame was loaded.

    A frame with fewer rows than `rows` was cut afterwards. The requested period includes both ends; None is open.
    `arguments` are the others that decide which records are in the frame. `time` is the server's when the load began.
    `first_day` is the first day of the data that the rows were selected from, if code that removes rows noted it.
    """

    rows: int | None = None
    start: dt.date | None = None
    end: dt.date | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    time: dt.datetime | None = None
    server: str | None = None
    first_day: dt.date | None = None


def attach(frame: Any, name: str, info: Mapping[str, Any] | list[Any]) -> Any:
    """Attach JSON values to a frame of any engine under a name, and return the frame."""
    info = info if isinstance(info, list) else Attribute(info)
    if isinstance(frame, pd.DataFrame):
        frame.attrs[name] = info
        return frame
    if isinstance(frame, pa.Table):
        metadata = {**(frame.schema.metadata or {}), f"billframes.{name}".encode(): json.dumps(info)}
        return frame.replace_schema_metadata(metadata)
    key = id(frame), name
    try:
        _kept[key] = (weakref.ref(frame, lambda _: _kept.pop(key, None)), info)
    except TypeError:
        # This engine's frames can't be kept track of, so they remember nothing.
        _kept.pop(key, None)
    return frame


def attached(frame: Any, name: str) -> Any:
    """Return what `attach` attached to a frame under a name; None if there is nothing."""
    if isinstance(frame, pa.Table):
        metadata = (frame.schema.metadata or {}).get(f"billframes.{name}".encode())
        return json.loads(metadata) if metadata else None
    if isinstance(attrs := getattr(frame, "attrs", None), Mapping):
        return attrs.get(name)
    reference, info = _kept.get((id(frame), name), (None, None))
    return info if reference is not None and reference() is frame else None


def attach_notes(result: Any, notes: Notes) -> Any:
    """Attach the notes and the facts of a call to its result, and return the result."""
    result = attach(result, NOTES, notes.data())
    return attach(result, FACTS, facts) if (facts := notes.facts()) else result


def notes(result: Any) -> list[dict[str, Any]]:
    """
    Return the notes of a result: what was seen in its frames that can make a figure wrong or missing, and its facts.

    Facts are not warnings: "from_part" says which part of the rows that were loaded the result is from, and
    "unknown_load" which frames don't remember how they were loaded. A pandas result has both in `attrs["notes"]` and
    `attrs["facts"]`. Frames of other engines have no place for it.

    Parameters
    ----------
    result : frame
        The result of an analysis, of any engine. Frames derived from it have no notes.

    Returns
    -------
    list of dict
        One per cause: `rule` (its name), `subject` (the analysis or frame), `about` (such as a column), `amount` with
        its `unit`, `remedy` (what to do), `text` (the whole warning) and `plain` (the same for readers of a page).

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01"]), "user_id": ["u1"], "user_name": ["Ada"], "matter_id": ["m1"],
    ...     "matter_type": ["hourly"], "billing_type": ["gift"], "hours": [2.0],
    ... })
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     result = bf.analysis.utilization(entries, start="2026-10", roster="active")
    >>> [(note["rule"], note["amount"], note["unit"]) for note in bf.notes(result)]
    [('unknown_values', 1.0, 'rows'), ('unknown_load', 1.0, 'frames')]
    """
    return [*(attached(result, NOTES) or ()), *(attached(result, FACTS) or ())]


def load_info(frame: Any) -> LoadInfo | None:
    """Return how a frame of any engine was loaded; None if that is unknown."""
    info = attached(frame, "load")
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
        _date(info.get("first_day")),
    )


def load_day(frame: Any, time_zone: str) -> dt.date | None:
    """Return the day on which a frame of any engine was loaded, in a time zone; None if that is unknown."""
    info = load_info(frame)
    return local_day(info.time, time_zone) if info is not None and info.time is not None else None


def as_whole(frame: pd.DataFrame, first_day: dt.date | None = None) -> pd.DataFrame:
    """
    Return a pandas frame that is treated as a whole load, for code that removes rows and accounts for them itself.

    The time of the load is kept. `first_day` is the first day of the data before rows were removed.
    """
    info = {name: each for name, each in (frame.attrs.get("load") or {}).items() if name in {"resource", "time"}}
    if not info:
        return frame
    whole = frame.copy(deep=False)
    return cast(
        "pd.DataFrame",
        attach(whole, "load", {**info, "rows": len(frame), "first_day": first_day and first_day.isoformat()}),
    )


def _date(text: Any) -> dt.date | None:
    return dt.date.fromisoformat(text) if text else None
