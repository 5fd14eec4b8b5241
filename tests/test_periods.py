"""Periods as people write them become inclusive ends."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes.errors import ParameterError
from billframes.periods import MONTHS, Period, month_end, months_between, parse_period, resolve

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
        ("October 2026", "2026-10-01", "2026-10-31"),
        ("oct 2026", "2026-10-01", "2026-10-31"),
        ("Sept.  2026", "2026-09-01", "2026-09-30"),
        ("May, 2026", "2026-05-01", "2026-05-31"),
        ("10/2026", "2026-10-01", "2026-10-31"),
        ("2/2024", "2024-02-01", "2024-02-29"),
        ("Q3 2026", "2026-07-01", "2026-09-30"),
    ],
)
def test_a_period_is_its_first_and_last_day(text, start, end):
    assert parse_period(text, today=TODAY) == Period(dt.date.fromisoformat(start), dt.date.fromisoformat(end))


@pytest.mark.parametrize("text", ["", "2026-00", "2026-13", "2026-Q5", "26", "next month", "last week", "last", "0000"])
def test_an_invalid_period_raises_an_error_with_examples(text):
    with pytest.raises(ParameterError, match="2026-Q3"):
        parse_period(text, today=TODAY)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10/11/2026", "Write the year first"),
        ("31.10.26", "Write the year first"),
        ("10/26", "Write the year with four digits"),
        ("10-26", "Write the year with four digits"),
        ("Oct 26", "Write the year with four digits"),
        ("October", "Add the year"),
    ],
)
def test_an_ambiguous_text_is_refused_with_a_hint(text, said):
    for read in (parse_period, resolve):
        with pytest.raises(ParameterError, match=said):
            read(text)


@pytest.mark.parametrize(
    "text", ["13/2026", "0/2026", "Octobre 2026", "Oct2026", "2026/10", "Q5 2026", "October 20266"]
)
def test_a_text_that_only_looks_like_a_month_is_refused(text):
    with pytest.raises(ParameterError, match="October 2026"):
        parse_period(text)


@given(st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)))
def test_all_spellings_of_a_month_are_one_period(day):
    spellings = [
        f"{day.year:04}-{day.month:02}",
        f"{day.month}/{day.year:04}",
        f"{MONTHS[day.month - 1]} {day.year:04}",
    ]
    spellings.append(f"{MONTHS[day.month - 1][:3].upper()} {day.year:04}")
    assert len({parse_period(each) for each in spellings}) == 1


@given(st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)))
def test_a_month_contains_its_days(day):
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


@pytest.mark.parametrize(
    ("period", "start", "end"),
    [
        (pd.Period("2026-10"), "2026-10-01", "2026-10-31"),
        (pd.Period("2026Q3"), "2026-07-01", "2026-09-30"),
        (pd.Period("2026Q3", freq="Q-MAR"), "2025-10-01", "2025-12-31"),
        (pd.Period("2024-02-29", freq="D"), "2024-02-29", "2024-02-29"),
        (pd.Period("2026", freq="Y"), "2026-01-01", "2026-12-31"),
    ],
)
def test_a_pandas_period_is_its_days(period, start, end):
    assert resolve(period) == Period(dt.date.fromisoformat(start), dt.date.fromisoformat(end))


def test_a_pandas_period_can_not_have_or_be_an_end():
    with pytest.raises(ParameterError, match="start='2026-10' is a whole period, so end='2026-12-31' can't be"):
        resolve(pd.Period("2026-10"), "2026-12-31")
    with pytest.raises(ParameterError, match="end='2026-10' is not a date"):
        resolve("2026-01-01", pd.Period("2026-10"))
