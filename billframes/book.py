"""A book: everything the analyses of one period need, loaded once and wide enough.

January's work is on February's invoice, and an invoice of this month can carry work of years ago. The API can't be
asked for "the work on these invoices", so a book loads all work and all invoices, whatever the period, and leaves it
to the analyses to pick; only then is every invoice seen with all its items. Each frame is loaded when first needed.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes._session import default_client
from billframes.analysis import aging, realization, utilization
from billframes.api.client import Client
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period, resolve
from billframes.settings.firm import FirmSettings

__all__ = ["Book", "book"]

By = str | Sequence[str] | None


class Book:
    """
    The frames that one period's analyses need, and the analyses as methods.

    Made by `book`. The frames are attributes, each loaded on first use: `time_entries`, `expenses`, `fixed_fees`,
    `invoices`, `matters`, `clients`, `users`.
    """

    def __init__(self, period: Period, *, settings: FirmSettings | None, client: Client) -> None:
        self.period = period
        self.settings = settings
        self._client = client

    def __repr__(self) -> str:
        return f"<billframes book {self.period.start} to {self.period.end}>"

    @functools.cached_property
    def time_entries(self) -> pd.DataFrame:
        """All time entries, whatever their date."""
        return self._client.time_entries()

    @functools.cached_property
    def expenses(self) -> pd.DataFrame:
        """All expenses, whatever their date."""
        return self._client.expenses()

    @functools.cached_property
    def fixed_fees(self) -> pd.DataFrame:
        """All fixed fees, whatever their date."""
        return self._client.fixed_fees()

    @functools.cached_property
    def invoices(self) -> pd.DataFrame:
        """All invoices, whatever their date and state."""
        return self._client.invoices()

    @functools.cached_property
    def matters(self) -> pd.DataFrame:
        """All matters."""
        return self._client.matters()

    @functools.cached_property
    def clients(self) -> pd.DataFrame:
        """All clients."""
        return self._client.clients()

    @functools.cached_property
    def users(self) -> pd.DataFrame:
        """All users."""
        return self._client.users()

    def utilization(
        self, by: By = "user", *, start: DateLike | None = None, end: DateLike | None = None, **options: Any
    ) -> pd.DataFrame:
        """
        Client hours ÷ available hours; see `billframes.utilization`.

        Parameters
        ----------
        by : str or list of str, default "user"
        start, end : date-like, optional
            Another period than the book's.
        **options
            Any other argument of `billframes.utilization`.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = utilization(
            self.time_entries,
            start=first,
            end=last,
            by=by,
            users=self.users,
            matters=self.matters,
            settings=self.settings,
            **options,
        )
        return result

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
        day = as_of if as_of is not None else self.period.end
        if day is None:
            raise ParameterError("as_of is needed: the book's period has no last day.")
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
        result: pd.DataFrame = aging(self.invoices, as_of=day, by=by, **options)
        return result

    def _span(self, start: DateLike | None, end: DateLike | None) -> tuple[Any, Any]:
        span = self.period if start is None and end is None else resolve(start, end)
        return span.start, span.end


def book(
    start: DateLike,
    end: DateLike | None = None,
    *,
    settings: FirmSettings | None = None,
    client: Client | None = None,
) -> Book:
    """
    Open a period's book: what its analyses need, loaded when needed and wide enough.

    Parameters
    ----------
    start : str, date, datetime or Timestamp
        A period such as "2026-Q3", or the first day, inclusive.
    end : str, date, datetime or Timestamp, optional
        Last day, inclusive.
    settings : FirmSettings, optional
        Working days, hours a day, leave, targets and rates of the firm.
    client : Client, optional
        What to load with; the default client where it is not given.

    Returns
    -------
    Book

    Raises
    ------
    ParameterError
        The period can't be read.

    Examples
    --------
    >>> book = bf.book("2026-Q3")
    >>> book.realization(by="practice_area").columns[:2].tolist()
    ['practice_area_id', 'practice_area_label']
    """
    return Book(resolve(start, end), settings=settings, client=client or default_client())
