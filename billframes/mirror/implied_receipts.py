"""List by how much the balances of invoices fell between refreshes of a mirror.

The API shows no payments. A mirror that was refreshed before and after a payment shows that the balance fell. A fall is
not always money: the invoice's amount may have been reduced, or a credit of the same client used. These two parts are
shown beside the fall, and only the rest is called an implied receipt.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pandas as pd

from billframes.errors import MirrorError
from billframes.mirror.balances import CENT
from billframes.mirror.catalogue import Catalogue, Version
from billframes.mirror.history import changed_rows
from billframes.mirror.mirror import Mirror
from billframes.mirror.tables import TABLES
from billframes.periods import DateLike, resolve

__all__ = ["receipts"]

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
    old, new = changed_rows(mirror._storage, TABLES["invoices"], before, after)
    was = {row["invoice_id"]: row for row in old.to_pylist() if row["invoice_state"] == "final"}
    now = [row for row in new.to_pylist() if row["invoice_state"] == "final"]
    used = _credits_used(was, now)
    for row in sorted(now, key=lambda each: (each["invoice_date"], each["invoice_number"])):
        known = was.get(row["invoice_id"]) or {"amount": row["amount"], "balance": row["amount"]}
        fall = known["balance"] - row["balance"]
        if abs(fall) < CENT or row["amount"] < 0:
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
