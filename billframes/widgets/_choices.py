"""A control to choose values from a list of any length.

The browser receives only a few options: the first ones, or those that a search finds, and more on request. The panel
shows chosen values as buttons above the controls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as w
from ipywidgets.widgets.widget_bool import CheckboxStyle

from billframes.widgets._control import Control, Tell
from billframes.widgets._fields import FilterField
from billframes.widgets._html import button, note, shown, text_of
from billframes.widgets._options import Codes, Options
from billframes.widgets._state import Range, Value

__all__ = ["Choices"]

_PAGE = 10


class Choices(Control):
    """
    Check boxes with counts, and a search box if there are many.

    Parameters
    ----------
    field : FilterField
    tell : callable
    options : Options
    counts : callable
        Returns for each option the number of rows that pass the filters on all other columns.
    """

    def __init__(self, field: FilterField, tell: Tell, options: Options, counts: Callable[[], Codes]) -> None:
        self._options = options
        self._counts = counts
        self._boxes: dict[int, w.Checkbox] = {}
        self._most = _PAGE
        super().__init__(field, tell)

    def _make(self) -> list[Any]:
        # Each search has its own label, because several lists can be open at the same time.
        words = f"Search {len(self._options.order):,}"
        self.search = w.Text(description=words, placeholder="part of a name", continuous_update=True)
        self.search.add_class("bf-search")
        self.search.observe(self._searched, "value")
        self._look = {"layout": w.Layout(), "style": CheckboxStyle()}
        self._list = w.VBox()
        self._list.add_class("bf-options")
        self._foot = note("", "bf-foot")
        self.more = button("Show more", self._show_more, "bf-more")
        self._rest = w.HBox([self._foot, self.more])
        return [*([self.search] if len(self._options.order) > _PAGE else []), self._list, self._rest]

    def _show(self) -> None:
        found = self._options.search(self.search.value)
        places = found[: self._most]
        counts, chosen = self._counts(), set(self._chosen())
        for place in places:
            box = self._boxes.get(place) or self._box(place)
            with box.hold_sync():
                box.description = text_of(f"{self._options.labels[place]} ({counts[place]:,})")
                box.value = self._options.keys[place] in chosen
        self._list.children = [self._boxes[place] for place in places]
        left = len(found) - len(places)
        self._foot.value = f"{len(places):,} of {len(found):,}" if left else "" if found else "Nothing found"
        shown(self.more, left > 0)
        shown(self._rest, left > 0 or not found)

    def _box(self, place: int) -> w.Checkbox:
        # Each option has its own box, so that a click during an update chooses the option that was clicked.
        # The label is escaped HTML, because Jupyter would read dollar signs in plain text as a formula.
        box = self._boxes[place] = w.Checkbox(indent=False, description_allow_html=True, **self._look)
        box.observe(partial(self._ticked, self._options.keys[place]), "value")
        return box

    def _summary(self) -> str:
        chosen = self._chosen()
        return self._options.label(chosen[0]) if len(chosen) == 1 else f"{len(chosen)} chosen"

    def _chosen(self) -> tuple[Value, ...]:
        return () if self._criterion is None or isinstance(self._criterion, Range) else self._criterion

    def _ticked(self, key: Value, change: dict[str, Any]) -> None:
        others = tuple(each for each in self._chosen() if each != key)
        self._choose((*others, key) if change["new"] else others)

    def _searched(self, _change: dict[str, Any]) -> None:
        self._most = _PAGE
        self.show(self._criterion)

    def _show_more(self) -> None:
        self._most += 4 * _PAGE
        self.show(self._criterion)

    @property
    def boxes(self) -> list[w.Checkbox]:
        """The options now listed."""
        return list(self._list.children)
