"""The facts that users add up are the rows of the analyses: their sums are the analyses' figures."""

from __future__ import annotations

import inspect
import re

import pandas as pd
import polars as pl
import pytest

import billframes as bf

DAY = pd.Timestamp("2026-10-31")
OCTOBER = {"start": "2026-10-01", "end": "2026-10-31"}
FRAMES = ("time_entries", "expenses", "fixed_fees", "invoices", "matters")


@pytest.fixture(scope="module")
def work(october_book):
    return october_book.fact("work")


@pytest.fixture(scope="module")
def invoices(october_book):
    return october_book.fact("invoices")


def sums(rows, keys, *columns):
    return rows.groupby(keys, dropna=False)[list(columns)].sum(skipna=False)


def assert_same(own, result, keys, columns):
    """Compare groups that are not 0 with those of an analysis."""
    theirs = result.set_index(keys)[list(columns.values())]
    theirs.columns = list(columns)
    own = own.where(own.abs() > 1e-6, 0.0)
    own, theirs = own[(own != 0).any(axis=1)], theirs[(theirs.abs() > 1e-6).any(axis=1)]
    pd.testing.assert_frame_equal(own.sort_index(), theirs.sort_index(), check_names=False, check_index_type=False)


def in_october(rows):
    return rows["is_final"] & rows["invoice_date"].between(*OCTOBER.values())


def test_value_fees_and_settled_fees_are_those_of_realization(october_book, work):
    counted = in_october(work) & ~work["matter_type"].isin(["contingency", "probono", "internal"])
    rows = work[counted & work["kind"].isin(["time", "fees"])]
    rows = rows.assign(value=rows["value"].where(rows["is_billable"], 0.0))
    columns = {"value": "worked_amount", "time_fees": "billed_amount", "settled_time_fees": "settled_amount"}
    assert_same(sums(rows, "user_id", *columns), october_book.realization(by="user"), "user_id", columns)


def test_all_fees_are_those_of_contribution(october_book, work, invoices):
    rows = work[in_october(work)]
    fixed = rows["amount"].where(rows["kind"] == "fixed_fee", 0.0)
    rows = rows.assign(all_fees=rows["time_fees"] + fixed)
    result = october_book.contribution(by="client")
    assert_same(sums(rows, "client_id", "all_fees"), result, "client_id", {"all_fees": "fees_amount"})
    dated = (invoices["invoice_state"] == "final") & invoices["invoice_date"].between(*OCTOBER.values())
    assert invoices.loc[dated, "fees"].sum() == pytest.approx(result["fees_amount"].sum(), abs=0.005)


def test_open_work_is_that_of_wip(october_book, work):
    waits = (work["date"] <= DAY) & ~(work["is_final"] & (work["invoice_date"] <= DAY))
    rows = work[waits & (work["matter_type"] != "contingency")]
    rows = rows.assign(charged=rows["value"].where(rows["kind"] == "time", rows["amount"]))
    assert_same(sums(rows, "matter_id", "charged"), october_book.wip("matter"), "matter_id", {"charged": "total"})


def test_balances_are_those_of_aging(october_book, work, invoices):
    rows = work[work["is_final"] & (work["invoice_date"] <= DAY)]
    assert_same(sums(rows, "matter_id", "open"), october_book.aging("matter"), "matter_id", {"open": "total"})
    owed = invoices[(invoices["invoice_state"] == "final") & (invoices["invoice_date"] <= DAY)]
    assert_same(sums(owed, "client_id", "balance"), october_book.aging("client"), "client_id", {"balance": "total"})


@pytest.mark.parametrize("name", ["work", "invoices"])
def test_frames_of_every_kind_have_the_rows_of_the_book(october_book, name):
    frames = {each: getattr(october_book, each) for each in FRAMES}
    expected = october_book.fact(name)
    pd.testing.assert_frame_equal(bf.analysis.fact(name, **frames, settings=october_book.settings), expected)
    found = bf.analysis.fact(
        name, **{each: pl.from_pandas(frame) for each, frame in frames.items()}, settings=october_book.settings
    )
    numbers = expected.select_dtypes("number")
    assert isinstance(found, pl.DataFrame)
    assert found.columns == list(expected)
    pd.testing.assert_series_equal(found.to_pandas()[list(numbers)].sum(), numbers.sum(), rtol=1e-9)


def test_a_hidden_value_is_missing(october_book):
    frames = {each: getattr(october_book, each) for each in FRAMES}
    entries = frames["time_entries"].copy()
    at = entries.index[(entries["billing_type"] == "billable") & (entries["hours"] > 0)][0]
    entries.loc[at, ["amount", "rate"]] = None
    entries = bf.forget(entries)
    work = bf.analysis.fact("work", **frames | {"time_entries": entries})
    assert work["value"].isna().sum() == 1
    assert pd.isna(work["value"].sum(skipna=False))


def test_another_name_is_refused(october_book):
    with pytest.raises(bf.errors.ParameterError, match="work"):
        october_book.fact("works")


@pytest.mark.parametrize("name", ["work", "invoices"])
def test_the_help_says_what_each_column_is(october_book, name):
    part = (
        inspect.getdoc(bf.analysis.fact).split(f'The columns of "{name}":')[1].partition("\n\n")[2].partition("\n\n")[0]
    )
    documented = {each for row in part.splitlines() for each in re.findall(r"`(\w+)`", row.partition(": ")[0])}
    assert documented | {"client_name", "matter_name", "user_name"} >= {*october_book.fact(name)} >= documented
