"""Split the change of a ratio, or of fees billed, into parts that add up to it exactly, by the midpoint rule.

The change of a product a * b is mean(a) * change(b) + mean(b) * change(a). These two parts have no rest, and don't
depend on an order. A ratio of sums is Σ w * r, with r a group's ratio and w its share of the denominator. Fees billed
are Σ hours * rate * realization.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, cast

import numpy as np

from billframes.analysis.data.expressions import RESIDUE
from billframes.analysis.declare.metrics import Measure, Unit, money, ratio_measure, sum_measure
from billframes.analysis.results.compared_results import ENDS
from billframes.analysis.results.result_rows import Floats, quotients

# Each argument has a figure of each group: those before, and those after.


def split_ratio(part: Floats, whole: Floats, unit: str) -> dict[str, Floats]:
    """Split the change of a ratio into the groups' own change and mix, by column."""
    ratios, wholes = quotients(part, whole), _sums(whole)
    of_all, filled = quotients(_sums(part), wholes), _fill_missing(ratios, whole)
    shares = quotients(whole, wholes)
    # A group with a numerator but without a denominator has no ratio. Its numerator is part of its own change.
    rest = quotients(part - filled * whole, wholes)
    own = _mean(shares) * _change(filled) + rest[1] - rest[0]
    mix = _mean(filled - of_all) * _change(shares)
    figures = dict(zip(ENDS, ratios, strict=True)) | {"own_change": own, "mix_change": mix, "change": own + mix}
    return {f"{name}_{unit}": each for name, each in figures.items()} | _at_both_ends(part=part, whole=whole)


def split_fees(billed: Floats, hours: Floats, worth: Floats) -> dict[str, Floats]:
    """Split the change of fees billed into hours, rate, realization and mix, by column."""
    average = _fill_missing(quotients(_sums(billed), _sums(hours)), _sums(hours))
    # If the value is hidden, rate and realization are unknown, but their product is known.
    hidden = np.isnan(worth).any(axis=0)
    value = np.where(hidden, billed, worth)
    rates = _fill_missing(quotients(value, hours), hours)
    realized = _fill_missing(quotients(billed, value), value)
    effective = rates * realized
    # Fees without hours, such as those of a credit note, are part of the change due to realization.
    rest = billed - hours * effective
    realization = _mean(hours) * _mean(rates) * _change(realized) + rest[1] - rest[0]
    parts = {
        "hours": _mean(average) * _change(hours),
        "rate": np.where(hidden, np.nan, _mean(hours) * _mean(realized) * _change(rates)),
        "realization": np.where(hidden, np.nan, realization),
        "mix": _mean(effective - average) * _change(hours),
    }
    return {
        **_at_both_ends(amount=billed),
        **{f"{name}_change_amount": each for name, each in parts.items()},
        "change_amount": _change(billed),
        **_at_both_ends(hours=hours, worked_amount=worth),
    }


def _at_both_ends(**figures: Floats) -> dict[str, Floats]:
    return {f"{end}_{name}": each[at] for at, end in enumerate(ENDS) for name, each in figures.items()}


def _fill_missing(ratios: Floats, wholes: Floats) -> Floats:
    """Fill the ratio of a new or vanished group with its other ratio, so that its own change is 0."""
    missing = np.abs(wholes) <= RESIDUE
    return np.where(missing.all(axis=0), 0.0, np.where(missing, ratios[::-1], ratios))


def _mean(figures: Floats) -> Floats:
    return cast("Floats", (figures[0] + figures[1]) / 2)


def _change(figures: Floats) -> Floats:
    return cast("Floats", figures[1] - figures[0])


def _sums(figures: Floats) -> Floats:
    return np.array([[math.fsum(each)] for each in figures])


_CHANGES = {
    "own_change": ("Own change", "The change due to the group’s own {0}."),
    "mix_change": ("Mix", "The change due to the group’s share of the whole, at its {0} above or below the whole’s."),
    "change": ("Change", "Own change + mix: the group’s part in the change of the whole."),
}
_FEE_CHANGES = {
    "hours": "The change due to more or fewer hours, at the effective rate of the whole.",
    "rate": "The change due to the value of an hour.",
    "realization": "The change due to fees billed ÷ value, and to fees without hours such as credit notes.",
    "mix": "The change due to hours that moved to groups of a higher or lower effective rate.",
}


def split_columns() -> tuple[Measure, ...]:
    """Return the measures of all splits."""
    terms = {"part": "numerator", "whole": "denominator"}
    return (
        *_ratio_columns("ratio", "points"),
        *_ratio_columns("rate", "rate"),
        *(
            sum_measure(f"{end}_{name}", f"{term.capitalize()} {end}", "count", f"The {term} {end}, in money or hours.")
            for end in ENDS
            for name, term in terms.items()
        ),
        *_fee_columns(),
    )


def _ratio_columns(unit: Literal["ratio", "rate"], unit_of_changes: Unit) -> Iterator[Measure]:
    for end in ENDS:
        pair, meaning = f"{end}_part / {end}_whole", f"The group’s own {unit} {end}."
        yield ratio_measure(f"{end}_{unit}", f"{unit.capitalize()} {end}", pair, meaning, unit=unit)
    for name, (heading, meaning) in _CHANGES.items():
        title = heading if unit == "ratio" else f"{heading} of the rate"
        formula = f"own_change_{unit} + mix_change_{unit}" if name == "change" else ""
        yield sum_measure(f"{name}_{unit}", title, unit_of_changes, meaning.format(unit), formula=formula)


def _fee_columns() -> Iterator[Measure]:
    for end in ENDS:
        yield money(f"{end}_amount", f"Fees billed {end}", f"Net billed time fees {end}.")
    for name, meaning in _FEE_CHANGES.items():
        yield money(f"{name}_change_amount", f"Due to {'the mix of work' if name == 'mix' else name}", meaning)
    change = "Fees billed after − before: all four together."
    yield money("change_amount", "Change of fees billed", change, formula="after_amount - before_amount")
    for end in ENDS:
        yield sum_measure(f"{end}_hours", f"Hours {end}", "hours", f"Billable hours on the invoices {end}.")
        yield money(f"{end}_worked_amount", f"Value {end}", f"Value of these hours {end}.")
