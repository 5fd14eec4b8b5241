"""A line of twelve months on the page, beside that of the year before and the firm's floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from billframes._shared.format import format_number, money, month_name
from billframes.analysis.declare.lookup import measures
from billframes.analysis.declare.metrics import FIGURES
from billframes.periods import Period
from billframes.report.figures import limits
from billframes.report.month import Month
from billframes.report.month_days import YEAR

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST_LINES = 4


@dataclass(frozen=True)
class LineChart:
    """A line as it is drawn: places are in percent of the chart, from its upper left corner."""

    title: str
    names: tuple[str, str]
    points: Sequence[str]
    before: Sequence[str]
    grid: Sequence[tuple[float, str]]
    months: Sequence[tuple[float, str]]
    last: tuple[float, float, str]
    limit: float | None
    limit_name: str
    label: str


@dataclass(frozen=True)
class _Area:
    """Where values of some months are drawn, between a low and a high value."""

    low: float
    high: float
    months: int

    def height(self, value: float) -> float:
        return round(100 - 100 * (value - self.low) / ((self.high - self.low) or 1.0), 2)

    def across(self, place: int) -> float:
        return round(100 * place / (self.months - 1), 2)

    def drawn(self, values: Sequence[float]) -> list[str]:
        """Return the points of a line, which unknown values break into several."""
        parts: list[list[str]] = [[]]
        for place, each in enumerate(values):
            if math.isfinite(each):
                parts[-1].append(f"{self.across(place)},{self.height(each)}")
            elif parts[-1]:
                parts.append([])
        return [" ".join(each) for each in parts if len(each) > 1]


def line_chart(month: Month, measure: str, now: Sequence[float], before: Sequence[float]) -> LineChart | None:
    """
    Draw a figure of the months up to the report's, and of the same months a year before.

    A month that is not over is a gap at the end. Return None if fewer than two months are known, or all are 0.
    """
    declared = measures()[measure]
    title, unit = declared.title, declared.unit
    months = [month.earlier(back) for back in range(len(now) - 1, -1, -1)]
    known = [each for each in (*now, *before) if math.isfinite(each)]
    shown = [place for place, each in enumerate(now) if math.isfinite(each)]
    if len(shown) < 2 or not any(known):
        return None
    limit, noun = limits(month).get(measure, (math.nan, ""))
    has_limit = math.isfinite(limit)
    ends = [*known, *([limit] if has_limit else []), *([0.0] if unit != "ratio" else [])]
    lines = _grid(min(ends), max(ends))
    area = _Area(min(lines[0], *ends), max(lines[-1], *ends), len(now))
    first, last = shown[0], shown[-1]
    words = [format_number(now[place], unit) for place in (last, first)]
    currency = f", {month.currency}" if month.currency and unit == "money" else ""
    years = [f" {each.year}" if place == 0 or each.month == 1 else "" for place, each in enumerate(months)]
    return LineChart(
        title=f"{title} by month{currency}",
        names=(f"{month_name(months[0], short=True)}–{month_name(months[-1], short=True)}", "a year before"),
        points=area.drawn(now),
        before=area.drawn(before),
        grid=[(area.height(each), f"{each:.0%}" if unit == "ratio" else money(each)) for each in lines],
        months=[(area.across(place), f"{months[place]:%b}{year}") for place, year in enumerate(years)],
        last=(area.across(last), area.height(now[last]), words[0]),
        limit=area.height(limit) if has_limit else None,
        limit_name=f"{noun} {format_number(limit, unit)}",
        label=f"{title}: {words[1]} in {month_name(months[first])}, {words[0]} in {month_name(months[last])}",
    )


def year_lines(month: Month, measure: str) -> LineChart | None:
    """Draw a figure of realization for twelve months, beside the twelve months before."""
    rows, end = month.month_by_month(measure), FIGURES[measures()[measure].unit]
    now, before = (rows[f"{name}_{end}"].astype("float64").tolist() for name in ("now", "year_ago"))
    gap = [] if month.ends_month else [math.nan]
    return line_chart(month, measure, [*now[: len(now) - len(gap)], *gap][-YEAR:], before[-YEAR:])


def fees_line(month: Month) -> LineChart | None:
    """Draw all fees of twelve months, for a firm that bills not only time, beside the twelve months before."""
    months = list(map(month.earlier, range(2 * YEAR - 1, -1, -1)))
    rows = month.result("contribution", by="month", start=months[0], end=month.last).set_index("month")["fees_amount"]
    found = [float(rows.get(f"{each:%Y-%m}", 0.0)) if month.is_known(Period(each)) else math.nan for each in months]
    if not month.ends_month:
        found[-1] = math.nan
    return line_chart(month, "fees_amount", found[YEAR:], found[:YEAR])


def _grid(low: float, high: float) -> list[float]:
    """
    Return round numbers, a few of them, between two ends.

    Examples
    --------
    >>> _grid(0.0, 620_000.0)
    [0.0, 200000.0, 400000.0, 600000.0]
    """
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** math.floor(math.log10(span / _MOST_LINES))
    step = next(size * each for each in _STEPS if span / (size * each) <= _MOST_LINES)
    first = math.ceil(low / step - 1e-9)
    return [round(each * step, 10) for each in range(first, math.floor(high / step + 1e-9) + 1)] or [low]
