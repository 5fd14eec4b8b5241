"""Compare versions of a mirror: which cells changed, by how much balances fell, and which invoices became final late.

Two versions of a table share the files that no change touched, so only the other files are compared. Several changes
between two refreshes show as their sum, and a record that was created and deleted in between does not show.

The API shows no payments. A mirror that was refreshed before and after a payment shows that the balance fell. A fall is
not always money: the invoice's amount may have been reduced, or a credit of the same client used. These two parts are
shown beside the fall, and only the rest is called an implied receipt.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import pyarrow as pa

from billframes.errors import MirrorError
from billframes.mirror.balances import CENT
from billframes.mirror.catalogue import Version, if_sandbox
from billframes.mirror.storage import Storage
from billframes.mirror.tables import POSITION, TABLES, Table
from billframes.periods import Period

INSTANT = "datetime64[us, UTC]"
_AMOUNTS = ("fall_amount", "adjusted_amount", "credited_amount", "implied_receipt_amount")
_RECEIPTS = dict.fromkeys(("invoice_id", "invoice_number", "client_id", "client_name"), "str")
_RECEIPTS |= dict.fromkeys(("after", "until"), INSTANT)
_RECEIPTS |= dict.fromkeys(("balance_before", "balance_after", *_AMOUNTS), "float64")
_BECAME_FINAL = {"invoice_id": "str", "final_since": INSTANT}

Rows = list[dict[str, Any]]


def sorted_frame(rows: Rows, dtypes: Mapping[str, str], order: Sequence[str]) -> pd.DataFrame:
    """Return a frame with these columns, also without rows."""
    frame = pd.DataFrame(rows, columns=list(dtypes)).astype(dict(dtypes))
    return frame.sort_values(list(order), ignore_index=True, kind="stable")


def _rows_of_changed_files(storage: Storage, table: Table, before: Version, after: Version) -> list[pa.Table]:
    """Return the rows of both versions in files that the other version lacks; all rows that differ are among them."""
    versions = before.tables[table.name], after.tables[table.name]
    if versions[0] == versions[1]:
        return [storage.schema(table.name, versions[0]).empty_table()] * 2
    files = [storage.data_files(table.name, each) for each in versions]
    shared = {*files[0]} & {*files[1]}
    return [
        storage.dataset(table.name, version, data_files=[file for file in own if file not in shared]).to_table()
        for version, own in zip(versions, files, strict=True)
    ]


def cells(storage: Storage, table: Table, before: Version, after: Version) -> Iterator[dict[str, Any]]:
    """Yield each changed cell, and each added or removed row."""
    old_rows, new_rows = (
        {" ".join(str(row[name]) for name in table.key): row for row in rows.to_pylist()}
        for rows in _rows_of_changed_files(storage, table, before, after)
    )
    for id_ in old_rows.keys() - new_rows.keys():
        yield {"id": id_, "change": "removed"}
    for id_, row in new_rows.items():
        if id_ not in old_rows:
            yield {"id": id_, "change": "added"}
            continue
        for name in dict.fromkeys([*old_rows[id_], *row]):
            old, new = old_rows[id_].get(name), row.get(name)
            if old != new and name != POSITION and name not in table.shown:
                yield {"id": id_, "change": "changed", "column": name, "before": _text(old), "after": _text(new)}


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def versions_to_compare(versions: Sequence[Version], span: Period, place: str) -> Sequence[Version]:
    """Return the versions of a period, after the last one before it; raise `MirrorError` for less than two."""
    until = [each for each in versions if span.end is None or each.time.date() <= span.end]
    earlier = sum(span.start is not None and each.time.date() < span.start for each in until)
    chosen = until[max(earlier - 1, 0) :]
    if len(chosen) < 2:
        advice = if_sandbox(versions[-1].firm) if versions else ""
        raise MirrorError(
            f"The mirror {place} has no two versions to compare for this period; it has {len(chosen)}. "
            f"Receipts are found by comparing a refresh before and a refresh after them.{advice}"
        )
    return chosen


def falls(
    storage: Storage, versions: Sequence[Version], client_names: Mapping[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of `implied_receipts`, and since when invoices are final that were drafts after their date."""
    fallen: Rows = []
    late: Rows = []
    for before, after in pairwise(versions):
        old, new = _rows_of_changed_files(storage, TABLES["invoices"], before, after)
        earlier = {row["invoice_id"]: row for row in old.to_pylist() if row["invoice_state"] == "final"}
        later = [row for row in new.to_pylist() if row["invoice_state"] == "final"]
        fallen += _between(earlier, later, before.time, after.time)
        late += [
            {"invoice_id": row["invoice_id"], "final_since": after.time}
            for row in later
            if row["invoice_id"] not in earlier and row["invoice_date"] <= before.time.date()
        ]
    rows = [{**row, "client_name": client_names.get(row["client_id"])} for row in fallen]
    finals = sorted_frame(late, _BECAME_FINAL, ["final_since"]).drop_duplicates("invoice_id", keep="last")
    return sorted_frame(rows, _RECEIPTS, ["until", "invoice_number"]), finals


def _between(
    earlier: Mapping[str, dict[str, Any]], later: Rows, before: dt.datetime, after: dt.datetime
) -> Iterator[dict[str, Any]]:
    credits_used = _credits_used(earlier, later)
    for row in sorted(later, key=lambda each: (each["invoice_date"], each["invoice_number"])):
        known = earlier.get(row["invoice_id"]) or {"amount": row["amount"], "balance": row["amount"]}
        fall = known["balance"] - row["balance"]
        if abs(fall) < CENT or row["amount"] < 0:
            continue
        adjusted = known["amount"] - row["amount"]
        unexplained = fall - adjusted
        credited = min(max(unexplained, 0.0), credits_used.get(row["client_id"], 0.0))
        credits_used[row["client_id"]] = credits_used.get(row["client_id"], 0.0) - credited
        yield {
            "invoice_id": row["invoice_id"],
            "invoice_number": row["invoice_number"],
            "client_id": row["client_id"],
            "after": before,
            "until": after,
            "balance_before": known["balance"],
            "balance_after": row["balance"],
            "fall_amount": fall,
            "adjusted_amount": adjusted,
            "credited_amount": credited,
            "implied_receipt_amount": unexplained - credited,
        }


def _credits_used(earlier: Mapping[str, dict[str, Any]], later: Rows) -> dict[str, float]:
    """Return by how much each client's credits (negative and overpaid invoices) were used, that is moved towards 0."""
    credits_used: dict[str, float] = {}
    for row in later:
        known = earlier.get(row["invoice_id"]) or {"balance": row["amount"]}
        owed = min(known["balance"], 0.0), min(row["balance"], 0.0)
        if owed[1] > owed[0]:
            credits_used[row["client_id"]] = credits_used.get(row["client_id"], 0.0) + owed[1] - owed[0]
    return credits_used
