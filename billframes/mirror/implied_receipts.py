"""List by how much the balances of invoices fell between refreshes of a mirror.

The API shows no payments. A mirror that was refreshed before and after a payment shows that the balance fell. A fall is
not always money: the invoice's amount may have been reduced, or a credit of the same client used. These two parts are
shown beside the fall, and only the rest is called an implied receipt.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd

from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import MirrorError
from billframes.mirror.balances import CENT
from billframes.mirror.catalogue import Version
from billframes.mirror.history import rows_of_changed_files, sorted_frame
from billframes.mirror.tables import TABLES
from billframes.periods import DateLike, resolve

if TYPE_CHECKING:
    from billframes.mirror.mirror import Mirror

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
    List by how much the balances of final invoices fell between refreshes.

    Parameters
    ----------
    mirror : Mirror
        A mirror that was refreshed before and during the period. The more often it was refreshed, the more exact are
        the times.
    start, end : date-like
        A period, or its first and last day, inclusive, in UTC. A fall counts on the day of the first refresh that found
        it.

    Returns
    -------
    DataFrame
        One row for each invoice and pair of refreshes between which its balance changed. A rise, as after a reversed
        payment, is a negative fall. Voided and negative invoices are left out. If an invoice was not final at the
        earlier refresh, its amount counts as the balance before.

        - `invoice_id`, `invoice_number`, `client_id`, `client_name`
        - `after`, `until`: the times of the two refreshes
        - `balance_before`, `balance_after`, `fall_amount`
        - `adjusted_amount`: the part of the fall by which the invoice's own amount was reduced
        - `credited_amount`: the part that the client's credits explain, because they were used in the same time. They
          count for the oldest invoices first.
        - `implied_receipt_amount`: the rest of the fall

    Raises
    ------
    MirrorError
        The mirror has no two versions to compare in the period.

    Examples
    --------
    >>> bf.receipts(m, "2026-10")["implied_receipt_amount"].sum()  # doctest: +SKIP
    """
    span = resolve(start, end, calendar=FirmCalendar(lambda: mirror))
    versions = mirror._versions()
    in_period = [each for each in versions if _is_within(each, span.start, span.end)]
    before = [each for each in versions if span.start and each.time.date() < span.start][-1:]
    chosen = [*before, *in_period]
    if len(chosen) < 2:
        raise MirrorError(
            f"The mirror {mirror.path} has no two versions to compare for this period; it has {len(chosen)}. "
            "Receipts are found by comparing a refresh before and a refresh after them."
        )
    names = dict(mirror.clients(select="")[["client_id", "name"]].itertuples(index=False, name=None))
    rows = [
        {**row, "client_name": names.get(row["client_id"])}
        for previous, following in pairwise(chosen)
        for row in _between(mirror, previous, following)
    ]
    return sorted_frame(rows, _RECEIPTS, ["until", "invoice_number"])


def _is_within(version: Version, start: Any, end: Any) -> bool:
    day = version.time.date()
    return (start is None or day >= start) and (end is None or day <= end)


def _between(mirror: Mirror, before: Version, after: Version) -> Iterator[dict[str, Any]]:
    old, new = rows_of_changed_files(mirror._storage, TABLES["invoices"], before, after)
    earlier = {row["invoice_id"]: row for row in old.to_pylist() if row["invoice_state"] == "final"}
    later = [row for row in new.to_pylist() if row["invoice_state"] == "final"]
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
            "after": before.time,
            "until": after.time,
            "balance_before": known["balance"],
            "balance_after": row["balance"],
            "fall_amount": fall,
            "adjusted_amount": adjusted,
            "credited_amount": credited,
            "implied_receipt_amount": unexplained - credited,
        }


def _credits_used(earlier: dict[str, dict[str, Any]], later: list[dict[str, Any]]) -> dict[str, float]:
    """Return by how much each client's credits (negative and overpaid invoices) were used, that is moved towards 0."""
    credits_used: dict[str, float] = {}
    for row in later:
        known = earlier.get(row["invoice_id"]) or {"balance": row["amount"]}
        owed = min(known["balance"], 0.0), min(row["balance"], 0.0)
        if owed[1] > owed[0]:
            credits_used[row["client_id"]] = credits_used.get(row["client_id"], 0.0) + owed[1] - owed[0]
    return credits_used
