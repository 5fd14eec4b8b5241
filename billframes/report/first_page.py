"""The figures on the report's first page: eight tiles with their twelve months, and the firm's budget.

A figure is compared with the firm's target or floor, with last month and with the same month a year ago. A month that
is not over is compared with the same days. An earlier figure that is not known has no comparison.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from billframes._shared.format import (
    MISSING,
    NOT_COMPARABLE,
    count_of,
    format_change,
    format_number,
    long_date,
    money,
    month_name,
)
from billframes.analysis.declare.lookup import measures
from billframes.analysis.declare.metrics import BUCKET
from billframes.analysis.facts.capacity import share_of_target
from billframes.periods import Period, months_between
from billframes.report.figures import limits, targets
from billframes.report.month import A_UNIT, Month
from billframes.report.month_days import YEAR
from billframes.wings import in_report

# The width and height of a line of twelve months, in pixels, with room for the dot at its end.
_WIDTH, _HEIGHT, _MARGIN = 150.0, 30.0, 4.0
_FEWEST_MONTHS = 3
# The complete months whose mean is the present pace of fees.
_PACE_MONTHS = 3
# What the page answers about figures.
_ASKS = {"client_hours": "hours", "fees_amount": "fees", "billed_amount": "fees", "billing_realization": "realization"}


@dataclass(frozen=True)
class Tile:
    """
    One figure; `state` is its side of the firm's target or floor, and `badge` the same in words.

    `asks` is what the page answers about it. `lines` are comparisons below it, `months` its values in up to twelve
    complete months, the last one last, and `ages` the parts of a balance.
    """

    name: str
    value: str
    unit: str = ""
    lines: tuple[str, ...] = ()
    state: Literal["", "good", "bad"] = ""
    badge: str = ""
    months: tuple[float, ...] = ()
    limit: float = math.nan
    ages: tuple[tuple[str, float], ...] = ()
    asks: str = ""

    @property
    def points(self) -> list[tuple[float, float]]:
        """The line of its months, in pixels; empty if too few months are known."""
        known = [(place, each) for place, each in enumerate(self.months) if math.isfinite(each)]
        if len(known) < _FEWEST_MONTHS:
            return []
        step = (_WIDTH - 2 * _MARGIN) / (len(self.months) - 1)
        return [(round(_MARGIN + place * step, 1), self._height(each)) for place, each in known]

    @property
    def limit_height(self) -> float | None:
        """The height of the target or floor beside the line, in pixels."""
        return self._height(self.limit) if self.points and math.isfinite(self.limit) else None

    @property
    def label(self) -> str:
        """The line in words, for people who don't see it."""
        known = [each for each in self.months if math.isfinite(each)]
        return f"{self.name} of {len(known)} months" if known else ""

    @property
    def shares(self) -> list[tuple[str, float]]:
        """The parts in percent of their sum."""
        whole = sum(max(amount, 0.0) for _, amount in self.ages)
        return [(name, max(amount, 0.0) / whole * 100) for name, amount in self.ages] if whole > 0 else []

    def _height(self, value: float) -> float:
        values = [each for each in (*self.months, self.limit) if math.isfinite(each)]
        low, high = min(values), max(values)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(_HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN), 1)


@dataclass(frozen=True)
class Budget:
    """
    Fees billed in the year to date beside the budget of the whole year, of whose working days `elapsed` are over.

    `year_end` is where the year ends at the present pace; NaN if too few months are known. If the data begin within the
    year, on the day `since`, `target` is the budget from then on, a part of the `whole` one.
    """

    period: str
    billed: float
    target: float
    elapsed: float
    year_end: float
    whole: float
    since: dt.date | None = None

    @property
    def reached(self) -> float:
        """The part of the budget that is billed."""
        return self.billed / self.target

    @property
    def text(self) -> str:
        """The comparison in words."""
        gap = self.billed - self.elapsed * self.target
        side = "ahead of" if gap >= 0 else "behind"
        days = f"working days since {long_date(self.since)}" if self.since else "year’s working days"
        words = f"{money(abs(gap))} {side} after {format_number(self.elapsed, 'ratio')} of the {days}."
        if self.since:
            words = f"The data begin within the year, whose budget is {money(self.whole)}. {words}"
        if not math.isfinite(self.year_end):
            return words
        miss = self.year_end / self.target - 1
        end = f"{format_number(abs(miss), 'ratio')} {'above' if miss >= 0 else 'short'}"
        reached = "the fees since then come to" if self.since else "the year ends at"
        pace = f"the pace of {_PACE_MONTHS} complete months"
        return f"{words} At {pace}, {reached} {money(self.year_end)}, {end}."


def tiles(month: Month) -> list[Tile]:
    """Return the figures in their order, without those that are not known in any month."""
    if month.is_empty:
        return []
    names = ("client_hours", "utilization", month.fees_column, "billing_realization")
    compared = [_compared(month, name) for name in names if not (month.scope and name == "utilization")]
    lockup = [_lockup(month)] if math.isfinite(month.balances["Lock-up"]) and not month.why_no_lockup else []
    known = [each for each in compared if each.value != MISSING or any(map(math.isfinite, each.months))]
    return [*known, *_cash(month), _receivables(month), _work(month), *lockup]


def _compared(month: Month, name: str) -> Tile:
    declared, now = measures()[name], month.figures().get(name, math.nan)
    changes = [
        f"{text} on {month.same_days_name(back).removesuffix(f' {month.last.year}')}"
        for back in month.comparisons
        if (text := _change(now, month.figures(back).get(name, math.nan), declared.unit))
    ]
    limit, noun = limits(month).get(name, (math.nan, ""))
    value = format_number(now, declared.unit)
    state, badge = "", ""
    if math.isfinite(limit) and math.isfinite(now):
        state, badge = ("good", f"above {noun}") if now >= limit else ("bad", f"below {noun}")
    lines = [f"{noun} {format_number(limit, declared.unit)}"] if math.isfinite(limit) else []
    if name == "client_hours":
        lines += _attainment(month)
    if name == "utilization" and month.book.settings is None:
        lines.append("no firm settings: 8 hours a day, without leave")
    if name == "fees_amount":
        kinds = {"for time": month.figures()["billed_amount"], **month.other_fees}
        lines += [f"{money(amount)} {words}" for words, amount in kinds.items()]
    return Tile(
        declared.title,
        value,
        "h" if declared.unit == "hours" and value != "–" else "",
        (*lines, " · ".join(changes)),
        state,  # type: ignore[arg-type]
        badge,
        _months(month, name),
        limit,
        asks=_ASKS.get(name, ""),
    )


def _months(month: Month, name: str) -> tuple[float, ...]:
    """Return a figure of the last twelve months; one that is not over is a gap at the end."""
    known = tuple(map(float, _of_complete_months(month, name)))
    return (known if month.ends_month else (*known, math.nan))[-YEAR:]


def _of_complete_months(month: Month, name: str) -> pd.Series[float]:
    """Return a figure by month, without a month that is not over and one within which the data begin."""
    rows = month.by_month[name] if month.ends_month else month.by_month[name].iloc[:-1]
    return rows[[month.is_known(Period(dt.date.fromisoformat(f"{first}-01"))) for first in rows.index]]


def _change(now: float, then: float, unit: str) -> str:
    """Return the change of a figure; beside one without a meaning, the figure before."""
    text = format_change(now, then, unit)
    if text == NOT_COMPARABLE:
        return f"{text} ({format_number(then, unit)})"
    return "" if text == MISSING else text


def _attainment(month: Month) -> list[str]:
    table = None if month.scope else targets("hours", month)
    if table is None:
        return []
    share = float(table.total["pace"].iloc[0])
    people = count_of(len(table.rows), "person", "people")
    return [f"{format_number(share, 'ratio')} of target ({people})"] if math.isfinite(share) else []


def _cash(month: Month) -> list[Tile]:
    """Return the cash of the month from the books, or as a mirror implies it; else what is settled of its bills."""
    totals = month.figures()
    ratio = totals.get("settlement_ratio", math.nan)
    share = format_number(ratio, "ratio") if math.isfinite(ratio) else ""
    settled = f"{share} of the {month.noun}’s bills is settled so far" if share else ""
    firm = month.only("")
    found: Tile | None = next((tile for each in in_report("cash_tile") if (tile := each(firm, settled))), None)
    if found and not month.scope:
        return [found]
    if not share:
        return []
    missing = "the firm’s report shows the cash" if found else "no ledger: cash is not known"
    value = money(totals.get("settled_amount", math.nan))
    return [Tile(f"Settled of the {month.noun}’s bills", value, "", (f"{share} of them so far", missing))]


def _receivables(month: Month) -> Tile:
    row = month.of("aging").iloc[0]
    unused = float(row["credit_amount"])
    before = f" before {money(-unused)} of unused credits" if unused <= -A_UNIT else ""
    lines = (f"{money(row['overdue'])} overdue{before}", *_earlier(month, "Receivables", "money"))
    name = _of_day("Receivables", month)
    return Tile(name, money(row["total"]), lines=lines, ages=_ages(row), asks="receivables")


def _work(month: Month) -> Tile:
    row = month.of("wip").iloc[0]
    ages = _ages(row)
    known = math.isfinite(float(row["total"]))
    old = f"{money(ages[-1][1])} of it older than 90 days"
    lines = ["rates are hidden"] if not known else [old] if float(row["total"]) >= A_UNIT else []
    if float(row["contingent_amount"]) >= A_UNIT:
        lines.append(f"+ {money(row['contingent_amount'])} on contingency")
    return Tile("Work in progress", money(row["total"]), lines=tuple(lines), ages=ages, asks="wip")


def _ages(row: pd.Series[Any]) -> tuple[tuple[str, float], ...]:
    names = [name for name in map(str, row.index) if name == "current" or BUCKET.fullmatch(name)]
    return tuple((name, float(row[name])) for name in names)


def _lockup(month: Month) -> Tile:
    names = ("Lock-up", "of which work in progress", "of which receivables")
    value, work, owed = (format_number(month.balances[name], "days") for name in names)
    lines = (f"{work} in work + {owed} in receivables", *_earlier(month, "Lock-up", "days"))
    return Tile(_of_day("Lock-up", month), value, "days", lines)


def _of_day(name: str, month: Month) -> str:
    return f"{name} on {long_date(month.balances_day).rpartition(' ')[0]}" if month.balances_day else name


def _earlier(month: Month, name: str, unit: str) -> list[str]:
    now = month.balances[name]
    names = [month_name(day, short=True) for day in month.earlier_days]
    return [
        f"{text} on {words}"
        for words, each in zip(names, month.earlier_balances, strict=False)
        if each and (text := _change(now, each.by_name.get(name, math.nan), unit))
    ]


def budget(month: Month) -> Budget | None:
    """Return fees billed in the year to date beside the firm's budget; None if the settings have none."""
    target = month.settings.firm_target
    year = month.fiscal_year.year_of(month.last)
    if month.scope or not target.get("fees") or year.start is None or year.end is None:
        return None
    # Nothing is known of the days before the first day of the data.
    since = None if month.is_known(Period(year.start)) else month.first_of_year
    spans = ((year.start, year.end), (since or year.start, year.end), (since or year.start, month.last))
    whole, counted, over = (target["fees"] * share_of_target(month.settings, *each, target["period"]) for each in spans)
    billed = month.to_date().get("billed_amount", math.nan)
    year_end = _year_end(month, billed, year.end)
    return Budget(month.to_date_name(), billed, counted, over / counted, year_end, whole, since)


def _year_end(month: Month, billed: float, last: dt.date) -> float:
    complete = _of_complete_months(month, "billed_amount")
    if len(complete) < _PACE_MONTHS:
        return math.nan
    pace = float(complete.iloc[-_PACE_MONTHS:].mean())
    left = len(list(months_between(month.earlier(0), last))) - 1
    rest = 0.0 if month.ends_month else max(pace - float(month.by_month["billed_amount"].iloc[-1]), 0.0)
    return billed + rest + left * pace
