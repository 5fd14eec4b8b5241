"""Compare versions of the mirror: which rows and cells changed and when, and what invoices' balances fell by.

Two versions of a table share the files that no change touched, so only the other files are compared. History knows what
each refresh saw: of several changes between two refreshes it shows the sum, and what was created and deleted in between
never was.

The API shows no payments. A mirror that was refreshed before and after one shows that a balance fell. That is not
always money: an invoice's amount may have been reduced, or a credit of the same client used. What these explain is
shown beside the fall, and only the rest is called an implied receipt.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from billframes.errors import MirrorError
from billframes.mirror.catalogue import Catalogue, Version
from billframes.mirror.storage import Storage
from billframes.mirror.tables import POSITION, TABLES, Table
from billframes.periods import DateLike, resolve

if TYPE_CHECKING:
    from billframes.mirror.mirror import Mirror

__all__ = ["changes", "history", "receipts", "summary"]

_CHANGES = {
    "resource": "str",
    "id": "str",
    "change": "str",
    "column": "str",
    "before": "str",
    "after": "str",
    "when": "datetime64[us, UTC]",
    "version": "int64",
}
_HISTORY = {
    "version": "int64",
    "time": "datetime64[us, UTC]",
    "tags": "str",
    "added": "int64",
    "updated": "int64",
    "removed": "int64",
    "requests": "int64",
    "seconds": "float64",
}
_RECEIPTS = {
    "invoice_id": "str",
    "invoice_number": "str",
    "client_id": "str",
    "client_name": "str",
    "after": "datetime64[us, UTC]",
    "until": "datetime64[us, UTC]",
    "balance_before": "float64",
    "balance_after": "float64",
    "fall_amount": "float64",
    "adjusted_amount": "float64",
    "credited_amount": "float64",
    "implied_receipt_amount": "float64",
}
# Balances that differ by less are equal.
_CENT = 0.005


def history(versions: Sequence[Version]) -> pd.DataFrame:
    """Return a row a version, oldest first."""
    rows = [
        {
            "version": each.number,
            "time": each.time,
            "tags": ", ".join(each.tags),
            **{name: sum(row[name] for row in each.summary) for name in list(_HISTORY)[3:]},
        }
        for each in versions
    ]
    return _frame(rows, _HISTORY)


def summary(version: Version) -> pd.DataFrame:
    """Return what the refresh that made a version did, a row a resource."""
    columns = ["resource", "added", "updated", "removed", "requests", "seconds"]
    return pd.DataFrame(list(version.summary), columns=columns)


def changes(storage: Storage, versions: Sequence[Version], resources: Sequence[str]) -> pd.DataFrame:
    """Return a row a changed cell, and one for each row that was added or removed, over all these versions."""
    rows = [
        {"resource": name, **row, "when": after.time, "version": after.number}
        for before, after in pairwise(versions)
        for name in resources
        for row in _cells(storage, TABLES[name], before, after)
    ]
    return _frame(rows, _CHANGES)


def _changed_rows(storage: Storage, table: Table, before: Version, after: Version) -> tuple[pa.Table, pa.Table]:
    """Return the rows that differ between two versions, as they were and as they are."""
    at = before.tables[table.name], after.tables[table.name]
    if at[0] == at[1]:
        nothing = storage.schema(table.name, at[1]).empty_table()
        return nothing, nothing
    parts = [{part.uri: part for part in storage.parts(table.name, each)} for each in at]
    one, other = (
        storage.dataset(table.name, version, parts=[part for uri, part in own.items() if uri not in others]).to_table()
        for version, own, others in ((at[0], parts[0], parts[1]), (at[1], parts[1], parts[0]))
    )
    return one, other


def _cells(storage: Storage, table: Table, before: Version, after: Version) -> Iterator[dict[str, Any]]:
    old, new = _changed_rows(storage, table, before, after)
    was, now = ({_id(row, table): row for row in rows.to_pylist()} for rows in (old, new))
    for id_ in was.keys() - now.keys():
        yield {"id": id_, "change": "removed", "column": None, "before": None, "after": None}
    for id_, row in now.items():
        if id_ not in was:
            yield {"id": id_, "change": "added", "column": None, "before": None, "after": None}
            continue
        for name in dict.fromkeys([*was[id_], *row]):
            one, other = was[id_].get(name), row.get(name)
            if one != other and name != POSITION:
                yield {"id": id_, "change": "changed", "column": name, "before": _text(one), "after": _text(other)}


def _id(row: dict[str, Any], table: Table) -> str:
    return " ".join(str(row[name]) for name in table.key)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, dt.date | dt.datetime) else str(value)


def _frame(rows: list[dict[str, Any]], dtypes: dict[str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)
    order = [name for name in ("version", "resource", "id", "column") if name in dtypes]
    return frame.sort_values(order, ignore_index=True, kind="stable")


def receipts(mirror: Mirror, start: DateLike, end: DateLike | None = None) -> pd.DataFrame:
    """
    Show what balances of final invoices fell by between refreshes, by invoice.

    Parameters
    ----------
    mirror : Mirror
        Refreshed before and during the period; the oftener, the closer the times.
    start, end : date-like
        A period, or its first and last day, inclusive, in UTC: that of the refresh which first saw the fall.

    Returns
    -------
    DataFrame
        One row an invoice and pair of refreshes between which its balance fell (a negative fall is a rise, as when a
        payment is taken back): `invoice_id`, `invoice_number`, `client_id`, `client_name`; `after` and `until`, the
        times of the two refreshes; `balance_before`, `balance_after`, `fall_amount`; `adjusted_amount`, what the
        invoice's own amount fell by; `credited_amount`, what the client's credits were used for in the same time,
        oldest invoices first; `implied_receipt_amount`, the rest. An invoice first seen with a balance below its amount
        counts with the difference. Invoices that were voided are left out.

    Raises
    ------
    MirrorError
        The mirror has no two versions to compare in the period.

    Examples
    --------
    >>> bf.receipts(m, "2026-10")["implied_receipt_amount"].sum()  # doctest: +SKIP
    """
    span = resolve(start, end)
    versions = Catalogue(mirror._storage).read()
    versions = [each for each in versions if each.number <= mirror.version]
    inside = [each for each in versions if _within(each, span.start, span.end)]
    before = [each for each in versions if span.start and each.time.date() < span.start][-1:]
    chosen = [*before, *inside]
    if len(chosen) < 2:
        raise MirrorError(
            f"The mirror {mirror.path} has no two versions to compare for this period; it has {len(chosen)}. "
            "Receipts are known from a refresh before and one after them."
        )
    names = dict(mirror.clients(select="")[["client_id", "name"]].itertuples(index=False, name=None))
    rows = [
        {**row, "client_name": names.get(row["client_id"])}
        for one, other in pairwise(chosen)
        for row in _between(mirror, one, other)
    ]
    frame = pd.DataFrame(rows, columns=list(_RECEIPTS)).astype(_RECEIPTS)
    return frame.sort_values(["until", "invoice_number"], ignore_index=True)


def _within(version: Version, start: Any, end: Any) -> bool:
    day = version.time.date()
    return (start is None or day >= start) and (end is None or day <= end)


def _between(mirror: Mirror, before: Version, after: Version) -> Iterator[dict[str, Any]]:
    old, new = _changed_rows(mirror._storage, TABLES["invoices"], before, after)
    was = {row["invoice_id"]: row for row in old.to_pylist() if row["invoice_state"] == "final"}
    now = [row for row in new.to_pylist() if row["invoice_state"] == "final"]
    used = _credits_used(was, now)
    for row in sorted(now, key=lambda each: (each["invoice_date"], each["invoice_number"])):
        known = was.get(row["invoice_id"]) or {"amount": row["amount"], "balance": row["amount"]}
        fall = known["balance"] - row["balance"]
        if abs(fall) < _CENT or row["amount"] < 0:
            continue
        adjusted = known["amount"] - row["amount"]
        rest = fall - adjusted
        credited = min(max(rest, 0.0), used.get(row["client_id"], 0.0))
        used[row["client_id"]] = used.get(row["client_id"], 0.0) - credited
        yield {
            "invoice_id": row["invoice_id"],
            "invoice_number": row["invoice_number"],
            "client_id": row["client_id"],
            "after": before.time,
            "until": after.time,
            "balance_before": known["balance"],
            "balance_after": row["balance"],
            "fall_amount": fall,
            "adjusted_amount": adjusted,
            "credited_amount": credited,
            "implied_receipt_amount": rest - credited,
        }


def _credits_used(was: dict[str, dict[str, Any]], now: list[dict[str, Any]]) -> dict[str, float]:
    """Return how far each client's credits (negative invoices, overpaid ones) came closer to 0."""
    used: dict[str, float] = {}
    for row in now:
        known = was.get(row["invoice_id"]) or {"balance": row["amount"]}
        owed = min(known["balance"], 0.0), min(row["balance"], 0.0)
        if owed[1] > owed[0]:
            used[row["client_id"]] = used.get(row["client_id"], 0.0) + owed[1] - owed[0]
    return used
