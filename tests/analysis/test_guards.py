"""Common mistakes with frames are corrected, refused or warned of, on every engine.

Each test makes one mistake. `test_spark.py` also runs the tests marked `on_spark`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_args

import narwhals.stable.v2 as nw
import polars as pl
import pyarrow as pa
import pytest

import billframes as bf
from billframes.analysis import (
    aging,
    budget_burn,
    contribution,
    leverage,
    profitability,
    realization,
    reconcile,
    utilization,
    wip,
)
from billframes.analysis.declare.columns import ENUMS
from billframes.schema.records.clients import MatterType
from billframes.schema.records.firm import Role
from billframes.schema.records.shared import InvoiceState
from billframes.schema.records.work import BillingType
from tests.analysis.conftest import ENGINES, Firm, pandas as to_pandas

# Tests of one mistake in time entries do without a list of users.
pytestmark = pytest.mark.filterwarnings("ignore:Without users=:billframes.errors.IncompleteDataWarning")

ON_SPARK: list[Callable[[Firm], None]] = []


def on_spark(test: Callable[[Firm], None]) -> Callable[[Firm], None]:
    ON_SPARK.append(test)
    return test


def make_frame(firm: Firm, **columns: Any) -> Any:
    """Return a frame of columns with their own types."""
    table = pa.table({name: each if isinstance(each, pa.Array) else pa.array(each) for name, each in columns.items()})
    if firm.make is to_pandas:
        return table.to_pandas()
    frame = firm.make(table)
    for field in table.schema if type(frame).__module__.startswith("pyspark") else ():
        # Without this cast, Spark reads a time without a zone as an instant in its own zone.
        if field.type == pa.timestamp("us"):
            frame = frame.withColumn(field.name, frame[field.name].cast("timestamp_ntz"))
    return frame


def day(number: int, month: int = 10) -> dt.date:
    return dt.date(2026, month, number)


def entries(firm: Firm, **columns: Any) -> Any:
    """Return two entries of October, by Ada (3 hours) and Ben (5 hours), on two invoices."""
    plain: dict[str, Any] = {
        "time_entry_id": ["t1", "t2"],
        "date": [day(1), day(31)],
        "user_id": ["u1", "u2"],
        "user_name": ["Ada", "Ben"],
        "client_id": ["c1", "c2"],
        "matter_id": ["m1", "m2"],
        "matter_type": ["hourly", "hourly"],
        "billing_type": ["billable", "billable"],
        "hours": [3.0, 5.0],
        "amount": [900.0, 1000.0],
        "invoice_id": ["i1", "i2"],
    }
    return make_frame(firm, **plain | columns)


def invoices(firm: Firm, **columns: Any) -> Any:
    plain: dict[str, Any] = {
        "invoice_id": ["i1", "i2"],
        "invoice_date": [day(5, 11), day(6, 11)],
        "due_date": [day(5, 12), day(6, 12)],
        "invoice_state": ["final", "final"],
        "client_id": ["c1", "c2"],
        "amount": [800.0, 1000.0],
        "balance": [800.0, 500.0],
    }
    return make_frame(firm, **plain | columns)


def items(firm: Firm, **columns: Any) -> Any:
    plain: dict[str, Any] = {
        "expense_id": ["e1"],
        "date": [day(2)],
        "client_id": ["c1"],
        "matter_id": ["m1"],
        "user_id": ["u1"],
        "amount": [100.0],
        "invoice_id": ["i1"],
    }
    return make_frame(firm, **plain | columns)


def no_fees(firm: Firm) -> Any:
    return firm.make(items_table().slice(0, 0).rename_columns(["fixed_fee_id", *items_table().column_names[1:]]))


def items_table() -> pa.Table:
    plain = {"expense_id": "e", "date": day(2), "client_id": "c", "matter_id": "m", "user_id": "u", "amount": 1.0}
    return pa.table({name: [each] for name, each in (plain | {"invoice_id": "i"}).items()})


@contextmanager
def expect_warnings(*words: str) -> Iterator[None]:
    """Expect at least one warning for each of these patterns; there may be others."""
    with pytest.warns(bf.errors.BillframesWarning) as caught:
        yield
    for each in words:
        assert any(re.search(each, str(one.message)) for one in caught), each


def by(firm: Firm, result: Any, key: str, figure: str) -> dict[Any, Any]:
    return {row[key]: row[figure] for row in firm.rows(result)}


def one(firm: Firm, result: Any) -> dict[str, Any]:
    (row,) = firm.rows(result)
    return row


# Dates


@on_spark
def test_work_entered_with_a_time_of_day_counts_on_its_day_and_on_the_last_of_the_month_too(firm):
    at = pa.array([dt.datetime(2026, 10, 1, 9), dt.datetime(2026, 10, 31, 17, 30)], pa.timestamp("us"))
    found = utilization(entries(firm, date=at), start="2026-10", by="month")
    assert by(firm, found, "month", "client_hours") == {"2026-10": 8.0}


def test_an_invoice_due_in_the_evening_is_not_overdue_and_one_dated_in_the_evening_counts(firm):
    evening = pa.array([dt.datetime(2026, 11, 5, 18)] * 2, pa.timestamp("us"))
    owed = one(firm, aging(invoices(firm, invoice_date=evening, due_date=evening), as_of="2026-11-05"))
    assert (owed["current"], owed["overdue"]) == (1300.0, 0.0)


@on_spark
def test_an_instant_with_a_time_zone_is_refused_because_its_day_depends_on_the_place(firm):
    at = pa.array([dt.datetime(2026, 10, 31, 23, tzinfo=dt.UTC)] * 2, pa.timestamp("us", "UTC"))
    with pytest.raises(bf.errors.ParameterError, match=r"time_entries: date is an instant \(time zone .*Europe/Berlin"):
        utilization(entries(firm, date=at), start="2026-10")
    with pytest.raises(bf.errors.ParameterError, match="invoices: due_date is an instant"):
        aging(invoices(firm, due_date=at), as_of="2026-11-30")


# Missing numbers are not 0


@on_spark
def test_missing_hours_make_only_the_figures_missing_that_include_them(firm):
    work = entries(firm, hours=[3.0, float("nan")])
    with pytest.warns(
        bf.errors.IncompleteDataWarning, match=r"time_entries: hours is missing in 1 row .*time_entry_id t2"
    ):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_name", "client_hours") == {"Ada": 3.0, "Ben": None}
    assert by(firm, found, "user_name", "utilization")["Ben"] is None
    with pytest.warns(bf.errors.IncompleteDataWarning, match="hours is missing"):
        whole = one(firm, utilization(work, start="2026-10", by=None))
    assert whole["total_hours"] is None
    assert whole["capacity_hours"] == 2 * 176.0


def test_rows_without_ids_are_counted_in_the_warning(firm):
    anonymous = {name: [name] for name in ("user_id", "user_name", "matter_id", "client_id")}
    kinds = {"billing_type": ["billable"], "matter_type": ["hourly"]}
    work = make_frame(firm, **anonymous, **kinds, date=[day(1)], hours=[float("nan")])
    with pytest.warns(
        bf.errors.IncompleteDataWarning, match=r"time_entries: hours is missing in 1 row\. A missing number"
    ):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "client_hours") == {"user_id": None}


def test_an_invoice_with_a_missing_balance_does_not_count_as_paid(firm):
    bills = invoices(firm, balance=[float("nan"), 500.0])
    with pytest.warns(bf.errors.IncompleteDataWarning, match=r"invoices: balance is missing in 1 row .*invoice_id i1"):
        owed = aging(bills, as_of="2026-11-30", by="client")
    assert by(firm, owed, "client_id", "total") == {"c1": None, "c2": 500.0}
    assert by(firm, owed, "client_id", "overdue") == {"c1": 0.0, "c2": 0.0}


def test_an_expense_without_an_amount_leaves_the_fees_of_its_invoice_unknown(firm):
    frames = {
        "time_entries": entries(firm),
        "expenses": items(firm, amount=[float("nan")]),
        "fixed_fees": no_fees(firm),
        "invoices": invoices(firm),
    }
    with pytest.warns(bf.errors.IncompleteDataWarning, match=r"expenses: amount is missing in 1 row .*expense_id e1"):
        found = realization(**frames, by="client")
    assert by(firm, found, "client_id", "billed_amount") == {"c1": None, "c2": 1000.0}
    assert by(firm, found, "client_id", "worked_amount") == {"c1": 900.0, "c2": 1000.0}
    with pytest.warns(bf.errors.IncompleteDataWarning, match="amount is missing"):
        bills = reconcile(**frames)
    assert by(firm, bills, "invoice_id", "unexplained_amount") == {"i1": None, "i2": 0.0}


def test_the_fees_of_an_invoice_without_an_amount_are_unknown(firm):
    frames = {
        "time_entries": entries(firm),
        "expenses": items(firm),
        "fixed_fees": no_fees(firm),
        "invoices": invoices(firm, amount=[float("nan"), 1000.0]),
    }
    with pytest.warns(bf.errors.IncompleteDataWarning, match=r"invoices: amount is missing in 1 row"):
        fees = contribution(**frames, by="client")
    assert by(firm, fees, "client_id", "fees_amount") == {"c1": None, "c2": 1000.0}
    # If the total is unknown, each share is, too.
    assert by(firm, fees, "client_id", "share") == {"c1": None, "c2": None}
    settings = bf.FirmSettings(cost_rates={"u1": 100.0, "u2": 100.0})
    with pytest.warns(bf.errors.IncompleteDataWarning, match="amount is missing"):
        left = profitability(**frames, by="client", settings=settings)
    assert by(firm, left, "client_id", "profit_amount") == {"c1": None, "c2": 500.0}


def test_missing_hours_do_not_hide_fees_that_are_allocated_by_worth(firm):
    frames = {
        "time_entries": entries(firm, hours=[float("nan"), 5.0]),
        "expenses": items(firm),
        "fixed_fees": no_fees(firm),
        "invoices": invoices(firm),
    }
    with pytest.warns(bf.errors.IncompleteDataWarning, match="hours is missing"):
        found = realization(**frames, by="client")
    assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 1000.0}
    assert by(firm, found, "client_id", "billable_hours") == {"c1": None, "c2": 5.0}
    assert by(firm, found, "client_id", "effective_rate") == {"c1": None, "c2": 200.0}


def test_an_amount_of_time_that_is_nan_is_hidden_like_one_that_is_null(firm):
    frames = {
        "time_entries": entries(firm, amount=[float("nan"), 1000.0]),
        "expenses": items(firm),
        "fixed_fees": no_fees(firm),
        "invoices": invoices(firm),
    }
    with pytest.warns(bf.errors.RatesHiddenWarning, match="1 billable time entry has no amount"):
        found = realization(**frames, by="client")
    assert by(firm, found, "client_id", "worked_amount") == {"c1": None, "c2": 1000.0}
    assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 1000.0}


# Concatenated loads


def twice(firm: Firm, table: pa.Table, **second: Any) -> Any:
    """Return a frame together with a second load of the same rows, with some columns changed."""
    again = table
    for name, values in second.items():
        again = again.set_column(again.column_names.index(name), name, pa.array(values))
    both = pa.concat_tables([table, again])
    return both.to_pandas() if firm.make is to_pandas else firm.make(both)


def plain_entries() -> pa.Table:
    return entries(Firm(lambda table: table))


def plain_invoices() -> pa.Table:
    return invoices(Firm(lambda table: table))


def test_entries_of_two_loads_that_overlap_count_once(firm):
    with pytest.warns(bf.errors.IncompleteDataWarning, match=r"time_entries: 2 rows repeated.*time_entry_id t1"):
        found = utilization(twice(firm, plain_entries()), start="2026-10")
    assert by(firm, found, "user_name", "client_hours") == {"Ada": 3.0, "Ben": 5.0}


@on_spark
def test_two_versions_of_one_entry_are_refused(firm):
    work = twice(firm, plain_entries(), hours=[3.0, 4.0])
    with pytest.raises(
        bf.errors.ParameterError, match=r"time_entries has different rows with the same time_entry_id.* t2"
    ):
        utilization(work, start="2026-10")


def test_two_versions_of_one_invoice_are_refused_and_equal_ones_count_once(firm):
    with pytest.warns(bf.errors.IncompleteDataWarning, match="invoices: 2 rows repeated"):
        owed = one(firm, aging(twice(firm, plain_invoices()), as_of="2026-11-30"))
    assert owed["total"] == 1300.0
    with pytest.raises(bf.errors.ParameterError, match=r"invoices has different rows with the same invoice_id.* i1"):
        aging(twice(firm, plain_invoices(), balance=[0.0, 500.0]), as_of="2026-11-30")


@on_spark
def test_expenses_loaded_twice_are_subtracted_once(firm):
    once = items(Firm(lambda table: table))
    frames = {
        "time_entries": entries(firm),
        "expenses": twice(firm, once),
        "fixed_fees": no_fees(firm),
        "invoices": invoices(firm),
    }
    with pytest.warns(bf.errors.IncompleteDataWarning, match="expenses: 1 row repeated"):
        found = realization(**frames, by="client")
    assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 1000.0}


def test_a_matter_with_two_types_is_refused(firm):
    kinds = {"matter_id": ["m1", "m2", "m1"], "matter_type": ["hourly", "hourly", "internal"]}
    work = make_frame(firm, **{name: plain_entries()[name].combine_chunks() for name in _WITHOUT_TYPE})
    with pytest.raises(bf.errors.ParameterError, match=r"matters has different rows with the same matter_id.* m1"):
        utilization(work, start="2026-10", matters=make_frame(firm, **kinds))


_WITHOUT_TYPE = ("date", "user_id", "matter_id", "billing_type", "hours")


def test_repeated_matters_are_compared_with_their_lists_of_originators(firm):
    matter = {"matter_id": ["m1", "m1"], "matter_type": ["hourly"] * 2}
    same = make_frame(firm, **matter, originator_ids=[["u1", "u2"], ["u1", "u2"]])
    other = make_frame(firm, **matter, originator_ids=[["u1", "u2"], ["u1"]])
    work = make_frame(firm, **{name: plain_entries()[name].combine_chunks() for name in _WITHOUT_TYPE})
    with expect_warnings("matters: 1 row repeated"):
        utilization(work, start="2026-10", matters=same)
    with pytest.raises(bf.errors.ParameterError, match="matters has different rows"):
        utilization(work, start="2026-10", matters=other)


def test_rows_without_an_id_count_as_different_records(firm):
    work = entries(firm, time_entry_id=pa.array([None, None], pa.string()))
    assert by(firm, utilization(work, start="2026-10"), "user_name", "client_hours") == {"Ada": 3.0, "Ben": 5.0}


# Wrong types of columns


@on_spark
def test_columns_of_a_wrong_type_are_refused_with_the_names_of_frame_and_column(firm):
    for column, values, words in (
        ("date", ["2026-10-01", "2026-10-31"], "not dates"),
        ("hours", ["3,0", "5,0"], "not numbers"),
        ("billing_type", [1, 2], "not text"),
        ("user_id", [1.5, 2.0], "not text"),
    ):
        with pytest.raises(bf.errors.ParameterError, match=f"time_entries: {column} is of the type .*, {words}"):
            utilization(entries(firm, **{column: values}), start="2026-10")
    with pytest.raises(bf.errors.ParameterError, match=r"invoices: balance is of the type .*, not numbers"):
        aging(invoices(firm, balance=["800", "500"]), as_of="2026-11-30")
    matters = make_frame(firm, matter_id=["m1"], originator_ids=["['u1']"])
    with pytest.raises(bf.errors.ParameterError, match=r"matters: originator_ids is of the type .*, not lists of text"):
        realization(
            entries(firm),
            expenses=items(firm),
            fixed_fees=no_fees(firm),
            invoices=invoices(firm),
            matters=matters,
            by="originator",
        )


@on_spark
def test_the_error_for_a_missing_column_names_the_frame(firm):
    bills = make_frame(firm, invoice_id=["i1"], invoice_date=[day(1)], invoice_state=["final"], due_date=[day(2)])
    with pytest.raises(bf.errors.MissingColumnError, match="invoices has no column 'balance'"):
        aging(bills, as_of="2026-11-30")


def test_a_column_without_values_may_have_any_type(firm):
    empty = pa.array([None, None], pa.int64())
    with pytest.warns(bf.errors.IncompleteDataWarning, match="2 open final invoices have no due date"):
        owed = one(firm, aging(invoices(firm, due_date=empty), as_of="2026-11-30"))
    assert owed["total"] == 1300.0


# Unknown values


@on_spark
def test_the_case_of_enum_values_is_ignored(firm):
    in_capitals = {"billing_type": ["BILLABLE", "Billable"], "matter_type": ["Hourly", "HOURLY"]}
    assert by(firm, utilization(entries(firm, **in_capitals), start="2026-10"), "user_id", "client_hours") == {
        "u1": 3.0,
        "u2": 5.0,
    }
    assert one(firm, aging(invoices(firm, invoice_state=["Final", "FINAL"]), as_of="2026-11-30"))["total"] == 1300.0
    people = make_frame(firm, user_id=["u3"], name=["Cy"], role=["Principal"])
    found = utilization(entries(firm), start="2026-10", users=people)
    assert by(firm, found, "user_id", "client_hours") == {"u1": 3.0, "u2": 5.0, "u3": 0.0}


def test_hours_of_an_unknown_billing_type_are_unknown_hours(firm):
    work = entries(firm, billing_type=["billable", "courtesy"])
    with expect_warnings(r"billing_type are unknown: 'courtesy' \(1 row, hours 5.00\)"):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "client_hours") == {"u1": 3.0, "u2": 0.0}
    assert by(firm, found, "user_id", "unknown_hours") == {"u1": 0.0, "u2": 5.0}
    assert by(firm, found, "user_id", "total_hours") == {"u1": 3.0, "u2": 5.0}


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
def test_a_billing_type_can_be_missing_in_a_column_of_declared_values(engine):
    firm = Firm(ENGINES[engine])
    work = entries(firm, billing_type=["billable", None])
    if isinstance(work, pl.LazyFrame):
        work = work.with_columns(pl.col("billing_type").cast(pl.Enum(ENUMS["billing_type"])))
    else:
        work = work.project(f"* replace (billing_type::enum {ENUMS['billing_type']} as billing_type)")
    assert nw.from_native(work).collect_schema()["billing_type"] == nw.Enum
    with expect_warnings(r"billing_type are unknown: missing \(1 row, hours 5.00\)"):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "unknown_hours") == {"u1": 0.0, "u2": 5.0}


def test_a_missing_invoice_state_of_unbilled_work_gives_no_warning(pandas_firm):
    header = "time_entry_id date user_id matter_id billing_type hours amount invoice_id invoice_state"
    rows = [
        ("t1", "2026-10-01", "u1", "m1", "billable", 2.0, 300.0, "i1", "draft"),
        ("t2", "2026-10-02", "u1", "m1", "billable", 1.0, 150.0, None, None),
    ]
    entries = pandas_firm.frame(header, *rows)
    days = {"start": "2026-10-01", "end": "2026-10-31"}
    hours = utilization(entries, users=pandas_firm.users(), matters=pandas_firm.matters(), by="invoice_state", **days)
    assert dict(zip(hours["invoice_state"], hours["client_hours"], strict=True)) == {"draft": 2.0, "Unassigned": 1.0}


def test_balances_of_invoices_of_an_unknown_state_are_unknown_amounts(firm):
    bills = invoices(firm, invoice_state=["final", "sent"])
    with expect_warnings(r"invoice_state are unknown: 'sent' \(1 row, amount 1,000.00\)"):
        owed = one(firm, aging(bills, as_of="2026-12-31"))
    assert (owed["total"], owed["overdue"], owed["unknown_amount"]) == (800.0, 800.0, 500.0)
    with expect_warnings("'sent'"):
        spread = aging(bills, as_of="2026-12-31", by="matter", time_entries=entries(firm), expenses=items(firm),
                       fixed_fees=no_fees(firm))  # fmt: skip
    assert by(firm, spread, "matter_id", "unknown_amount") == {"m1": 0.0, "m2": 500.0}


def test_the_worth_of_work_of_unknown_type_or_on_an_invoice_of_unknown_state_is_an_unknown_amount(firm):
    for basis in ("invoice_date", "work_date"):
        frames = {
            "time_entries": entries(firm),
            "expenses": items(firm),
            "fixed_fees": no_fees(firm),
            "invoices": invoices(firm, invoice_state=["final", "sent"]),
        }
        with expect_warnings("'sent'"):
            found = realization(**frames, by="client", basis=basis)
        assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 0.0}
        assert by(firm, found, "client_id", "unknown_amount") == {"c1": 0.0, "c2": 1000.0}
        work = entries(firm, billing_type=["billable", None])
        with expect_warnings(r"billing_type are unknown: missing \(1 row, hours 5.00\)"):
            found = realization(
                work, expenses=items(firm), fixed_fees=no_fees(firm), invoices=invoices(firm), by="client", basis=basis
            )
        assert by(firm, found, "client_id", "worked_amount") == {"c1": 900.0, "c2": 0.0}
        assert by(firm, found, "client_id", "unknown_amount") == {"c1": 0.0, "c2": 1000.0}


def test_work_of_unknown_type_and_work_on_an_invoice_of_unknown_state_are_counted_separately(firm):
    more = {name: pa.concat_arrays([plain_entries()[name].combine_chunks()] * 2).slice(0, 3) for name in _WORK}
    work = entries(firm, **more | {
        "time_entry_id": ["t1", "t2", "t3"], "client_id": ["c1", "c2", "c3"], "invoice_id": ["i1", "i2", "i1"],
        "billing_type": ["billable", "billable", None],
    })  # fmt: skip
    frames = {
        "time_entries": work,
        "expenses": items(firm),
        "fixed_fees": no_fees(firm),
        "invoices": invoices(firm, invoice_state=["final", "sent"]),
    }
    for basis in ("invoice_date", "work_date"):
        with expect_warnings("'sent'", r"billing_type are unknown: missing \(1 row, hours 3.00\)"):
            found = realization(**frames, by="client", basis=basis)
        assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 0.0, "c3": 0.0}
        assert by(firm, found, "client_id", "worked_amount") == {"c1": 900.0, "c2": 0.0, "c3": 0.0}
        assert by(firm, found, "client_id", "unknown_amount") == {"c1": 0.0, "c2": 1000.0, "c3": 900.0}


_WORK = ("date", "user_id", "user_name", "matter_id", "matter_type", "hours", "amount")


def test_work_of_an_unknown_type_uses_the_budget(firm):
    frames = {
        "time_entries": entries(firm, billing_type=["billable", "other"]),
        "expenses": items(firm),
        "fixed_fees": no_fees(firm),
        "invoices": invoices(firm),
    }
    settings = bf.FirmSettings(budgets={"m1": 1000.0, "m2": 2000.0})
    with expect_warnings("'other'"):
        found = budget_burn(**frames, settings=settings)
    assert by(firm, found, "matter_id", "unknown_amount") == {"m1": 0.0, "m2": 1000.0}
    assert by(firm, found, "matter_id", "used_amount") == {"m1": 700.0, "m2": 1000.0}


def test_work_in_progress_of_an_unknown_type_is_in_unknown_amount_and_in_the_total(firm):
    work = entries(firm, billing_type=["billable", "other"], invoice_id=pa.array([None, None], pa.string()))
    frames = {"expenses": items(firm), "fixed_fees": no_fees(firm), "invoices": invoices(firm)}
    with expect_warnings(r"billing_type are unknown: 'other' \(1 row, hours 5.00\)"):
        open_ = one(firm, wip(work, **frames, as_of="2026-12-31"))
    assert (open_["unbilled_amount"], open_["unknown_amount"], open_["total"]) == (900.0, 1000.0, 1900.0)


def test_a_person_of_unknown_role_does_not_count_as_a_non_principal(firm):
    people = make_frame(firm, user_id=["u1", "u2"], name=["Ada", "Ben"], role=["principal", "Partner"])
    with expect_warnings("users: these values of role are unknown: 'Partner'"):
        found = one(firm, leverage(entries(firm), start="2026-10", users=people))
    assert (found["principal_hours"], found["non_principal_hours"], found["unknown_role_hours"]) == (3.0, 0.0, 5.0)


def test_an_unknown_matter_type_can_be_chosen_as_unknown(firm):
    work = entries(firm, matter_type=["hourly", "retainer"])
    frames = {"time_entries": work, "expenses": items(firm), "fixed_fees": no_fees(firm), "invoices": invoices(firm)}
    with expect_warnings("matter_type are unknown: 'retainer'"):
        found = one(firm, realization(**frames, matter_types=["hourly", "Unknown"]))
    assert (found["worked_amount"], found["left_out_hours"]) == (1900.0, 0.0)


def test_billed_work_without_an_invoice_id_is_not_unbilled(firm):
    work = entries(firm, invoice_id=["i1", None], billed=[True, True])
    frames = {"expenses": items(firm), "fixed_fees": no_fees(firm), "invoices": invoices(firm)}
    with expect_warnings(r"billed is true but invoice_id is missing in 1 row \(for example time_entry_id t2\)"):
        open_ = one(firm, wip(work, **frames, as_of="2026-12-31"))
    assert (open_["unbilled_amount"], open_["unknown_amount"], open_["total"]) == (0.0, 1000.0, 1000.0)
    # Some databases return true as 1.
    work = entries(firm, invoice_id=["i1", None], billed=[1, 1])
    with expect_warnings("billed is true"):
        found = one(firm, realization(work, **frames, basis="work_date"))
    assert (found["unbilled_amount"], found["unknown_amount"]) == (0.0, 1000.0)


def test_the_declared_values_are_those_of_the_api():
    declared = {"billing_type": BillingType, "invoice_state": InvoiceState, "matter_type": MatterType, "role": Role}
    for name, kind in declared.items():
        assert ENUMS[name] == get_args(kind)[1].extra["values"]


# Swapped columns


def test_missing_dates_are_warned_of(firm):
    work = entries(firm, date=pa.array([day(1), None], pa.date32()))
    with pytest.warns(
        bf.errors.IncompleteDataWarning, match=r"time_entries: date is missing in 1 row .*t2\).*errors='coerce'"
    ):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "client_hours")["u1"] == 3.0
    bills = invoices(firm, invoice_date=pa.array([None, day(6, 11)], pa.date32()))
    with expect_warnings("invoices: invoice_date is missing in 1 row"):
        aging(bills, as_of="2026-11-30")
