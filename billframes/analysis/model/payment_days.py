"""The days of payments: those of a period, and whether the books' report has all of it."""

from __future__ import annotations

import datetime as dt

import pandas as pd

from billframes._format import long_span
from billframes.analysis.frames.data_span import covers
from billframes.analysis.frames.frames import Frames
from billframes.analysis.rules.ledger import SHORT_PAYMENTS
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import attached, load_day
from billframes.periods import Period

__all__ = ["note_short_payments", "payments_in", "short_payments"]


def payments_in(payments: pd.DataFrame, period: Period, basis: str, day: dt.date | None) -> pd.DataFrame:
    """Return the payments of a period by one of their dates, up to a day."""
    counted = pd.Series(True, index=payments.index)
    for name, first, last in ((basis, period.start, period.end), ("payment_date", None, day)):
        if first is not None:
            counted &= payments[name] >= pd.Timestamp(first)
        if last is not None:
            counted &= payments[name] <= pd.Timestamp(last)
    return payments[counted]


def short_payments(payments: pd.DataFrame | None, start: dt.date | None, end: dt.date | None) -> str:
    """Return the days of payments that don't cover a period; empty if they do, or if their days are not known."""
    days = Period.stated(attached(payments, "payments") or {})
    begun = start is None or covers(days.start, start)
    late = days.end is not None and end is not None and end > days.end
    return long_span(days) if late or not begun else ""


def note_short_payments(
    frames: Frames, payments: pd.DataFrame, period: Period, day: dt.date | None, settings: FirmSettings
) -> None:
    """Note payments of a part of the period only, as far as it has passed."""
    loaded = load_day(frames.natives["invoices"], settings.time_zone)
    end = min((each for each in (period.end, day, loaded) if each is not None), default=None)
    span = short_payments(payments, period.start, end)
    frames.notes.add(SHORT_PAYMENTS, float(bool(span)), span=span)
