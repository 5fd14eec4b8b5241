"""The explorer's first tab: the main figures of some tabs, with a chart for each."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as w
import pandas as pd

from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.keys.by import TIMES
from billframes.widgets.filtered_book import FilteredBook
from billframes.widgets.html import escape_text, html_widget, sentences
from billframes.widgets.tabs import compared_with, note_paragraphs, tiles_of
from billframes.widgets.views import AnalysisView

# The most bars of a chart.
_MOST_BARS = 6


class Overview(w.VBox):  # type: ignore[misc]
    """
    The main figures of some tabs, with a chart for each: by month, or within one month by the tab's first key.

    All figures are shown first, and then the charts, which take longer.
    """

    def __init__(self, views: Sequence[AnalysisView]) -> None:
        self.narrow = False
        self._parts = [(view, html_widget(), html_widget("", "bf-overview-chart")) for view in views]
        self._about = html_widget("", "bf-about")
        sections = [w.VBox([figures, chart]) for _view, figures, chart in self._parts]
        body = w.Box(sections).add_class("bf-overview")
        super().__init__([html_widget("<h2>How is the firm doing?</h2>", "bf-question"), self._about, body])
        self.add_class("bf-view")

    def show(self, filtered: FilteredBook) -> None:
        """Show a filtered book."""
        texts = [_figures_of(view, filtered) for view, _figures, _chart in self._parts]
        # The texts have the notes.
        with collect_notes(Notes("page")):
            chart_rows = {view: _chart_rows(view, filtered) for view, _figures, _chart in self._parts}
        self._about.value = sentences(
            "Receivables and work in progress are as of the period’s last day.",
            *dict.fromkeys(compared_with(filtered, view) for view in chart_rows),
            filtered.settings,
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
    notes = note_paragraphs(view, found, filtered)
    if filtered.has_filters:
        notes = f'<p class="bf-filters">{escape_text(view.tab.about_filters)}</p>{notes}'
    tiles_and_notes = f'{tiles_of(view, filtered, total)}<div class="bf-notes">{notes}</div>'
    return f"<h3>{escape_text(view.title)}</h3>{tiles_and_notes}"


def _draw_chart(view: AnalysisView, key: str | None, rows: pd.DataFrame, currency: str, *, narrow: bool) -> str:
    if not view.has_chart(rows):
        return ""
    by = next((f" by {words.lower()}" for words, each in view.keys.items() if each == key), "")
    alt = f"Chart: {view.title}{by}. The tab {view.title} has the numbers."
    horizontal = key is not None and key not in TIMES
    return view.picture(rows, alt, currency=currency, horizontal=horizontal, narrow=narrow)[0]


def _chart_rows(view: AnalysisView, filtered: FilteredBook) -> tuple[str | None, pd.DataFrame]:
    """Return the key and the rows of an overview's chart."""
    month = (filtered.start.year, filtered.start.month) == (filtered.end.year, filtered.end.month)
    key = None if "month" not in view.tab.by else view.tab.by[0] if month else "month"
    rows = view.compute(filtered, key)
    return key, rows if key in TIMES else rows.head(_MOST_BARS)
