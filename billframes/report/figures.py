"""The headline figures of a month beside those of earlier periods, and people's targets beside their figures.

Headlines are compared with the month before and the same month a year ago, and years to date with each other. Targets
of client hours and fees billed are for the month and for the year to date.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from billframes._shared.format import format_change, format_number, long_date
from billframes.analysis.data.expressions import quotient
from billframes.analysis.declare.lookup import measure, measures
from billframes.analysis.declare.metrics import Measure, ratio_measure, sum_measure
from billframes.analysis.facts.capacity import prorated_targets
from billframes.report.month import A_UNIT, LEAST_HOURS, Month
from billframes.report.month_days import YEAR
from billframes.report.page_table import Cell, is_outside, outside_notes, unit_of
from billframes.report.table_spec import MakeTable, ReportTable, to_date

NAN = math.nan
PERIODS = ("now", "before", "year_ago", "to_date", "year_ago_to_date")
"""The fields of a `Headline` that have its figures."""


@dataclass(frozen=True)
class Headline:
    """
    One headline figure of five periods, which are NaN if it is unknown.

    The mark is "*" if earlier months are shown as of today, and "†" if no earlier figure is known. `group` is the
    heading above it, `column` that of an analysis, and `shown_unit` the unit beside its name.
    """

    name: str
    unit: str
    now: float
    before: float = NAN
    year_ago: float = NAN
    to_date: float = NAN
    year_ago_to_date: float = NAN
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
    def by_period(self) -> tuple[float, ...]:
        """The figures of this month, last month, a year ago, the year to date, and last year to the same month."""
        return (self.now, self.before, self.year_ago, self.to_date, self.year_ago_to_date)

    @property
    def cells(self) -> list[Cell]:
        """The texts: this month, last month and change, a year ago and change, both years to date and change."""
        texts = [self._cell(self.now)]
        for then in (self.before, self.year_ago):
            texts += [self._cell(then), self._change(self.now, then)]
        return [*texts, *map(self._cell, self.by_period[3:]), self._change(self.to_date, self.year_ago_to_date)]

    @property
    def is_part(self) -> bool:
        """Whether the figure is a part of the one above it."""
        return self.name.startswith("of which")

    def why_outside(self) -> list[str]:
        """Say what a ratio below 0% or above 100% means."""
        if not self.measure:
            return []
        return outside_notes([""] * len(self.by_period), self.by_period, self.measure)

    def _cell(self, value: float) -> Cell:
        is_out = self.measure is not None and is_outside(value, self.measure)
        return Cell(format_number(value, self.unit), is_out, value < self.limit)

    def _change(self, now: float, then: float) -> Cell:
        return Cell("" if self.mark else format_change(now, then, self.unit))


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
    fees = [each.get("fees_amount", NAN) - each.get("billed_amount", NAN) for each in columns]
    if not any(abs(each) >= A_UNIT for each in fees):
        names = tuple(name for name in names if name != "fees_amount")
    if not any(abs(each.get("fixed_fee_amount", NAN)) >= A_UNIT for each in columns):
        names = tuple(name for name in names if name != "fixed_fee_amount")
    return [
        Headline(
            found.title,
            found.unit,
            **dict(zip(PERIODS, (float(each.get(name, NAN)) for each in columns), strict=True)),
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
        "receivables": f"Receivables aged to {day}{with_balances}",
        "work": f"Work in progress on {day}",
        "lockup": f"Lock-up on {day}{with_balances}",
    }
    earlier = [each.by_name if each else {} for each in month.earlier_balances]
    return [
        Headline(
            name,
            unit,
            month.balances[name],
            earlier[0].get(name, NAN),
            earlier[1].get(name, NAN),
            mark="" if any(earlier) else "†",
            group=groups[group],
            column=column,
            shown_unit=unit_of(name, unit, month.currency),
        )
        for name, unit, group, column in _BALANCES
        if not (group == "lockup" and month.why_no_lockup)
    ]


# Name, unit, group, column.
_BALANCES = (
    ("Receivables", "money", "receivables", "total"),
    ("of which overdue", "money", "receivables", "overdue"),
    ("of which unused credits", "money", "receivables", "credit_amount"),
    ("Overdue share", "ratio", "receivables", "overdue_share"),
    ("Work in progress", "money", "work", "total"),
    ("of which older than 90 days", "money", "work", "91+"),
    ("On contingency", "money", "work", "contingent_amount"),
    ("Lock-up", "days", "lockup", "lockup_days"),
    ("of which work in progress", "days", "lockup", "wip_days"),
    ("of which receivables", "days", "lockup", "receivable_days"),
)


def targets(kind: Literal["hours", "fees"]) -> MakeTable:
    """Return a table with one row for each person who has a target of hours or of fees."""
    title = {"hours": "Client hours and targets", "fees": "Fees billed and targets"}[kind]
    meaning = {
        "hours": "Target attainment is client hours ÷ target hours.",
        "fees": "Target reached is fees billed ÷ target fees. Fees billed are on invoices of these days.",
    }[kind]

    def make(month: Month) -> ReportTable | None:
        settings = month.settings_by_id
        ids = list(settings.targets_of(kind))
        if not ids:
            return None
        people = month.firm_book.users.set_index("user_id")["name"].reindex(ids)
        rows = month.with_distinct_names(
            pd.DataFrame({"user_id": ids, "user_name": people.fillna("Unknown").to_list()}, dtype="str")
        )
        for end, first in (("", month.counted_from), ("_to_date", month.first_of_year)):
            amounts = _reached(month, kind, first)
            rows[f"reached{end}"] = [float(amounts.get(each, 0.0)) for each in ids]
            goals = prorated_targets(settings, kind, first, month.last)
            rows[f"target{end}"] = [goals[each] for each in ids]
            rows[f"pace{end}"] = rows[f"reached{end}"] / rows[f"target{end}"].where(rows[f"target{end}"] > 0)
        columns = [
            replace(declared, name=name, ratios=(), formula="reached / target" if name == "pace" else "")
            for name, declared in zip(("reached", "target", "pace"), _target_columns(kind), strict=True)
        ]
        rows = rows.sort_values("pace", ascending=False, kind="stable", ignore_index=True)
        idle = (rows["reached"].abs() < LEAST_HOURS) & (kind == "hours")
        sums = rows.loc[~idle, [name for name in rows if str(name).startswith(("reached", "target"))]].sum()
        whole = {f"pace{end}": quotient(sums[f"reached{end}"], sums[f"target{end}"]) for end in ("", "_to_date")}
        told = ("Targets are the firm’s own, prorated by working days.", meaning)
        return ReportTable(
            title=title,
            label="user_name",
            labels=("user_name",),
            columns=(
                *columns,
                *(to_date(each, each.formula and "reached_to_date / target_to_date") for each in columns),
            ),
            rows=rows[~idle].reset_index(drop=True),
            total=pd.DataFrame([{**sums, **whole}]),
            # The firm's total is that of everyone.
            total_name="All with a target",
            meaning=told,
            top=0,
            notes=_without_hours(rows[idle], month),
        )

    return make


def _target_columns(kind: Literal["hours", "fees"]) -> tuple[Measure, ...]:
    if kind == "hours":
        return tuple(measures()[name] for name in ("client_hours", "target_hours", "pace"))
    return (measures()["billed_amount"], *_TARGET_OF_FEES)


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
    year = ("reached_to_date", "target_to_date")
    people = [
        f"{row['user_name']} (year to date: {' of '.join(format_number(row[name], 'hours') for name in year)})"
        for row in idle.to_dict("records")
    ]
    return (f"With a target and without client hours in {month.name}: {', '.join(people)}.",) if people else ()


def _reached(month: Month, kind: str, first: dt.date) -> dict[str, float]:
    analysis, column = {"hours": ("utilization", "client_hours"), "fees": ("realization", "billed_amount")}[kind]
    found = month.result(analysis, by="user", start=first, end=month.last).set_index("user_id")[column]
    return {str(name): float(value) for name, value in found.dropna().items()}
