"""Periods as people write them become inclusive ends."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, strategies as st

from billframes.errors import ParameterError
from billframes.periods import Period, month_end, months_between, parse_period, resolve

TODAY = dt.date(2026, 3, 31)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("this month", "2026-03-01", "2026-03-31"),
        ("last month", "2026-02-01", "2026-02-28"),
        ("This Quarter", "2026-01-01", "2026-03-31"),
        ("last quarter", "2025-10-01", "2025-12-31"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("YTD", "2026-01-01", "2026-03-31"),
        (" 2026-Q4 ", "2026-10-01", "2026-12-31"),
        ("2026q1", "2026-01-01", "2026-03-31"),
        ("0001", "0001-01-01", "0001-12-31"),
    ],
)
def test_a_period_is_its_first_and_last_day(text, start, end):
    assert parse_period(text, today=TODAY) == Period(dt.date.fromisoformat(start), dt.date.fromisoformat(end))


@pytest.mark.parametrize("text", ["", "2026-00", "2026-13", "2026-Q5", "26", "next month", "last week", "last", "0000"])
def test_what_is_no_period_says_what_is(text):
    with pytest.raises(ParameterError, match="2026-Q3"):
        parse_period(text, today=TODAY)


@given(st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)))
def test_a_month_holds_its_days(day):
    period = parse_period(f"{day.year:04}-{day.month:02}")
    assert period.start <= day <= period.end == month_end(day)


@given(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), st.integers(0, 900))
def test_months_between_are_each_once(day, more):
    last = day + dt.timedelta(days=more)
    months = list(months_between(day, last))
    assert months == sorted(set(months))
    assert (months[0].year, months[0].month) == (day.year, day.month)
    assert (months[-1].year, months[-1].month) == (last.year, last.month)


def test_open_ends_stay_open():
    assert resolve() == Period(None, None)
    assert resolve(end="2026-10-31") == Period(None, dt.date(2026, 10, 31))


def test_one_day_is_a_period_of_one_day():
    assert resolve("2026-10-05", "2026-10-05") == Period(dt.date(2026, 10, 5), dt.date(2026, 10, 5))
