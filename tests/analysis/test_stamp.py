"""Analyses say what no filter does to a loaded frame, and only tell which part of a load a result is from."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import billframes as bf
from billframes.analysis.data.compared_with_load import compare_loads, compare_with_load
from billframes.loading.enrich import join_details

NAMES = ("time_entries", "expenses", "fixed_fees", "invoices", "matters")


@pytest.fixture(scope="module")
def loaded(client):
    return {name: getattr(client, name)() for name in NAMES}


def said(loaded, call=bf.analysis.wip, **others: Any) -> tuple[list[str], list[str]]:
    """Return the warnings and the facts of a call with some other frames."""
    frames = {name: loaded[name] for name in NAMES} | others
    entries = frames.pop("time_entries")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(entries, **frames, as_of="2026-10-31")
    texts = [str(each.message) for each in caught]
    notes, facts = result.attrs["notes"], result.attrs.get("facts", [])
    assert [each["text"] for each in notes] == texts
    assert bf.notes(result) == [*notes, *facts]
    return texts, [each["text"] for each in facts]


def moved(frame: pd.DataFrame, days: int) -> pd.DataFrame:
    time = pd.Timestamp(frame.attrs["load"]["time"]) + pd.Timedelta(days=days)
    other = frame.copy()
    other.attrs = {**frame.attrs, "load": {**frame.attrs["load"], "time": time.isoformat()}}
    return other


CHANGED = {
    "filled": (lambda rows: rows.ffill(), "amount of time_entries adds up to"),
    "scaled": (
        lambda rows: rows.assign(hours=rows["hours"] * 1.25),
        "hours of time_entries adds up to 71,140.25; 56,912.20",
    ),
    "whole hours": (lambda rows: rows.assign(hours=rows["hours"].round()), "hours of time_entries adds up to"),
    "revalued": (lambda rows: rows.assign(rate=400.0, amount=rows["hours"] * 400), "rate of time_entries adds up to"),
    "in place": (lambda rows: write(rows.copy()), "hours of time_entries adds up to"),
    "a month later": (
        lambda rows: rows.assign(date=rows["date"] - pd.Timedelta(days=31)),
        "The dates of time_entries run from 2 December 2023 to 30 September 2026; 2 January 2024 to 31 October 2026",
    ),
}


def write(rows: pd.DataFrame) -> pd.DataFrame:
    rows.loc[0, "hours"] = 100.0
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGED)
def test_other_sums_of_as_many_rows_are_a_warning_until_they_are_meant(loaded, change):
    make, text = CHANGED[change]
    rows = make(loaded["time_entries"])
    texts, facts = said(loaded, time_entries=rows)
    # Rows that disagree with others are said, too: `test_between.py`.
    (warning,) = (each for each in texts if "when it was loaded" in each)
    assert text in warning
    assert warning.endswith("If the change is meant, pass bf.forget(frame).")
    texts, others = said(loaded, time_entries=bf.forget(rows))
    assert (facts, others) == ([], [])
    assert not any("when it was loaded" in each for each in texts)


def test_hidden_amounts_that_became_0_are_a_warning(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["norates"]) as client, pytest.warns():
        rows = client.time_entries("2026-10")
    hidden = int(rows["amount"].isna().sum())
    assert hidden
    (note,) = compare_with_load("time_entries", rows.assign(amount=rows["amount"].fillna(0.0)))
    assert note.rule.name == "changed_since_load"
    assert f"amount of time_entries is missing in 0 rows; in {hidden:,} when it was loaded." in note.text()
    assert compare_with_load("time_entries", rows.sort_values("hours")) == []


def test_two_loads_that_were_joined_are_only_named(client):
    rows = pd.concat([client.time_entries("2026-09"), client.time_entries("2026-10")], ignore_index=True)
    assert compare_with_load("time_entries", rows) == []
    (fact,) = compare_loads({"time_entries": rows})
    assert (fact.rule.name, fact.rule.is_fact) == ("unknown_load", True)


@pytest.mark.slow
def test_rows_twice_are_said_once(loaded):
    rows = loaded["time_entries"]
    (warning,), facts = said(loaded, time_entries=pd.concat([rows, rows], ignore_index=True))
    assert "25,721 rows repeated" in warning
    assert facts == []
    more = rows.loc[rows.index.repeat(2)]
    (note,) = compare_with_load("time_entries", more.drop(columns="time_entry_id"))
    assert "51,442 rows; 25,721 were loaded" in note.text()


FILTERED = {
    "billable": lambda rows: rows[rows["billing_type"] == "billable"],
    "head": lambda rows: rows.head(1_000),
    "sample": lambda rows: rows.sample(frac=0.5, random_state=1),
    "one client": lambda rows: rows[rows["client_id"] == rows["client_id"].iloc[0]],
    "first of each matter": lambda rows: rows.groupby("matter_id").head(1),
}


@pytest.mark.parametrize("name", FILTERED)
def test_a_part_is_a_fact_and_no_warning(loaded, name):
    rows = FILTERED[name](loaded["time_entries"])
    texts, (fact,) = said(loaded, time_entries=rows)
    assert texts == []
    money = f"({rows['amount'].sum():,.2f} of 17,052,965.76)"
    assert fact == f"From {len(rows):,} of the 25,721 time entries that were loaded {money}."


@pytest.mark.slow
def test_a_frame_from_a_file_is_named_once(loaded):
    rows = {name: pd.DataFrame(loaded[name].to_dict("list")) for name in ("time_entries", "invoices")}
    texts, facts = said(loaded, **rows)
    assert (texts, facts) == ([], ["time_entries and invoices: not known how they were loaded."])


SAME = {
    "as loaded": lambda rows: rows,
    "sorted": lambda rows: rows.sort_values("hours", ignore_index=True),
    "shuffled": lambda rows: rows.sample(frac=1, random_state=1),
    "other types": lambda rows: rows.astype({"hours": "float32", "amount": "float32", "invoice_id": "category"}),
    "pickled": lambda rows: pickle.loads(pickle.dumps(rows)),
    "a column more": lambda rows: rows.assign(year=rows["date"].dt.year),
    "a column less": lambda rows: rows.drop(columns="description"),
    "copied": lambda rows: rows.copy(),
}


@pytest.mark.parametrize("name", SAME)
def test_what_changes_no_figure_is_not_said(loaded, name):
    assert said(loaded, time_entries=SAME[name](loaded["time_entries"])) == ([], [])


@pytest.mark.slow
def test_details_and_files_keep_the_load(loaded, client, tmp_path):
    assert said(loaded, time_entries=join_details(loaded["time_entries"], {"matter": loaded["matters"]})) == ([], [])
    tables = {name: getattr(client, name)(to="arrow") for name in NAMES}
    for name, table in tables.items():
        pq.write_table(table, tmp_path / name)
        tables[name] = pq.read_table(tmp_path / name)
        assert compare_with_load(name, tables[name]) == []
    assert list(compare_loads(tables)) == []
    (fact,) = compare_with_load("time_entries", tables["time_entries"].slice(0, 10))
    assert fact.text().startswith("From 10 of the 25,721 time entries")


def test_frames_of_different_days_are_a_warning(loaded):
    (warning,), _ = said(loaded, invoices=moved(loaded["invoices"], 23))
    assert "invoices is of 23 November 2026: what changed between these days is in some frames only" in warning
    assert said(loaded, invoices=moved(loaded["invoices"], 0), matters=moved(loaded["matters"], 3)) == ([], [])


def test_frames_of_different_firms_are_a_warning(loaded):
    other = loaded["invoices"].copy()
    other.attrs = {**other.attrs, "load": {**other.attrs["load"], "server": "https://other.example"}}
    (warning,), _ = said(loaded, invoices=other)
    assert "invoices is of https://other.example" in warning


@pytest.mark.slow
def test_a_book_compares_its_frames_and_those_that_are_assigned(client):
    book = bf.book("2026-10", client=client)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bf.notes(book.wip()) == []
        assert bf.notes(book.figures("client_hours", "wip", by="user")) == []
    rows = book.time_entries
    book.time_entries = rows.assign(amount=rows["amount"] * 2, rate=rows["rate"] * 2)
    for _ in range(2):
        with pytest.warns(bf.errors.IncompleteDataWarning, match="amount of time_entries adds up to 34,105,931.52"):
            book.wip()
    book.time_entries = rows[rows["billing_type"] == "billable"]
    assert [each["rule"] for each in bf.notes(book.wip())] == ["from_part"]


def test_figures_say_facts_of_all_their_analyses_once(loaded):
    rows = loaded["time_entries"].head(2_000)
    frames = {name: loaded[name] for name in NAMES} | {"time_entries": rows}
    result = bf.figures("wip", "billed_amount", by="client", as_of="2026-10-31", start="2026-10", **frames)
    assert [each["rule"] for each in bf.notes(result)] == ["from_part"]


@pytest.mark.slow
def test_a_table_shows_facts_under_its_title(loaded):
    rest = {name: loaded[name] for name in NAMES if name != "time_entries"}
    result = bf.analysis.wip(loaded["time_entries"].head(1_000), by="client", as_of="2026-10-31", **rest)
    page = bf.tables.wip(result, currency="USD").as_raw_html()
    assert "Amounts in USD. From 1,000 of the 25,721 time entries that were loaded (" in page
    whole = bf.analysis.wip(loaded["time_entries"], by="client", as_of="2026-10-31", **rest)
    assert "that were loaded" not in bf.tables.wip(whole).as_raw_html()
