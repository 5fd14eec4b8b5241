"""Rates by year, compared with figures worked out by hand, rates without years, and the sandbox's database."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes.analysis import effective_rates
from billframes.analysis.sheets.effective_rates import YEARLY_COLUMNS
from billframes.config.firm import FirmSettings
from billframes.errors import RatesHiddenWarning
from tests.analysis.test_properties_money import BOOKS, QUICK, frames

# Random invoices bill more than the work on them.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:billframes.errors.IncompleteDataWarning")
    for message in (".*are above their items", ".*nearly cancel")
]

# Ada has hours in 2024, 2025 and 2026; Ben's of 2024 and 2026 leave a gap. i6 is a credit note of nobody's.
WORK = (
    ("2024-05-02", "u1", "c1", "m1", "billable", 2.0, 380.0, "i1"),
    ("2024-05-03", "u2", "c1", "m1", "billable", 1.0, 100.0, "i1"),
    ("2025-05-02", "u1", "c1", "m1", "billable", 4.0, 800.0, "i2"),
    ("2026-05-02", "u1", "c2", "m1", "billable", 4.0, 800.0, "i3"),
    ("2026-05-03", "u1", "c2", "m2", "billable", 4.0, 1000.0, "i3"),
    ("2026-05-04", "u1", "c2", "m2", "billable", 1.0, 900.0, "i3"),
    ("2026-05-04", "u1", "c2", "m2", "billable", -1.0, -900.0, "i3"),
    ("2026-05-05", "u2", "c2", "m2", "billable", 1.0, 120.0, "i4"),
    ("2026-05-06", "u2", "c2", "m2", "nonBillable", 1.0, None, "i4"),
    ("2026-05-07", "u2", "c3", "m5", "billable", 1.0, 999.0, "i5"),
)
RATES = [190.0, 100.0, 200.0, 200.0, 250.0, 900.0, 900.0, 120.0, None, 999.0]
BILLS = (
    ("i1", "2024-06-01", "final", None, "c1", 480.0, 0.0),
    ("i2", "2025-06-01", "final", None, "c1", 800.0, 0.0),
    ("i3", "2026-06-01", "final", None, "c2", 1620.0, 0.0),
    ("i4", "2026-06-02", "final", None, "c2", 120.0, 0.0),
    ("i5", "2026-06-03", "final", None, "c3", 999.0, 0.0),
    ("i6", "2026-06-04", "final", None, "c1", -50.0, 0.0),
)


def run(firm, work=WORK, hourly=RATES, **options):
    none = firm.frame("matter_id user_id client_id amount invoice_id")
    given_frames = {
        "time_entries": firm.entries(*work, **({} if hourly is None else {"rate": hourly})),
        "expenses": none,
        "fixed_fees": none,
        "invoices": firm.invoices(*BILLS),
        "matters": firm.matters(),
    }
    return firm.rows(effective_rates(**given_frames, **({"by": ["user", "year"]} | options)))


def figures(rows, *names):
    return {(row["user_name"], row["year"]): [row[name] for name in names] for row in rows}


def test_growth_is_that_of_the_rate_on_the_year_before_and_missing_after_a_gap(firm):
    rows = figures(run(firm), "worked_rate", "worked_rate_growth", "effective_rate", "effective_rate_growth")
    assert rows["Ada", 2024] == [190.0, None, 190.0, None]
    assert rows["Ada", 2025] == pytest.approx([200.0, 10 / 190, 200.0, 10 / 190])
    assert rows["Ada", 2026] == pytest.approx([225.0, 0.125, 202.5, 0.0125])
    assert rows["Ben", 2026] == [120.0, None, 120.0, None]
    assert rows["Unassigned", 2026] == [None, None, None, None]


def test_rates_in_use_are_those_with_hours_on_matters_that_count(firm):
    """900 is corrected to no hours, and 999 is on a contingency matter."""
    rows = figures(run(firm), "lowest_rate", "highest_rate", "rates_in_use", "rate_spread")
    assert rows["Ada", 2026] == pytest.approx([200.0, 250.0, 2.0, 50 / 225])
    assert rows["Ben", 2026] == [120.0, 120.0, 1.0, 0.0]
    assert rows["Unassigned", 2026] == [None, None, 0.0, None]
    left_out = figures(run(firm), "left_out_hours", "left_out_amount", "left_out_billed_amount")
    assert left_out["Ben", 2026] == [1.0, 999.0, 999.0]


def test_hidden_rates_leave_the_effective_rate_and_its_growth(firm):
    hidden = [(*row[:6], None if row[1] == "u1" else row[6], row[7]) for row in WORK]
    hourly = [None if row[1] == "u1" else rate for row, rate in zip(WORK, RATES, strict=True)]
    names = ("worked_rate", "lowest_rate", "highest_rate", "rates_in_use", "rate_spread", "worked_rate_growth")
    with pytest.warns(RatesHiddenWarning, match="billable time entries have no amount"):
        rows = run(firm, hidden, hourly)
    assert figures(rows, *names)["Ada", 2026] == [None] * 6
    assert figures(rows, *names)["Ben", 2026] == [120.0, 120.0, 120.0, 1.0, 0.0, None]
    assert figures(rows, "effective_rate_growth")["Ada", 2026] == pytest.approx([202.5 / 200 - 1])


def test_standard_rates_hold_from_their_dates(firm):
    """Ada's 2 hours of 2024 are before her first rate; 4 of 2025 cost 200, and of 9 in 2026 all but 4 cost 250."""
    dated = {"2025-01-01": 200, "2026-01-01": 220.0, dt.date(2026, 5, 3): 250}
    settings = FirmSettings(standard_rates={"u1": dated, "u2": 100})
    rows = figures(run(firm, settings=settings), "standard_amount", "standard_rate", "standard_rate_growth")
    assert rows["Ada", 2024] == [None, None, None]
    assert rows["Ada", 2025] == [800.0, 200.0, None]
    assert rows["Ada", 2026] == pytest.approx([880.0 + 1000.0, 235.0, 0.175])
    assert rows["Ben", 2026] == [100.0, 100.0, None]
    assert "standard_rate" not in run(firm)[0]


def test_one_entry_without_a_rate_leaves_the_lowest_and_highest_missing(pandas_firm):
    hourly = [*RATES[:3], None, *RATES[4:]]
    rows = figures(run(pandas_firm, hourly=hourly), "lowest_rate", "highest_rate", "rates_in_use", "worked_rate")
    assert rows["Ada", 2026] == [None, None, None, 225.0]


@pytest.mark.parametrize("by", ["user", None, ["year", "month"], ["quarter"]])
def test_only_whole_years_are_compared(pandas_firm, by):
    assert not {*YEARLY_COLUMNS, "standard_rate"}.intersection(run(pandas_firm, by=by)[0])


def test_without_a_column_of_rates_only_the_rates_in_use_are_missing(firm):
    names = ("lowest_rate", "highest_rate", "rates_in_use", "rate_spread")
    rows = run(firm, hourly=None)
    assert figures(rows, "worked_rate", "worked_rate_growth")["Ada", 2026] == pytest.approx([225.0, 0.125])
    assert figures(rows, *names)["Ada", 2026] == [None] * 4


@pytest.mark.slow
@QUICK
@given(
    book=BOOKS,
    by=st.sampled_from([[], ["user"], ["client", "originator"]]),
    basis=st.sampled_from(["invoice_date", "work_date"]),
)
def test_hours_amounts_and_rates_are_those_of_rows_of_single_months(pandas_firm, book, by, basis):
    entries, bills, costs, fees = frames(pandas_firm, book)
    hours = entries["hours"].where(entries["hours"] != 0)
    entries = entries.assign(rate=(entries["amount"] / hours).round(2))
    given_frames = {"time_entries": entries, "expenses": costs, "fixed_fees": fees, "invoices": bills}
    options = {"basis": basis, "matters": pandas_firm.matters()}
    rows = effective_rates(**given_frames, **options, by=[*by, "year"])
    months = effective_rates(**given_frames, **options, by=[*by, "year", "month"])
    keys = list(rows.columns[: rows.columns.get_loc("billable_hours")])
    sums = ["billable_hours", "billed_amount", "worked_amount"]
    wanted = months.groupby(keys, dropna=False, as_index=False)[sums].sum(min_count=1)
    assert rows[sums].sum().tolist() == pytest.approx(wanted[sums].sum().tolist(), abs=1e-6)
    both = rows.merge(wanted, on=keys, suffixes=("", "_of_months"))
    assert len(both) == len(rows) == len(wanted)
    for name in sums:
        pd.testing.assert_series_equal(
            both[name], both[f"{name}_of_months"], check_names=False, check_dtype=False, atol=1e-6
        )
    used = rows[rows["rates_in_use"] > 0]
    assert (used["lowest_rate"] <= used["highest_rate"]).all()


@pytest.fixture(scope="module")
def book(october_book):
    return october_book


def test_a_books_rates_of_all_years_are_the_databases(book, sql):
    query = """
        select t.user_id, cast(substr(i.invoice_date, 1, 4) as integer) as year, sum(t.hours), sum(t.amount),
            min(case when t.hours > 0 then t.rate end), max(case when t.hours > 0 then t.rate end),
            count(distinct case when t.hours > 0 then t.rate end)
        from time_entry t join invoice i using (invoice_id) join matter m using (matter_id)
        where t.billing_type = 'billable' and i.invoice_state = 'final'
            and i.invoice_date <= '2026-10-31' and m.matter_type in ('hourly', 'fixedFee')
        group by 1, 2
        """
    rows = book.effective_rates(by=["user", "year"]).set_index(["user_id", "year"])
    wanted = sql(query)
    assert len({year for _, year, *_ in wanted}) > 2
    for person, year, hours, worth, lowest, highest, count in wanted:
        row = rows.loc[(person, year)]
        assert row["worked_rate"] == pytest.approx(worth / hours)
        assert row[["lowest_rate", "highest_rate"]].tolist() == [lowest / 1e4, highest / 1e4]
        assert row["rates_in_use"] == count
        before = rows["worked_rate"].get((person, year - 1))
        growth = row["worked_rate"] / before - 1 if before else float("nan")
        assert row["worked_rate_growth"] == pytest.approx(growth, nan_ok=True)
