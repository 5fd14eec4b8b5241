"""Rules of amounts that are hidden, and of amounts in different units: one frame in cents, or a year's pay as a rate.

The amounts of one frame don't show their unit. Two amounts that must fit each other do: an invoice and the work on it,
or the cost of an hour and its fees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals.stable.v2 as nw

from billframes._names import first_few
from billframes._notes import Notes, Rule
from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.expressions import Rates, as_float, count_if, value_if
from billframes.errors import RatesHiddenWarning

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

HIDDEN_RATES = Rule(
    name="hidden_rates",
    seen="{n} billable time {n:entry|entries}{which} {n:has|have} no amount (the credential may lack read.rates); "
    "{consequence}.",
    remedy="Load them with a credential that may read rates.",
    page="Ask whoever manages the billing system for the right to read rates.",
    unit="entries",
    category=RatesHiddenWarning,
)
UNPRICED = Rule(
    name="unpriced",
    seen="{n} of the billable time entries in progress {n:has|have} no amount, although others have one{ids}. "
    "{n:It is|They are} not in amounts, but `unpriced_hours` has {n:its|their} time ({hours:,.2f} hours).",
    causes="They may have no rate, or one that this credential may not read.",
    remedy="If they have none, give them a rate and load again.",
    page="If they have none, give them a rate in the billing system.",
    unit="entries",
)
_NO_WORTH = Rule(
    name="no_worth",
    seen="{subject}: amount is 0 in all of the {n} billable time entries.",
    causes="Hidden amounts, which are missing, may have been filled with 0, or the entries may have no rates.",
    remedy="Leave hidden amounts missing, so that figures that need them are missing, too.",
    page="Look at the rates in the billing system.",
    unit="entries",
)
_OTHER_UNIT = Rule(
    name="other_unit",
    seen="{subject}: {observation}. {frame} may be in cents, or in another currency, and the other amounts not.",
    remedy="Convert all amounts to one unit.",
    page="Look at the amounts of a few invoices and their items in the billing system.",
    unit="invoices",
)
_HIGH_RATES = Rule(
    name="high_rates",
    seen="`{kind}_rates` of the settings are money per hour, but these are more than {most:g} times the average value "
    "of an hour of billable time ({worth:,.2f}): {few}.",
    causes="They may be pay of a year or a month, or in cents.",
    remedy="Divide a year's or a month's pay by the hours worked in it, and cents by 100.",
    page="Ask whoever keeps the firm's settings to correct them.",
    book="Divide a year's or a month's pay by the hours worked in it, and cents by 100.",
    unit="rates",
)


def count_other_units(invoices: Frame) -> tuple[Frame, dict[str, nw.Expr]]:
    """
    Count invoices that seem to be in another unit than the items on them, for `note_other_units`.

    The invoices are from `allocation_rates`, with `_counted`, whether the analysis counts them, and `_known`, whether
    the value of their time is known. They are returned with columns that several counts need.
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


def note_other_units(notes: Notes, counts: Mapping[str, float]) -> bool:
    """
    Note invoices that seem to be in another unit than the items on them.

    Returns True if the invoices bill about a hundred times the value of their time.
    """
    note_no_worth(notes, counts["rows"], counts["gross"])

    def note(invoices: float, observation: str, frame: str) -> None:
        notes.add(_OTHER_UNIT, invoices, about=frame, observation=observation, frame=frame)

    if counts["low"] >= _SEVERAL and counts["low_worth"] * 2 > counts["worth"]:
        seen = f"{int(counts['low'])} invoices bill about a hundredth of the value of their time"
        note(counts["low"], seen, "The time entries")
    for name, limit in (("expenses", _EXPENSES), ("fixed_fees", _FIXED_FEES)):
        invoices, items, total = (counts[f"{count}_{name}"] for count in ("on", "sum", "total"))
        if invoices >= _SEVERAL and items > limit * total:
            words = name.replace("_", " ")
            seen = f"{words} of {items:,.2f} are on {int(invoices)} invoices that bill {total:,.2f} in all"
            note(invoices, seen, f"The {words}")
    if counts["high"] < _SEVERAL or counts["high"] * 2 <= counts["over"]:
        return False
    seen = f"{int(counts['high'])} invoices bill about a hundred times the value of their time"
    note(counts["high"], seen, "The invoices")
    return True


def note_no_worth(notes: Notes, rows: float, worth: float) -> None:
    """Note that the value of all billable time is 0: hidden amounts are missing values, and were probably filled in."""
    if rows >= _MANY and worth == 0:
        notes.add(_NO_WORTH, rows)


def note_high_rates(notes: Notes, kind: str, rates: Rates, worth: float, hours: float) -> None:
    """
    Note rates of the settings far above the value of an hour, such as a year's pay, or a rate in cents.

    `worth` and `hours` are the sums for billable time with known value.
    """
    if not (worth > 0 and hours > 0):
        return
    high = {user: max(_values(rate)) for user, rate in rates.items() if max(_values(rate)) > _TOO_HIGH * worth / hours}
    few = first_few([f"{user}: {rate:,.2f}" for user, rate in sorted(high.items())])
    notes.add(_HIGH_RATES, len(high), "settings", about=kind, kind=kind, most=_TOO_HIGH, worth=worth / hours, few=few)


def _values(rate: float | Mapping[object, float]) -> Sequence[float]:
    return list(rate.values()) if isinstance(rate, Mapping) else [rate]
