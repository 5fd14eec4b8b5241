"""A period that is not over ends on the day of the load, and is compared with as many days before it."""

from __future__ import annotations

import functools
from functools import partial

import pandas as pd
import pytest

import billframes as bf
from billframes.analysis.declare.lookup import analyses
from billframes.errors import IncompleteDataWarning, ParameterError
from tests.frames import assert_frame_equal

# A lawyer of the sandbox joined in March 2026.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The first of all entries of:billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore:Nobody recorded time in:billframes.errors.IncompleteDataWarning"),
]

# The sandbox's last day, which is also the day of each load.
LOADED = "2026-10-31"


@pytest.fixture(scope="module")
def year(client):
    return bf.book("2026", client=client)


@pytest.mark.parametrize("name", ["aging", "wip", "lockup", "exposure", "stale", "overdue_invoices"])
def test_open_amounts_are_those_of_the_day_of_the_load(year, october_book, name):
    method = getattr(year, name)
    assert_frame_equal(method(), method(as_of=LOADED))
    assert_frame_equal(method(), getattr(october_book, name)())


@pytest.fixture(scope="module")
def november(client):
    return bf.book("2026-11", client=client)


@pytest.mark.parametrize(
    "name", ["aging", "wip", "lockup", "exposure", "stale", "overdue_invoices", "bridge", "compare"]
)
def test_a_period_that_has_not_begun_is_refused_in_the_words_of_the_explorer(november, name):
    with pytest.raises(ParameterError) as refused:
        getattr(november, name)()
    with pytest.raises(ParameterError) as by_explorer:
        bf.explore(november)
    assert str(refused.value) == str(by_explorer.value)
    assert str(refused.value).startswith("The period begins on 1 November 2026, after the day of the data, 31 October")


@pytest.fixture(scope="module")
def too_early(client):
    return bf.book("2023", client=client)


# Its day is that of the load, whatever the period.
OF_ANY_DAY = {"prebill_review", "budget_burn"}


@pytest.mark.parametrize("name", sorted(analyses().keys() - OF_ANY_DAY))
def test_every_method_refuses_a_period_that_has_not_begun(november, name):
    with pytest.raises(ParameterError, match="after the day of the data, 31 October 2026"):
        getattr(november, name)()


@pytest.mark.parametrize("name", sorted(analyses().keys() - OF_ANY_DAY))
def test_every_method_refuses_a_period_of_which_nothing_is_known(too_early, name):
    """The sandbox's data begin on 2 January 2024."""
    with pytest.raises(ParameterError, match="before the first day of the data, 2 January 2024"):
        getattr(too_early, name)()


def test_leverage_counts_nobody_in_months_after_the_load(year):
    assert year.leverage(by="month")["month"].tolist()[-1] == "2026-10"
    assert year.leverage(by="month")["non_principals"].min() > 0


def test_a_given_day_is_used_whatever_the_period(november, october_book):
    assert_frame_equal(november.aging(as_of="2026-11-15"), october_book.aging(as_of="2026-11-15"))


@pytest.mark.slow
def test_the_day_is_that_of_the_load_in_the_firms_time_zone(client):
    # 20:00 UTC on 31 October is 1 November in Tokyo.
    tokyo = bf.FirmSettings(time_zone="Asia/Tokyo")
    assert str(bf.book("2026", settings=tokyo, client=client).lockup()["as_of"].iloc[0].date()) == "2026-11-01"


def test_the_change_of_a_year_that_is_not_over_is_from_the_same_days_of_the_year_before(year):
    rows = year.bridge("billed_amount", by="practice_area")
    sums = rows[["before_amount", "after_amount"]].sum().tolist()
    spans = (("2025-01-01", "2025-10-31"), ("2026-01-01", LOADED))
    assert sums == [pytest.approx(year.realization(start=a, end=b)["billed_amount"].iloc[0]) for a, b in spans]
    assert rows["change_amount"].sum() > 0


@pytest.mark.slow
def test_the_change_of_a_quarter_that_is_not_over_is_from_the_same_days_of_the_quarter_before(client):
    book = bf.book("2026-Q4", client=client)
    before = book.bridge("utilization", by="user")["before_part"].sum()
    assert before == pytest.approx(book.utilization(None, start="2026-07-01", end="2026-07-31")["client_hours"].iloc[0])


def test_a_whole_year_that_is_requested_is_compared_with_a_warning(year):
    words = r"has 365 days and the period 304 \(up to 2026-10-31\)"
    with pytest.warns(IncompleteDataWarning, match=words):
        rows = year.bridge("billed_amount", before="2025")
    whole = year.realization(start="2025")["billed_amount"].iloc[0]
    assert rows["before_amount"].sum() == pytest.approx(whole)


@pytest.mark.slow
def test_a_finished_half_year_is_compared_with_the_half_year_before(client):
    book = bf.book("2026-01-01", "2026-06-30", client=client)
    before = book.bridge("utilization", by="user")["before_part"].sum()
    assert before == pytest.approx(book.utilization(None, start="2025-07-01", end="2025-12-31")["client_hours"].iloc[0])


def test_periods_side_by_side_end_with_the_load(year):
    rows = year.compare("billed_amount", every="year", periods=1)
    assert rows["until"].astype(str).tolist() == [LOADED]
    assert rows["now_amount"].tolist() == [pytest.approx(year.realization()["billed_amount"].iloc[0])]
    assert year.compare("billed_amount")["month"].iloc[-1] == "2026-10"


def test_the_fees_of_the_year_before_are_those_of_the_same_days(year):
    (row,) = year.new_business(None).to_dict("records")
    fees = year.contribution(None, start="2025-01-01", end="2025-10-31")["fees_amount"].iloc[0]
    assert row["fees_before_amount"] == pytest.approx(fees)
    assert_frame_equal(year.new_business(None, start="2026"), year.new_business(None))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is not that of the invoice in:billframes.errors.IncompleteDataWarning")
@pytest.mark.parametrize(("name", "column"), [("time_entries", "date"), ("invoices", "invoice_date")])
def test_records_dated_after_the_load_are_warned_of(client, name, column):
    book = bf.book("2026", client=client)
    frame = getattr(book, name)
    last = frame.index[-3:]
    frame[column] = frame[column].where(~frame.index.isin(last), pd.Timestamp("2026-11-20"))
    words = f"3 {name.replace('_', ' ')} of the period are dated after 2026-10-31, the day of the load; new_business"
    if name == "time_entries":
        # Leave is entered in advance, so only client work is told.
        frame.loc[last, "billing_type"] = "billable"
    if name == "invoices":
        frame.loc[last, "invoice_state"] = ["draft", "final", "final"]
        words = words.replace("3", "2", 1)
        for each in ("time_entries", "expenses", "fixed_fees"):
            # Items repeat what their invoices were.
            setattr(book, each, getattr(book, each).drop(columns=["invoice_state", "invoice_date"]))
    setattr(book, name, bf.forget(frame))
    # Records dated ahead are said once, and never in figures of a day.
    book.wip()
    with pytest.warns(IncompleteDataWarning, match=words):
        book.new_business(None)
    book.new_business(None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:as_of=2024-06-30 is before the day the invoices were loaded")
def test_lockup_divides_by_the_days_that_the_data_have(client):
    """The data begin on 2 January 2024, so by 30 June 2024 there are fees of 181 days."""
    book = bf.book("2024-06", client=client)
    assert str(book.first_day) == "2024-01-02"
    row = book.lockup().iloc[0]
    assert (row["days"], str(row["fees_start"].date())) == (181, "2024-01-02")
    assert row["lockup_days"] == pytest.approx(
        (row["wip_amount"] + row["receivable_amount"]) / row["fees_amount"] * 181
    )
    by_lawyer = book.lockup("responsible")
    assert set(by_lawyer["days"]) == {181}
    assert by_lawyer["fees_amount"].sum() == pytest.approx(row["fees_amount"])


@pytest.fixture(scope="module")
def young(client):
    """The book of a firm whose data begin on Monday, 3 August 2026, apart from an invoice without a real date."""
    book = bf.book("2026-10", client=client)
    first = pd.Timestamp("2026-08-03")
    for name, column in (("time_entries", "date"), ("invoices", "invoice_date")):
        frame = getattr(book, name)
        rows = frame[frame[column] >= first].reset_index(drop=True)
        rows.attrs = {"load": {**frame.attrs["load"], "rows": len(rows)}}
        if name == "invoices":
            rows.loc[0, "invoice_date"] = pd.Timestamp("1900-01-01")
        setattr(book, name, rows)
    return book


@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_before_the_first_day_nothing_is_known(young):
    assert str(young.first_day) == "2026-08-03"
    rows = young.compare("billed_amount", periods=5).set_index("month")
    known = rows[["now_amount", "previous_amount", "year_ago_amount", "twelve_months_amount"]].notna()
    assert known["now_amount"].tolist() == [False, False, True, True, True]
    assert known["previous_amount"].tolist() == [False, False, False, True, True], "August begins with a weekend"
    assert not known[["year_ago_amount", "twelve_months_amount"]].any(axis=None)
    with pytest.raises(ParameterError, match="The period before begins on 1 July 2026, before the first day"):
        young.bridge("billed_amount", start="2026-08")
    assert young.lockup()["days"].iloc[0] == 90


@pytest.mark.filterwarnings("ignore::billframes.errors.BillframesWarning")
def test_available_hours_count_from_the_first_day(young):
    year = young.utilization(None, start="2026")
    since = young.utilization(None, start="2026-08-03", end="2026-10-31")
    columns = ["client_hours", "capacity_hours", "utilization"]
    assert_frame_equal(year[columns], since[columns])
    months = young.utilization("month", start="2026")
    assert months["capacity_hours"].sum() == pytest.approx(year["capacity_hours"].iloc[0])
    assert young.missing_time(start="2026")["date"].min() >= pd.Timestamp("2026-08-03")


@pytest.fixture(scope="module")
def load(client):
    """Return a function that loads a list as a kind of frame, once for all tests."""
    return functools.cache(lambda name, to: getattr(client, name)(to=to))


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("name", ["utilization", "scorecard", "new_business"])
@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_a_function_warns_of_a_period_that_ends_after_the_load(load, name, to):
    frames = {each: load(each, to) for each in ("time_entries", "matters", "users")}
    if name != "utilization":
        frames |= {each: load(each, to) for each in ("invoices", "expenses", "fixed_fees")}
    function = partial(getattr(bf.analysis, name), **frames, by=None, start="2026-10-01")
    with pytest.warns(
        IncompleteDataWarning, match=rf"{name}: the period ends on 2026-11-15, after the load \({LOADED}\)"
    ):
        function(end="2026-11-15")
    function(end=LOADED)
    if name != "new_business":
        function(end="2026-11-15", as_of=LOADED)


def test_frames_without_a_known_load_give_no_such_warning(october_book):
    entries = october_book.time_entries.copy()
    entries.attrs = {}
    book = {"users": october_book.users, "matters": october_book.matters}
    assert bf.analysis.utilization(entries, start="2026-Q4", by=None, **book)["utilization"].iloc[0] < 0.25
