"""A book: everything the analyses of one period need, loaded once and wide enough.

January's work is on February's invoice, and an invoice of this month can carry work of years ago. The API can't be
asked for "the work on these invoices", so a book loads all work and all invoices, whatever the period, and leaves it
to the analyses to pick; only then is every invoice seen with all its items. Each frame is loaded when first needed.
"""

from __future__ import annotations

from billframes._session import default_client
from billframes.book._matters import MatterAnalyses
from billframes.book._money import MoneyAnalyses
from billframes.book._people import PeopleAnalyses
from billframes.book._unpaid import WaitingAnalyses
from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike, resolve

__all__ = ["Book", "book"]


class Book(PeopleAnalyses, MatterAnalyses, MoneyAnalyses, WaitingAnalyses):
    """
    The frames that one period's analyses need, and the analyses as methods.

    Made by `book`. The frames are attributes, each loaded on first use: `time_entries`, `expenses`, `fixed_fees`,
    `invoices`, `matters`, `clients`, `users`, `codes`, `code_sets`, `client_balances`.
    """

    def __repr__(self) -> str:
        return f"<billframes book {self.period.start} to {self.period.end}>"


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
        Working days, hours a day, leave, targets and rates of the firm. By default those that the client's profile
        names as `firm`.
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
    source = client or default_client()
    # A mirror can take the client's place and has no profile.
    return Book(resolve(start, end), settings=settings or getattr(source, "settings", None), client=source)
