"""Warn of money in two units: cents beside whole units, or a year's pay as the cost of an hour.

One frame alone does not tell its unit, and a currency has no usual size. Two numbers that have to fit each other do:
an invoice and the work on it, the cost of an hour and what it is billed at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals.stable.v2 as nw

from billframes._messages import warn
from billframes._names import first_few
from billframes.analysis.column_types import Frame
from billframes.analysis.expressions import Rates, as_float, count_if, value_if
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


def count_other_units(invoices: Frame) -> tuple[Frame, dict[str, nw.Expr]]:
    """
    Count invoices that seem to be in another unit than the items on them; see `warn_of_other_units`.

    Parameters
    ----------
    invoices : Frame
        With `_counted`, whether the analysis counts the invoice, and `_known`, whether the worth of its time is known.

    Returns
    -------
    Frame, dict of str to Expr
        The invoices with the conditions that several counts share, and the counts.
    """
    net, worth = C("_net"), C("_worth").fill_null(0.0)
    on = {name: f"_on{name}" for name in ("_expenses", "_fixed_fees")}
    invoices = invoices.with_columns(
        _timed=C("_counted") & C("_known") & (net > 0) & (worth > 0),
        **{mark: C("_counted") & (C(name) > 0) & (C("_total") > 0) for name, mark in on.items()},
    )
    invoices = invoices.with_columns(_low=C("_timed") & (net * _LEAST < worth) & (net * _MOST > worth))
    counts = {
        "low": count_if(C("_low")),
        "low_worth": value_if(C("_low"), worth).sum(),
        "worth": value_if(C("_timed"), worth).sum(),
        "high": count_if(C("_timed") & (net > worth * _LEAST) & (net < worth * _MOST)),
        "rows": C("_rows").fill_null(0.0).sum(),
        "gross": (C("_gross_worth") + as_float(C("_hidden") > 0)).sum(),
    }
    for name, mark in on.items():
        counts[f"on{name}"] = count_if(C(mark))
        counts[f"sum{name}"] = value_if(C(mark), name).sum()
        counts[f"total{name}"] = value_if(C(mark), "_total").sum()
    return invoices, counts


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
