"""Filtering with pandas: the rows that pass a state, the counts of its options, its description and its code."""

from __future__ import annotations

import datetime as dt
import json
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from billframes.errors import MissingColumnError, ParameterError
from billframes.widgets.describe import code, describe
from billframes.widgets.filters import Filters
from billframes.widgets.options import fold
from billframes.widgets.state import FilterState, Range, read_state
from tests.frames import assert_frame_equal


@pytest.fixture
def filters(work) -> Filters:
    return Filters(work)


def labels(filters, column):
    options = filters.options(column)
    return [options.labels[place] for place in options.order]


def passing_rows(filters, **saved):
    return filters.frame(read_state(saved, filters.fields)).index.tolist()


def test_the_filters_depend_on_the_columns(filters):
    assert [(field.title, field.kind) for field in filters.fields] == [
        ("Period", "dates"),
        ("Client", "choice"),
        ("Billing type", "choice"),
        ("Billed", "choice"),
        ("Matter: Budget", "numbers"),
        ("Matter: Insured", "choice"),
        ("Client: Since", "dates"),
        ("Office", "choice"),
    ]


def test_time_entries_can_be_filtered_by_every_category_and_custom_field(entries):
    columns = set(Filters(entries).columns)
    wanted = {str(name) for name in entries.columns if "cf_" in name or entries[name].dtype == "category"}
    assert wanted < columns
    assert {"date", "client_id", "matter_id", "user_id", "practice_area_id", "responsible_id", "billed"} < columns
    assert "description" not in columns


@pytest.mark.parametrize("resource", ["matters", "clients", "users", "invoices", "expenses", "fixed_fees"])
def test_frames_of_other_loaders_show_names_as_options(client, resource):
    filters = Filters(getattr(client, resource)())
    own = next(field for field in filters.fields if field.kind == "choice")
    assert own.label is not None
    assert filters.options(own.column).labels[0] != filters.options(own.column).keys[0]


def test_two_clients_with_one_name_are_two_options(filters):
    assert sorted(labels(filters, "client_id"))[1:3] == ["Acme (A-1)", "Acme (A-2)"]
    assert passing_rows(filters, client_id=["c1"]) == [0, 3]


def test_options_are_sorted_by_name_and_numbers_by_size(entries):
    options = Filters(entries).options("client_id")
    names = [options.labels[place] for place in options.order]
    assert names[:-1] == sorted(names[:-1], key=fold) or names == sorted(names, key=fold)
    years = Filters(pd.DataFrame({"cf_year": pd.Categorical([10, 9, 10], [10, 9])}))
    assert labels(years, "cf_year") == ["10", "9"]


def test_missing_values_are_an_option(filters):
    assert labels(filters, "client_id")[-1] == "Unassigned (no client)"
    assert passing_rows(filters, client_id=[None, "c3"]) == [2, 5]
    assert labels(filters, "billing_type") == ["Billable", "Non-billable", "Fixed fee"]
    assert passing_rows(filters, matter_cf_insured=[None]) == [1, 4]


def test_a_period_includes_both_ends_and_no_missing_dates(filters):
    assert passing_rows(filters, date="2026-09") == [1, 2]
    assert passing_rows(filters, date={"from": "2026-10-01"}) == [3, 5]
    assert passing_rows(filters, date={"to": "2026-09-01", "missing": True}) == [0, 1, 4]


def test_instants_on_the_last_day_are_included():
    times = pd.to_datetime(["2026-10-01T00:00", "2026-10-31T23:59"]).tz_localize("UTC")
    filters = Filters(pd.DataFrame({"created_at": times}))
    state = FilterState({"created_at": Range(dt.date(2026, 10, 31), dt.date(2026, 10, 31))})
    assert filters.mask(state).tolist() == [False, True]


def test_a_range_of_numbers_includes_both_ends(filters):
    assert passing_rows(filters, matter_cf_budget={"from": 200, "to": 250.5}) == [1, 4]
    assert passing_rows(filters, matter_cf_budget={"to": 100, "missing": True}) == [0, 2, 5]


def test_counts_of_a_column_are_of_rows_that_pass_the_other_filters(filters):
    state = read_state({"client_id": ["c1"], "billed": [True]}, filters.fields)
    counts = filters.counts(state, "client_id")
    options = filters.options("client_id")
    assert {value: int(counts[place]) for value, place in options.place.items()} == {"c1": 1, "c2": 0, "c3": 1, None: 1}


def test_a_value_that_no_row_has_matches_nothing_and_stays_in_the_state(filters):
    state = read_state({"client_id": ["gone"]}, filters.fields)
    assert filters.frame(state).empty
    assert "not in these rows" in describe(filters, state)


def test_a_search_ignores_case_accents_and_the_order_of_words(filters):
    options = filters.options("client_id")
    assert [options.keys[place] for place in options.search("SOHNE script")] == ["c3"]
    assert [options.keys[place] for place in options.search("a-2")] == ["c2"]
    assert options.search("nobody") == []


def test_a_state_is_saved_as_json_and_read_again(filters):
    saved = {"date": "2026-Q3", "client_id": ["c1", None], "matter_cf_budget": {"from": 1.0, "missing": True}}
    state = read_state(saved, filters.fields)
    assert read_state(json.loads(json.dumps(state.as_dict())), filters.fields) == state
    assert read_state({"client_id": [], "date": None, "matter_cf_budget": {}}, filters.fields) == FilterState()


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ({"clint_id": ["c1"]}, "Did you mean 'client_id'"),
        ({"client_id": "c1"}, "takes a list"),
        ({"client_id": [1.5]}, "contains 1.5"),
        ({"date": {"from": "2026-10-02", "to": "2026-10-01"}}, "is after"),
        ({"date": "someday"}, "not a date or period"),
        ({"matter_cf_budget": {"from": 2, "to": 1}}, "is above"),
        ({"matter_cf_budget": {"from": "1"}}, "not a number"),
        ({"matter_cf_budget": {"least": 1}}, "takes"),
        (["date"], "not a mapping"),
    ],
)
def test_an_invalid_state_is_refused_with_the_reason(filters, saved, said):
    with pytest.raises(ParameterError, match=said):
        read_state(saved, filters.fields)


def test_frames_that_are_not_pandas_are_refused_with_the_conversion():
    with pytest.raises(ParameterError, match="to_pandas"):
        Filters(pl.DataFrame({"hours": [1.0]}))
    with pytest.raises(ParameterError, match="Two columns"):
        Filters(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(MissingColumnError, match="not a date column"):
        Filters(pd.DataFrame({"hours": [1.0]}), period="hours")


def test_an_empty_frame_can_be_filtered(work):
    filters = Filters(work.head(0))
    assert passing_rows(filters, date="2026-10", client_id=["c1"]) == []


def states() -> st.SearchStrategy[dict]:
    def choice(*values):
        return st.lists(st.sampled_from([*values, None]), unique=True, max_size=4)

    days = st.dates(dt.date(2000, 1, 1), dt.date(2026, 12, 31))
    amounts = st.floats(0, 400, allow_nan=False)

    def span(ends, write):
        pair = st.tuples(st.none() | ends, st.none() | ends).filter(lambda p: None in p or p[0] <= p[1])
        return st.builds(lambda p, m: {"from": write(p[0]), "to": write(p[1]), "missing": m}, pair, st.booleans())

    return st.fixed_dictionaries(
        {},
        optional={
            "date": span(days, lambda day: day and day.isoformat()),
            "client_cf_since": span(days, lambda day: day and day.isoformat()),
            "matter_cf_budget": span(amounts, lambda amount: amount),
            "client_id": choice("c1", "c2", "c3", "gone"),
            "billing_type": choice("billable", "nonBillable", "fixedFee"),
            "billed": choice(True, False),
            "matter_cf_insured": choice(True, False),
            "cf_office": choice("Bern", 'Basel "old"', "Chur\\", "#'\n"),
        },
    )


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(saved=states())
def test_the_code_gives_the_same_frame(work, saved):
    filters = Filters(work)
    state = read_state(saved, filters.fields)
    expected = filters.frame(state)
    given_back = eval(code(filters, state, "frame"), {"frame": work})
    assert_frame_equal(given_back, expected)
    assert read_state(state.as_dict(), filters.fields) == state


def test_the_code_has_names_in_comments_that_names_cannot_end(work):
    work.loc[2, "client_name"] = "Evil\n& True or (1)\r\u2028#"
    filters = Filters(work)
    text = code(filters, FilterState({"client_id": ("c3",)}), "frame")
    assert text.count("\n") == 2
    assert eval(text, {"frame": work}).index.tolist() == [2]


def test_a_change_is_fast_for_200_000_rows_and_5_000_matters():
    random = np.random.default_rng(1)
    matters = random.integers(0, 5000, 200_000)
    frame = pd.DataFrame(
        {
            "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 1000, 200_000), "D"),
            "matter_id": pd.array([f"m{each}" for each in matters], dtype="str"),
            "matter_name": pd.array([f"Matter number {each}" for each in matters], dtype="str"),
            "billed": random.integers(0, 2, 200_000).astype(bool),
        }
    )
    filters = Filters(frame)
    filters.options("matter_id").search("warm up")
    # Time of this process only, because other processes may keep the machine busy.
    begun = time.process_time()
    state = read_state({"date": "2025", "matter_id": ["m1", "m2"], "billed": [True]}, filters.fields)
    rows = len(filters.frame(state))
    for column in ("matter_id", "billed"):
        filters.counts(state, column)
    found = filters.options("matter_id").search("number 123")
    # Ten times the usual time. The limit from a click to the filtered frame is 300 ms.
    assert time.process_time() - begun < 0.3
    assert 0 < rows < 200
    assert len(found) == 15
