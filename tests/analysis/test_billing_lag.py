"""Days from the work to its invoice, compared with figures worked out by hand."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

from billframes.analysis import billing_lag
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning

INVOICES = (
    ("i1", "2026-10-01", "final", "2026-10-31", "c1", 1000.0, 0.0),
    ("i2", "2026-10-15", "draft", None, "c1", 500.0, 500.0),
    ("i3", "2026-10-20", "final", "2026-11-20", "c2", 400.0, 0.0),
    ("i4", "2026-11-02", "final", "2026-12-02", "c1", 400.0, 0.0),
    ("i5", "2026-10-30", "final", "2026-12-02", "c1", -100.0, 0.0),
)
WORK = (
    ("2026-09-21", "u1", "c1", "m1", "billable", 3.0, 900.0, "i1"),
    ("2026-09-01", "u2", "c1", "m2", "billable", 1.0, 100.0, "i1"),
    ("2026-09-01", "u2", "c1", "m2", "fixedFee", 9.0, None, "i1"),
    ("2026-09-01", "u2", "c1", "m2", "nonBillable", 9.0, None, "i1"),
    ("2026-10-01", "u1", "c1", "m1", "billable", 5.0, 500.0, "i2"),
    ("2026-10-21", "u1", "c2", "m2", "billable", 2.0, 400.0, "i3"),
    ("2024-02-28", "u1", "c1", "m1", "billable", 4.0, 400.0, "i4"),
    ("2026-10-02", "u1", "c1", "m1", "billable", 4.0, 400.0, None),
)


def run(firm, work=WORK, **options):
    entries = firm.entries(*work)
    options = {"start": "2026-10", "matters": firm.matters(), "users": firm.users()} | options
    result = billing_lag(entries, invoices=firm.invoices(*INVOICES), **options)
    assert type(result) is type(entries)
    return firm.rows(result)


def test_the_worked_table(firm):
    """10, 30 and -1 days: the last was dated after its invoice. Drafts, fixed-fee and unbilled time don't count."""
    (row,) = run(firm)
    assert row == pytest.approx(
        {
            "entries": 3.0,
            "total_lag_days": 39.0,
            "mean_lag_days": 13.0,
            "worked_amount": 1400.0,
            "amount_days": 11600.0,
            "amount_weighted_lag_days": 11600 / 1400,
            "billable_hours": 6.0,
            "hour_days": 58.0,
            "hours_weighted_lag_days": 58 / 6,
            "postdated_entries": 1.0,
        }
    )


def test_an_entry_of_the_day_of_its_invoice_is_not_dated_after_it(firm):
    (row,) = run(firm, (("2026-10-20", "u1", "c2", "m2", "billable", 2.0, 400.0, "i3"),))
    assert (row["entries"], row["mean_lag_days"], row["postdated_entries"]) == (1.0, 0.0, 0.0)


def test_days_are_counted_over_leap_years(firm):
    (row,) = run(firm, start="2026-11")
    assert row["mean_lag_days"] == 978.0


def test_invoices_over_several_matters_follow_the_entries(firm):
    rows = run(firm, by=["client", "matter"])
    assert [(row["client_id"], row["matter_id"], row["mean_lag_days"]) for row in rows] == [
        ("c1", "m2", 30.0),
        ("c1", "m1", 10.0),
        ("c2", "m2", -1.0),
    ]
    assert [row["practice_area_label"] for row in run(firm, by="practice_area")] == ["Corporate", "Unassigned"]
    assert [row["month"] for row in run(firm, by="month", start="2026")] == ["2026-10", "2026-11"]


def test_an_entry_of_two_originators_is_half_an_entry_of_each(firm):
    rows = {row["originator_name"]: (row["entries"], row["mean_lag_days"]) for row in run(firm, by="originator")}
    assert rows == {"Ada": (0.5, 10.0), "Ben": (2.5, pytest.approx(34 / 2.5))}


def test_hidden_rates_leave_the_days_and_hours(firm):
    hidden = [(*row[:6], None, row[7]) for row in WORK]
    with pytest.warns(RatesHiddenWarning, match="3 billable time entries have no amount"):
        (row,) = run(firm, hidden)
    assert (row["worked_amount"], row["amount_days"], row["amount_weighted_lag_days"]) == (None, None, None)
    assert (row["mean_lag_days"], row["hours_weighted_lag_days"]) == (13.0, pytest.approx(58 / 6))


def test_hours_that_cancel_out_have_no_weight(firm):
    work = [
        ("2026-09-21", "u1", "c1", "m1", "billable", 2.0, 200.0, "i1"),
        ("2026-09-22", "u1", "c1", "m1", "billable", -2.0, -200.0, "i1"),
        ("2026-09-22", "u1", "c1", "m1", "billable", 0.0, None, "i1"),
    ]
    (row,) = run(firm, work)
    assert (row["mean_lag_days"], row["amount_weighted_lag_days"]) == (pytest.approx(28 / 3), None)
    assert row["hours_weighted_lag_days"] is None


def test_nothing_billed_has_no_lag(firm):
    (row,) = run(firm, [])
    assert (row["entries"], row["mean_lag_days"]) == (0.0, None)
    assert run(firm, [], by="user") == []


def test_an_invoice_that_was_not_passed_is_warned_about(firm):
    lost = ("2026-09-21", "u1", "c1", "m1", "billable", 3.0, 900.0, "i99")
    with pytest.warns(IncompleteDataWarning, match="1 billable time entry names an invoice"):
        (row,) = run(firm, [*WORK, lost])
    assert row["entries"] == 3.0
    with pytest.warns(IncompleteDataWarning, match="1 billable time entry names an invoice"):
        rows = run(firm, [*WORK, (lost[0], "u3", *lost[2:])], by="user")
    assert {row["user_id"]: row["entries"] for row in rows} == {"u1": 2.0, "u2": 1.0}


def test_an_invoice_that_was_not_passed_and_is_of_another_period_is_not_missed(pandas_firm):
    lost = ("2026-09-21", "u1", "c1", "m1", "billable", 3.0, 900.0, "i99")
    entries = pandas_firm.entries(lost, lost)
    for other, warned in (("2026-09-30", 0), ("2026-10-31", 1)):
        named = entries.assign(time_entry_id=["t1", "t2"], invoice_date=pd.to_datetime(other))
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            billing_lag(named, invoices=pandas_firm.invoices(*INVOICES), start="2026-10")
        assert len(given) == warned


def test_bad_input(pandas_firm):
    firm = pandas_firm
    with pytest.raises(ParameterError, match="by='usr'"):
        run(firm, by="usr")
    with pytest.raises(MissingColumnError, match="'invoice_date'"):
        billing_lag(firm.entries(), invoices=firm.invoices().drop(columns="invoice_date"))
