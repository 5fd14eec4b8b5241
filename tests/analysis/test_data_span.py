"""Periods are counted from the day of the load, and fiscal years from the first day in the settings."""

from __future__ import annotations

import datetime as dt
import inspect
import warnings

import pandas as pd
import pytest

from billframes import analysis
from billframes.analysis import realization, reconcile, utilization
from billframes.analysis.data.data_span import DAYS as DAYS_COUNTED
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.facts.capacity import prorated_targets, split_dates, working_days
from billframes.config.firm import FirmSettings
from billframes.days import FiscalYear
from billframes.errors import ParameterError
from billframes.loading.load_info import attached
from tests.analysis.calls import ITEMS, OF_LEDGERS, WORK, edge_case_frames

# The entries of these tests are of few days, and of people who are not listed.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Without users=:billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore:Nobody recorded time in:billframes.errors.IncompleteDataWarning"),
]

APRIL = FirmSettings(fiscal_year_start="04-06")
OF_A_PERIOD = [name for name, each in analyses().items() if "start" in each.takes and name not in OF_LEDGERS]


def arguments_of(name, frames):
    takes = inspect.signature(getattr(analysis, name)).parameters
    # The API's lists of expenses and fixed fees have no codes, which `code_check` needs.
    left_out = {"expenses", "fixed_fees"} if name == "code_check" else set()
    return {each: frames[each] for each in frames if each in takes and each not in left_out}


@pytest.mark.parametrize("name", OF_A_PERIOD)
def test_a_period_counted_from_a_day_is_refused_if_no_frame_remembers_its_load(firm, name):
    with pytest.raises(ParameterError, match="start='this month' is counted from a day.*Write the period"):
        getattr(analysis, name)(**arguments_of(name, edge_case_frames(firm)), start="this month")


@pytest.mark.slow
@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_this_month_is_the_month_of_the_load(whole, to):
    """The sandbox's data are of 31 October 2026."""
    frames = {name: whole[to][name] for name in ITEMS}
    relative, named = (realization(**frames, by=None, start=start) for start in ("this month", "2026-10"))
    assert relative["worked_amount"][0] == pytest.approx(named["worked_amount"][0])
    hours = {start: utilization(**_time(whole[to]), by=None, start=start) for start in ("ytd", "2026")}
    assert hours["ytd"]["client_hours"][0] == pytest.approx(hours["2026"]["client_hours"][0])


def _time(frames):
    return {name: frames[name] for name in ("time_entries", "users", "matters")}


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("name", OF_A_PERIOD)
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_every_analysis_counts_from_the_day_of_the_load(whole, client, name):
    lists = {"codes": client.codes(), "code_sets": client.code_sets()}
    given = arguments_of(name, whole["pandas"] | lists)
    relative, named = (getattr(analysis, name)(**given, start=start) for start in ("last month", "2026-09"))
    # Engines add in any order.
    pd.testing.assert_frame_equal(relative, named, rtol=1e-12)


def test_a_fiscal_year_needs_its_first_day(firm):
    frames = edge_case_frames(firm)
    for key in ("fiscal_year", "fiscal_quarter"):
        with pytest.raises(ParameterError, match=f"by='{key}' needs the first day of the fiscal year"):
            reconcile(**{name: frames[name] for name in ITEMS}, by=key)
    with pytest.raises(ParameterError, match="start='FY2027' is a period of the fiscal year"):
        realization(**{name: frames[name] for name in ITEMS}, start="FY2027")


DAYS = ("2026-04-05", "2026-04-06", "2026-07-05", "2026-07-06", "2027-01-05", "2027-01-06", "2027-04-05", "2027-04-06")


def hours_of(firm, settings, **options):
    entries = firm.entries(*((day, "u1", "c1", "m1", "billable", 2.0**n, 1.0, None) for n, day in enumerate(DAYS)))
    given = {"users": firm.users(), "matters": firm.matters(), "settings": settings}
    return firm.rows(utilization(entries, **given, start="2026-04-05", end="2027-04-06", **options))


def test_hours_belong_to_the_fiscal_year_and_quarter_of_their_day(firm):
    """The fiscal year begins on 6 April, as in the United Kingdom, and its quarters on 6 July, 6 October, 6 January."""
    years = {row["fiscal_year"]: row["client_hours"] for row in hours_of(firm, APRIL, by="fiscal_year")}
    assert years == {"FY2026": 1.0, "FY2027": 126.0, "FY2028": 128.0}
    quarters = {row["fiscal_quarter"]: row["client_hours"] for row in hours_of(firm, APRIL, by="fiscal_quarter")}
    worked = {"FY2026-Q4": 1.0, "FY2027-Q1": 6.0, "FY2027-Q2": 8.0, "FY2027-Q3": 16.0, "FY2027-Q4": 96.0}
    assert quarters == {**worked, "FY2028-Q1": 128.0}
    starting = FirmSettings(fiscal_year_start="04-06", fiscal_year_name="start")
    assert [row["fiscal_year"] for row in hours_of(firm, starting, by="fiscal_year")] == ["FY2025", "FY2026", "FY2027"]


def test_available_hours_of_fiscal_periods_add_up_and_end_on_the_right_day(firm):
    (whole,) = hours_of(firm, APRIL, by=None)
    for by in ("fiscal_year", "fiscal_quarter", ["fiscal_quarter", "month"], ["year", "fiscal_year"]):
        rows = hours_of(firm, APRIL, by=by)
        assert sum(row["capacity_hours"] for row in rows) == whole["capacity_hours"]
    first = hours_of(firm, APRIL, by="fiscal_year")[0]
    assert first["capacity_hours"] == 0.0, "5 April 2026 is a Sunday"
    quarter = next(r for r in hours_of(firm, APRIL, by="fiscal_quarter") if r["fiscal_quarter"] == "FY2027-Q2")
    assert quarter["capacity_hours"] == 2 * 8.0 * len(working_days(APRIL, dt.date(2026, 7, 6), dt.date(2026, 10, 5)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_invoices_belong_to_the_fiscal_year_of_their_date(firm):
    frames = {name: edge_case_frames(firm)[name] for name in WORK}
    october = FirmSettings(fiscal_year_start="10-06")
    rows = firm.rows(realization(**frames, by="fiscal_year", settings=october))
    whole = firm.rows(realization(**frames, by=None, settings=october))[0]
    assert [row["fiscal_year"] for row in rows] == ["FY2026", "FY2027"]
    assert sum(row["billed_amount"] for row in rows) == pytest.approx(whole["billed_amount"])
    named = firm.rows(realization(**frames, by=None, start="FY2027", settings=october))[0]
    assert named["billed_amount"] == rows[1]["billed_amount"]


def test_yearly_targets_are_those_of_the_fiscal_year():
    firm = FirmSettings(fiscal_year_start="07", targets={"u1": {"hours": 1000, "period": "year"}})
    fiscal_year = dt.date(2026, 7, 1), dt.date(2027, 6, 30)
    assert prorated_targets(firm, "hours", *fiscal_year)["u1"] == pytest.approx(1000)
    assert prorated_targets(firm, "hours", dt.date(2026, 1, 1), dt.date(2026, 12, 31))["u1"] == pytest.approx(
        1000 * len(working_days(firm, dt.date(2026, 1, 1), dt.date(2026, 6, 30))) / 261
        + 1000
        * len(working_days(firm, dt.date(2026, 7, 1), dt.date(2026, 12, 31)))
        / len(working_days(firm, *fiscal_year))
    )


@pytest.mark.parametrize(
    "times", [["week"], ["month"], ["week", "month"], ["year"], ["fiscal_quarter"], ["fiscal_year", "month"], []]
)
def test_days_are_split_without_a_gap_at_the_ends_of_periods(times):
    fiscal, first, last = FiscalYear(4, 6), dt.date(2024, 2, 10), dt.date(2026, 5, 20)
    parts = split_dates(first, last, times, fiscal)
    assert (parts[0].first, parts[-1].last) == (first, last)
    assert [each.first for each in parts[1:]] == [each.last + dt.timedelta(days=1) for each in parts[:-1]]
    for part in parts:
        ends = [type(part)(day, day).numbers(fiscal) for day in (part.first, part.last)]
        assert all(ends[0][time] == ends[1][time] for time in times)


ADDED_UP = {
    "exposure": "matter",
    "reconcile": "client",
    "new_business": "client",
    "scorecard": "user",
}


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize(
    "name",
    [name for name, each in analyses().items() if {"by", "time_entries"} <= each.takes and name not in OF_LEDGERS],
)
@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_without_keys_the_sums_are_those_of_all_rows(firm, name):
    """Each row is counted, and not only the first: a selection of constants alone would have one row."""
    if name in ("duplicates", "compare", "bridge", "cash_forecast"):
        pytest.skip("It has no sums by keys.")
    takes = analyses()[name].takes
    given = arguments_of(name, edge_case_frames(firm))
    given |= {"start": "2026-10"} if "start" in takes else {}
    given |= {"as_of": "2026-10-31"} if "as_of" in takes and "start" not in takes else {}
    rows = firm.rows(getattr(analysis, name)(**given, by=ADDED_UP.get(name, "user")))
    whole = firm.rows(getattr(analysis, name)(**given, by=[]))
    for each in analyses()[name].columns:
        values = [row.get(each.name) for row in rows]
        if each.adds_up and each.name in rows[0] and None not in values and not each.name.startswith("peer_"):
            total = sum(row[each.name] for row in whole)
            assert total == pytest.approx(sum(values), abs=1e-9), each.name


@pytest.mark.parametrize("name", ["aging", "wip", "exposure", "overdue_invoices", "stale"])
def test_a_result_of_a_day_remembers_it(firm, name):
    frames = arguments_of(name, edge_case_frames(firm))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = getattr(analysis, name)(**frames, as_of=dt.date(2026, 10, 31))
    assert attached(result, DAYS_COUNTED) == {"as_of": "2026-10-31"}
