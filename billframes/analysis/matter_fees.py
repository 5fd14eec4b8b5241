"""Add up the fees of matters by billing state: final, on a prebill, unbilled or unknown.

Fees on final invoices count with the amounts billed, and all others with their worth, whatever their date.
"""

from __future__ import annotations

import narwhals.stable.v2 as nw

from billframes.analysis.allocation import (
    allocated_fee,
    allocation_rates,
    billable_time,
    billing_state,
    time_on_invoices,
    unknown_time,
)
from billframes.analysis.column_types import Frame, column_names
from billframes.analysis.engine import join_by_id, sum_by
from billframes.analysis.expressions import as_float, null_column, value_if
from billframes.analysis.frames import select_columns

__all__ = ["HIDDEN", "MEASURES", "USED", "fees_of_matters"]

C = nw.col

USED = ("billed_amount", "fixed_fee_amount", "prebill_amount", "unbilled_amount", "unknown_amount")
HIDDEN = tuple(f"_hidden_{name}" for name in ("prebill_amount", "unbilled_amount", "unknown_amount"))
MEASURES = (*USED, *HIDDEN, "_hidden_billed_amount", "unbilled_fixed_fee_amount", "_rows_unknown")


def fees_of_matters(frames: dict[str, Frame]) -> Frame:
    """Return rows of fees by matter, in one column per billing state."""
    time = billable_time(frames["time_entries"], ("matter_id",), ("matter_name",))
    rates = allocation_rates(time_on_invoices(time), frames)
    time = time.with_columns(_hidden=as_float(C("worth").is_null()), worth=C("worth").fill_null(0.0), _rows=nw.lit(1.0))
    by = ("matter_id", "invoice_id", *_labels(time))
    # The fees of an invoice are allocated by one rule, so the entries of a matter on it can be added up first.
    time = sum_by(time, by, ("worth", "hours", "_hidden", "_rows"))
    parts = [_columns_by_state(time, rates, "billed_amount", allocated_fee())]
    if "fixed_fees" in frames:
        fixed = select_columns(
            frames["fixed_fees"], "fixed_fees", ("matter_id", "invoice_id", "amount"), ("matter_name",)
        )
        fixed = fixed.with_columns(worth=C("amount"), _hidden=nw.lit(0.0), _rows=nw.lit(1.0))
        parts.append(_columns_by_state(fixed, rates, "fixed_fee_amount", C("worth")))
    if (untyped := unknown_time(frames["time_entries"], ("matter_id",), ("matter_name",))) is not None:
        parts.append(_unknown_columns(untyped))
    credits_ = rates.filter(C("_invoice_state") == "final", C("_by_worth") + C("_by_hours") < 1)
    none = dict.fromkeys(MEASURES, nw.lit(0.0)) | {"billed_amount": C("_unallocated")}
    parts.append(credits_.select(matter_id=null_column(nw.String), matter_name=null_column(nw.String), **none))
    return nw.concat(parts)


def _unknown_columns(rows: Frame) -> Frame:
    """Return the worth of time of unknown billing type as `unknown_amount`."""
    name = C("matter_name") if _labels(rows) else null_column(nw.String)
    measures = dict.fromkeys(MEASURES, nw.lit(0.0)) | {
        "unknown_amount": C("worth").fill_null(0.0),
        "_hidden_unknown_amount": as_float(C("worth").is_null()),
    }
    return rows.select("matter_id", matter_name=name, **measures)


def _labels(rows: Frame) -> list[str]:
    return ["matter_name"] if "matter_name" in column_names(rows) else []


def _columns_by_state(rows: Frame, rates: Frame, final: str, billed: nw.Expr) -> Frame:
    """Return amounts in the column of their billing state; on final invoices, `billed` in the column `final`."""

    def in_state(state: str, value: nw.Expr) -> nw.Expr:
        return value_if(C("_state") == state, value)

    rates = rates.select("invoice_id", "_invoice_state", "_per_worth", "_per_hour")
    joined = join_by_id(rows, rates, "invoice_id").with_columns(_state=billing_state())
    fixed = final == "fixed_fee_amount"
    measures = dict.fromkeys(MEASURES, nw.lit(0.0)) | {
        final: in_state("final", billed),
        "unbilled_fixed_fee_amount" if fixed else "unbilled_amount": in_state("unbilled", C("worth")),
        "prebill_amount": in_state("prebill", C("worth")),
        "unknown_amount": in_state("unknown", C("worth")),
        "_hidden_unbilled_amount": in_state("unbilled", C("_hidden")),
        "_hidden_prebill_amount": in_state("prebill", C("_hidden")),
        "_hidden_unknown_amount": in_state("unknown", C("_hidden")),
        "_hidden_billed_amount": in_state("final", C("_hidden")),
        "_rows_unknown": in_state("unknown", C("_rows")),
    }
    name = C("matter_name") if _labels(rows) else null_column(nw.String)
    return joined.select("matter_id", matter_name=name, **measures)
