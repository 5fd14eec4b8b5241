"""Payments of earlier months, from the reports of the firm's books that a mirror has kept.

The report that was read last counts for its days. Earlier reports fill the days before it, and a month whose amounts a
later report changes is noted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from billframes._shared.messages import warn
from billframes._shared.notes import Notes
from billframes.errors import BillframesWarning, MirrorError
from billframes.ledger.frame import frame_of
from billframes.ledger.rules import RESTATED
from billframes.periods import Period

_ALIKE = ("report", "company", "basis", "payments")


def kept_reports(client: object) -> list[pd.DataFrame]:
    """Return the reports that a mirror has kept, in the order in which they were read; kept lists pass it on."""
    table = getattr(client, "_ledgers", None)
    return [] if table is None else table.read(frame_of([], {}))


def keep_reports(client: object, reports: Iterable[pd.DataFrame]) -> None:
    """Keep reports of the books if the client is a mirror; if it can't be written, only warn."""
    table = getattr(client, "_ledgers", None)
    if table is None:
        return
    try:
        for each in reports:
            table.add(each)
    except MirrorError as error:
        warn(f"The reports of the books were read, but the mirror has not kept them. {error}", BillframesWarning)


def kept_open_items(kept: Sequence[pd.DataFrame], day: dt.date) -> list[pd.DataFrame]:
    """Return the report of what is open on a day that was read last; empty if none was kept."""
    return [each for each in kept if _about(each, "open_items") and _about(each, "as_of") == day.isoformat()][-1:]


def join_kept(notes: Notes, ledger: pd.DataFrame | None, kept: Sequence[pd.DataFrame]) -> pd.DataFrame | None:
    """Add the payments of earlier reports of the same kind to those of a report, back to the first day without one."""
    earlier = [each for each in kept if _about(each, "payments")]
    if ledger is None:
        if not earlier:
            return None
        ledger = earlier.pop()
    alike = [each for each in earlier if all(_about(each, name) == _about(ledger, name) for name in _ALIKE)]
    for each in reversed(alike):
        for found in restated(ledger, each):
            notes.add(RESTATED, found["now"] - found["then"], "fees_collected", about=found["month"], **found)
        ledger = _joined(ledger, each)
    return ledger


def restated(ledger: pd.DataFrame, earlier: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the months that two reports have in full, with other amounts: the files, the month, both amounts."""
    (first, last), (start, end) = period_of(ledger), period_of(earlier)
    sums = [each.groupby(each["date"].dt.strftime("%Y-%m"))["amount"].sum() for each in (ledger, earlier)]
    for month in sorted({*sums[0].index, *sums[1].index}):
        days = pd.Period(month, "M")
        begin, until = days.start_time.date(), days.end_time.date()
        if max(first, start) <= begin and until <= min(last, end):
            now, then = (float(each.get(month, 0.0)) for each in sums)
            if abs(now - then) >= 0.005:
                files = {"file": _about(ledger, "file"), "earlier": _about(earlier, "file")}
                yield files | {"month": month, "now": now, "then": then}


def period_of(ledger: pd.DataFrame) -> tuple[dt.date, dt.date]:
    """Return the first and last day of a report; those of its rows if it does not say them; none without rows."""
    stated, days = Period.stated(ledger.attrs["ledger"]), ledger["date"].dt.date
    return stated.start or min(days, default=dt.date.max), stated.end or max(days, default=dt.date.min)


def _about(ledger: pd.DataFrame, name: str) -> Any:
    return ledger.attrs["ledger"][name]


def _joined(ledger: pd.DataFrame, earlier: pd.DataFrame) -> pd.DataFrame:
    """Add the rows of an earlier report on days before and after a report, if no day between them is unknown."""
    (first, last), (start, end) = period_of(ledger), period_of(earlier)
    day = dt.timedelta(days=1)
    if end < first - day or start > last + day or (first <= start and end <= last):
        return ledger
    more = earlier[(earlier["date"] < pd.Timestamp(first)) | (earlier["date"] > pd.Timestamp(last))]
    joined = pd.concat([more, ledger]).sort_values("date", kind="stable", ignore_index=True)
    joined["kind"] = joined["kind"].astype(ledger["kind"].dtype)
    about = ledger.attrs["ledger"]
    joined.attrs = {
        "ledger": {
            **about,
            "file": f"{about['file']}, {_about(earlier, 'file')}",
            "start": min(first, start).isoformat(),
            "end": max(last, end).isoformat(),
        }
    }
    return joined
