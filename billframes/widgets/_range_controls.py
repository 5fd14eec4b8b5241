"""Controls for ranges of dates and numbers, with quick choices for the period."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import ipywidgets as w

from billframes.periods import parse_period
from billframes.widgets._control import Control, Tell
from billframes.widgets._describe import describe_range
from billframes.widgets._fields import FilterField
from billframes.widgets._html import note, text_of
from billframes.widgets._state import Range

__all__ = ["Dates", "Numbers"]

_QUICK = ("This month", "Last month", "This quarter", "Last quarter", "This year", "Last year")
_ALL = "All dates"
_OWN = "Dates below"


class _RangeControl(Control):
    """From, to, whether rows without a value are included, and a message for invalid input."""

    def __init__(self, field: FilterField, tell: Tell, rows: str, *, is_open: bool = False) -> None:
        # What the rows are, such as "entries".
        self._rows = rows
        super().__init__(field, tell, is_open=is_open)

    def _make(self) -> list[Any]:
        self.first, self.last = self._end("From"), self._end("To")
        self.missing = w.Checkbox(description=f"Include {self._rows} without a {self.field.noun}", indent=False)
        self._complaint = note("", "bf-complaint")
        for control in (self.first, self.last, self.missing):
            control.observe(self._changed, "value")
        ends = w.HBox([self.first, self.last])
        ends.add_class("bf-ends")
        return [ends, self.missing, self._complaint]

    def _end(self, words: str) -> Any:
        raise NotImplementedError

    def _read(self) -> Range:
        raise NotImplementedError

    def _show(self) -> None:
        span = self._span()
        self.first.value, self.last.value = self._write(span.first), self._write(span.last)
        self.missing.value = span.missing
        self._complaint.value = ""

    def _write(self, end: Any) -> Any:
        return end

    def _span(self) -> Range:
        return self._criterion if isinstance(self._criterion, Range) else Range(missing=self._includes_missing())

    def _includes_missing(self) -> bool:
        return bool(self.missing.value) if self._body.children else False

    def _summary(self) -> str:
        return describe_range(self._span())

    def _changed(self, _change: dict[str, Any]) -> None:
        if self._showing:
            return
        try:
            span = self._read()
        except ValueError as error:
            self._complaint.value = text_of(error)
            return
        if None not in (span.first, span.last) and span.first > span.last:
            self._complaint.value = "“From” is after “To”."
            return
        self._complaint.value = ""
        self._choose(span)


class Numbers(_RangeControl):
    """A range of numbers."""

    def _end(self, words: str) -> w.Text:
        return w.Text(description=words, placeholder="any", continuous_update=False)

    def _write(self, end: float | None) -> str:
        return "" if end is None else f"{end:.15g}"

    def _read(self) -> Range:
        return Range(_number(self.first.value), _number(self.last.value), self.missing.value)


class Dates(_RangeControl):
    """
    A range of dates. The period also has quick choices and is open from the start.

    Parameters
    ----------
    field : FilterField
    tell : callable
    rows : str
    today : date, optional
        The day from which "last month" is counted. Without it there are no quick choices.
    """

    def __init__(self, field: FilterField, tell: Tell, rows: str, today: dt.date | None = None) -> None:
        self._periods = {words: parse_period(words.lower(), today=today) for words in _QUICK} if today else {}
        super().__init__(field, tell, rows, is_open=today is not None)

    def _make(self) -> list[Any]:
        inside = super()._make()
        if not self._periods:
            return inside
        self.quick = w.Dropdown(options=[_ALL, *_QUICK, _OWN], description="Quick choice")
        self.quick.add_class("bf-quick")
        self.quick.observe(self._picked, "value")
        return [self.quick, *inside]

    def _end(self, words: str) -> w.DatePicker:
        return w.DatePicker(description=words)

    def _read(self) -> Range:
        return Range(self.first.value, self.last.value, self.missing.value)

    def _show(self) -> None:
        super()._show()
        if self._periods:
            span = self._span()
            names = [
                words for words, each in self._periods.items() if (each.start, each.end) == (span.first, span.last)
            ]
            self.quick.value = _ALL if span.is_open else next(iter(names), _OWN)

    def _picked(self, change: dict[str, Any]) -> None:
        if self._showing or change["new"] == _OWN:
            return
        period = self._periods.get(change["new"])
        self._choose(Range(period.start, period.end, self._includes_missing()) if period else None)


def _number(text: str) -> float | None:
    """
    Read a number as people type it.

    Examples
    --------
    >>> _number(" 1,250.5 "), _number("")
    (1250.5, None)
    """
    plain = text.replace(",", "").replace("\u2019", "").replace("_", "").strip()
    if not plain:
        return None
    try:
        number = float(plain)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"“{text}” is not a number.")
    return number
