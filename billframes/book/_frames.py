"""The frames of a book: what every analysis of a period draws on, each loaded when first needed."""

from __future__ import annotations

import datetime as dt
import functools
import zoneinfo
from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes.analysis.keys import SHORT_NAMES
from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period, resolve

__all__ = ["BookFrames", "By"]

By = str | Sequence[str] | None


class BookFrames:
    """A period, the firm's settings, and frames wide enough for any analysis of the period."""

    def __init__(self, period: Period, *, settings: FirmSettings | None, client: Client) -> None:
        self.period = period
        self.settings = settings
        self._client = client

    @property
    def client(self) -> Client:
        """The client that the book loads with."""
        return self._client

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
        """What all clients owe today, as the server adds it up."""
        return self._client.client_balances()

    def _details(self, by: By) -> dict[str, Any]:
        """Return the frames that keys are found in, clients only if `by` needs them, and the settings."""
        details = {"matters": self.matters, "users": self.users, "settings": self.settings}
        names = [by] if isinstance(by, str) else list(by or ())
        own = {*SHORT_NAMES, *self.time_entries.columns, *self.matters.columns, *self.users.columns}
        others = [name for name in names if name.removeprefix("matter_").removeprefix("user_") not in own]
        return details | ({"clients": self.clients} if others else {})

    def _span(self, start: DateLike | None, end: DateLike | None) -> tuple[Any, Any]:
        span = self.period if start is None and end is None else resolve(start, end)
        return span.start, span.end

    def loaded_on(self, name: str) -> dt.date | None:
        """Return the day, in the firm's time zone, on which one of the frames was loaded; None if it does not say."""
        time = getattr(self, name).attrs.get("load", {}).get("time")
        zone = zoneinfo.ZoneInfo((self.settings or FirmSettings()).time_zone)
        return dt.datetime.fromisoformat(str(time)).astimezone(zone).date() if time else None

    def day(self, as_of: DateLike | None) -> DateLike:
        """Return the day that balances are of: the period's last if none is given."""
        day = as_of if as_of is not None else self.period.end
        if day is None:
            raise ParameterError("as_of is needed: the book's period has no last day.")
        return day
