"""The class `Book`: the frames that the analyses of one period need, each loaded when it is first needed.

January's work is on February's invoice, and an invoice of this month can have work of years ago. The API has no filter
for the work on some invoices. A book therefore loads all work and all invoices, whatever its period, and the analyses
pick the rows of the period. In this way every invoice is seen with all its items.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

import pandas as pd

from billframes._shared.format import fields_html
from billframes._shared.suggestions import SuggestsNames, check_choice
from billframes.analysis.data.call import FIRM_FRAMES
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.declare.key_words import to_filter
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.keys.by import By
from billframes.analysis.results.fact import FactName, fact_of
from billframes.analysis.results.figure_source import Spans
from billframes.analysis.results.figures_side_by_side import Top
from billframes.book.days import DATES, BookDays
from billframes.book.figures import figures_of_book, rows_of_book
from billframes.book.frames import BookFrame, BookFrames
from billframes.book.methods import FRAME_NAMES, AnalysisMethod
from billframes.client import Client
from billframes.config.firm import FirmSettings, check_settings, describe_settings
from billframes.errors import DecodeError, ParameterError
from billframes.loading.load_info import attach
from billframes.periods import DateLike, Period
from billframes.wings import book_methods

if TYPE_CHECKING:
    from billframes.analysis.results._figure_names import FigureName
    from billframes.book._analyses import BookAnalyses
    from billframes.credits.book_methods import BookCredits
    from billframes.ledger.payments import BookPayments
    from billframes.week.book_methods import BookWeek

    class MoreMethods(BookPayments, BookCredits, BookWeek):
        """The methods of the wings."""
else:
    BookAnalyses = type("BookAnalyses", (), {name: AnalysisMethod() for name in analyses()})
    MoreMethods = type("MoreMethods", book_methods(), {})


class Book(BookFrames, BookAnalyses, MoreMethods, SuggestsNames):
    """
    The frames that the analyses of one period need, and the analyses as methods.

    Made by `bf.book`. The frames are attributes, each loaded on first use: `time_entries`, `expenses`, `fixed_fees`,
    `invoices`, `matters`, `clients`, `users`, `codes`, `code_sets`, `client_balances`. **They hold all dates**, because
    invoices of the period bill older work. `in_period("time_entries")` returns those of the period only. To calculate
    with another frame or with other settings, assign it: `book.settings = bf.FirmSettings(…)`.
    """

    time_entries = BookFrame("All time entries, whatever their date.")
    expenses = BookFrame("All expenses, whatever their date.")
    fixed_fees = BookFrame("All fixed fees, whatever their date.")
    invoices = BookFrame("All invoices, whatever their date and state.")
    matters = BookFrame("All matters. Without rows if the credential may not read them.")
    clients = BookFrame("All clients. Without rows if the credential may not read them.")
    users = BookFrame("All users. Without rows if the credential may not read them.")
    codes = BookFrame("All LEDES codes.")
    code_sets = BookFrame("All sets of LEDES codes.")
    client_balances = BookFrame("Balances of all clients today, as the server calculates them.")

    def __init__(self, period: Period, *, settings: FirmSettings | None, client: Client) -> None:
        super().__init__(client)
        check_settings(settings)
        self.period = period
        # The client can be a mirror, which has no profile.
        self.settings = settings or getattr(client, "settings", None)
        self._client_items: dict[tuple[str, ...], pd.DataFrame] = {}
        self._named: tuple[list[str], DistinctNames] | None = None

    @functools.cached_property
    def _days(self) -> BookDays:
        return BookDays(self)

    @property
    def client(self) -> Client:
        """The client that the book loads with."""
        return self._client

    def _instead(self, argument: str) -> str:
        return to_filter(argument, (), "book.figures(…")

    def __repr__(self) -> str:
        return f"<billframes book {self._dates}; its frames hold all dates>"

    def _repr_html_(self) -> str:
        loaded = [f"{name} ({len(self._frames[name]):,})" for name in FRAME_NAMES if name in self._frames]
        fields = {
            "Period": self._dates,
            "Data": getattr(self._client, "base_url", "") or repr(self._client),
            "Settings": describe_settings(self.settings),
            "Frames": 'of all dates; in_period("time_entries") has those of the period',
            "Loaded": ", ".join(loaded) or "nothing yet; each frame is loaded when it is first needed",
            "Analyses": ", ".join(analyses()),
        }
        return fields_html("Book", fields)

    @property
    def _dates(self) -> str:
        return f"{self.period.start or 'the beginning'} to {self.period.end or 'today'}"

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
        days = frame[DATES.get(name, "date")]
        first, last = (pd.Timestamp(day) if day else None for day in ends.values())
        rows = frame[days.between(first or days.min(), last or days.max())].reset_index(drop=True)
        if load := frame.attrs.get("load"):
            period = {name: day.isoformat() if day else None for name, day in ends.items()}
            attach(rows, "load", {**load, "rows": len(rows), "period": period})
        return rows

    def _items_of_clients(self, name: str, client_ids: Iterable[str]) -> pd.DataFrame:
        """Return the items on invoices of some clients; all items if the book has them or can't filter them."""
        if name in self._frames:
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

    def loaded_on(self, *names: str) -> dt.date | None:
        """
        Return the day on which frames were loaded, in the firm's time zone; None if that is unknown.

        If they were loaded on several days, the first of these is returned.
        """
        return self._days.loaded_on(*names)

    @property
    def _names(self) -> DistinctNames:
        """The names of everyone in the frames that are loaded already."""
        loaded = [name for name in ("clients", "matters", "users", *ITEMS, "invoices") if name in self._frames]
        if self._named is None or self._named[0] != loaded:
            self._named = loaded, DistinctNames(*(self._frames[name] for name in loaded))
        return self._named[1]

    @property
    def first_day(self) -> dt.date | None:
        """
        The first day with a time entry or an invoice; None if there are none.

        Before it nothing is known. Dates before 1990 and after 2100 do not count.
        """
        return self._days.first_day

    def fact(self, name: FactName) -> pd.DataFrame:
        """
        Return the rows that the analyses add up, of all dates, for figures of your own.

        Parameters
        ----------
        name : {"work", "invoices"}

        Returns
        -------
        DataFrame
            As of `billframes.analysis.fact`, whose help has the columns.

        Examples
        --------
        >>> book = bf.book("2026-10")
        >>> work = book.fact("work")
        >>> october = work["is_final"] & work["invoice_date"].between("2026-10-01", "2026-10-31")
        >>> fees = work.loc[october, "time_fees"].sum(skipna=False)
        >>> round(float(fees - book.contribution(by=None)["billed_amount"].sum()), 2)
        0.0
        """
        return cast("pd.DataFrame", fact_of(self._view(sorted(FIRM_FRAMES), self.settings), name))

    def figures(
        self,
        *names: FigureName,
        by: By = None,
        where: Mapping[str, Any] | None = None,
        start: DateLike | None = None,
        end: DateLike | None = None,
        as_of: DateLike | None = None,
        compare: Literal["previous", "year_ago"] | None = None,
        top: Top | None = None,
        spans: Spans | None = None,
        payments: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """
        Calculate figures of several analyses side by side, by the same keys.

        Parameters
        ----------
        *names : str
            Figures, such as "client_hours", "billed_amount", "wip"; `bf.explain("figures")` lists them.
        by, where, compare, top, spans
            As in `billframes.figures`.
        start, end : date-like, optional
            Another period than the book's. A period that is not over ends on the day of the load.
        as_of : date-like, optional
            The day of balances. By default the period's last day, or the day of the load if that is earlier.
        payments : DataFrame, optional
            From `payments`, for figures of cash, such as "collected_amount".

        Returns
        -------
        DataFrame
            As of `billframes.figures`; each figure is that of the book's own method.

        Examples
        --------
        >>> book = bf.book("2026-Q3")
        >>> list(book.figures("client_hours", "billed_amount", "wip", by="practice_area"))
        ['practice_area_id', 'practice_area_label', 'client_hours', 'billed_amount', 'wip_amount']
        """
        given = {"start": start, "end": end, "as_of": as_of, "payments": payments}
        return figures_of_book(self, names, given, spans, by=by, where=where, compare=compare, top=top)

    def rows(
        self,
        figure: str,
        *,
        by: By = None,
        where: Mapping[str, Any] | None = None,
        start: DateLike | None = None,
        end: DateLike | None = None,
        as_of: DateLike | None = None,
        payments: pd.DataFrame | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """
        List the rows that a figure is the sum of: time entries, expenses, fixed fees, and parts of invoices.

        Parameters
        ----------
        figure : str
            A sum, such as "billed_amount", "wip", "receivables" or "contribution.billed_amount".
        by, where
            As in `billframes.rows`.
        start, end, as_of, payments
            As in `figures`.
        **options
            Options of the figure's analysis, such as `basis="invoice_date"`.

        Returns
        -------
        DataFrame
            As of `billframes.rows`; the parts add up to the figure.

        Examples
        --------
        >>> book = bf.book("2026-Q3")
        >>> rows = book.rows("wip", where={"practice_area": "Corporate"})
        >>> figure = book.figures("wip", where={"practice_area": "Corporate"})
        >>> float(rows["wip_amount"].sum().round(2)) == float(figure["wip_amount"].iloc[0].round(2))
        True
        """
        given = {"start": start, "end": end, "as_of": as_of, "payments": payments}
        return rows_of_book(self, figure, given, options, by=by, where=where)
