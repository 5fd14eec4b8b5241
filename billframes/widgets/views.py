"""The contents of the explorer's tabs, as the analyses declare them (`TabSpec`).

Titles, units, questions, columns and charts are those that the analysis declares. The rows behind a bar are the same
analysis grouped by single records, so they add up to the bar.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from billframes import plots, tables
from billframes._format import MISSING, short_date
from billframes._notes import Notes, collect_notes
from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.declare.spec import Analysis, RecordsSpec, TabSpec, analyses, measures
from billframes.analysis.model.keys import TIMES, By
from billframes.book.slices import keep_rows
from billframes.widgets.filtered_book import FilteredBook
from billframes.widgets.html import picture, row_labels

__all__ = ["AnalysisView", "views"]

_KINDS = dict(zip(ITEMS, ("time", "expense", "fixed fee"), strict=True))


@dataclass(frozen=True, slots=True)
class AnalysisView:
    """
    What the tab of one analysis shows.

    Parameters
    ----------
    analysis : Analysis
        One that declares a tab.
    """

    analysis: Analysis

    @property
    def tab(self) -> TabSpec:
        """The declaration of the tab."""
        if self.analysis.tab is None:
            raise AssertionError(f"{self.analysis.name} declares no tab")
        return self.analysis.tab

    @property
    def title(self) -> str:
        """The tab's title."""
        return self.tab.title

    @property
    def keys(self) -> dict[str, str]:
        """The keys by which rows can be grouped, by their titles."""
        return {title_of_key(key).capitalize(): key for key in self.tab.by}

    @property
    def records(self) -> RecordsSpec | None:
        """The declaration of the records behind a bar; None if the tab does not show them."""
        return self.analysis.records

    def columns(self, result: pd.DataFrame) -> list[Measure]:
        """Return the measures in the table of a result."""
        if self.analysis.table:
            found: list[Measure] = getattr(tables, self.analysis.name).measures(result)
            return found
        return [each for name in result if (each := self.analysis.measure(str(name)))]

    def only_where_wide(self, result: pd.DataFrame) -> set[str]:
        """Return the columns that are hidden on a narrow page."""
        columns = {each.name for each in self.columns(result)}
        return columns - {*getattr(tables, self.analysis.name).page_columns(result)} if self.analysis.table else set()

    def names(self, result: pd.DataFrame) -> dict[str, list[str]]:
        """Return the texts that name the rows of a result, by heading."""
        table = self.analysis.table
        if self.tab.by or not (table and table.keys):
            return {title_of_key(str(result.columns[0]).removesuffix("_id")).capitalize(): row_labels(result)}
        return {title_of_key(key).capitalize(): _texts(result[key]) for key in table.keys}

    def compute(self, filtered: FilteredBook, key: By) -> pd.DataFrame:
        """Return the result by a key, the largest rows first, with distinct names."""
        result = filtered.result(self.analysis, key)
        if key not in TIMES and self.tab.order in result:
            result = result.sort_values(self.tab.order, ascending=False, kind="stable", ignore_index=True)
        return filtered.book_filters.distinct_names(result)

    def picture(
        self, rows: pd.DataFrame, alt: str, *, currency: str, horizontal: bool, narrow: bool
    ) -> tuple[str, list[tuple[float, float]]]:
        """Draw rows of a result, and return the chart with the positions of its bars; see `picture`."""
        draw = partial(getattr(plots, self.analysis.name), rows, currency=currency)
        return picture(draw, len(rows), horizontal=horizontal, alt=alt, narrow=narrow)

    def rows_behind(self, filtered: FilteredBook, key: str, value: object) -> pd.DataFrame:
        """
        Return the records that a bar consists of, with the part of each in the figure.

        Parameters
        ----------
        filtered : FilteredBook
        key : str
            The key of the bars.
        value : object
            The value of the key for this bar; missing means unassigned.
        """
        spec = self.records
        if spec is None:
            raise AssertionError(f"{self.analysis.name} declares no records")
        # The tab already shows the notes of this analysis.
        with collect_notes(Notes("page")):
            result = filtered.result(self.analysis, [key, spec.key])
        of_bar = keep_rows(result, {str(result.columns[0]): None if pd.isna(value) else value})  # type: ignore[call-overload]
        parts = [name for name in spec.shown if name in of_bar and name in measures()]
        of_bar = of_bar.loc[of_bar[spec.counted] != 0, [spec.key, *parts]]
        details = _records(filtered, spec.frames).drop(columns=parts, errors="ignore")
        rows = filtered.book_filters.distinct_names(details.merge(of_bar, on=spec.key))
        rows = rows[[name for name in spec.shown if name in rows]]
        return rows.sort_values(spec.date, ascending=False, kind="stable", ignore_index=True)


def views() -> list[AnalysisView]:
    """Return the views of all analyses that declare a tab, in the order of the tabs."""
    declared: Iterable[Analysis] = (each for each in analyses().values() if each.tab)
    return sorted(map(AnalysisView, declared), key=lambda view: view.tab.place)


def _texts(values: pd.Series[Any]) -> list[str]:
    dates = pd.api.types.is_datetime64_any_dtype(values.dtype)
    # With spaces at which a line does not break.
    return [
        MISSING if pd.isna(each) else short_date(each).replace(" ", "\xa0") if dates else str(each) for each in values
    ]


def _records(filtered: FilteredBook, frames: tuple[str, ...]) -> pd.DataFrame:
    """Return invoices, matters, or items of one or more kinds, with their details."""
    if frames == ("invoices",):
        return filtered.frames.of_clients("invoices")
    if frames == ("matters",):
        return filtered.book.matters
    items = [filtered.frames.items_with_details(name) for name in frames]
    if len(items) == 1:
        return items[0]
    return pd.concat(
        [each.assign(kind=_KINDS[name]) for name, each in zip(frames, items, strict=True)], ignore_index=True
    )
