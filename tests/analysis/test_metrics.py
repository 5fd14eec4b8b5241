"""Every column of a result has a title, a unit and a meaning, and its total is that of the analysis."""

from __future__ import annotations

import inspect
import itertools
import re
from dataclasses import replace

import pandas as pd
import pytest

import billframes as bf
from billframes.analysis.declare.lookup import analyses, measure, measures
from billframes.analysis.declare.metrics import SHARED, UNITS, bucket_measure
from billframes.analysis.results.result_rows import total_of
from billframes.book import Book
from billframes.schema import resources
from billframes.schema.sources import sources_of

from . import calls


@pytest.fixture(scope="module")
def book(client):
    """A month of a firm with settings for everything that the API does not have."""
    people = client.users()["user_id"]
    settings = bf.FirmSettings(
        standard_rates=dict.fromkeys(people, 400.0),
        cost_rates=dict.fromkeys(people, 150.0),
        targets={user: {"hours": 1600, "period": "year"} for user in people[:5]},
        budgets=dict.fromkeys(client.matters()["matter_id"], 25_000.0),
    )
    return bf.book("2026-10", settings=settings, client=client)


# A record of forecasts needs a mirror.
IN_BOOKS = sorted(name for name in analyses() if hasattr(Book, name) and name != "cash_forecast_record")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(of our open invoices|match(es)? no client|never been compared|those loaded)")
@pytest.mark.parametrize("name", IN_BOOKS)
def test_an_analysis_declares_every_number_of_its_result(name, book):
    needed = {"tie_out": {"ledger": calls.ledger()}}
    needed |= {each: {"payments": calls.payments_of(None)} for each in ("fees_collected", "days_to_pay")}
    result = getattr(book, name)(**needed.get(name, {}))
    numbers = result.select_dtypes(["number", "datetime"]).columns
    declared = {each.name for each in bf.explain(name).columns}
    of_loaders = {source.column.name for each in resources.RESOURCES for source in sources_of(each.record)}
    # Rates are by year, which is a key.
    assert [each for each in numbers if each not in declared | of_loaders | {"year"}] == []


@pytest.mark.parametrize("name", sorted(analyses()))
def test_a_docstring_names_the_columns_that_are_declared(name):
    """Columns that only a book's method adds are in the docstring of that method. `now_…` ends in any unit."""
    returns = inspect.getdoc(getattr(bf.analysis, name)).partition("Returns\n---")[2].partition("\n---")[0]
    named = {each for each in re.findall(r"`([^`\s]+)`", returns) if measure(each)}
    declared = {each.name for each in bf.explain(name).columns}
    stems = tuple(re.findall(r"`(\w+_)…`", returns))
    named |= {each for each in declared if stems and each.startswith(stems)}
    assert named - set(inspect.signature(getattr(bf.analysis, name)).parameters) <= declared
    assert declared - named <= {"as_of", "fees_start", "fees_end", "contingent_amount"}


def test_a_column_is_declared_once_and_retitling_changes_only_title_meaning_and_formula():
    named = dict(SHARED)
    for analysis in analyses().values():
        for each in analysis.columns:
            first = each if bucket_measure(each.name) else named.setdefault(each.name, each)
            assert first is each or each.title != first.title, f"{each.name} of {analysis.name}"
            assert replace(each, title=first.title, meaning=first.meaning, formula=first.formula) == first
    assert named.keys() <= measures().keys()


def test_units_are_known_and_titles_are_unambiguous():
    assert {each.unit for each in measures().values()} <= UNITS.keys()
    titles = [each.title for each in measures().values()]
    assert len(set(titles)) == len(titles)
    assert all(each.meaning.endswith(".") for each in measures().values())


def test_the_columns_of_ratios_are_measures():
    for each in measures().values():
        assert {*itertools.chain(*each.ratios)} <= measures().keys()
        assert sum((each.adds_up, bool(each.ratios), each.parts is not None)) <= 1


# Totals that can't be computed from the rows: of medians, of people in several rows, of figures that need an order.
UNKNOWN_TOTALS = {
    *("weighted_days_overdue", "median_lag_days", "p90_lag_days", "oldest_date", "running_share"),
    *("heads_leverage", "principals", "non_principals", "unknown_role_people"),
}
GROUPED = {
    "realization": "originator",
    "utilization": "user",
    "aging": "client",
    "wip": "client",
    "leverage": "practice_area",
    "contribution": "client",
    "profitability": "user",
    "billing_lag": "user",
    "timekeeping_lag": "user",
}


@pytest.mark.parametrize(("name", "by"), GROUPED.items())
def test_the_total_of_the_rows_is_the_analysis_of_everything(name, by, book):
    analyse = getattr(book, name)
    whole, rows = analyse(None).iloc[0], analyse(by)
    total = total_of(rows)
    known = {column: value for column, value in total.items() if pd.notna(value)}
    assert {column: whole[column] for column in known} == pytest.approx(known)
    assert set(whole.index) - set(known) <= UNKNOWN_TOTALS | set(rows.columns[rows.isna().all()])


def test_a_missing_amount_makes_the_total_missing_and_a_missing_target_does_not():
    rows = pd.DataFrame(
        {
            "worked_amount": [100.0, None],
            "billed_amount": [90.0, 10.0],
            "billing_realization": [0.9, None],
            "target_hours": [100.0, None],
            "pace": [0.5, None],
        }
    )
    total = total_of(rows)
    assert pd.isna(total["worked_amount"])
    assert pd.isna(total["billing_realization"])
    assert (total["billed_amount"], total["target_hours"], total["pace"]) == (100.0, 100.0, 0.5)


def test_the_ratio_of_zeros_is_missing():
    total = total_of(pd.DataFrame({"worked_amount": [0.0], "billed_amount": [0.0], "billing_realization": [None]}))
    assert pd.isna(total["billing_realization"])
