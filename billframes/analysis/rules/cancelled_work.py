"""Note fees of invoices on which entries below 0 nearly cancel the others: they are allocated to no entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import narwhals.stable.v2 as nw

from billframes._notes import Notes, Rule
from billframes.analysis.frames.expressions import count_if, value_if

C = nw.col

_A_CENT = 0.005
_COUNT = "They count for the client, without matter and timekeeper."
_CANCELLED = Rule(
    name="cancelled_work",
    seen="{subject}: {n} {n:invoice has|invoices have} entries below 0 that nearly cancel {n:its|their} other time, so "
    "{n:its|their} fees of {fees:,.2f} can't be shared out.",
    remedy=_COUNT,
    page=_COUNT,
    unit="invoices",
)


def is_cancelled() -> nw.Expr:
    """Return whether an invoice of `allocation_rates` has fees that can't be allocated to its time."""
    return (C("_cancelled") > 0) & ~(C("_net").abs() < _A_CENT)


def count_cancelled(counted: nw.Expr) -> dict[str, nw.Expr]:
    """Count these invoices of those that count, and add up their fees."""
    found = counted & is_cancelled()
    return {"cancelled": count_if(found), "cancelled_fees": value_if(found, "_net").sum()}


def note_cancelled(notes: Notes, counts: Mapping[str, float], keys: Collection[str]) -> None:
    """Note the invoices of `count_cancelled`, if one of the keys is not of the client."""
    if any(not key.startswith(("client_", "_")) for key in keys):
        notes.add(_CANCELLED, counts["cancelled"], fees=counts["cancelled_fees"])
