"""Fees by key: contribution, origination, effective rates and budgets, by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from billframes.analysis import budget_burn, contribution, effective_rates, profitability, realization
from billframes.analysis.declare.columns import MATTER_TYPES
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning

# i1 covers two matters, i2 is a draft, i3 a credit note, i4 a fixed fee billed at less, i6 has contingency work on it.
WORK = (
    ("2026-08-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
    ("2026-09-01", "u2", "c1", "m2", "billable", 3.0, 600.0, "i1"),
    ("2026-09-03", "u2", "c1", "m2", "fixedFee", 4.0, None, "i1"),
    ("2026-10-03", "u1", "c1", "m1", "billable", 1.0, 300.0, "i2"),
    ("2026-10-10", "u2", "c1", "m1", "billable", 1.0, 200.0, None),
    ("2026-10-01", "u2", "c2", "m5", "billable", 1.0, 300.0, "i6"),
    ("2026-11-01", "u1", "c1", "m1", "billable", 1.0, 70.0, "i7"),
)
BILLS = (
    ("i1", "2026-10-05", "final", "2026-11-04", "c1", 1500.0, 750.0),
    ("i2", "2026-10-06", "draft", None, "c1", 300.0, 300.0),
    ("i3", "2026-10-20", "final", "2026-11-04", "c1", -200.0, -50.0),
    ("i4", "2026-10-25", "final", "2026-11-04", "c3", 850.0, 0.0),
    ("i6", "2026-10-30", "final", "2026-11-04", "c2", 250.0, 0.0),
    ("i7", "2026-11-02", "final", "2026-12-04", "c1", 70.0, 0.0),
)
COSTS = (("m1", "u1", "c1", 100.0, "i1"), ("m1", None, "c1", 77.0, None))
FEES = (
    ("m2", "u2", "c1", 400.0, "i1"),
    ("m2", None, "c3", 900.0, "i4"),
    ("m1", "u1", "c1", 30.0, "i2"),
    ("m1", "u1", "c1", 55.0, None),
)


def items(firm, *rows):
    return firm.frame("matter_id user_id client_id amount invoice_id", *rows)


def run(firm, analysis, work=WORK, bills=BILLS, **options):
    options = {"start": "2026-10", "matters": firm.matters()} | options
    costs, fees = items(firm, *COSTS), items(firm, *FEES)
    entries, invoices = firm.entries(*work), firm.invoices(*bills)
    return firm.rows(analysis(entries, expenses=costs, fixed_fees=fees, invoices=invoices, **options))


ITEMS = FirmSettings(discounts="items", budgets={"m2": 1000.0}, cost_rates={"u1": 50.0, "u2": 50.0})


def test_fixed_fees_bear_discounts_in_all_figures_of_fees_if_the_settings_say_so(firm):
    """i1 bills time of 1,200 and a fixed fee of 400 at 1,400, seven eighths of both; the fee of i4 is billed at 850."""
    names = ("billed_amount", "fixed_fee_amount", "fees_amount")
    rows = {row["client_id"]: [row[name] for name in names] for row in run(firm, contribution, settings=ITEMS)}
    assert rows["c1"] == pytest.approx([1050.0 - 200.0, 350.0, 1200.0])
    assert rows["c3"] == pytest.approx([0.0, 850.0, 850.0])
    (whole,) = run(firm, contribution, by=None, settings=ITEMS)
    assert whole["fees_amount"] == pytest.approx(run(firm, contribution, by=None)[0]["fees_amount"])
    options = {"by": "user", "settings": ITEMS, "matter_types": MATTER_TYPES}
    realized = {row["user_id"]: row["billed_amount"] for row in run(firm, realization, **options)}
    fees = {row["user_id"]: row["billed_amount"] for row in run(firm, contribution, by="user", settings=ITEMS)}
    assert fees == pytest.approx(realized)
    frames = {"expenses": items(firm, *COSTS), "fixed_fees": items(firm, *FEES), "invoices": firm.invoices(*BILLS)}
    (burnt,) = firm.rows(budget_burn(firm.entries(*WORK), **frames, matters=firm.matters(), settings=ITEMS))
    assert [burnt[name] for name in names[:2]] == pytest.approx([525.0, 350.0 + 850.0])
    (profit,) = run(firm, profitability, settings=ITEMS)
    assert profit["fixed_fee_amount"] == pytest.approx(1200.0)


def test_contribution_is_largest_first_and_adds_up_to_one(firm):
    """Net of expenses: i1 1400, the credit -200, i4 850, i6 250; 2300 in all."""
    rows = run(firm, contribution, by="client")
    assert list(rows[0]) == [
        *("client_id", "client_name", "worked_amount", "billed_amount", "fixed_fee_amount", "fees_amount"),
        *("settled_amount", "share", "running_share"),
    ]  # fmt: skip
    assert [(row["client_id"], row["client_name"]) for row in rows] == [
        ("c1", "Acme"),
        ("c3", "Zenith"),
        ("c2", "Acme"),
    ]
    assert [row["fees_amount"] for row in rows] == pytest.approx([1200.0, 850.0, 250.0])
    assert [row["billed_amount"] for row in rows] == pytest.approx([800.0, -50.0, 250.0])
    assert [row["share"] for row in rows] == pytest.approx([1200 / 2300, 850 / 2300, 250 / 2300])
    assert [row["running_share"] for row in rows] == pytest.approx([1200 / 2300, 2050 / 2300, 1.0])


def test_fees_that_hours_without_an_amount_bear_leave_no_row_unassigned(pandas_firm):
    work = [("2026-11-01", "u1", "c1", "m1", "billable", 1.0, None, "i7")]
    with pytest.warns(RatesHiddenWarning):
        rows = run(pandas_firm, contribution, work, by="matter", start="2026-11")
    assert [(row["matter_name"], row["fees_amount"]) for row in rows] == [("Sale", pytest.approx(70.0))]


FEES_BY = {
    "user": {"Ada": 500.0, "Ben": 500.0 + 400.0 + 250.0, "Unassigned": 900.0 - 50.0 - 200.0},
    "matter": {"Sale": 500.0, "Lease": 500.0 + 400.0 + 900.0, "Contingent": 250.0, "Unassigned": -250.0},
    "originator": {"Ada": 250.0, "Ben": 2050.0, "Unassigned": 0.0},
    "practice_area": {"Corporate": 500.0, "Litigation": 250.0, "Unassigned": 1550.0},
    "matter_type": {"hourly": 2300.0, "contingency": 250.0, "Unknown": -250.0},
    "role": {"principal": 500.0, "attorney": 1150.0, "Unknown": 650.0},
    "month": {"2026-10": 2300.0},
    "cf_tier": {"gold": 500.0, "Unassigned": 1800.0},
}


def test_contribution_by_every_key_is_the_invoices_less_expenses(firm):
    rows = run(firm, contribution, by=list(FEES_BY), users=firm.users())
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)
    assert rows[-1]["running_share"] == pytest.approx(1.0)
    assert [row["fees_amount"] for row in rows] == sorted((row["fees_amount"] for row in rows), reverse=True)
    for by, fees in FEES_BY.items():
        label = next(name for name in (f"{by}_name", f"{by}_label", by) if name in rows[0])
        labels = {row[label] for row in rows}
        sums = {each: sum(row["fees_amount"] for row in rows if row[label] == each) for each in labels}
        assert sums == pytest.approx(fees, abs=1e-9), by


@pytest.mark.parametrize("by", ["user", "client", "matter", "month"])
def test_analyses_of_fees_add_up_the_same_rows(firm, by):
    key = by if by == "month" else f"{by}_id"
    firms = {"settings": FirmSettings(cost_rates={"u1": 100.0, "u2": 50.0})}
    calls = ((contribution, {}), (profitability, firms))
    fees, profit = ({row[key]: row for row in run(firm, each, by=by, **more)} for each, more in calls)
    for row in run(firm, realization, by=by, matter_types=MATTER_TYPES):
        assert row["billed_amount"] == pytest.approx(fees[row[key]]["billed_amount"])
    for value, row in fees.items():
        for column in ("billed_amount", "fixed_fee_amount", "fees_amount"):
            assert row[column] == pytest.approx(profit[value][column])


def test_contribution_of_nothing_has_no_share(firm):
    (row,) = run(firm, contribution, (), (), by=None)
    assert (row["fees_amount"], row["share"], row["running_share"]) == (0.0, None, None)
    assert run(firm, contribution, (), ()) == []


def test_contribution_gives_back_the_kind_of_frame_it_got(firm):
    entries = firm.entries(*WORK)
    result = contribution(
        entries, expenses=items(firm, *COSTS), fixed_fees=items(firm, *FEES), invoices=firm.invoices(*BILLS)
    )
    assert type(result) is type(entries)


def test_hidden_rates_leave_fees_known(firm):
    hidden = tuple((*row[:6], None, row[7]) for row in WORK)
    with pytest.warns(RatesHiddenWarning, match="allocated by hours"):
        rows = {row["user_name"]: row for row in run(firm, contribution, hidden, by="user")}
    assert rows["Ada"]["fees_amount"] == pytest.approx(400.0)
    with pytest.warns(RatesHiddenWarning):
        rows = {row["originator_name"]: row for row in run(firm, contribution, hidden, by="originator")}
    assert rows["Ada"]["worked_amount"] is None
    assert rows["Ada"]["billed_amount"] == pytest.approx(200.0)


def test_fees_by_originator_split_equally_and_never_counts_twice(firm):
    rows = sorted(run(firm, contribution, by="originator"), key=lambda row: row["originator_name"])
    assert [(row["originator_id"], row["originator_name"]) for row in rows] == [
        ("u1", "Ada"), ("u2", "Ben"), (None, "Unassigned"),
    ]  # fmt: skip
    expected = {
        "worked_amount": [300.0, 300.0 + 600.0, 300.0],
        "billed_amount": [250.0, 250.0 + 500.0, 250.0 - 200.0 - 50.0],
        "settled_amount": [125.0, 125.0 + 250.0, 250.0 - 150.0 - 50.0],
        "fixed_fee_amount": [0.0, 1300.0, 0.0],
        "fees_amount": [250.0, 2050.0, 0.0],
    }
    for name, values in expected.items():
        assert [row[name] for row in rows] == pytest.approx(values), name


def test_fees_by_originator_with_weights_and_by_client(firm):
    weights = FirmSettings(originator_weights={"m1": {"ben@firm.example": 0.2, "u9": 0.8}, "m5": {"u1": 1}})
    with pytest.warns(IncompleteDataWarning, match=r"settings name 1 user .*: u9 \(originator_weights\)"):
        rows = run(firm, contribution, settings=weights, users=firm.users(), by=["originator", "client"])
    assert {(row["originator_name"], row["client_id"]): row["fees_amount"] for row in rows} == pytest.approx(
        {
            ("Ada", "c2"): 250.0,
            ("Ben", "c1"): 100.0 + 900.0,
            ("Ben", "c3"): 900.0,
            ("Unassigned", "c1"): -200.0,
            ("Unassigned", "c3"): -50.0,
            ("u9", "c1"): 400.0,
        }
    )


def test_weights_that_do_not_add_up_to_one_are_refused():
    with pytest.raises(ParameterError, match="add up to 1"):
        FirmSettings(originator_weights={"m1": {"u1": 0.5, "u2": 0.4}})


def test_effective_rates_are_realizations_amounts_by_the_hour(firm):
    rows = run(firm, effective_rates, settings=FirmSettings(standard_rates={"u1": 400, "u2": 300}))
    assert [row["user_name"] for row in rows] == ["Ada", "Ben", "Unassigned"]
    ben = rows[1]
    assert (ben["billable_hours"], ben["billed_amount"], ben["worked_amount"]) == pytest.approx((3.0, 500.0, 600.0))
    assert (ben["effective_rate"], ben["worked_rate"], ben["standard_rate"]) == pytest.approx((500 / 3, 200.0, 300.0))
    assert ben["left_out_billed_amount"] == pytest.approx(250.0)
    assert (rows[2]["billed_amount"], rows[2]["effective_rate"], rows[2]["worked_rate"]) == (-250.0, None, None)
    assert rows[0].keys() == ben.keys()


def test_effective_rates_by_work_date_and_without_rates(firm):
    hidden = tuple((*row[:6], None, row[7]) for row in WORK)
    with pytest.warns(RatesHiddenWarning):
        (row,) = run(firm, effective_rates, hidden, by=None, basis="work_date", start="2026-08")
    assert (row["billable_hours"], row["effective_rate"], row["worked_rate"]) == (2.0, 200.0, None)


FIRM = FirmSettings(budgets={"m1": 2000, "m3": 500, "gone": 0})


def test_a_budget_is_used_by_what_is_billed_prebilled_and_unbilled(firm):
    with pytest.warns(IncompleteDataWarning, match="name 1 matter that is not among those passed: gone"):
        rows = burned(firm)
    assert [(row["matter_id"], row["matter_name"]) for row in rows] == [
        ("m3", "Pro bono"),
        ("m1", "Sale"),
        ("gone", "gone"),
    ]
    sale = rows[1]
    assert sale["billed_amount"] == pytest.approx(570.0)
    assert [sale[name] for name in ("fixed_fee_amount", "prebill_amount", "unbilled_amount", "unknown_amount")] == [
        0.0, 330.0, 200.0, 0.0,
    ]  # fmt: skip
    assert (sale["used_amount"], sale["remaining_amount"], sale["budget_burn"]) == pytest.approx((1100.0, 900.0, 0.55))
    assert sale["unbilled_fixed_fee_amount"] == 55.0
    assert [(row["used_amount"], row["budget_burn"]) for row in (rows[0], rows[2])] == [(0.0, 0.0), (0.0, None)]
    # The lease 1800, the contingent matter 250, the credit -200 and the fixed fee's reduction -50.
    assert [(row["unbudgeted_matters"], row["unbudgeted_amount"]) for row in rows] == [(2, pytest.approx(1800.0))] * 3


def test_work_of_unknown_type_on_a_draft_is_unknown(firm):
    untyped = [*WORK, ("2026-10-04", "u1", "c1", "m1", None, 1.0, 45.0, "i2")]
    with pytest.warns(IncompleteDataWarning, match="these values of billing_type are unknown"):
        (sale,) = burned(firm, untyped, settings=FirmSettings(budgets={"m1": 2000}))
    assert (sale["prebill_amount"], sale["unknown_amount"]) == (330.0, 45.0)


def burned(firm, work=WORK, bills=BILLS, settings=FIRM, **options):
    options = {"matters": firm.matters()} | options
    costs, fees = items(firm, *COSTS), items(firm, *FEES)
    frames = {
        "time_entries": firm.entries(*work),
        "expenses": costs,
        "fixed_fees": fees,
        "invoices": firm.invoices(*bills),
    }
    return firm.rows(budget_burn(**frames, settings=settings, **options))


def test_budgets_need_no_users_if_the_settings_name_people_by_email(firm):
    named = FirmSettings(budgets={"m1": 1000}, cost_rates={"ada@example.com": 100})
    assert burned(firm, settings=named) == burned(firm, settings=FirmSettings(budgets={"m1": 1000}))


def test_a_budget_without_matters_frame_still_has_its_row(firm):
    rows = burned(firm, settings=FirmSettings(budgets={"m2": 3600, "m9": 10}), matters=None)
    assert [(row["matter_name"], row["budget_burn"]) for row in rows] == [("Lease", 0.5), ("m9", 0.0)]
    absent = pytest.warns(IncompleteDataWarning, match="3 time entries and fixed fees name an invoice")
    unused = pytest.warns(IncompleteDataWarning, match=r"No item is on a matter that has a budget \(m9\)")
    with absent, unused:
        (row,) = burned(firm, (), (), settings=FirmSettings(budgets={"m9": 10}), matters=None)
    assert (row["used_amount"], row["remaining_amount"]) == (0.0, 10.0)
    assert (row["unbudgeted_matters"], row["unbudgeted_amount"]) == (2, 400.0 + 900.0 + 30.0)


def test_a_matter_whose_work_was_taken_back_has_no_fees(firm):
    """The floats 0.1 + 0.2 - 0.3 add up to slightly more than 0."""
    taken_back = [("2026-10-11", "u2", "c3", "m4", "billable", 1.0, amount, None) for amount in (0.1, 0.2, -0.3)]
    settings = FirmSettings(budgets={"m1": 2000})
    (row,) = burned(firm, (*WORK, *taken_back), settings=settings)
    assert row["unbudgeted_matters"] == burned(firm, settings=settings)[0]["unbudgeted_matters"]


def test_budgets_with_hidden_rates_and_unknown_invoices(firm):
    settings = FirmSettings(budgets={"m1": 2000, "m2": 2000})
    with pytest.warns(IncompleteDataWarning, match="1 time entry or fixed fee names an invoice"):
        rows = burned(firm, bills=BILLS[:-1], settings=settings)
    assert (rows[1]["unknown_amount"], rows[1]["used_amount"]) == pytest.approx((70.0, 1100.0))
    hidden = tuple((*row[:6], None, row[7]) for row in WORK)
    with pytest.warns(RatesHiddenWarning) as caught:
        rows = burned(firm, hidden, settings=settings)
    assert [str(each.message).partition(" have")[0] for each in caught] == [
        "2 billable time entries on no final invoice",
    ]
    assert "and the fees of 4 entries on final invoices are spread over their hours" in str(caught[0].message)
    assert rows[0]["budget_burn"] == pytest.approx((600.0 + 400.0 + 900.0) / 2000)
    assert [rows[1][name] for name in ("prebill_amount", "used_amount", "budget_burn")] == [None, None, None]


@pytest.mark.parametrize("analysis", [contribution, effective_rates, realization])
def test_bad_input_is_named_before_anything_is_computed(pandas_firm, analysis):
    with pytest.raises(ParameterError, match="Did you mean 'client'"):
        run(pandas_firm, analysis, by="clint")
    with pytest.raises(ParameterError, match="is after"):
        run(pandas_firm, analysis, start="2026-10-02", end="2026-10-01")
    with pytest.raises(ParameterError, match="All frames must be of one engine"):
        run(pandas_firm, analysis, matters=_arrow_matters())
    none, bills = items(pandas_firm), pandas_firm.invoices(*BILLS).drop(columns="balance")
    work = pandas_firm.entries(*WORK)
    with pytest.raises(MissingColumnError, match=r"invoices has no column 'balance'"):
        analysis(work, expenses=none, fixed_fees=none, invoices=bills, matters=pandas_firm.matters())


def _arrow_matters():
    import pyarrow as pa

    return pa.table({"matter_id": ["m1"], "originator_ids": [["u1"]], "matter_type": ["hourly"]})


def test_budgets_are_needed(pandas_firm):
    for settings in (None, FirmSettings()):
        with pytest.raises(ParameterError, match="settings don't have budgets"):
            burned(pandas_firm, settings=settings)


def test_items_that_were_not_passed_are_warned_about(pandas_firm):
    entries, bills = pandas_firm.entries(*WORK), pandas_firm.invoices(*BILLS)
    absent = pytest.warns(IncompleteDataWarning, match="No expenses and fixed_fees were passed")
    with absent:
        result = contribution(entries, invoices=bills, start="2026-10", by=None)
    assert result["fees_amount"].tolist() == pytest.approx([2400.0])
    with pytest.warns(IncompleteDataWarning, match="1 billable time entry names an invoice"):
        contribution(
            entries,
            expenses=items(pandas_firm, *COSTS),
            fixed_fees=items(pandas_firm, *FEES),
            invoices=bills[bills["invoice_id"] != "i6"],
        )


def test_inputs_are_left_alone_and_types_are_pandas_own(pandas_firm):
    frames = {
        "time_entries": pandas_firm.entries(*WORK),
        "expenses": items(pandas_firm, *COSTS),
        "fixed_fees": items(pandas_firm, *FEES),
        "invoices": pandas_firm.invoices(*BILLS),
    }
    before = {name: each.copy(deep=True) for name, each in frames.items()}
    matters = pandas_firm.matters()
    results = [
        contribution(**frames, by="originator", matters=matters),
        effective_rates(**frames, matters=matters),
        budget_burn(**frames, settings=FirmSettings(budgets={"m1": 5, "m9": 1})),
    ]
    for result in results:
        assert {str(dtype) for dtype in result.dtypes} <= {"str", "float64", "int64"}
    for name, each in before.items():
        pd.testing.assert_frame_equal(each, frames[name])
