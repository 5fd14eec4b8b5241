"""Open amounts of a month's report: overdue invoices without credits, and work in progress without contingency work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes.report.month import Month

__all__ = ["OpenInvoices", "hourly_work", "of_scope", "open_invoices", "overdue_by_client"]


@dataclass(frozen=True)
class OpenInvoices:
    """
    Receivables with credits apart.

    Parameters
    ----------
    ages : dict of str to float
        The balances of invoices by days past due, without credits.
    overdue : float
        The overdue balances of invoices, without credits.
    credits : float
        The unused credits, negative.
    """

    ages: dict[str, float]
    overdue: float
    credits: float

    @property
    def total(self) -> float:
        """Receivables: the balances of invoices less the credits."""
        return sum(self.ages.values()) + self.credits


def open_invoices(month: Month) -> OpenInvoices:
    """Return the receivables of a month's report, with the credits apart from the invoices."""
    rows = month.receivables("invoice_id")
    ages = [str(name) for name in rows.columns[: list(rows.columns).index("total")] if str(name)[0] in "c0123456789"]
    debits = rows[rows["total"] > 0]
    return OpenInvoices(
        {name: float(debits[name].sum()) for name in ages},
        float(debits["overdue"].sum()),
        float(rows.loc[rows["total"] < 0, "total"].sum()),
    )


def overdue_by_client(month: Month) -> pd.DataFrame:
    """Return the clients with overdue invoices, the largest first, with their invoices and their responsible lawyer."""
    rows = of_scope(month, "overdue_invoices", as_of=month.as_of)
    rows = rows[rows["balance"] > 0]
    rows = rows.sort_values("balance", ascending=False, kind="stable")
    return (
        rows.groupby("client_id", sort=False, dropna=False)
        .agg(
            client_name=("client_name", "first"),
            responsible_name=("responsible_name", "first"),
            balance=("balance", "sum"),
            invoices=("invoice_id", "size"),
            oldest=("days_overdue", "max"),
            hours=("hours_since_due", "max"),
        )
        .sort_values("balance", ascending=False, kind="stable", ignore_index=True)
    )


def hourly_work(month: Month, by: str | None) -> pd.DataFrame:
    """Return work in progress by a key or in one row, without contingency work."""
    keys = [by, "matter_type"] if by else ["matter_type"]
    rows = month.result("wip", by=keys, as_of=month.as_of)
    rows = rows[rows["matter_type"].astype("str") != "contingency"]
    names = [name for name in map(str, rows.columns) if by and name.endswith(("_id", "_name", "_label"))]
    amounts = [*map(str, rows.columns[list(rows.columns).index("matter_type") + 1 :])]
    amounts = amounts[: amounts.index("total") + 1]
    if not names:
        return pd.DataFrame([rows[amounts].sum(skipna=False)])
    found = rows.groupby(names, sort=False, dropna=False, as_index=False)[amounts].sum(skipna=False)
    return month.with_distinct_names(found)


def of_scope(month: Month, analysis: str, **options: Any) -> pd.DataFrame:
    """Return the rows of a list of the firm that belong to the report's client or responsible lawyer."""
    rows = month.only("").result(analysis, **options)
    if month.scope and f"{month.scope.key}_id" in rows:
        column = rows[f"{month.scope.key}_id"]
        rows = rows[column.isna() if month.scope.id is None else column == month.scope.id]
    return month.with_distinct_names(rows)
