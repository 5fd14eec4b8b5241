"""Say beside the explorer's figures which days the payments of the firm's books have, and what their notes are.

A part of the cash looks like all of it, so a period that begins before the payments is refused. If they end before the
period, a sentence beside the figures says so.
"""

from __future__ import annotations

import datetime as dt

import pandas as pd

from billframes._shared.format import long_date, long_span
from billframes._shared.notes import NOTES
from billframes.errors import ParameterError
from billframes.loading.load_info import attached
from billframes.periods import Period


def check_begin(payments: pd.DataFrame | None, first: dt.date) -> None:
    """Refuse a period whose first day is not among the days of the payments."""
    days = _days(payments)
    if (days.start and days.start > first) or (days.end and days.end < first):
        raise ParameterError(
            f"The payments in the books are those of {long_span(days)}. Choose a period that begins in these days, or "
            "export more."
        )


def about_payments(payments: pd.DataFrame | None, last: dt.date) -> list[str]:
    """Return where the payments end, if that is before the period's last day, and their notes."""
    end = _days(payments).end
    notes = [str(each["plain"]) for each in attached(payments, NOTES) or []]
    if end and end < last:
        return [f"The payments in the books end on {long_date(end)}; later ones are missing here.", *notes]
    return notes


def _days(payments: pd.DataFrame | None) -> Period:
    return Period.stated(attached(payments, "payments") or {})
