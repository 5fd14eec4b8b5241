"""Build the great-tables table of a result: the style of all tables."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from billframes._shared.format import format_value
from billframes.errors import ConfigError

if TYPE_CHECKING:
    from great_tables import GT

# Texts up to this length, such as dates and invoice numbers, are not broken at their hyphens.
SHORT = 12
# A column with longer texts has a minimum width, also on a phone.
LONG = 30


def great_table(
    cells: pd.DataFrame,
    *,
    id: str,  # noqa: A002
    title: str,
    headings: Mapping[str, str],
    units: Mapping[str, str],
    note: str,
    has_total: bool,
    subtitle: str = "",
) -> GT:
    """
    Build the table from the text columns of the keys, the first of which is the heading of the rows, and the figures.

    Without an `id`, great-tables makes a new one each time. `units` are those of `format_value`.
    """
    first = cells.columns[0]
    table = _table_class()(cells, id=id, rowname_col=first).tab_header(title=title, subtitle=subtitle or None)
    table = table.tab_stubhead(headings.get(first, "")).cols_label(
        {name: heading for name, heading in headings.items() if name != first}
    )
    for name, unit in units.items():
        table = table.fmt(functools.partial(format_value, unit=unit), columns=name)
    names = [name for name in cells.columns if name not in units]
    texts = [name for name, unit in units.items() if unit == "text"]
    figures = [name for name in units if name not in texts]
    table = table.cols_align("right", columns=figures).cols_align("left", columns=[*names, *texts])
    table = table.tab_source_note(note)
    table = table.tab_options(heading_align="left", heading_title_font_weight="bold", data_row_padding="4px")
    short = [name for name in names if cells[name].str.len().max() <= SHORT]
    spaced = [name for name in figures if units[name] in {"date", "points"}]
    table = _with_css(table, first, [*short, *spaced], "white-space: nowrap;")
    long = [name for name in texts if (cells[name].str.len() > LONG).any()]
    table = _with_css(table, first, long, "min-width: 15em;")
    return _with_total(table, len(cells) - 1) if has_total else table


def _table_class() -> type[GT]:
    try:
        from great_tables import GT
    except ImportError as error:
        raise ConfigError(
            "Tables are made with great-tables, which is not installed: pip install great-tables."
        ) from error

    class TitledTable(GT):
        """A table whose repr is its title; that of great-tables lists all parts, with their addresses in memory."""

        def __repr__(self) -> str:
            return f"<table: {self._heading.title}>"

    return TitledTable


def _with_css(table: GT, stub: str, columns: list[str], css: str) -> GT:
    from great_tables import loc, style

    body = [name for name in columns if name != stub]
    places = [*([loc.stub()] if stub in columns else []), *([loc.body(columns=body)] if body else [])]
    return table.tab_style(style.css(css), places) if places else table


def _with_total(table: GT, row: int) -> GT:
    from great_tables import loc, style

    bold, line = style.text(weight="bold"), style.borders(sides="top", color="#222222", weight="1.5px")
    return table.tab_style([bold, line], [loc.body(rows=[row]), loc.stub(rows=[row])])
