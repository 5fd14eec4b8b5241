"""List by how much the balances of invoices fell between refreshes of a mirror.

The API shows no payments. A mirror that was refreshed before and after a payment shows that the balance fell. A fall is
not always money: the invoice's amount may have been reduced, or a credit of the same client used. These two parts are
shown beside the fall, and only the rest is called an implied receipt.
"""

from __future__ import annotations

import pandas as pd

from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import MirrorError
from billframes.mirror.falls import compare
from billframes.mirror.mirror import Mirror
from billframes.periods import DateLike, resolve


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
    until = [each for each in versions if span.end is None or each.time.date() <= span.end]
    earlier = sum(span.start is not None and each.time.date() < span.start for each in until)
    chosen = until[max(earlier - 1, 0) :]
    if len(chosen) < 2:
        raise MirrorError(
            f"The mirror {mirror.path} has no two versions to compare for this period; it has {len(chosen)}. "
            "Receipts are found by comparing a refresh before and a refresh after them."
        )
    return compare(mirror._storage, chosen, mirror._client_names())[0]
