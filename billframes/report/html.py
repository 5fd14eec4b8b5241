"""Sections, tables and charts as HTML. The page needs nothing from elsewhere: a chart is an SVG inside its `img`."""

from __future__ import annotations

import base64
import io
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
import matplotlib as mpl
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from billframes._show import format_number
from billframes.analysis.metrics import Measure

__all__ = ["WIDTH", "Section", "Table", "picture", "table"]

# Inches, slightly wider than the text on paper, so that text in charts has the size of text in tables.
WIDTH = 8.2
# The SVG keeps text as text in the page's typeface. Matplotlib measures with DejaVu Sans, which is wider.
_TYPEFACE = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"


class Section:
    """A section of the report, shown by a notebook. The template escapes every value."""

    def __init__(self, template: str, **values: Any) -> None:
        self._html: str = _templates().get_template(template).render(**values)

    def __repr__(self) -> str:
        return f"<report section of {len(self._html):,} characters>"

    def _repr_html_(self) -> str:
        return self._html


@dataclass(frozen=True)
class Table:
    """A table's texts, ready for the page."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: Sequence[str]


def table(
    caption: str, heading: str, label: str, columns: Sequence[Measure], rows: pd.DataFrame, total: pd.DataFrame
) -> Table:
    """
    Format a result as a table.

    Parameters
    ----------
    caption : str
    heading : str
        Heading of the first column.
    label : str
        The column of `rows` shown there.
    columns : sequence of Measure
    rows : DataFrame
    total : DataFrame
        The same analysis of everything, in one row; empty for a table without a total.
    """
    return Table(
        caption,
        [heading, *(column.title for column in columns)],
        [[str(row[label]), *_cells(row, columns)] for row in rows.to_dict("records")],
        ["Total", *itertools.chain.from_iterable(_cells(row, columns) for row in total.to_dict("records"))],
    )


def _cells(row: Mapping[object, float], columns: Sequence[Measure]) -> list[str]:
    return [format_number(row[column.name], column.unit) for column in columns]


def picture(draw: Callable[[Any, Axes], Axes], rows: pd.DataFrame, alt: str, *, height: float) -> Markup:
    """
    Draw a result and return it as an `img` element that contains the picture.

    Parameters
    ----------
    draw : callable
        A function of `billframes.plots`.
    rows : DataFrame
    alt : str
        Text for screen readers.
    height : float
        In inches.
    """
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    ax = draw(rows, figure.add_subplot())
    # The section's heading or caption is the title.
    ax.set_title("", loc="left")
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "billframes"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = re.sub(r"'DejaVu Sans',[^;\"]*sans-serif", _TYPEFACE, buffer.getvalue())
    data = base64.b64encode(svg.encode()).decode()
    return Markup('<img class="chart" src="data:image/svg+xml;base64,{}" alt="{}">').format(data, alt)


def _templates() -> jinja2.Environment:
    loader = jinja2.PackageLoader("billframes.report", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
