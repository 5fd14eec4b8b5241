"""Split the change of a ratio, or of fees billed, into parts that add up to it exactly, by the midpoint rule.

The change of a product a * b is mean(a) * change(b) + mean(b) * change(a). These two parts have no rest, and don't
depend on an order. A ratio of sums is Σ w * r, with r a group's ratio and w its share of the denominator. Fees billed
are Σ hours * rate * realization.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from billframes.analysis.data.expressions import RESIDUE, quotient
from billframes.analysis.declare.metrics import Measure, ratio_measure, sum_measure
from billframes.analysis.results.compared_results import BILLED, ENDS, Group, Pair

PARTS = ("part", "whole")
NAN = math.nan


@dataclass(frozen=True, slots=True)
class RatioSplit:
    """Split the change of a ratio into the groups' own change and mix."""

    part: str
    whole: str
    unit: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the two results from which the split is computed."""
        return (self.part, self.whole)

    @property
    def change(self) -> str:
        """The column of a row's whole change."""
        return f"change_{self.unit}"

    @property
    def results(self) -> list[str]:
        """The columns of the split, in order."""
        names = [*ENDS, "own_change", "mix_change", "change"]
        return [*(f"{name}_{self.unit}" for name in names), *(f"{end}_{part}" for end in ENDS for part in PARTS)]

    def rows(self, groups: Sequence[Group]) -> Iterator[dict[str, float]]:
        """Yield the split of each group, by column."""
        parts, wholes = (_sums(groups, name) for name in self.columns)
        of_all = (quotient(parts[0], wholes[0]), quotient(parts[1], wholes[1]))
        for each in groups:
            part, whole = each.figures[self.part], each.figures[self.whole]
            ratios = (quotient(part[0], whole[0]), quotient(part[1], whole[1]))
            filled = _fill_missing(ratios, whole)
            shares = (quotient(whole[0], wholes[0]), quotient(whole[1], wholes[1]))
            above = (filled[0] - of_all[0], filled[1] - of_all[1])
            # A group with a numerator but without a denominator has no ratio. Its numerator is part of its own change.
            rest = [quotient(part[end] - filled[end] * whole[end], wholes[end]) for end in (0, 1)]
            own = _mean(shares) * _change(filled) + rest[1] - rest[0]
            mix = _mean(above) * _change(shares)
            figures = (*ratios, own, mix, own + mix, part[0], whole[0], part[1], whole[1])
            yield dict(zip(self.results, figures, strict=True))


@dataclass(frozen=True, slots=True)
class FeeSplit:
    """Split the change of fees billed into hours, rate, realization and mix."""

    columns: ClassVar[tuple[str, ...]] = (BILLED, "billable_hours", "worked_amount")
    change: ClassVar[str] = "change_amount"

    @property
    def results(self) -> list[str]:
        """The columns of the split, in order."""
        parts = [f"{each}_change_amount" for each in ("hours", "rate", "realization", "mix")]
        details = [f"{end}_{each}" for end in ENDS for each in ("hours", "worked_amount")]
        return ["before_amount", "after_amount", *parts, self.change, *details]

    def rows(self, groups: Sequence[Group]) -> Iterator[dict[str, float]]:
        """Yield the split of each group, by column."""
        billed, hours = (_sums(groups, name) for name in self.columns[:2])
        average = _fill_missing((quotient(billed[0], hours[0]), quotient(billed[1], hours[1])), hours)
        for each in groups:
            yield dict(zip(self.results, _fee_parts(each, average), strict=True))


Split = RatioSplit | FeeSplit


def _fee_parts(group: Group, average: Pair) -> tuple[float, ...]:
    billed, hours, worth = (group.figures[name] for name in FeeSplit.columns)
    hidden = any(math.isnan(each) for each in worth)
    # If the value is hidden, rate and realization are unknown, but their product is known.
    value = billed if hidden else worth
    rates = _fill_missing((quotient(value[0], hours[0]), quotient(value[1], hours[1])), hours)
    realized = _fill_missing((quotient(billed[0], value[0]), quotient(billed[1], value[1])), value)
    effective = (rates[0] * realized[0], rates[1] * realized[1])
    # Fees without hours, such as those of a credit note, are part of the change due to realization.
    rest = [billed[end] - hours[end] * effective[end] for end in (0, 1)]
    above = (effective[0] - average[0], effective[1] - average[1])
    by_hours, mix = _mean(average) * _change(hours), _mean(above) * _change(hours)
    rate = _mean(hours) * _mean(realized) * _change(rates)
    realization = _mean(hours) * _mean(rates) * _change(realized) + rest[1] - rest[0]
    own = (NAN, NAN) if hidden else (rate, realization)
    return (*billed, by_hours, *own, mix, billed[1] - billed[0], hours[0], worth[0], hours[1], worth[1])


def _fill_missing(ratios: Pair, wholes: Pair) -> Pair:
    """Fill the ratio of a new or vanished group with its other ratio, so that its own change is 0."""
    first, second = ratios
    missing = [abs(whole) <= RESIDUE for whole in wholes]
    if all(missing):
        return 0.0, 0.0
    return (second if missing[0] else first), (first if missing[1] else second)


def _mean(pair: Pair) -> float:
    return (pair[0] + pair[1]) / 2


def _change(pair: Pair) -> float:
    return pair[1] - pair[0]


def _sums(groups: Sequence[Group], name: str) -> Pair:
    first, second = (math.fsum(each.figures[name][end] for each in groups) for end in (0, 1))
    return first, second


def _ratio_columns(unit: str, title: str) -> tuple[Measure, ...]:
    units: Any = {"ratio": ("ratio", "points"), "rate": ("rate", "rate")}[unit]
    changes = (
        ("own_change", "Own change", "The change due to the group’s own {0}."),
        (
            "mix_change",
            "Mix",
            "The change due to the group’s share of the whole, at its {0} above or below the whole’s.",
        ),
        ("change", "Change", "Own change + mix: the group’s part in the change of the whole."),
    )
    of_rate = "" if unit == "ratio" else " of the rate"
    return (
        *(
            ratio_measure(
                f"{end}_{unit}",
                f"{title} {end}",
                f"{end}_part / {end}_whole",
                f"The group’s own {unit} {end}.",
                unit=units[0],
            )
            for end in ENDS
        ),
        *(
            sum_measure(
                f"{name}_{unit}",
                f"{heading}{of_rate}",
                units[1],
                meaning.format(unit),
                formula=f"own_change_{unit} + mix_change_{unit}" if name == "change" else "",
            )
            for name, heading, meaning in changes
        ),
    )


def split_columns() -> tuple[Measure, ...]:
    """Return the measures of all splits."""
    terms = dict(zip(PARTS, ("numerator", "denominator"), strict=True))
    return (
        *_ratio_columns("ratio", "Ratio"),
        *_ratio_columns("rate", "Rate"),
        *(
            sum_measure(f"{end}_{name}", f"{term.capitalize()} {end}", "count", f"The {term} {end}, in money or hours.")
            for end in ENDS
            for name, term in terms.items()
        ),
        *_fee_columns(),
    )


def _fee_columns() -> tuple[Measure, ...]:
    details = [
        measure
        for end in ENDS
        for measure in (
            sum_measure(f"{end}_hours", f"Hours {end}", "hours", f"Billable hours on the invoices {end}."),
            sum_measure(f"{end}_worked_amount", f"Value {end}", "money", f"Value of these hours {end}."),
        )
    ]
    return (
        *(sum_measure(f"{end}_amount", f"Fees billed {end}", "money", f"Net billed time fees {end}.") for end in ENDS),
        sum_measure(
            "hours_change_amount",
            "Due to hours",
            "money",
            "The change due to more or fewer hours, at the effective rate of the whole.",
        ),
        sum_measure("rate_change_amount", "Due to rate", "money", "The change due to the value of an hour."),
        sum_measure(
            "realization_change_amount",
            "Due to realization",
            "money",
            "The change due to fees billed ÷ value, and to fees without hours such as credit notes.",
        ),
        sum_measure(
            "mix_change_amount",
            "Due to mix",
            "money",
            "The change due to hours that moved to groups of a higher or lower effective rate.",
        ),
        sum_measure(
            "change_amount",
            "Change of fees billed",
            "money",
            "Fees billed after − before: all four together.",
            formula="after_amount - before_amount",
        ),
        *details,
    )
