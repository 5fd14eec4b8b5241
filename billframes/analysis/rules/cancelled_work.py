"""Note fees of invoices on which entries below 0 nearly cancel the others: they are allocated to no entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import narwhals.stable.v2 as nw

from billframes._messages import warn
from billframes.analysis.frames.expressions import count_if, value_if
from billframes.errors import IncompleteDataWarning

__all__ = ["count_cancelled", "is_cancelled", "warn_of_cancelled"]

C = nw.col

_A_CENT = 0.005


def is_cancelled() -> nw.Expr:
    """Return whether an invoice of `allocation_rates` has fees that can't be allocated to its time."""
    return (C("_cancelled") > 0) & ~(C("_net").abs() < _A_CENT)


def count_cancelled(counted: nw.Expr) -> dict[str, nw.Expr]:
    """Count these invoices of those that count, and add up their fees."""
    found = counted & is_cancelled()
    return {"cancelled": count_if(found), "cancelled_fees": value_if(found, "_net").sum()}


def warn_of_cancelled(figure: str, counts: Mapping[str, float], keys: Collection[str]) -> None:
    """Warn of the invoices of `count_cancelled`, if one of the keys is not of the client."""
    count = int(counts["cancelled"])
    if count and any(not key.startswith(("client_", "_")) for key in keys):
        which = "1 invoice has" if count == 1 else f"{count} invoices have"
        whose = "its" if count == 1 else "their"
        warn(
            f"{figure}: {which} entries below 0 that nearly cancel {whose} other time, so {whose} fees of "
            f"{counts['cancelled_fees']:,.2f} can't be shared out. They count for the client, without matter and "
            "timekeeper.",
            IncompleteDataWarning,
        )
