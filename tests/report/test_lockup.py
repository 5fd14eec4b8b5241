"""Lock-up is shown only if it says something, and all fees are shown if not all are for time."""

from __future__ import annotations

import datetime as dt

import pytest

from billframes import report
from billframes.report.figures import figures
from billframes.report.first_page import tiles
from billframes.report.month import Month
from tests.firms import add, make_firm
from tests.report.conftest import sheets
from tests.report.test_firms import report_of


def with_fee(share: float) -> Month:
    """A year of a firm with one invoice of a fixed fee, which is this part of the year's fees."""
    firm = make_firm(taxes=(0.0,), first=dt.date(2025, 10, 1))
    for_time = sum(row["amount"] - 40 for row in firm["invoices"].to_pylist() if row["invoice_state"] == "final")
    amount = for_time * share / (1 - share)
    fee = {"fixed_fee_id": "f", "date": dt.date(2026, 10, 2), "user_id": "u0", "client_id": "c0"}
    fee |= {
        "client_name": "Client 0",
        "matter_id": "m0",
        "matter_name": "Matter 0",
        "amount": amount,
        "invoice_id": "x",
    }
    firm["fixed_fees"] = type(firm["fixed_fees"]).from_pylist([fee], firm["fixed_fees"].schema)
    bill = {"invoice_id": "x", "invoice_number": "999", "invoice_date": dt.date(2026, 10, 5), "amount": amount}
    return report_of(add(firm, "invoices", bill | {"balance": 0.0}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("month", "reason"),
    [
        (lambda: with_fee(0.4), ""),
        (lambda: with_fee(0.6), "only 40.0% of the year’s fees are for time"),
        (
            lambda: report_of(make_firm(first=dt.date(2025, 11, 10))),
            "it needs the fees of a year, and the data have 354 days",
        ),
        (lambda: report_of(make_firm(kind="contingency")), "nothing was billed in 365 days"),
    ],
    ids=["most for time", "little for time", "less than a year", "contingency"],
)
def test_lock_up_is_shown_or_the_notes_say_why_not(month, reason):
    month = month()
    shown = [each.name for each in tiles(month)]
    names = {each.name for each in figures(month)}
    titles = {each.title for each in sheets(month)}
    notes = report.work_in_progress(month)._repr_html_()
    assert ("Lock-up" in shown) == (not reason)
    if reason:
        assert f"Lock-up is not shown: {reason}." in notes
    else:
        assert "Lock-up is (work in progress + receivables)" in notes
    assert ("Lock-up" in names, "Lock-up by responsible lawyer" in titles) == (not reason, not reason)


@pytest.mark.slow
def test_the_tile_of_fees_shows_all_fees_and_those_for_time_below():
    month = with_fee(0.6)
    now = month.book.contribution(None, start=month.first, end=month.last).iloc[0]
    (tile,) = [each for each in tiles(month) if "fees" in each.name.lower()]
    for_time = month.of("realization")["billed_amount"].iloc[0]
    assert now["fees_amount"] == pytest.approx(for_time + now["fixed_fee_amount"])
    assert (tile.name, tile.value) == ("All fees", f"{now['fees_amount']:,.0f}")
    assert tile.lines[:2] == (f"{for_time:,.0f} for time", f"{now['fixed_fee_amount']:,.0f} in fixed fees")
    assert tile.months[-1] == pytest.approx(now["fees_amount"])
    shown = {each.name: each for each in figures(month)}
    assert shown["All fees"].by_period[0] == pytest.approx(now["fees_amount"])
    assert shown["Fees billed"].by_period[0] == pytest.approx(for_time)
    # If all fees are for time, they are not shown twice.
    hourly = report_of(make_firm())
    assert [each.name for each in tiles(hourly)][2] == "Fees billed"
    assert "All fees" not in {each.name for each in figures(hourly)}
