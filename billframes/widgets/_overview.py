"""The explorer's first tab: every view's figures, and two charts of how they went by month."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial

import ipywidgets as w

from billframes.report.formats import long_date
from billframes.widgets._filtered_book import Sight
from billframes.widgets._html import note, text_of
from billframes.widgets._tables import picture, tiles
from billframes.widgets._views import View

__all__ = ["Overview"]


class Overview(w.VBox):  # type: ignore[misc]
    """
    The figures of all views at a glance.

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

    def show(self, sight: Sight) -> None:
        """Show what a sight gives."""
        self._about.value = text_of(
            f"{long_date(sight.start)} to {long_date(sight.end)}. Receivables and work in progress are "
            "those of the last day."
        )
        # Each tab says its own warnings beside its figures.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._body.value = "".join(self._part(view, sight) for view in self._views)

    def _part(self, view: View, sight: Sight) -> str:
        whole = view.compute(sight, None).to_dict("records")
        big = [each for name in view.tiles for each in view.columns if each.name == name]
        figures = tiles(big, {str(name): value for name, value in whole[0].items()} if whole else {})
        months = view.compute(sight, "month") if "month" in view.keys.values() else None
        chart = ""
        if months is not None and len(months) > 1:
            alt = f"{view.title} by month; the tab {view.title} holds the same figures."
            chart, _places = picture(partial(view.draw, months), len(months), lying=False, alt=alt)
        return f"<section><h3>{text_of(view.title)}</h3>{figures}{chart}</section>"
