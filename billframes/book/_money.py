"""Analyses of fees, receivables and work in progress, as methods of a book."""

from __future__ import annotations

from typing import Any

import pandas as pd

from billframes.analysis import aging, realization
from billframes.book._frames import BookFrames, By
from billframes.periods import DateLike

__all__ = ["MoneyAnalyses"]


class MoneyAnalyses(BookFrames):
    """What a book tells of money."""

    def realization(
        self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None, **options: Any
    ) -> pd.DataFrame:
        """
        Billed ÷ worked, and what was settled; see `billframes.realization`.

        Parameters
        ----------
        by : str or list of str, optional
        start, end : date-like, optional
            Another period than the book's.
        **options
            Any other argument of `billframes.realization`, such as basis="work_date".
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = realization(
            self.time_entries,
            self.invoices,
            self.expenses,
            self.fixed_fees,
            by=by,
            start=first,
            end=last,
            matters=self.matters,
            users=self.users,
            settings=self.settings,
            **options,
        )
        return result

    def aging(self, by: By = None, *, as_of: DateLike | None = None, **options: Any) -> pd.DataFrame:
        """
        Receivables by days past due; see `billframes.aging`.

        Parameters
        ----------
        by : str or list of str, optional
        as_of : date-like, optional
            The day to measure from; the period's last day where it is not given.
        **options
            Any other argument of `billframes.aging`, such as basis="invoice_date".
        """
        # A client's receivables are its invoices'; any other key needs the work that is on them.
        if by not in (None, "client"):
            options = {
                "time_entries": self.time_entries,
                "expenses": self.expenses,
                "fixed_fees": self.fixed_fees,
                "matters": self.matters,
                **options,
            }
        if self.settings is not None or by not in (None, "client"):
            options = {"settings": self.settings, "users": self.users, **options}
        result: pd.DataFrame = aging(self.invoices, as_of=self._day(as_of), by=by, **options)
        return result
