"""Spread the fees that payments settle over the work on their invoices.

The rows are those of `billed_work`. A payment of some of the fees of an invoice counts for each of its items in the
same ratio. An invoice whose fees can't be spread counts for its client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.engine import collect, from_arrow, join_by_id, to_arrow
from billframes.analysis.frames.expressions import RESIDUE, columns_or_null
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.billed_work import allocated_work
from billframes.analysis.model.billed_work_choice import BilledWork
from billframes.analysis.model.grouping import Grouping
from billframes.periods import Period

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


def settled_fees(payments: pd.DataFrame, like: Frame) -> Frame:
    """Return the fees of each kind that payments settled, by invoice, in a frame of the engine of `like`."""
    sums = _fee_sums(payments[~payments["invoice_id"].isna()], ["invoice_id"])
    return from_arrow(like, payments_table(sums[["invoice_id", *FEE_KINDS]]))


def spread_payments(payments: pd.DataFrame, frames: Frames, grouping: Grouping, measures: Sequence[str]) -> Frame:
    """Return rows of items and of clients with their part in the payments, with the columns of the grouping's base."""
    entries = frames["time_entries"]
    # Periods are those of the payments, not of the invoices.
    of_items = replace(grouping, keys=tuple(key for key in grouping.keys if not key.time))
    work, invoices = allocated_work(
        frames,
        BilledWork(
            grouping=of_items,
            periods=[Period(None, None)],
            basis="payment_date",
            paid=settled_fees(payments, entries),
            by_invoice=True,
        ),
    )
    sums = _fee_sums(payments, ["invoice_id", "client_id", "client_name", "payment_date"])
    paid = from_arrow(work, payments_table(sums)).rename({"client_id": "_client_id", "client_name": "_client_name"})
    fees = collect(invoices.select("invoice_id", "_unallocated", "_expenses", _invoice_fees=C("_fees")))
    paid = join_by_id(paid, fees, "invoice_id")
    paid = paid.with_columns(
        _can_spread=(C("_invoice_fees").abs() > RESIDUE).fill_null(False),
        _has_expenses=(C("_expenses").abs() > RESIDUE).fill_null(False),
    )
    work = work.with_columns(_amount=C("_fees") + C("_fixed"))
    parts = [_of_items(work, paid, "_can_spread", _FEES, "_invoice_fees")]
    if "expenses" in frames:
        items = of_items.select_items("expenses", ("invoice_id", "amount")).rename({"amount": "_amount"})
        parts.append(_of_items(items, paid, "_has_expenses", _EXPENSES, "_expenses"))
    parts.append(_of_clients(paid))
    types, rows = work.collect_schema(), []
    for part in map(collect, parts):
        there = part.columns
        amounts = [C(name) if name in there else nw.lit(0.0).alias(name) for name in measures]
        rows.append(part.select(*columns_or_null(part, of_items.base, types), "payment_date", *amounts))
    return nw.concat([grouping.with_periods(each, "payment_date") for each in rows])


_FEES = {name: name for name in FEE_KINDS} | {"from_trust_amount": "trust_fees"}
_EXPENSES = {"collected_expense_amount": "collected_expense_amount", "from_trust_amount": "trust_expenses"}


def _of_items(items: Frame, paid: Frame, condition: str, sums: Mapping[str, str], whole: str) -> Frame:
    needed = ("invoice_id", "payment_date", whole, *dict.fromkeys(sums.values()))
    # An invoice has several payments, and `join_by_id` needs one row per id.
    settled = paid.filter(C(condition)).select(*needed)
    if isinstance(items, nw.LazyFrame):
        settled = from_arrow(items, to_arrow(settled))
    rows = items.join(settled, on="invoice_id", how="inner")
    return rows.with_columns(**{name: C("_amount") / C(whole) * C(source) for name, source in sums.items()})


def _of_clients(paid: Frame) -> Frame:
    """Return what belongs to no item: tax, money on no invoice, and fees and expenses that can't be spread."""
    part = nw.when(C("_can_spread")).then(C("_unallocated") / C("_invoice_fees")).otherwise(nw.lit(1.0))
    expenses = nw.when(C("_has_expenses")).then(nw.lit(0.0)).otherwise(nw.lit(1.0))
    rest = {name: C(name) * part for name in FEE_KINDS}
    rest["collected_expense_amount"] = C("collected_expense_amount") * expenses
    rest["from_trust_amount"] = C("trust_fees") * part + C("trust_expenses") * expenses + C("trust_rest")
    rows = paid.with_columns(**rest, client_id=C("_client_id"), client_name=C("_client_name"))
    amounts = [C(name).abs() for name in (*rest, "collected_tax_amount", "unallocated_amount")]
    return rows.filter(nw.sum_horizontal(*amounts) > 0)
