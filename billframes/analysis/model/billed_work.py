"""The rows of billed work: the parts of the fees on final invoices, allocated once for all analyses of fees.

A row is a billable entry, a fixed fee, or the fees of an invoice without time to which they can be allocated. Its keys
are those of the item, and its date is that of the invoice. It has these amounts:

- `worth`, `hours`: the value of an entry at its rates, 0 if that is hidden, and its hours
- `_fees`, `_paid`: the net billed time fees, and the settled part of these
- `_fixed`: the amount of a fixed fee
- `_hidden`, `_rows`: 1.0 for an entry whose value is hidden, and for each entry
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.engine import join_by_id
from billframes.analysis.frames.expressions import as_float, columns_or_null
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import allocated_fee
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import ITEM_IDS

__all__ = [
    "FIXED_FEES",
    "WITHOUT_TIME",
    "as_rows_of_time",
    "billed_time",
    "fees_without_time",
    "fixed_fees",
    "with_amounts",
]

C = nw.col


def billed_time(time: Frame, final: Frame, columns: Sequence[str] = ()) -> Frame:
    """
    Return the billable entries on these invoices, with their fees and more columns of the invoices.

    The other amounts are added after the last join, which would otherwise copy them.
    """
    of_invoice = final.select("invoice_id", "_per_worth", "_per_hour", "_settled", *columns)
    return join_by_id(time, of_invoice, "invoice_id", "inner").with_columns(_fees=allocated_fee())


def with_amounts(time: Frame) -> Frame:
    """Add the other amounts of entries whose fees, and the settled part of these, are known."""
    return time.with_columns(
        worth=C("worth").fill_null(0.0),
        _paid=C("_fees") * C("_settled").fill_null(0.0),
        _hidden=as_float(C("worth").is_null()),
        _rows=nw.lit(1.0),
    )


def fixed_fees(frames: Frames, grouping: Grouping, final: Frame, columns: Sequence[str]) -> Frame:
    """Return the fixed fees on these invoices, as `amount`, with more columns of the invoices."""
    needed = ("invoice_id", "amount", *(name for name in ITEM_IDS if name in grouping.row_columns))
    items = frames.select("fixed_fees", needed, (*grouping.row_columns, *ITEM_IDS))
    return join_by_id(items, final.select("invoice_id", *columns), "invoice_id", "inner")


def fees_without_time(final: Frame) -> Frame:
    """Return the invoices without time to which their fees, `_unallocated`, can be allocated, such as credit notes."""
    return final.filter(C("_by_worth") + C("_by_hours") < 1)


FIXED_FEES = {"_fixed": C("amount")}
WITHOUT_TIME = {"_fees": C("_unallocated"), "_paid": C("_unallocated") * C("_settled")}
"""The amounts of the rows of these kinds; they have no others."""


def as_rows_of_time(
    rows: Frame, keys: Sequence[str], types: Any, amounts: Sequence[str], given: Mapping[str, nw.Expr]
) -> Frame:
    """Select the columns that rows of time have; missing keys are null, and amounts that are not given are 0."""
    return rows.select(*columns_or_null(rows, keys, types), **{name: given.get(name, nw.lit(0.0)) for name in amounts})
