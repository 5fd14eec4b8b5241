"""A section of the report as it is declared: its tables, notes and key points, and how the page shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from billframes._shared.format import long_date
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.results.explain import plain_words
from billframes.report.html import PageTable, Section, anchor, outside_notes, page_table
from billframes.report.month import Month
from billframes.report.table_spec import Chart, MakeTable, ReportTable, Table

FIRM = ("firm",)
"""The scopes of a section that a part of the firm does not have."""
_SCOPES = (*FIRM, "client", "practice_area", "responsible")


def summary_of(_month: Month, table: ReportTable) -> Iterator[str]:
    """Say what the analysis of a table does."""
    analysis = analyses()[table.analysis]
    text = plain_words(analysis.summary, analysis).replace("'", "’")
    yield f"This table {text.removeprefix('It ')}" if text.startswith("It ") else text


@dataclass(frozen=True, kw_only=True)
class SectionSpec:
    """
    A section of the report; call it with a month. Its tables are also the sheets of the workbook.

    Parameters
    ----------
    name : str
        The function of `billframes.report` that shows it, and its id on the page.
    tables : tuple of callable
    title : str
        Its heading; empty for the title of the first table.
    notes : str or callable
        What readers must know; a callable takes the month and the first table.
    empty : str
        The text if no table has rows, in which `{month}` is the month's name. Without it, there is no section then.
    scopes : tuple of str
        The reports that have it: "firm", "client", "practice_area", "responsible".
    on_page : bool
        Whether the page has it; if not, only the workbook has its tables.
    of_load : bool
        Whether its balances are those of the day of the load, which the heading says if that is a later day.
    narratives : bool
        Whether only reports with descriptions of time entries have it.
    stands_out : callable, optional
        Takes the month and says what stands out. The page has the section only if something does.
    show : callable, optional
        Takes the month and returns what the page shows in place of the tables.
    options : str
        What the notebook passes to `show`.
    step : str
        What the command says when it begins.
    """

    name: str
    tables: tuple[MakeTable, ...] = ()
    title: str = ""
    notes: str | Callable[[Month, ReportTable], Iterable[str]] = summary_of
    empty: str = ""
    scopes: tuple[str, ...] = _SCOPES
    on_page: bool = True
    of_load: bool = False
    narratives: bool = False
    stands_out: Callable[[Month], str] | None = None
    show: Callable[..., Section | None] | None = None
    options: str = ""
    step: str = ""

    def __call__(self, month: Month, **options: Any) -> Section | None:
        """
        Show the section; None if the report does not have it.

        Parameters
        ----------
        month : Month
        by : str, optional
            Another key for its table.
        top : int, optional
            How many rows to show: the largest. One more row has the sum of all others.
        """
        return self.show(month, **options) if self.show else self._show_tables(month, **options)

    @property
    def cell(self) -> str:
        """The code of its cell in the notebook."""
        call = f"report.{self.name}(firm{self.options})"
        return f"{call} if narratives else None" if self.narratives else call

    def made(self, month: Month, by: str = "") -> list[ReportTable]:
        """Return its tables."""
        if not self._is_in(month):
            return []
        makers = (replace(each, by=by) if by and isinstance(each, Table) else each for each in self.tables)
        return [table for each in makers if (table := each(month)) is not None]

    def _is_in(self, month: Month) -> bool:
        return (month.scope.key if month.scope else "firm") in self.scopes

    def heading(self, month: Month, tables: Sequence[ReportTable]) -> str:
        """Return its heading."""
        later = f", with the balances of {long_date(month.balances_day)}" if self.of_load and month.balances_day else ""
        return f"{self.title or tables[0].title}{later}"

    def _show_tables(self, month: Month, *, by: str = "", top: int | None = None) -> Section | None:
        reason = self.stands_out(month) if self.stands_out and self._is_in(month) and not month.is_empty else ""
        if self.stands_out and not reason:
            return None
        tables = self.made(month, by)
        shown = [each for each in tables if len(each.rows)]
        said = [note for each in tables for note in each.notes]
        empty = self.empty.format(month=month.name) or " ".join(said)
        if not self._is_in(month) or not (shown or empty):
            return None
        heading = self.heading(month, tables)
        told = [self.notes] if isinstance(self.notes, str) else self.notes(month, tables[0]) if tables else ()
        blocks, notes = [], [*said, *filter(None, told)]
        for table in shown:
            rows = table.page_rows(top)
            caption = "" if heading.startswith(table.title) else table.title
            charts = [(_draw(month, table, rows, each), each.below) for each in table.charts]
            rows = rows.assign(**{table.label: [table.row_name(each) for each in rows[table.label]]})
            blocks += [
                *(drawn for drawn, below in charts if not below),
                page_table(table, rows, caption=caption, limits=_limits(month)),
                *(drawn for drawn, below in charts if below),
            ]
            if 0 < (top or table.top) < len(table.rows) and table.total.empty:
                notes.append(f"The table has the first {len(rows)} of {len(table.rows)} rows; the workbook has all.")
            notes += _outside_notes(table, rows)
        notes = list(dict.fromkeys(notes))
        return Section(
            "section.html",
            name=anchor(self.title or tables[0].title),
            title=heading,
            reason=reason,
            blocks=blocks,
            # On a screen, what follows the first table is folded.
            first=next((place for place, each in enumerate(blocks, 1) if isinstance(each, PageTable)), 0),
            notes=notes,
            empty=empty,
        )


def _limits(month: Month) -> dict[str, float]:
    """Return the firm's limits by column; a figure below its limit is a breach."""
    floor = month.settings.realization_floor
    # A budget that is exceeded by less than a unit is kept, as in the key points.
    return {"remaining_amount": -0.5, **({} if floor is None else {"billing_realization": floor})}


def _outside_notes(table: ReportTable, rows: pd.DataFrame) -> list[str]:
    """Say what the ratios mean that the table marks because they are outside 0% to 100%; also of its total."""
    label, columns = table.label, table.page_columns
    if len(table.total) and len(rows) > 1:
        rows = pd.concat([rows, table.total.assign(**{label: "Total"})[[label, *(each.name for each in columns)]]])
    return [f"‡ {note}" for each in columns for note in outside_notes(rows[label], rows[each.name], each)]


def _draw(month: Month, table: ReportTable, rows: pd.DataFrame, chart: Chart) -> Any:
    """Draw a chart. A single bar is not drawn."""
    # Matplotlib takes a third of a second, and workbooks don't need it.
    from billframes import plots
    from billframes.report.pictures import picture, side_by_side

    rows = table.total if chart.of == "total" else rows
    if chart.analysis:
        # The other analyses' figures would be keys of this one's rows.
        own = analyses()[chart.analysis].measure_names
        rows = rows[[table.label, *(name for name in rows.columns if name in own)]]
    if table.names:
        lines = {label: "\n".join(name.rsplit(" ", 1)) for label, name in table.names.items()}
        rows = rows.assign(**{table.label: rows[table.label].replace(lines)})
    if len(rows) < 2 and not chart.height:
        return ""
    draw = getattr(plots, chart.analysis or table.analysis)
    alt = f"Chart: {chart.title(table)}. The table has the numbers."
    if chart.height:
        return picture(draw, rows, alt, height=chart.height, currency=month.currency)
    return side_by_side(draw, rows, alt, currency=month.currency)
