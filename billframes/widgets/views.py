"""The contents of the explorer's tabs, as the analyses declare them (`TabSpec`).

Titles, units, questions, columns and charts are those that the analysis declares. The rows behind a bar are those that
the analysis adds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import pandas as pd

from billframes import plots, tables
from billframes._shared.format import MISSING, short_date
from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import analyses, measure
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.declare.spec import Analysis, TabSpec
from billframes.analysis.keys.by import By
from billframes.book.records import by_invoice, shown_columns, with_details
from billframes.book.slices import keep_rows
from billframes.plots.order import by_size
from billframes.report.html import anchor
from billframes.widgets.filtered_book import FilteredBook
from billframes.widgets.html import Order, row_labels
from billframes.widgets.options import fold
from billframes.widgets.pictures import Place, picture


@dataclass(frozen=True, slots=True)
class AnalysisView:
    """What the tab of one analysis shows."""

    analysis: Analysis
    tab: TabSpec

    @property
    def keys(self) -> dict[str, str]:
        """The keys by which rows can be grouped, by their titles."""
        return {title_of_key(key).capitalize(): key for key in self.tab.by}

    @property
    def counted(self) -> Measure:
        """The sum that the rows behind a row add up to."""
        return cast("Measure", measure(self.tab.opens.rpartition(".")[2], self._opened))

    @property
    def _opened(self) -> Analysis:
        name = self.tab.opens.rpartition(".")[0]
        return analyses()[name] if name else self.analysis

    @property
    def _parts(self) -> list[Measure]:
        """The sums whose parts are shown: the counted one, and others that are compared."""
        others = [measure(name, self.analysis) for name in self.tab.compared]
        counted = self.counted
        return [counted, *(each for each in others if each and each.adds_up and each.name != counted.name)]

    def columns(self, result: pd.DataFrame) -> list[Measure]:
        """Return the measures in the table of a result."""
        if self.analysis.table:
            found: list[Measure] = getattr(tables, self.analysis.name).measures(result)
            return found
        return [each for name in result if (each := measure(str(name), self.analysis))]

    def only_where_wide(self, result: pd.DataFrame) -> set[str]:
        """Return the columns that are hidden on a narrow page."""
        columns = {each.name for each in self.columns(result)}
        return columns - {*getattr(tables, self.analysis.name).page_columns(result)} if self.analysis.table else set()

    def names(self, result: pd.DataFrame) -> dict[str, list[str]]:
        """Return the texts that name the rows of a result, by column."""
        table = self.analysis.table
        if self.tab.by or not (table and table.keys):
            return {str(result.columns[0]): row_labels(result)}
        return {key: _texts(result[key]) for key in table.keys if key in result}

    def sort(self, result: pd.DataFrame, order: Order) -> pd.DataFrame:
        """Return the rows of a result in another order, with their index. Missing values are always last."""
        column, ascending = order
        labels = self.names(result).get(column)
        if labels is None or pd.api.types.is_datetime64_any_dtype(result[column].dtype):
            return result.sort_values(column, ascending=ascending, kind="stable")
        names = pd.Series([fold(each) for each in labels], index=result.index)
        return result.loc[names.sort_values(ascending=ascending, kind="stable").index]

    def compute(self, filtered: FilteredBook, key: By) -> pd.DataFrame:
        """Return the result by a key, the largest rows first, with distinct names."""
        result = filtered.result(self.analysis, key)
        if key not in TIMES and self.tab.order in result:
            result = result.sort_values(self.tab.order, ascending=False, kind="stable", ignore_index=True)
        return filtered.book_filters.distinct_names(result)

    def find(self, filtered: FilteredBook, name: str) -> tuple[str | None, object]:
        """
        Return the key and the value of the row that page one names so; (None, None) if no row is.

        A name is "client=" and an id, or the name of a client, matter or person as an anchor.
        """
        key, _, id_ = name.partition("=")
        if id_:
            return (key, id_) if key in self.tab.by else (None, None)
        # The people of page one are responsible lawyers, unless the tab is about timekeepers.
        keys = sorted(self.tab.by, key=lambda each: each == "user" and each != self.tab.by[0])
        for key in keys if name else ():
            rows = self.compute(filtered, key)
            for label, value in zip(row_labels(rows), rows.iloc[:, 0], strict=True):
                if anchor(label) == name:
                    return key, value
        return None, None

    def has_chart(self, rows: pd.DataFrame) -> bool:
        """Whether there is a chart, and not all figures are 0 or missing: their axis would have no scale."""
        return self.analysis.chart is not None and bool(rows.select_dtypes("number").fillna(0.0).ne(0).any(axis=None))

    def bars(self, result: pd.DataFrame, most: int) -> pd.DataFrame:
        """Return the largest rows for a chart, in its order, with their index."""
        chart = self.analysis.chart
        return result if chart is None else by_size(chart, result).head(most)

    def picture(
        self, rows: pd.DataFrame, alt: str, *, currency: str, horizontal: bool, narrow: bool
    ) -> tuple[str, list[Place]]:
        """Draw rows of a result, and return the chart with the positions of its bars; see `picture`."""
        draw = partial(getattr(plots, self.analysis.name), rows, currency=currency)
        return picture(draw, len(rows), horizontal=horizontal, alt=alt, narrow=narrow)

    def rows_behind(self, filtered: FilteredBook, key: str | None, value: object) -> pd.DataFrame:
        """
        Return the rows that a row of the result is the sum of, with the part of each.

        `value` is that of the row in the first column, missing for unassigned. Without a key, it is an invoice.
        """
        analysis, counted = self._opened, self.counted.name
        names = [each.name for each in self._parts]
        of_invoices = self.analysis.records == "invoice"
        by = ("invoice_id", "client", "user") if key is None else (key, "invoice_id") if of_invoices else (key,)
        # The tab already shows the notes of this analysis.
        with collect_notes(Notes("page")):
            rows = filtered.rows(analysis, by, names, self.tab.filters)
        rows = keep_rows(rows, {str(rows.columns[0]): None if pd.isna(value) else value})  # type: ignore[call-overload]
        rows = rows[rows[counted] != 0]
        names = [name for name in names if name == counted or (name in rows and rows[name].fillna(1.0).any())]
        if of_invoices:
            rows = by_invoice(rows, names)
        rows = with_details(rows, partial(getattr, filtered.book), names)
        rows = filtered.book_filters.distinct_names(rows)
        rows = rows[shown_columns(rows, [each for each in self._parts if each.name in names])]
        newest = rows.columns[0]
        return rows.sort_values(newest, ascending=False, kind="stable", ignore_index=True)


def views() -> list[AnalysisView]:
    """Return the views of all analyses that declare a tab, in the order of the tabs."""
    declared = [AnalysisView(each, each.tab) for each in analyses().values() if each.tab]
    return sorted(declared, key=lambda view: view.tab.place)


def _texts(values: pd.Series[Any]) -> list[str]:
    dates = pd.api.types.is_datetime64_any_dtype(values.dtype)
    # With spaces at which a line does not break.
    return [
        MISSING if pd.isna(each) else short_date(each).replace(" ", "\xa0") if dates else str(each) for each in values
    ]
