"""The filter controls in groups that open and close, with a search for a filter or one of its values."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import ipywidgets as w

from billframes.widgets.controls import Choices, Control
from billframes.widgets.html import button, html_widget, set_visible
from billframes.widgets.options import fold

# A panel with fewer filters has no groups and no search.
_FEW = 9
# The most lists that a search opens.
_MOST_OPENED = 6


class _Group:
    """A heading and the controls below it."""

    def __init__(self, title: str, controls: list[Control], *, is_open: bool) -> None:
        self.title, self.controls, self.is_open = title, controls, is_open
        self.toggle = button("", self._toggle, "bf-group")
        self._body = w.Box([control.box for control in controls]).add_class("bf-controls")
        self.box = w.VBox([self.toggle, self._body])
        self._active = 0
        self.show_only(None)

    def _toggle(self) -> None:
        self.is_open = not self.is_open
        self.show_only(None)

    def count(self, active: Collection[str]) -> None:
        """Show how many of the controls have a criterion."""
        self._active = sum(control.field.column in active for control in self.controls)
        self.show_only(None)

    def show_only(self, found: Collection[Control] | None) -> None:
        """Show only these controls, or all if None."""
        shown = self.is_open if found is None else not {*self.controls}.isdisjoint(found)
        set_visible(self._body, shown)
        set_visible(self.box, found is None or shown)
        for control in self.controls:
            set_visible(control.box, found is None or control in found)
        chosen = f" ({self._active} chosen)" if self._active else ""
        self.toggle.description = f"{'▾' if shown else '▸'} {self.title}{chosen}"


class FilterGroups(w.VBox):  # type: ignore[misc]
    """The controls of a panel. The one of the period is always shown."""

    def __init__(self, controls: Iterable[Control]) -> None:
        self.controls = list(controls)
        has_groups = len(self.controls) >= _FEW and len({control.field.group for control in self.controls}) > 1
        self.search = w.Text(description="Find a filter or a value", placeholder="part of a name").add_class("bf-find")
        self.search.observe(lambda change: self._find(change["new"]), "value")
        self._nothing = html_widget("Nothing found", "bf-foot")
        set_visible(self._nothing, False)
        self._opened: list[Choices] = []
        members: dict[str, list[Control]] = {}
        for control in self.controls:
            members.setdefault(control.field.group if has_groups else "", []).append(control)
        always = w.Box([control.box for control in members.pop("", [])]).add_class("bf-controls")
        self._groups = [
            _Group(title, controls, is_open=place < 2) for place, (title, controls) in enumerate(members.items())
        ]
        more = (self.search, self._nothing, *(group.box for group in self._groups)) if has_groups else ()
        super().__init__([always, *more])

    def show_active(self, columns: Collection[str]) -> None:
        """Show in the headings of the groups how many of these filters are in them."""
        for group in self._groups:
            group.count(columns)
        if self.search.value:
            self._find(self.search.value)

    def _find(self, text: str) -> None:
        """Show the filters whose title or values have the text, and open the lists of the values."""
        while self._opened:
            self._opened.pop().search_for("")
        found = None if not fold(text).split() else [each for each in self.controls if self._matches(each, text)]
        for group in self._groups:
            group.show_only(found)
        set_visible(self._nothing, found == [])

    def _matches(self, control: Control, text: str) -> bool:
        if fold(text) in fold(control.field.title):
            return True
        if not isinstance(control, Choices) or not control.has(text):
            return False
        if len(self._opened) < _MOST_OPENED:
            control.search_for(text)
            self._opened.append(control)
        return True
