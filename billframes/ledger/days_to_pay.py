"""Days to pay: the time from invoice and due date to payment, weighted by cash."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pandas as pd

from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, eager_from_arrow, join_by_id
from billframes.analysis.data.expressions import C
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, Unit, money
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.facts.settled_parts import payments_table
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.payments import check_payments, note_payments, payments_in
from billframes.periods import DateLike

_LIMITS = (30, 60, 90)


@sheet("invoices", "clients?")
def days_to_pay(
    call: Call,
    payments: pd.DataFrame | None = None,
    *,
    by: By = "client",
    start: DateLike | None = None,
    end: DateLike | None = None,
    as_of: DateLike | None = None,
) -> Frame:
    """
    Calculate how long clients take to pay, weighted by cash.

    Parameters
    ----------
    payments : DataFrame
        From `payments`. Cash on an invoice counts.
    invoices : frame
        With `invoice_id`, `invoice_date`, `client_id` and `client_name`; optionally with `due_date`, by default the
        date of the invoice.

    Examples
    --------
    600 after 20 days and 530 after 40:

    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-09-01"]),
    ...     "due_date": pd.to_datetime(["2026-10-01"]), "client_id": ["c1"], "client_name": ["Acme"],
    ... })
    >>> paid = pd.DataFrame({
    ...     "payment_date": pd.to_datetime(["2026-09-21", "2026-10-11"]), "kind": ["cash"] * 2,
    ...     "invoice_id": ["i1"] * 2, "invoice_number": ["1001"] * 2,
    ...     "invoice_date": pd.to_datetime(["2026-09-01"] * 2), "client_id": ["c1"] * 2, "client_name": ["Acme"] * 2,
    ...     "customer": ["Acme"] * 2, "amount": [600.0, 530.0], "fee_amount": [600.0, 530.0],
    ...     "expense_amount": [0.0] * 2, "tax_amount": [0.0] * 2, "matched_by": ["only"] * 2, "reference": [None] * 2,
    ...     "account": [None] * 2, "from_trust": [False] * 2, "ledger_row": [7, 8],
    ... })
    >>> result = days_to_pay(paid, invoices=invoices)
    >>> result[["client_name", "days_to_pay", "days_past_due", "days_to_last_payment"]].round(2)
      client_name  days_to_pay  days_past_due  days_to_last_payment
    0        Acme        29.38          -0.62                  40.0
    """
    day = None if as_of is None else read_date(as_of, "as_of")
    period = call.period(start, end)
    own = [name for name in call.columns("invoices") if not name.startswith(("matter_", "user_"))]
    keys = Keys.of(call, by, (), columns=own)
    every = check_payments(payments)
    note_payments(call, every, period, day, call.settings)
    cash = payments_in(every, period, "payment_date", day)
    cash = cash[(cash["kind"] == "cash") & cash["invoice_id"].notna()]
    table = cash.groupby(["invoice_id", "payment_date"])["amount"].sum().rename("paid_amount").reset_index()
    table["last_date"] = table.groupby("invoice_id")["payment_date"].transform("max")
    columns = ("invoice_id", "invoice_date", *keys.own, *({*keys.base} & {"client_id"}))
    details = collect(call.select("invoices", columns, ("due_date",)))
    rows = join_by_id(eager_from_arrow(details, payments_table(table)), details, "invoice_id", "inner")
    totals = keys.sum(rows, _sums(dated="due_date" in call.columns("invoices")), date="payment_date")
    return keys.finish(totals, ANALYSIS.measure_names)


def _sums(*, dated: bool) -> list[Sum]:
    cash = C("paid_amount")
    due = nw.coalesce("due_date", "invoice_date") if dated else C("invoice_date")
    days = _days(C("invoice_date"), "payment_date")
    return [
        Sum("paid_amount", cash),
        Sum("_paid_days", cash * days),
        Sum("_late_days", cash * _days(due, "payment_date")),
        Sum("_last_days", cash * _days(C("invoice_date"), "last_date")),
        *(Sum(f"_paid_within_{limit}", cash, days <= limit) for limit in _LIMITS),
    ]


def _days(start: nw.Expr, end: str) -> nw.Expr:
    return (C(end) - start).dt.total_minutes() / 1440.0


def _weighed(name: str, title: str, part: str, meaning: str, unit: Unit = "days") -> Measure:
    return Measure(name, title, unit, meaning, parts=(part, "paid_amount"))


ANALYSIS = Analysis(
    function=days_to_pay,
    question="How long do clients take to pay?",
    summary=(
        "It counts the days from the invoice to each payment, and weighs them by the amount. So a large payment counts "
        "more than a small one, and an invoice paid in two parts counts with both."
    ),
    example=("An invoice is paid with 600 after 20 days and 530 after 40: 29.38 days, and 40 to the last payment."),
    formula="Σ cash × (payment date − invoice date) ÷ Σ cash",
    numerator="each payment's cash, times the days since the invoice's date",
    denominator="the cash",
    left_out=("Credits and write-offs, and cash on no invoice.", "What is not paid yet: see aging for that."),
    cannot_tell=("When the invoice was sent; its date is used.",),
    columns=(
        money("paid_amount", "Cash on invoices", "Cash paid on invoices in the period."),
        _weighed("days_to_pay", "Days to pay", "_paid_days", "Days from the invoice to the payment."),
        _weighed("days_past_due", "Days paid after due date", "_late_days", "Days from the due date."),
        _weighed("days_to_last_payment", "Days to last payment", "_last_days", "Days to the last one."),
        *(
            _weighed(name, f"Paid within {limit} days", f"_{name}", f"Share of the cash within {limit} days.", "ratio")
            for limit in _LIMITS
            if (name := f"paid_within_{limit}")
        ),
    ),
    table=TableSpec(title="Days to pay", brief=("paid_amount", "days_to_pay", "days_past_due", "paid_within_60")),
    chart=ChartSpec(
        kind="bars",
        title="Days to pay",
        columns=("days_to_pay",),
        words=["{days_to_pay}"],
        shows="the days from invoice to payment.",
    ),
    book=FromBook(first="payments", ends_with_load=False),
)
