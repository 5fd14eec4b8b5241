"""Compare the frames of a call with their loads: warnings of what no filter does, and lines of facts for the rest.

A frame with fewer rows than were loaded was filtered, which is right as often as wrong: the result says which part it
is from, and nobody is warned. A frame that remembers no load, such as one from a CSV file, is named, and no more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes._shared.format import long_date
from billframes._shared.names import join_names
from billframes._shared.notes import Note, Rule
from billframes.analysis.declare.columns import IDS, ITEMS
from billframes.loading.load_info import attached, load_info
from billframes.loading.stamp import Stamp, stamp_of_load

# Loads of one sitting can lie on both sides of midnight.
_A_SITTING = dt.timedelta(hours=12)
_FORGET = "If the change is meant, pass `bf.forget(frame)`."

CHANGED = Rule(name="changed_since_load", seen="{changes}", remedy=_FORGET, unit="rows")
MORE_ROWS = Rule(
    name="more_rows",
    seen="{subject} has {now} rows; {then} were loaded.",
    causes="A merge or explode may have repeated rows.",
    remedy=f"Pass the frame as it was loaded. {_FORGET}",
    unit="rows",
)
OTHER_ACCOUNT = Rule(
    name="other_account",
    seen="{loads}: the frames are of different firms, so their records don't belong together.",
    remedy="Load all frames with one client.",
    unit="frames",
)
OTHER_DAY = Rule(
    name="other_day",
    seen="{loads}: what changed between these days is in some frames only.",
    remedy="Load all frames on one day, or use bf.book.",
    page="Load the data again.",
    unit="frames",
)
FROM_PART = Rule(
    name="from_part",
    seen="From {n} of the {loaded} {records} that were loaded{money}.",
    unit="rows",
    is_fact=True,
)
UNKNOWN_LOAD = Rule(
    name="unknown_load", seen="{frames}: not known how {n:it was|they were} loaded.", unit="frames", is_fact=True
)


def compare_with_load(name: str, native: Any) -> list[Note]:
    """Return warnings and facts of a frame of pandas or Arrow; none of one that remembers no load."""
    info = load_info(native)
    if info is None or info.rows is None or not isinstance(native, pd.DataFrame | pa.Table):
        return []
    then, rows = stamp_of_load(native), len(native)
    if rows == info.rows:
        changes = "" if then is None else " ".join(_changes(name, Stamp.of(native), then))
        return [Note(CHANGED, name, float(rows), name, {"changes": changes})] if changes else []
    if rows > info.rows:
        # Of rows with one id, the checks of each frame tell.
        return (
            []
            if _repeats_ids(name, native)
            else [Note(MORE_ROWS, name, float(rows - info.rows), name, {"now": rows, "then": info.rows})]
        )
    money = "" if then is None else _part(Stamp.of(native), then)
    words = {"loaded": info.rows, "records": name.replace("_", " "), "money": money}
    return [Note(FROM_PART, name, float(rows), name, words)]


def compare_loads(natives: Mapping[str, Any]) -> Iterator[Note]:
    """Yield notes of frames of different accounts or days, and one of the frames that remember no load."""
    natives = {name: native for name, native in natives.items() if name in IDS}
    infos = {name: info for name, native in natives.items() if (info := load_info(native)) is not None}
    servers = {name: info.server for name, info in infos.items() if info.server}
    if len({*servers.values()}) > 1:
        yield Note(OTHER_ACCOUNT, "", float(len(servers)), "", {"loads": _loads(servers)})
    times = {name: info.time for name, info in infos.items() if info.time and name in (*ITEMS, "invoices")}
    days = {name: long_date(time.date()) for name, time in times.items()}
    if len({*days.values()}) > 1 and max(times.values()) - min(times.values()) > _A_SITTING:
        yield Note(OTHER_DAY, "", float(len(days)), "", {"loads": _loads(days)})
    unknown = [name for name, native in natives.items() if attached(native, "load") is None and _has_rows(native)]
    if unknown:
        yield Note(UNKNOWN_LOAD, "", float(len(unknown)), "", {"frames": join_names([f"`{name}`" for name in unknown])})


def _changes(name: str, now: Stamp, then: Stamp) -> Iterator[str]:
    for column, before in then.totals.items():
        total = now.totals.get(column)
        if total is not None and not total.is_like(before):
            yield f"`{column}` of {name} adds up to {total.sum:,.2f}; {before.sum:,.2f} when it was loaded."
        elif total is not None and total.missing != before.missing:
            # 0 in place of an unknown number changes no sum.
            now_in, then_in = (f"{each:,}" for each in (total.missing, before.missing))
            yield f"`{column}` of {name} is missing in {now_in} rows; in {then_in} when it was loaded."
    if now.days and then.days and now.days != then.days:
        spans = [" to ".join(map(long_date, days)) for days in (now.days, then.days)]
        yield f"The dates of {name} run from {spans[0]}; {spans[1]} when it was loaded."


def _part(now: Stamp, then: Stamp) -> str:
    """Return the amount of the part and of the whole, in brackets."""
    part, whole = now.totals.get("amount"), then.totals.get("amount")
    known = part is not None and whole is not None and whole.missing < then.rows
    return f" ({part.sum:,.2f} of {whole.sum:,.2f})" if known and part and whole else ""


def _loads(of: Mapping[str, str]) -> str:
    """Return which frames are of which day or account, such as "expenses and invoices of 31 October 2026"."""
    groups = [(each, [name for name, own in of.items() if own == each]) for each in dict.fromkeys(of.values())]
    return ", ".join(f"{join_names(names)} {'is' if len(names) == 1 else 'are'} of {each}" for each, names in groups)


def _repeats_ids(name: str, native: pd.DataFrame | pa.Table) -> bool:
    frame, id_ = nw.from_native(native, eager_only=True), IDS.get(name, "")
    return id_ in frame.columns and bool(frame[id_].is_duplicated().any())


def _has_rows(native: Any) -> bool:
    frame = nw.from_native(native)
    return len(frame) > 0 if isinstance(frame, nw.DataFrame) else True
