"""The headline figures of a month beside those of earlier periods, and people's targets beside their figures.

Headlines are compared with the month before and the same month a year ago, and years to date with each other. Targets
of client hours and fees billed are for the month and for the year to date.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from billframes._shared.format import format_change, format_number, long_date
from billframes.analysis.data.expressions import quotient
from billframes.analysis.declare.lookup import measure, measures
from billframes.analysis.declare.metrics import Measure, ratio_measure, sum_measure
from billframes.analysis.facts.capacity import prorated_targets
from billframes.report.history import BALANCES
from billframes.report.month import A_UNIT, LEAST_HOURS, Month
from billframes.report.month_days import YEAR
from billframes.report.page_table import Cell, is_outside, outside_notes, unit_of
from billframes.report.table_spec import ReportTable, to_date

NAN = math.nan


@dataclass(frozen=True)
class Headline:
    """
    One headline figure of this month, last month, a year ago, the year to date, and last year to the same month.

    Unknown figures are NaN. The mark is "*" if earlier months are shown as of today, and "†" if no earlier figure is
    known. `group` is the heading above it, `column` that of an analysis, and `shown_unit` the unit beside its name.
    """

    name: str
    unit: str
    by_period: tuple[float, ...]
    mark: str = ""
    group: str = ""
    column: str = ""
    shown_unit: str = ""
    limit: float = NAN

    @property
    def measure(self) -> Measure | None:
        """The declaration of its column."""
        return _NOT_IN_ANALYSES.get(self.column) or measure(self.column)

    @property
    def changes(self) -> list[tuple[float, float]]:
        """The figures that are compared, each with the earlier one."""
        now, before, year_ago, to_date, year_ago_to_date = self.by_period
        return [(now, before), (now, year_ago), (to_date, year_ago_to_date)]

    @property
    def cells(self) -> list[Cell]:
        """The texts: this month, last month and change, a year ago and change, both years to date and change."""
        now, before, year_ago, *years = map(self._cell, self.by_period)
        changes = [Cell("" if self.mark else format_change(*each, self.unit)) for each in self.changes]
        return [now, before, changes[0], year_ago, changes[1], *years, changes[2]]

    @property
    def is_part(self) -> bool:
        """Whether the figure is a part of the one above it."""
        return self.name.startswith("of which")

    def why_outside(self) -> list[str]:
        """Say what a ratio below 0% or above 100% means."""
        return outside_notes([""] * len(self.by_period), self.by_period, self.measure) if self.measure else []

    def _cell(self, value: float) -> Cell:
        is_out = self.measure is not None and is_outside(value, self.measure)
        return Cell(format_number(value, self.unit), is_out, value < self.limit)


_OVERDUE_SHARE = Measure(
    "overdue_share",
    "Overdue share",
    "ratio",
    "Overdue ÷ receivables before unused credits.",
    formula="overdue / (total - credit_amount)",
)
_NOT_FINAL = sum_measure(
    "not_final_amount",
    "of which on no final invoice yet",
    "money",
    "Value of the month’s billable time on no invoice, or on one that is not final.",
)
_NOT_IN_ANALYSES = {each.name: each for each in (_OVERDUE_SHARE, _NOT_FINAL)}
# Columns, whose titles are the figures' names.
_WORK = ("client_hours", "utilization", "cohort_amount", _NOT_FINAL.name)
_BILLING = (
    "fees_amount",
    "billed_amount",
    "fixed_fee_amount",
    "worked_amount",
    "write_down_amount",
    "billing_realization",
    "settlement_ratio",
)
# These change after the month ends, so earlier months had more time to change.
_STILL_CHANGING = frozenset({_NOT_FINAL.name, "settlement_ratio"})


def headings(month: Month) -> list[str]:
    """Return the headings of a headline's periods. A year to date of one month is not headed like the month."""
    months = [month.same_days_name(back) for back in (0, 1, YEAR)]
    years = (month.to_date_name(), month.to_date_name(1))
    return [*months, *(f"Year to {each.rpartition('–')[2]}" if each in months else each for each in years)]


def limits(month: Month) -> dict[str, tuple[float, str]]:
    """Return the firm's limits by figure, and what each is called; a figure below its limit is a breach."""
    found = {
        "billing_realization": (month.settings.realization_floor, "floor"),
        "utilization": (month.settings.firm_target.get("utilization"), "target"),
    }
    return {name: (limit, noun) for name, (limit, noun) in found.items() if limit is not None}


def figures(month: Month) -> list[Headline]:
    """Compute the headline figures in the order of the report."""
    rows = [
        *_compared(month, _WORK, f"Work done in the {month.noun}"),
        *_compared(month, _BILLING, f"Invoices dated in the {month.noun}"),
        *_open(month),
    ]
    # A ratio of nothing is left out; an amount can be hidden.
    known = [each for each in rows if each.unit != "ratio" or any(map(math.isfinite, each.by_period))]
    return [each for each in known if not (month.scope and each.name == "Utilization")]


def _compared(month: Month, names: tuple[str, ...], group: str) -> list[Headline]:
    columns = [month.figures(back) if back in (0, *month.comparisons) else {} for back in (0, 1, YEAR)]
    columns += [month.to_date(), month.to_date(1)] if month.year_start != month.first else [{}, {}]
    for each in columns:
        each[_NOT_FINAL.name] = each.get("unbilled_amount", NAN) + each.get("prebill_amount", NAN)
    # All fees have a row if they are not the same as those for time.
    parts = {
        "fees_amount": [each.get("fees_amount", NAN) - each.get("billed_amount", NAN) for each in columns],
        "fixed_fee_amount": [each.get("fixed_fee_amount", NAN) for each in columns],
    }
    names = tuple(name for name in names if any(abs(each) >= A_UNIT for each in parts.get(name, [math.inf])))
    return [
        Headline(
            found.title,
            found.unit,
            tuple(float(each.get(name, NAN)) for each in columns),
            mark="*" if name in _STILL_CHANGING else "",
            group=group,
            column=name,
            shown_unit=unit_of(found.title, found.unit, month.currency),
            limit=limits(month).get(name, (NAN, ""))[0],
        )
        for name, found in ((name, _NOT_IN_ANALYSES.get(name) or measures()[name]) for name in names)
    ]


def _open(month: Month) -> list[Headline]:
    day = long_date(month.as_of)
    with_balances = f", with the balances of {long_date(month.balances_day)}" if month.balances_day else ""
    groups = {
        "aging": f"Receivables aged to {day}{with_balances}",
        "wip": f"Work in progress on {day}",
        "lockup": f"Lock-up on {day}{with_balances}",
    }
    earlier = [each.by_name if each else {} for each in month.earlier_balances]
    return [
        Headline(
            name,
            unit,
            (month.balances[name], *(each.get(name, NAN) for each in earlier), NAN, NAN),
            mark="" if any(earlier) else "†",
            group=groups[group],
            column=column,
            shown_unit=unit_of(name, unit, month.currency),
        )
        for name, unit, group, column in BALANCES
        if not (group == "lockup" and month.why_no_lockup)
    ]


# The title of the table, what its figures mean, and the analysis and the column of what is reached.
_TARGETS = {
    "hours": (
        "Client hours and targets",
        "Target attainment is client hours ÷ target hours.",
        ("utilization", "client_hours"),
    ),
    "fees": (
        "Fees billed and targets",
        "Target reached is fees billed ÷ target fees. Fees billed are on invoices of these days.",
        ("realization", "billed_amount"),
    ),
}


def targets(kind: Literal["hours", "fees"], month: Month) -> ReportTable | None:
    """Return a table with one row for each person who has a target of hours or of fees; None if nobody has."""
    settings = month.settings_by_id
    ids = list(settings.targets_of(kind))
    if not ids:
        return None
    title, meaning, (analysis, column) = _TARGETS[kind]
    people = month.firm_book.users.set_index("user_id")["name"].reindex(ids)
    rows = month.with_distinct_names(
        pd.DataFrame({"user_id": ids, "user_name": people.fillna("Unknown").to_list()}, dtype="str")
    )
    for end, first in (("", month.counted_from), ("_to_date", month.first_of_year)):
        found = month.result(analysis, by="user", start=first, end=month.last).set_index("user_id")[column]
        reached, goals = found.dropna().to_dict(), prorated_targets(settings, kind, first, month.last)
        rows[f"reached{end}"] = [float(reached.get(each, 0.0)) for each in ids]
        rows[f"target{end}"] = [goals[each] for each in ids]
        rows[f"pace{end}"] = rows[f"reached{end}"] / rows[f"target{end}"].where(rows[f"target{end}"] > 0)
    rows = rows.sort_values("pace", ascending=False, kind="stable", ignore_index=True)
    idle = (rows["reached"].abs() < LEAST_HOURS) & (kind == "hours")
    rows, without = rows[~idle].reset_index(drop=True), rows[idle]
    sums = rows.filter(regex="^(reached|target)").sum()
    whole = {f"pace{end}": quotient(sums[f"reached{end}"], sums[f"target{end}"]) for end in ("", "_to_date")}
    return ReportTable(
        title=title,
        label="user_name",
        labels=("user_name",),
        columns=_target_columns(kind),
        rows=rows,
        total=pd.DataFrame([{**sums, **whole}]),
        # The firm's total is that of everyone.
        total_name="All with a target",
        meaning=("Targets are the firm’s own, prorated by working days.", meaning),
        top=0,
        notes=_without_hours(without, month),
    )


def _target_columns(kind: Literal["hours", "fees"]) -> tuple[Measure, ...]:
    declared = [measures()[name] for name in ("client_hours", "target_hours", "pace")]
    if kind == "fees":
        declared = [measures()["billed_amount"], *_TARGET_OF_FEES]
    columns = [
        replace(each, name=name, ratios=(), formula="reached / target" if name == "pace" else "")
        for name, each in zip(("reached", "target", "pace"), declared, strict=True)
    ]
    return (*columns, *(to_date(each, each.formula and "reached_to_date / target_to_date") for each in columns))


_TARGET_OF_FEES = (
    sum_measure("target_amount", "Target fees", "money", "The target, prorated by working days."),
    ratio_measure(
        "target_ratio",
        "Target reached",
        "billed_amount / target_amount",
        "Fees billed ÷ target fees.",
        below="credits exceed the fees billed",
    ),
)


def _without_hours(idle: pd.DataFrame, month: Month) -> tuple[str, ...]:
    """Name the people who have a target but no client hours in the month, with their year to date."""
    people = [
        f"{row['user_name']} (year to date: {format_number(row['reached_to_date'], 'hours')} of "
        f"{format_number(row['target_to_date'], 'hours')})"
        for row in idle.to_dict("records")
    ]
    return (f"With a target and without client hours in {month.name}: {', '.join(people)}.",) if people else ()
