"""The class `Book`: the frames that the analyses of one period need, each loaded when it is first needed.

January's work is on February's invoice, and an invoice of this month can have work of years ago. The API has no filter
for the work on some invoices. A book therefore loads all work and all invoices, whatever its period, and the analyses
pick the rows of the period. In this way every invoice is seen with all its items.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from billframes._format import fields_html
from billframes._messages import warn
from billframes._suggestions import SuggestsNames
from billframes.analysis.contribution import contribution
from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.frames.data_span import check_begun, check_known, first_date, is_known
from billframes.analysis.model.arguments import check_choice, read_date
from billframes.book.denied import load_details
from billframes.book.methods import FRAME_NAMES, analysis_methods
from billframes.client import Client
from billframes.config.firm import FirmSettings, check_settings, describe_settings
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import DecodeError, IncompleteDataWarning, ParameterError
from billframes.loading.load_info import load_day
from billframes.periods import DateLike, Period, resolve

if TYPE_CHECKING:
    from billframes.book._analyses import BookAnalyses
else:
    BookAnalyses = type("BookAnalyses", (), analysis_methods())

__all__ = ["Book"]

_DATES = {"time_entries": "date", "invoices": "invoice_date"}


class Book(BookAnalyses, SuggestsNames):
    """
    The frames that the analyses of one period need, and the analyses as methods.

    Made by `bf.book`. The frames are attributes, each loaded on first use: `time_entries`, `expenses`, `fixed_fees`,
    `invoices`, `matters`, `clients`, `users`, `codes`, `code_sets`, `client_balances`. **They hold all dates**, because
    invoices of the period bill older work. `in_period("time_entries")` returns those of the period only.
    """

    def __init__(self, period: Period, *, settings: FirmSettings | None, client: Client) -> None:
        check_settings(settings)
        self.period = period
        # The client can be a mirror, which has no profile.
        self.settings = settings or getattr(client, "settings", None)
        self._client = client
        self._client_items: dict[tuple[str, ...], pd.DataFrame] = {}
        self._said: set[tuple[str, Any]] = set()
        self._first_days: dict[str, dt.date | None] = {}
        self.denied: set[str] = set()
        """The names of frames without rows that the credential may not read, once they were needed."""

    @property
    def client(self) -> Client:
        """The client that the book loads with."""
        return self._client

    def __repr__(self) -> str:
        return f"<billframes book {self._days}; its frames hold all dates>"

    def _repr_html_(self) -> str:
        loaded = [f"{name} ({len(vars(self)[name]):,})" for name in FRAME_NAMES if name in vars(self)]
        fields = {
            "Period": self._days,
            "Data": getattr(self._client, "base_url", "") or repr(self._client),
            "Settings": describe_settings(self.settings),
            "Frames": 'of all dates; in_period("time_entries") has those of the period',
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

    def in_period(self, name: Literal["time_entries", "expenses", "fixed_fees", "invoices"]) -> pd.DataFrame:
        """
        Return the rows of a frame that are dated in the book's period, as the loader returns them for the period.

        Parameters
        ----------
        name : {"time_entries", "expenses", "fixed_fees", "invoices"}
            The frame. Invoices count by their `invoice_date`.

        Raises
        ------
        ParameterError
            The frame's rows have no date.

        Examples
        --------
        >>> book = bf.book("2026-10")
        >>> book.time_entries["date"].min().year, book.in_period("time_entries")["date"].min().month
        (2024, 10)
        """
        check_choice(name, "name", (*ITEMS, "invoices"))
        frame: pd.DataFrame = getattr(self, name)
        ends = {"start": self.period.start, "end": self.period.end}
        days = frame[_DATES.get(name, "date")]
        first, last = (pd.Timestamp(day) if day else None for day in ends.values())
        rows = frame[days.between(first or days.min(), last or days.max())].reset_index(drop=True)
        if load := frame.attrs.get("load"):
            period = {name: day.isoformat() if day else None for name, day in ends.items()}
            rows.attrs = {**frame.attrs, "load": {**load, "rows": len(rows), "period": period}}
        return rows

    @functools.cached_property
    def matters(self) -> pd.DataFrame:
        """All matters. Without rows if the credential may not read them."""
        return self._details("matters")

    @functools.cached_property
    def clients(self) -> pd.DataFrame:
        """All clients. Without rows if the credential may not read them."""
        return self._details("clients")

    @functools.cached_property
    def users(self) -> pd.DataFrame:
        """All users. Without rows if the credential may not read them."""
        return self._details("users")

    def _details(self, name: str) -> pd.DataFrame:
        frame, allowed = load_details(self._client, name)
        if not allowed:
            self.denied.add(name)
        return frame

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
        given: dict[str, Any] = {
            name: getattr(self, name) for name in ("time_entries", "expenses", "fixed_fees", "invoices")
        }
        return float(contribution(**given, by=None, start=start, end=end)["fees_amount"].iloc[0])

    def span(self, start: DateLike | None, end: DateLike | None) -> tuple[dt.date | None, dt.date | None]:
        """Return the first and last day of a period, or of the book's period if neither day is given."""
        calendar = FirmCalendar(lambda: self._client, self.settings)
        period = self.period if start is None and end is None else resolve(start, end, calendar=calendar)
        return period.start, period.end

    def until_now(self, period: Period, analysis: Analysis, names: Collection[str]) -> Period:
        """
        End a period on the day of the load if it is not over on that day, for an analysis that ends with the load.

        It warns as `until_load` does.

        Parameters
        ----------
        period : Period
        analysis : Analysis
        names : collection of str
            The frames that the analysis uses.

        Raises
        ------
        ParameterError
            The period begins after the load, or ends before the first day of the data.
        """
        dated = [name for name in _DATES if name in names]
        day = self.loaded_on(*dated)
        if day is not None:
            check_begun(period.start, day)
        self._check_known(period.end, dated)
        return self.until_load(period, dated, analysis.name) if analysis.book.ends_with_load else period

    def day(self, as_of: DateLike | None, names: Iterable[str], analysis: str) -> DateLike:
        """
        Return `as_of`; by default the last day of the book's period, or the day of the load if that is earlier.

        Parameters
        ----------
        as_of : date-like, optional
        names : iterable of str
            The frames that the analysis uses.
        analysis : str
            The name of the analysis, for the warning.

        Raises
        ------
        ParameterError
            `as_of` is None, and the book's period has no last day, or begins after the load; or the day is before the
            first day of the data.
        """
        if as_of is None and self.period.end is None:
            raise ParameterError("as_of is needed: the book's period has no last day.")
        dated = [name for name in _DATES if name in names]
        if as_of is not None:
            self._check_known(read_date(as_of, "as_of"), dated)
            return as_of
        self._check_known(self.period.end, dated)
        return self._until_load(self.period, names)[0].end or dt.date.max

    def _check_known(self, day: dt.date | None, dated: Collection[str]) -> None:
        """Refuse a period or a day before the first day of the data."""
        # The other frame is only loaded if it can make a difference.
        if dated and not is_known(self.first_day_of(*dated), day):
            check_known(day, self.first_day)

    def until_load(self, period: Period, names: Iterable[str], analysis: str, *, argument: str = "") -> Period:
        """
        End a period on the day of the load if it is not over on that day: later work and balances are not known yet.

        Parameters
        ----------
        period : Period
        names : iterable of str
            The frames that the analysis uses. Of time entries and invoices, the first day of load counts.
        analysis : str
            The name of the analysis, for the warning.
        argument : str
            The argument with which a user can choose another day; empty for none.

        Raises
        ------
        ParameterError
            The period begins after the load.

        Warns
        -----
        IncompleteDataWarning
            Time entries or final invoices of the period are dated after the load.
        """
        names = list(names)
        ended, day = self._until_load(period, names)
        for name in [each for each in _DATES if each in names]:
            later = 0 if day is None or period.end is None else self._rows_after(name, day, period.end)
            if later and (name, period.end) not in self._said:
                self._said.add((name, period.end))
                warn(_later_records(name, later, day, analysis, argument), IncompleteDataWarning)
        return ended

    def _until_load(self, period: Period, names: Iterable[str]) -> tuple[Period, dt.date | None]:
        """End a period on the day of the load if it is not over then; also return that day, or None if it is over."""
        day = self.loaded_on(*[name for name in _DATES if name in names])
        if day is None or period.end is None or period.end <= day:
            return period, None
        check_begun(period.start, day)
        return Period(period.start, day), day

    def _rows_after(self, name: str, day: dt.date, last: dt.date) -> int:
        rows: pd.DataFrame = getattr(self, name)
        later = rows[_DATES[name]].between(pd.Timestamp(day), pd.Timestamp(last), inclusive="right")
        # The date of a draft can still change, and leave is entered in advance.
        counts = rows["invoice_state"] == "final" if name == "invoices" else rows["billing_type"] != "nonBillable"
        return int((later & counts).sum())

    def loaded_on(self, *names: str) -> dt.date | None:
        """
        Return the day on which frames were loaded, in the firm's time zone; None if that is unknown.

        If they were loaded on several days, the first of these is returned.
        """
        zone = (self.settings or FirmSettings()).time_zone
        days = (load_day(getattr(self, name), zone) for name in names)
        return min((day for day in days if day is not None), default=None)

    @functools.cached_property
    def first_day(self) -> dt.date | None:
        """
        The first day with a time entry or an invoice; None if there are none.

        Before it nothing is known. Dates before 1990 and after 2100 do not count.
        """
        return self.first_day_of(*_DATES)

    def first_day_of(self, *names: str) -> dt.date | None:
        """Return the first day in the time entries, the invoices or both; None if there is none."""
        for name in names:
            if name not in self._first_days:
                self._first_days[name] = first_date(getattr(self, name), _DATES[name])
        return min((day for name in names if (day := self._first_days[name]) is not None), default=None)


def _later_records(name: str, count: int, day: dt.date | None, analysis: str, argument: str) -> str:
    """Return the warning of records that are dated after the load."""
    one = {"time_entries": "time entry", "invoices": "invoice"}[name]
    what = f"1 {one} of the period is" if count == 1 else f"{count:,} {name.replace('_', ' ')} of the period are"
    counts = "it" if count == 1 else "them"
    advice = f" Pass {argument}= to count {counts}." if argument else ""
    return f"{what} dated after {day}, the day of the load; {analysis} does not count {counts}.{advice}"
