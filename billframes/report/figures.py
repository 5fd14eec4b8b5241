"""The headline figures of a month, compared with the month before and the same month a year ago."""

from __future__ import annotations

import math
from dataclasses import dataclass

from billframes._show import change, format_number, long_date
from billframes.report.month import LOOK_BACK, Month

__all__ = ["Figure", "figures"]

NAN = math.nan


@dataclass(frozen=True)
class Figure:
    """
    One headline figure.

    Parameters
    ----------
    name : str
    unit : str
        As `billframes._show.format_number` takes it.
    now, before, year_ago : float
        The figure of this month, last month and the same month a year ago. NaN if there is none.
    mark : str
        "*" if earlier months are shown as they stand today, "†" if the API keeps no history.
    group : str
        The heading above it.
    """

    name: str
    unit: str
    now: float
    before: float = NAN
    year_ago: float = NAN
    mark: str = ""
    group: str = ""

    @property
    def cells(self) -> list[str]:
        """The texts: this month, last month, change, a year ago, change, as text; no changes for a marked figure."""
        cells = [format_number(self.now, self.unit)]
        for then in (self.before, self.year_ago):
            cells += [format_number(then, self.unit), "" if self.mark else change(self.now, then, self.unit)]
        return cells

    @property
    def is_part(self) -> bool:
        """Whether the figure is a part of the one above it."""
        return self.name.startswith("of these")


# Name, unit, column, mark. Figures marked * change after the month, so earlier months had more time to change.
_WORK = (
    ("Client hours", "hours", "client_hours", ""),
    ("Utilization", "ratio", "utilization", ""),
    ("Fees worked", "money", "cohort_amount", ""),
    ("of these on no final invoice yet", "money", "open_amount", "*"),
)
_BILLING = (
    ("Fees billed", "money", "billed_amount", ""),
    ("Worth of billed work", "money", "worked_amount", ""),
    ("Written down", "money", "write_down_amount", ""),
    ("Billing realization", "ratio", "billing_realization", ""),
    ("Settlement of the month’s fees", "ratio", "settlement_ratio", "*"),
)


def figures(month: Month) -> list[Figure]:
    """Compute the headline figures in the order of the report."""
    return [
        *_compared(month, _WORK, "Work done in the month"),
        *_compared(month, _BILLING, "Invoices dated in the month"),
        *_receivables(month),
    ]


def _compared(month: Month, rows: tuple[tuple[str, str, str, str], ...], group: str) -> list[Figure]:
    table = month.by_month
    table = table.assign(open_amount=table["unbilled_amount"] + table["prebill_amount"])
    places = [month.earlier(back).strftime("%Y-%m") for back in (0, 1, LOOK_BACK)]
    return [
        Figure(name, unit, *table.loc[places, column].astype(float), mark=mark, group=group)  # type: ignore[misc]
        for name, unit, column, mark in rows
    ]


def _receivables(month: Month) -> list[Figure]:
    rows = month.receivables(None)
    total, overdue = (float(rows[name].sum()) for name in ("total", "overdue"))
    of = month.balances_of
    group = f"Receivables aged to {long_date(month.as_of)}{f', with the balances of {long_date(of)}' if of else ''}"
    return [
        Figure("Receivables", "money", total, mark="†", group=group),
        Figure("of these overdue", "money", overdue, mark="†", group=group),
        Figure("Overdue share", "ratio", overdue / total if total > 0 else NAN, mark="†", group=group),
    ]
