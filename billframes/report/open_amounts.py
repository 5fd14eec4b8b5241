"""Lists of the firm's open amounts, cut to the client, practice area or lawyer that a report is about.

A list is made for the whole firm, and a part of the firm has its rows of that list. So the lists of all parts add up to
the firm's.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from billframes.book.records import bills_of
from billframes.book.slices import keep_rows
from billframes.report.month import A_UNIT, Month, once


@once
def called(month: Month) -> pd.DataFrame:
    """
    Return the overdue balances by client, largest first, with the lawyer who is responsible for most of each.

    This lawyer calls the client about all of it, so a client is in one report by lawyer. Beside the balance are its
    part `91+`, the number of invoices, the days of the oldest one, and the client's unused credits.
    """
    firm = month.only("")
    shares = firm.result("aging", by=["client", "responsible", "invoice_id", *_area(month)], as_of=month.as_of)
    shares = shares[shares["overdue"] >= A_UNIT]
    days = firm.result("overdue_invoices", as_of=month.as_of).set_index("invoice_id")["days_overdue"]
    sums = {"91+": ("91+", "sum"), "invoices": ("invoice_id", "nunique"), "oldest": ("days", "max")}
    rows = _by_client(month, shares.assign(days=shares["invoice_id"].map(days)), "overdue", sums)
    credit = firm.receivables("client").set_index("client_id")["credit_amount"].reindex(rows["client_id"])
    return rows.assign(credit=-credit.astype("float64").fillna(0.0).to_numpy())


def open_work_by_client(month: Month) -> pd.DataFrame:
    """Return work in progress by client, with the lawyer who is responsible for most of each."""
    rows = month.only("").result("wip", by=["client", "responsible", *_area(month)], as_of=month.as_of)
    return _by_client(month, rows, "total")


def _by_client(
    month: Month, rows: pd.DataFrame, amount: str, sums: Mapping[str, tuple[str, str]] | None = None
) -> pd.DataFrame:
    """Add up rows by client, with the lawyer who has most of the amount; largest first."""
    scope = month.scope
    rows = in_scope(month, rows) if _area(month) else month.only("").with_distinct_names(rows)
    client, lawyer = ["client_id", "client_name"], ["responsible_id", "responsible_name"]
    parts = rows.groupby([*client, *lawyer], sort=False, dropna=False)[amount].sum().reset_index()
    parts = parts.sort_values(amount, ascending=False, kind="stable").drop_duplicates("client_id")
    whole = rows.groupby(client, sort=False, dropna=False).agg(**{amount: (amount, "sum")}, **(sums or {}))
    found = whole.reset_index().merge(parts[["client_id", *lawyer]], on="client_id")
    found = found.sort_values(amount, ascending=False, kind="stable", ignore_index=True)
    own = scope is not None and not _area(month)
    return keep_rows(found, {f"{scope.key}_id": scope.id}).reset_index(drop=True) if own and scope else found


def _area(month: Month) -> list[str]:
    return ["practice_area"] if month.scope and month.scope.key == "practice_area" else []


def draft_bills(month: Month) -> pd.DataFrame:
    """Return the bills that are not final, each with its largest item, whose lawyer sends the bill."""
    bills = bills_of(month.only("").draft_items)
    matters = month.firm_book.matters.set_index("matter_id")["practice_area_id"]
    return in_scope(month, bills.assign(practice_area_id=bills["matter_id"].map(matters)))


def in_scope(month: Month, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that belong to the report's client, practice area or responsible lawyer."""
    if month.scope:
        rows = keep_rows(rows, {f"{month.scope.key}_id": month.scope.id})
    return month.with_distinct_names(rows)
