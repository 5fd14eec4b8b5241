"""Frames and columns that must agree are compared row by row, as they arrive, on every engine."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from billframes.analysis.data.between import CHECKS, disagreements
from billframes.analysis.data.native import wrap_frames
from tests.analysis.conftest import ENGINES
from tests.firms import FIRMS, change, make_firm, on

ALL = tuple(ENGINES)
FIRST = "t0_0_2025-10-01"


def found(tables, engine):
    """Return the rule, the place, the rows that disagree, all rows asked, and the names, of each disagreement."""
    notes = [each.note for each in disagreements(wrap_frames(on(tables, ENGINES[engine])))]
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


def test_the_sandbox_agrees_in_all_frames(whole):
    for frames in whole.values():
        assert disagreements(wrap_frames(frames)) == []


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
