"""Periods as people write them become inclusive ends."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes.errors import ParameterError
from billframes.periods import (
    MONTHS,
    FiscalYear,
    FixedCalendar,
    Period,
    month_end,
    months_between,
    parse_period,
    period_before,
    resolve,
    year_before,
)

CALENDAR = FixedCalendar(dt.date(2026, 3, 31), FiscalYear(7))


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
        ("today", "2026-03-31", "2026-03-31"),
        ("Yesterday", "2026-03-30", "2026-03-30"),
        ("this week", "2026-03-30", "2026-04-05"),
        ("last week", "2026-03-23", "2026-03-29"),
        ("2026-W41", "2026-10-05", "2026-10-11"),
        ("2026w01", "2025-12-29", "2026-01-04"),
        ("2026-W53", "2026-12-28", "2027-01-03"),
        ("2026-H1", "2026-01-01", "2026-06-30"),
        ("H2 2026", "2026-07-01", "2026-12-31"),
        ("last 30 days", "2026-03-02", "2026-03-31"),
        ("last 1 day", "2026-03-31", "2026-03-31"),
        (2026, "2026-01-01", "2026-12-31"),
        (np.int64(202609), "2026-09-01", "2026-09-30"),
        ("202609", "2026-09-01", "2026-09-30"),
        ("FY2026", "2025-07-01", "2026-06-30"),
        ("fy 2026-q1", "2025-07-01", "2025-09-30"),
        ("FY2026 Q4", "2026-04-01", "2026-06-30"),
        ("fiscal ytd", "2025-07-01", "2026-03-31"),
        ("this fiscal year", "2025-07-01", "2026-06-30"),
        ("last fiscal year", "2024-07-01", "2025-06-30"),
    ],
)
def test_a_period_is_its_first_and_last_day(text, start, end):
    assert parse_period(text, calendar=CALENDAR) == Period(dt.date.fromisoformat(start), dt.date.fromisoformat(end))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-00",
        "2026-13",
        "2026-Q5",
        "next month",
        "last days",
        "last 0 days",
        "last",
        "2026-H3",
        "2026-W54",
        "2025-W53",
    ],
)
def test_an_invalid_period_raises_an_error_with_examples(text):
    with pytest.raises(ParameterError, match="2026-Q3"):
        parse_period(text, calendar=CALENDAR)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10/11/2026", "Write the year first"),
        ("31.10.26", "Write the year first"),
        ("10/26", "Write the year with four digits"),
        ("10-26", "Write the year with four digits"),
        ("Oct 26", "Write the year with four digits"),
        ("October", "Add the year"),
        ("FY26", "Write the year with four digits"),
        (20269, "A year has four digits"),
        ("202613", "A year has four digits"),
        (26, "A year has four digits"),
        ("0000", "A year has four digits"),
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


@pytest.mark.parametrize("text", ["this month", "last quarter", "ytd", "today", "last 30 days"])
def test_a_period_that_is_counted_from_a_day_is_refused_without_the_day(text):
    with pytest.raises(ParameterError, match=f"start='{text}' is counted from a day.*Write the period"):
        resolve(text)


@pytest.mark.parametrize("text", ["FY2026", "FY2026-Q1", "fiscal ytd", "this fiscal year"])
def test_a_fiscal_year_is_refused_if_it_is_not_known_when_it_begins(text):
    with pytest.raises(ParameterError, match="it is not known when that begins. Set fiscal_year_start="):
        resolve(text, calendar=FixedCalendar(dt.date(2026, 3, 31)))


@pytest.mark.parametrize("value", [True, 2026.0, "2026.0"])
def test_a_number_that_is_no_year_or_month_is_refused(value):
    with pytest.raises(ParameterError, match="is not a date"):
        resolve(value)


FISCAL_YEARS = st.builds(FiscalYear, st.integers(1, 12), st.integers(1, 28), st.sampled_from(["end", "start"]))


@given(st.dates(dt.date(1900, 1, 1), dt.date(2100, 12, 31)), FISCAL_YEARS)
def test_fiscal_years_and_quarters_follow_each_other_without_a_gap(day, fiscal):
    year, quarter = fiscal.year_of(day), fiscal.quarter_of(day)
    assert year.start <= quarter.start <= day <= quarter.end <= year.end
    assert (year.start.month, year.start.day) == (fiscal.month, fiscal.day)
    number = fiscal.number(day.year, day.month, day.day)
    quarters = [fiscal.period(number, each) for each in (1, 2, 3, 4)]
    assert [each.start for each in quarters[1:]] == [each.end + dt.timedelta(days=1) for each in quarters[:-1]]
    assert (quarters[0].start, quarters[-1].end) == (year.start, year.end)
    assert fiscal.period(number + 1).start == year.end + dt.timedelta(days=1)
    named_after = year.end if fiscal.named == "end" else year.start
    assert number == named_after.year


@pytest.mark.parametrize("start", ["13", "0", "07-31", "04-00", "2026-07", "July", "", True, 7.5, "FY"])
def test_a_day_that_can_not_begin_a_fiscal_year_is_refused_in_one_sentence(start):
    with pytest.raises(ParameterError, match="is not the first day of a fiscal year; it takes a month such as '07'"):
        FiscalYear.read(start)


@pytest.mark.parametrize(
    ("start", "text"), [("07", "07"), (7, "07"), ("7", "07"), ("04-06", "04-06"), ("4-6", "04-06")]
)
def test_the_first_day_of_a_fiscal_year_is_a_month_or_a_day(start, text):
    assert FiscalYear.read(start).text == text


@given(st.dates(dt.date(1990, 1, 1), dt.date(2100, 12, 31)))
def test_a_period_that_is_not_over_is_compared_with_the_same_days(until):
    """The same days of the month and of the year before; the last day of a month stands for the month's end."""
    month = Period(until.replace(day=1), month_end(until))
    for then in (period_before(month, until), year_before(month.start, until)):
        assert then.start.day == 1
        if until == month_end(until):
            assert then.end == month_end(then.start)
        else:
            assert then.end == then.start.replace(day=min(until.day, month_end(then.start).day))
    assert (period_before(month, until).end - month.start).days < 0
    year = Period(until.replace(month=1, day=1), until.replace(month=12, day=31))
    assert period_before(year, until) == year_before(year.start, until)


@given(st.dates(dt.date(1990, 1, 1), dt.date(2100, 12, 31)), FISCAL_YEARS)
def test_fiscal_years_and_quarters_are_compared_with_those_before(day, fiscal):
    for period in (fiscal.year_of(day), fiscal.quarter_of(day)):
        before = period_before(period, year=fiscal)
        assert before.end == period.start - dt.timedelta(days=1)
        assert (before.start.day, before.start) == (fiscal.day, min(before.start, before.end))
        until = period_before(period, day, fiscal)
        assert until.start == before.start
        assert until.end <= before.end
    to_date = Period(fiscal.year_of(day).start, day)
    assert period_before(to_date, day, fiscal).start <= to_date.start


def test_a_week_that_is_not_over_is_compared_with_the_same_days_of_the_week_before():
    week = parse_period("2026-W41")
    assert period_before(week, dt.date(2026, 10, 7)) == Period(dt.date(2026, 9, 28), dt.date(2026, 9, 30))
