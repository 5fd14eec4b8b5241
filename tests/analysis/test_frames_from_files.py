"""Frames that a CSV file changed: each analysis gives the same figures, or refuses a column with one of its values."""

from __future__ import annotations

import io
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import billframes as bf
from billframes.analysis import tie_out
from billframes.ledger import read_ledger
from billframes.ledger.payments import payments
from tests.analysis.calls import ledger
from tests.analysis.conftest import DATES, ENGINES, FLAGS, LISTS, pandas, rows_of
from tests.analysis.test_engines import assert_same_rows
from tests.firms import CALLS, FIRMS, on

pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")

_NUMBERED = ("_id", "_ids")


def with_numbers(tables):
    """Return the tables with ids that are numbers, as text."""
    return {
        name: pa.table({each: _with_numbers(each, table[each]) for each in table.column_names})
        for name, table in tables.items()
    }


def _with_numbers(column, values):
    if not column.endswith(_NUMBERED) or column == "ledes_code_set_ids":
        return values
    return pa.array([_number(each) for each in values.to_pylist()], values.type)


def _number(id_):
    if id_ is None or isinstance(id_, list):
        return id_ and [_number(each) for each in id_]
    return str(int.from_bytes(id_.encode(), "big") % 1_000_003)


@pytest.fixture(scope="module")
def tables():
    return with_numbers(FIRMS["two people"]())


def as_read(table, engine, *, restored=True):
    """Return a table written to a CSV file and read by an engine, with its dates, lists and flags if `restored`."""
    text = pd.DataFrame(table.to_pydict()).to_csv(index=False)
    kept = [each for each in table.column_names if each in DATES | LISTS | FLAGS | {"created_at"}] if restored else []
    if engine == "pandas":
        frame = pd.read_csv(io.StringIO(text))
        return frame.assign(**{each: pandas(table.select([each]))[each] for each in kept})
    frame = pl.read_csv(io.StringIO(text), infer_schema_length=None)
    return frame.with_columns(*(pl.from_arrow(table.select([each])).to_series() for each in kept))


READ_BY = ("pandas", "polars")
# One call for each fact.
SOME = ("utilization", "realization", "aging by responsible", "wip", "timekeeping lag", "new business", "stale")


@pytest.mark.slow
@pytest.mark.parametrize("engine", READ_BY)
def test_ids_and_numbers_that_a_csv_file_made_integers_or_floats_give_the_same_figures(engine, tables):
    """Integer invoice numbers were an error of the engine, and integer ids were no duplicates."""
    frames = {name: as_read(table, engine) for name, table in tables.items()}
    typed = on(tables, ENGINES[engine])
    for name in SOME:
        assert_same_rows(rows_of(CALLS[name](frames)), rows_of(CALLS[name](typed)))


@pytest.mark.parametrize("engine", READ_BY)
def test_plain_csv_frames_are_right_or_refused_with_frame_column_and_value(engine, tables):
    frames = {name: as_read(table, engine, restored=False) for name, table in tables.items()}
    typed = on(tables, ENGINES[engine])
    for name in SOME:
        refused, rows = outcome(CALLS[name], frames)
        if refused:
            assert re.match(
                r"\w+: \w+ is of the type \w+, such as .*, not (dates|times|lists of text|true and)", refused
            )
        else:
            assert_same_rows(rows, rows_of(CALLS[name](typed)))


def outcome(call, frames):
    """Return the error's text, or the rows."""
    try:
        return "", rows_of(call(frames))
    except bf.errors.ParameterError as error:
        return str(error), []


def test_duplicates_are_found_if_ids_are_integers():
    """On pandas, none was."""
    days = pd.to_datetime(["2026-10-01"] * 3)
    entries = pd.DataFrame({"time_entry_id": [1, 2, 3], "date": days, "user_id": 7, "hours": [1.0, 1.0, 2.0]})
    for frame in (entries, pl.from_pandas(entries), pa.Table.from_pandas(entries)):
        assert [
            row["time_entry_id"] for row in rows_of(bf.analysis.duplicates(frame, by=["user", "date", "hours"]))
        ] == [1, 2]


@pytest.mark.parametrize("ids", [[1.5, 2.0], [2.0**53, 1.0], [True, False]])
def test_ids_that_were_not_whole_numbers_are_refused(ids):
    invoices = pd.DataFrame({
        "invoice_id": ids, "invoice_date": pd.to_datetime(["2026-10-01"] * 2), "due_date": pd.NaT,
        "invoice_state": "final", "client_id": "c1", "client_name": "Acme", "amount": 1.0, "balance": 1.0,
    })  # fmt: skip
    nothing = pd.DataFrame({"invoice_id": [], "billing_type": [], "hours": [], "amount": [], "matter_id": []})
    with pytest.raises(
        bf.errors.ParameterError, match=r"invoices: invoice_id is of the type \w+, such as .*, not text\. Read"
    ):
        bf.analysis.reconcile(nothing, expenses=pd.DataFrame(), fixed_fees=pd.DataFrame(), invoices=invoices)


INVOICES = pd.DataFrame({
    "invoice_id": ["i1", "i2"], "invoice_number": ["1001", "1002"],
    "invoice_date": pd.to_datetime(["2026-10-05", "2026-10-06"]), "invoice_state": ["final", "final"],
    "client_id": ["c1", "c1"], "client_name": ["Acme", "Acme"], "amount": [1000.0, 500.0], "balance": [400.0, 500.0],
})  # fmt: skip
RECEIVED = (
    'Larkspur LLP,,,,,\nInvoices and Received Payments,,,,,\n"October, 2026",,,,,\n\n'
    ",Date,Transaction type,Memo/Description,Transaction number,Amount\nAcme,,,,,\n,10/25/2026,Payment,,,600.00\n"
    ',10/05/2026,Invoice,,1001,1000.00\n\n" Monday, November 02, 2026",,,,,\n'
)


def paid(invoices=INVOICES, expenses=None, **options):
    none = pd.DataFrame()
    entries = pd.DataFrame({"billing_type": ["billable"], "hours": [2.0], "amount": [800.0], "invoice_id": ["i1"]})
    expenses = none if expenses is None else expenses
    return payments(
        read_ledger(RECEIVED.encode()), time_entries=entries, expenses=expenses, fixed_fees=none, invoices=invoices,
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("column", ["amount", "balance", "invoice_date"])
def test_missing_amounts_and_dates_of_final_invoices_are_refused_by_name(column):
    """They were a ValueError."""
    invoices = INVOICES.assign(**{column: INVOICES[column].where([False, True])})
    if column != "balance":
        with pytest.raises(
            bf.errors.ParameterError, match=f"^invoices: {column} of the final invoice 'i1' is missing, so its"
        ):
            paid(invoices)
    if column != "invoice_date":
        with pytest.raises(
            bf.errors.ParameterError, match=f"^invoices: {column} of the final invoice 'i1' is missing, so it"
        ):
            tie_out(invoices, ledger=ledger(), as_of="2026-10-31")


def test_a_draft_without_an_amount_is_no_obstacle_to_a_tie_out():
    drafts = INVOICES.assign(amount=[float("nan"), 500.0], invoice_state=["draft", "final"])
    assert tie_out(drafts, ledger=ledger(), as_of="2026-10-31")["balance"].sum() == 500.0


def test_an_expense_without_an_amount_is_refused_for_its_invoice():
    with pytest.raises(bf.errors.ParameterError, match="the amount of an expense of the final invoice 'i1' is missing"):
        paid(expenses=pd.DataFrame({"invoice_id": ["i1", "i1"], "amount": [40.0, float("nan")]}))


@pytest.mark.parametrize("tax", ["130", True, 1.3, float("nan"), [0.13], {"1001": "130"}, {"1001": None}])
def test_a_tax_that_is_no_number_is_refused(tax):
    with pytest.raises(bf.errors.ParameterError, match=r"^tax(=|\['1001'\]=).* is not a (rate|number)"):
        paid(tax=tax)


def test_the_tax_of_an_invoice_may_have_its_number_as_a_number():
    assert paid(tax={1001: 200.0})["tax_amount"].tolist() == [120.0]


@pytest.mark.parametrize("key", ["matter_originator_ids", "matter_originator_names", "matter_ledes_code_set_ids"])
def test_keys_with_lists_are_refused_also_by_the_names_that_enrich_gives_them(key):
    firm = on(FIRMS["two people"](), ENGINES["pandas"])
    given = {name: firm[name] for name in ("time_entries", "matters", "users")}
    with pytest.raises(bf.errors.ParameterError, match=f"by='{key}' is a column of lists"):
        bf.analysis.utilization(**given, start="2026-10", by=key)
