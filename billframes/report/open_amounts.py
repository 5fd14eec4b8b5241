"""Lists of the firm's open amounts, cut to the client, practice area or lawyer that a report is about.

A list is made for the whole firm, and a part of the firm has its rows of that list. So the lists of all parts add up to
the firm's.
"""

from __future__ import annotations

import pandas as pd

from billframes.book.slices import keep_rows
from billframes.report.month import A_UNIT, Month


def overdue(month: Month) -> pd.DataFrame:
    """
    Return the overdue balances by client and responsible lawyer, largest first.

    The balance of an invoice is divided among the lawyers of its matters, as in receivables. Beside it are `more`, what
    is overdue on the client's other matters, and the client's unused credits.
    """
    firm = month.only("")
    keys = dict.fromkeys(["client", "responsible", "invoice_id", *([month.scope.key] if month.scope else [])])
    shares = firm.result("aging", by=[*keys], as_of=month.as_of)
    shares = in_scope(month, shares[shares["overdue"] >= A_UNIT])
    days = firm.result("overdue_invoices", as_of=month.as_of).set_index("invoice_id")["days_overdue"]
    rows = (
        shares.assign(days=shares["invoice_id"].map(days))
        .groupby(["client_id", "client_name", "responsible_id", "responsible_name"], sort=False, dropna=False)
        .agg(balance=("overdue", "sum"), invoices=("invoice_id", "nunique"), oldest=("days", "max"))
        .reset_index()
        .sort_values("balance", ascending=False, kind="stable", ignore_index=True)
    )
    of_client = firm.receivables("client").set_index("client_id")[["overdue", "credit_amount"]]
    of_client = of_client.reindex(rows["client_id"]).astype("float64").fillna(0.0).reset_index(drop=True)
    return rows.assign(more=of_client["overdue"] - rows["balance"], credit=-of_client["credit_amount"])


def draft_bills(month: Month) -> pd.DataFrame:
    """Return the bills that are not final, each with its largest item, whose lawyer sends the bill."""
    rows = month.only("").result("prebill_review", codes=None, code_sets=None)
    bills = rows.sort_values("item_amount", ascending=False, kind="stable").drop_duplicates("invoice_id")
    matters = month.firm_book.matters.set_index("matter_id")["practice_area_id"]
    return in_scope(month, bills.assign(practice_area_id=bills["matter_id"].map(matters)))


def in_scope(month: Month, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that belong to the report's client, practice area or responsible lawyer."""
    if month.scope:
        rows = keep_rows(rows, {f"{month.scope.key}_id": month.scope.id})
    return month.with_distinct_names(rows)
