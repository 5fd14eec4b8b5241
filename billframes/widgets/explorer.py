"""The explorer: a filter panel beside tabs with analyses of the records that pass the filters.

Only the visible tab is computed. Other tabs are computed when they are opened.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import ipywidgets as w
import pandas as pd

from billframes._shared.format import long_date, span_name
from billframes._shared.names import type_in_words
from billframes.analysis.data.data_span import check_begun
from billframes.analysis.rules.payments import check_payments
from billframes.book import Book
from billframes.errors import BillframesError, ParameterError
from billframes.widgets.address import Place, read_address, tab_name, value_text, write_address
from billframes.widgets.describe import describe
from billframes.widgets.filtered_book import FilteredBooks
from billframes.widgets.html import StillForm, escape_text, html_widget, still, stylesheet
from billframes.widgets.overview import Overview
from billframes.widgets.panel import FilterPanel, day_loaded
from billframes.widgets.state import FilterState, read_state
from billframes.widgets.tabs import AnalysisTab
from billframes.widgets.views import views


class Explorer(StillForm, w.Box):  # type: ignore[misc]
    """
    An interactive view of a book; created by `explore`.

    Attributes
    ----------
    panel : FilterPanel
        The filters for the book's time entries with the details of their matters, clients and people.
    tabs : Tab
        The views; `tabs.children` are the overview and the tabs that analyses declare.
    address : str
        The tab, open row, period and filters as the query of a page, such as "tab=receivables&period=2026-10". Can be
        set. In the dashboard it is the address of the page.
    narrow : ToggleButton
        Whether charts are drawn for a phone. It is hidden; the dashboard's page presses it according to its width.
    """

    def __init__(
        self,
        book: Book,
        today: dt.date,
        title: str = "",
        remark: str = "",
        payments: pd.DataFrame | None = None,
    ) -> None:
        self._books = FilteredBooks(book, today, payments)
        self._filters = self._books.book_filters.for_frame("time_entries")
        self.panel = FilterPanel(self._filters, today)
        zone = book.settings.time_zone if book.settings else "UTC"
        self._views = [view for view in views() if payments is not None or view.tab.filters != "payments"]
        titles = ("Overview", *(view.tab.title for view in self._views))
        self._names = [tab_name(each) for each in titles]
        tabs: list[Any] = [Overview(self._names, self._open), *(AnalysisTab(view, zone) for view in self._views)]
        self.tabs = w.Tab(tabs, titles=titles).add_class("bf-tabs")
        self._title, self._remark = title, remark
        self._top = html_widget("", "bf-top")
        self._error, self._refused = html_widget("", "bf-complaint"), html_widget("", "bf-complaint")
        self._moving, self._written = False, ""
        self._address = w.Text().add_class("bf-address")
        self._stale = set(range(len(tabs)))
        self.panel.kept = ("date",)
        ends = {"from": book.period.start, "to": book.period.end}
        self.panel.state = {"date": {name: end and end.isoformat() for name, end in ends.items()}}
        self._first_period = self._state.criteria.get("date")
        self.panel.add_class("bf-side")
        main = w.VBox([self._refused, self._error, self.tabs]).add_class("bf-main")
        self.narrow = w.ToggleButton(description="Draw charts for a phone").add_class("bf-narrow")
        super().__init__([stylesheet(), self._top, self.panel, main, self.narrow, self._address])
        self.add_class("bf-explore")
        self.panel.before_change = self._mark_stale
        self.panel.on_change(self._filters_changed)
        self.tabs.observe(lambda _change: self._show(), "selected_index")
        self.narrow.observe(lambda _change: self._draw_for_width(), "value")
        for tab in tabs[1:]:
            tab.by.observe(lambda _change: self._write_address(), "value")
            tab.on_move = self._write_address
        self._address.observe(lambda change: self._follow(change["new"]), "value")
        self.tabs.selected_index = 0
        self._mark_stale()
        self._filters_changed()

    def __repr__(self) -> str:
        return f"Explorer: {self.tabs.titles[self.tabs.selected_index]}; {describe(self._filters, self._state)}"

    def _repr_html_(self) -> str:
        filters = f"<p>{escape_text(describe(self._filters, self._state))}</p>"
        return f"{still(self._top)}{filters}{still(self._error)}{still(self.tabs.children[self.tabs.selected_index])}"

    @property
    def address(self) -> str:
        """The tab, open row, period and filters as the query of a page."""
        return str(self._address.value)

    @address.setter
    def address(self, text: str) -> None:
        self._address.value = text

    @property
    def _state(self) -> FilterState:
        return read_state(self.panel.state, self._filters.fields)

    @property
    def _place(self) -> Place:
        number = self.tabs.selected_index
        name, state = self._names[number], self._state
        if not number:
            return Place(name, None, None, state)
        tab = self.tabs.children[number]
        return Place(name, None if tab.key == next(iter(tab.view.tab.by), None) else tab.key, tab.row, state)

    def _write_address(self) -> None:
        if not self._moving:
            self._written = write_address(self._place, self._filters)
            self._address.value = self._written

    def _follow(self, text: str) -> None:
        """Show what an address says, or the sentence why it can't be shown."""
        if text == self._written:
            return
        keys = [(), *(view.tab.by for view in self._views)]
        tabs, today = dict(zip(self._names, keys, strict=True)), self._books.book_filters.today
        try:
            place = read_address(text, tabs, self._filters, self._first_period, today)
        except ParameterError as error:
            self._refused.value = escape_text(f"{error} Nothing of the address is applied.")
            self._write_address()
        else:
            self._refused.value = ""
            self._go(place)
        # The page is hidden until then.
        self.add_class("bf-there")

    def _open(self, name: str, row: str) -> None:
        """Open a tab, and the row that page one names so."""
        key, value = self._views[self._names.index(name) - 1].find(self._filtered, row)
        self._go(Place(name, key, None if key is None else value_text(value), self._state))

    def _go(self, place: Place) -> None:
        number = self._names.index(place.tab or self._names[0])
        tab = self.tabs.children[number]
        self._moving = True
        try:
            if place.state != self._state:
                self._mark_stale()
            self.tabs.selected_index = number
            self.panel.state = place.state.as_dict()
            if number and (number in self._stale or tab.key != (place.by or next(iter(tab.view.tab.by), None))):
                self._stale.add(number)
                tab.group_by(place.by, place.row)
            elif number:
                tab.show_row(place.row)
        finally:
            self._moving = False
        self._filters_changed()
        if number and tab.row != place.row:
            self._refused.value = escape_text(f"The address has row={place.row}, but the table has no such row.")

    def _mark_stale(self) -> None:
        # The browser switches tabs by itself, so tabs with old figures must be grey before they are opened.
        self._stale = set(range(len(self.tabs.children)))
        for each in self.tabs.children:
            each.add_class("bf-busy")

    def _draw_for_width(self) -> None:
        for each in self.tabs.children[1:]:
            each.narrow = self.narrow.value
        # Tabs are grey until their charts have the new width.
        self._mark_stale()
        (self.add_class if self.narrow.value else self.remove_class)("bf-phone")
        self._show()

    def _filters_changed(self, _frame: pd.DataFrame | None = None) -> None:
        if self._moving:
            return
        self._refused.value = ""
        self._filtered = self._books.at(self._state)
        self._show()

    def _show(self) -> None:
        if self._moving:
            return
        if self.tabs.selected_index in self._stale:
            self._show_tab(self.tabs.selected_index)
        self._write_address()

    def _show_tab(self, place: int) -> None:
        try:
            self.tabs.children[place].show(self._filtered)
        except BillframesError as error:
            self._show_error(place, str(error))
        except Exception as error:
            # After a bug the tab must not stay grey without a message. The log has the traceback.
            self._show_error(place, f"This tab could not be calculated ({type(error).__name__}: {error}).")
            raise
        else:
            self._stale.discard(place)
            self.tabs.children[place].remove_class("bf-busy")
            self.tabs.children[place].remove_class("bf-failed")
            self._error.value = ""
            self._top.value = self._heading()

    def _show_error(self, place: int, message: str) -> None:
        self._error.value = escape_text(message)
        self.tabs.children[place].add_class("bf-failed")

    def _heading(self) -> str:
        """Return the period, the firm's name, and the day of the data."""
        filtered = self._filtered
        currency = f"Amounts in {filtered.currency} · d" if filtered.currency else "D"
        data = f"{currency}ata of {long_date(self._books.book_filters.today)}"
        lines = "<br>".join(escape_text(each) for each in (data, self._remark) if each)
        period = escape_text(span_name(filtered.start, filtered.end))
        return f'<h1>{period}</h1><p class="bf-firm">{escape_text(self._title)}</p><p class="bf-when">{lines}</p>'


def explore(
    book: Book,
    *,
    payments: pd.DataFrame | None = None,
    today: dt.date | None = None,
    title: str = "",
    remark: str = "",
) -> Explorer:
    """
    Explore a book with filters, and tabs for utilization, realization, receivables, work in progress and more.

    Every table and chart follows the filters. A click on a bar shows the rows behind it. Tables can be downloaded as
    CSV and Excel files. The panel starts with the book's period. A period that is not over ends with the data.

    Figures under filters are parts of the whole: the amount of an invoice is spread over all its items before the
    filters select items.

    Parameters
    ----------
    book : Book
        Created by `bf.book`. Its firm settings apply here, too.
    payments : DataFrame, optional
        From `book.payments`. With it there is the tab "What came in".
    today : date, optional
        The day from which "last month" is counted, and the last day of the figures. By default the day the time
        entries were loaded, in the time zone of the firm's settings, if known, else today.
    title : str
        The firm's name, shown at the top.
    remark : str
        A line at the top, for example that the figures are made up.

    Returns
    -------
    Explorer
        A widget that shows itself as a cell's last value; `.panel` is its filter panel.

    Raises
    ------
    ParameterError
        `book` is not a book, `payments` is not from `book.payments`, or the period is in the future.

    Examples
    --------
    >>> explorer = bf.explore(bf.book("2026-Q3"))
    >>> explorer.tabs.titles[:4]
    ('Overview', 'Utilization', 'Realization', 'Receivables')
    """
    if not isinstance(book, Book):
        raise ParameterError(f"book is {type_in_words(book)}; pass a book, such as bf.book('2026-Q3').")
    if payments is not None:
        check_payments(payments)
    day = today or book.loaded_on("time_entries") or day_loaded(book.time_entries)
    check_begun(book.period.start, day)
    return Explorer(book, day, title, remark, payments)
