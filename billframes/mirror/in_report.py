"""The mirror in the monthly report: by how much balances fell in the month."""

from __future__ import annotations

from billframes._shared.format import format_number
from billframes.mirror.mirror import Mirror
from billframes.report.first_page import Tile
from billframes.report.month import Month


def cash_tile(month: Month, settled: str) -> Tile | None:
    """Return what came in by the balances of the month; None without two versions of a mirror."""
    mirror = month.firm_book.client
    if not isinstance(mirror, Mirror) or len(mirror.history()) < 2:
        return None
    rows = mirror.implied_receipts(month.first, month.last)
    value = format_number(float(rows["implied_receipt_amount"].sum()), "money")
    return Tile("Receipts, from balances", value, "", tuple(filter(None, ("may include write-offs", settled))))
