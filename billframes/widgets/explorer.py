"""The explorer: a filter panel beside tabs with the analyses of what passes the filters.

Only the visible tab is computed. The others are computed when they are opened.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import ipywidgets as w
import pandas as pd

from billframes.book import Book
from billframes.errors import BillframesError
from billframes.widgets._filtered_book import BookFilters, FilteredBook
from billframes.widgets._html import note, stylesheet, text_of
from billframes.widgets._state import read_state
from billframes.widgets._tabs import Overview, ViewTab
from billframes.widgets._views import VIEWS
from billframes.widgets.panel import FilterPanel, day_of

__all__ = ["Explorer", "explore"]


class Explorer(w.Box):  # type: ignore[misc]
    """
    An interactive view of a book; created by `explore`.

    Attributes
    ----------
    panel : FilterPanel
        The filters for the book's time entries with the details of their matters, clients and people.
    tabs : Tab
        The views; `tabs.children` are overview, utilization, realization, receivables and work in progress.
    """

    def __init__(self, book: Book, today: dt.date) -> None:
        self._book_filters = BookFilters(book, today)
        self.panel = FilterPanel(self._book_filters.filters("time_entries"), today)
        zone = book.settings.time_zone if book.settings else "UTC"
        views: list[Any] = [Overview(VIEWS), *(ViewTab(view, zone) for view in VIEWS)]
        self.tabs = w.Tab(views, titles=("Overview", *(view.title for view in VIEWS)))
        self.tabs.add_class("bf-tabs")
        self._error = note("", "bf-complaint")
        self._stale = set(range(len(views)))
        self.panel.state = _period_of(book)
        self.panel.add_class("bf-side")
        main = w.VBox([self._error, self.tabs])
        main.add_class("bf-main")
        super().__init__([stylesheet(), self.panel, main])
        self.add_class("bf-explore")
        self.panel.on_change(self._filters_changed)
        self.tabs.observe(lambda _change: self._show(), "selected_index")
        self.tabs.selected_index = 0
        self._filters_changed()

    def _filters_changed(self, _frame: pd.DataFrame | None = None) -> None:
        self._stale = set(range(len(self.tabs.children)))
        self._filtered = FilteredBook(
            self._book_filters, read_state(self.panel.state, self._book_filters.filters("time_entries").fields)
        )
        self._show()

    def _show(self) -> None:
        place = self.tabs.selected_index
        if place not in self._stale:
            return
        try:
            self.tabs.children[place].show(self._filtered)
        except BillframesError as error:
            self._error.value = text_of(error)
        else:
            self._stale.discard(place)
            self._error.value = ""


def explore(book: Book, *, today: dt.date | None = None) -> Explorer:
    """
    Look around in a book: filters beside tabs for utilization, realization, receivables and work in progress.

    Every table and chart follows the filters. A click on a bar shows the rows behind it; what is shown can be
    downloaded as CSV and Excel. The panel's period begins as the book's. A period that is not over ends with the data.

    Under filters the figures stay parts of the whole: what an invoice billed is spread over all its items before those
    that the filters keep are picked.

    Parameters
    ----------
    book : Book
        Made by `bf.book`.
    today : date, optional
        What "last month" is counted from, and the last day that figures run to: the day the time entries were
        loaded, where they say so, else this machine's.

    Returns
    -------
    Explorer
        A widget that shows itself as a cell's last value; `.panel` is its filter panel.

    Examples
    --------
    >>> explorer = bf.explore(bf.book("2026-Q3"))
    >>> explorer.tabs.titles[:4]
    ('Overview', 'Utilization', 'Realization', 'Receivables')
    """
    return Explorer(book, today or day_of(book.time_entries))


def _period_of(book: Book) -> dict[str, Any]:
    ends = {"from": book.period.start, "to": book.period.end}
    return {"date": {name: end and end.isoformat() for name, end in ends.items()}}
