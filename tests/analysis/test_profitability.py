"""Fees less the cost of the hours, compared with figures worked out by hand."""

from __future__ import annotations

import pytest

from billframes.analysis import profitability, realization
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, ParameterError, RatesHiddenWarning

COSTS = FirmSettings(cost_rates={"u1": 100.0, "ben@firm.example": 50.0})
INVOICES = (
    ("i1", "2026-10-05", "final", None, "c1", 1500.0, 300.0),
    ("i2", "2026-10-31", "final", None, "c2", -200.0, -200.0),
    ("i3", "2026-10-31", "draft", None, "c2", 999.0, 0.0),
)
WORK = (
    ("2026-09-10", "u1", "c1", "m1", "billable", 4.0, 1000.0, "i1"),
    ("2026-10-01", "u1", "c1", "m2", "billable", 2.0, 500.0, "i1"),
    ("2026-10-01", "u2", "c1", "m2", "fixedFee", 6.0, None, "i1"),
    ("2026-10-02", "u2", "c1", "m1", "nonBillable", 1.0, None, None),
    ("2026-10-02", "u2", "c3", "m4", "nonBillable", 3.0, None, None),
    ("2026-10-03", "u1", "c2", "m2", "billable", 1.0, 999.0, "i3"),
    ("2026-10-03", "u1", "c2", "m2", "billable", -0.5, -100.0, None),
)
FEES = (("m2", "c1", "u2", "2026-10-01", 300.0, "i1"), ("m2", "c2", None, "2026-10-02", 77.0, "i3"))


def run(firm, work=WORK, **options):
    entries = firm.entries(*work)
    fees = firm.frame("matter_id client_id user_id date amount invoice_id", *FEES)
    options = {"start": "2026-10", "settings": COSTS, "matters": firm.matters(), "users": firm.users()} | options
    result = profitability(
        entries, expenses=firm.items(), fixed_fees=fees, invoices=firm.invoices(*INVOICES), **options
    )
    assert type(result) is type(entries)
    return firm.rows(result)


def test_the_worked_table(firm):
    """1,200 of time and 300 fixed on i1, a credit of 200; 2.5 hours at 100 and 10 at 50, of every kind."""
    (row,) = run(firm)
    assert row == pytest.approx(
        {
            "billed_amount": 1000.0,
            "fixed_fee_amount": 300.0,
            "fees_amount": 1300.0,
            "total_hours": 12.5,
            "cost_amount": 750.0,
            "profit_amount": 550.0,
            "margin_ratio": 550 / 1300,
            "uncosted_hours": 0.0,
            "unbilled_amount": -100.0,
        }
    )


def test_by_work_date_the_works_own_fees(firm):
    """Of October's work, 2 of the 6 hours on i1 were billed, at a third of 1,200; the credit is left out."""
    (row,) = run(firm, basis="work_date")
    assert (row["billed_amount"], row["fixed_fee_amount"]) == pytest.approx((400.0, 300.0))
    assert row["cost_amount"] == 750.0


def test_all_rows_re_add_whatever_the_key(firm):
    for by in ("client", ["matter", "user"], "month"):
        rows = run(firm, by=by)
        assert sum(row["fees_amount"] for row in rows) == pytest.approx(1300.0), by
        assert sum(row["cost_amount"] for row in rows) == pytest.approx(750.0), by
        assert sum(row["unbilled_amount"] for row in rows) == -100.0, by


def test_work_of_the_period_that_is_on_no_invoice_is_shown(firm):
    """Its hours are in the cost by both bases; work on the draft i3 is on an invoice."""
    assert [row["unbilled_amount"] for row in run(firm, basis="work_date", by="client")] == [0.0, -100.0, 0.0]
    hidden = (*WORK[:-1], (*WORK[-1][:6], None, None))
    with pytest.warns(RatesHiddenWarning):
        rows = run(firm, hidden, basis="work_date", by="client")
    assert [row["unbilled_amount"] for row in rows] == [0.0, None, 0.0]


def test_each_key_has_its_fees_and_its_cost(firm):
    rows = {row["client_id"]: row for row in run(firm, by="client")}
    assert [(key, row["client_name"], row["fees_amount"], row["cost_amount"]) for key, row in rows.items()] == [
        ("c1", "Acme", pytest.approx(1500.0), 550.0),
        ("c2", "Acme", pytest.approx(-200.0), 50.0),
        ("c3", "Zenith", 0.0, 150.0),
    ]
    assert rows["c3"]["margin_ratio"] is None
    people = {row["user_name"]: (row["billed_amount"], row["fixed_fee_amount"]) for row in run(firm, by="user")}
    assert people == {"Ada": (pytest.approx(1200.0), 0.0), "Ben": (0.0, 300.0), "Unassigned": (-200.0, 0.0)}
    months = run(firm, by="month", start="2026")
    assert [(row["month"], row["fees_amount"], row["cost_amount"]) for row in months] == [
        ("2026-09", 0.0, 400.0),
        ("2026-10", pytest.approx(1300.0), 750.0),
    ]


def test_fees_are_those_of_realization(firm):
    entries, invoices = firm.entries(*WORK), firm.invoices(*INVOICES)
    fees = firm.frame("matter_id client_id user_id date amount invoice_id", *FEES)
    every = ("hourly", "fixedFee", "contingency", "probono", "internal")
    billed = realization(
        entries,
        expenses=firm.items(),
        fixed_fees=fees,
        invoices=invoices,
        matters=firm.matters(),
        by="matter",
        matter_types=every,
        start="2026-10",
    )
    wanted = {row["matter_id"]: row["billed_amount"] for row in firm.rows(billed)}
    found = {row["matter_id"]: row["billed_amount"] for row in run(firm, by="matter")}
    assert found == pytest.approx({**dict.fromkeys(found, 0.0), **wanted})


def test_without_a_cost_rate_there_is_no_cost(firm):
    settings = FirmSettings(cost_rates={"u1": 100.0})
    with pytest.warns(IncompleteDataWarning, match=r"10 hours of 1 person have no cost rate .*\(user_id u2\)"):
        rows = {row["user_name"]: row for row in run(firm, by="user", settings=settings)}
    assert (rows["Ada"]["cost_amount"], rows["Ada"]["uncosted_hours"]) == (250.0, 0.0)
    ben = rows["Ben"]
    assert (ben["cost_amount"], ben["profit_amount"], ben["margin_ratio"]) == (None, None, None)
    assert (ben["fees_amount"], ben["uncosted_hours"]) == (300.0, 10.0)


def test_hidden_rates_leave_profit_known(firm):
    hidden = [(*row[:6], None, row[7]) for row in WORK]
    with pytest.warns(RatesHiddenWarning):
        (row,) = run(firm, hidden)
    assert row["profit_amount"] == pytest.approx(550.0)


def test_without_entries_amounts_are_zero_and_the_margin_is_missing(firm):
    (row,) = run(firm, [], start="2026-02")
    assert (row["fees_amount"], row["cost_amount"], row["margin_ratio"]) == (0.0, 0.0, None)
    assert run(firm, [], start="2026-02", by="user") == []


def test_bad_input(pandas_firm):
    with pytest.raises(ParameterError, match="basis='invoice'"):
        run(pandas_firm, basis="invoice")
    with pytest.raises(ParameterError, match="by='mater'"):
        run(pandas_firm, by="mater")
