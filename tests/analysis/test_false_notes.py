"""Each rule gives its note for a mistake, and no firm with right figures is given a note.

`MISTAKES` has, for each rule, a mistake, a call that uses what it changed, and a part of the note. The legitimate firms
are those of `tests.firms`, which go through all analyses.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import functools
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from billframes import FirmSettings, analysis
from billframes.book import Book
from billframes.periods import resolve
from tests.analysis.conftest import ENGINES, rows_of
from tests.analysis.test_engines import assert_same_rows
from tests.firms import CALLS, FIRMS, MONEY, Tables, add, change, keep, make_firm, notes_of, on, one_data

EVERYDAY = ("one lawyer", "first month", "hidden rates", "appointments in advance")


def hours(**options: Any) -> Callable[[Mapping[str, Any]], Any]:
    """Return a call of `utilization` of the months up to October."""
    dates = {"start": "2026-05-01", "end": "2026-10-31"}

    def call(firm: Mapping[str, Any]) -> Any:
        frames = {name: firm[name] for name in ("time_entries", "matters", "users") if name in firm}
        return analysis.utilization(**frames, **dates | options)

    return call


def balances(**options: Any) -> Callable[[Mapping[str, Any]], Any]:
    return lambda firm: analysis.aging(firm["invoices"], as_of="2026-10-31", **options)


def entries(**columns: Callable[[dict[str, Any]], Any]) -> Callable[[Tables], Tables]:
    return lambda firm: change(firm, "time_entries", **columns)


def invoices(**columns: Callable[[dict[str, Any]], Any]) -> Callable[[Tables], Tables]:
    return lambda firm: change(firm, "invoices", **columns)


VAT = FirmSettings(taxes=[{"name": "VAT", "rate": 0.19}])


def some(row: dict[str, Any]) -> bool:
    return bool(row["date"].day == 7)


@dataclasses.dataclass(frozen=True)
class Mistake:
    """A mistake in a firm's frames, a call that gives a wrong figure for it, and a part of the note."""

    make: Callable[[Tables], Tables]
    call: Callable[[Mapping[str, Any]], Any]
    note: str
    whole: bool = False


MISTAKES = {
    "years of another century": Mistake(
        entries(date=lambda row: row["date"].replace(year=1926) if some(row) else row["date"]),
        hours(),
        "date is before 1990 or after 2100 in",
    ),
    "due dates of the year 1900": Mistake(
        invoices(due_date=lambda row: dt.date(1900, 1, 1) if row["balance"] else row["due_date"]),
        balances(),
        "due_date is before 1990 or after 2100 in",
    ),
    "a responsible lawyer joined by hand": Mistake(
        invoices(responsible_id=lambda _row: "u0", responsible_name=lambda _row: "Person 0"),
        balances(by="responsible"),
        "responsible_id is a column of invoices, so each balance (",
    ),
    "no users": Mistake(
        lambda firm: keep(
            {name: table for name, table in firm.items() if name != "users"},
            "time_entries",
            lambda row: row["user_id"] == "u0" or row["date"].year == 2025,
        ),
        hours(by=None),
        "Without users=, available hours are only those of the people with an entry in the period, and the days of "
        "everyone else are not counted; 1 person has entries in other periods only",
    ),
    "hours after the end": Mistake(
        lambda firm: firm,
        hours(settings=FirmSettings(user_end={"u0": "2026-08-31"})),
        "hours of 1 person (Person 0) are dated before user_start or after user_end",
    ),
    "a lawyer who joined in September": Mistake(
        lambda firm: keep(firm, "time_entries", lambda row: row["user_id"] == "u0" or str(row["date"]) > "2026-09"),
        hours(),
        "The first of all entries of Person 1 is inside the period",
        whole=True,
    ),
    "a lawyer who joined in September, in a file that begins earlier": Mistake(
        lambda firm: keep(firm, "time_entries", lambda row: row["user_id"] == "u0" or str(row["date"]) > "2026-09"),
        hours(start="2026-07-01"),
        "The first of all entries of Person 1 is inside the period",
    ),
    "net invoices beside a tax": Mistake(
        lambda _firm: make_firm(realization=1.0),
        lambda firm: analysis.reconcile(**{name: firm[name] for name in MONEY}, settings=VAT),
        "24 of 24 invoices that have a tax by the settings (70,406.40 in all) are exactly the sum of their items",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_one_note(name):
    mistake = MISTAKES[name]
    frames = on(mistake.make(FIRMS["two people"]()), ENGINES["pandas"], whole=mistake.whole)
    notes = notes_of(mistake.call, frames)
    assert len([note for note in notes if mistake.note in note]) == 1, notes


@pytest.mark.parametrize(
    ("name", "arguments"), [("compare", ("billed_amount",)), ("lockup", ()), ("lockup", ("client",))]
)
def test_a_book_says_once_that_rates_are_hidden(name, arguments):
    frames = on(make_firm(hidden=True), ENGINES["pandas"], whole=True)
    client = types.SimpleNamespace(**{each: functools.partial(dict.get, frames, each) for each in frames})
    book = Book(resolve("2026-10", None), settings=None, client=client)
    notes = notes_of(lambda _frames: getattr(book, name)(*arguments), {})
    assert [note.count("read.rates") for note in notes] == [1]


def test_a_scorecard_says_once_that_there_are_no_users():
    frames = on({name: table for name, table in make_firm().items() if name != "users"}, ENGINES["pandas"])
    notes = notes_of(CALLS["scorecard"], frames)
    assert len(notes) == 1
    assert notes[0].startswith("Without users=, available hours are only those of the people with an entry")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "whole"),
    [*((name, False) for name in EVERYDAY), *(pytest.param(name, True, marks=pytest.mark.slow) for name in FIRMS)],
)
def test_a_firm_with_right_figures_is_given_no_note(name, whole):
    frames = on(FIRMS[name](), ENGINES["pandas"], whole=whole)
    with one_data(frames) if whole else contextlib.nullcontext():
        notes = {each: notes_of(call, frames) for each, call in CALLS.items()}
    if name == "hidden rates":
        # Each analysis that needs rates says once that they are hidden.
        assert all(len(each) <= 1 for each in notes.values()), notes
        notes = {each: [note for note in found if "read.rates" not in note] for each, found in notes.items()}
    if not whole and name in ("first month", "from August on"):
        assert "every client counts as new" in notes.pop("new business")[0]
    assert not any(notes.values()), {each: found for each, found in notes.items() if found}


@pytest.mark.parametrize("engine", ENGINES)
def test_due_dates_that_stand_for_no_date_count_as_missing(engine):
    ten = [("2026-09-01", dt.date(2026, 10, 1))] * 10 + [("2026-09-01", dt.date(1900, 1, 1))]
    firm = make_firm()
    model = {"invoice_state": "final", "amount": 100.0, "balance": 100.0}
    rows = [
        {**model, "invoice_id": f"n{nth}", "invoice_date": dt.date.fromisoformat(day), "due_date": due}
        for nth, (day, due) in enumerate(ten)
    ]
    tables = keep(add(firm, "invoices", *rows), "invoices", lambda row: row["invoice_id"][0] == "n")
    frames = on(tables, ENGINES[engine])
    with pytest.warns(
        match="due_date is before 1990 or after 2100 in 1 row .*; the invoice date is used instead"
    ) as caught:
        owed = analysis.aging(frames["invoices"], as_of="2026-10-31")
    assert len(caught) == 1
    (row,) = rows_of(owed)
    # Ten invoices are 30 days late, and one is 60 days after its own date.
    assert row["weighted_days_overdue"] == pytest.approx((10 * 30 + 60) / 11)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "none"), [("pandas", pd.DataFrame()), ("pyarrow", pa.table({}))])
def test_an_empty_frame_without_columns_counts_as_no_rows(engine, none):
    frames = on(change(make_firm(), "invoices", amount=lambda row: row["amount"] - 40.0), ENGINES[engine])
    for name in ("realization", "wip", "exposure", "stale", "reconcile", "prebill review", "budget burn"):
        assert notes_of(CALLS[name], frames | {"expenses": none, "fixed_fees": none}) == []


def test_a_column_that_is_not_used_is_not_checked():
    frames = on(change(make_firm(), "time_entries", due_date=lambda row: str(row["date"])), ENGINES["pandas"])
    assert notes_of(CALLS["realization"], frames) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_id_stands_for_no_id(engine):
    firm = keep(make_firm(), "fixed_fees", lambda _row: False)
    ids = {"time_entries": ("invoice_id", "user_id"), "matters": ("practice_area_id", "responsible_id")}
    missing, empty = firm, firm
    for name, columns in ids.items():
        for column in columns:
            missing = change(missing, name, **{column: lambda row, c=column: row[c] if row[c] != "u1" else None})
    for name, columns in ids.items():
        for column in columns:
            empty = change(empty, name, **{column: lambda row, c=column: row[c] if row[c] not in (None, "u1") else ""})
    call = functools.partial(analysis.wip, by=["user", "responsible", "practice_area"], as_of="2026-10-31")
    frames = [on({name: each[name] for name in (*MONEY, "matters")}, ENGINES[engine]) for each in (missing, empty)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_rows(*(rows_of(call(**each)) for each in frames))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_text_in_a_key_is_unassigned(engine):
    def industry(row, absent):
        return {"c0": "Energy", "c1": absent}[row["client_id"]]

    rows = []
    for absent in (None, ""):
        firm = change(make_firm(), "time_entries", client_cf_industry=functools.partial(industry, absent=absent))
        frames = on({name: firm[name] for name in ("time_entries", "matters", "users")}, ENGINES[engine])
        rows.append(rows_of(analysis.utilization(**frames, by="client_cf_industry", start="2026-10")))
    assert [row["client_cf_industry"] for row in rows[0]] == ["Energy", "Unassigned"]
    assert_same_rows(*rows)


@pytest.mark.slow
def test_a_part_of_the_invoices_that_is_enough_gives_no_note():
    """Overdue invoices need open ones only; taxed firms write invoices down, also by about the tax."""
    firm = make_firm(taxes=(0.0,) * 6)
    parts = {"balance": (0.0,), "invoice_state": ("draft",), "client_id": ("c0",)}
    for column, others in parts.items():
        enough = keep(firm, "invoices", lambda row, column=column, others=others: row[column] not in others)
        frames = on(enough, ENGINES["pandas"])
        assert notes_of(CALLS["overdue invoices"], frames) == []
    for realization in (1.0, 0.95, 0.84):
        frames = on(make_firm(taxes=(0.19, 0.19), realization=realization), ENGINES["pandas"])
        assert notes_of(MISTAKES["net invoices beside a tax"].call, frames) == []
