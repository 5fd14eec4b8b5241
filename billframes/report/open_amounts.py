"""Lists of the firm's open amounts, cut to the client, practice area or lawyer that a report is about."""

from __future__ import annotations

from typing import Any

import pandas as pd

from billframes.book.slices import keep_rows
from billframes.report.month import Month


def overdue_by_client(month: Month) -> pd.DataFrame:
    """Return the clients with overdue invoices, largest first, with their responsible lawyer and unused credits."""
    rows = of_scope(month, "overdue_invoices", as_of=month.as_of)
    rows = rows.sort_values("balance", ascending=False, kind="stable")
    unused = month.only("").receivables("client").set_index("client_id")["credit_amount"]
    rows = (
        rows.groupby("client_id", sort=False, dropna=False)
        .agg(
            client_name=("client_name", "first"),
            responsible_name=("responsible_name", "first"),
            balance=("balance", "sum"),
            invoices=("invoice_id", "size"),
            oldest=("days_overdue", "max"),
            hours=("hours_since_due", "max"),
        )
        .reset_index()
        .sort_values("balance", ascending=False, kind="stable", ignore_index=True)
    )
    return rows.assign(credit=-rows["client_id"].map(unused).astype("float64").fillna(0.0))


def of_scope(month: Month, analysis: str, **options: Any) -> pd.DataFrame:
    """Return the rows of a list of the firm that belong to the report's client, practice area or responsible lawyer."""
    rows = month.only("").result(analysis, **options)
    if month.scope and f"{month.scope.key}_id" in rows:
        rows = keep_rows(rows, {f"{month.scope.key}_id": month.scope.id})
    elif month.scope:
        # An invoice belongs to a practice area if one of its items does.
        rows = rows[rows["invoice_id"].isin(month.book.invoices["invoice_id"])]
    return month.with_distinct_names(rows)
