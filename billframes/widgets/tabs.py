"""The explorer's tabs: an overview, and for each analysis tiles, a chart, the rows behind a bar, and a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import ipywidgets as w
import pandas as pd

from billframes._format import format_number, long_date
from billframes._names import join_names
from billframes._notes import Note, Notes, collect_notes
from billframes.analysis.declare.explanation import definition_list
from billframes.analysis.model.keys import TIMES
from billframes.analysis.results.explain import meaning
from billframes.analysis.rules.periods import LATER_BALANCES
from billframes.widgets.filtered_book import FilteredBook
from billframes.widgets.html import (
    busy,
    button,
    download_links,
    escape_text,
    html_widget,
    records_table,
    result_table,
    row_labels,
    set_visible,
    tiles,
)
from billframes.widgets.views import AnalysisView

__all__ = ["AnalysisTab", "Overview", "compared_with", "do_not_count"]

# The most bars of a chart in a tab and in the overview, and the most rows of a table and of the rows behind a bar.
_MOST_BARS, _MOST_OVERVIEW_BARS = 12, 6
_MOST_ROWS, _MOST_RECORDS = 200, 50


class AnalysisTab(w.VBox):  # type: ignore[misc]
    """
    The tab of one analysis.

    Parameters
    ----------
    view : AnalysisView
    time_zone : str
        The time zone of times in exported files.
    """

    def __init__(self, view: AnalysisView, time_zone: str) -> None:
        self.view, self._time_zone = view, time_zone
        self.narrow = False
        self._filtered: FilteredBook | None = None
        self.by = w.Dropdown(options=list(view.keys), description="By")
        self.by.add_class("bf-by")
        self.by.observe(lambda _change: self._while_busy(self._redraw), "value")
        set_visible(self.by, len(view.keys) > 1)
        self._about, self._tiles = html_widget("", "bf-about"), html_widget()
        self._chart, self._bar_buttons = html_widget("", "bf-picture"), w.Box()
        self._bar_buttons.add_class("bf-hits")
        self._table, self._links, self._notes = html_widget(), html_widget(), html_widget("", "bf-notes")
        self.records_box = w.VBox()
        self.records_box.add_class("bf-drill")
        head = w.HBox([html_widget(f"<h2>{escape_text(view.analysis.question)}</h2>", "bf-question"), self.by])
        head.add_class("bf-view-head")
        chart = w.Box([self._chart, self._bar_buttons])
        chart.add_class("bf-chart-box")
        terms = definition_list(meaning(view.analysis))
        definitions = html_widget(
            f"<details><summary>What counts, and what does not</summary>{terms}</details>", "bf-how"
        )
        below = (chart, self.records_box, self._table, self._links, definitions)
        super().__init__([head, self._about, self._tiles, self._notes, *below])
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
    def bars(self) -> list[w.Button]:
        """The buttons over the chart's bars."""
        return list(self._bar_buttons.children)

    def _while_busy(self, action: Callable[[], None]) -> None:
        with busy(self):
            action()

    def _redraw(self) -> None:
        if self._filtered is None:
            return
        self._close()
        filtered, view = self._filtered, self.view
        with collect_notes(Notes("page")) as notes:
            self.result = view.compute(filtered, self.key)
            self._total = filtered.total(view.analysis)
        self._about.value = " ".join(
            escape_text(each)
            for each in (
                view.analysis.summary,
                view.tab.about_filters,
                compared_with(filtered, view),
                filtered.settings,
            )
        )
        self._tiles.value = _tiles(view, filtered, self._total)
        self._draw_chart()
        self._show_table()
        self._notes.value = _paragraphs(view, notes, filtered)

    def _draw_chart(self) -> None:
        over_time = self.key in TIMES
        bars = self.result if over_time else self.result.head(_MOST_BARS)
        self._chart.value, self._bar_buttons.children = "", ()
        if not len(bars):
            self._chart.value = "<p>Nothing to show under these filters.</p>"
            return
        if self.view.analysis.chart is None:
            return
        horizontal, currency = not over_time, self._filtered.currency if self._filtered else ""
        alt = f"Chart: {self._caption}. The table has the numbers."
        self._chart.value, places = self.view.picture(
            bars, alt, currency=currency, horizontal=horizontal, narrow=self.narrow
        )
        if self.view.records and self.key:
            labels = row_labels(bars)
            self._bar_buttons.children = [
                self._bar_button(row, labels[row], place, horizontal) for row, place in enumerate(places)
            ]

    def _bar_button(self, row: int, label: str, place: tuple[float, float], horizontal: bool) -> w.Button:
        words = f"Show the rows behind {label}"
        over_bar = button(words, partial(self._while_busy, partial(self.open_row, row)), "bf-hit", tooltip=words)
        start, size = (f"{part:.3%}" for part in place)
        layout = {"top": start, "height": size} if horizontal else {"left": start, "width": size}
        for name, value in layout.items():
            setattr(over_bar.layout, name, value)
        over_bar.add_class("bf-lying" if horizontal else "bf-standing")
        return over_bar

    @property
    def _caption(self) -> str:
        return f"{self.view.title} by {self.by.value.lower()}" if self.by.value else self.view.title

    def _show_table(self) -> None:
        rows, caption = self.result.head(_MOST_ROWS), self._caption
        if len(rows) < len(self.result):
            caption = f"{caption}: the first {_MOST_ROWS} of {len(self.result):,} rows, all in the download"
        names, columns = self.view.names(rows), self.view.columns(self.result)
        wide = self.view.only_where_wide(self.result)
        self._table.value = result_table(caption, names, columns, rows, self._total, wide)
        self._links.value = download_links(self._caption, self.result, self._time_zone)

    def open_row(self, row: int) -> None:
        """Show the records behind a row of the result, and mark its bar."""
        spec = self.view.records
        if self._filtered is None or spec is None or self.key is None:
            return
        records = self.view.rows_behind(self._filtered, self.key, self.result.iloc[row, 0])
        label, counted = row_labels(self.result)[row], self.view.analysis.measure(spec.counted)
        if counted is None:
            raise AssertionError(f"{spec.counted} is not a measure")
        figure = format_number(float(records[counted.name].sum()), counted.unit)
        rows = f"{len(records):,} row{'' if len(records) == 1 else 's'}"
        caption = f"{label}: {rows}, {counted.title.lower()} {figure}"
        table = records_table(caption, records, _MOST_RECORDS)
        if len(records) > _MOST_RECORDS:
            table += f"<p>These are the first {_MOST_RECORDS} rows; the download has all of them.</p>"
        links = download_links(f"{self.view.title} {label} rows", records, self._time_zone)
        close = button("Close", self._close, "bf-close")
        self.records_box.children = [html_widget(table + links, "bf-behind"), close]
        set_visible(self.records_box, True)
        self._mark(row)

    def _mark(self, row: int | None) -> None:
        for place, bar in enumerate(self.bars):
            (bar.add_class if place == row else bar.remove_class)("bf-marked")

    def _close(self) -> None:
        self.records_box.children = ()
        set_visible(self.records_box, False)
        self._mark(None)


class Overview(w.VBox):  # type: ignore[misc]
    """
    The main figures of some tabs, with a chart for each: by month, or within one month by the tab's first key.

    All figures are shown first, and then the charts, which take longer.

    Parameters
    ----------
    views : sequence of AnalysisView
    """

    def __init__(self, views: Sequence[AnalysisView]) -> None:
        self.narrow = False
        self._parts = [(view, html_widget(), html_widget("", "bf-overview-chart")) for view in views]
        self._about = html_widget("", "bf-about")
        sections = [w.VBox([figures, chart]) for _view, figures, chart in self._parts]
        body = w.Box(sections)
        body.add_class("bf-overview")
        super().__init__([html_widget("<h2>How is the firm doing?</h2>", "bf-question"), self._about, body])
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        texts = [_figures_of(view, filtered) for view, _figures, _chart in self._parts]
        # The texts have the notes.
        with collect_notes(Notes("page")):
            chart_rows = {view: _chart_rows(view, filtered) for view, _figures, _chart in self._parts}
        self._about.value = " ".join(
            escape_text(each)
            for each in (
                "Receivables and work in progress are as of the period’s last day.",
                *dict.fromkeys(compared_with(filtered, view) for view in chart_rows),
                filtered.settings,
            )
            if each
        )
        for (_view, figures, chart), text in zip(self._parts, texts, strict=True):
            figures.value = text
            chart.add_class("bf-drawing")
        self.remove_class("bf-busy")
        for view, _figures, chart in self._parts:
            by, rows = chart_rows[view]
            # Each chart is drawn once for the same filters.
            key = (view.title, by, self.narrow)
            if key not in filtered.charts:
                filtered.charts[key] = _draw_chart(view, by, rows, filtered.currency, narrow=self.narrow)
            chart.value = filtered.charts[key]
            chart.remove_class("bf-drawing")


def _figures_of(view: AnalysisView, filtered: FilteredBook) -> str:
    """Return a section of the overview: its heading, figures and notes."""
    with collect_notes(Notes("page")) as found:
        _chart_rows(view, filtered)
        total = filtered.total(view.analysis)
    notes = _paragraphs(view, found, filtered)
    if filtered.has_filters:
        notes = f'<p class="bf-filters">{escape_text(view.tab.about_filters)}</p>{notes}'
    tiles_and_notes = f'{_tiles(view, filtered, total)}<div class="bf-notes">{notes}</div>'
    return f"<h3>{escape_text(view.title)}</h3>{tiles_and_notes}"


def _draw_chart(view: AnalysisView, key: str | None, rows: pd.DataFrame, currency: str, *, narrow: bool) -> str:
    if not len(rows) or view.analysis.chart is None:
        return ""
    by = next((f" by {words.lower()}" for words, each in view.keys.items() if each == key), "")
    alt = f"Chart: {view.title}{by}. The tab {view.title} has the numbers."
    horizontal = key is not None and key not in TIMES
    return view.picture(rows, alt, currency=currency, horizontal=horizontal, narrow=narrow)[0]


def compared_with(filtered: FilteredBook, view: AnalysisView) -> str:
    """Return a sentence about the period with which the tiles are compared; empty if there is none."""
    before = filtered.before
    if not view.tab.compared or before is None:
        return ""
    return f"Compared with {long_date(before.start)} to {long_date(before.end)}."


def _chart_rows(view: AnalysisView, filtered: FilteredBook) -> tuple[str | None, pd.DataFrame]:
    """Return the key and the rows of an overview's chart."""
    month = (filtered.start.year, filtered.start.month) == (filtered.end.year, filtered.end.month)
    key = None if "month" not in view.tab.by else view.tab.by[0] if month else "month"
    rows = view.compute(filtered, key)
    return key, rows if key in TIMES else rows.head(_MOST_OVERVIEW_BARS)


def _tiles(view: AnalysisView, filtered: FilteredBook, total: dict[str, float]) -> str:
    """Return the tiles of a tab, with figures of the period before if they can be compared."""
    before: dict[str, float] = {}
    if view.tab.compared and filtered.before:
        # Readers would take notes on the period before for notes on this one.
        with collect_notes(Notes("page")):
            figures = filtered.before.total(view.analysis)
        before = {name: figures[name] for name in view.tab.compared if name in figures}
    columns = [found for name in view.tab.tiles if (found := view.analysis.measure(name))]
    return tiles(columns, total, before, filtered.currency)


def _paragraphs(view: AnalysisView, notes: Iterable[Note], filtered: FilteredBook) -> str:
    """Return as paragraphs which filters do not count, and the notes; that of later balances names the period."""
    ignored = filtered.not_counted(view.tab)
    texts = [do_not_count(ignored, "here")] if ignored else []
    texts += [(each.rule is LATER_BALANCES and filtered.balances) or each.text("page") for each in notes]
    return "".join(f"<p>{escape_text(each)}</p>" for each in texts)


def do_not_count(filters: Sequence[str], place: str) -> str:
    """
    Return the sentence that filters do not count in a place.

    Examples
    --------
    >>> do_not_count(["Billed"], "here")
    'The filter “Billed” does not count here.'
    >>> do_not_count(["Billed", "Billing type"], "in Receivables")
    'The filters “Billed” and “Billing type” do not count in Receivables.'
    """
    names = join_names([f"“{each}”" for each in filters])
    many = len(filters) > 1
    return f"The filter{'s' if many else ''} {names} do{'' if many else 'es'} not count {place}."
