"""Spread the fees that payments settle over the work on their invoices.

Each invoice's net fees are spread over its items as in `billed_work`. A payment of some of the fees counts for each
item in the same ratio. An invoice whose fees can't be spread counts for its client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.engine import collect, from_arrow, join_by_id, lazy
from billframes.analysis.frames.expressions import RESIDUE, columns_or_null
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import allocated_fee, allocation_rates, billable_time, time_on_invoices
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import ITEM_IDS

__all__ = ["FEE_KINDS", "invoices_settled_by", "payments_table", "spread_payments"]

C = nw.col

FEE_KINDS = {
    "collected_amount": ("cash",),
    "credited_amount": ("credit", "discount", "journal"),
    "written_off_amount": ("write_off",),
}
"""The kinds of payments in each amount of settled fees."""


def payments_table(rows: pd.DataFrame) -> pa.Table:
    """Return sums of payments as an Arrow table with the types of the analyses."""
    table = pa.Table.from_pandas(rows, preserve_index=False)
    types = {pa.large_string(): pa.string()}
    return table.cast(pa.schema([(field.name, types.get(field.type, field.type)) for field in table.schema]))


def _fee_sums(payments: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Add up payments on invoices by some columns: the fees of each kind, and the expenses and tax in cash."""
    cash, trust = payments["kind"] == "cash", payments["from_trust"]
    sums = {name: payments["fee_amount"].where(payments["kind"].isin(kinds), 0.0) for name, kinds in FEE_KINDS.items()}
    sums["collected_expense_amount"] = payments["expense_amount"].where(cash, 0.0)
    sums["collected_tax_amount"] = payments["tax_amount"].where(cash, 0.0)
    sums["trust_fees"] = payments["fee_amount"].where(cash & trust, 0.0)
    sums["trust_expenses"] = payments["expense_amount"].where(cash & trust, 0.0)
    sums["trust_rest"] = (payments["amount"] - payments["fee_amount"].fillna(0.0)).where(cash & trust, 0.0)
    sums["trust_rest"] = sums["trust_rest"] - sums["trust_expenses"].fillna(0.0)
    sums["unallocated_amount"] = payments["amount"].where(cash & payments["invoice_id"].isna(), 0.0)
    rows = payments[list(by)].assign(**{name: each.fillna(0.0).astype(float) for name, each in sums.items()})
    return rows.groupby(list(by), dropna=False, observed=True)[list(sums)].sum().reset_index()


def spread_payments(payments: pd.DataFrame, frames: Frames, grouping: Grouping, measures: Sequence[str]) -> Frame:
    """Return rows of items and of clients with their part in the payments, with the columns of the grouping's base."""
    entries = frames["time_entries"]
    columns = grouping.row_columns
    time = billable_time(frames, columns, lazily=True)
    rates = allocation_rates(collect(time_on_invoices(time), entries), frames, grouping.settings)
    sums = _fee_sums(payments, ["invoice_id", "client_id", "client_name", "payment_date"])
    paid = from_arrow(entries, payments_table(sums)).rename({"client_id": "_client_id", "client_name": "_client_name"})
    of_rates = ("invoice_id", "_per_worth", "_per_hour", "_unallocated", "_fees", "_expenses")
    joined = join_by_id(paid, rates.select(*of_rates), "invoice_id")
    can_spread = (C("_fees").abs() > RESIDUE).fill_null(False)
    has_expenses = (C("_expenses").abs() > RESIDUE).fill_null(False)
    joined = joined.with_columns(_can_spread=can_spread, _has_expenses=has_expenses)
    types = time.collect_schema()
    parts = [_work(time, joined, allocated_fee(), "_can_spread", _FEES, "_fees")]
    for name, measure, condition, whole in (
        ("fixed_fees", _FEES, "_can_spread", "_fees"),
        ("expenses", _EXPENSES, "_has_expenses", "_expenses"),
    ):
        if name in frames:
            ids = (each for each in ITEM_IDS if each in columns)
            items = frames.select(name, ("invoice_id", "amount", *ids), (*columns, *ITEM_IDS))
            parts.append(_work(items, joined, C("amount"), condition, measure, whole))
    parts.append(_of_clients(joined))
    rows = []
    for part in (collect(each, entries) for each in parts):
        there = part.columns
        amounts = [C(name) if name in there else nw.lit(0.0).alias(name) for name in measures]
        rows.append(part.select(*columns_or_null(part, columns, types), "payment_date", *amounts))
    return nw.concat([grouping.with_periods(each, "payment_date") for each in rows])


_FEES = {
    **{name: name for name in FEE_KINDS},
    "from_trust_amount": "trust_fees",
}
_EXPENSES = {"collected_expense_amount": "collected_expense_amount", "from_trust_amount": "trust_expenses"}


def _work(items: Frame, paid: Frame, fee: nw.Expr, condition: str, sums: Mapping[str, str], whole: str) -> Frame:
    """Return the items on paid invoices with their share of each sum."""
    needed = ("invoice_id", "payment_date", "_per_worth", "_per_hour", whole, *dict.fromkeys(sums.values()))
    # An invoice has several payments, and `join_by_id` needs one row per id.
    settled = paid.filter(C(condition)).select(*needed)
    other = lazy(settled) if isinstance(items, nw.LazyFrame) else settled
    rows = items.join(other, on="invoice_id", how="inner")
    return rows.with_columns(_share=fee / C(whole)).with_columns(
        **{name: C("_share") * C(source) for name, source in sums.items()}
    )


def _of_clients(paid: Frame) -> Frame:
    """Return what belongs to no item: tax, money on no invoice, and fees and expenses that can't be spread."""
    part = nw.when(C("_can_spread")).then(C("_unallocated") / C("_fees")).otherwise(nw.lit(1.0))
    expenses = nw.when(C("_has_expenses")).then(nw.lit(0.0)).otherwise(nw.lit(1.0))
    rest = {name: C(name) * part for name in FEE_KINDS}
    rest["collected_expense_amount"] = C("collected_expense_amount") * expenses
    rest["from_trust_amount"] = C("trust_fees") * part + C("trust_expenses") * expenses + C("trust_rest")
    rows = paid.with_columns(**rest, client_id=C("_client_id"), client_name=C("_client_name"))
    amounts = [C(name).abs() for name in (*rest, "collected_tax_amount", "unallocated_amount")]
    return rows.filter(nw.sum_horizontal(*amounts) > 0)


def invoices_settled_by(payments: pd.DataFrame, frames: Frames, kinds: Sequence[str], settings: Any) -> Frame:
    """Return the invoices with balances of which the settled part is the paid part of the fees, for some kinds."""
    entries = frames["time_entries"]
    details = [name for name in column_names(frames["invoices"]) if name.startswith("client_") or name == "due_date"]
    columns = ("invoice_id", "invoice_date", "invoice_state", "amount", "balance")
    invoices = frames.select("invoices", columns, details)
    rates = allocation_rates(
        collect(time_on_invoices(billable_time(frames, (), lazily=True)), entries), frames, settings
    )
    paid = payments[payments["kind"].isin(kinds)].groupby("invoice_id")["fee_amount"].sum().reset_index()
    table = payments_table(paid.rename(columns={"fee_amount": "_paid_fees"}))
    shares = join_by_id(rates.select("invoice_id", "_fees"), from_arrow(entries, table), "invoice_id")
    usable = (C("_fees").abs() > RESIDUE) & ~C("_paid_fees").is_null()
    shares = shares.select(
        "invoice_id", _share=nw.when(usable).then(C("_paid_fees") / C("_fees")).otherwise(nw.lit(0.0))
    )
    joined = join_by_id(invoices, shares, "invoice_id")
    return joined.with_columns(balance=C("amount") * (1.0 - C("_share").fill_null(0.0))).drop("_share")
