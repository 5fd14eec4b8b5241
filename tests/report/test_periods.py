"""Reports of a quarter and of a year: their figures are those of all their days, and compared with the same days."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from bs4 import BeautifulSoup

from billframes import FirmSettings, report
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import ParameterError
from billframes.periods import FixedCalendar, Period
from billframes.report.figures import figures, headings
from billframes.report.first_page import budget, tiles
from billframes.report.loading import load, read_months
from tests.report.conftest import connection
from tests.report.test_firms import text_of


@pytest.fixture(scope="module")
def quarter(firm):
    with connection(firm.base_url, firm.tokens["full"]):
        return load("2026-Q3")


@pytest.fixture(scope="module")
def year(firm, tmp_path_factory):
    settings = tmp_path_factory.mktemp("firm") / "firm.toml"
    settings.write_text('[targets]\nfirm = { fees = 5600000, period = "year" }\n', encoding="utf-8")
    with connection(firm.base_url, firm.tokens["full"]):
        return load(2026, settings=str(settings))


@pytest.mark.slow
def test_the_figures_are_those_of_all_days_and_of_the_same_days_before(quarter, october):
    spans = [("2026-07-01", "2026-09-30"), ("2026-04-01", "2026-06-30"), ("2025-07-01", "2025-09-30")]
    by_name = {each.name: each.by_period for each in figures(quarter)}
    for analysis, column, name in (
        ("realization", "billed_amount", "Fees billed"),
        ("realization", "billing_realization", "Billing realization"),
        ("utilization", "client_hours", "Client hours"),
        ("utilization", "utilization", "Utilization"),
    ):
        found = [getattr(october.book, analysis)(by=None, start=start, end=end)[column].iloc[0] for start, end in spans]
        assert by_name[name][:3] == pytest.approx(found), name
    assert headings(quarter)[:4] == ["Jul–Sep 2026", "Apr–Jun 2026", "Jul–Sep 2025", "Jan–Sep 2026"]
    assert by_name["Utilization"][0] == pytest.approx(quarter.of("utilization")["utilization"].iloc[0])


def test_balances_are_those_of_the_last_day(quarter):
    assert quarter.as_of == dt.date(2026, 9, 30)
    owed = quarter.of("aging").iloc[0]
    tile = next(each for each in tiles(quarter) if each.name.startswith("Receivables"))
    assert tile.value == f"{owed['total']:,.0f}"
    assert [f"{each:%F}" for each in quarter.earlier_days] == ["2026-06-30", "2025-09-30"]


@pytest.mark.slow
def test_a_year_that_is_not_over_ends_with_the_data_and_is_compared_with_the_year_before_only(year, october):
    assert (year.last, year.is_over, year.code) == (dt.date(2026, 10, 31), False, "2026")
    assert (year.comparisons, year.same_days(1)) == ((1,), Period(dt.date(2025, 1, 1), dt.date(2025, 10, 31)))
    fees = next(each for each in tiles(year) if each.name == "All fees")
    assert [each for each in fees.lines if "Jan–Oct" in each] == [fees.lines[-1]]
    assert fees.lines[-1].count(" on ") == 1
    billed = next(each for each in figures(year) if each.name == "Fees billed").by_period
    assert billed[0] == pytest.approx(october.to_date()["billed_amount"])
    assert billed[1] == pytest.approx(october.to_date(1)["billed_amount"])
    # Neither a year ago nor a year to date, which are the same days.
    assert all(each != each for each in billed[2:])


def test_the_pace_of_a_year_is_that_of_its_last_months(year):
    found = budget(year)
    assert found.period == "Jan–Oct 2026"
    rows = year.by_month["billed_amount"].iloc[-3:]
    assert found.year_end == pytest.approx(found.billed + 2 * rows.mean())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quarter", "year"])
def test_the_page_speaks_of_the_period(name, request):
    period = request.getfixturevalue(name)
    page = text_of(period)
    assert page.startswith({"quarter": "July–September 2026\n", "year": "January–October 2026\n"}[name])
    assert "The period in figures" in page
    assert not re.search(r"(?i)of the month’s|dated in the month\b|the month (?:is|has)\b", page)
    shown = BeautifulSoup(report.page_one(period)._repr_html_(), "html.parser").get_text()
    assert "nan" not in shown.lower().split()


def test_periods_are_read_from_the_calendar_and_the_fiscal_year():
    today = FixedCalendar(dt.date(2026, 11, 29))
    july = FirmCalendar(settings=FirmSettings(fiscal_year_start="07"))
    assert read_months("last quarter", today) == (dt.date(2026, 7, 1), dt.date(2026, 9, 30))
    assert read_months("FY2026", july) == (dt.date(2025, 7, 1), dt.date(2026, 6, 30))
    assert read_months("2026-H1") == (dt.date(2026, 1, 1), dt.date(2026, 6, 30))
    for text in ("2026-W31", "last week", "2026-10-05", "ytd", "soon"):
        with pytest.raises(ParameterError, match="give one such as 2026-10, 2026-Q3, 2026, FY2026, 'last month' or"):
            read_months(text, today)
    with pytest.raises(ParameterError, match="fiscal_year_start"):
        read_months("FY2026", FixedCalendar(dt.date(2026, 11, 29)))
