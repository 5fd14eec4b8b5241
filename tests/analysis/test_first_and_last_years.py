"""Periods and days that touch the first and the last year of the calendar."""

from __future__ import annotations

import datetime as dt

import pytest

import billframes as bf
from billframes.periods import Period, months_between, period_before, resolve, year_before
from tests.analysis.conftest import ENGINES
from tests.firms import FIRMS, MONEY, PEOPLE, on

pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")

TIME = ("time_entries", *PEOPLE)
OF_PERIODS = {
    "realization": (*MONEY, *PEOPLE),
    "utilization": TIME,
    "leverage": TIME,
    "missing_time": TIME,
    "timekeeping_lag": TIME,
    "scorecard": (*MONEY, *PEOPLE),
    "new_business": (*MONEY, *PEOPLE),
    "contribution": (*MONEY, *PEOPLE),
}
OF_DAYS = {
    "aging": ("invoices",),
    "wip": (*MONEY, *PEOPLE),
    "exposure": (*MONEY, *PEOPLE),
    "stale": (*MONEY, *PEOPLE),
    "overdue_invoices": (*MONEY, "matters"),
}


def call(name, frames, **options):
    firm = on(FIRMS["one lawyer"](), ENGINES["pandas"])
    return getattr(bf.analysis, name)(**{each: firm[each] for each in frames}, **options)


@pytest.mark.sweep
@pytest.mark.parametrize("name", OF_PERIODS)
@pytest.mark.parametrize("period", ["0001", "9999", "9999-12", "9999-W52", "9999-Q4"])
def test_analyses_of_periods_take_the_first_and_the_last_year(name, period):
    """They were a ValueError or an OverflowError."""
    call(name, OF_PERIODS[name], start=period)


@pytest.mark.parametrize("name", OF_DAYS)
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_balances_of_the_first_and_the_last_day(name, day):
    call(name, OF_DAYS[name], as_of=day)


@pytest.mark.parametrize("compare", ["previous", "year_ago"])
def test_there_is_no_period_to_compare_with_before_the_first_year(compare):
    firm = on(FIRMS["one lawyer"](), ENGINES["pandas"])
    with pytest.raises(
        bf.errors.ParameterError, match="is outside the years 1 to 9999, so there is none to compare with"
    ):
        bf.figures("billed_amount", start="0001", compare=compare, **{each: firm[each] for each in MONEY})


def test_days_and_months_at_the_ends_of_the_calendar():
    last = resolve("9999-12")
    assert list(months_between(last.start, last.end)) == [dt.date(9999, 12, 1)]
    assert resolve("9999-W52") == Period(dt.date(9999, 12, 27), dt.date.max)
    assert year_before(dt.date(9999, 12, 1), dt.date.max) == Period(dt.date(9998, 12, 1), dt.date(9998, 12, 31))
    with pytest.raises(bf.errors.ParameterError, match="20 days before 0001-01-05 is outside"):
        period_before(Period(dt.date(1, 1, 5), dt.date(1, 1, 24)))
