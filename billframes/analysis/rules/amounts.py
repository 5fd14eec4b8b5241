"""Rules of amounts that are hidden, and of amounts in different units: one frame in cents, or a year's pay as a rate.

The amounts of one frame don't show their unit. Two amounts that must fit each other do: an invoice and the work on it,
or the cost of an hour and its fees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from billframes._shared.names import first_few
from billframes._shared.notes import Amount, Notes, Rule
from billframes.analysis.facts.rates import Rates
from billframes.errors import RatesHiddenWarning

# A cost rate or standard rate is never so many times the average value of an hour.
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


def note_high_rates(notes: Notes, kind: str, rates: Rates, worth: float, hours: float) -> None:
    """
    Note rates of the settings far above the value of an hour, such as a year's pay, or a rate in cents.

    `worth` and `hours` are the sums for billable time with known value.
    """
    if not (worth > 0 and hours > 0):
        return
    high = {user: max(_values(rate)) for user, rate in rates.items() if max(_values(rate)) > _TOO_HIGH * worth / hours}
    few = first_few([f"{user}: {Amount(rate):,.2f}" for user, rate in sorted(high.items())])
    notes.add(_HIGH_RATES, len(high), "settings", about=kind, kind=kind, most=_TOO_HIGH, worth=worth / hours, few=few)


def _values(rate: float | Mapping[object, float]) -> Sequence[float]:
    return list(rate.values()) if isinstance(rate, Mapping) else [rate]
