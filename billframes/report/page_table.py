"""Tables of the page: a name, figures with bars beside them, and words; at most eight columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pandas as pd

from billframes._shared.format import MINUS, MISSING, format_number, format_value, money, short_date
from billframes.analysis.declare.metrics import PRICED, Measure, title_of_key
from billframes.analysis.results.explain import plain_words
from billframes.report.month import A_UNIT, OLDEST
from billframes.report.table_spec import REST, ReportTable

MOST_COLUMNS = 8
# Sums of the same amounts in another order differ by less.
_EQUAL = 1e-6
_ROUNDED = "Rows are rounded, so sums may differ."
# A ratio farther from its floor has the longest bar.
_FARTHEST = 0.4


class Part(NamedTuple):
    """A part of a bar, in percent of its column."""

    left: float
    width: float
    is_red: bool = False


class Cell(NamedTuple):
    """
    A cell: text, or a bar with a mark.

    A figure can be a ratio outside 0% to 100%, which a note explains, or a breach of a limit of the firm. `style` has
    the classes of its column.
    """

    text: str = ""
    is_outside: bool = False
    is_breach: bool = False
    style: str = ""
    bar: tuple[Part, ...] | None = None
    mark: float | None = None
    axis: float | None = None

    @property
    def classes(self) -> str:
        """The classes of the cell."""
        flags = {
            "outside": self.is_outside,
            "low": self.is_breach,
            "bar": self.bar is not None,
            "axis": self.axis is not None,
            self.style: bool(self.style),
        }
        return " ".join(name for name, applies in flags.items() if applies)


class Heading(NamedTuple):
    """The heading of a column, the unit, and what the column means."""

    text: str = ""
    unit: str = ""
    meaning: str = ""
    style: str = ""
    axis: float | None = None


@dataclass(frozen=True, kw_only=True)
class PageRow:
    """A row: its name, details in small letters, its cells, and the group that begins with it."""

    name: str
    cells: Sequence[Cell]
    detail: str = ""
    group: str = ""


@dataclass(frozen=True, kw_only=True)
class PageTable:
    """
    A table of the page. `fold` is the line under which a list is folded.

    `counts` says what its marks mean, and that its rounded rows don't add up. Rows `after` the total are not in it. The
    caption of a table that `is_alone` is only for screen readers.
    """

    caption: str = ""
    headings: Sequence[Heading]
    rows: Sequence[PageRow]
    total: PageRow | None = None
    counts: Sequence[str] = ()
    fold: str = ""
    style: str = ""
    notes: Sequence[str] = ()
    after: Sequence[PageRow] = ()
    is_alone: bool = False


@dataclass(frozen=True)
class _Scale:
    """Where the values of a bar's column are, in percent of its width, between a low and a high value."""

    low: float
    high: float
    zero: float = 0.0

    def at(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        return round(100 * (value - self.low) / ((self.high - self.low) or 1.0), 2)

    def bar(self, value: float, *, is_red: bool = False) -> Part:
        ends = sorted((self.at(self.zero), self.at(value)))
        return Part(ends[0], round(ends[1] - ends[0], 2), is_red)

    @property
    def axis(self) -> float | None:
        """Where the line of the bars' beginning is; None at the edge."""
        return self.at(self.zero) if self.low < self.zero else None


def page_table(
    table: ReportTable, rows: pd.DataFrame, *, caption: str = "", limits: Mapping[str, float] | None = None
) -> PageTable:
    """
    Format rows of a table for the page. Its total is shown only below two rows or more.

    A figure below the limit of its column is marked as a breach. A bar stands beside the figure by which the rows are
    ordered, and beside a ratio with a floor.
    """
    limits = limits or {}
    columns = list(_columns(table, rows, limits))
    below = table.total.to_dict("records") if len(rows) > 1 else []
    total = [PageRow(name=table.total_name, cells=[each.total_cell(row) for each in columns]) for row in below]
    shown = [
        PageRow(
            name=str(row[table.label]),
            cells=[each.cell(row) for each in columns],
            detail=_detail(row, table.beside),
            group=str(row[table.group]) if table.group else "",
        )
        for row in rows.to_dict("records")
    ]
    added = [each.measure for each in columns if each.measure and each.measure.adds_up]
    is_rounded = any(_is_rounded(rows[each.name], row[each.name], each) for row in below for each in added)
    return PageTable(
        caption=caption,
        headings=[Heading(_capital(table.noun)), *(each.heading for each in columns)],
        rows=shown,
        total=next(iter(total), None),
        counts=(*_outside_notes(table, rows, columns), *([_ROUNDED] if is_rounded else [])),
        fold=table.fold,
        style="two-bars" if any(each.floor is not None for each in columns) else "one",
    )


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A column of figures, of their bars, or of words."""

    name: str
    heading: Heading
    measure: Measure | None = None
    style: str = ""
    limit: float | None = None
    scale: _Scale | None = None
    red: str = ""
    mark: str = ""
    floor: float | None = None

    def cell(self, row: Mapping[Any, Any]) -> Cell:
        """Return the cell of a row."""
        if self.scale:
            return Cell(style=self.style, bar=tuple(self._parts(row)), mark=self._mark(row), axis=self.scale.axis)
        value = row.get(self.name)
        if self.measure is None:
            return Cell("" if value is None or pd.isna(value) else _word(value), style=f"words {self.style}".strip())
        text = format_value(value, self.measure.unit)
        if self.is_signed and pd.notna(value) and value > 0 and any(each in text for each in "123456789"):
            text = f"+{text.removeprefix('+')}"
        if value is None or pd.isna(value):
            return Cell(text, style=self.style)
        is_breach = self.limit is not None and value < self.limit
        if self.name == OLDEST and self.measure.unit == "money":
            is_breach = value >= A_UNIT
        style = f"{self.style} floor".strip() if is_breach and self.name != OLDEST else self.style
        return Cell(text, is_outside(value, self.measure), bool(is_breach), style)

    @property
    def is_signed(self) -> bool:
        """Whether it is a change or a difference."""
        return "change_" in self.name or self.name.startswith("difference_")

    def total_cell(self, row: Mapping[Any, Any]) -> Cell:
        """Return the cell of the total, which has the bar of a ratio, and none of a sum."""
        return Cell(style=self.style, bar=()) if self.scale and self.floor is None else self.cell(row)

    def _parts(self, row: Mapping[Any, Any]) -> Iterator[Part]:
        value = row.get(self.name)
        if self.scale is None or value is None or pd.isna(value):
            return
        if self.floor is not None:
            yield self.scale.bar(value, is_red=value < self.floor)
            return
        if value > self.scale.high or not value:
            return
        red = float(row.get(self.red) or 0.0) if self.red else 0.0
        part = self.scale.bar(value)
        share = min(max(red / value, 0.0), 1.0) if value > 0 else 0.0
        if share < 1:
            yield Part(part.left, round(part.width * (1 - share), 2))
        if share > 0:
            yield Part(round(part.left + part.width * (1 - share), 2), round(part.width * share, 2), is_red=True)

    def _mark(self, row: Mapping[Any, Any]) -> float | None:
        value = row.get(self.mark) if self.mark else None
        return self.scale.at(value) if self.scale and value is not None and pd.notna(value) and value > 0 else None


def _columns(table: ReportTable, rows: pd.DataFrame, limits: Mapping[str, float]) -> Iterator[_Column]:
    """Return the columns in order, at most as many as the page has room for."""
    barred = table.bar or table.order
    left = MOST_COLUMNS - 1 - len(table.words)
    seen = 0
    for place, each in enumerate(table.page_columns):
        if place and _is_empty(table, rows, each.name) and each.name not in limits:
            continue
        bars = list(_bars(table, rows, each, limits.get(each.name), barred))
        if left < 1 + len(bars):
            break
        left -= 1 + len(bars)
        # A phone shows the figures with a bar, and without a floor one more.
        side = "" if bars or (seen == 0 and not limits.keys() & {one.name for one in table.page_columns}) else "side"
        seen += not bars and not side
        heading = Heading(each.title, unit_of(each.title, each.unit, ""), plain_words(each.meaning), side)
        sorted_by = f"{side} by".strip() if each.name == table.order else side
        yield _Column(
            name=each.name,
            heading=heading._replace(style=sorted_by),
            measure=each,
            style=side,
            limit=limits.get(each.name),
        )
        yield from bars
    for name in table.words:
        yield _Column(
            name=name,
            heading=Heading(table.titles.get(name) or _capital(title_of_key(name)), style="words side"),
            style="side",
        )


def _is_empty(table: ReportTable, rows: pd.DataFrame, name: str) -> bool:
    """Tell whether a column has nothing but zeros, also rounded ones, and unknown figures; also in the total."""
    values = [*rows[name], *table.total.get(name, [])]
    return all(pd.isna(each) or (isinstance(each, int | float) and abs(each) < _EQUAL) for each in values)


def _bars(
    table: ReportTable, rows: pd.DataFrame, column: Measure, floor: float | None, barred: str
) -> Iterator[_Column]:
    values = rows[column.name] if column.name in rows else pd.Series(dtype="float64")
    if column.unit == "ratio" and floor is not None:
        near = [*values.dropna().clip(floor - _FARTHEST, floor + _FARTHEST), floor]
        scale = _Scale(min(near), max(near), floor)
        heading = Heading(f"floor {format_number(floor, 'ratio')}", style="bar floor", axis=scale.at(floor))
        yield _Column(name=column.name, heading=heading, scale=scale, floor=floor)
    elif column.name == barred and column.unit not in {"text", "date"} and len(rows) > 1:
        # The sum of all other rows would make every other bar short.
        listed = rows[~rows[table.label].astype("str").str.startswith(f"{REST} ")]
        marks = listed[table.mark] if table.mark else listed[column.name]
        known = [0.0, *listed[column.name].dropna(), *marks.dropna()]
        scale = _Scale(min(known), max(known))
        if scale.high > scale.low:
            words = table.titles.get("bar", "")
            heading = Heading(words, style="bar")
            yield _Column(name=column.name, heading=heading, scale=scale, red=table.red, mark=table.mark)


def _outside_notes(table: ReportTable, rows: pd.DataFrame, columns: Iterable[_Column]) -> list[str]:
    """Say what the ratios mean that the table marks because they are outside 0% to 100%; also of its total."""
    shown = [each.measure for each in columns if each.measure]
    if len(table.total) and len(rows) > 1:
        there = [each.name for each in shown if each.name in table.total]
        rows = pd.concat([rows, table.total.assign(**{table.label: "Total"})[[table.label, *there]]])
    return [f"‡ {note}" for each in shown for note in outside_notes(rows[table.label], rows[each.name], each)]


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _word(value: object) -> str:
    return short_date(value) if isinstance(value, pd.Timestamp) else str(value)


def _detail(row: Mapping[Any, Any], names: Sequence[str]) -> str:
    return " · ".join(_word(row[name]) for name in names if pd.notna(row[name]) and row[name] != "")


def _is_rounded(values: pd.Series[Any], total: float, column: Measure) -> bool:
    """Tell whether values add up to their total, but no longer when they are rounded."""
    known = values.dropna()
    shown = sum(_shown(each, column) for each in known)
    return bool(abs(known.sum() - total) < _EQUAL) and shown != _shown(total, column)


def _shown(value: float, column: Measure) -> Decimal:
    text = format_value(value, column.unit).removesuffix(" pts").removesuffix("%")
    return Decimal(text.replace(",", "").replace(MINUS, "-"))


def range_table(caption: str, rows: Iterable[tuple[str, str, float, float, float]]) -> PageTable:
    """Return a table of forecasts: a name, what is beside it, and a value within a range, on an axis from 0."""
    found = list(rows)
    scale = _Scale(0.0, max(high for *_, high in found) or 1.0)
    made = []
    for name, detail, low, value, high in found:
        start, end = scale.at(low), scale.at(high)
        span = (Part(start, round(end - start, 2)),) if end > start else ()
        words = f"{money(low)} to {money(high)}" if span else MISSING
        cells = [
            Cell(money(value)),
            Cell(bar=span, mark=scale.at(value), style="range"),
            Cell(words, style="words side"),
        ]
        made.append(PageRow(name=name, detail=detail, cells=cells))
    headings = [Heading("Until"), Heading("Cash"), Heading(style="bar"), Heading("Range", style="words side")]
    return PageTable(caption=caption, headings=headings, rows=made, style="one")


def unit_of(name: str, unit: str, currency: str) -> str:
    """Return the unit that is shown with a figure: the currency, or days if the name does not say so."""
    if unit in PRICED:
        return currency
    return "days" if unit == "days" and "days" not in name.lower() else ""


def outside_notes(names: Iterable[str], values: Iterable[float], column: Measure) -> list[str]:
    """
    Name the rows whose ratio is below 0% or above 100%, and say what that means.

    Examples
    --------
    >>> pace = Measure("pace", "Pace", "ratio", "", above="more than the target")
    >>> outside_notes(["Ada", "Ben", "Cleo"], [1.1, 0.4, 1.2], pace)
    ['Pace above 100%: Ada, Cleo (more than the target).']
    >>> outside_notes([""], [1.1], pace)
    ['Pace above 100%: more than the target.']
    """
    if not (column.above or column.below):
        return []
    rows = [(name, value) for name, value in zip(names, values, strict=True) if pd.notna(value)]
    above = [name for name, value in rows if _is_above(value)]
    below = [name for name, value in rows if _is_below(value)]
    groups = (("above 100%", column.above, above), ("below 0%", column.below, below))
    return [
        f"{column.title} {side}: {', '.join(found)} ({why})." if any(found) else f"{column.title} {side}: {why}."
        for side, why, found in groups
        if found and why
    ]


def is_outside(value: float, column: Measure) -> bool:
    """Tell whether a ratio is below 0% or above 100% and its column declares what that means."""
    return bool((column.above and _is_above(value)) or (column.below and _is_below(value)))


def _is_above(value: float) -> bool:
    return bool(value >= 1.0005)


def _is_below(value: float) -> bool:
    return bool(value <= -0.0005)
