"""Lists of the firm's open amounts, cut to the client or responsible lawyer that a report is about."""

from __future__ import annotations

from typing import Any

import pandas as pd

from billframes.report.month import Month

__all__ = ["of_scope", "overdue_by_client"]


def overdue_by_client(month: Month) -> pd.DataFrame:
    """Return the clients with overdue invoices, the largest first, with their invoices and their responsible lawyer."""
    rows = of_scope(month, "overdue_invoices", as_of=month.as_of)
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


def of_scope(month: Month, analysis: str, **options: Any) -> pd.DataFrame:
    """Return the rows of a list of the firm that belong to the report's client or responsible lawyer."""
    rows = month.only("").result(analysis, **options)
    if month.scope and f"{month.scope.key}_id" in rows:
        column = rows[f"{month.scope.key}_id"]
        rows = rows[column.isna() if month.scope.id is None else column == month.scope.id]
    return month.with_distinct_names(rows)
