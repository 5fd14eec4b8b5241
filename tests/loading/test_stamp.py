"""A load keeps its rows, sums and dates in the process; its frame carries the key only, and can be written to."""

from __future__ import annotations

import datetime as dt
import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import billframes as bf
from billframes.loading.enrich import join_details
from billframes.loading.stamp import Stamp, stamp_of_load

LISTS = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients")


@pytest.mark.sweep
@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
@pytest.mark.parametrize("name", LISTS)
def test_a_load_is_remembered(client, name, to):
    frame = getattr(client, name)(to=to)
    stamp = stamp_of_load(frame)
    assert stamp is not None
    assert stamp.rows == len(frame)
    if to == "pandas":
        for column, total in stamp.totals.items():
            assert total.sum == pytest.approx(frame[column].sum(), abs=0.005)
            assert total.missing == frame[column].isna().sum()
        assert Stamp.of(frame).days == stamp.days


def test_first_and_last_date_are_those_of_the_rows(client):
    stamp = stamp_of_load(client.time_entries("2026-10"))
    assert stamp is not None
    assert stamp.days is not None
    assert stamp.days[0] >= dt.date(2026, 10, 1)
    assert stamp.days[1] <= dt.date(2026, 10, 31)


@pytest.mark.slow
def test_a_file_of_a_part_does_not_hold_the_totals(client, tmp_path):
    frame = client.time_entries(to="arrow")
    total = stamp_of_load(frame).totals["amount"].sum
    pq.write_table(frame.slice(0, 5), tmp_path / "part.parquet")
    metadata = pq.read_table(tmp_path / "part.parquet").schema.metadata[b"billframes.load"]
    assert str(int(total)) not in metadata.decode()
    assert "key" in json.loads(metadata)


@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_details_and_flat_lists_keep_what_is_known_of_the_load(client, to):
    entries, matters = client.time_entries("2026-10", to=to), client.matters(to=to)
    assert stamp_of_load(join_details(entries, {"matter": matters})) == stamp_of_load(entries)
    assert stamp_of_load(bf.flatten(matters)) == stamp_of_load(matters)


def test_another_process_does_not_know_the_sums(client):
    frame = client.time_entries("2026-10")
    frame.attrs["load"]["key"] = "of another process"
    assert stamp_of_load(pickle.loads(pickle.dumps(frame))) is None


@pytest.mark.slow
def test_code_that_says_how_many_rows_it_left_is_not_compared(client):
    book = bf.book("2026-10", client=client)
    assert stamp_of_load(book.time_entries) is not None
    assert stamp_of_load(book.in_period("time_entries")) is None


@pytest.mark.parametrize("to", ["pandas", "arrow", "polars"])
def test_forget_keeps_the_day_and_the_period(client, to):
    frame = client.time_entries("2026-10", to=to)
    forgotten = bf.forget(frame)
    assert type(forgotten) is type(frame)
    if to == "polars":
        return
    assert stamp_of_load(forgotten) is None
    assert stamp_of_load(frame) is not None
    load = forgotten.attrs["load"] if to == "pandas" else json.loads(forgotten.schema.metadata[b"billframes.load"])
    assert load["period"] == {"start": "2026-10-01", "end": "2026-10-31"}
    assert load["time"]
    assert bf.forget(pd.DataFrame({"hours": [1.0]})).attrs == {}


@pytest.mark.parametrize("name", LISTS)
def test_a_loaded_frame_can_be_written_to(client, name):
    frame = getattr(client, name)()
    before = frame.copy()
    columns = [column for column, dtype in frame.dtypes.items() if not pd.api.types.is_object_dtype(dtype)]
    for column in columns:
        frame.loc[0, column] = frame.loc[1, column]
    pd.testing.assert_frame_equal(frame.loc[1:], before.loc[1:])
    pd.testing.assert_series_equal(frame.loc[0, columns], frame.loc[1, columns], check_names=False)
    assert getattr(client, name)().equals(before)


def test_numbers_of_other_types_add_up_alike():
    values = [1.25, None, 2.5]
    frames = [
        pd.DataFrame({"hours": values}),
        pd.DataFrame({"hours": pd.array(values, "Float64")}),
        pd.DataFrame({"hours": pd.array(values, pd.ArrowDtype(pa.decimal128(9, 2)))}),
        pa.table({"hours": values}),
        pa.table({"hours": pa.array([1.25, np.nan, 2.5])}),
    ]
    for frame in frames:
        total = Stamp.of(frame).totals["hours"]
        assert (total.sum, total.missing) == (3.75, 1)
    assert Stamp.of(pd.DataFrame({"hours": ["1", "2"], "date": ["x", "y"]})) == Stamp(2, {}, None)
