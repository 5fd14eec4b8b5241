"""Warn of money in two units: cents beside whole units, or a year's pay as the cost of an hour.

One frame alone does not tell its unit, and a currency has no usual size. Two numbers that have to fit each other do:
an invoice and the work on it, the cost of an hour and what it is billed at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals.stable.v2 as nw

from billframes._messages import warn
from billframes._names import first_few
from billframes.analysis.expressions import Rates, as_float, value_if
from billframes.errors import IncompleteDataWarning

__all__ = [
    "count_other_units",
    "warn_of_high_rates",
    "warn_of_no_worth",
    "warn_of_other_units",
]

C = nw.col

# A hundred times, give or take what work is written down by. Nominal fees of pro bono work are far below it.
_LEAST, _MOST = 40.0, 400.0
# One odd invoice is a matter of its own.
_SEVERAL = 5
# Costs are seldom waived, and fixed fees seldom reduced to a tenth, on several invoices together.
_COSTS, _FEES = 3.0, 10.0
# Of fewer entries, all may be a courtesy.
_MANY = 50
# What an hour costs, or would be billed at, is never this many times what the hours are worth on average.
_TOO_HIGH = 10.0


def count_other_units(counted: nw.Expr, known: nw.Expr) -> dict[str, nw.Expr]:
    """
    Count invoices that seem to be in another unit than the items on them; see `warn_of_other_units`.

    Parameters
    ----------
    counted : Expr
        Whether an invoice is one of those that the analysis counts.
    known : Expr
        Whether the worth of its time is known.
    """
    net, worth = C("_net"), C("_worth").fill_null(0.0)
    timed = counted & known & (net > 0) & (worth > 0)
    low = timed & (net * _LEAST < worth) & (net * _MOST > worth)
    return {
        "low": as_float(low).sum(),
        "low_worth": value_if(low, worth).sum(),
        "worth": value_if(timed, worth).sum(),
        "high": as_float(timed & (net > worth * _LEAST) & (net < worth * _MOST)).sum(),
        "rows": C("_rows").fill_null(0.0).sum(),
        "gross": (C("_gross_worth") + as_float(C("_hidden") > 0)).sum(),
        **_count_items("_expenses", counted),
        **_count_items("_fixed_fees", counted),
    }


def _count_items(name: str, counted: nw.Expr) -> dict[str, nw.Expr]:
    """Add up the items of one kind, and the invoices that they are on."""
    there = counted & (C(name) > 0) & (C("_total") > 0)
    return {
        f"on{name}": as_float(there).sum(),
        f"sum{name}": value_if(there, name).sum(),
        f"total{name}": value_if(there, "_total").sum(),
    }


def warn_of_other_units(figure: str, counts: Mapping[str, float]) -> bool:
    """Warn of invoices that seem to be in another unit than the items on them; return whether time is too small."""
    warn_of_no_worth(figure, counts["rows"], counts["gross"])
    if counts["low"] >= _SEVERAL and counts["low_worth"] * 2 > counts["worth"]:
        _warn(figure, f"{int(counts['low'])} invoices bill about a hundredth of what the time on them is worth",
              "the time entries")  # fmt: skip
    for name, times in (("expenses", _COSTS), ("fixed_fees", _FEES)):
        on, items, total = (counts[f"{what}_{name}"] for what in ("on", "sum", "total"))
        if on >= _SEVERAL and items > times * total:
            words = name.replace("_", " ")
            _warn(figure, f"{words} of {items:,.2f} are on {int(on)} invoices that bill {total:,.2f} in all",
                  f"the {words}")  # fmt: skip
    if counts["high"] < _SEVERAL or counts["high"] * 2 <= counts["over"]:
        return False
    _warn(figure, f"{int(counts['high'])} invoices bill about a hundred times what the time on them is worth",
          "the invoices")  # fmt: skip
    return True


def warn_of_no_worth(figure: str, rows: float, worth: float) -> None:
    """Warn of billable time of which all is worth 0: hidden amounts are missing, and somebody filled them in."""
    if rows >= _MANY and worth == 0:
        warn(
            f"{figure}: amount is 0 in all of the {int(rows)} billable time entries. If rates are hidden, amounts are "
            "missing, not 0: don't fill them in, so that figures that need them are missing too.",
            IncompleteDataWarning,
        )


def _warn(figure: str, what: str, frame: str) -> None:
    warn(
        f"{figure}: {what}. Are {frame} in cents, or in another currency, and the other frames not? Convert all "
        "amounts to one unit.",
        IncompleteDataWarning,
    )


def warn_of_high_rates(kind: str, rates: Rates, worth: float, hours: float) -> None:
    """
    Warn of rates that are far above what hours are worth: a month's or a year's pay, or cents.

    Parameters
    ----------
    kind : {"cost", "standard"}
    rates : mapping of user to rate
        Of the settings.
    worth, hours : float
        Of billable time whose worth is known, to compare with.
    """
    if not (worth > 0 and hours > 0):
        return
    high = {user: max(_values(rate)) for user, rate in rates.items() if max(_values(rate)) > _TOO_HIGH * worth / hours}
    if high:
        few = first_few([f"{user}: {rate:,.2f}" for user, rate in sorted(high.items())])
        warn(
            f"{kind}_rates of the settings are money an hour, but these are more than {_TOO_HIGH:g} times what an hour "
            f"of billable time is worth on average ({worth / hours:,.2f}): {few}. Divide a year's or a month's pay by "
            "the hours worked in it, and cents by 100.",
            IncompleteDataWarning,
        )


def _values(rate: float | Mapping[object, float]) -> Sequence[float]:
    return list(rate.values()) if isinstance(rate, Mapping) else [rate]
