"""A comparison has the figures of the analysis for each period, and refuses today's balances for past days."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest
from hypothesis import given

import billframes as bf
from billframes.analysis import compare, realization
from billframes.analysis.results.compared_results import analysis_of
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError
from tests.analysis.conftest import rows_of
from tests.analysis.test_properties_money import BOOKS, QUICK, frames


@pytest.fixture(scope="module")
def book(october_book):
    return october_book


def fees(**months: float) -> dict[str, pd.DataFrame]:
    """Results of one row each, by month."""
    return {month[1:].replace("_", "-"): pd.DataFrame({"billed_amount": [fee]}) for month, fee in months.items()}


def test_each_figure_is_that_of_the_analysis_for_its_period(book):
    rows = book.compare("billing_realization", every="quarter", periods=2, by="practice_area")
    for quarter, of_quarter in rows.groupby("quarter"):
        over = {"start": quarter} if quarter == "2026-Q3" else {"start": "2026-10-01", "end": "2026-10-31"}
        wanted = book.realization("practice_area", **over).set_index("practice_area_label")["billing_realization"]
        actual = of_quarter.set_index("practice_area_label")["now_ratio"]
        pd.testing.assert_series_equal(actual.reindex(wanted.index), wanted, check_names=False)
    whole = book.realization("practice_area", start="2025-10-01", end="2026-09-30")
    third = rows[rows["quarter"] == "2026-Q3"].set_index("practice_area_label")
    for row in whole.dropna(subset=["billing_realization"]).itertuples():
        assert third.loc[row.practice_area_label, "twelve_months_ratio"] == pytest.approx(row.billing_realization)


@pytest.mark.parametrize(
    ("measure", "by"),
    [
        ("billed_amount", None),
        ("settlement_ratio", "client"),
        ("utilization", "user"),
        ("idle_capacity_hours", "user"),
        ("effective_rate", "responsible"),
        ("share", "client"),
        ("largest_share", None),
        ("write_down_ratio", ["practice_area", "responsible"]),
    ],
)
def test_months_of_a_book_are_those_of_a_call_for_each(book, measure, by):
    rows = book.compare(measure, by=by, periods=2)
    analysis = getattr(book, analysis_of(measure))
    names = ["2025-09", "2025-10", "2026-08", "2026-09", "2026-10"]
    each = compare({name: analysis(by, start=name) for name in names}, measure, periods=2)
    figures = [name for name in each if not name.startswith("twelve_months")]
    keys = [name for name in figures if not name.endswith(("_amount", "_ratio", "_hours", "_rate"))]
    months, wanted = (frame[figures].set_index(keys).dropna(how="all").sort_index() for frame in (rows, each))
    # Groups that only other months have are rows of 0 or of nothing.
    months = months.reindex(wanted.index)
    pd.testing.assert_frame_equal(months, wanted, rtol=1e-9, atol=1e-6)


def test_a_book_names_a_figure_that_its_results_lack_and_refuses_a_second_period(book):
    with pytest.raises(MissingColumnError, match="has no column 'collected_amount'; it has"):
        book.compare("collected_amount")
    with pytest.raises(ParameterError, match="compare has a row for each month, and can't be by year"):
        book.compare("billed_amount", by=["client", "year"])


def test_months_of_fees_are_the_databases(book, sql):
    query = """
        select substr(invoice_date, 1, 7), sum(i.amount
          - coalesce((select sum(amount) from expense where invoice_id = i.invoice_id), 0)
          - coalesce((select sum(amount) from fixed_fee where invoice_id = i.invoice_id), 0)) / 10000.0
        from invoice i where invoice_state = 'final' group by 1
        """
    wanted = dict(sql(query))
    every = ("hourly", "fixedFee", "contingency", "probono", "internal")
    months = [f"{year}-{month:02}" for year, month in ((2025, 9), (2025, 10), (2026, 9), (2026, 10))]
    rows = compare({month: book.realization(start=month, matter_types=every) for month in months}, "billed_amount")
    (last,) = rows[rows["month"] == "2026-10"].to_dict("records")
    assert last["now_amount"] == pytest.approx(wanted["2026-10"])
    assert last["since_previous_amount"] == pytest.approx(wanted["2026-10"] - wanted["2026-09"])
    assert last["since_year_ago_amount"] == pytest.approx(wanted["2026-10"] - wanted["2025-10"])
    assert pd.isna(last["twelve_months_amount"])


def test_periods_that_were_not_passed_are_missing_and_absent_keys_count_as_zero():
    rows = compare(fees(_2026_08=10.0, _2026_10=30.0), "billed_amount").set_index("month")
    assert rows.index.tolist() == ["2026-08", "2026-10"]
    assert pd.isna(rows.loc["2026-10", "previous_amount"])
    one = pd.DataFrame({"client_id": ["c1"], "billed_amount": [5.0], "worked_amount": [10.0]})
    one["billing_realization"] = 0.5
    both = {"2026-09": one, "2026-10": one.assign(client_id="c2")}
    actual = compare(both, "billed_amount").set_index(["client_id", "month"])["now_amount"]
    assert actual.tolist() == [5.0, 0.0, 0.0, 5.0]
    assert compare(both, "billing_realization")["now_ratio"].isna().tolist() == [False, True, True, False]


@pytest.mark.slow
@QUICK
@given(book=BOOKS)
def test_rows_re_add_to_the_analysis_of_each_month_and_of_the_year(pandas_firm, book):
    given_frames = dict(
        zip(("time_entries", "invoices", "expenses", "fixed_fees"), frames(pandas_firm, book), strict=True)
    )
    matters = pandas_firm.matters()
    months = [f"{2025 + nth // 12}-{nth % 12 + 1:02}" for nth in range(11, 23)]
    results = {month: realization(**given_frames, by="matter", start=month, matters=matters) for month in months}
    rows = compare(results, "billed_amount")
    for month, of_month in rows.groupby("month"):
        assert of_month["now_amount"].sum() == pytest.approx(results[month]["billed_amount"].sum(), abs=1e-6)
    # Rows by matter add up to the firm's, as `test_properties_money.py` shows; here for one month, to be quick.
    wanted = realization(**given_frames, start=months[-1], matters=matters)["billed_amount"].sum()
    last = rows[rows["month"] == months[-1]]
    assert last["now_amount"].sum() == pytest.approx(wanted, abs=1e-6)
    whole = realization(**given_frames, start=f"{months[0]}-01", end="2026-11-30", matters=matters)
    assert last["twelve_months_amount"].sum() == pytest.approx(whole["billed_amount"].sum(), abs=1e-6)


def test_a_key_can_have_the_name_of_another_analysiss_figure():
    fees = {"2026-10": pd.DataFrame({"item_id": ["a"], "billed_amount": [1.0]})}
    assert list(compare(fees, "billed_amount"))[:2] == ["item_id", "month"]


def test_periods_as_columns_are_the_rows_side_by_side(book):
    of_months = {month: book.realization("client", start=month) for month in ("2026-08", "2026-09", "2026-10")}
    long = compare(of_months, "billing_realization", periods=2)
    wide = compare(of_months, "billing_realization", periods=2, as_columns=True).set_index("client_id")
    assert wide.columns.tolist()[1:] == [
        "until",
        *("ratio_2026-09", "ratio_2026-10", "since_previous_ratio", "since_year_ago_ratio", "twelve_months_ratio"),
    ]
    for month, rows in long.groupby("month"):
        actual = rows.set_index("client_id")["now_ratio"]
        pd.testing.assert_series_equal(wide[f"ratio_{month}"], actual, check_names=False)
    last = long[long["month"] == "2026-10"].set_index("client_id")["since_previous_ratio"]
    pd.testing.assert_series_equal(wide["since_previous_ratio"], last)
    shown = bf.tables.compare(wide.reset_index()).as_raw_html()
    assert "2026-09" in shown
    assert "Billing realization, compared by client" in shown
    assert bf.plots.compare(long).get_title(loc="left").startswith("Billing realization, beside the year before by")


def test_twelve_months_are_the_sum_of_all_of_them():
    months = {f"_2025_{month:02}": float(month) for month in range(1, 13)}
    rows = compare(fees(**months), "billed_amount", periods=1)
    assert rows[["month", "twelve_months_amount"]].to_numpy().tolist() == [["2025-12", 78.0]]


def test_balances_need_results_of_each_day(book):
    with pytest.raises(ParameterError, match=r"a figure of one day, .* no history.* A mirror keeps past versions"):
        compare({"2026-10": pd.DataFrame({"total": [80.0]})}, "total")
    for measure in ("total", "wip_amount", "receivable_amount", "overdue"):
        with pytest.raises(ParameterError, match="figures of one day"):
            book.compare(measure)
    owed = {"2026-09": pd.DataFrame({"total": [100.0]}), "2026-10": pd.DataFrame({"total": [80.0]})}
    rows = compare(owed, "total", of_each_day=True)
    assert rows["since_previous_amount"].tolist()[-1] == -20.0
    assert rows["twelve_months_amount"].isna().all()


def test_a_measure_of_another_unit_is_refused_with_its_unit():
    results = {"2026-10": pd.DataFrame({"mean_lag_days": [20.0]})}
    with pytest.raises(ParameterError, match=r"'mean_lag_days' \(unit: days\) can't be compared"):
        compare(results, "mean_lag_days")


ONE = pd.DataFrame({"billed_amount": [1.0]})
REFUSED = {
    "no periods": ({}, "has the periods none"),
    "periods of two kinds": ({"2026-10": ONE, "2026-Q3": ONE}, "or quarters such as"),
    "words": ({"October": ONE}, "it takes months such as"),
    "other keys": ({"2026-09": ONE, "2026-10": ONE.assign(client_id="c1")[["client_id", "billed_amount"]]}, "same by="),
    "months in them": ({"2026-09": ONE.assign(month="2026-09")[["month", "billed_amount"]]}, "is grouped by month"),
    "a key twice": ({"2026-09": pd.concat([ONE, ONE])}, "twice"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_misleading_input_is_refused(case):
    results, message = REFUSED[case]
    with pytest.raises(ParameterError, match=message):
        compare(results, "billed_amount")


def test_what_is_not_there_is_named():
    with pytest.raises(ParameterError, match="periods=0 must be a whole number of periods above 0"):
        compare({"2026-10": ONE}, "billed_amount", periods=0)
    with pytest.raises(MissingColumnError, match="has no column 'client_hours'"):
        compare({"2026-10": ONE}, "client_hours")


def fees_of(book, start, end):
    return pytest.approx(book.realization(start=start, end=end)["billed_amount"].iloc[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("every", "until", "previous", "year_ago", "a_year"),
    [
        ("quarter", "2026-10-31", ("2026-07-01", "2026-07-31"), ("2025-10-01", "2025-10-31"), "2025-11-01"),
        ("month", "2026-10-14", ("2026-09-01", "2026-09-14"), ("2025-10-01", "2025-10-14"), "2025-10-15"),
        ("month", "2026-09-30", ("2026-08-01", "2026-08-31"), ("2025-09-01", "2025-09-30"), "2025-10-01"),
        ("month", "2025-02-28", ("2025-01-01", "2025-01-31"), ("2024-02-01", "2024-02-29"), "2024-03-01"),
        ("year", "2026-10-31", ("2025-01-01", "2025-10-31"), ("2025-01-01", "2025-10-31"), "2025-11-01"),
        ("fiscal_year", "2026-10-05", ("2025-04-06", "2025-10-05"), ("2025-04-06", "2025-10-05"), "2025-10-06"),
    ],
)
def test_a_period_that_is_not_over_is_compared_with_the_same_days(client, every, until, previous, year_ago, a_year):
    settings = bf.FirmSettings(fiscal_year_start="04-06")
    book = bf.book(until[:8] + "01", until, client=client, settings=settings)
    row = book.compare("billed_amount", every=every, periods=1).iloc[0]
    assert str(row["until"].date()) == until
    assert row["previous_amount"] == fees_of(book, *previous)
    assert row["year_ago_amount"] == fees_of(book, *year_ago)
    assert row["twelve_months_amount"] == fees_of(book, a_year, until)


def test_without_alignment_whole_periods_are_compared(october_book):
    row = october_book.compare("billed_amount", every="quarter", periods=1, align=False).iloc[0]
    assert row["previous_amount"] == fees_of(october_book, "2026-07-01", "2026-09-30")
    assert row["twelve_months_amount"] == fees_of(october_book, "2026-01-01", "2026-10-31")


@pytest.mark.slow
@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
@pytest.mark.filterwarnings("ignore:.*are on matters of unknown type")
def test_results_of_unequal_days_are_not_compared(whole, to):
    """The data end on 31 October 2026: twelve months are never set beside ten."""
    frames = {name: whole[to][name] for name in ("time_entries", "expenses", "fixed_fees", "invoices")}
    results = {year: realization(**frames, start=year) for year in ("2025", "2026")}
    with pytest.warns(IncompleteDataWarning, match="2026 counts only the days up to 2026-10-31, and 2025 is whole"):
        (_, row) = rows_of(compare(results, "billed_amount"))
    assert [row[name] for name in ("previous_amount", "since_year_ago_amount", "twelve_months_amount")] == [None] * 3
    assert row["until"].date() == dt.date(2026, 10, 31)
    (_, row) = rows_of(compare(results, "billed_amount", align=False))
    assert row["since_year_ago_amount"] == pytest.approx(-670576.73)
    results["2025"] = realization(**frames, start="2025-01-01", end="2025-10-31")
    (row,) = rows_of(compare(results, "billed_amount", periods=1))
    assert row["since_year_ago_amount"] == pytest.approx(69267.28)


def test_results_that_remember_no_days_are_compared_as_they_are():
    rows = compare(fees(_2026_09=10.0, _2026_10=30.0), "billed_amount")
    assert rows["since_previous_amount"].tolist()[1] == 20.0
    assert rows["until"].isna().all()


@pytest.mark.slow
def test_fiscal_periods_are_compared(client):
    book = bf.book("2026-10", client=client, settings=bf.FirmSettings(fiscal_year_start="07"))
    rows = book.compare("billed_amount", every="fiscal_quarter", periods=2)
    assert rows["fiscal_quarter"].tolist() == ["FY2027-Q1", "FY2027-Q2"]
    assert rows["now_amount"].tolist()[0] == fees_of(book, "2026-07-01", "2026-09-30")
    assert rows["previous_amount"].tolist()[1] == fees_of(book, "2026-07-01", "2026-07-31")
    plain = bf.book("2026-10", client=client)
    with pytest.raises(ParameterError, match="every='fiscal_year' needs the first day of the fiscal year"):
        plain.compare("billed_amount", every="fiscal_year")
