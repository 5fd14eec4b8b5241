"""The explorer's tabs, declared: what each asks, computes, draws and lists, and the rows behind its bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from billframes import plots
from billframes.widgets._filtered_book import FilteredBook

__all__ = ["VIEWS", "Column", "View"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a tab's table: the result's column, its heading and its unit."""

    name: str
    title: str
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """
    One tab.

    Parameters
    ----------
    title, question : str
    keys : mapping of str to str
        What can be grouped by: words and the analysis's `by`.
    compute : callable
        Takes a filtered and `by`, None for one row of everything, and returns the analysis's result.
    draw : callable
        Takes a result and axes.
    order : str
        The column by which bars are ranked, largest first.
    columns : tuple of Column
    tiles : tuple of str
        The columns that stand large above the chart, of the row of everything.
    rows : callable
        Takes a filtered and returns the records that the figures are made of, with the details of their matters.
    date : str
        The records' column that months are of.
    listed : tuple of str
        The records' columns that are shown.
    amount : Column
        The records' column that is added up beneath them.
    meaning : str
        What the figures are, in a few sentences.
    shared : tuple of str
        Values of `by` among whose rows one record is divided, so that a bar has no records of its own.
    """

    title: str
    question: str
    keys: dict[str, str]
    compute: Callable[[FilteredBook, str | None], pd.DataFrame]
    draw: Callable[[pd.DataFrame, Axes], Axes]
    order: str
    columns: tuple[Column, ...]
    tiles: tuple[str, ...]
    rows: Callable[[FilteredBook], pd.DataFrame]
    date: str
    listed: tuple[str, ...]
    amount: Column
    meaning: str
    shared: tuple[str, ...] = ()


_WORK = ("date", "user_name", "client_name", "matter_name", "description", "hours", "billing_type", "amount")
_LEFT_OUT = ("contingency", "probono", "internal")


def _period_of(records: pd.DataFrame, column: str, filtered: FilteredBook) -> pd.DataFrame:
    return records[records[column].between(pd.Timestamp(filtered.start), pd.Timestamp(filtered.end))]


def _worked(filtered: FilteredBook) -> pd.DataFrame:
    entries = _period_of(filtered.items("time_entries"), "date", filtered)
    return entries[entries["billing_type"].isin(["billable", "fixedFee"]) & (entries["matter_type"] != "internal")]


def _invoiced(filtered: FilteredBook) -> pd.DataFrame:
    entries = _period_of(filtered.items("time_entries"), "invoice_date", filtered)
    counts = (entries["billing_type"] == "billable") & ~entries["matter_type"].isin(_LEFT_OUT)
    return entries[counts & (entries["invoice_state"] == "final")]


def _owed(filtered: FilteredBook) -> pd.DataFrame:
    invoices = filtered.invoices()
    final = (invoices["invoice_state"] == "final") & (invoices["balance"] != 0)
    return invoices[final & (invoices["invoice_date"] <= pd.Timestamp(filtered.end))]


def _unbilled(filtered: FilteredBook) -> pd.DataFrame:
    kinds = {"time_entries": "time", "expenses": "expense", "fixed_fees": "fixed fee"}
    items = [filtered.items(name).assign(kind=kind) for name, kind in kinds.items()]
    items[0] = items[0][items[0]["billing_type"] == "billable"]
    columns = list(dict.fromkeys([*_SHARED, *(name for name in items[0].columns if name.endswith(("_id", "_name")))]))
    every = pd.concat([each.reindex(columns=columns) for each in items], ignore_index=True)
    end = pd.Timestamp(filtered.end)
    billed = (every["invoice_state"] == "final") & (every["invoice_date"] <= end)
    return every[(every["date"] <= end) & ~billed]


_SHARED = ("kind", "date", "description", "hours", "amount", "invoice_state", "invoice_date")


def _money(*names: tuple[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name, title, "money") for name, title in names)


_OLD = (("31-60", "31–60"), ("61-90", "61–90"), ("91+", "Over 90"))

UTILIZATION = View(
    title="Utilization",
    question="How much of people’s available time went into work for clients?",
    keys={"Timekeeper": "user", "Month": "month", "Role": "role", "Practice area": "practice_area", "Client": "client"},
    compute=lambda filtered, by: filtered.utilization(by),
    draw=plots.utilization,
    order="client_hours",
    columns=(
        Column("client_hours", "Client hours", "hours"),
        Column("non_billable_hours", "Non-billable", "hours"),
        Column("total_hours", "All hours", "hours"),
        Column("capacity_hours", "Available", "hours"),
        Column("utilization", "Utilization", "ratio"),
    ),
    tiles=("client_hours", "capacity_hours", "utilization"),
    rows=_worked,
    date="date",
    listed=_WORK,
    amount=Column("hours", "hours", "hours"),
    meaning="Client hours are billable and fixed-fee time dated in the period, internal matters apart. Available hours "
    "are those of everyone on the roster, whatever clients or matters are filtered; by client or practice area "
    "nobody’s day is divided, so utilization is missing.",
)
REALIZATION = View(
    title="Realization",
    question="How much of the work’s worth was billed, and how much of that is settled?",
    keys={
        "Client": "client",
        "Timekeeper": "user",
        "Practice area": "practice_area",
        "Responsible": "responsible",
        "Month": "month",
    },
    compute=lambda filtered, by: filtered.realization(by),
    draw=plots.realization,
    order="billed_amount",
    columns=(
        Column("billable_hours", "Hours", "hours"),
        *_money(
            ("worked_amount", "Worth of billed work"),
            ("billed_amount", "Billed"),
            ("write_down_amount", "Written down"),
        ),
        Column("billing_realization", "Realization", "ratio"),
        Column("settlement_ratio", "Settled", "ratio"),
    ),
    tiles=("worked_amount", "billed_amount", "billing_realization", "settlement_ratio"),
    rows=_invoiced,
    date="invoice_date",
    listed=("invoice_number", "invoice_date", *_WORK),
    amount=Column("amount", "worth of billed work", "money"),
    meaning="Final invoices dated in the period, with all the work on them whenever done. Contingency, pro bono and "
    "internal matters are left out. Under filters other than clients’, credits and fees that no entry carries belong "
    "to nobody and are not shown.",
)
RECEIVABLES = View(
    title="Receivables",
    question="Who owes what, and for how long?",
    keys={"Client": "client", "Practice area": "practice_area", "Responsible": "responsible", "Matter": "matter"},
    compute=lambda filtered, by: filtered.aging(by),
    draw=plots.aging,
    order="total",
    columns=_money(("current", "Current"), ("1-30", "1–30 days"), *_OLD, ("total", "Total"), ("overdue", "Overdue")),
    tiles=("total", "overdue", "91+"),
    rows=_owed,
    date="invoice_date",
    listed=("invoice_number", "invoice_date", "due_date", "client_name", "matter_name", "amount", "balance"),
    amount=Column("balance", "open, each invoice in full", "money"),
    shared=("practice_area", "responsible", "matter"),
    meaning="Open balances of final invoices dated up to the period’s last day, by days past due then. Balances are "
    "those of the day they were loaded. Filters on single entries, such as billing type, have no say here.",
)
WIP = View(
    title="Work in progress",
    question="What has been done and not yet billed, and how old is it?",
    keys={"Client": "client", "Timekeeper": "user", "Practice area": "practice_area", "Matter": "matter"},
    compute=lambda filtered, by: filtered.wip(by),
    draw=plots.wip,
    order="total",
    columns=_money(
        ("0-30", "0–30 days"),
        *_OLD,
        ("total", "Total"),
        ("unbilled_amount", "Unbilled"),
        ("prebill_amount", "On prebills"),
    ),
    tiles=("total", "unbilled_amount", "prebill_amount", "91+"),
    rows=_unbilled,
    date="date",
    listed=(
        "kind",
        "date",
        "user_name",
        "client_name",
        "matter_name",
        "description",
        "hours",
        "amount",
        "invoice_state",
    ),
    amount=Column("amount", "unbilled", "money"),
    meaning="Billable time, expenses and fixed fees dated up to the period’s last day and on no final invoice by then. "
    "Filters that expenses and fees know nothing of, such as billing type, leave time alone.",
)

VIEWS = (UTILIZATION, REALIZATION, RECEIVABLES, WIP)
