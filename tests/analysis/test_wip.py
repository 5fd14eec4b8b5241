"""Work in progress by age and state, compared with figures worked out by hand."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest

from billframes.analysis import wip
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning

DAY = "2026-10-31"
BUCKETS = ["0-30", "31-60", "61-90", "91+"]
COLUMNS = [
    *BUCKETS,
    "total",
    "unbilled_amount",
    "prebill_amount",
    "unknown_amount",
    "time_amount",
    "expense_amount",
    "fixed_fee_amount",
    "hours",
    "fixed_fee_hours",
    "oldest_date",
    "unpriced_hours",
    "contingent_amount",
]

# 0, 30, 31, 60, 61 (on a draft), 90 (on a final invoice of tomorrow) and 91 days old; a correction; then what does
# not count.
WORK = (
    ("2026-10-31", "u1", "c1", "m1", "billable", 1.0, 1.0, None),
    ("2026-10-01", "u1", "c1", "m1", "billable", 1.0, 2.0, None),
    ("2026-09-30", "u1", "c1", "m1", "billable", 1.0, 4.0, None),
    ("2026-09-01", "u1", "c2", "m2", "billable", 1.0, 8.0, None),
    ("2026-08-31", "u2", "c2", "m2", "billable", 1.0, 16.0, "draft"),
    ("2026-08-02", "u2", "c2", "m2", "billable", 1.0, 32.0, "later"),
    ("2026-08-01", "u9", "c3", "m5", "billable", 1.0, 64.0, None),
    ("2026-10-15", "u1", "c1", "m1", "billable", -0.5, -3.0, None),
    ("2026-07-01", "u2", "c1", "m1", "fixedFee", 2.5, None, None),
    ("2026-06-01", "u1", "c1", "m1", "nonBillable", 9.0, None, None),
    ("2026-11-01", "u1", "c1", "m1", "billable", 9.0, 1e6, None),
    ("2026-05-01", "u1", "c1", "m1", "billable", 9.0, 1e6, "final"),
    ("2026-05-01", "u1", "c1", "m1", "fixedFee", 9.0, None, "today"),
)
COSTS = (
    ("2026-10-20", "u1", "c1", "m1", 128.0, None),
    ("2026-08-10", None, "c2", "m2", 256.0, "draft"),
    ("2026-08-10", None, "c1", "m2", 1e6, "final"),
)
FEES = (("2026-09-15", None, "c3", None, 512.0, None), ("2026-11-15", None, "c3", None, 1e6, None))
BILLS = (
    ("final", "2026-10-30", "final", "2026-11-30", "c1", 1.0, 1.0),
    ("today", DAY, "final", "2026-11-30", "c1", 1.0, 1.0),
    ("later", "2026-11-01", "final", "2026-11-30", "c2", 1.0, 1.0),
    ("draft", "2026-10-01", "draft", None, "c2", 1.0, 1.0),
)


def dated(firm, *rows):
    return firm.frame("date user_id client_id matter_id amount invoice_id", *rows)


def waiting(firm, work=WORK, costs=COSTS, fees=FEES, bills=BILLS, **options):
    options = {"as_of": DAY, "matters": firm.matters(), "users": firm.users()} | options
    return firm.rows(
        wip(
            firm.entries(*work),
            expenses=dated(firm, *costs),
            fixed_fees=dated(firm, *fees),
            invoices=firm.invoices(*bills),
            **options,
        )
    )


def test_the_worked_table(firm):
    """30 days are in 0-30, 31 days are not; items on tomorrow's final invoice are prebill today."""
    (row,) = waiting(firm)
    assert list(row) == COLUMNS
    assert [row[name] for name in BUCKETS] == [1.0 + 2.0 - 3.0 + 128.0, 4.0 + 8.0 + 512.0, 16.0 + 32.0 + 256.0, 0.0]
    assert row["total"] == 956.0
    assert [row[name] for name in COLUMNS[5:8]] == [652.0, 304.0, 0.0]
    assert [row[name] for name in COLUMNS[8:11]] == [60.0, 384.0, 512.0]
    assert (row["hours"], row["fixed_fee_hours"]) == (5.5, 2.5)
    assert row["oldest_date"] == dt.datetime(2026, 7, 1)
    assert (row["unpriced_hours"], row["contingent_amount"]) == (0.0, 64.0)


def test_without_prebill_only_what_is_on_no_invoice(firm):
    (row,) = waiting(firm, include_prebill=False)
    assert [row[name] for name in COLUMNS[4:8]] == [652.0, 652.0, 0.0, 0.0]
    assert [row["hours"], row["expense_amount"]] == [3.5, 128.0]


def test_states_on_an_earlier_day_follow_from_the_dates(firm):
    """On 1 October, the draft of that day was on a draft bill, and so were the final invoices of October."""
    (row,) = waiting(firm, as_of=dt.date(2026, 10, 1))
    assert row["prebill_amount"] == 16.0 + 32.0 + 256.0 + 1e6 + 1e6
    assert row["unbilled_amount"] == 2.0 + 4.0 + 8.0 + 512.0


def test_two_clients_of_one_name_stay_two_rows(firm):
    rows = waiting(firm, by="client")
    assert [(row["client_id"], row["client_name"], row["total"]) for row in rows] == [
        ("c1", "Acme", 132.0),
        ("c2", "Acme", 312.0),
        ("c3", "Zenith", 512.0),
    ]
    assert [row["oldest_date"] for row in rows] == [
        dt.datetime(2026, 7, 1),
        dt.datetime(2026, 8, 2),
        dt.datetime(2026, 9, 15),
    ]


def test_expenses_and_fees_without_a_user_are_unassigned(firm):
    rows = {(row["user_id"], row["user_name"]): row["total"] for row in waiting(firm, by="user")}
    assert rows == {("u1", "Ada"): 140.0, ("u2", "Ben"): 48.0, ("u9", "Guest"): 0.0, (None, "Unassigned"): 768.0}


TOTALS = {
    "matter": {"Sale": 132.0, "Lease": 312.0, "Contingent": 0.0, "Unassigned": 512.0},
    "practice_area": {"Corporate": 132.0, "Litigation": 0.0, "Unassigned": 824.0},
    "originator": {"Ada": 66.0, "Ben": 378.0, "Unassigned": 512.0},
    "responsible": {"Ada": 132.0, "Ben": 312.0, "Unassigned": 512.0},
    "matter_type": {"hourly": 444.0, "contingency": 0.0, "Unknown": 512.0},
    "role": {"principal": 140.0, "attorney": 48.0, "Unknown": 768.0},
    "month": {"2026-07": 0.0, "2026-08": 304.0, "2026-09": 524.0, "2026-10": 128.0},
    "quarter": {"2026-Q3": 828.0, "2026-Q4": 128.0},
    "billing_type": {"billable": 60.0, "fixedFee": 0.0, "Unassigned": 896.0},
    "cf_tier": {"gold": 132.0, "Unassigned": 824.0},
}


def test_every_key_re_adds_to_the_whole(firm):
    (whole,), rows = waiting(firm), waiting(firm, by=list(TOTALS))
    for name in set(COLUMNS) - {"oldest_date"}:
        assert sum(row[name] for row in rows) == pytest.approx(whole[name]), name
    assert (
        min(
            row["oldest_date"]
            for row in rows
            if row["oldest_date"] is not None and row["oldest_date"] == row["oldest_date"]
        )
        == whole["oldest_date"]
    )
    for by, totals in TOTALS.items():
        label = next(name for name in (f"{by}_name", f"{by}_label", by) if name in rows[0])
        labels = {row[label] for row in rows}
        sums = {each: sum(row["total"] for row in rows if row[label] == each) for each in labels}
        assert sums == pytest.approx(totals), by


def test_weights_split_a_matter_once(firm):
    settings = FirmSettings(originator_weights={"m1": {"ben@firm.example": 0.25, "u1": 0.75}})
    rows = {row["originator_name"]: row["total"] for row in waiting(firm, by="originator", settings=settings)}
    assert rows == pytest.approx({"Ada": 99.0, "Ben": 345.0, "Unassigned": 512.0})


def test_other_buckets_back_to_the_year_1(firm):
    (row,) = waiting(firm, buckets=(45, 10**6))
    assert [row["0-45"], row["46-1000000"], row["1000001+"]] == [132.0, 824.0, 0.0]


def test_items_on_an_invoice_that_was_not_passed_count_and_are_named(firm):
    with pytest.warns(IncompleteDataWarning, match="1 time_entries, 1 expenses name an invoice"):
        (row,) = waiting(firm, bills=BILLS[:3])
    assert (row["total"], row["prebill_amount"], row["unknown_amount"]) == (956.0, 32.0, 272.0)


NAMED = {"time_entry_id": [f"t{number:02}" for number in range(len(WORK))]}


def test_one_entry_without_an_amount_leaves_the_known_sum_and_is_named(firm):
    """Rates are not hidden, because other entries have amounts."""
    work = [(*row[:6], None, row[7]) if row[6] in {16.0, 1e6} else row for row in WORK]
    entries = firm.entries(*work, **NAMED)
    with pytest.warns(
        IncompleteDataWarning,
        match=r"^1 of the billable .*\(time_entry_id t04\).*unpriced_hours has its time \(1.00 hours\)",
    ) as caught:
        result = wip(
            entries,
            expenses=dated(firm, *COSTS),
            fixed_fees=dated(firm, *FEES),
            invoices=firm.invoices(*BILLS),
            matters=firm.matters(),
            as_of=DAY,
            by="user",
        )
    assert [each.category for each in caught] == [IncompleteDataWarning]
    rows = {row["user_id"]: row for row in firm.rows(result)}
    assert [rows["u2"][name] for name in ("total", "61-90", "prebill_amount", "hours", "unpriced_hours")] == [
        32.0 + 8.0 - 8.0,
        32.0,
        32.0,
        2.0,
        1.0,
    ]
    assert rows["u1"]["unpriced_hours"] == 0.0


def test_an_amount_on_a_final_invoice_shows_that_rates_are_not_hidden(firm):
    work = [(*row[:6], row[6] if row[7] == "final" else None, row[7]) for row in WORK]
    with pytest.warns(IncompleteDataWarning, match="^8 of the billable .* although others have one. They are not"):
        (row,) = waiting(firm, work)
    assert (row["time_amount"], row["total"], row["hours"], row["unpriced_hours"]) == (0.0, 896.0, 5.5, 6.5)


def test_only_named_matter_types_count(firm):
    with pytest.raises(ParameterError, match="matter_types='hurly' is not known. Did you mean 'hourly'"):
        waiting(firm, matter_types="hurly")
    (row,) = waiting(firm, fees=(), matter_types="contingency")
    assert (row["total"], row["contingent_amount"], row["hours"]) == (64.0, 0.0, 1.0)
    types = ["hourly", "fixedFee", "probono", "internal", "Unknown"]
    (row,) = waiting(firm, matter_types=types)
    assert (row["total"], row["contingent_amount"], row["fixed_fee_amount"]) == (956.0, 64.0, 512.0)
    with pytest.raises(MissingColumnError, match="matter_types= needs matters="):
        waiting(firm, matter_types=types, matters=None)


def test_without_matter_types_the_contingent_amount_is_missing(firm):
    (row,) = waiting(firm, matters=None)
    assert (row["total"], row["contingent_amount"]) == (1020.0, None)
    few = firm.frame("matter_id matter_type", ("m5", "contingency"), ("m1", "hourly"))
    with pytest.warns(IncompleteDataWarning, match="4 items in progress are on matters of unknown type"):
        (row,) = waiting(firm, matters=few)
    assert row["contingent_amount"] == 64.0


def test_hidden_rates_leave_costs_and_hours_known(firm):
    hidden = tuple((*row[:6], None, row[7]) for row in WORK)
    with pytest.warns(RatesHiddenWarning, match="8 billable time entries in progress have no amount"):
        rows = {row["user_name"]: row for row in waiting(firm, hidden, by="user")}
    ada = rows["Ada"]
    assert [ada[name] for name in COLUMNS[:6]] == [None, None, 0.0, 0.0, None, None]
    assert [ada[name] for name in ("prebill_amount", "time_amount", "expense_amount", "hours")] == [
        0.0,
        None,
        128.0,
        3.5,
    ]
    assert rows["Unassigned"]["total"] == 768.0


def test_time_of_no_hours_is_worth_nothing(firm):
    (row,) = waiting(firm, [("2026-10-01", "u1", "c1", "m1", "billable", 0.0, None, None)], (), ())
    assert row["time_amount"] == 0.0


def test_empty_frames_give_the_same_columns(firm):
    (row,) = waiting(firm, (), (), (), ())
    assert list(row) == COLUMNS
    assert (row["total"], row["hours"], row["oldest_date"]) == (0.0, 0.0, None)
    assert waiting(firm, (), (), (), (), by="user") == []


@pytest.mark.parametrize("by", [None, "user", "originator", "month", ["client", "cf_tier"]])
def test_pandas_columns_have_pandas_types(pandas_firm, by):
    result = wip(
        pandas_firm.entries(*WORK),
        expenses=dated(pandas_firm, *COSTS),
        fixed_fees=dated(pandas_firm),
        invoices=pandas_firm.invoices(*BILLS),
        matters=pandas_firm.matters(),
        as_of=DAY,
        by=by,
    )
    assert {str(dtype) for dtype in result.dtypes} <= {"str", "float64", "datetime64[us]"}


def test_costs_that_were_not_passed_are_warned_about(pandas_firm):
    with pytest.warns(IncompleteDataWarning, match="No expenses and fixed_fees were passed"):
        result = wip(pandas_firm.entries(*WORK), invoices=pandas_firm.invoices(*BILLS), as_of=DAY)
    assert result["total"].tolist() == [124.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "matters"}, "Did you mean 'matter'"),
        ({"as_of": "2026-10"}, "as_of='2026-10' is not a date"),
        ({"buckets": (60, 30)}, "buckets="),
        ({"users": None, "settings": FirmSettings(roles={"a@b.example": "attorney"})}, "pass users="),
    ],
)
def test_bad_arguments(pandas_firm, options, message):
    with pytest.raises(ParameterError, match=message):
        waiting(pandas_firm, **options)


def test_missing_columns_say_what_supplies_them(pandas_firm):
    work, costs, bills = pandas_firm.entries(*WORK), dated(pandas_firm, *COSTS), pandas_firm.invoices(*BILLS)
    with pytest.raises(MissingColumnError, match=r"expenses has no column 'user_id'.*expenses\(\)"):
        wip(work, expenses=costs.drop(columns="user_id"), fixed_fees=costs, invoices=bills, as_of=DAY, by="user")
    with pytest.raises(MissingColumnError, match=r"invoices has no column 'invoice_state'.*invoices\(\)"):
        wip(work, expenses=costs, fixed_fees=costs, invoices=bills.drop(columns="invoice_state"), as_of=DAY)
    with pytest.raises(MissingColumnError, match=r"by='practice_area' needs"):
        wip(work, expenses=costs, fixed_fees=costs, invoices=bills, as_of=DAY, by="practice_area")


def test_inputs_are_left_alone(pandas_firm):
    frames = {
        "time_entries": pandas_firm.entries(*WORK),
        "expenses": dated(pandas_firm, *COSTS),
        "fixed_fees": dated(pandas_firm),
        "invoices": pandas_firm.invoices(*BILLS),
    }
    before = {name: each.copy(deep=True) for name, each in frames.items()}
    wip(**frames, as_of=DAY, by="client")
    for name, each in before.items():
        pd.testing.assert_frame_equal(each, frames[name])
