"""Lock-up of three amounts."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from billframes.analysis import lockup
from billframes.errors import ParameterError


def test_lockup_is_amounts_over_fees_times_days():
    (row,) = lockup(100.0, 50, np.float64(365.0)).to_dict("records")
    assert list(row) == [
        "wip_amount", "receivable_amount", "fees_amount", "days", "wip_days", "receivable_days", "lockup_days",
    ]  # fmt: skip
    assert list(row.values()) == pytest.approx([100.0, 50.0, 365.0, 365.0, 100.0, 50.0, 150.0])
    assert lockup(100, 50, 90, days=90)["lockup_days"].tolist() == pytest.approx([150.0])


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
