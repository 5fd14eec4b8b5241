"""Analyses of what matters bring and how fast they are billed, as methods of a book."""

from __future__ import annotations

from typing import Any

import pandas as pd

from billframes.analysis.billing_lag import billing_lag
from billframes.analysis.fixed_fee_realization import fixed_fee_realization
from billframes.analysis.profitability import profitability
from billframes.book._frames import BookFrames, By
from billframes.periods import DateLike

__all__ = ["MatterAnalyses"]


class MatterAnalyses(BookFrames):
    """What a book tells of fees, cost and waiting, by matter or any other key."""

    def fixed_fee_realization(
        self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame:
        """
        Fees ÷ linked hours at standard rates, of fixed fees; see `billframes.fixed_fee_realization`.

        Parameters
        ----------
        by : str or list of str, optional
        start, end : date-like, optional
            Another period than the book's.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = fixed_fee_realization(
            self.time_entries,
            self.fixed_fees,
            by=by,
            start=first,
            end=last,
            **self._details(by),
        )
        return result

    def profitability(
        self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None, **options: Any
    ) -> pd.DataFrame:
        """
        Fees billed less the cost of the hours; see `billframes.profitability`.

        Parameters
        ----------
        by : str or list of str, optional
        start, end : date-like, optional
            Another period than the book's.
        **options
            Any other argument of `billframes.profitability`, such as basis="work_date".
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = profitability(
            self.time_entries,
            self.invoices,
            self.expenses,
            self.fixed_fees,
            by=by,
            start=first,
            end=last,
            **{**self._details(by), **options},
        )
        return result

    def billing_lag(self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None) -> pd.DataFrame:
        """
        Days from work to invoice; see `billframes.billing_lag`.

        Parameters
        ----------
        by : str or list of str, optional
        start, end : date-like, optional
            Another period than the book's.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = billing_lag(
            self.time_entries,
            self.invoices,
            by=by,
            start=first,
            end=last,
            **self._details(by),
        )
        return result
