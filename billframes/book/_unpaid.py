"""Analyses of what is not paid yet, as methods of a book: receivables, work in progress, lock-up and budgets."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd

from billframes.analysis.aging import aging
from billframes.analysis.arguments import read_date
from billframes.analysis.budget_burn import budget_burn
from billframes.analysis.contribution import contribution
from billframes.analysis.lockup import lockup
from billframes.analysis.normalize_balances import normalize_balances
from billframes.analysis.wip import wip
from billframes.book._frames import BookFrames, By
from billframes.periods import DateLike

__all__ = ["WaitingAnalyses", "lockup_row"]


class WaitingAnalyses(BookFrames):
    """What a book tells of money that is still to come."""

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
                **self._details(by),
                **options,
            }
        elif self.settings is not None:
            options = {"settings": self.settings, "users": self.users, **options}
        result: pd.DataFrame = aging(self.invoices, as_of=self.day(as_of), by=by, **options)
        return result

    def wip(self, by: By = None, *, as_of: DateLike | None = None, **options: Any) -> pd.DataFrame:
        """
        Work in progress by age; see `billframes.wip`.

        Parameters
        ----------
        by : str or list of str, optional
        as_of : date-like, optional
            The day to measure from; the period's last day where it is not given.
        **options
            Any other argument of `billframes.wip`, such as include_prebill=False.
        """
        result: pd.DataFrame = wip(
            self.time_entries,
            self.expenses,
            self.fixed_fees,
            self.invoices,
            as_of=self.day(as_of),
            by=by,
            **{**self._details(by), **options},
        )
        return result

    def lockup(self, *, as_of: DateLike | None = None, days: int = 365) -> pd.DataFrame:
        """
        Days of fees tied up in work in progress and receivables; see `billframes.lockup`.

        Parameters
        ----------
        as_of : date-like, optional
            The day to measure on; the period's last day where it is not given.
        days : int
            The fees are those of final invoices dated in so many days up to that day, itself among them.

        Returns
        -------
        DataFrame
            One row: `as_of`, `fees_start` and `fees_end` (first and last day of the fees, both inclusive), and the
            columns of `billframes.lockup`. Work in progress is the total of `wip` less its `contingent_amount`, which
            is in `left_out_wip_amount`; receivables are the total of `aging`, and fees net billed time fees and fixed
            fees (`fees_amount` of `contribution`), both of all matters.
        """
        return lockup_row(self, self.day(as_of), days)

    def budget_burn(self, **options: Any) -> pd.DataFrame:
        """
        Part of each matter's budget that is used, over the matter's whole life; see `billframes.budget_burn`.

        Parameters
        ----------
        **options
            Any argument of `billframes.budget_burn`, such as other settings.
        """
        result: pd.DataFrame = budget_burn(
            self.time_entries,
            self.invoices,
            self.expenses,
            self.fixed_fees,
            **{"settings": self.settings, "matters": self.matters, **options},
        )
        return result

    def normalize_balances(self) -> pd.DataFrame:
        """
        Clients' balances as the server adds them up today, in the columns of `aging`.

        Loads them on first use, one request a client; see `billframes.normalize_balances`.
        """
        result: pd.DataFrame = normalize_balances(self.client_balances)
        return result

    def fees(self, start: DateLike, end: DateLike) -> float:
        """
        Net billed time fees and fixed fees on final invoices dated in a period, in one figure.

        Parameters
        ----------
        start, end : date-like
            First and last day, both inclusive.
        """
        rows: pd.DataFrame = contribution(
            self.time_entries, self.invoices, self.expenses, self.fixed_fees, by=None, start=start, end=end
        )
        return float(rows["fees_amount"].iloc[0])


def lockup_row(book: Any, day: DateLike, days: int) -> pd.DataFrame:
    """Work lock-up out of a book's, or a part's, work in progress, receivables and fees."""
    last = pd.Timestamp(read_date(day, "as_of"))
    first = last - dt.timedelta(days=days - 1)
    work, owed = book.wip(as_of=last).iloc[0], book.aging(as_of=last)["total"].iloc[0]
    # Work on contingency matters waits for an outcome, not for an invoice.
    contingent = work["contingent_amount"]
    result: pd.DataFrame = lockup(work["total"], owed, book.fees(first, last), days=days, contingent_amount=contingent)
    for place, (name, each) in enumerate({"as_of": last, "fees_start": first, "fees_end": last}.items()):
        result.insert(place, name, pd.Series([each], dtype="datetime64[us]"))
    return result
