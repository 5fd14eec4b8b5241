"""Note invoices or items that were not passed, for analyses that compare work and invoices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import narwhals.stable.v2 as nw

from billframes._names import join_names
from billframes._notes import Amount, Count
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.engine import collect_counts, join_by_id
from billframes.analysis.frames.expressions import midnight, null_column, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import NOT_TIME
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.rules.invoices import (
    ABSENT_FROM_INVOICES,
    DETAILS_NOT_IN_ALL,
    UNKNOWN_INVOICE,
)
from billframes.periods import Period

C = nw.col

_A_CENT = 0.005
_WORDS = {
    "time_entries": "time",
    "expenses": "expenses",
    "fixed_fees": "fixed fees",
    "invoices": "fees of invoices without time (such as credit notes)",
}


def with_contingent(rates: Frame, frames: Frames) -> Frame:
    """Add `_contingent`: 1.0 for invoices of contingency matters, missing for others or without matter types."""
    invoices, matters = frames["invoices"], frames.get("matters")
    known = matters is not None and {"matter_id", "matter_type"} <= set(column_names(matters))
    if matters is None or not known or "matter_id" not in column_names(invoices):
        return rates.with_columns(_contingent=null_column(nw.Float64))
    kinds = frames.select("matters", ("matter_id", "matter_type")).filter(C("matter_type") == "contingency")
    matters_of = frames.select("invoices", ("invoice_id", "matter_id"))
    contingent = join_by_id(matters_of, kinds.select("matter_id"), "matter_id", "inner")
    return join_by_id(rates, contingent.select("invoice_id", _contingent=nw.lit(1.0)), "invoice_id")


def count_on_unknown_invoices(rates: Frame, period: Period) -> nw.Expr:
    """Count the entries whose invoice was not passed, except entries with an invoice date outside the period."""
    counts = C("_passed").is_null()
    if "_named_date" in column_names(rates):
        # An entry without an invoice date may be on an invoice of the period.
        if period.start is not None:
            counts = counts & (C("_named_date") >= midnight(period.start)).fill_null(True)
        if period.end is not None:
            counts = counts & (C("_named_date") <= midnight(period.end)).fill_null(True)
    return value_if(counts, C("_rows").fill_null(0.0)).sum()


def note_unknown_invoices(frames: Frames, count: float, consequence: str = "left out") -> None:
    """Note entries whose invoice was not passed; `consequence` ends the sentence "they are …"."""
    n = Count.of(count)
    about = {
        "items": f"{n} billable time {n:entry|entries}",
        "reasons": unknown_state_reasons(frames),
        "consequence": consequence,
    }
    frames.notes.add(UNKNOWN_INVOICE, count, **about)


def unknown_state_reasons(frames: Frames, *, types: bool = False) -> str:
    """Return other reasons why the state of work is unknown, for warnings of invoices that were not passed."""
    states = ", or whose state is unknown" if frames.unknown_values("invoices", "invoice_state") else ""
    kinds = (
        ", or are of unknown billing type" if types and frames.unknown_values("time_entries", "billing_type") else ""
    )
    return states + kinds


def note_absent_items(frames: Frames, names: Sequence[str] = NOT_TIME) -> None:
    """Note items that were not passed; an empty frame of items gives no note."""
    absent = [f"`{name}`" for name in names if name not in frames]
    arguments = join_names([f"{each}=" for each in absent])
    frames.notes.add(ABSENT_FROM_INVOICES, len(absent), absent=join_names(absent), arguments=arguments)


def note_details_not_in_all(grouping: Grouping, amounts: Mapping[str, Callable[[], tuple[Frame, str]]]) -> None:
    """
    Note keys that only some of the frames have, such as a client's custom field joined to the time entries only.

    Parameters
    ----------
    grouping : Grouping
    amounts : mapping of str to callable
        For frames of items, and for the invoices, a function that returns the rows that count, and their column of
        amounts. It is only called if the frame lacks a key.
    """
    for column, supplier in grouping.details.items():
        lacking = [name for name in grouping.sources.kinds_without(column) if name in amounts]
        sums = collect_counts(*(_sum_of_known(name, *amounts[name](), supplier) for name in lacking))
        parts = [f"{_WORDS[name]} of {Amount(sums[name]):,.2f}" for name in lacking if abs(sums[name]) >= _A_CENT]
        about = {"column": f"`{column}`", "frames": join_names([f"`{each}`" for each in lacking]), "supplier": supplier}
        if parts:
            amount = sum(abs(sums[name]) for name in lacking)
            grouping.notes.add(DETAILS_NOT_IN_ALL, amount, about=column, parts=join_names(parts), **about)


def _sum_of_known(name: str, rows: Frame, amount: str, supplier: str) -> tuple[Frame, dict[str, nw.Expr]]:
    """Add up the rows that have a matter, user or client; other rows have no value anyway."""
    id_ = f"{supplier.removesuffix('s')}_id"
    rows = rows.filter(~C(id_).is_null()) if id_ in column_names(rows) else rows
    return rows, {name: C(amount).sum()}
