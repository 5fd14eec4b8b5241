"""The rows behind each sum of each analysis add up to it, in every group and with other options."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from billframes.analysis.data.call import Call
from billframes.analysis.data.data import Data
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import bucket_measure
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.result_rows import identifying_keys, key_columns
from billframes.analysis.results.rows_behind import list_rows
from billframes.errors import MissingColumnError, ParameterError
from tests.analysis.calls import payments_of
from tests.analysis.test_rows_add_up import NAMES, rows_of

OPTIONS = [
    *((name, {}) for name in NAMES if analyses()[name].rows_of and name != "duplicates"),
    ("aging", {"basis": "invoice_date", "buckets": (15, 45)}),
    ("effective_rates", {"basis": "work_date"}),
    ("exposure", {"buckets": (10,)}),
    ("profitability", {"basis": "work_date"}),
    ("realization", {"basis": "work_date", "as_of": None}),
    ("realization", {"payments": payments_of(None), "discounts": "items"}),
    ("utilization", {"include_probono": True, "include_fixed_fee": False, "roster": "active"}),
    ("wip", {"buckets": (5, 50)}),
    ("write_downs", {"discounts": "items"}),
]
KEYS = (None, "client", "user", "originator", "month", ["practice_area", "matter"])
FIRMS_OF_ROWS = ("edge cases", "two people", "hidden rates")


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("made", FIRMS_OF_ROWS)
@pytest.mark.parametrize("asked", OPTIONS, ids=[" ".join((name, *options)) for name, options in OPTIONS])
def test_the_rows_behind_each_sum_add_up_to_it(asked: tuple[str, dict[str, Any]], made: str) -> None:
    """In each group, also if the sum is unknown there: then a row is."""
    name, options = asked
    of, checked = analyses()[name], set()
    for by in KEYS:
        try:
            result = rows_of(name, made, by, **options)
        except (MissingColumnError, ParameterError):
            continue
        sums = [each.name for each in of.columns if each.adds_up and each.unit != "ratio" and each.name in result]
        sums += [each for each in result if bucket_measure(str(each)) and each not in sums]
        ids = identifying_keys(key_columns(list(result), of))
        listed = behind(name, made, by, ids, sums, options)
        for measure in sums:
            wanted = result.set_index(ids)[measure] if ids else result[measure]
            if measure not in listed:
                # Only what is not known of such groups has no rows.
                assert wanted.isna().any(), (measure, by)
                continue
            if not ids:
                found = pd.Series([listed[measure].sum(skipna=False)])
            else:
                found = (
                    listed.groupby(ids, dropna=False)[measure].sum(skipna=False).reindex(wanted.index, fill_value=0.0)
                )
            difference = (found - wanted).abs().to_numpy()
            same = (difference <= 0.005) | (found.isna() & wanted.isna()).to_numpy()
            assert same.all(), (measure, by, found[~same], wanted[~same])
            checked.add(measure)
    assert checked


def behind(name: str, made: str, by: Any, ids: list[str], sums: list[str], options: dict[str, Any]) -> pd.DataFrame:
    def run(analysis: Analysis, data: Data, **given: Any) -> pd.DataFrame:
        return list_rows(Call(data, name), analysis, sums, given, ids).rows.to_pandas()

    return rows_of(name, made, by, run=run, **options)
