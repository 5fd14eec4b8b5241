"""The explorer's tabs: an overview, and for each analysis tiles, a chart, the rows behind its bars, and a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import ipywidgets as w
import pandas as pd

from billframes._format import format_number, long_date
from billframes.analysis.explain import meaning
from billframes.analysis.explanation import definition_list
from billframes.analysis.keys import TIMES
from billframes.widgets._filtered_book import FilteredBook
from billframes.widgets._html import (
    busy,
    button,
    downloads,
    labels_of,
    note,
    picture,
    records,
    shown,
    table,
    text_of,
    tiles,
)
from billframes.widgets._views import View

__all__ = ["Overview", "ViewTab", "compared_with"]

_BARS = 12
_FEW = 6
_ROWS = 200


class ViewTab(w.VBox):  # type: ignore[misc]
    """
    The tab of one analysis.

    Parameters
    ----------
    view : View
    time_zone : str
        Time zone of times in exported files.
    """

    def __init__(self, view: View, time_zone: str) -> None:
        self.view, self._time_zone = view, time_zone
        self.narrow = False
        self._filtered: FilteredBook | None = None
        self.by = w.Dropdown(options=list(view.keys), description="By")
        self.by.add_class("bf-by")
        self.by.observe(lambda _change: self._with_busy(self._redraw), "value")
        shown(self.by, len(view.keys) > 1)
        self._about, self._tiles = note("", "bf-about"), note()
        self._chart, self._hits = note("", "bf-picture"), w.Box()
        self._hits.add_class("bf-hits")
        self._table, self._links, self._notes = note(), note(), note("", "bf-notes")
        self.drill = w.VBox()
        self.drill.add_class("bf-drill")
        head = w.HBox([note(f"<h2>{text_of(view.analysis.question)}</h2>", "bf-question"), self.by])
        head.add_class("bf-view-head")
        chart = w.Box([self._chart, self._hits])
        chart.add_class("bf-chart-box")
        means = f"<details><summary>What counts, and what is left out</summary>{_definitions(view)}</details>"
        how = note(means, "bf-how")
        parts = [head, self._about, self._tiles, self._notes, chart, self.drill, self._table, self._links, how]
        super().__init__(parts)
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        self._filtered = filtered
        self._redraw()

    @property
    def key(self) -> str | None:
        """The key that the rows are by; None for an analysis without `by`."""
        return self.view.keys[self.by.value] if self.view.keys else None

    @property
    def bars(self) -> list[w.Button]:
        """The chart's bars that can be clicked."""
        return list(self._hits.children)

    def _with_busy(self, act: Callable[[], None]) -> None:
        with busy(self):
            act()

    def _redraw(self) -> None:
        if self._filtered is None:
            return
        self._close()
        filtered, view = self._filtered, self.view
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.result = view.compute(filtered, self.key)
            self._total = filtered.total(view.analysis)
        self._about.value = " ".join(
            text_of(each)
            for each in (view.analysis.summary, view.tab.note, compared_with(filtered, view), filtered.settings)
        )
        self._tiles.value = _tiles(view, filtered, self._total)
        self._draw()
        self._list()
        self._notes.value = _paragraphs(said, filtered)

    def _draw(self) -> None:
        over_time = self.key in TIMES
        bars = self.result if over_time else self.result.head(_BARS)
        self._chart.value, self._hits.children = "", ()
        if not len(bars):
            self._chart.value = "<p>Nothing to show under these filters.</p>"
            return
        if self.view.analysis.chart is None:
            return
        alt = f"{self._caption}. The table below holds the same figures."
        lying = not over_time
        draw = partial(self.view.draw, bars, currency=self._filtered.currency if self._filtered else "")
        self._chart.value, places = picture(draw, len(bars), lying=lying, alt=alt, narrow=self.narrow)
        if self.view.records and self.key:
            labels = labels_of(bars)
            self._hits.children = [self._hit(row, labels[row], place, lying) for row, place in enumerate(places)]

    def _hit(self, row: int, label: str, place: tuple[float, float], lying: bool) -> w.Button:
        words = f"Show the rows behind {label}"
        hit = button(words, partial(self._with_busy, partial(self.open_row, row)), "bf-hit", tooltip=words)
        start, size = (f"{part:.3%}" for part in place)
        layout = {"top": start, "height": size} if lying else {"left": start, "width": size}
        for name, value in layout.items():
            setattr(hit.layout, name, value)
        hit.add_class("bf-lying" if lying else "bf-standing")
        return hit

    @property
    def _caption(self) -> str:
        return f"{self.view.title} by {self.by.value.lower()}" if self.by.value else self.view.title

    def _list(self) -> None:
        most = self.result.head(_ROWS)
        more = len(self.result) - len(most)
        caption = f"{self._caption}: the first {_ROWS} of {len(self.result):,}, all in the download"
        names, columns = self.view.names(most), self.view.columns(self.result)
        wide = self.view.only_where_wide(self.result)
        self._table.value = table(caption if more else self._caption, names, columns, most, self._total, wide)
        self._links.value = downloads(self._caption, self.result, self._time_zone)

    def open_row(self, row: int) -> None:
        """Show the records behind a row of the result, and mark its bar."""
        spec = self.view.records
        if self._filtered is None or spec is None or self.key is None:
            return
        listed = self.view.rows_behind(self._filtered, self.key, self.result.iloc[row, 0])
        label, counted = labels_of(self.result)[row], self.view.analysis.measure(spec.counted)
        if counted is None:
            raise AssertionError(f"{spec.counted} is not a measure")
        figure = format_number(float(listed[counted.name].sum()), counted.unit)
        caption = f"{label}: {len(listed):,} rows, {counted.title.lower()} {figure}"
        close = button("Close", self._close, "bf-close")
        shown_first = "<p>The first 50 are shown; the download has all.</p>" if len(listed) > 50 else ""
        links = downloads(f"{self.view.title} {label} rows", listed, self._time_zone)
        self.drill.children = [note(records(caption, listed) + shown_first + links, "bf-behind"), close]
        shown(self.drill, True)
        self._mark(row)

    def _mark(self, row: int | None) -> None:
        for place, hit in enumerate(self.bars):
            (hit.add_class if place == row else hit.remove_class)("bf-marked")

    def _close(self) -> None:
        self.drill.children = ()
        shown(self.drill, False)
        self._mark(None)


class Overview(w.VBox):  # type: ignore[misc]
    """
    The main figures of the first tabs, with a chart of each: by month, and within one month by the tab's first key.

    All figures are shown together, and then the charts, which take longer.

    Parameters
    ----------
    views : sequence of View
    """

    def __init__(self, views: Sequence[View]) -> None:
        self.narrow = False
        self._parts = [(view, note(), note("", "bf-overview-chart")) for view in views]
        self._about = note("", "bf-about")
        sections = [w.VBox([figures, chart]) for _view, figures, chart in self._parts]
        body = w.Box(sections)
        body.add_class("bf-overview")
        super().__init__([note("<h2>How is the firm doing?</h2>", "bf-question"), self._about, body])
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        texts = [_figures_of(view, filtered) for view, _figures, _chart in self._parts]
        with warnings.catch_warnings():
            # They are in the texts already.
            warnings.simplefilter("ignore")
            charted = {view: _charted(view, filtered) for view, _figures, _chart in self._parts}
        self._about.value = " ".join(
            text_of(each)
            for each in (
                "Receivables and work in progress are those of the period’s last day.",
                *dict.fromkeys(compared_with(filtered, view) for view in charted),
                filtered.settings,
            )
            if each
        )
        for (_view, figures, chart), text in zip(self._parts, texts, strict=True):
            figures.value = text
            chart.add_class("bf-drawing")
        self.remove_class("bf-busy")
        for view, _figures, chart in self._parts:
            key, rows = charted[view]
            # Filters that are chosen again show the same charts.
            asked = (view.title, key, self.narrow)
            if asked not in filtered.charts:
                filtered.charts[asked] = _chart_of(view, key, rows, filtered.currency, narrow=self.narrow)
            chart.value = filtered.charts[asked]
            chart.remove_class("bf-drawing")


def _figures_of(view: View, filtered: FilteredBook) -> str:
    """Return a section of the overview: its heading, figures and warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        _charted(view, filtered)
        total = filtered.total(view.analysis)
    notes = f'<div class="bf-notes">{_paragraphs(said, filtered)}</div>' if said else ""
    return f"<h3>{text_of(view.title)}</h3>{_tiles(view, filtered, total)}{notes}"


def _chart_of(view: View, key: str | None, rows: pd.DataFrame, currency: str, *, narrow: bool) -> str:
    if not len(rows) or view.analysis.chart is None:
        return ""
    by = next((f" by {words.lower()}" for words, each in view.keys.items() if each == key), "")
    alt = f"{view.title}{by}; the tab {view.title} holds the same figures."
    lying = key is not None and key not in TIMES
    draw = partial(view.draw, rows, currency=currency)
    chart, _places = picture(draw, len(rows), lying=lying, alt=alt, narrow=narrow)
    return chart


def compared_with(filtered: FilteredBook, view: View) -> str:
    """Say in a sentence what the tiles of a view are compared with."""
    before = filtered.before
    if not view.tab.compared or before is None:
        return ""
    return f"Compared with {long_date(before.start)} to {long_date(before.end)}."


def _charted(view: View, filtered: FilteredBook) -> tuple[str | None, pd.DataFrame]:
    """Return what the overview draws of a view, and the key it is by. The figures beside it have its warnings."""
    month = (filtered.start.year, filtered.start.month) == (filtered.end.year, filtered.end.month)
    key = None if "month" not in view.tab.by else view.tab.by[0] if month else "month"
    rows = view.compute(filtered, key)
    return key, rows if key in TIMES else rows.head(_FEW)


def _tiles(view: View, filtered: FilteredBook, total: dict[str, float]) -> str:
    """Return a view's tiles, those that can be compared beside the period before."""
    before: dict[str, float] = {}
    if view.tab.compared and filtered.before:
        with warnings.catch_warnings():
            # The warnings about the period shown are beside it; those about the period before would be misread.
            warnings.simplefilter("ignore")
            figures = filtered.before.total(view.analysis)
        before = {name: figures[name] for name in view.tab.compared if name in figures}
    columns = [found for name in view.tab.tiles if (found := view.analysis.measure(name))]
    return tiles(columns, total, before, filtered.currency)


def _definitions(view: View) -> str:
    return definition_list(meaning(view.analysis))


def _paragraphs(said: Sequence[warnings.WarningMessage], filtered: FilteredBook) -> str:
    """Return the warnings as paragraphs, each once; the one of `aging` about later balances in plain words."""
    texts = (str(each.message) for each in said)
    plain = (filtered.balances or text if text.startswith("as_of=") else text for text in texts)
    return "".join(f"<p>{text_of(each)}</p>" for each in dict.fromkeys(plain))
