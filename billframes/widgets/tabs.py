"""The explorer's tabs: for each analysis tiles, a table, a chart, and the records behind a row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import ipywidgets as w
import pandas as pd

from billframes._shared.format import format_number, long_date
from billframes._shared.names import join_names
from billframes._shared.notes import NOTES, Note, Notes, collect_notes
from billframes.analysis.declare.explanation import definition_list
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import measure
from billframes.analysis.results.explain import meaning
from billframes.analysis.rules.periods import LATER_BALANCES
from billframes.errors import ParameterError
from billframes.loading.load_info import attached
from billframes.periods import Period
from billframes.widgets.address import value_text
from billframes.widgets.filtered_book import FilteredBook
from billframes.widgets.html import (
    SHOW_ME,
    Order,
    asked,
    button,
    download_links,
    escape_text,
    html_widget,
    records_table,
    result_table,
    row_labels,
    sentences,
    set_visible,
    tiles,
)
from billframes.widgets.pictures import Place, bar_buttons
from billframes.widgets.views import AnalysisView
from billframes.wings import module_of

# The most bars of a chart, the most rows of a table, and the most of the records behind a row.
_MOST_BARS, _MOST_ROWS, _MOST_RECORDS = 12, 200, 50


class AnalysisTab(w.VBox):  # type: ignore[misc]
    """The tab of one analysis: its figures and table are shown first, then the chart, which takes longer."""

    def __init__(self, view: AnalysisView, time_zone: str) -> None:
        self.view, self._time_zone = view, time_zone
        self.narrow = False
        self._filtered: FilteredBook | None = None
        self._order: Order | None = None
        self._opened: int | None = None
        # Called when records are opened or closed by a click.
        self.on_move: Callable[[], object] = lambda: None
        self._wanted: str | None = None
        self.by = w.Dropdown(options=list(view.keys), description="By").add_class("bf-by")
        self.by.observe(lambda _change: self._while_busy(self._redraw), "value")
        set_visible(self.by, len(view.keys) > 1)
        self._about, self._tiles = html_widget("", "bf-about"), html_widget()
        self._chart, self._bar_buttons = html_widget("", "bf-picture"), html_widget("", "bf-hits")
        self._table, self._links = html_widget(), html_widget("", "bf-links")
        self._notes = html_widget("", "bf-notes")
        self._records = html_widget("", "bf-behind")
        self.records_box = w.VBox([self._records, button("Close", self._close_and_say, "bf-close")]).add_class(
            "bf-drill"
        )
        head = w.HBox([html_widget(f"<h2>{escape_text(view.analysis.question)}</h2>", "bf-question"), self.by])
        head.add_class("bf-view-head")
        chart = w.Box([self._chart, self._bar_buttons]).add_class("bf-chart-box")
        terms = definition_list(meaning(view.analysis))
        definitions = html_widget(
            f"<details><summary>What counts, and what does not</summary>{terms}</details>", "bf-how"
        )
        every = html_widget('<label><input type="checkbox"> Show all columns</label>', "bf-all")
        below = (chart, self.records_box, every, self._table, self._links, definitions)
        super().__init__([head, self._about, self._tiles, self._notes, *below, asked(self._click)])
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        self._filtered = filtered
        self._redraw()

    @property
    def key(self) -> str | None:
        """The key by which rows are grouped; None for an analysis without `by`."""
        return self.view.keys[self.by.value] if self.view.keys else None

    @property
    def row(self) -> str | None:
        """The row whose records are shown, as an address has it; None if there is none."""
        return self._wanted if self._opened is None else value_text(self.result.iloc[self._opened, 0])

    def show_row(self, row: str | None) -> None:
        """Show the records of a row; close them if there is no such row."""
        values = [value_text(each) for each in self.result.iloc[:, 0]] if self.view.tab.opens else []
        if row in values:
            self.open_row(values.index(row))
        else:
            self._close()

    def group_by(self, key: str | None, row: str | None = None) -> None:
        """Group rows by a key, by default the first one, and open a row, when the tab is shown the next time."""
        self._filtered, self._wanted = None, row
        if self.view.keys:
            self.by.value = next(words for words, each in self.view.keys.items() if key in {each, None})

    def _while_busy(self, action: Callable[[], None]) -> None:
        self.add_class("bf-busy")
        try:
            action()
        finally:
            self.remove_class("bf-busy")

    def _redraw(self) -> None:
        if self._filtered is None:
            return
        self._close()
        filtered, view = self._filtered, self.view
        with collect_notes(Notes("page")) as notes:
            try:
                self.result = view.compute(filtered, self.key)
            except ParameterError as error:
                if view.tab.filters != "forecast":
                    raise
                # It is the same under all filters, so there are no earlier figures.
                self._about.value = escape_text(_texts().why_not(error))
                self.remove_class("bf-busy")
                return
            self._total = filtered.total(view.analysis)
        self._about.value = sentences(
            view.analysis.summary.replace("`", ""),
            view.tab.about_filters if filtered.has_filters or view.tab.filters == "forecast" else "",
            compared_with(filtered, view),
            _texts().record_sentence(self.result) if view.tab.filters == "forecast" else "",
        )
        self._tiles.value = tiles_of(view, filtered, self._total)
        self._notes.value = note_paragraphs(view, notes, filtered)
        self._order = None if self.key in TIMES or not view.tab.order else (view.tab.order, False)
        self._show_table()
        self._links.value = ""
        self._chart.add_class("bf-drawing")
        # No bar of the old chart can be clicked.
        self._bar_buttons.value = ""
        self.remove_class("bf-busy")
        self._draw_chart()
        self._chart.remove_class("bf-drawing")
        self._links.value = download_links(self._caption, self.result, self._time_zone)
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self.show_row(wanted)

    def _draw_chart(self) -> None:
        horizontal = self.key not in TIMES
        bars = self.view.bars(self.result, _MOST_BARS) if horizontal else self.result
        self._chart.value = ""
        self._places: dict[int, Place] = {}
        if not len(bars):
            self._chart.value = "<p>Nothing to show under these filters.</p>"
            return
        if not self.view.has_chart(bars):
            return
        currency = self._filtered.currency if self._filtered else ""
        alt = f"Chart: {self._caption}. The table has the numbers."
        self._chart.value, places = self.view.picture(
            bars, alt, currency=currency, horizontal=horizontal, narrow=self.narrow
        )
        self._places = dict(zip(bars.index, places, strict=False))
        self._mark(None)

    @property
    def _caption(self) -> str:
        return f"{self.view.tab.title} by {self.by.value.lower()}" if self.by.value else self.view.tab.title

    def _show_table(self) -> None:
        view, result, caption = self.view, self.result, self._caption
        rows = (view.sort(result, self._order) if self._order else result).head(_MOST_ROWS)
        if len(rows) < len(result):
            caption = f"{caption}: the first {_MOST_ROWS} of {len(result):,} rows, all in the download"
        columns, wide = view.columns(result), view.only_where_wide(result)
        self._table.value = result_table(
            caption, view.names(rows), columns, rows, self._total, wide, order=self._order, opens=bool(view.tab.opens)
        )

    def _click(self, words: str) -> None:
        """Sort the table or the records by a column, or show the records behind a row."""
        act, _, what = words.partition(" ")
        if act == "open":
            self._while_busy(partial(self.open_row, int(what)))
            self.on_move()
        elif act == "sort":
            self.sort(what)
        elif act == "records" and self._opened is not None:
            self._show_records(next_order(self._behind, what, self._records_order))

    def sort(self, column: str) -> None:
        """Sort the table by a column: numbers the largest first, names from A to Z, and the second time reversed."""
        self._order = next_order(self.result, column, self._order)
        self._show_table()

    def open_row(self, row: int) -> None:
        """Show the records behind a row of the result, and mark its bar."""
        if self._filtered is None or not self.view.tab.opens:
            return
        self._behind = self.view.rows_behind(self._filtered, self.key, self.result.iloc[row, 0])
        self._opened = row
        set_visible(self.records_box, True)
        self._show_records(None)
        self._mark(row)

    def _show_records(self, order: Order | None) -> None:
        records, self._records_order = self._behind, order
        label = next(iter(self.view.names(self.result).values()))[self._opened or 0]
        rows = f"{len(records):,} row{'' if len(records) == 1 else 's'}"
        counted = self.view.counted
        total = format_number(float(records[counted.name].sum()), counted.unit)
        caption = f"{label}: {rows}, {counted.title.lower()} {total}"
        shown = records.sort_values(order[0], ascending=order[1], kind="stable") if order else records
        # The caption has the name that all rows share.
        shown = shown.drop(columns=[f"{self.key}_name", f"{self.key}_label"], errors="ignore")
        table = records_table(caption, shown, _MOST_RECORDS, order)
        if len(records) > _MOST_RECORDS:
            table += f"<p>These are the first {_MOST_RECORDS} rows; the download has all of them.</p>"
        self._records.value = (
            SHOW_ME + table + download_links(f"{self.view.tab.title} {label} rows", records, self._time_zone)
        )

    def _mark(self, row: int | None) -> None:
        names, places = row_labels(self.result), self._places if self.view.tab.opens else {}
        labels = {place: names[place] for place in places}
        self._bar_buttons.value = bar_buttons(labels, places, row, horizontal=self.key not in TIMES)

    def _close_and_say(self) -> None:
        self._close()
        self.on_move()

    def _close(self) -> None:
        set_visible(self.records_box, False)
        if self._opened is not None:
            self._opened, self._records.value = None, ""
            self._mark(None)


def _texts() -> Any:
    return module_of("forecast", "in_report")


def next_order(frame: pd.DataFrame, column: str, order: Order | None) -> Order | None:
    """
    Return the order of rows after a click on the heading of a column.

    Examples
    --------
    >>> frame = pd.DataFrame({"client_name": ["Acme"], "total": [1.0]})
    >>> next_order(frame, "total", None), next_order(frame, "total", ("total", False))
    (('total', False), ('total', True))
    >>> next_order(frame, "client_name", None)
    ('client_name', True)
    """
    if column not in frame:
        return order
    if order and order[0] == column:
        return column, not order[1]
    return column, not pd.api.types.is_numeric_dtype(frame[column].dtype)


def compared_with(filtered: FilteredBook, view: AnalysisView) -> str:
    """Return a sentence about the period with which the tiles are compared; empty if there is none."""
    before = filtered.before
    if not view.tab.compared or before is None:
        return ""
    return f"Compared with {long_date(before.start)} to {long_date(before.end)}."


def tiles_of(view: AnalysisView, filtered: FilteredBook, total: dict[str, float]) -> str:
    """Return the tiles of a tab, with figures of the period before if they can be compared."""
    before: dict[str, float] = {}
    if view.tab.compared and filtered.before:
        # Readers would take notes on the period before for notes on this one.
        with collect_notes(Notes("page")):
            figures = filtered.before.total(view.analysis)
        before = {name: figures[name] for name in view.tab.compared if name in figures}
    columns = [found for name in view.tab.tiles if (found := measure(name, view.analysis))]
    return tiles(columns, total, before, filtered.currency)


def note_paragraphs(view: AnalysisView, notes: Iterable[Note], filtered: FilteredBook) -> str:
    """Return as paragraphs which filters do not count, and the notes; that of later balances names the period."""
    ignored = filtered.not_counted(view.tab)
    texts = [do_not_count(ignored, "here")] if ignored else []
    texts += [(each.rule is LATER_BALANCES and filtered.balances) or each.text("page") for each in notes]
    if view.tab.filters == "payments":
        texts += _about_payments(filtered.book_filters.payments, filtered.end)
    return "".join(f"<p>{escape_text(each)}</p>" for each in dict.fromkeys(texts))


def _about_payments(payments: pd.DataFrame | None, last: dt.date) -> list[str]:
    """Return where the payments of the firm's books end, if that is before the period's last day, and their notes."""
    end = Period.stated(attached(payments, "payments") or {}).end
    notes = [str(each["plain"]) for each in attached(payments, NOTES) or []]
    if end and end < last:
        return [f"The payments in the books end on {long_date(end)}; later ones are missing here.", *notes]
    return notes


def do_not_count(filters: Sequence[str], place: str) -> str:
    """Return the sentence that filters do not count in a place."""
    names = join_names([f"“{each}”" for each in filters])
    many = len(filters) > 1
    return f"The filter{'s' if many else ''} {names} do{'' if many else 'es'} not count {place}."
