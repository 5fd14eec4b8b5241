"""What all filter controls share: a heading that opens and closes them, and a way to tell the panel of a choice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import ipywidgets as w

from billframes.widgets._fields import FilterField
from billframes.widgets._html import button, shown
from billframes.widgets._state import Criterion

__all__ = ["Control", "Tell"]

Tell = Callable[[str, Criterion | None], None]


class Control:
    """
    A control of one column. Its inside is made when it is first opened, so a closed one costs next to nothing.

    Parameters
    ----------
    field : FilterField
    tell : callable
        Told the column and its new criterion when the user chooses.
    is_open : bool
    """

    def __init__(self, field: FilterField, tell: Tell, *, is_open: bool = False) -> None:
        self.field = field
        self.is_open = False
        self._tell = tell
        self._showing = False
        self._criterion: Criterion | None = None
        self.toggle = button("", self._toggle, "bf-toggle")
        self._body = w.VBox()
        self._body.add_class("bf-body")
        shown(self._body, False)
        self.box = w.VBox([self.toggle, self._body])
        self.box.add_class("bf-control")
        self.box.add_class(f"bf-{field.column.replace('_', '-')}")
        self._head()
        if is_open:
            self.open()

    def open(self) -> None:
        """Open it."""
        if not self.is_open:
            self._toggle()

    def show(self, criterion: Criterion | None) -> None:
        """Show what is chosen; nothing is told on the way. A closed control that says so already costs nothing."""
        if self.is_open or criterion != self._criterion:
            self._update(criterion)

    def _update(self, criterion: Criterion | None) -> None:
        self._criterion = criterion
        self._head()
        if self.is_open:
            self._showing = True
            try:
                self._show()
            finally:
                self._showing = False

    @abstractmethod
    def _make(self) -> list[Any]:
        """Make the inside."""

    @abstractmethod
    def _show(self) -> None:
        """Show `_criterion` inside."""

    @abstractmethod
    def _says(self) -> str:
        """Say in a word or two what is chosen."""

    def _choose(self, criterion: Criterion | None) -> None:
        if not self._showing:
            self._tell(self.field.column, criterion)

    def _toggle(self) -> None:
        self.is_open = not self.is_open
        if self.is_open and not self._body.children:
            self._body.children = self._make()
        shown(self._body, self.is_open)
        self._update(self._criterion)

    def _head(self) -> None:
        says = f": {self._says()}" if self._criterion is not None and not self.is_open else ""
        self.toggle.description = f"{'▾' if self.is_open else '▸'} {self.field.title}{says}"
        self.toggle.tooltip = f"{'Close' if self.is_open else 'Open'} the filter {self.field.title}"
        (self.box.add_class if self._criterion is not None else self.box.remove_class)("bf-active")
