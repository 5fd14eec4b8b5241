"""The explorer's tabs: an overview, and for each analysis tiles, a chart, the rows behind its bars, and a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import ipywidgets as w

from billframes._show import format_number, long_date
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

__all__ = ["Overview", "ViewTab"]

_BARS = 12
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
        self._filtered: FilteredBook | None = None
        self.by = w.Dropdown(options=list(view.keys), description="By")
        self.by.add_class("bf-by")
        self.by.observe(lambda _change: self._with_busy(self._redraw), "value")
        self._about, self._tiles = note("", "bf-about"), note()
        self._chart, self._hits = note("", "bf-picture"), w.Box()
        self._hits.add_class("bf-hits")
        self._table, self._links, self._notes = note(), note(), note("", "bf-notes")
        self.drill = w.VBox()
        self.drill.add_class("bf-drill")
        head = w.HBox([note(f"<h2>{text_of(view.declared.question)}</h2>", "bf-question"), self.by])
        head.add_class("bf-view-head")
        chart = w.Box([self._chart, self._hits])
        chart.add_class("bf-chart-box")
        super().__init__([head, self._about, self._tiles, self._notes, chart, self.drill, self._table, self._links])
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        self._filtered = filtered
        self._redraw()

    @property
    def bars(self) -> list[w.Button]:
        """The chart's bars."""
        return list(self._hits.children)

    def _with_busy(self, act: Callable[[], None]) -> None:
        with busy(self):
            act()

    def _redraw(self) -> None:
        if self._filtered is None:
            return
        self._close()
        key, filtered = self.view.keys[self.by.value], self._filtered
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result, whole = self.view.compute(filtered, key), self.view.compute(filtered, None)
        self._total = {str(name): value for name, value in whole.iloc[0].items()} if len(whole) else {}
        if key not in TIMES and len(result):
            result = result.sort_values(self.view.order, ascending=False, kind="stable", ignore_index=True)
        self.result = result
        days = f"{long_date(filtered.start)} to {long_date(filtered.end)}."
        self._about.value = f"{text_of(days)} {text_of(self.view.note)} {text_of(filtered.settings)}"
        self._tiles.value = tiles(self.view.measures(self.view.tiles), self._total)
        self._draw(key)
        self._list()
        self._notes.value = _paragraphs(said, filtered)

    def _draw(self, key: str) -> None:
        over_time = key in TIMES
        bars = self.result if over_time else self.result.head(_BARS)
        if not len(bars):
            self._chart.value, self._hits.children = "<p>Nothing to show under these filters.</p>", ()
            return
        alt = f"{self.view.title} by {self.by.value.lower()}. The table below holds the same figures."
        lying = not over_time
        self._chart.value, places = picture(partial(self.view.draw, bars), len(bars), lying=lying, alt=alt)
        labels = labels_of(bars)
        hits = [self._hit(row, labels[row], place, lying) for row, place in enumerate(places)]
        self._hits.children = hits

    def _hit(self, row: int, label: str, place: tuple[float, float], lying: bool) -> w.Button:
        words = f"Show the rows behind {label}"
        hit = button(words, partial(self._with_busy, partial(self.open_row, row)), "bf-hit", tooltip=words)
        start, size = (f"{part:.3%}" for part in place)
        layout = {"top": start, "height": size} if lying else {"left": start, "width": size}
        for name, value in layout.items():
            setattr(hit.layout, name, value)
        hit.add_class("bf-lying" if lying else "bf-standing")
        return hit

    def _list(self) -> None:
        most = self.result.head(_ROWS)
        more = len(self.result) - len(most)
        caption = f"{self.view.title} by {self.by.value.lower()}"
        if more:
            caption += f": the first {_ROWS} of {len(self.result):,}, all in the download"
        self._table.value = table(caption, self.by.value, self.view.measures(self.view.columns), most, self._total)
        self._links.value = downloads(f"{self.view.title} by {self.by.value}", self.result, self._time_zone)

    def open_row(self, row: int) -> None:
        """Show the records behind a row of the result."""
        if self._filtered is None:
            return
        listed = self.view.rows_behind(self._filtered, self.view.keys[self.by.value], self.result.iloc[row, 0])
        label, (counted,) = labels_of(self.result)[row], self.view.measures((self.view.records.counted,))
        figure = format_number(float(listed[counted.name].sum()), counted.unit)
        caption = f"{label}: {len(listed):,} rows, {counted.title.lower()} {figure}"
        close = button("Close", self._close, "bf-close")
        shown_first = "<p>The first 50 are shown; the download has all.</p>" if len(listed) > 50 else ""
        links = downloads(f"{self.view.title} {label} rows", listed, self._time_zone)
        self.drill.children = [note(records(caption, listed) + shown_first + links, "bf-behind"), close]
        shown(self.drill, True)

    def _close(self) -> None:
        self.drill.children = ()
        shown(self.drill, False)


class Overview(w.VBox):  # type: ignore[misc]
    """
    The main figures of all tabs, and their charts by month.

    Parameters
    ----------
    views : sequence of View
        Those that know months are drawn as well.
    """

    def __init__(self, views: Sequence[View]) -> None:
        self._views = views
        self._about, self._body = note("", "bf-about"), note("", "bf-overview")
        super().__init__([note("<h2>How is the firm doing?</h2>", "bf-question"), self._about, self._body])
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        self._about.value = text_of(
            f"{long_date(filtered.start)} to {long_date(filtered.end)}. Receivables and work in progress are "
            f"those of the last day. {filtered.settings}"
        )
        self._body.value = "".join(self._part(view, filtered) for view in self._views)

    def _part(self, view: View, filtered: FilteredBook) -> str:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            whole = view.compute(filtered, None).to_dict("records")
            months = view.compute(filtered, "month") if "month" in view.keys.values() else None
        figures = tiles(
            view.measures(view.tiles), {str(name): value for name, value in whole[0].items()} if whole else {}
        )
        chart = ""
        if months is not None and len(months) > 1:
            alt = f"{view.title} by month; the tab {view.title} holds the same figures."
            chart, _places = picture(partial(view.draw, months), len(months), lying=False, alt=alt)
        notes = f'<div class="bf-notes">{_paragraphs(said, filtered)}</div>' if said else ""
        return f"<section><h3>{text_of(view.title)}</h3>{figures}{notes}{chart}</section>"


def _paragraphs(said: Sequence[warnings.WarningMessage], filtered: FilteredBook) -> str:
    """Return the warnings as paragraphs, each once; the one of `aging` about later balances in plain words."""
    texts = (str(each.message) for each in said)
    plain = (filtered.balances or text if text.startswith("as_of=") else text for text in texts)
    return "".join(f"<p>{text_of(each)}</p>" for each in dict.fromkeys(plain))
