"""Lock-up of three amounts, and balances of both field sets."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from billframes.analysis import aging, lockup, normalize_balances
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError

COLUMNS = ["client_id", "current", "1-30", "31-60", "61-90", "91+", "total", "overdue", "weighted_days_overdue"]
SET_A = ("current", "overdue0_to30", "overdue30_to60", "overdue60_to90", "overdue_over90")
SET_B = ("overdue30", "overdue60", "overdue90")


def test_lockup_is_amounts_over_fees_times_days():
    (row,) = lockup(100.0, 50, np.float64(365.0)).to_dict("records")
    assert list(row) == [
        "wip_amount", "receivable_amount", "fees_amount", "days", "wip_days", "receivable_days", "lockup_days",
        "left_out_wip_amount",
    ]  # fmt: skip
    assert list(row.values()) == pytest.approx([100.0, 50.0, 365.0, 365.0, 100.0, 50.0, 150.0, 0.0])
    assert lockup(100, 50, 90, days=90)["lockup_days"].tolist() == pytest.approx([150.0])


def test_lockup_leaves_work_on_contingency_out_and_shows_it():
    (row,) = lockup(100.0, 50.0, 365.0, contingent_amount=40.0).to_dict("records")
    assert (row["wip_amount"], row["wip_days"], row["lockup_days"], row["left_out_wip_amount"]) == (60, 60, 110, 40)
    (row,) = lockup(100.0, 50.0, 365.0, contingent_amount=None).to_dict("records")
    assert row["receivable_days"] == 50.0
    assert math.isnan(row["wip_days"])


@pytest.mark.parametrize("fees", [0, -5.0, None, math.nan])
def test_without_fees_days_are_missing(fees):
    result = lockup(100.0, 50.0, fees)
    assert result[["wip_days", "receivable_days", "lockup_days"]].isna().all(axis=None)
    assert result["wip_amount"].tolist() == [100.0]


def test_an_unknown_amount_leaves_the_days_of_the_other():
    (row,) = lockup(None, 50.0, 365.0).to_dict("records")
    assert row["receivable_days"] == 50.0
    assert math.isnan(row["wip_days"])
    assert math.isnan(row["lockup_days"])


@pytest.mark.parametrize(
    ("arguments", "days", "message"),
    [
        ((pd.DataFrame({"total": [1.0, 2.0]}), 1, 1), 365, "wip_amount is a DataFrame, not a number"),
        ((1, "much", 1), 365, "receivable_amount is a str, not a number"),
        ((1, 1, 1), 0, "days=0 must be a number above 0"),
        ((1, 1, 1), None, "days=None must be a number above 0"),
    ],
)
def test_lockup_names_an_argument_that_is_not_a_number(arguments, days, message):
    with pytest.raises(ParameterError, match=message):
        lockup(*arguments, days=days)


def balances(firm, *rows):
    """Balances from (client, balance, overdue, five figures of set A, three of set B)."""
    columns = ("client_id", "balance", "overdue", *SET_A, *SET_B)
    arrays = [
        pa.array([row[place] for row in rows], pa.string() if name == "client_id" else pa.float64())
        for place, name in enumerate(columns)
    ]
    table = pa.table(arrays, names=list(columns))
    return table.to_pandas() if firm.make.__name__ == "pandas" else firm.make(table)


NONE_A, NONE_B = (None,) * 5, (None,) * 3
A = ("c1", 100.0, 70.0, 30.0, 40.0, 20.0, 0.0, 10.0, *NONE_B)
B = ("c2", 100.0, 70.0, *NONE_A, 30.0, 10.0, 10.0)
FIGURES = [30.0, 40.0, 20.0, 0.0, 10.0, 100.0, 70.0, None]


def test_both_field_sets_give_the_same_columns_and_figures(firm):
    rows = firm.rows(normalize_balances(balances(firm, B, A)))
    assert [list(row) for row in rows] == [COLUMNS] * 2
    assert [list(row.values()) for row in rows] == [["c2", *FIGURES], ["c1", *FIGURES]]


@pytest.mark.parametrize("figures", [(40.0, 30.0, 50.0, 10.0), (40.0, 30.0, 10.0, 11.0), (101.0, 30.0, 10.0, 5.0)])
def test_figures_that_rise_are_reported_and_not_converted(firm, figures):
    odd = ("c9", 100.0, figures[0], *NONE_A, *figures[1:])
    with pytest.warns(IncompleteDataWarning, match="the figures of 1 clients rise .*: c9"):
        rows = firm.rows(normalize_balances(balances(firm, odd, B)))
    assert [rows[0][name] for name in COLUMNS[1:]] == [None] * 5 + [100.0, figures[0], None]
    assert list(rows[1].values()) == ["c2", *FIGURES]


def test_equal_figures_are_empty_buckets_and_set_a_may_have_credits(pandas_firm):
    """0.1 + 0.2 is not above 0.3: what adding leaves behind is no rise."""
    frame = balances(
        pandas_firm,
        ("c1", 0.3, 0.1 + 0.2, *NONE_A, 0.3, 0.3, 0.3),
        ("c2", -5.0, 5.0, -10.0, 5.0, 0.0, 0.0, 0.0, *NONE_B),
    )
    result = normalize_balances(frame)
    assert result["91+"].tolist() == [0.3, 0.0]
    assert result["current"].tolist() == pytest.approx([0.0, -10.0])


def test_a_row_with_neither_set_complete_is_an_error(firm):
    half = ("c8", 1.0, 1.0, 1.0, None, 0.0, 0.0, 0.0, 1.0, None, 0.0)
    with pytest.raises(ParameterError, match="neither set of figures complete for 1 clients: c8"):
        normalize_balances(balances(firm, A, half))
    with pytest.raises(ParameterError, match="for 1 clients: c2"):
        normalize_balances(balances(firm, ("c2", None, *B[2:])))


def test_one_set_of_columns_is_enough_and_none_is_named(pandas_firm):
    frame = balances(pandas_firm, B)
    assert normalize_balances(frame.drop(columns=list(SET_A)))["1-30"].tolist() == [40.0]
    assert normalize_balances(frame.iloc[:0]).columns.tolist() == COLUMNS
    with pytest.raises(MissingColumnError, match=r"needs all columns of one set.*client_balances\(\)"):
        normalize_balances(frame.drop(columns=["current", "overdue60"]))
    with pytest.raises(MissingColumnError, match="no column 'client_id'"):
        normalize_balances(frame.drop(columns="client_id"))


def test_the_columns_are_those_of_aging(pandas_firm):
    aged = aging(pandas_firm.invoices(), as_of="2026-10-31", by="client")
    assert [name for name in aged if name not in {"client_name", "unknown_amount"}] == COLUMNS
