"""The class `Book`: the frames that the analyses of one period need, each loaded when it is first needed.

January's work is on February's invoice, and an invoice of this month can have work of years ago. The API has no filter
for the work on some invoices. A book therefore loads all work and all invoices, whatever its period, and the analyses
pick the rows of the period. In this way every invoice is seen with all its items.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pandas as pd

from billframes._format import fields_html
from billframes._suggestions import SuggestsNames
from billframes.analysis.contribution import contribution
from billframes.book.methods import FRAME_NAMES, analysis_methods
from billframes.client import Client
from billframes.config.firm import FirmSettings, check_settings, describe_settings
from billframes.errors import DecodeError, ParameterError
from billframes.periods import DateLike, Period, local_day, resolve

if TYPE_CHECKING:
    from billframes.book._analyses import BookAnalyses
else:
    BookAnalyses = type("BookAnalyses", (), analysis_methods())

__all__ = ["Book"]


class Book(BookAnalyses, SuggestsNames):
    """
    The frames that the analyses of one period need, and the analyses as methods.

    Made by `bf.book`. The frames are attributes, each loaded on first use: `time_entries`, `expenses`, `fixed_fees`,
    `invoices`, `matters`, `clients`, `users`, `codes`, `code_sets`, `client_balances`.
    """

    def __init__(self, period: Period, *, settings: FirmSettings | None, client: Client) -> None:
        check_settings(settings)
        self.period = period
        # The client can be a mirror, which has no profile.
        self.settings = settings or getattr(client, "settings", None)
        self._client = client
        self._client_items: dict[tuple[str, ...], pd.DataFrame] = {}

    @property
    def client(self) -> Client:
        """The client that the book loads with."""
        return self._client

    def __repr__(self) -> str:
        return f"<billframes book {self._days}>"

    def _repr_html_(self) -> str:
        loaded = [f"{name} ({len(vars(self)[name]):,})" for name in FRAME_NAMES if name in vars(self)]
        fields = {
            "Period": self._days,
            "Data": getattr(self._client, "base_url", "") or repr(self._client),
            "Settings": describe_settings(self.settings),
            "Loaded": ", ".join(loaded) or "nothing yet; each frame is loaded when it is first needed",
            "Analyses": ", ".join(analysis_methods()),
        }
        return fields_html("Book", fields)

    @property
    def _days(self) -> str:
        return f"{self.period.start or 'the beginning'} to {self.period.end or 'today'}"

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

    @functools.cached_property
    def codes(self) -> pd.DataFrame:
        """All LEDES codes."""
        return self._client.codes()

    @functools.cached_property
    def code_sets(self) -> pd.DataFrame:
        """All sets of LEDES codes."""
        return self._client.code_sets()

    @functools.cached_property
    def client_balances(self) -> pd.DataFrame:
        """The balances of all clients today, as the server calculates them."""
        return self._client.client_balances()

    def items_of_clients(self, name: str, client_ids: Iterable[str]) -> pd.DataFrame:
        """
        Return the items on invoices of some clients; all items if the book has them, or if they can't be filtered.

        Parameters
        ----------
        name : {"time_entries", "expenses", "fixed_fees"}
        client_ids : iterable of str
        """
        if name in vars(self):
            every: pd.DataFrame = getattr(self, name)
            return every
        key = (name, *sorted(client_ids))
        if key not in self._client_items:
            try:
                self._client_items[key] = getattr(self._client, name)(client_id=key[1:], billed=True)
            except (ParameterError, DecodeError):
                # The server's ids are not accepted as arguments, such as numbers, or the server ignores the filter.
                self._client_items[key] = getattr(self, name)
        return self._client_items[key]

    def fees(self, start: DateLike, end: DateLike) -> float:
        """
        Return the sum of net billed time fees and fixed fees on final invoices dated in a period.

        Parameters
        ----------
        start, end : date-like
            First and last day, both inclusive.
        """
        items: Any = (self.time_entries, self.invoices, self.expenses, self.fixed_fees)
        return float(contribution(*items, by=None, start=start, end=end)["fees_amount"].iloc[0])

    def span(self, start: DateLike | None, end: DateLike | None) -> tuple[dt.date | None, dt.date | None]:
        """Return the first and last day of a period, or of the book's period if neither day is given."""
        period = self.period if start is None and end is None else resolve(start, end)
        return period.start, period.end

    def day(self, as_of: DateLike | None) -> DateLike:
        """
        Return `as_of`, or the last day of the book's period if it is None.

        Raises
        ------
        ParameterError
            `as_of` is None, and the book's period has no last day.
        """
        day = as_of if as_of is not None else self.period.end
        if day is None:
            raise ParameterError("as_of is needed: the book's period has no last day.")
        return day

    def loaded_on(self, name: str) -> dt.date | None:
        """Return the day on which a frame was loaded, in the firm's time zone; None if that is unknown."""
        time = getattr(self, name).attrs.get("load", {}).get("time")
        zone = (self.settings or FirmSettings()).time_zone
        return local_day(dt.datetime.fromisoformat(str(time)), zone) if time else None
