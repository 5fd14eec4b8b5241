"""Frames and columns that must agree are compared row by row, as they arrive, on every engine."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from billframes.analysis.data.between import CHECKS, disagreements
from billframes.analysis.data.data import Data
from billframes.analysis.data.native import wrap_frames
from tests.analysis.conftest import ENGINES
from tests.firms import CALLS, FIRMS, MONEY, change, keep, make_firm, notes_of, on

ALL = tuple(ENGINES)
FIRST = "t0_0_2025-10-01"


def found(tables, engine):
    """Return the rule, the place, the rows that disagree, all rows asked, and the names, of each disagreement."""
    notes = [each.note for each in disagreements(wrap_frames(on(tables, ENGINES[engine])), set())]
    return [(note.rule.name, note.about, note.amount, note.values["all"], note.values["few"]) for note in notes]


def of_first(name, value):
    """Return a change of a column in the first time entry."""
    return {name: lambda row: value(row) if row["time_entry_id"] == FIRST else row.get(name)}


def with_states(firm):
    """Return a firm whose items repeat the state and the date of their invoice, as loaders give them."""
    states = {row["invoice_id"]: row for row in firm["invoices"].to_pylist()}
    for name in ("time_entries", "expenses", "fixed_fees"):
        firm = change(
            firm,
            name,
            invoice_state=lambda row: states.get(row["invoice_id"], {}).get("invoice_state"),
            invoice_date=lambda row: states.get(row["invoice_id"], {}).get("invoice_date"),
            billed=lambda row: row["invoice_id"] is not None,
        )
    return firm


NAMED = f" (for example `time_entry_id` {FIRST})"
ROWS = {
    "client": (of_first("client_id", lambda _: "c9"), ("unlike_invoice", "time_entries client_id", 1.0, 684, NAMED)),
    "state": (
        of_first("invoice_state", lambda _: "draft"),
        ("unlike_invoice", "time_entries invoice_state", 1.0, 684, NAMED),
    ),
    "date": (
        of_first("invoice_date", lambda _: dt.date(2025, 11, 6)),
        ("unlike_invoice", "time_entries invoice_date", 1.0, 684, NAMED),
    ),
    "billed": (of_first("billed", lambda _: False), ("unbilled_on_invoice", "time_entries billed", 1.0, 684, NAMED)),
    "hours": (
        of_first("hours", lambda row: row["hours"] + 0.05),
        ("unlike_amount", "time_entries hours", 1.0, 684, NAMED),
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("engine", ALL)
@pytest.mark.parametrize("name", ROWS)
def test_one_row_that_disagrees_is_counted_and_named_on_every_engine(name, engine):
    changed, wanted = ROWS[name]
    firm = with_states(make_firm())
    assert found(firm, engine) == []
    (row,) = found(change(firm, "time_entries", **changed), engine)
    assert (*row[:3], row[4]) == (*wanted[:3], wanted[4])
    assert row[3] > 400


@pytest.mark.parametrize("name", FIRMS)
def test_firms_with_right_figures_agree(name):
    assert found(FIRMS[name](), "pandas") == []
    assert found(with_states(FIRMS[name]()), "pandas") == []


@pytest.mark.slow
def test_the_sandbox_agrees_in_all_frames(whole):
    for frames in whole.values():
        assert disagreements(wrap_frames(frames), set()) == []


def test_rounded_hours_states_in_capitals_and_clients_who_paid_too_much_agree():
    firm = change(with_states(make_firm()), "time_entries", hours=lambda row: round(row["hours"], 2))
    firm = change(firm, "invoices", balance=lambda row: -row["amount"])
    assert found(change(firm, "time_entries", rate=lambda row: row["rate"] and row["rate"] + 0.001), "pandas") == []


def test_columns_of_another_type_and_absent_frames_are_not_compared():
    firm = with_states(make_firm())
    odd = change(firm, "time_entries", hours=lambda row: row["hours"] + 1, client_id=lambda _: "c9")
    table = odd["time_entries"]
    text = table["hours"].cast(pa.string())
    odd |= {"time_entries": table.set_column(table.column_names.index("hours"), "hours", text)}
    assert [row[1] for row in found(odd, "polars")] == ["time_entries client_id"]
    assert found({name: table for name, table in odd.items() if name != "invoices"}, "polars") == []
    assert {*CHECKS} == {"time_entries", "expenses", "fixed_fees", "invoices"}


@pytest.mark.parametrize(("call", "said"), [("realization", True), ("wip", True), ("aging", False)])
def test_a_disagreement_is_said_by_the_calls_that_use_its_columns(call, said):
    changed = change(make_firm(), "time_entries", **of_first("hours", lambda row: row["hours"] + 1.0))
    notes = notes_of(CALLS[call], on(changed, ENGINES["pandas"]))
    assert any("amount is not hours times rate in 1 of" in each for each in notes) is said


def test_a_disagreement_with_invoices_is_said_by_calls_that_have_both_in_any_order_and_found_once():
    changed = change(make_firm(), "time_entries", **of_first("client_id", lambda _: "c9"))
    data = Data.of_book()
    data.add(**on(changed, ENGINES["pandas"]))
    client = ("time_entries", "client_id")
    rows = {"time_entries": data.view(["time_entries", "users"], None), "both": data.view([*MONEY, "users"], None)}
    said = {}
    for name in ("time_entries", "both", "time_entries", "both"):
        rows[name].check()
        said.setdefault(name, []).append([note.about for note in rows[name].found_between(frozenset([client]))])
    assert said == {"time_entries": [[], []], "both": [["time_entries client_id"]] * 2}
    assert len(data._kept.findings) == 1


ENTRIES_OF_A_PART = {
    "entries of one client": ("time_entries", lambda row: row["client_id"] == "c0"),
    "entries of a person": ("time_entries", lambda row: row["user_id"] == "u1"),
    "later entries": ("time_entries", lambda row: row["date"] >= dt.date(2026, 6, 1)),
    "earlier invoices": ("invoices", lambda row: row["invoice_date"] < dt.date(2026, 6, 1)),
    "invoices of one client": ("invoices", lambda row: row["client_id"] == "c0"),
    "final invoices": ("invoices", lambda row: row["invoice_state"] == "final"),
}


@pytest.mark.parametrize("name", ENTRIES_OF_A_PART)
def test_frames_that_were_filtered_agree(name):
    frame, condition = ENTRIES_OF_A_PART[name]
    assert found(keep(with_states(make_firm()), frame, condition), "pandas") == []


@pytest.mark.parametrize("engine", ALL)
def test_ids_that_are_numbers_are_compared(engine):
    def numbers(tables, changed):
        for name in ("time_entries", "invoices"):
            ids = [int(each[1:]) for each in tables[name]["client_id"].to_pylist()]
            ids[0] += changed if name == "invoices" else 0
            at = tables[name].column_names.index("client_id")
            tables = tables | {name: tables[name].set_column(at, "client_id", pa.array(ids))}
        return {name: tables[name] for name in ("time_entries", "invoices")}

    assert found(numbers(make_firm(), 0), engine) == []
    ((rule, about, *_),) = found(numbers(make_firm(), 5), engine)
    assert (rule, about) == ("unlike_invoice", "time_entries client_id")
