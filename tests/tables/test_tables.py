"""Tables show the numbers of the result, formatted, with their total and what they mean; text is only text."""

from __future__ import annotations

import builtins

import pandas as pd
import polars as pl
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes import tables
from billframes.analysis.declare.lookup import measure, measures
from billframes.errors import ConfigError, MissingColumnError, ParameterError

DECLARED = [name for name in tables.__all__ if name != "TableOf"]


@pytest.fixture
def fees() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "client_id": ["c1", "c2", None],
            "client_name": ["<script>alert(1)</script> & Co", "Bolt *b* $5", "Unassigned"],
            "worked_amount": [1_234_567.4, 0.0, 100.0],
            "billed_amount": [1_000_000.0, 0.0, -50.25],
            "write_down_amount": [234_567.4, 0.0, 150.25],
            "billing_realization": [0.81, None, -0.5025],
            "settled_amount": [500_000.0, 0.0, 0.0],
            "settlement_ratio": [0.5, None, 0.0],
            "overall_realization": [0.405, None, 0.0],
            "billable_hours": [2_000.04, 0.0, 1.0],
            "effective_rate": [500.0, None, -50.25],
        }
    )


def page(table) -> BeautifulSoup:
    return BeautifulSoup(table.as_raw_html(), "html.parser")


def grid(table) -> list[list[str]]:
    return [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in page(table).tbody.find_all("tr")]


def headings(table) -> list[str]:
    return [cell.get_text() for cell in page(table).select("tr.gt_col_headings th")]


def test_numbers_are_formatted_and_the_total_is_of_sums(fees):
    table = tables.realization(fees)
    assert headings(table)[:6] == [
        "Client",
        "Hours of billed work",
        "Value of time billed",
        "Written down",
        "Fees billed",
        "Billing realization",
    ]
    rows = grid(table)
    assert rows[0][1:] == ["2,000.0", "1,234,567", "234,567", "1,000,000", "81.0%", "500", "500,000", "50.0%"]
    assert rows[1][1:] == ["0.0", "0", "0", "0", "–", "–", "0", "–"]
    assert rows[2][4:6] == ["−50", "−50.3%"]
    assert rows[3] == ["Total", "2,001.0", "1,234,667", "234,718", "999,950", "81.0%", "500", "500,000", "50.0%"]


@pytest.mark.parametrize("to", [lambda frame: frame, pl.from_pandas])
def test_results_of_two_days_in_one_frame_are_not_added_up(fees, to):
    twice = to(pd.concat([fees, fees.assign(billed_amount=5.0)]))
    for show in (tables.realization, bf.plots.realization):
        with pytest.raises(ParameterError, match=r"several rows of the same group, for example of <script>.*each day"):
            show(twice)
    without_ids = twice.drop(columns="client_id") if to is not pl.from_pandas else twice.drop("client_id")
    with pytest.raises(ParameterError, match="several rows of the same group"):
        tables.realization(without_ids)


def test_two_rows_of_the_whole_firm_are_not_added_up(fees):
    whole = fees.iloc[:1].drop(columns=["client_id", "client_name"])
    with pytest.raises(ParameterError, match="several rows of the same group, for example of the whole firm"):
        tables.realization(pd.concat([whole, whole]))


def test_clients_with_one_name_and_rows_of_two_months_are_different_groups(fees):
    same = fees.assign(client_name="Acme")
    assert len(grid(tables.realization(same))) == 4
    assert len(grid(tables.realization(same.drop(columns="client_id").iloc[:2]))) == 3
    months = [fees.assign(month=month)[["month", *fees]] for month in ("2026-09", "2026-10")]
    assert grid(tables.realization(pd.concat(months)))[-1][2] == "4,002.1"


def _with_total(fees, **labels):
    sums = fees.select_dtypes("number").sum()
    return pd.concat([fees, pd.DataFrame([{**sums, **labels}])], ignore_index=True)


@pytest.mark.parametrize("labels", [{}, {"client_name": "Total"}, {"client_name": "Grand total:"}])
@pytest.mark.parametrize("to", [lambda frame: frame, lambda frame: frame.round(), pl.from_pandas])
def test_a_total_among_the_rows_is_not_added_up(fees, labels, to):
    for show in (tables.realization, bf.plots.realization):
        with pytest.raises(ParameterError, match=r"a row that is the total of the other rows.*Remove it \(row 3\)"):
            show(to(_with_total(fees, **labels)))
    with pytest.raises(ParameterError, match="a row that is the total of the other rows"):
        tables.realization(to(_with_total(fees.drop(columns="client_id"), **labels)))


def test_a_client_named_total_is_no_total(fees):
    assert len(grid(tables.realization(_with_total(fees, client_id="c9", client_name="Total")))) == 5
    assert len(grid(tables.realization(fees.assign(client_name="Total").drop(columns="client_id")))) == 4


def test_text_is_escaped_and_no_mark_up(fees):
    html = tables.realization(fees, title="<b>Fees</b>").as_raw_html()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; Co" in html
    assert "Bolt *b* $5" in html


def test_a_key_with_mark_up_in_its_name_is_escaped(fees):
    html = tables.realization(
        fees.drop(columns="client_id").rename(columns={"client_name": "<img src=x>"})
    ).as_raw_html()
    assert "<img" not in html


def test_the_title_says_what_is_shown_and_the_note_what_it_means(fees):
    shown = page(tables.realization(fees))
    assert shown.select_one(".gt_title").get_text() == "Realization by client"
    assert (
        shown.select_one(".gt_sourcenote")
        .get_text()
        .startswith("billing realization = fees billed ÷ value of time billed; ")
    )


def test_a_table_is_the_same_each_time(fees):
    first, again = (tables.realization(fees).as_raw_html() for _ in range(2))
    assert first == again
    assert 'id="billframes-realization"' in first


def test_a_table_in_text_is_its_title(fees):
    assert repr(tables.realization(fees)) == "<table: Realization by client>"


def test_a_total_that_is_passed_is_the_last_row(fees):
    total = fees.iloc[[0]].drop(columns=["client_id", "client_name"]).assign(effective_rate=123.0)
    assert grid(tables.realization(fees, total=total))[-1][6] == "123"
    assert len(grid(tables.realization(fees, total=False))) == 3
    with pytest.raises(
        ParameterError, match=r"total has 3 rows; it takes the one row of billframes.analysis.realization\(\)"
    ):
        tables.realization(fees, total=fees)


def test_one_row_of_everything_needs_no_total(fees):
    rows = grid(tables.realization(fees.iloc[:1].drop(columns=["client_id", "client_name"])))
    assert [row[0] for row in rows] == ["All"]


def test_a_result_without_rows_is_a_table_without_rows(fees):
    assert grid(tables.realization(fees.iloc[:0])) == []


def test_every_key_has_a_column_and_months_are_not_broken(fees):
    both = fees.assign(month="2026-10")[["client_id", "client_name", "month", *fees.columns[2:]]]
    table = tables.realization(both)
    assert headings(table)[:2] == ["Client", "Month"]
    assert grid(table)[-1][:2] == ["Total", ""]
    assert "white-space: nowrap" in page(table).tbody.find("td")["style"]


def test_other_engines_give_the_same_table(fees):
    table = tables.realization(fees).as_raw_html()
    frame = pl.from_pandas(fees)
    assert tables.realization(frame).as_raw_html() == table
    assert tables.realization(frame.lazy()).as_raw_html() == table
    assert tables.realization(frame.to_arrow()).as_raw_html() == table


def test_buckets_are_those_of_the_result():
    owed = pd.DataFrame(
        {"0-45": [5.0], "46+": [-1.0], "total": [4.0], "overdue": [0.0], "weighted_days_overdue": [None]}
    )
    table = tables.aging(owed)
    assert headings(table)[1:] == ["0–45 days", "46+ days", "Total", "Overdue", "Average days past due"]
    assert grid(table) == [["All", "5", "−1", "4", "0", "–"]]


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_table_shows_columns_of_its_analysis(name):
    declared = getattr(tables, name)
    assert declared.analysis == name
    names = set(declared.columns) - {"buckets", "periods"}
    assert {each for each in names if measure(each) is None} == set()
    assert set(declared.optional) <= names
    assert declared.definition


@pytest.mark.parametrize("name", DECLARED)
def test_a_frame_of_something_else_says_what_is_missing(name):
    call = f"billframes.{'' if name == 'figures' else 'analysis.'}{name}"
    with pytest.raises(MissingColumnError, match=rf"The table needs .* pass a result of {call}\(\)"):
        getattr(tables, name)(pd.DataFrame({"nothing": [1.0]}))
    with pytest.raises(ParameterError, match="result is an int; the table takes a frame"):
        getattr(tables, name)(5)


def test_without_great_tables_the_error_says_what_to_install(fees, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "great_tables":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError, match="pip install great-tables"):
        bf.tables.realization(fees)


def test_a_formula_reads_in_the_words_of_the_headings():
    assert tables.utilization.definition == "utilization = client hours ÷ available hours"
    assert measures()["client_hours"].title == "Client hours"
