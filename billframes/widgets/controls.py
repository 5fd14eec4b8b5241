"""The filter controls: lists of options and ranges of dates or numbers, each below a heading that opens and closes it.

The browser receives only a few options of a long list: the first ones or the results of a search, and more on request.
The panel shows chosen values as buttons above the controls.
"""

from __future__ import annotations

import datetime as dt
import re
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as w
from ipywidgets.widgets.widget_bool import CheckboxStyle

from billframes._shared.limits import checked_number
from billframes.periods import FixedCalendar, parse_period
from billframes.widgets.describe import describe_range
from billframes.widgets.filter_fields import FilterField
from billframes.widgets.html import button, escape_text, html_widget, set_visible
from billframes.widgets.options import ColumnOptions, Positions
from billframes.widgets.state import Criterion, Range, Value

OnChoose = Callable[[str, Criterion | None], None]


class Control:
    """A control for one column, whose content is created when it is first opened; `on_choose` gets new criteria."""

    def __init__(self, field: FilterField, on_choose: OnChoose) -> None:
        self.field = field
        self.is_open = False
        self._on_choose = on_choose
        self._showing = False
        self._criterion: Criterion | None = None
        self.toggle = button("", self._toggle, "bf-toggle")
        self._body = w.VBox().add_class("bf-body")
        set_visible(self._body, False)
        self.box = w.VBox([self.toggle, self._body]).add_class("bf-control")
        self.box.add_class(f"bf-{field.column.replace('_', '-')}")
        self._update_heading()

    def open(self) -> None:
        """Open it."""
        if not self.is_open:
            self._toggle()

    def show(self, criterion: Criterion | None) -> None:
        """Show a criterion without calling `on_choose`. Do nothing in a closed control that already shows it."""
        if self.is_open or criterion != self._criterion:
            self._update(criterion)

    def _update(self, criterion: Criterion | None) -> None:
        self._criterion = criterion
        self._update_heading()
        if self.is_open:
            self._showing = True
            try:
                self._show()
            finally:
                self._showing = False

    @abstractmethod
    def _create(self) -> list[Any]:
        """Create the content."""

    @abstractmethod
    def _show(self) -> None:
        """Show `_criterion` in the content."""

    @abstractmethod
    def _summary(self) -> str:
        """Return a short description of the criterion."""

    def _choose(self, criterion: Criterion | None) -> None:
        if not self._showing:
            self._on_choose(self.field.column, criterion)

    def _toggle(self) -> None:
        self.is_open = not self.is_open
        if self.is_open and not self._body.children:
            self._body.children = self._create()
        set_visible(self._body, self.is_open)
        self._update(self._criterion)

    def _update_heading(self) -> None:
        summary = f": {self._summary()}" if self._criterion is not None and not self.is_open else ""
        self.toggle.description = f"{'▾' if self.is_open else '▸'} {self.field.title}{summary}"
        self.toggle.tooltip = f"{'Close' if self.is_open else 'Open'} the filter {self.field.title}"
        (self.box.add_class if self._criterion is not None else self.box.remove_class)("bf-active")


# Options listed at first.
_FIRST_OPTIONS = 10


class Choices(Control):
    """Check boxes with the number of rows that pass the other filters, and a search if there are many."""

    def __init__(
        self, field: FilterField, on_choose: OnChoose, options: ColumnOptions, counts: Callable[[], Positions]
    ) -> None:
        self._options = options
        self._counts = counts
        self._boxes: dict[int, w.Checkbox] = {}
        self._listed = _FIRST_OPTIONS
        super().__init__(field, on_choose)

    def has(self, text: str) -> bool:
        """Whether an option has the text in its name."""
        return bool(self._options.search(text))

    def search_for(self, text: str) -> None:
        """Open the list with the results of a search; an empty text closes it."""
        if self.is_open != bool(text):
            self._toggle()
        if self._body.children:
            self.search.value = text

    def _create(self) -> list[Any]:
        # The number distinguishes the labels of several open lists for screen readers.
        words = f"Search {len(self._options.order):,}"
        self.search = w.Text(description=words, placeholder="part of a name", continuous_update=True)
        self.search.add_class("bf-search")
        self.search.observe(self._searched, "value")
        self._shared_style = {"layout": w.Layout(), "style": CheckboxStyle()}
        self._list = w.VBox().add_class("bf-options")
        self._foot = html_widget("", "bf-foot")
        self.more = button("Show more", self._show_more, "bf-more")
        self._below = w.HBox([self._foot, self.more])
        return [*([self.search] if len(self._options.order) > _FIRST_OPTIONS else []), self._list, self._below]

    def _show(self) -> None:
        found = self._options.search(self.search.value)
        places = found[: self._listed]
        counts, chosen = self._counts(), set(self._chosen())
        for place in places:
            box = self._boxes.get(place) or self._box(place)
            with box.hold_sync():
                box.description = escape_text(f"{self._options.labels[place]} ({counts[place]:,})")
                box.value = self._options.keys[place] in chosen
        self._list.children = [self._boxes[place] for place in places]
        hidden = len(found) - len(places)
        self._foot.value = f"{len(places):,} of {len(found):,}" if hidden else "" if found else "Nothing found"
        set_visible(self.more, hidden > 0)
        set_visible(self._below, hidden > 0 or not found)

    def _box(self, place: int) -> w.Checkbox:
        # Each option keeps its box, so that a click during an update chooses the clicked option. The label is escaped
        # HTML, because Jupyter would render dollar signs in plain text as a formula.
        box = self._boxes[place] = w.Checkbox(indent=False, description_allow_html=True, **self._shared_style)
        box.observe(partial(self._toggled, self._options.keys[place]), "value")
        return box

    def _summary(self) -> str:
        chosen = self._chosen()
        return self._options.label(chosen[0]) if len(chosen) == 1 else f"{len(chosen)} chosen"

    def _chosen(self) -> tuple[Value, ...]:
        return () if self._criterion is None or isinstance(self._criterion, Range) else self._criterion

    def _toggled(self, key: Value, change: dict[str, Any]) -> None:
        others = tuple(each for each in self._chosen() if each != key)
        self._choose((*others, key) if change["new"] else others)

    def _searched(self, _change: dict[str, Any]) -> None:
        self._listed = _FIRST_OPTIONS
        self.show(self._criterion)

    def _show_more(self) -> None:
        self._listed += 4 * _FIRST_OPTIONS
        self.show(self._criterion)

    @property
    def boxes(self) -> list[w.Checkbox]:
        """The check boxes of the listed options."""
        return list(self._list.children)


_QUICK = ("This month", "Last month", "This quarter", "Last quarter", "This year", "Last year")
_ALL = "All dates"
_CUSTOM = "Custom dates"


class RangeControl(Control):
    """Two ends of dates or numbers, a check box for rows without a value, and a message for invalid input."""

    def __init__(self, field: FilterField, on_choose: OnChoose, rows: str) -> None:
        # Such as "entries".
        self._rows = rows
        super().__init__(field, on_choose)

    def _create(self) -> list[Any]:
        self.first, self.last = self._end("From"), self._end("To")
        self.missing = w.Checkbox(description=f"Include {self._rows} without a {self.field.noun}", indent=False)
        self._message = html_widget("", "bf-complaint")
        for control in (self.first, self.last, self.missing):
            control.observe(self._changed, "value")
        return [w.HBox([self.first, self.last]).add_class("bf-ends"), self.missing, self._message]

    def _end(self, words: str) -> Any:
        if self.field.kind == "dates":
            return w.DatePicker(description=words)
        return w.Text(description=words, placeholder="any", continuous_update=False)

    def _show(self) -> None:
        span = self._span()
        for control, end in ((self.first, span.first), (self.last, span.last)):
            control.value = end if self.field.kind == "dates" else "" if end is None else f"{end:.15g}"
        self.missing.value = span.missing
        self._message.value = ""

    def _span(self) -> Range:
        return self._criterion if isinstance(self._criterion, Range) else Range(missing=self._includes_missing())

    def _includes_missing(self) -> bool:
        return bool(self.missing.value) if self._body.children else False

    def _summary(self) -> str:
        return describe_range(self._span())

    def _changed(self, _change: dict[str, Any]) -> None:
        if self._showing:
            return
        ends = [self.first.value, self.last.value]
        try:
            first, last = ends if self.field.kind == "dates" else map(_number, ends)
        except ValueError as error:
            self._message.value = escape_text(error)
            return
        if first is not None and last is not None and first > last:
            self._message.value = "“From” is after “To”."
            return
        self._message.value = ""
        self._choose(Range(first, last, self.missing.value))


class PeriodControl(RangeControl):
    """The control of the period: open at first, with quick choices that are counted from `today`."""

    def __init__(self, field: FilterField, on_choose: OnChoose, rows: str, today: dt.date) -> None:
        calendar = FixedCalendar(today)
        self._periods = {words: parse_period(words.lower(), calendar=calendar) for words in _QUICK}
        super().__init__(field, on_choose, rows)
        self.box.add_class("bf-period")
        self.open()

    def _create(self) -> list[Any]:
        self.quick = w.Dropdown(options=[_ALL, *_QUICK, _CUSTOM], description="Period").add_class("bf-quick")
        self.quick.observe(self._quick_chosen, "value")
        return [self.quick, *super()._create()]

    def _show(self) -> None:
        super()._show()
        span = self._span()
        names = [words for words, each in self._periods.items() if (each.start, each.end) == (span.first, span.last)]
        self.quick.value = _ALL if span.is_open else next(iter(names), _CUSTOM)

    def _quick_chosen(self, change: dict[str, Any]) -> None:
        if self._showing or change["new"] == _CUSTOM:
            return
        period = self._periods.get(change["new"])
        self._choose(Range(period.start, period.end, self._includes_missing()) if period else None)


_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?")


def _number(text: str) -> float | None:
    """Read a number with a decimal point, and with or without thousands separators."""
    plain = text.replace("\u2019", "").replace("_", "").strip()
    if not plain:
        return None
    try:
        # A decimal comma must not be read as a thousands separator.
        return checked_number(float(plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain))
    except ValueError:
        raise ValueError(f"“{text}” is not a number, such as 1250.5 or 1,250.5.") from None
