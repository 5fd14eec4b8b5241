"""Sections and tables as HTML. The page needs no other files."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from billframes._shared.format import MINUS, format_value, short_date
from billframes.analysis.declare.metrics import PRICED, Measure
from billframes.analysis.results.explain import plain_words

if TYPE_CHECKING:
    import jinja2  # Workbooks and the explorer need this module, but not jinja2.

    from billframes.report.table_spec import ReportTable


# Sums of the same amounts in another order differ by less.
_EQUAL = 1e-6


class Section:
    """A section of the report, shown by a notebook. The template escapes every value."""

    def __init__(self, template: str, **values: Any) -> None:
        self._html: str = templates().get_template(template).render(**values)

    def __repr__(self) -> str:
        return f"<report section of {len(self._html):,} characters>"

    def _repr_html_(self) -> str:
        return self._html


class Cell(NamedTuple):
    """
    A cell's text, and how it is marked.

    It can be a ratio outside 0% to 100%, which a note explains, or breach a limit of the firm. `part` is its part of
    the largest value in percent, where the rows are ranked by the column.
    """

    text: str
    is_outside: bool = False
    is_breach: bool = False
    part: int = 0


@dataclass(frozen=True)
class PageTable:
    """
    The texts of a table of the page: titles with units and meanings, and the name and cells of each row.

    `is_rounded` says whether the shown rows of a column don't add up to its shown total.
    """

    caption: str
    headings: Sequence[tuple[str, str, str]]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    total: Sequence[Cell] = ()
    total_name: str = ""
    details: Sequence[str] = ()
    is_rounded: bool = False


def page_table(
    table: ReportTable,
    rows: pd.DataFrame,
    *,
    caption: str = "",
    limits: Mapping[str, float] = MappingProxyType({}),
) -> PageTable:
    """
    Format rows of a table for the page. Its total is shown only below two rows or more.

    A figure below the limit of its column is marked as a breach.
    """
    columns, heading = table.page_columns, table.noun
    # The sum of all other rows would make every bar short.
    ranked = rows[table.order].iloc[: table.top or None] if table.order in rows and len(rows) > 1 else rows.iloc[:0, 0]
    largest = float(ranked.max()) if len(ranked) else 0.0
    below = table.total.to_dict("records") if len(rows) > 1 else []
    return PageTable(
        caption,
        [
            (heading[:1].upper() + heading[1:], "", ""),
            # The page's heading names the currency.
            *((each.title, unit_of(each.title, each.unit, ""), plain_words(each.meaning)) for each in columns),
        ],
        [
            (
                str(row[table.label]),
                [_cell(row, each, limits, largest * (each.name == table.order)) for each in columns],
            )
            for row in rows.to_dict("records")
        ],
        [_cell(row, each, limits) for row in below for each in columns],
        table.total_name,
        [_detail(row, table.beside) for row in rows.to_dict("records")] if table.beside else (),
        any(_is_rounded(rows[each.name], row[each.name], each) for row in below for each in columns if each.adds_up),
    )


def _is_rounded(values: pd.Series[Any], total: float, column: Measure) -> bool:
    """Tell whether values add up to their total, but no longer when they are rounded."""
    known = values.dropna()
    shown = sum(_shown(each, column) for each in known)
    return bool(abs(known.sum() - total) < _EQUAL) and shown != _shown(total, column)


def _shown(value: float, column: Measure) -> Decimal:
    text = format_value(value, column.unit).removesuffix(" pts").removesuffix("%")
    return Decimal(text.replace(",", "").replace(MINUS, "-"))


def unit_of(name: str, unit: str, currency: str) -> str:
    """
    Return the unit that is shown with a figure: the currency, or days if the name does not say so.

    Examples
    --------
    >>> unit_of("Receivables", "money", "USD"), unit_of("Lock-up", "days", "USD"), unit_of("Days of fees", "days", "")
    ('USD', 'days', '')
    """
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


def anchor(title: str) -> str:
    """
    Return the id of the section with this title.

    Examples
    --------
    >>> anchor("Work in progress and lock-up")
    'work-in-progress-and-lock-up'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _cell(row: Mapping[Any, Any], column: Measure, limits: Mapping[str, float], largest: float = 0.0) -> Cell:
    value = row.get(column.name)
    text = format_value(value, column.unit)
    if pd.isna(value):
        return Cell(text)
    is_breach = column.name in limits and value < limits[column.name]
    part = round(100 * value / largest) if largest and 0 < value <= largest else 0
    return Cell(text, is_outside(value, column), is_breach, part)


def _detail(row: Mapping[Any, Any], names: Sequence[str]) -> str:
    values = [row[name] for name in names if pd.notna(row[name])]
    return " · ".join(short_date(each) if isinstance(each, pd.Timestamp) else str(each) for each in values)


def is_outside(value: float, column: Measure) -> bool:
    """Tell whether a ratio is below 0% or above 100% and its column declares what that means."""
    return bool((column.above and _is_above(value)) or (column.below and _is_below(value)))


def _is_above(value: float) -> bool:
    return bool(value >= 1.0005)


def _is_below(value: float) -> bool:
    return bool(value <= -0.0005)


@functools.cache
def templates() -> jinja2.Environment:
    """Return the package's templates, which escape every value."""
    import jinja2

    loader = jinja2.PackageLoader("billframes.report", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["anchor"] = anchor
    environment.filters["money"] = lambda value: format_value(value, "money")
    return environment
