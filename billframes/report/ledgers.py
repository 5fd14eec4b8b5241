"""Payments, the tie-out and missing reports: a month's knowledge from the firm's books."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import pandas as pd

from billframes.analysis.books.tie_out_rows import UNEXPLAINED


@dataclass(frozen=True, kw_only=True)
class Ledgers:
    """
    What is known from the firm's books: the payments from a day on, and the tie-out with one row per invoice.

    `missing` says what is not known, and which report would show it.
    """

    payments: pd.DataFrame | None = None
    since: dt.date | None = None
    tie_out: pd.DataFrame | None = None
    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def unexplained(self) -> tuple[float, int] | None:
        """The size of the differences whose reason says nothing of what happened, and their number; None without."""
        if self.tie_out is None:
            return None
        rows = self.tie_out[self.tie_out["reason"].isin(UNEXPLAINED)]
        return (float(rows["difference_amount"].abs().sum()), len(rows)) if len(rows) else None

    def covers(self, first: dt.date) -> bool:
        """Tell whether the payments from a day on are known."""
        return self.payments is not None and (self.since is None or self.since <= first)
