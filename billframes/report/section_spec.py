"""A section of the report as it is declared: its finding, its tables, and what its figures count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from billframes._shared.format import format_number, long_date
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.results.explain import plain_words
from billframes.report.html import Section
from billframes.report.month import Month
from billframes.report.page_table import PageTable, page_table
from billframes.report.table_spec import MakeTable, ReportTable

FIRM = ("firm",)
"""The scopes of a section that a part of the firm does not have."""
# A sentence about one key.
_BY = re.compile(r" By (\w+), [^.]*\.")
_SCOPES = (*FIRM, "client", "practice_area", "responsible")


@dataclass(frozen=True)
class Finding:
    """What a section has found in one sentence; its cause, and who does what next."""

    headline: str
    cause: str = ""
    next: str = ""


Block = ReportTable | PageTable | tuple[PageTable, ...] | Any
"""A table of a section, several beside each other, or a line of months."""


def summary_of(_month: Month, table: ReportTable) -> Iterator[str]:
    """Say what the analysis of a table does, without what it does by another key."""
    analysis = analyses()[table.analysis]
    text = plain_words(analysis.summary, analysis).replace("'", "’")
    text = _BY.sub(lambda said: said[0] if said[1] == table.noun else "", text)
    yield f"This table {text.removeprefix('It ')}" if text.startswith("It ") else text


@dataclass(frozen=True, kw_only=True)
class SectionSpec:
    """
    A section of the report; call it with a month.

    Parameters
    ----------
    name : str
        The function of `billframes.report` that shows it, and its id on the page.
    tables : tuple of callable
        The sheets of the workbook; without `page`, the first one is what the page shows, too.
    page : callable, optional
        Takes the month and returns what the page shows.
    title : str
        Its heading; empty for the title of the first table.
    finding : callable, optional
        Takes the month and says what the section has found. A section without a finding is a folded line.
    quiet : callable, optional
        Takes the month and returns the line of a section without a finding.
    scope : callable
        Takes the month, and says which days or records the section is about.
    notes : str or callable
        What readers must know; a callable takes the month and the first table.
    empty : str or callable
        The text if no table has rows; a callable takes the month. In a text, `{month}` is the month's name. Without
        it, there is no section then.
    scopes : tuple of str
        The reports that have it: "firm", "client", "practice_area", "responsible".
    on_page : bool
        Whether the page has it; if not, only the workbook has its tables.
    narratives : bool
        Whether only reports with descriptions of time entries have it.
    stands_out : callable, optional
        Takes the month and returns its finding as text. The page has the section only if there is one.
    show : callable, optional
        Takes the month and returns what the page shows in place of the tables.
    options : str
        What the notebook passes to `show`.
    step : str
        What the command says when it begins; by default the title of a section with `page`.
    """

    name: str
    tables: tuple[MakeTable, ...] = ()
    page: Callable[[Month], Sequence[Block]] | None = None
    title: str = ""
    finding: Callable[[Month], Finding | None] = lambda _month: None
    quiet: Callable[[Month], str] | None = None
    scope: Callable[[Month], str] = lambda month: month.same_days_name(0, short=False)
    notes: str | Callable[[Month, ReportTable], Iterable[str]] = summary_of
    empty: str | Callable[[Month], str] = ""
    scopes: tuple[str, ...] = _SCOPES
    on_page: bool = True
    narratives: bool = False
    stands_out: Callable[[Month], str] | None = None
    show: Callable[..., Section | None] | None = None
    options: str = ""
    step: str = ""

    def __call__(self, month: Month, **options: Any) -> Section | None:
        """Show the section; None if the report does not have it."""
        return self.show(month, **options) if self.show else self._show_tables(month, **options)

    @property
    def cell(self) -> str:
        """The code of its cell in the notebook."""
        call = f"report.{self.name}(firm{self.options})"
        return f"{call} if narratives else None" if self.narratives else call

    @property
    def id(self) -> str:
        """Its id on the page."""
        return self.name.replace("_", "-")

    def made(self, month: Month) -> list[ReportTable]:
        """Return its tables."""
        return [table for each in self.tables if (table := each(month)) is not None] if self._is_in(month) else []

    def _is_in(self, month: Month) -> bool:
        return (month.scope.key if month.scope else "firm") in self.scopes

    def _found(self, month: Month) -> Finding | None:
        if month.is_empty:
            return None
        if self.stands_out:
            text = self.stands_out(month)
            return Finding(text) if text else None
        return self.finding(month)

    def _show_tables(self, month: Month) -> Section | None:
        finding = self._found(month) if self._is_in(month) else None
        if not self._is_in(month) or (self.stands_out and not finding):
            return None
        blocks = list(self.page(month)) if self.page else self.made(month)[:1]
        tables = [each for each in blocks if isinstance(each, ReportTable)]
        empty = self.empty(month) if callable(self.empty) else self.empty.format(month=month.name)
        empty = empty or " ".join(note for each in tables for note in each.notes)
        blocks = [each for each in blocks if not isinstance(each, ReportTable) or len(each.rows)]
        if not (blocks or empty):
            return None
        title = self.title or tables[0].title
        first = tables or self.made(month)[:1]
        notes = [note for each in first for note in each.notes]
        meant = [self.notes] if isinstance(self.notes, str) else self.notes(month, first[0]) if first else ()
        notes += filter(None, meant)
        shown = [self._shown(month, each, notes, title) for each in blocks]
        notes += [note for each in shown for note in getattr(each, "counts", ())]
        return Section(
            "section.html",
            name=self.id,
            title=title,
            scope=self.scope(month),
            finding=finding,
            quiet="" if finding or not blocks else self.quiet(month) if self.quiet else _in_short(tables),
            blocks=shown,
            notes=list(dict.fromkeys(notes)),
            empty="" if blocks else empty,
        )

    def _shown(self, month: Month, block: Block, notes: list[str], title: str) -> Any:
        """Return a block for the template, and add what its figures need to the notes."""
        if not isinstance(block, ReportTable):
            return block
        rows = block.page_rows()
        rows = rows.assign(**{block.label: [block.row_name(each) for each in rows[block.label]]})
        if 0 < block.top < len(block.rows) and block.total.empty:
            notes.append(f"The table has the first {len(rows)} of {block.count}; the workbook has all.")
        caption = "" if title == block.title else block.title
        made = page_table(block, rows, caption=caption, limits=limits_of(month))
        return replace(made, is_alone=block.is_alone or bool(block.fold))


def limits_of(month: Month) -> dict[str, float]:
    """Return the firm's limits by column; a figure below its limit is a breach."""
    floor = month.settings.realization_floor
    # A budget that is exceeded by less than a unit is kept, as in the key points.
    return {"remaining_amount": -0.5, **({} if floor is None else {"billing_realization": floor})}


def _in_short(tables: Sequence[ReportTable]) -> str:
    """Return the line of a section without a finding: the rows of its first table, and its first total."""
    if not tables:
        return ""
    table = tables[0]
    first = next((each for each in table.page_columns if len(table.total) and each.name in table.total), None)
    if first is None:
        return table.count
    return f"{table.count}, {first.title.lower()} {format_number(float(table.total[first.name].iloc[0]), first.unit)}"


def balances_of(month: Month) -> str:
    """Say of which day the balances of a section are."""
    return f"balances of {long_date(month.balances_day or month.as_of)}"
