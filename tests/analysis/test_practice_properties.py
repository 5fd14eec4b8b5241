"""Properties of more analyses on random firms: rows and parts add up, order does not matter, hours scale."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes.analysis import (
    billing_lag,
    code_check,
    duplicates,
    fixed_fee_realization,
    leverage,
    missing_time,
    profitability,
    timekeeping_lag,
)
from billframes.config.firm import FirmSettings
from tests.examples import examples

# Random firms have all that is told of: unknown users, invoices above their work, days far from their entry.
pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
QUICK = examples(3)
FIRM = FirmSettings(
    time_zone="America/New_York",
    roles={"u9": "attorney"},
    cost_rates={"u1": 100.0, "u2": 60.0, "u9": 40.0},
    standard_rates={"u1": 400.0, "u2": 300.0, "u9": 150.0},
)
DAYS = st.dates(pd.Timestamp("2026-09-20").date(), pd.Timestamp("2026-11-10").date()).map(str)
CLIENT_OF = {"m1": "c1", "m2": "c2", "m3": "c3", "m4": "c3", "m5": "c1"}
KINDS = ("billable", "billable", "nonBillable", "fixedFee")
CODES = ["A101", "A102", "L100", "X", None]
COLUMNS = (
    "date user_id client_id matter_id billing_type hours amount invoice_id fixed_fee_id created_at description "
    "activity_code task_code"
)


@st.composite
def entry(draw):
    matter, kind = draw(st.sampled_from(sorted(CLIENT_OF))), draw(st.sampled_from(KINDS))
    # Quarters of an hour and whole rates are exact in binary, so that scaling by four is exact, too.
    hours = draw(st.integers(-4, 40)) / 4
    return (
        draw(DAYS),
        draw(st.sampled_from(["u1", "u2", "u9"])),
        CLIENT_OF[matter],
        matter,
        kind,
        hours,
        hours * draw(st.sampled_from([0.0, 150.0, 330.0])) if kind == "billable" else None,
        draw(st.sampled_from(["i1", "i2", "i3", None])),
        draw(st.sampled_from(["f1", "f2", None])) if kind == "fixedFee" else None,
        f"{draw(DAYS)}T{draw(st.integers(0, 23)):02d}:30:00+00:00",
        draw(st.sampled_from(["Call", "call.", "Draft"])),
        draw(st.sampled_from(CODES)),
        draw(st.sampled_from(CODES)),
    )


@st.composite
def bill(draw, number):
    client, state = draw(st.sampled_from(["c1", "c2"])), draw(st.sampled_from(["final", "final", "draft"]))
    return f"i{number}", draw(DAYS), state, None, client, draw(st.integers(-500, 2000)), 0.0


@st.composite
def fee(draw, number):
    matter = draw(st.sampled_from(["m1", "m2"]))
    user, invoice = draw(st.sampled_from(["u1", None])), draw(st.sampled_from(["i1", "i3", None]))
    return f"f{number}", draw(DAYS), matter, CLIENT_OF[matter], user, float(draw(st.integers(0, 900))), invoice


BOOKS = st.tuples(st.lists(entry(), max_size=12), st.tuples(bill(1), bill(2), bill(3)), st.tuples(fee(1), fee(2)))
KEYS = st.sampled_from(["user", "client", "matter", "practice_area", "originator", "month", ["matter", "user"]])


def entries_of(firm, work, order=slice(None), scale=1.0):
    rows = [(*row[:5], row[5] * scale, None if row[6] is None else row[6] * scale, *row[7:]) for row in work]
    numbered = [(f"t{number:02d}", *row) for number, row in enumerate(rows)]
    return firm.frame(f"time_entry_id {COLUMNS}", *numbered[order])


def results(firm, book, by, order=slice(None), scale=1.0, basis="invoice_date"):
    """Return the results of the analyses with `by`."""
    work, bills, fees = book
    entries = entries_of(firm, work, order, scale)
    invoices = firm.invoices(*bills[order])
    fixed = firm.frame("fixed_fee_id date matter_id client_id user_id amount invoice_id", *fees[order])
    joined = {"matters": firm.matters(), "users": firm.users(), "settings": FIRM, "by": by, "start": "2026-10"}
    return {
        "leverage": leverage(entries, **joined),
        "fixed_fee_realization": fixed_fee_realization(entries, fixed_fees=fixed, **joined),
        "profitability": profitability(
            entries, expenses=firm.items(), fixed_fees=fixed, invoices=invoices, basis=basis, **joined
        ),
        "billing_lag": billing_lag(entries, invoices=invoices, **joined),
        "timekeeping_lag": timekeeping_lag(entries, **joined),
    }


def lists(firm, work, order=slice(None), scale=1.0):
    """Return the results of the analyses that list findings."""
    entries = entries_of(firm, work, order, scale)
    ledes = (
        "matter_id ledes_enabled ledes_activity_code_required ledes_task_code_required ledes_expense_code_required "
        "ledes_code_set_ids"
    )
    rules = [(matter, matter != "m4", True, matter == "m1", False, ["ACT"]) for matter in CLIENT_OF]
    codes = firm.frame(
        "code_type code code_set_id selectable",
        ("activity", "A101", "ACT", True),
        ("activity", "A102", "OLD", True),
        ("task", "L100", "ACT", False),
    )
    users, matters = firm.users(), firm.matters()
    return {
        "missing_time": missing_time(entries, start="2026-10", users=users, matters=matters, settings=FIRM),
        "duplicates": duplicates(entries, by=["user", "matter", "description"]),
        "code_check": code_check(entries, matters=firm.frame(ledes, *rules), codes=codes),
    }


def additive(frame):
    """Return the columns whose rows add up: not people, who can be in several rows, and not ratios or percentiles."""
    quotients = ("_ratio", "realization", "_leverage", "effective_rate", "mean_lag_days")
    others = {"principals", "non_principals", "unknown_role_people", "median_lag_days", "p90_lag_days"}
    others |= {"amount_weighted_lag_days", "hours_weighted_lag_days"}
    return [name for name in frame.select_dtypes("float") if not name.endswith(quotients) and name not in others]


@pytest.mark.slow
@QUICK
@given(book=BOOKS, by=KEYS, basis=st.sampled_from(["invoice_date", "work_date"]))
def test_rows_add_up_to_the_total_in_any_order(pandas_firm, book, by, basis):
    back = slice(None, None, -1)
    split = results(pandas_firm, book, by, basis=basis)
    reverse, whole = results(pandas_firm, book, by, back, basis=basis), results(pandas_firm, book, None, basis=basis)
    for analysis, rows in split.items():
        pd.testing.assert_frame_equal(rows, reverse[analysis], rtol=1e-9, atol=1e-6, obj=analysis)
        for name in additive(rows):
            total = whole[analysis][name].iloc[0]
            size = max(1.0, float(rows[name].abs().sum()))
            assert rows[name].sum() == pytest.approx(total, rel=1e-9, abs=1e-9 * size), (analysis, name)


@pytest.mark.slow
@QUICK
@given(work=st.lists(entry(), max_size=12))
def test_findings_are_the_same_in_any_order(pandas_firm, work):
    for analysis, rows in lists(pandas_firm, work, slice(None, None, -1)).items():
        pd.testing.assert_frame_equal(rows, lists(pandas_firm, work)[analysis], obj=analysis)


@pytest.mark.slow
@QUICK
@given(book=BOOKS, cut=st.integers(0, 12))
def test_a_frame_split_in_two_adds_up(pandas_firm, book, cut):
    """Only figures of single entries: the fees of an invoice are allocated to all its entries."""
    work, bills, fees = book
    parts = [results(pandas_firm, (half, bills, fees), None) for half in (work[:cut], work[cut:], work)]
    for analysis, names in {
        "leverage": ("principal_hours", "non_principal_hours"),
        "profitability": ("total_hours", "cost_amount"),
        "billing_lag": ("entries", "total_lag_days", "amount_days", "hour_days", "postdated_entries"),
        "timekeeping_lag": ("entries", "same_day_entries", "late_entries", "future_dated_entries"),
    }.items():
        for name in names:
            one, other, both = (part[analysis][name].iloc[0] for part in parts)
            assert one + other == pytest.approx(both), (analysis, name)


@pytest.mark.slow
@QUICK
@given(work=st.lists(entry(), max_size=12), cut=st.integers(0, 12))
def test_findings_of_parts_are_the_findings_of_the_whole(pandas_firm, work, cut):
    entries = entries_of(pandas_firm, work)
    whole = lists(pandas_firm, work)["code_check"]
    halves = [lists(pandas_firm, half)["code_check"] for half in (work[:cut], work[cut:])]
    assert sum(map(len, halves)) == len(whole)
    assert set(whole["item_id"]) <= set(entries["time_entry_id"])


@pytest.mark.slow
@QUICK
@given(book=BOOKS)
def test_hours_scale(pandas_firm, book):
    """Four times the hours have four times the cost and worth, and the same fees, leverage and lag."""
    once, more = results(pandas_firm, book, None), results(pandas_firm, book, None, scale=4.0)
    for analysis, names, factor in (
        ("leverage", ("principal_hours", "non_principal_hours"), 4.0),
        ("leverage", ("hours_leverage",), 1.0),
        ("profitability", ("total_hours", "cost_amount"), 4.0),
        ("profitability", ("fees_amount",), 1.0),
        ("fixed_fee_realization", ("linked_hours", "standard_amount", "unlinked_hours"), 4.0),
        ("fixed_fee_realization", ("fee_amount", "unlinked_fee_amount"), 1.0),
        ("fixed_fee_realization", ("effective_rate", "fixed_fee_realization"), 0.25),
        ("billing_lag", ("hour_days", "amount_days", "worked_amount"), 4.0),
        ("billing_lag", ("mean_lag_days", "amount_weighted_lag_days", "hours_weighted_lag_days"), 1.0),
        ("timekeeping_lag", ("entries", "median_lag_days", "p90_lag_days"), 1.0),
    ):
        for name in names:
            before, after = once[analysis][name].iloc[0], more[analysis][name].iloc[0]
            assert after == pytest.approx(before * factor, abs=1e-6, nan_ok=True), (analysis, name)


@QUICK
@given(work=st.lists(entry(), max_size=12))
def test_every_day_is_either_filled_or_missing(pandas_firm, work):
    """October 2026 has 22 working days."""
    rows = lists(pandas_firm, work)["missing_time"]
    assert (rows["hours"] < rows["threshold_hours"]).all()
    assert not rows.duplicated(["user_id", "date"]).any()
    people = {"u1", "u2"} | set(rows["user_id"])
    assert len(rows) <= 22 * len(people)
    assert math.isclose((rows["hours"] + rows["missing_hours"]).sum(), 8.0 * len(rows))
