"""Client balances of both field sets in the buckets of `aging`."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import billframes as bf
from billframes.loading.balance_buckets import bucketed
from billframes.sandbox import Sandbox
from tests.frames import assert_frame_equal

SET_A = ("current", "overdue0_to30", "overdue30_to60", "overdue60_to90", "overdue_over90")
SET_B = ("overdue30", "overdue60", "overdue90")
NAMES = ("balance", "overdue", *SET_A, *SET_B)
COLUMNS = ["client_id", "current", "1-30", "31-60", "61-90", "91+", "total", "overdue", "weighted_days_overdue"]

NONE_A, NONE_B = (None,) * 5, (None,) * 3
A = ("c1", 100.0, 70.0, 30.0, 40.0, 20.0, 0.0, 10.0, *NONE_B)
B = ("c2", 100.0, 70.0, *NONE_A, 30.0, 10.0, 10.0)
FIGURES = [30.0, 40.0, 20.0, 0.0, 10.0, 100.0, 70.0, None]


def buckets(*rows):
    """Convert balances given as (client, balance, overdue, five figures of set A, three of set B)."""
    schema = pa.schema({"client_id": pa.string()} | dict.fromkeys(NAMES, pa.float64()))
    return bucketed(pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema))


def test_both_field_sets_give_the_same_columns_and_figures():
    found = buckets(B, A)
    assert found.column_names == COLUMNS
    assert [list(row.values()) for row in found.to_pylist()] == [["c2", *FIGURES], ["c1", *FIGURES]]
    assert buckets().schema.equals(found.schema)


def test_of_two_complete_sets_the_first_counts():
    (row,) = buckets((*A[:8], 60.0, 50.0, 40.0)).to_pylist()
    assert list(row.values()) == ["c1", *FIGURES]


@pytest.mark.parametrize("figures", [(40.0, 30.0, 50.0, 10.0), (40.0, 30.0, 10.0, 11.0), (101.0, 30.0, 10.0, 5.0)])
def test_figures_that_rise_are_reported_and_not_converted(figures):
    odd = ("c9", 100.0, figures[0], *NONE_A, *figures[1:])
    with pytest.warns(
        bf.errors.IncompleteDataWarning, match="the figures of 1 client rise .* its buckets are missing: c9"
    ):
        rows = buckets(odd, B).to_pylist()
    assert [rows[0][name] for name in COLUMNS[1:]] == [None] * 5 + [100.0, figures[0], None]
    assert list(rows[1].values()) == ["c2", *FIGURES]


def test_equal_figures_are_empty_buckets_and_set_a_may_have_credits():
    """0.1 + 0.2 is not above 0.3: what adding leaves behind is no rise."""
    found = buckets(
        ("c1", 0.3, 0.1 + 0.2, *NONE_A, 0.3, 0.3, 0.3), ("c2", -5.0, 5.0, -10.0, 5.0, 0.0, 0.0, 0.0, *NONE_B)
    )
    assert found["91+"].to_pylist() == [0.3, 0.0]
    assert found["current"].to_pylist() == pytest.approx([0.0, -10.0])


@pytest.mark.slow
@given(figures=st.lists(st.integers(0, 10**7), min_size=5, max_size=5))
def test_both_field_sets_of_one_clients_balances_give_one_result(figures):
    """The buckets of set A, and the same amounts as the cumulative figures of set B."""
    amounts = [cents / 100 for cents in figures]
    totals = [sum(amounts[place:]) for place in range(5)]
    head = ("c1", totals[0], totals[1])
    one, other = (buckets((*head, *each)).to_pandas() for each in ((*amounts, *NONE_B), (*NONE_A, *totals[2:])))
    pd.testing.assert_frame_equal(one, other, rtol=1e-9, atol=1e-6)


def test_the_columns_are_those_of_aging_and_so_are_the_figures(client, october_book):
    found = client.client_balances(normalize=True)
    aged = october_book.aging(by="client", as_of="2026-10-31")
    # The server deducts credits in the buckets.
    apart = {"client_name", "unknown_amount", "credit_amount"}
    assert found.columns.tolist() == [name for name in aged if name not in apart]
    aged = aged[aged["credit_amount"] == 0]
    found = found[found["client_id"].isin(aged["client_id"])]
    owed = found[found["total"] != 0].set_index("client_id").sort_index()
    wanted = aged.set_index("client_id").sort_index()
    for name in COLUMNS[1:-1]:
        pd.testing.assert_series_equal(owed[name], wanted[name], check_dtype=False, atol=1e-6)


def test_balances_of_both_field_sets_are_one(client):
    first = client.client_balances(normalize=True)
    with (
        Sandbox(balances="B") as sandbox,
        bf.Client(sandbox.base_url, sandbox.tokens["full"]) as other,
        # One client's credit is larger than what is due beside it, so its figures rise and are not converted.
        pytest.warns(bf.errors.IncompleteDataWarning, match="of 1 client rise"),
    ):
        second = other.client_balances(normalize=True)
    assert second["1-30"].isna().sum() == 1
    known = second["1-30"].notna()
    assert_frame_equal(first[known], second[known], rtol=1e-9, atol=1e-6)
