"""The base of all filter controls: a heading that opens and closes the control, and a callback to the panel."""

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
    A control for one column. Its content is created when it is first opened, so a closed one is cheap.

    Parameters
    ----------
    field : FilterField
    tell : callable
        Called with the column and its new criterion when the user chooses.
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
        """Show a criterion without calling `tell`. A closed control that already shows it is not updated."""
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
        """Create the content."""

    @abstractmethod
    def _show(self) -> None:
        """Show `_criterion` in the content."""

    @abstractmethod
    def _summary(self) -> str:
        """Return a short description of the criterion."""

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
        says = f": {self._summary()}" if self._criterion is not None and not self.is_open else ""
        self.toggle.description = f"{'▾' if self.is_open else '▸'} {self.field.title}{says}"
        self.toggle.tooltip = f"{'Close' if self.is_open else 'Open'} the filter {self.field.title}"
        (self.box.add_class if self._criterion is not None else self.box.remove_class)("bf-active")
