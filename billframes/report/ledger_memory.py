"""Payments of earlier months, from the reports of the firm's books that a mirror has kept.

The report that was read last counts for its days. Earlier reports fill the days before it, and a month whose amounts a
later report changes is noted.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pandas as pd

from billframes._shared.notes import Notes
from billframes.analysis.rules.ledger import RESTATED
from billframes.ledger.frame import frame_of
from billframes.mirror.ledgers import LedgerTable, period_of, restated
from billframes.mirror.storage import Storage

_ALIKE = ("report", "company", "basis", "payments")


def kept_reports(client: object) -> list[pd.DataFrame]:
    """Return the reports that a mirror has kept, in the order in which they were read; kept lists pass it on."""
    storage = getattr(client, "_storage", None)
    return LedgerTable(storage).read(frame_of([], {})) if isinstance(storage, Storage) else []


def kept_open_items(kept: Sequence[pd.DataFrame], day: dt.date) -> list[pd.DataFrame]:
    """Return the report of what is open on a day that was read last; empty if none was kept."""
    return [each for each in kept if _about(each, "open_items") and _about(each, "as_of") == day.isoformat()][-1:]


def join_kept(notes: Notes, ledger: pd.DataFrame | None, kept: Sequence[pd.DataFrame]) -> pd.DataFrame | None:
    """Add the payments of earlier reports of the same kind to those of a report, back to the first day without one."""
    earlier = [each for each in kept if each.attrs["ledger"]["payments"]]
    if ledger is None:
        if not earlier:
            return None
        ledger = earlier.pop()
    alike = [each for each in earlier if all(_about(each, name) == _about(ledger, name) for name in _ALIKE)]
    for each in reversed(alike):
        for found in restated(ledger, each):
            notes.add(
                RESTATED,
                found.amount - found.earlier_amount,
                "collected",
                about=found.month,
                month=found.month,
                file=found.file,
                now=found.amount,
                earlier=found.earlier_file,
                then=found.earlier_amount,
            )
        ledger = _joined(ledger, each)
    return ledger


def _about(ledger: pd.DataFrame, name: str) -> object:
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
