"""The explorer's tabs: which analysis each shows, by which keys, and which records stand behind its bars.

Titles, units, questions and charts come from the declaration of the analysis. The rows behind a bar are the same
analysis by single records, so they add up to the bar.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from billframes import plots
from billframes.analysis.column_types import ITEMS
from billframes.analysis.metrics import Measure, title_of_key
from billframes.analysis.spec import Analysis, RecordsSpec, analyses, measure
from billframes.book_slice import kept
from billframes.widgets._filtered_book import FilteredBook

__all__ = ["VIEWS", "View"]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """
    One tab.

    Parameters
    ----------
    analysis : str
        The analysis that it shows.
    title : str
    by : tuple of str
        The keys to group by.
    tiles : tuple of str
        The measures of the total that are shown large above the chart.
    columns : tuple of str
        The measures of the table.
    order : str
        The measure by which bars are sorted, largest first.
    listed : tuple of str
        The columns of the records behind a bar that are shown.
    note : str
        What the filters mean for these figures.
    """

    analysis: str
    title: str
    by: tuple[str, ...]
    tiles: tuple[str, ...]
    columns: tuple[str, ...]
    order: str
    listed: tuple[str, ...]
    note: str

    @property
    def declared(self) -> Analysis:
        """The declaration of the analysis."""
        return analyses()[self.analysis]

    @property
    def records(self) -> RecordsSpec:
        """The declaration of the records behind a bar."""
        if self.declared.records is None:
            raise AssertionError(f"{self.analysis} declares no records")
        return self.declared.records

    @property
    def keys(self) -> dict[str, str]:
        """The keys to group by, by their titles."""
        return {title_of_key(key).capitalize(): key for key in self.by}

    def measures(self, names: tuple[str, ...]) -> list[Measure]:
        """Return the declarations of some measures."""
        return [found for name in names if (found := measure(name))]

    def compute(self, filtered: FilteredBook, by: Any) -> pd.DataFrame:
        """Return the result of the analysis; None for `by` gives one row for everything."""
        result: pd.DataFrame = getattr(filtered, self.analysis)(by)
        return result

    def draw(self, result: pd.DataFrame, ax: Axes) -> Axes:
        """Draw a result."""
        drawn: Axes = getattr(plots, self.analysis)(result, ax)
        return drawn

    def rows_behind(self, filtered: FilteredBook, key: str, value: Any) -> pd.DataFrame:
        """
        Return the records that a bar consists of, with the part of each in the figure.

        Parameters
        ----------
        filtered : FilteredBook
        key : str
            What the bars are by.
        value : object
            The bar's value of the key; missing means unassigned.
        """
        with warnings.catch_warnings():
            # The tab already shows the warnings of this analysis.
            warnings.simplefilter("ignore")
            result = self.compute(filtered, [key, self.records.key])
        mine = kept(result, {str(result.columns[0]): None if pd.isna(value) else value})
        mine = mine.loc[mine[self.records.counted] != 0, [self.records.key, *self._parts]]
        details = _records(filtered, self.records.frames).drop(columns=[*self._parts], errors="ignore")
        rows = details.merge(mine, on=self.records.key)[[name for name in self.listed if name in {*details, *mine}]]
        return rows.sort_values(self.records.date, ascending=False, kind="stable", ignore_index=True)

    @property
    def _parts(self) -> list[str]:
        """The measures of the result that are listed for each record."""
        return [name for name in self.listed if name in {self.records.counted, *self.columns}]


_WORK = ("date", "user_name", "client_name", "matter_name", "description")
_OLD = ("31-60", "61-90", "91+")
_KINDS = dict(zip(ITEMS, ("time", "expense", "fixed fee"), strict=True))


def _records(filtered: FilteredBook, frames: tuple[str, ...]) -> pd.DataFrame:
    """Return invoices, or items of one or more kinds, with their details."""
    if frames == ("invoices",):
        return filtered.invoices()
    return pd.concat([filtered.items(name).assign(kind=_KINDS[name]) for name in frames], ignore_index=True)


UTILIZATION = View(
    analysis="utilization",
    title="Utilization",
    by=("user", "month", "role", "practice_area", "client"),
    tiles=("client_hours", "capacity_hours", "utilization"),
    columns=("client_hours", "non_billable_hours", "total_hours", "capacity_hours", "utilization"),
    order="client_hours",
    listed=(*_WORK, "billing_type", "client_hours"),
    note="Client hours are billable and fixed-fee time dated in the period, except on internal matters. Available "
    "hours are those of everyone on the roster, whichever clients or matters are filtered; they are not divided by "
    "client or practice area, so utilization is missing there.",
)
REALIZATION = View(
    analysis="realization",
    title="Realization",
    by=("client", "user", "practice_area", "responsible", "month"),
    tiles=("worked_amount", "billed_amount", "billing_realization", "settlement_ratio"),
    columns=(
        "billable_hours",
        "worked_amount",
        "billed_amount",
        "write_down_amount",
        "billing_realization",
        "settlement_ratio",
    ),
    order="billed_amount",
    listed=("invoice_number", "invoice_date", *_WORK, "billable_hours", "worked_amount", "billed_amount"),
    note="Final invoices dated in the period, with all the work on them, whenever it was done. Contingency, pro bono "
    "and internal matters are left out. Under filters other than on clients, credits and fees without time entries are "
    "not shown, because they belong to no matter or person.",
)
RECEIVABLES = View(
    analysis="aging",
    title="Receivables",
    by=("client", "practice_area", "responsible", "matter"),
    tiles=("total", "overdue", "91+"),
    columns=("current", "1-30", *_OLD, "total", "overdue"),
    order="total",
    listed=("invoice_number", "invoice_date", "due_date", "client_name", "matter_name", "amount", "balance", "total"),
    note="Open balances of final invoices dated up to the period’s last day, by days past due on that day. An invoice "
    "for several matters is divided among them. Filters on single entries, such as billing type, do not apply here.",
)
WIP = View(
    analysis="wip",
    title="Work in progress",
    by=("client", "user", "practice_area", "matter"),
    tiles=("total", "unbilled_amount", "prebill_amount", "91+"),
    columns=("0-30", *_OLD, "total", "unbilled_amount", "prebill_amount"),
    order="total",
    listed=("kind", *_WORK, "hours", "invoice_state", "total"),
    note="Billable time, expenses and fixed fees dated up to the period’s last day and not on a final invoice by then. "
    "Expenses and fixed fees are not shown under filters that they have no value for, such as billing type.",
)

VIEWS = (UTILIZATION, REALIZATION, RECEIVABLES, WIP)
