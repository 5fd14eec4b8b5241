"""Natural mistakes with frames are put right, refused or warned of, on every engine alike.

Each test makes the mistake, and says what it would cost. `test_spark.py` runs those marked `on_spark` there, too.
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
from billframes.analysis.column_types import ENUMS
from billframes.schema.records.clients import MatterType
from billframes.schema.records.firm import Role
from billframes.schema.records.shared import InvoiceState
from billframes.schema.records.work import BillingType
from tests.analysis.conftest import ENGINES, Firm, pandas as to_pandas

ON_SPARK: list[Callable[[Firm], None]] = []


def on_spark(test: Callable[[Firm], None]) -> Callable[[Firm], None]:
    ON_SPARK.append(test)
    return test


def made(firm: Firm, **columns: Any) -> Any:
    """A frame whose columns keep the types they are given."""
    table = pa.table({name: each if isinstance(each, pa.Array) else pa.array(each) for name, each in columns.items()})
    if firm.make is to_pandas:
        return table.to_pandas()
    frame = firm.make(table)
    for field in table.schema if type(frame).__module__.startswith("pyspark") else ():
        # Spark takes a time without a zone for an instant in its own, unless it is told.
        if field.type == pa.timestamp("us"):
            frame = frame.withColumn(field.name, frame[field.name].cast("timestamp_ntz"))
    return frame


def day(number: int, month: int = 10) -> dt.date:
    return dt.date(2026, month, number)


def entries(firm: Firm, **columns: Any) -> Any:
    """Two entries of October, of Ada and Ben, 3 and 5 hours on two invoices; other columns as given."""
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
    return made(firm, **plain | columns)


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
    return made(firm, **plain | columns)


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
    return made(firm, **plain | columns)


def no_fees(firm: Firm) -> Any:
    return firm.make(items_table().slice(0, 0).rename_columns(["fixed_fee_id", *items_table().column_names[1:]]))


def items_table() -> pa.Table:
    plain = {"expense_id": "e", "date": day(2), "client_id": "c", "matter_id": "m", "user_id": "u", "amount": 1.0}
    return pa.table({name: [each] for name, each in (plain | {"invoice_id": "i"}).items()})


@contextmanager
def warned(*words: str) -> Iterator[None]:
    """Expect warnings, one with each of these words; there may be others."""
    with pytest.warns(bf.BillframesWarning) as told:
        yield
    for each in words:
        assert any(re.search(each, str(one.message)) for one in told), each


def by(firm: Firm, result: Any, key: str, figure: str) -> dict[Any, Any]:
    return {row[key]: row[figure] for row in firm.rows(result)}


def one(firm: Firm, result: Any) -> dict[str, Any]:
    (row,) = firm.rows(result)
    return row


# A day is a day


@on_spark
def test_work_entered_with_a_time_of_day_counts_on_its_day_and_on_the_last_of_the_month_too(firm):
    at = pa.array([dt.datetime(2026, 10, 1, 9), dt.datetime(2026, 10, 31, 17, 30)], pa.timestamp("us"))
    found = utilization(entries(firm, date=at), start="2026-10", by="month")
    assert by(firm, found, "month", "client_hours") == {"2026-10": 8.0}


@on_spark
def test_an_invoice_due_this_evening_is_not_overdue_and_one_dated_this_evening_is_there(firm):
    evening = pa.array([dt.datetime(2026, 11, 5, 18)] * 2, pa.timestamp("us"))
    owed = one(firm, aging(invoices(firm, invoice_date=evening, due_date=evening), as_of="2026-11-05"))
    assert (owed["current"], owed["overdue"]) == (1300.0, 0.0)


@on_spark
def test_an_instant_with_a_zone_is_refused_for_which_day_it_is_depends_on_where(firm):
    at = pa.array([dt.datetime(2026, 10, 31, 23, tzinfo=dt.UTC)] * 2, pa.timestamp("us", "UTC"))
    with pytest.raises(bf.ParameterError, match=r"time_entries: date is an instant \(time zone .*Europe/Berlin"):
        utilization(entries(firm, date=at), start="2026-10")
    with pytest.raises(bf.ParameterError, match="invoices: due_date is an instant"):
        aging(invoices(firm, due_date=at), as_of="2026-11-30")


# What is missing is not 0


@on_spark
def test_hours_that_are_missing_leave_missing_what_they_are_part_of_and_nothing_else(firm):
    work = entries(firm, hours=[3.0, float("nan")])
    with pytest.warns(bf.IncompleteDataWarning, match=r"time_entries: hours is missing in 1 row .*time_entry_id t2"):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_name", "client_hours") == {"Ada": 3.0, "Ben": None}
    assert by(firm, found, "user_name", "utilization")["Ben"] is None
    with pytest.warns(bf.IncompleteDataWarning, match="hours is missing"):
        whole = one(firm, utilization(work, start="2026-10", by=None))
    assert whole["total_hours"] is None
    assert whole["capacity_hours"] == 2 * 176.0


def test_rows_without_ids_are_counted_and_not_named(firm):
    anonymous = {name: [name] for name in ("user_id", "user_name", "matter_id", "client_id")}
    kinds = {"billing_type": ["billable"], "matter_type": ["hourly"]}
    work = made(firm, **anonymous, **kinds, date=[day(1)], hours=[float("nan")])
    with pytest.warns(bf.IncompleteDataWarning, match=r"time_entries: hours is missing in 1 row\. A missing number"):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "client_hours") == {"user_id": None}


@on_spark
def test_a_balance_that_is_missing_is_not_a_bill_that_is_paid(firm):
    bills = invoices(firm, balance=[float("nan"), 500.0])
    with pytest.warns(bf.IncompleteDataWarning, match=r"invoices: balance is missing in 1 row .*invoice_id i1"):
        owed = aging(bills, as_of="2026-11-30", by="client")
    assert by(firm, owed, "client_id", "total") == {"c1": None, "c2": 500.0}
    assert by(firm, owed, "client_id", "overdue") == {"c1": 0.0, "c2": 0.0}


@on_spark
def test_an_expense_without_an_amount_leaves_the_fees_of_its_invoice_unknown(firm):
    frames = entries(firm), invoices(firm), items(firm, amount=[float("nan")]), no_fees(firm)
    with pytest.warns(bf.IncompleteDataWarning, match=r"expenses: amount is missing in 1 row .*expense_id e1"):
        found = realization(*frames, by="client")
    assert by(firm, found, "client_id", "billed_amount") == {"c1": None, "c2": 1000.0}
    assert by(firm, found, "client_id", "worked_amount") == {"c1": 900.0, "c2": 1000.0}
    with pytest.warns(bf.IncompleteDataWarning, match="amount is missing"):
        bills = reconcile(*frames)
    assert by(firm, bills, "invoice_id", "unexplained_amount") == {"i1": None, "i2": 0.0}


@on_spark
def test_an_invoice_without_an_amount_has_no_fees_that_can_be_told(firm):
    frames = entries(firm), invoices(firm, amount=[float("nan"), 1000.0]), items(firm), no_fees(firm)
    with pytest.warns(bf.IncompleteDataWarning, match=r"invoices: amount is missing in 1 row"):
        fees = contribution(*frames, by="client")
    assert by(firm, fees, "client_id", "fees_amount") == {"c1": None, "c2": 1000.0}
    # A share of a whole that is not known is not known.
    assert by(firm, fees, "client_id", "share") == {"c1": None, "c2": None}
    settings = bf.FirmSettings(cost_rates={"u1": 100.0, "u2": 100.0})
    with pytest.warns(bf.IncompleteDataWarning, match="amount is missing"):
        left = profitability(*frames, by="client", settings=settings)
    assert by(firm, left, "client_id", "profit_amount") == {"c1": None, "c2": 500.0}


@on_spark
def test_hours_that_are_missing_do_not_hide_fees_that_are_spread_by_worth(firm):
    frames = entries(firm, hours=[float("nan"), 5.0]), invoices(firm), items(firm), no_fees(firm)
    with pytest.warns(bf.IncompleteDataWarning, match="hours is missing"):
        found = realization(*frames, by="client")
    assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 1000.0}
    assert by(firm, found, "client_id", "billable_hours") == {"c1": None, "c2": 5.0}
    assert by(firm, found, "client_id", "effective_rate") == {"c1": None, "c2": 200.0}


@on_spark
def test_an_amount_of_time_that_is_nan_is_hidden_like_one_that_is_null(firm):
    frames = entries(firm, amount=[float("nan"), 1000.0]), invoices(firm), items(firm), no_fees(firm)
    with pytest.warns(bf.RatesHiddenWarning, match="1 billable time entries have no amount"):
        found = realization(*frames, by="client")
    assert by(firm, found, "client_id", "worked_amount") == {"c1": None, "c2": 1000.0}
    assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 1000.0}


# Two loads put together


def twice(firm: Firm, table: pa.Table, **second: Any) -> Any:
    """A frame and a second load of the same rows, some columns changed."""
    again = table
    for name, values in second.items():
        again = again.set_column(again.column_names.index(name), name, pa.array(values))
    both = pa.concat_tables([table, again])
    return both.to_pandas() if firm.make is to_pandas else firm.make(both)


def plain_entries() -> pa.Table:
    return entries(Firm(lambda table: table))


def plain_invoices() -> pa.Table:
    return invoices(Firm(lambda table: table))


@on_spark
def test_entries_of_two_loads_that_overlap_count_once(firm):
    with pytest.warns(bf.IncompleteDataWarning, match=r"time_entries: 2 rows repeated.*time_entry_id t1"):
        found = utilization(twice(firm, plain_entries()), start="2026-10")
    assert by(firm, found, "user_name", "client_hours") == {"Ada": 3.0, "Ben": 5.0}


@on_spark
def test_two_versions_of_one_entry_are_refused_for_nobody_knows_which_counts(firm):
    work = twice(firm, plain_entries(), hours=[3.0, 4.0])
    with pytest.raises(bf.ParameterError, match=r"time_entries has different rows with the same time_entry_id.* t2"):
        utilization(work, start="2026-10")


@on_spark
def test_two_versions_of_one_invoice_are_refused_and_equal_ones_count_once(firm):
    with pytest.warns(bf.IncompleteDataWarning, match="invoices: 2 rows repeated"):
        owed = one(firm, aging(twice(firm, plain_invoices()), as_of="2026-11-30"))
    assert owed["total"] == 1300.0
    with pytest.raises(bf.ParameterError, match=r"invoices has different rows with the same invoice_id.* i1"):
        aging(twice(firm, plain_invoices(), balance=[0.0, 500.0]), as_of="2026-11-30")


@on_spark
def test_expenses_loaded_twice_are_taken_off_the_invoice_once(firm):
    once = items(Firm(lambda table: table))
    frames = entries(firm), invoices(firm), twice(firm, once), no_fees(firm)
    with pytest.warns(bf.IncompleteDataWarning, match="expenses: 1 row repeated"):
        found = realization(*frames, by="client")
    assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 1000.0}


@on_spark
def test_a_matter_there_twice_with_two_types_is_refused(firm):
    kinds = {"matter_id": ["m1", "m2", "m1"], "matter_type": ["hourly", "hourly", "internal"]}
    work = made(firm, **{name: plain_entries()[name].combine_chunks() for name in _WITHOUT_TYPE})
    with pytest.raises(bf.ParameterError, match=r"matters has different rows with the same matter_id.* m1"):
        utilization(work, start="2026-10", matters=made(firm, **kinds))


_WITHOUT_TYPE = ("date", "user_id", "matter_id", "billing_type", "hours")


@on_spark
def test_matters_with_lists_of_originators_are_compared_as_a_whole(firm):
    matter = {"matter_id": ["m1", "m1"], "matter_type": ["hourly"] * 2}
    same = made(firm, **matter, originator_ids=[["u1", "u2"], ["u1", "u2"]])
    other = made(firm, **matter, originator_ids=[["u1", "u2"], ["u1"]])
    work = made(firm, **{name: plain_entries()[name].combine_chunks() for name in _WITHOUT_TYPE})
    with warned("matters: 1 row repeated"):
        utilization(work, start="2026-10", matters=same)
    with pytest.raises(bf.ParameterError, match="matters has different rows"):
        utilization(work, start="2026-10", matters=other)


@on_spark
def test_rows_without_an_id_are_not_taken_for_one_record(firm):
    work = entries(firm, time_entry_id=pa.array([None, None], pa.string()))
    assert by(firm, utilization(work, start="2026-10"), "user_name", "client_hours") == {"Ada": 3.0, "Ben": 5.0}


# Columns of another type


@on_spark
def test_columns_of_another_type_are_refused_by_frame_and_column(firm):
    for column, values, words in (
        ("date", ["2026-10-01", "2026-10-31"], "not dates"),
        ("hours", ["3,0", "5,0"], "not numbers"),
        ("billing_type", [1, 2], "not text"),
        ("user_id", [1.0, 2.0], "not text"),
    ):
        with pytest.raises(bf.ParameterError, match=f"time_entries: {column} is of the type .*, {words}"):
            utilization(entries(firm, **{column: values}), start="2026-10")
    with pytest.raises(bf.ParameterError, match=r"invoices: balance is of the type .*, not numbers"):
        aging(invoices(firm, balance=["800", "500"]), as_of="2026-11-30")
    matters = made(firm, matter_id=["m1"], originator_ids=["['u1']"])
    with pytest.raises(bf.ParameterError, match=r"matters: originator_ids is of the type .*, not lists of text"):
        realization(entries(firm), invoices(firm), items(firm), no_fees(firm), by="originator", matters=matters)


@on_spark
def test_a_column_that_is_not_there_is_named_with_its_frame_and_what_supplies_it(firm):
    bills = made(firm, invoice_id=["i1"], invoice_date=[day(1)], invoice_state=["final"], due_date=[day(2)])
    with pytest.raises(bf.MissingColumnError, match="invoices has no column 'balance'"):
        aging(bills, as_of="2026-11-30")


@on_spark
def test_a_column_that_holds_nothing_may_be_of_any_type(firm):
    nothing = pa.array([None, None], pa.int64())
    with pytest.warns(bf.IncompleteDataWarning, match="2 open final invoices have no due date"):
        owed = one(firm, aging(invoices(firm, due_date=nothing), as_of="2026-11-30"))
    assert owed["total"] == 1300.0


# Values that nobody knows


@on_spark
def test_enums_in_another_case_mean_what_they_say(firm):
    loud = {"billing_type": ["BILLABLE", "Billable"], "matter_type": ["Hourly", "HOURLY"]}
    assert by(firm, utilization(entries(firm, **loud), start="2026-10"), "user_id", "client_hours") == {
        "u1": 3.0,
        "u2": 5.0,
    }
    assert one(firm, aging(invoices(firm, invoice_state=["Final", "FINAL"]), as_of="2026-11-30"))["total"] == 1300.0
    people = made(firm, user_id=["u3"], name=["Cy"], role=["Principal"])
    found = utilization(entries(firm), start="2026-10", users=people)
    assert by(firm, found, "user_id", "client_hours") == {"u1": 3.0, "u2": 5.0, "u3": 0.0}


@on_spark
def test_hours_of_a_billing_type_nobody_knows_are_shown_as_such(firm):
    work = entries(firm, billing_type=["billable", "courtesy"])
    with warned(r"billing_type are unknown: 'courtesy' \(1 row, hours 5.00\)"):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "client_hours") == {"u1": 3.0, "u2": 0.0}
    assert by(firm, found, "user_id", "unknown_hours") == {"u1": 0.0, "u2": 5.0}
    assert by(firm, found, "user_id", "total_hours") == {"u1": 3.0, "u2": 5.0}


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb"])
def test_a_billing_type_may_be_missing_in_a_column_that_holds_no_others_than_those_declared(engine):
    firm = Firm(ENGINES[engine])
    work = entries(firm, billing_type=["billable", None])
    if isinstance(work, pl.LazyFrame):
        work = work.with_columns(pl.col("billing_type").cast(pl.Enum(ENUMS["billing_type"])))
    else:
        work = work.project(f"* replace (billing_type::enum {ENUMS['billing_type']} as billing_type)")
    assert nw.from_native(work).collect_schema()["billing_type"] == nw.Enum
    with warned(r"billing_type are unknown: missing \(1 row, hours 5.00\)"):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "unknown_hours") == {"u1": 0.0, "u2": 5.0}


def test_unbilled_work_has_no_state_of_an_invoice_and_that_is_no_unknown_value(pandas_firm):
    """Warnings are errors: none is given."""
    header = "time_entry_id date user_id matter_id billing_type hours amount invoice_id invoice_state"
    rows = [
        ("t1", "2026-10-01", "u1", "m1", "billable", 2.0, 300.0, "i1", "draft"),
        ("t2", "2026-10-02", "u1", "m1", "billable", 1.0, 150.0, None, None),
    ]
    entries = pandas_firm.frame(header, *rows)
    days = {"start": "2026-10-01", "end": "2026-10-31"}
    hours = utilization(entries, users=pandas_firm.users(), matters=pandas_firm.matters(), by="invoice_state", **days)
    assert dict(zip(hours["invoice_state"], hours["client_hours"], strict=True)) == {"draft": 2.0, "Unassigned": 1.0}


@on_spark
def test_invoices_of_a_state_nobody_knows_are_neither_owed_nor_forgotten(firm):
    bills = invoices(firm, invoice_state=["final", "sent"])
    with warned(r"invoice_state are unknown: 'sent' \(1 row, amount 1,000.00\)"):
        owed = one(firm, aging(bills, as_of="2026-12-31"))
    assert (owed["total"], owed["overdue"], owed["unknown_amount"]) == (800.0, 800.0, 500.0)
    with warned("'sent'"):
        spread = aging(bills, as_of="2026-12-31", by="matter", time_entries=entries(firm), expenses=items(firm),
                       fixed_fees=no_fees(firm))  # fmt: skip
    assert by(firm, spread, "matter_id", "unknown_amount") == {"m1": 0.0, "m2": 500.0}


def test_work_of_an_unknown_type_or_on_invoices_of_an_unknown_state_is_worth_an_unknown_amount(firm):
    for basis in ("invoice_date", "work_date"):
        frames = entries(firm), invoices(firm, invoice_state=["final", "sent"]), items(firm), no_fees(firm)
        with warned("'sent'"):
            found = realization(*frames, by="client", basis=basis)
        assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 0.0}
        assert by(firm, found, "client_id", "unknown_amount") == {"c1": 0.0, "c2": 1000.0}
        work = entries(firm, billing_type=["billable", None])
        with warned(r"billing_type are unknown: missing \(1 row, hours 5.00\)"):
            found = realization(work, invoices(firm), items(firm), no_fees(firm), by="client", basis=basis)
        assert by(firm, found, "client_id", "worked_amount") == {"c1": 900.0, "c2": 0.0}
        assert by(firm, found, "client_id", "unknown_amount") == {"c1": 0.0, "c2": 1000.0}


@on_spark
def test_work_of_an_unknown_type_and_on_invoices_of_an_unknown_state_is_each_worth_an_unknown_amount(firm):
    more = {name: pa.concat_arrays([plain_entries()[name].combine_chunks()] * 2).slice(0, 3) for name in _WORK}
    work = entries(firm, **more | {
        "time_entry_id": ["t1", "t2", "t3"], "client_id": ["c1", "c2", "c3"], "invoice_id": ["i1", "i2", "i1"],
        "billing_type": ["billable", "billable", None],
    })  # fmt: skip
    frames = work, invoices(firm, invoice_state=["final", "sent"]), items(firm), no_fees(firm)
    for basis in ("invoice_date", "work_date"):
        with warned("'sent'", r"billing_type are unknown: missing \(1 row, hours 3.00\)"):
            found = realization(*frames, by="client", basis=basis)
        assert by(firm, found, "client_id", "billed_amount") == {"c1": 700.0, "c2": 0.0, "c3": 0.0}
        assert by(firm, found, "client_id", "worked_amount") == {"c1": 900.0, "c2": 0.0, "c3": 0.0}
        assert by(firm, found, "client_id", "unknown_amount") == {"c1": 0.0, "c2": 1000.0, "c3": 900.0}


_WORK = ("date", "user_id", "user_name", "matter_id", "matter_type", "hours", "amount")


@on_spark
def test_a_budget_is_used_by_work_of_an_unknown_type_too(firm):
    frames = entries(firm, billing_type=["billable", "other"]), invoices(firm), items(firm), no_fees(firm)
    settings = bf.FirmSettings(budgets={"m1": 1000.0, "m2": 2000.0})
    with warned("'other'"):
        found = budget_burn(*frames, settings=settings)
    assert by(firm, found, "matter_id", "unknown_amount") == {"m1": 0.0, "m2": 1000.0}
    assert by(firm, found, "matter_id", "used_amount") == {"m1": 700.0, "m2": 1000.0}


@on_spark
def test_work_in_progress_of_an_unknown_type_is_part_of_the_total_as_unknown(firm):
    work = entries(firm, billing_type=["billable", "other"], invoice_id=pa.array([None, None], pa.string()))
    frames = {"expenses": items(firm), "fixed_fees": no_fees(firm), "invoices": invoices(firm)}
    with warned(r"billing_type are unknown: 'other' \(1 row, hours 5.00\)"):
        open_ = one(firm, wip(work, **frames, as_of="2026-12-31"))
    assert (open_["unbilled_amount"], open_["unknown_amount"], open_["total"]) == (900.0, 1000.0, 1900.0)


@on_spark
def test_a_role_nobody_knows_is_no_associate(firm):
    people = made(firm, user_id=["u1", "u2"], name=["Ada", "Ben"], role=["principal", "Partner"])
    with warned("users: these values of role are unknown: 'Partner'"):
        found = one(firm, leverage(entries(firm), start="2026-10", users=people))
    assert (found["principal_hours"], found["non_principal_hours"], found["unknown_role_hours"]) == (3.0, 0.0, 5.0)


@on_spark
def test_a_matter_type_nobody_knows_counts_as_unknown_not_as_none_of_those_chosen(firm):
    work = entries(firm, matter_type=["hourly", "retainer"])
    frames = work, invoices(firm), items(firm), no_fees(firm)
    with warned("matter_type are unknown: 'retainer'"):
        found = one(firm, realization(*frames, matter_types=["hourly", "Unknown"]))
    assert (found["worked_amount"], found["left_out_hours"]) == (1900.0, 0.0)


@on_spark
def test_what_is_billed_without_an_invoice_is_not_unbilled(firm):
    work = entries(firm, invoice_id=["i1", None], billed=[True, True])
    frames = {"expenses": items(firm), "fixed_fees": no_fees(firm), "invoices": invoices(firm)}
    with warned(r"billed is true but invoice_id is missing in 1 row \(for example time_entry_id t2\)"):
        open_ = one(firm, wip(work, **frames, as_of="2026-12-31"))
    assert (open_["unbilled_amount"], open_["unknown_amount"], open_["total"]) == (0.0, 1000.0, 1000.0)
    # A database gives true back as 1.
    work = entries(firm, invoice_id=["i1", None], billed=[1, 1])
    with warned("billed is true"):
        found = one(firm, realization(work, **frames, basis="work_date"))
    assert (found["unbilled_amount"], found["unknown_amount"]) == (0.0, 1000.0)


def test_the_values_that_analyses_know_are_those_the_api_declares():
    declared = {"billing_type": BillingType, "invoice_state": InvoiceState, "matter_type": MatterType, "role": Role}
    for name, kind in declared.items():
        assert ENUMS[name] == get_args(kind)[1].extra["values"]


# Swapped columns


def many(firm: Firm, make: Callable[..., Any], rows: int = 6, **columns: Any) -> Any:
    """A frame of so many rows, equal but for their ids."""
    table = make(Firm(lambda each: each)).slice(0, 1)
    table = pa.concat_tables([table] * rows)
    id_ = table.column_names[0]
    ids = [f"{id_}{row}" for row in range(rows)]
    plain = {name: table[name].combine_chunks() for name in table.column_names if name != id_}
    return made(firm, **{id_: ids} | plain | {name: [value] * rows for name, value in columns.items()})


@on_spark
def test_a_balance_above_its_amount_is_another_column(firm):
    for good in ((800.0, 800.0), (800.0, 0.0), (-800.0, -300.0)):
        aging(many(firm, invoices, amount=good[0], balance=good[1]), as_of="2026-11-30")
    with warned("invoices: balance is more than amount on most invoices"):
        aging(many(firm, invoices, amount=80.0, balance=800.0), as_of="2026-11-30")
    # Most invoices are paid, six are odd.
    table = many(Firm(lambda each: each), invoices, rows=13, amount=80.0)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    aging(made(firm, **columns | {"balance": [800.0] * 6 + [0.0] * 7}), as_of="2026-11-30")
    # One invoice is a matter of its own.
    aging(many(firm, invoices, rows=1, amount=80.0, balance=800.0), as_of="2026-11-30")


@on_spark
def test_an_invoice_is_not_due_before_its_date(firm):
    def due(month: int) -> Any:
        table = many(Firm(lambda each: each), invoices, due_date=day(5, month))
        dates = {name: table[name].cast(pa.timestamp("us")) for name in ("invoice_date", "due_date")}
        return made(firm, **{name: dates.get(name, table[name]).combine_chunks() for name in table.column_names})

    aging(due(11), as_of="2026-12-30")
    with warned("invoices: due_date is before invoice_date on most invoices"):
        aging(due(10), as_of="2026-12-30")


@on_spark
def test_a_rate_is_not_an_amount(firm):
    frames = {"expenses": items(firm), "fixed_fees": no_fees(firm), "invoices": invoices(firm)}
    wip(many(firm, entries, rate=300.0), **frames, as_of="2026-12-31")
    with warned("time_entries: rate is hours times amount, so the two seem to be swapped"):
        wip(many(firm, entries, rate=900.0, amount=300.0), **frames, as_of="2026-12-31")
    with warned("time_entries: amount is many times hours times rate"):
        wip(many(firm, entries, rate=300.0, amount=90_000.0), **frames, as_of="2026-12-31")


@on_spark
def test_work_without_a_date_is_in_no_period(firm):
    work = entries(firm, date=pa.array([day(1), None], pa.date32()))
    with pytest.warns(
        bf.IncompleteDataWarning, match=r"time_entries: date is missing in 1 row .*t2\).*errors='coerce'"
    ):
        found = utilization(work, start="2026-10")
    assert by(firm, found, "user_id", "client_hours")["u1"] == 3.0
    bills = invoices(firm, invoice_date=pa.array([None, day(6, 11)], pa.date32()))
    with warned("invoices: invoice_date is missing in 1 row"):
        aging(bills, as_of="2026-11-30")
