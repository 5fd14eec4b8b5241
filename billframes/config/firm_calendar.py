"""Today's date and the fiscal year of a firm, from which a period such as "last month" or "FY2026" is counted.

Loaders and books read the clock here. Analyses never do: they count from the day on which their frames were loaded.
"""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Callable
from typing import Any

from billframes.config.firm import FirmSettings
from billframes.days import FiscalYear


class FirmCalendar:
    """
    The calendar of a firm. The clock and the client are only asked if a period depends on them.

    `client` returns the client, or a mirror, whose firm it is; `settings` take the place of the client's.
    """

    def __init__(self, client: Callable[[], Any] = lambda: None, settings: FirmSettings | None = None) -> None:
        self._client, self._given = client, settings

    @property
    def _settings(self) -> FirmSettings | None:
        # A mirror has no profile, and so no settings.
        return self._given or getattr(self._client(), "settings", None)

    @property
    def today(self) -> dt.date:
        """Today in the firm's time zone; without settings, in that of this machine."""
        settings = self._settings
        return dt.datetime.now(zoneinfo.ZoneInfo(settings.time_zone) if settings else None).date()

    @property
    def fiscal(self) -> FiscalYear | None:
        """The fiscal year of the settings, else the client's option; None if neither is set."""
        settings = self._settings
        return (settings and settings.fiscal_year) or getattr(self._client(), "fiscal_year", None)
