"""The declaration of a table of the report: its rows in order, total, columns and notes.

The page shows the largest rows and the sum of all others. The workbook shows all rows, in the same order and with the
same title. An analysis declares its columns: the page shows its `brief` columns, the workbook all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from billframes import tables
from billframes._shared.format import count_of, month_name
from billframes.analysis.declare.lookup import measure
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.results.result_rows import total_of
from billframes.report.month import Month
from billframes.tables import TableOf

REST = "All other"


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """
    One table of the report, with all its rows in order.

    The page shows the measures named in `brief` and the `top` largest rows by `order`, named by the column `label`,
    with the columns `beside` below the name. A bar is beside the column `bar`, by default that of `order`, with the
    part `red` and a `mark`; it is the first column. Columns of `words` come last, and `group` has the headings of rows.
    `titles` are in place of those of columns. A table with a `fold` is a list that is folded under this line. The
    title of a table that `is_alone` in its section is only for screen readers. Of rows
    with the same value of `once`, the page shows only the first, and none of those `elsewhere` on it.
    The workbook shows all `columns` and all rows, identified by the columns `labels`. No `brief` and 0 mean all.
    `meaning` says what figures mean that are not those of one analysis. Readers must not overlook `notes`.
    `sheet` is its sheet in the workbook, which has so many rows `above` it; by default the one named like the table.
    `names` are shown in place of labels, such as the days of a month that is not over. The row with the name `apart`,
    such as work not done yet among clients, is the last, and not among the others.
    """

    title: str
    label: str
    rows: pd.DataFrame
    total: pd.DataFrame
    columns: tuple[Measure, ...]
    brief: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    analysis: str = ""
    meaning: tuple[str, ...] = ()
    order: str = ""
    top: int = 7
    notes: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    bar: str = ""
    red: str = ""
    mark: str = ""
    words: tuple[str, ...] = ()
    group: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    fold: str = ""
    is_alone: bool = True
    once: str = ""
    elsewhere: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    total_name: str = "Total"
    apart: str = ""
    sheet: str = ""
    above: int = 0

    @property
    def noun(self) -> str:
        """What a row is, such as "client"."""
        return title_of_key(self.label)

    @property
    def count(self) -> str:
        """How many rows it has, such as "48 matters"; those that the page shows once count once."""
        rows = self.rows.drop_duplicates(self.once) if self.once else self.rows
        return count_of(len(rows), "row" if self.noun == "month" else self.noun)

    @property
    def page_columns(self) -> list[Measure]:
        """The figures that the page shows, first the one with a bar."""
        shown = [each for each in self.columns if not self.brief or each.name in self.brief]
        return sorted(shown, key=lambda each: each.name != (self.bar or self.order))

    @property
    def headings(self) -> list[str]:
        """The headings of the workbook's columns."""
        return [*(title_of_key(each).capitalize() for each in self.labels), *(each.title for each in self.columns)]

    def row_name(self, label: object) -> str:
        """Return the name of a row."""
        if str(label) in self.names:
            return self.names[str(label)]
        return month_name(pd.Timestamp(f"{label}-01"), short=True) if self.label == "month" else str(label)

    def page_rows(self) -> pd.DataFrame:
        """Return the largest rows, and below them the sum of all others if the table has a total."""
        if not self.top:
            return self.rows
        if self.total.empty:
            rows = self.rows
            rows = rows[~rows[self.once].isin(self.elsewhere)].drop_duplicates(self.once) if self.once else rows
            return rows.head(self.top)
        rest = f"{REST} {self.noun}s"
        listed, apart = split_apart(self.rows, self.label, self.apart)
        ranked = top_and_rest(listed, self.label, self.order, top=self.top, rest=rest, columns=self.columns)
        return pd.concat([ranked, apart[ranked.columns]], ignore_index=True) if len(apart) else ranked


MakeTable = Callable[[Month], ReportTable | None]
"""Makes a table of a month; None if the month has none."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """
    A table of one analysis; call it with a month.

    Without `by`, it is a list; the report of one client has matters in place of clients. Rows are sorted by the first
    column of `order` that is not hidden, largest first. `options` are the arguments of the analysis in place of the
    month's days, and `prepare` takes the rows and returns those to show. `{by}` in the title is the title of the key;
    without a title, it is the one that the analysis declares.
    """

    analysis: str
    by: str = ""
    title: str = ""
    order: tuple[str, ...] = ()
    options: Callable[[Month], Mapping[str, Any]] | None = None
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows
    label: str = ""
    notes: Callable[[Month], Iterable[str]] = lambda _month: ()
    beside: tuple[str, ...] = ()
    once: str = ""
    top: int = 7
    apart: str = ""

    def __call__(self, month: Month) -> ReportTable:
        """Return the table of a month."""
        options = dict(self.options(month) if self.options else month.days_for(self.analysis))
        by = month.grouping_key(self.by)
        rows = month.result(self.analysis, **options, **({"by": by} if by else {}))
        rows = self.prepare(month.with_distinct_names(rows))
        total = month.result(self.analysis, **options, by=None) if by else rows.iloc[:0]
        known = (each for each in self.order if total.empty or total[each].notna().all())
        order = next(known, self.order[-1] if self.order else "")
        rows = largest_first(rows, order) if order else rows
        listed, apart = split_apart(rows, self.label, self.apart)
        rows = pd.concat([listed, apart], ignore_index=True) if len(apart) else rows
        title = self.title or f"{getattr(tables, self.analysis).title}{' by {by}' if by else ''}"
        return of_analysis(
            self.analysis,
            title.format(by=title_of_key(by)),
            rows,
            total,
            order=order,
            label=self.label,
            notes=tuple(self.notes(month)),
            beside=self.beside,
            once=self.once,
            top=self.top,
            apart=self.apart,
        )


def to_date(column: Measure, formula: str = "") -> Measure:
    """Return a column of the year to date beside one of the month."""
    return replace(
        column, name=f"{column.name}_to_date", title=f"{column.title}, year to date", ratios=(), formula=formula
    )


def of_analysis(
    analysis: str, title: str, rows: pd.DataFrame, total: pd.DataFrame, *, label: str = "", **more: Any
) -> ReportTable:
    """Return a table with the columns that the analysis declares."""
    declared: TableOf = getattr(tables, analysis)
    names = [name for name in map(str, rows.columns) if measure(name) is None and not name.endswith("_id")]
    shown = {
        "columns": tuple(declared.measures(rows)),
        "brief": tuple(declared.page_columns(rows)),
        "labels": tuple(name for name in declared.keys if name in rows) or tuple(names),
    }
    label = label or next(name for name in names if name.endswith(("_name", "_label")))
    return ReportTable(title=title, analysis=analysis, label=label, rows=rows, total=total, **shown | more)


def top_and_rest(
    frame: pd.DataFrame, label: str, order: str, *, top: int, rest: str, columns: Sequence[Measure] = ()
) -> pd.DataFrame:
    """Keep the rows with the largest values of `order`, and add up all others; so also `columns` that add up."""
    ordered = largest_first(frame, order) if order else frame
    if len(ordered) <= top + 1:
        return ordered
    others = ordered.iloc[top:]
    own = [each.name for each in columns if each.adds_up and each.name in others and measure(each.name) is None]
    sums = {**total_of(others), **others[own].sum(skipna=False)}
    row = pd.DataFrame([{**sums, label: f"{rest} ({len(others)})"}])
    # Other columns, such as ids, are unknown in this row.
    kept = ordered.iloc[:top].astype(dict.fromkeys(frame.columns.difference(row.columns), "object"))
    return pd.concat([kept, row.reindex(columns=frame.columns)], ignore_index=True)


def split_apart(rows: pd.DataFrame, label: str, apart: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows, and those with the name `apart`, which are none of the key; an empty name is none."""
    if not apart:
        return rows, rows.iloc[:0]
    is_apart = rows[label] == apart
    return rows[~is_apart], rows[is_apart]


def largest_first(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Sort rows by a column; missing values come last."""
    return rows.sort_values(column, ascending=False, kind="stable", ignore_index=True)
