"""Overdue invoices, one row each, and the work for their clients since they were due.

Balances and days are calculated by `aging`, grouped by invoice. The work is added up by client and day once; each
invoice has the days after its due date.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import ids_frame, join_by_id, sum_by, to_arrow, to_dicts
from billframes.analysis.data.expressions import RESIDUE, C, as_float, midnight
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import UNASSIGNED, Frame
from billframes.analysis.declare.metrics import SHARED, Measure, retitled
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec, TabSpec
from billframes.analysis.facts.responsible import responsible_of_invoices
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.loads import need_open_on
from billframes.periods import DateLike

_WORK = ("hours", "value", "hidden")


@sheet("invoices", "time_entries?", "expenses?", "fixed_fees?", "matters?")
def overdue_invoices(call: Call, *, as_of: DateLike) -> Frame:
    """
    Overdue invoices, one row each, with the client's other balances and the work for the client since the due date.

    Counts the same invoices as `overdue` in `aging`: final invoices dated on or before `as_of`, due before it, with a
    balance above 0. So the rows add up to the `overdue` of `aging`.

    Parameters
    ----------
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `due_date`, `balance`, `client_id` and `client_name`;
        optionally with `invoice_number` and `matter_id`.
    time_entries : frame, optional
        All of them, with `date`, `client_id`, `matter_id`, `billing_type`, `hours`, `amount` and `invoice_id`. If
        omitted, the work since the due date is missing.
    expenses, fixed_fees : frame, optional
        With `invoice_id` and `matter_id`: like time entries, they show which matters an invoice is for.
    matters : frame, optional
        With `matter_id`, `responsible_id` and `responsible_name`. If omitted, no invoice has a responsible lawyer.

    Examples
    --------
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_state": ["final", "final"],
    ...     "client_id": ["c1", "c1"], "client_name": ["Acme", "Acme"],
    ...     "invoice_date": pd.to_datetime(["2026-09-01", "2026-10-20"]),
    ...     "due_date": pd.to_datetime(["2026-10-01", "2026-11-20"]), "balance": [500.0, 80.0],
    ... })
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-10-02", "2026-10-31"]), "client_id": ["c1"] * 3,
    ...     "matter_id": ["m1"] * 3, "billing_type": ["billable"] * 3, "hours": [5.0, 1.0, 2.0],
    ...     "amount": [1000.0, 200.0, 400.0], "invoice_id": ["i1", None, None],
    ... })
    >>> result = overdue_invoices(invoices, time_entries=entries, as_of="2026-10-31")
    >>> result[["client_name", "balance", "days_overdue", "other_balance"]]
      client_name  balance  days_overdue  other_balance
    0        Acme    500.0          30.0           80.0
    >>> result[["hours_since_due", "worked_since_due"]]
       hours_since_due  worked_since_due
    0              3.0             600.0
    """
    day = call.day(read_date(as_of, "as_of"))
    call.leave_out_people()
    need_open_on(call, ("time_entries",), day)
    overdue, totals = _overdue(call, day)
    people = responsible_of_invoices({row["invoice_id"]: row["matter_id"] for row in overdue}, call)
    work_since = _work_since_due(call, overdue, day) if "time_entries" in call else {}
    rows = [
        _row(each, totals, day) | people.get(each["invoice_id"], {}) | work_since.get(each["invoice_id"], {})
        for each in overdue
    ]
    return call.listed(rows, ANALYSIS.schema)


def _overdue(call: Call, day: dt.date) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the overdue invoices, largest balance first, and the open and overdue balances of each client."""
    open_invoices = call.ask("aging", "invoices", as_of=day, by=["client", "invoice_id"], buckets=(30,))
    overdue = open_invoices.filter(C("overdue").is_null() | (C("overdue") > RESIDUE))
    details = call.select("invoices", ("invoice_id", "invoice_date", "due_date"), ("invoice_number", "matter_id"))
    balances = overdue.select("client_id", "client_name", "invoice_id", "overdue")
    rows = to_dicts(join_by_id(balances, details, "invoice_id"))
    for row in rows:
        row |= {"due": row["due_date"] or row["invoice_date"], "matter_id": row.get("matter_id")}
    rows.sort(key=lambda row: (row["invoice_date"], row["invoice_id"]))
    rows.sort(key=lambda row: (row["overdue"] is None, -(row["overdue"] or 0.0)))
    totals = to_dicts(sum_by(open_invoices, ["client_id"], ["total", "overdue"]))
    return rows, {row["client_id"]: row for row in totals if row["client_id"] is not None}


def _work_since_due(call: Call, overdue: list[dict[str, Any]], day: dt.date) -> dict[str, dict[str, Any]]:
    """Return the work for the client after the due date of each invoice, by its id; nothing if it has no client."""
    known = [row for row in overdue if row["client_id"] is not None]
    work = _work_by_day(call, known, day)
    words = {"which": " for clients with overdue invoices"}
    words["consequence"] = "`worked_since_due` is missing in the rows that they belong to"
    call.notes.add(HIDDEN_RATES, pc.sum(work["hidden"]).as_py() or 0.0, **words)
    schema = pa.schema({"invoice_id": pa.string(), "client_id": pa.string(), "due": pa.timestamp("us")})
    rows = pa.Table.from_pylist(known, schema).join(work, "client_id", join_type="inner")
    rows = rows.filter(pc.field("date") > pc.field("due")).group_by("invoice_id")
    sums = rows.aggregate([*((name, "sum") for name in _WORK), ("date", "max")]).to_pylist()
    none = {"hours_sum": 0.0, "value_sum": 0.0, "hidden_sum": 0.0, "date_max": None}
    found = {row["invoice_id"]: none for row in known} | {row["invoice_id"]: row for row in sums}
    return {
        invoice: {
            "hours_since_due": row["hours_sum"],
            "worked_since_due": None if row["hidden_sum"] else row["value_sum"],
            "last_date_since_due": row["date_max"],
        }
        for invoice, row in found.items()
    }


def _work_by_day(call: Call, overdue: list[dict[str, Any]], day: dt.date) -> pa.Table:
    """Add up the clients' work by day, from the first due date on."""
    columns = ("date", "client_id", "billing_type", "hours", "amount")
    billable = C("billing_type") == "billable"
    first = min((row["due"] for row in overdue), default=midnight(day))
    work = call.select("time_entries", columns).filter(
        billable | (C("billing_type") == "fixedFee"), C("date") > first, C("date") <= midnight(day)
    )
    clients = ids_frame(work, "client_id", sorted({row["client_id"] for row in overdue}))
    work = join_by_id(work, clients, "client_id", "inner").with_columns(
        value=nw.when(billable).then(C("amount").fill_null(0.0)).otherwise(nw.lit(0.0)),
        hidden=as_float(billable & C("amount").is_null() & (C("hours") != 0)),
    )
    kinds = {"client_id": pa.string(), "date": pa.timestamp("us"), **dict.fromkeys(_WORK, pa.float64())}
    return to_arrow(sum_by(work, ["client_id", "date"], _WORK)).select([*kinds]).cast(pa.schema(kinds))


def _row(invoice: Mapping[str, Any], totals: Mapping[str, Mapping[str, Any]], day: dt.date) -> dict[str, Any]:
    balance = invoice["overdue"]
    of_client = totals.get(invoice["client_id"], {"total": None, "overdue": None})
    return {
        **{name: invoice.get(name) for name in ("invoice_id", "invoice_number", "client_id", "client_name")},
        "responsible_name": UNASSIGNED,
        **{name: invoice[name] for name in ("invoice_date", "due_date")},
        "balance": balance,
        "days_overdue": float((midnight(day) - invoice["due"]).days),
        "other_balance": _difference(of_client["total"], balance),
        "other_overdue": _difference(of_client["overdue"], balance),
    }


def _difference(whole: float | None, part: float | None) -> float | None:
    if whole is None or part is None:
        return None
    rest = whole - part
    return 0.0 if abs(rest) < RESIDUE else rest


ANALYSIS = Analysis(
    function=overdue_invoices,
    question="Which invoices are overdue, and are we still working for those clients?",
    summary=(
        "It lists every overdue invoice with the client's other balances. It also shows the hours worked for the "
        "client since the invoice was due, and their value."
    ),
    example=(
        "Acme owes 500 since 1 October, and 80 that are not due yet. From then to 31 October, 3 hours worth 600 were "
        "worked for Acme. The row shows 500 overdue for 30 days, other balances of 80, 3 hours and 600."
    ),
    formula="balance and days as in aging; hours and value of the client's work after the due date up to the day",
    left_out=(
        "Invoices not yet due, drafts, balances of 0, and credits: unused credits of the client are in "
        "`other_balance`.",
        "Non-billable time, in the hours since the due date.",
        "Invoices whose state is missing or unknown.",
    ),
    cannot_tell=(
        "Promises, disputes and reminders: they are not in the billing system.",
        "When and how something was paid: balances are as loaded.",
        "Who should collect the invoice if several people are responsible for its matters: all their names are shown.",
    ),
    own=("expenses", "fixed_fees", "matters"),
    arguments={"settings": "Only the time zone is used, for the day of the load."},
    rows="largest balance first, then by date and id:",
    keys=(
        *("invoice_id", "invoice_number", "client_id", "client_name", "responsible_id", "responsible_name"),
        *("invoice_date", "due_date"),
    ),
    columns=(
        retitled("balance", SHARED["overdue"].title, "The open balance of the invoice."),
        Measure("days_overdue", "Days past due", "count", "Days since the due date."),
        Measure("other_balance", "Other balances", "money", "Balances of the client’s other invoices, less credits."),
        Measure("other_overdue", "Other overdue", "money", "What is overdue on the client’s other invoices."),
        Measure("hours_since_due", "Hours since due date", "hours", "Hours worked for the client after the due date."),
        Measure(
            "worked_since_due", "Value since due date", "money", "Value of the work for the client after the due date."
        ),
        Measure(
            "last_date_since_due",
            "Last work since due date",
            "date",
            "Last day of work for the client after the due date.",
        ),
    ),
    table=TableSpec(
        title="Overdue invoices",
        brief=("balance", "days_overdue", "other_balance", "hours_since_due", "worked_since_due"),
        keys=("invoice_number", "client_name", "responsible_name", "due_date"),
        cents=True,
    ),
    book=FromBook(first=""),
    tab=TabSpec(
        place=6,
        title="Overdue invoices",
        tiles=("balance",),
        order="balance",
        opens="aging.total",
        filters="clients",
        note="An invoice belongs to its client, whoever worked on it.",
    ),
)
