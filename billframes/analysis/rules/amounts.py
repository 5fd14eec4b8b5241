"""Warn of amounts that are hidden, and of amounts in different units: one frame in cents, or a year's pay as a rate.

The amounts of one frame don't show their unit. Two amounts that must fit each other do: an invoice and the work on it,
or the cost of an hour and its fees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals.stable.v2 as nw

from billframes._messages import warn
from billframes._names import first_few
from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.expressions import Rates, as_float, count_if, value_if
from billframes.analysis.frames.values import said_once
from billframes.errors import IncompleteDataWarning, RatesHiddenWarning

__all__ = [
    "count_other_units",
    "warn_of_hidden_rates",
    "warn_of_high_rates",
    "warn_of_no_worth",
    "warn_of_other_units",
]

C = nw.col

# Amounts in cents are 100 times too high. The range allows for write-downs, but not for nominal fees of pro bono work.
_LEAST, _MOST = 40.0, 400.0
# Rates per hour are lower, but in cents they are higher.
_HIGHEST_RATE = 4_000.0
# Fewer invoices are exceptions.
_SEVERAL = 5
# Items on several invoices are too high if they are so many times the invoices' amounts. Expenses are seldom waived,
# and fixed fees are seldom reduced to a tenth.
_EXPENSES, _FIXED_FEES = 3.0, 10.0
# If there are fewer entries, all of them may be free of charge.
_MANY = 50
# A cost rate or standard rate is never so many times the average worth of an hour.
_TOO_HIGH = 10.0


def count_other_units(invoices: Frame) -> tuple[Frame, dict[str, nw.Expr]]:
    """
    Count invoices that seem to be in another unit than the items on them, for `warn_of_other_units`.

    Parameters
    ----------
    invoices : Frame
        From `allocation_rates`, with `_counted`, whether the analysis counts the invoice, and `_known`, whether the
        worth of its time is known.

    Returns
    -------
    Frame, dict of str to Expr
        The invoices with columns that several counts need, and the counts.
    """
    net, worth = C("_net"), C("_worth").fill_null(0.0)
    on = {name: f"_on{name}" for name in ("_expenses", "_fixed_fees")}
    invoices = invoices.with_columns(
        _timed=C("_counted") & C("_known") & (net > 0) & (worth > 0),
        **{mark: C("_counted") & (C(name) > 0) & (C("_total") > 0) for name, mark in on.items()},
    )
    # Work at usual rates can be billed at a hundredth of its worth; rates in cents are unusual.
    in_cents = worth > C("_hours").fill_null(0.0) * _HIGHEST_RATE
    invoices = invoices.with_columns(_low=C("_timed") & in_cents & (net * _LEAST < worth) & (net * _MOST > worth))
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
    """
    Warn of invoices that seem to be in another unit than the items on them.

    Returns True if the invoices bill about a hundred times the worth of their time.
    """
    warn_of_no_worth(figure, counts["rows"], counts["gross"])
    if counts["low"] >= _SEVERAL and counts["low_worth"] * 2 > counts["worth"]:
        _warn(
            figure,
            f"{int(counts['low'])} invoices bill about a hundredth of the worth of their time",
            "the time entries",
        )
    for name, limit in (("expenses", _EXPENSES), ("fixed_fees", _FIXED_FEES)):
        invoices, items, total = (counts[f"{count}_{name}"] for count in ("on", "sum", "total"))
        if invoices >= _SEVERAL and items > limit * total:
            words = name.replace("_", " ")
            _warn(
                figure,
                f"{words} of {items:,.2f} are on {int(invoices)} invoices that bill {total:,.2f} in all",
                f"the {words}",
            )
    if counts["high"] < _SEVERAL or counts["high"] * 2 <= counts["over"]:
        return False
    _warn(figure, f"{int(counts['high'])} invoices bill about a hundred times the worth of their time", "the invoices")
    return True


def warn_of_hidden_rates(count: float, consequence: str, which: str = "") -> None:
    """
    Warn of billable time without amounts, if there is any; once, if an analysis calls others.

    Parameters
    ----------
    count : float
        The number of entries.
    consequence : str
        The consequence for the figures: a main clause.
    which : str
        Which entries these are, such as " on open invoices".
    """
    said = said_once()
    if not count or "hidden rates" in said:
        return
    said.add("hidden rates")
    entries = "1 billable time entry" if count == 1 else f"{round(count):,} billable time entries"
    warn(
        f"{entries}{which} {'has' if count == 1 else 'have'} no amount (the credential may lack read.rates); "
        f"{consequence}.",
        RatesHiddenWarning,
    )


def warn_of_no_worth(figure: str, rows: float, worth: float) -> None:
    """Warn if the worth of all billable time is 0: hidden amounts are missing values, and were probably filled in."""
    if rows >= _MANY and worth == 0:
        warn(
            f"{figure}: amount is 0 in all of the {int(rows)} billable time entries. If rates are hidden, amounts are "
            "missing, not 0. Don't fill them in, so that figures that need them are missing, too.",
            IncompleteDataWarning,
        )


def _warn(figure: str, observation: str, frame: str) -> None:
    warn(
        f"{figure}: {observation}. {frame.capitalize()} may be in cents, or in another currency, and the other frames "
        "not: convert all amounts to one unit.",
        IncompleteDataWarning,
    )


def warn_of_high_rates(kind: str, rates: Rates, worth: float, hours: float) -> None:
    """
    Warn of rates far above the worth of an hour, such as a year's pay, or a rate in cents.

    Parameters
    ----------
    kind : {"cost", "standard"}
    rates : mapping of user to rate
        The rates in the settings.
    worth, hours : float
        The sums for billable time with known worth, for the comparison.
    """
    if not (worth > 0 and hours > 0):
        return
    high = {user: max(_values(rate)) for user, rate in rates.items() if max(_values(rate)) > _TOO_HIGH * worth / hours}
    if high:
        few = first_few([f"{user}: {rate:,.2f}" for user, rate in sorted(high.items())])
        warn(
            f"{kind}_rates of the settings are money per hour, but these are more than {_TOO_HIGH:g} times the average "
            f"worth of an hour of billable time ({worth / hours:,.2f}): {few}. Divide a year's or a month's pay by the "
            "hours worked in it, and cents by 100.",
            IncompleteDataWarning,
        )


def _values(rate: float | Mapping[object, float]) -> Sequence[float]:
    return list(rate.values()) if isinstance(rate, Mapping) else [rate]
