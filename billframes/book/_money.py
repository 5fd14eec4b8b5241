"""Analyses of fees and what became of work, as methods of a book."""

from __future__ import annotations

from typing import Any

import pandas as pd

from billframes.analysis.contribution import contribution
from billframes.analysis.effective_rates import effective_rates
from billframes.analysis.origination import origination
from billframes.analysis.realization import realization
from billframes.analysis.reconcile import reconcile
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
            Any other argument of `billframes.realization`, such as basis="work_date". `as_of`, the day up to which
            invoices are due, is the day the invoices were loaded if it is not given.
        """
        options = {"as_of": self.loaded_on("invoices"), **options}
        return self._of_invoices(realization, by, start, end, options)

    def effective_rates(
        self, by: By = "user", *, start: DateLike | None = None, end: DateLike | None = None, **options: Any
    ) -> pd.DataFrame:
        """
        Money an hour, billed and worked; see `billframes.effective_rates`.

        Parameters
        ----------
        by : str or list of str, default "user"
        start, end : date-like, optional
            Another period than the book's.
        **options
            Any other argument of `billframes.effective_rates`, such as basis="work_date".
        """
        return self._of_invoices(effective_rates, by, start, end, options)

    def contribution(
        self, by: By = "client", *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame:
        """
        Billed fees with their share and running share, largest first; see `billframes.contribution`.

        Parameters
        ----------
        by : str or list of str, default "client"
        start, end : date-like, optional
            Another period than the book's.
        """
        return self._of_invoices(contribution, by, start, end, {})

    def origination(self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None) -> pd.DataFrame:
        """
        Fees by the originators of their matters; see `billframes.origination`.

        Parameters
        ----------
        by : str or list of str, optional
            More keys beside the originator.
        start, end : date-like, optional
            Another period than the book's.
        """
        return self._of_invoices(origination, by, start, end, {})

    def reconcile(self, *, start: DateLike | None = None, end: DateLike | None = None) -> pd.DataFrame:
        """
        Each invoice's items beside its amount, of invoices dated in the period; see `billframes.reconcile`.

        Parameters
        ----------
        start, end : date-like, optional
            Another period than the book's.
        """
        first, last = self._span(start, end)
        every: pd.DataFrame = reconcile(self.time_entries, self.invoices, self.expenses, self.fixed_fees)
        after = every["invoice_date"] >= pd.Timestamp(first or pd.Timestamp.min)
        before = every["invoice_date"] <= pd.Timestamp(last or pd.Timestamp.max)
        return every[after & before].reset_index(drop=True)

    def _of_invoices(
        self, analysis: Any, by: By, start: DateLike | None, end: DateLike | None, options: dict[str, Any]
    ) -> pd.DataFrame:
        """Ask an analysis of the work on the period's invoices, with all that the book has."""
        first, last = self._span(start, end)
        result: pd.DataFrame = analysis(
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
