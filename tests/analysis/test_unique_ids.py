"""The quick check for unique ids works with many kinds of ids."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from billframes.analysis.data.engine import arrow_rows
from billframes.analysis.data.repeated_ids import _has_repeats, is_unique

IDS = {
    "nine letters": [f"t{number:08}" for number in range(2_000)],
    "four letters": [f"{number:04}" for number in range(2_000)],
    "UUIDs that count up": [f"00000000-0000-4000-8000-{number:012x}" for number in range(2_000)],
    "another script": [f"№{number:06}" for number in range(2_000)],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS.keys())
@pytest.mark.parametrize("engine", [pd.DataFrame, pa.table])
def test_ids_of_one_length_are_unique_unless_one_occurs_twice(ids, engine):
    for nth in (None, 0, 1_234):
        native = engine({"time_entry_id": ids if nth is None else [*ids, ids[nth]]})
        frame = arrow_rows(nw.from_native(native, eager_only=True))
        assert is_unique(frame, native, "time_entry_id") == (nth is None)


@pytest.mark.parametrize("ids", [["1", "2"], ["t999", "t1000"], ["t001", None]])
def test_other_ids_are_not_checked_quickly(ids):
    native = pd.DataFrame({"time_entry_id": ids})
    assert not is_unique(arrow_rows(nw.from_native(native, eager_only=True)), native, "time_entry_id")


@given(st.lists(st.one_of(st.integers(0, 9), st.integers(0, (1 << 64) - 1)), min_size=2, max_size=60))
def test_a_repeated_number_is_found_wherever_its_place_is(numbers):
    assert _has_repeats(np.array(numbers, np.uint64)) == (len(set(numbers)) < len(numbers))


@pytest.mark.parametrize("shift", [0, 40])
def test_many_numbers_that_share_few_places_or_none_are_compared(shift):
    numbers = np.arange(50_000, dtype=np.uint64) << np.uint64(shift)
    assert not _has_repeats(numbers)
    for first, second in ((0, 49_999), (17, 18), (30_000, 2)):
        repeated = numbers.copy()
        repeated[first] = repeated[second]
        assert _has_repeats(repeated)
