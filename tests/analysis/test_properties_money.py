"""Properties of work in progress, fees and invoices of random firms: rows and parts add up, order does not matter."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

from billframes.analysis import (
    budget_burn,
    contribution,
    effective_rates,
    reconcile,
    wip as work_in_progress,
)
from billframes.analysis.keys.by import names_in
from billframes.config.firm import FirmSettings
from tests.examples import examples

# Random invoices bill more than the work on them.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{message}:billframes.errors.IncompleteDataWarning")
    for message in (".*are above their items", ".*nearly cancel")
]

QUICK = examples(4)
DAYS = st.dates(pd.Timestamp("2026-06-20").date(), pd.Timestamp("2026-11-10").date()).map(str)
MONEY = st.integers(-50_000, 200_000).map(lambda cents: cents / 100)
CLIENT_OF = {"m1": "c1", "m2": "c2", "m3": "c3", "m5": "c1", "i1": "c1", "i2": "c2", "i3": "c3"}
ON_INVOICE = {"m1": ["i1", None], "m2": ["i2", None], "m3": ["i3", None], "m5": ["i1", None]}
MATTERS = st.sampled_from([*ON_INVOICE])
BUDGETS = FirmSettings(budgets={"m1": 1000, "m2": 500})
RATIOS = ("share", "rate", "burn", "remaining_amount", "budget_amount", "unbudgeted_amount")


@st.composite
def entry(draw):
    matter, hours = draw(MATTERS), draw(st.integers(-4, 40)) / 4
    kind = draw(st.sampled_from(["billable", "billable", "nonBillable", "fixedFee"]))
    amount = hours * draw(st.sampled_from([0.0, 150.0, 333.33])) if kind == "billable" else None
    user = draw(st.sampled_from(["u1", "u2", "u9"]))
    on = draw(st.sampled_from(ON_INVOICE[matter]))
    return draw(DAYS), user, CLIENT_OF[matter], matter, kind, hours, amount, on


@st.composite
def cost(draw):
    matter = draw(MATTERS)
    on = draw(st.sampled_from(ON_INVOICE[matter]))
    return draw(DAYS), draw(st.sampled_from(["u1", None])), CLIENT_OF[matter], matter, draw(MONEY), on


@st.composite
def bill(draw, number):
    state = draw(st.sampled_from(["final", "final", "draft"]))
    amount = draw(MONEY)
    # The open part of a credit is negative, too; a client can have paid too much.
    cents = round(abs(amount) * 100)
    balance = draw(st.integers(-cents, cents if amount > 0 else 0)) / 100
    return f"i{number}", draw(DAYS), state, draw(DAYS), CLIENT_OF[f"i{number}"], amount, balance


BOOKS = st.tuples(
    st.lists(entry(), max_size=12),
    st.tuples(bill(1), bill(2), bill(3)),
    st.lists(cost(), max_size=4),
    st.lists(cost(), max_size=3),
)
KEYS = st.sampled_from(["user", "client", "matter", "practice_area", "originator", "month", ["matter", "user"]])


@pytest.fixture(scope="session")
def polars_firm(pandas_firm):
    """A firm on Polars, which is the fastest engine for many small examples."""
    return type(pandas_firm)(pl.from_arrow)


def frames(firm, book, order=slice(None)):
    work, bills, *costs = book
    header = "date user_id client_id matter_id amount invoice_id"
    others = [firm.frame(header, *rows[order]) for rows in costs]
    return firm.entries(*work[order]), firm.invoices(*bills[order]), *others


def by_name(firm, book, order=slice(None)):
    names = ("time_entries", "invoices", "expenses", "fixed_fees")
    return dict(zip(names, frames(firm, book, order), strict=True))


def open_work(firm, book, by, order=slice(None)):
    given_frames = by_name(firm, book, order)
    result = work_in_progress(**given_frames, as_of="2026-10-31", by=by, matters=firm.matters())
    return result.to_pandas()


def results(firm, book, by, order=slice(None)):
    given_frames, matters = by_name(firm, book, order), firm.matters()
    found = (
        contribution(**given_frames, by=by, matters=matters),
        contribution(**given_frames, by=["originator", *names_in(by)], matters=matters),
        effective_rates(**given_frames, by=by, matters=matters),
        budget_burn(**given_frames, settings=BUDGETS, matters=matters),
        reconcile(**given_frames),
    )
    return open_work(firm, book, by, order), *(each.to_pandas() for each in found)


def additive(frame):
    return frame[[name for name in frame.select_dtypes("float") if not name.endswith(RATIOS)]]


@pytest.mark.slow
@QUICK
@given(book=BOOKS, by=KEYS)
def test_rows_add_up_to_the_total(polars_firm, book, by):
    for split, whole in zip(results(polars_firm, book, by)[:4], results(polars_firm, book, None)[:4], strict=True):
        sums, total = additive(split), additive(whole).sum()
        for name in sums:
            scale = max(1.0, float(sums[name].abs().sum()))
            assert sums[name].sum() == pytest.approx(total[name], rel=1e-9, abs=1e-9 * scale), name


@pytest.mark.slow
@QUICK
@given(book=BOOKS)
def test_states_kinds_and_buckets_each_add_up_to_the_work_in_progress(polars_firm, book):
    rows = open_work(polars_firm, book, "matter")
    for names in (
        ["0-30", "31-60", "61-90", "91+"],
        ["unbilled_amount", "prebill_amount", "unknown_amount"],
        ["time_amount", "expense_amount", "fixed_fee_amount"],
    ):
        assert rows[names].sum(axis=1).tolist() == pytest.approx(rows["total"].tolist(), abs=1e-6)


@pytest.mark.slow
@QUICK
@given(book=BOOKS)
def test_fees_are_the_final_invoices_less_their_expenses(polars_firm, book):
    """Fees are the same by all analyses. The budgets and the rest are all fees and all work not billed."""
    rows = reconcile(**by_name(polars_firm, book)).to_pandas()
    final = rows["invoice_state"] == "final"
    fees = (rows["amount"] - rows["expense_amount"])[final].sum()
    _, by_client, by_originator, _, budgets, _ = results(polars_firm, book, "client")
    assert by_client["fees_amount"].sum() == pytest.approx(fees, abs=1e-6)
    assert by_originator["fees_amount"].sum() == pytest.approx(fees, abs=1e-6)
    prebill = (rows["time_amount"] + rows["fixed_fee_amount"])[~final].sum()
    unbilled = sum(row[6] or 0.0 for row in book[0] if row[7] is None)
    used = budgets["used_amount"].sum() + budgets["unbudgeted_amount"].iloc[0]
    assert used == pytest.approx(fees + prebill + unbilled, abs=1e-6)


@pytest.mark.slow
@QUICK
@given(book=BOOKS, by=KEYS)
def test_the_order_of_rows_never_matters(polars_firm, book, by):
    forth, back = results(polars_firm, book, by), results(polars_firm, book, by, slice(None, None, -1))
    for one, other in zip(forth, back, strict=True):
        pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-6)


@pytest.mark.slow
@QUICK
@given(book=BOOKS, cut=st.integers(0, 12))
def test_work_in_progress_of_two_halves_adds_up(polars_firm, book, cut):
    work, bills, *costs = book
    halves = (work[:cut], bills, *costs), (work[cut:], bills, [], [])
    whole = additive(open_work(polars_firm, book, None)).sum()
    parts = sum(additive(open_work(polars_firm, half, None)).sum() for half in halves)
    assert whole.tolist() == pytest.approx(parts.tolist(), abs=1e-6)


@pytest.mark.slow
@QUICK
@given(book=BOOKS, by=KEYS)
def test_hours_scale(polars_firm, book, by):
    """Four times the hours at the same rates have four times the worth in progress, and the same fees billed."""
    more = [(*row[:5], row[5] * 4, None if row[6] is None else row[6] * 4, row[7]) for row in book[0]], *book[1:]
    once, again = results(polars_firm, book, by), results(polars_firm, more, by)
    for name in ("time_amount", "hours", "fixed_fee_hours"):
        assert again[0][name].tolist() == pytest.approx((once[0][name] * 4).tolist(), abs=1e-6)
    assert again[2]["worked_amount"].tolist() == pytest.approx((once[2]["worked_amount"] * 4).tolist(), abs=1e-6)
    assert again[2]["fees_amount"].tolist() == pytest.approx(once[2]["fees_amount"].tolist(), abs=1e-6)
