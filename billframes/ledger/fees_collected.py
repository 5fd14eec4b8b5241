"""Fees collected: the cash that came in, by any key, with its part in fees, expenses and tax."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import narwhals.stable.v2 as nw
import pandas as pd

from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, eager_from_arrow, join_by_id, stack
from billframes.analysis.data.expressions import RESIDUE, C, columns_or_null, map_values, value_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import money, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.analysis.facts.invoices import invoices as invoices_fact
from billframes.analysis.facts.settled_parts import FEE_KINDS, payments_table
from billframes.analysis.facts.work import work
from billframes.analysis.keys.by import By
from billframes.analysis.keys.formulas import with_formulas
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.fees import note_absent_items
from billframes.analysis.rules.payments import check_payments, note_payments, payments_in
from billframes.periods import DateLike

_CASH = ("collected_amount", "collected_expense_amount", "collected_tax_amount", "unallocated_amount")
_OTHERS = ("credited_amount", "written_off_amount", "from_trust_amount")
_SUMS = (*_CASH, *_OTHERS)
# What items share of each payment: by their fees, and by their expenses.
_FEES = {name: name for name in FEE_KINDS} | {"from_trust_amount": "trust_fees"}
_EXPENSES = {"collected_expense_amount": "collected_expense_amount", "from_trust_amount": "trust_expenses"}


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def fees_collected(
    call: Call,
    payments: pd.DataFrame | None = None,
    *,
    by: By = "client",
    start: DateLike | None = None,
    end: DateLike | None = None,
    basis: Literal["payment_date", "invoice_date"] = "payment_date",
    as_of: DateLike | None = None,
) -> Frame:
    """
    Add up the cash that came in, and spread it over the work that it pays.

    Parameters
    ----------
    payments : DataFrame
        From `payments`.
    time_entries : frame
        All of them, with `billing_type`, `hours`, `amount`, `invoice_id` and the columns that `by` needs.
    invoices : frame
        All invoices, with `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    basis : {"payment_date", "invoice_date"}
        Cash dated in the period, on invoices of any date; or all cash on the invoices dated in the period.

    Examples
    --------
    Acme paid 600 of an invoice of 1,000, which has an expense of 200. Ada did three quarters of the work:

    >>> entries = pd.DataFrame({
    ...     "user_id": ["u1", "u2"], "user_name": ["Ada", "Ben"], "billing_type": ["billable"] * 2,
    ...     "hours": [3.0, 1.0], "amount": [600.0, 200.0], "invoice_id": ["i1", "i1"],
    ... })
    >>> costs = pd.DataFrame({"user_id": ["u1"], "user_name": ["Ada"], "amount": [200.0], "invoice_id": ["i1"]})
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [1000.0], "balance": [400.0],
    ... })
    >>> paid = pd.DataFrame({
    ...     "payment_date": pd.to_datetime(["2026-10-25"]), "kind": ["cash"], "invoice_id": ["i1"],
    ...     "invoice_number": ["1001"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "client_name": ["Acme"], "customer": ["Acme"], "amount": [600.0], "fee_amount": [480.0],
    ...     "expense_amount": [120.0], "tax_amount": [0.0], "matched_by": ["only"], "reference": [None],
    ...     "account": [None], "from_trust": [False], "ledger_row": [7],
    ... })
    >>> result = fees_collected(
    ...     paid, time_entries=entries, expenses=costs, fixed_fees=costs.head(0), invoices=invoices, by="user",
    ... )
    >>> result[["user_name", "collected_amount", "collected_expense_amount", "cash_amount"]]
      user_name  collected_amount  collected_expense_amount  cash_amount
    0       Ada             360.0                     120.0        480.0
    1       Ben             120.0                       0.0        120.0
    """
    day = None if as_of is None else read_date(as_of, "as_of")
    check_choice(basis, "basis", ("payment_date", "invoice_date"))
    period = call.period(start, end)
    every = check_payments(payments)
    keys = Keys.of(call, by)
    keys.require_ids("time_entries", "fixed_fees", "expenses")
    call.require("invoices", "invoice_state", "invoice_date", "amount", "balance")
    note_absent_items(call)
    note_payments(call, every, period, day, call.settings)
    payments = payments_in(every, period, basis, day)

    items = _items(call, keys)
    paid = _paid(call, payments, items)
    parts = [
        _of_items(items, paid.filter(C("can_spread")), "fees_of_item", "fees", _FEES),
        _of_items(items, paid.filter(C("has_expenses")), "expenses_of_item", "expenses", _EXPENSES),
        _of_clients(paid),
    ]
    base = [name for name in keys.base if not name.startswith("_")]
    ids = [name for name in ("invoice_id",) if name not in base]
    types, rows = items.collect_schema(), []
    for part in parts:
        there = part.collect_schema().names()
        amounts = [C(name) if name in there else nw.lit(0.0).alias(name) for name in _SUMS]
        rows.append(part.select(*columns_or_null(part, base, types), *ids, "payment_date", *amounts))
    totals = keys.sum(stack(rows), [Sum(name, name) for name in _SUMS], date="payment_date")
    found = keys.by_key(totals)
    if "client_name" in keys.columns:
        named = payments.dropna(subset=["client_id", "client_name"])
        names = dict(zip(named["client_id"], named["client_name"], strict=True))
        known = map_values("client_id", names, None, nw.String)
        found = found.with_columns(client_name=nw.coalesce("client_name", known))
    return keys.labelled(with_formulas(found, ANALYSIS.measure_names), ANALYSIS.measure_names)


def _items(call: Call, keys: Keys) -> Frame:
    """Add up the fees and expenses of items by their invoice; periods are those of the payments."""
    of_items = replace(keys, keys=tuple(key for key in keys.keys if not key.time))
    rows = call.fact(work, keys.own, only=("time", "fixed_fee", "expense"), discounts=call.settings.discounts)
    is_fee, is_expense = C("is_billable") | (C("kind") == "fixed_fee"), C("kind") == "expense"
    rows = rows.filter((is_fee | is_expense) & ~C("invoice_id").is_null())
    sums = [
        Sum("fees_of_item", C("fees") + C("amount"), is_fee & C("is_final")),
        Sum("expenses_of_item", "amount", is_expense),
    ]
    return of_items.sum(rows, sums, more=("invoice_id",)).rows


def _paid(call: Call, payments: pd.DataFrame, items: Frame) -> Frame:
    """Return the payments by invoice, client and day, with what their invoices are for."""
    table = payments_table(_sums_of(payments, ["invoice_id", "client_id", "client_name", "payment_date"]))
    rows = call.fact(invoices_fact, discounts=call.settings.discounts).with_columns(
        C("invoice_id").cast(nw.String),
        fees=value_if((C("invoice_state") == "final").fill_null(False), "fees"),
        not_spread=value_if(~C("is_spread"), "net"),
    )
    rows = collect(rows.select("invoice_id", "fees", "expenses", "not_spread"))
    return join_by_id(eager_from_arrow(items, table), rows, "invoice_id").with_columns(
        can_spread=(C("fees").abs() > RESIDUE).fill_null(False),
        has_expenses=(C("expenses").abs() > RESIDUE).fill_null(False),
    )


def _sums_of(payments: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Add up payments by some columns: the fees of each kind, and the expenses and tax in cash."""
    cash, trust = payments["kind"] == "cash", payments["from_trust"]
    sums = {name: payments["fee_amount"].where(payments["kind"].isin(kinds), 0.0) for name, kinds in FEE_KINDS.items()}
    sums["collected_expense_amount"] = payments["expense_amount"].where(cash, 0.0)
    sums["collected_tax_amount"] = payments["tax_amount"].where(cash, 0.0)
    sums["trust_fees"] = payments["fee_amount"].where(cash & trust, 0.0)
    sums["trust_expenses"] = payments["expense_amount"].where(cash & trust, 0.0)
    sums["trust_rest"] = (payments["amount"] - payments["fee_amount"].fillna(0.0)).where(cash & trust, 0.0)
    sums["trust_rest"] = sums["trust_rest"] - sums["trust_expenses"].fillna(0.0)
    sums["unallocated_amount"] = payments["amount"].where(cash & payments["invoice_id"].isna(), 0.0)
    rows = payments[by].assign(**{name: each.fillna(0.0).astype(float) for name, each in sums.items()})
    return rows.groupby(by, dropna=False, observed=True)[list(sums)].sum().reset_index()


def _of_items(items: Frame, paid: Frame, of_item: str, whole: str, sums: Mapping[str, str]) -> Frame:
    """Return the part of each item in the payments of its invoice, in proportion to its fees or expenses."""
    # An invoice has several payments, and `join_by_id` needs one row per id.
    rows = items.join(paid.select("invoice_id", "payment_date", whole, *sums.values()), on="invoice_id", how="inner")
    return rows.with_columns(**{name: C(of_item) / C(whole) * C(source) for name, source in sums.items()})


def _of_clients(paid: Frame) -> Frame:
    """Return what belongs to no item: tax, money on no invoice, and fees and expenses that can't be spread."""
    part = nw.when(C("can_spread")).then(C("not_spread") / C("fees")).otherwise(nw.lit(1.0))
    expenses = nw.when(C("has_expenses")).then(nw.lit(0.0)).otherwise(nw.lit(1.0))
    rest = {name: C(name) * part for name in FEE_KINDS}
    rest["collected_expense_amount"] = C("collected_expense_amount") * expenses
    rest["from_trust_amount"] = C("trust_fees") * part + C("trust_expenses") * expenses + C("trust_rest")
    amounts = [C(name).abs() for name in (*rest, "collected_tax_amount", "unallocated_amount")]
    return paid.with_columns(**rest).filter(nw.sum_horizontal(*amounts) > 0)


ANALYSIS = Analysis(
    function=fees_collected,
    question="What came in, and who earned it?",
    summary=(
        "It adds up the cash that clients paid, by the day of the payment, and spreads the fees in it over the work. "
        "Credits and write-offs are settled, too, but they are not cash, so they stand in columns of their own."
    ),
    example=(
        "Acme paid 600 of an invoice of 1000 that has an expense of 200: 480 of fees and 120 of expenses. Ada did "
        "three quarters of the work, so 360 of the fees are hers."
    ),
    formula="`cash_amount` = fees + expenses + tax + cash on no invoice",
    numerator=(
        "payments from the firm's books. What a part payment pays follows the firm's `payment_order`. The fees in it "
        "are spread over the invoice's work as in realization, in proportion to its value, and over fixed fees."
    ),
    left_out=(
        "Credits and write-offs, which are in `credited_amount` and `written_off_amount`.",
        "Money that the books have on no invoice: it is in `unallocated_amount`, for the client only.",
    ),
    cannot_tell=(
        "Which invoice a payment paid if the books did not link them; the payments say how each was found.",
        "Trust balances; `from_trust_amount` needs the trust accounts in the firm's settings.",
    ),
    columns=(
        *shared_measures("collected_amount"),
        money("collected_expense_amount", "Expenses collected", "Expenses paid in cash."),
        money("collected_tax_amount", "Tax collected", "Tax paid in cash."),
        money("unallocated_amount", "Cash on no invoice", "Cash that the books have on no invoice."),
        sum_measure(
            *("cash_amount", "Cash", "money", "All cash: fees, expenses, tax and cash on no invoice."),
            formula=" + ".join(_CASH),
        ),
        *shared_measures("credited_amount", "written_off_amount"),
        money("from_trust_amount", "Cash from trust", "The part of the cash from trust accounts."),
    ),
    table=TableSpec(title="Fees collected", brief=("collected_amount", "collected_expense_amount", "cash_amount")),
    chart=ChartSpec(
        kind="bars",
        title="Fees collected",
        columns=("collected_amount",),
        words=["{collected_amount:axis}"],
        shows="the fees paid in cash.",
    ),
    book=FromBook(first="payments", ends_with_load=False),
    tab=TabSpec(
        place=8,
        title="What came in",
        by=("responsible", "client", "month"),
        tiles=("cash_amount", "collected_amount", "credited_amount", "written_off_amount"),
        order="cash_amount",
        filters="payments",
        note="A payment belongs to its client, whoever did the work. The tab needs payments from the firm’s books.",
    ),
)
