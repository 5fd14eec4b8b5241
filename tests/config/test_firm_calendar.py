"""Loaders and books count periods from today in the firm's time zone, and know the firm's fiscal year."""

from __future__ import annotations

import datetime as dt

import pytest

import billframes as bf
from billframes.config import firm_calendar
from billframes.config.firm_calendar import FirmCalendar
from billframes.periods import FiscalYear

LATE = dt.datetime(2026, 10, 31, 23, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(("zone", "today"), [("Europe/Berlin", 1), ("America/New_York", 31), ("UTC", 31)])
def test_today_is_that_of_the_firm(monkeypatch, zone, today):
    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return LATE.astimezone(tz)

    monkeypatch.setattr(firm_calendar.dt, "datetime", Clock)
    assert FirmCalendar(settings=bf.FirmSettings(time_zone=zone)).today.day == today


@pytest.fixture
def connect(sandbox):
    def make(**options):
        return bf.Client(sandbox.base_url, sandbox.tokens["full"], **options)

    return make


def test_a_client_knows_the_fiscal_year_of_its_option(connect):
    with connect(fiscal_year_start="07") as client:
        frame = client.time_entries("FY2025-Q2")
        assert frame.attrs["load"]["period"] == {"start": "2024-10-01", "end": "2024-12-31"}
        assert bf.book("FY2026", client=client).period.start == dt.date(2025, 7, 1)
    with connect(fiscal_year_start=7, fiscal_year_name="start") as client:
        assert client.invoices.count("FY2025") == client.invoices.count("2025-07-01", "2026-06-30") > 0


def test_a_book_has_the_fiscal_year_of_its_settings(connect):
    april = bf.FirmSettings(fiscal_year_start="04-06")
    with connect(fiscal_year_start="07") as client:
        book = bf.book("FY2026-Q1", settings=april, client=client)
        assert (book.period.start, book.period.end) == (dt.date(2025, 4, 6), dt.date(2025, 7, 5))
        assert FirmCalendar(lambda: client, bf.FirmSettings()).fiscal == FiscalYear(7)


@pytest.mark.parametrize("period", [2026, "2026"])
def test_a_year_may_be_a_number(connect, period):
    with connect() as client:
        assert bf.book(period, client=client).period == bf.book("2026-01-01", "2026-12-31", client=client).period


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fiscal_year_start": "13"}, "fiscal_year_start='13' is not the first day of a fiscal year"),
        ({"fiscal_year_start": "02-30"}, "a day up to 28"),
        ({"fiscal_year_name": "middle"}, "fiscal_year_name='middle' is not known"),
    ],
)
def test_a_fiscal_year_that_can_not_be_is_refused_in_one_sentence(connect, options, message):
    for make in (connect, bf.FirmSettings):
        with pytest.raises(bf.errors.ParameterError, match=message):
            make(**options)


def test_a_client_without_a_fiscal_year_says_how_to_set_it(client):
    with pytest.raises(bf.errors.ParameterError, match=r"start='FY2026' is a period of the fiscal year.*client, such"):
        client.time_entries("FY2026")
