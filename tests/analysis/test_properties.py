"""Properties of analyses on random firms: rows add up to the total, their order does not matter, hours scale."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes.analysis import aging, realization, utilization
from tests.examples import examples

# Random firms have invoices above their work, credits with a balance, and more that is told of.
pytestmark = pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")

QUICK = examples(5)

DAYS = st.dates(pd.Timestamp("2026-09-20").date(), pd.Timestamp("2026-11-10").date()).map(str)
MONEY = st.integers(-50_000, 200_000).map(lambda cents: cents / 100)
INVOICE_IDS = st.sampled_from(["i1", "i2", "i3", None])
CLIENT_OF = {"m1": "c1", "m2": "c2", "m3": "c3", "m4": "c3", "m5": "c1"}


@st.composite
def entry(draw):
    matter = draw(st.sampled_from(sorted(CLIENT_OF)))
    kind = draw(st.sampled_from(["billable", "billable", "nonBillable", "fixedFee"]))
    hours = draw(st.integers(-4, 40)) / 4
    amount = hours * draw(st.sampled_from([0.0, 150.0, 333.33])) if kind == "billable" else None
    return (
        draw(DAYS),
        draw(st.sampled_from(["u1", "u2", "u9"])),
        CLIENT_OF[matter],
        matter,
        kind,
        hours,
        amount,
        draw(INVOICE_IDS),
    )


@st.composite
def bill(draw, number):
    state = draw(st.sampled_from(["final", "final", "draft"]))
    due = draw(DAYS)
    return f"i{number}", draw(DAYS), state, due, draw(st.sampled_from(["c1", "c2"])), draw(MONEY), draw(MONEY)


BOOKS = st.tuples(
    st.lists(entry(), max_size=12),
    st.tuples(bill(1), bill(2), bill(3)),
    st.lists(st.tuples(st.sampled_from(["m1", "m2"]), st.sampled_from(["u1", None]), MONEY, INVOICE_IDS), max_size=3),
)
KEYS = st.sampled_from(["user", "client", "matter", "practice_area", "originator", "month", ["matter", "user"]])


def results(firm, book, by, order=slice(None), scale=1.0):
    work, bills, costs = book
    work = [(*row[:5], row[5] * scale, None if row[6] is None else row[6] * scale, row[7]) for row in work][order]
    entries, items = firm.entries(*work), firm.items(*costs[order])
    joined = {"matters": firm.matters(), "users": firm.users()}
    invoices = firm.invoices(*bills[order])
    return (
        utilization(entries, start="2026-10", by=by, **joined),
        realization(
            entries, expenses=items, fixed_fees=firm.items(), invoices=invoices, by=by, start="2026-10", **joined
        ),
        realization(
            entries,
            expenses=items,
            fixed_fees=firm.items(),
            invoices=invoices,
            by=by,
            basis="work_date",
            start="2026-10",
            **joined,
        ),
        aging(
            invoices, as_of="2026-11-15", by=by, time_entries=entries, expenses=items, fixed_fees=firm.items(), **joined
        ),
    )


def additive(frame):
    ratios = ("realization", "ratio", "rate", "_worked", "utilization", "weighted_days_overdue")
    names = [name for name in frame.select_dtypes("float") if not name.endswith(ratios)]
    return frame[names]


@pytest.mark.slow
@QUICK
@given(book=BOOKS, by=KEYS)
def test_rows_add_up_to_the_total(pandas_firm, book, by):
    for split, whole in zip(results(pandas_firm, book, by), results(pandas_firm, book, None), strict=True):
        sums, total = additive(split), additive(whole).iloc[0]
        for name in sums:
            if sums[name].notna().all() and (not name.endswith("capacity_hours") or len(sums)):
                scale = max(1.0, float(sums[name].abs().sum()))
                assert sums[name].sum() == pytest.approx(total[name], rel=1e-9, abs=1e-9 * scale), name


@pytest.mark.slow
@QUICK
@given(book=BOOKS, by=KEYS)
def test_the_order_of_rows_never_matters(pandas_firm, book, by):
    forth, back = results(pandas_firm, book, by), results(pandas_firm, book, by, slice(None, None, -1))
    for one, other in zip(forth, back, strict=True):
        pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-6)


@pytest.mark.slow
@QUICK
@given(book=BOOKS)
def test_hours_scale(pandas_firm, book):
    """Four times the hours at the same rates have four times the worth, and the same fees billed."""
    once, more = results(pandas_firm, book, "user"), results(pandas_firm, book, "user", scale=4.0)
    assert (more[0]["client_hours"] == once[0]["client_hours"] * 4).all()
    for index in (1, 2):
        assert more[index]["worked_amount"].tolist() == pytest.approx((once[index]["worked_amount"] * 4).tolist())
        assert more[index]["billed_amount"].tolist() == pytest.approx(once[index]["billed_amount"].tolist(), abs=1e-6)
