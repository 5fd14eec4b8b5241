"""The parts of each invoice's fees that payments settled: in cash, by credits, and by write-offs."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import from_arrow, join_by_id
from billframes.analysis.data.expressions import RESIDUE, C, value_if
from billframes.analysis.declare.columns import Frame
from billframes.analysis.facts.invoices import invoices

FEE_KINDS = {
    "collected_amount": ("cash",),
    "credited_amount": ("credit", "discount", "journal"),
    "written_off_amount": ("write_off",),
}
"""The kinds of payments in each amount of settled fees."""


def payments_table(rows: pd.DataFrame) -> pa.Table:
    """Return sums of payments as an Arrow table with the types of the analyses."""
    table = pa.Table.from_pandas(rows, preserve_index=False)
    # Ids of no payment are objects, which have no type.
    types = {pa.large_string(): pa.string(), pa.null(): pa.string()}
    return table.cast(pa.schema([(field.name, types.get(field.type, field.type)) for field in table.schema]))


def settled_parts(of: Reader, payments: pd.DataFrame, discounts: str) -> Frame:
    """Return by invoice which part of its fees each kind of payment settled, as ratios."""
    paid = payments[payments["invoice_id"].notna()]
    sums = {
        name: paid["fee_amount"].where(paid["kind"].isin(kinds), 0.0).fillna(0.0) for name, kinds in FEE_KINDS.items()
    }
    by_invoice = pd.DataFrame({"invoice_id": paid["invoice_id"], **sums}).groupby("invoice_id", as_index=False).sum()
    table = payments_table(by_invoice)
    rows = of.fact(invoices, discounts=discounts).select(C("invoice_id").cast(nw.String), "fees", "amount")
    rows = join_by_id(rows, from_arrow(of["invoices"], table), "invoice_id")
    can_spread = (C("fees").abs() > RESIDUE) & (C("amount").abs() > RESIDUE)
    return rows.select(
        "invoice_id", *(value_if(can_spread, C(name).fill_null(0.0) / C("fees")).alias(name) for name in FEE_KINDS)
    )


def with_settled_parts(rows: Frame, parts: Frame) -> Frame:
    """Add the parts to rows of work; they are 0 for work on no invoice."""
    rows = join_by_id(rows.with_columns(C("invoice_id").cast(nw.String)), parts, "invoice_id")
    return rows.with_columns(C(*FEE_KINDS).fill_null(0.0))
