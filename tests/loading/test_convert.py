"""Arrow tables become frames with the documented dtypes, and files don't change them."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyarrow as pa
import pytest

from billframes.loading.convert import to_pandas, to_polars
from billframes.schema.columns import Column

COLUMNS = (
    Column("id", "id", required=True),
    Column("state", "enum", values=("draft", "final")),
    Column("date", "date"),
    Column("at", "instant"),
    Column("time", "time"),
    Column("archived", "flag", required=True),
    Column("insured", "flag"),
    Column("amount", "money"),
    Column("names", "texts"),
)
DTYPES = {
    "id": "str",
    "state": "category",
    "date": "datetime64[us]",
    "at": "datetime64[us, UTC]",
    "time": "time64[us][pyarrow]",
    "archived": "bool",
    "insured": "boolean",
    "amount": "float64",
    "names": "object",
}


def table(rows: int) -> pa.Table:
    values = {
        "id": ["b", "a"],
        "date": [dt.date(1, 1, 1), dt.date(9999, 12, 31)],
        "at": [dt.datetime(2026, 10, 31, 20, tzinfo=dt.UTC), None],
        "time": [dt.time(9, 30), None],
        "archived": [True, False],
        "insured": [False, None],
        "amount": [1.25, None],
        "names": [["x"], ["y"]],
    }
    arrays = {name: pa.array(each[:rows], Column(name, kind_of(name)).type) for name, each in values.items()}
    arrays["state"] = pa.DictionaryArray.from_arrays(
        pa.array([1, None][:rows], pa.int8()), pa.array(["draft", "final"])
    )
    return pa.table([arrays[column.name] for column in COLUMNS], schema=pa.schema([column.field for column in COLUMNS]))


def kind_of(name: str) -> str:
    return next(column.kind for column in COLUMNS if column.name == name)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_dtypes_do_not_depend_on_the_rows(rows):
    assert to_pandas(table(rows)).dtypes.astype(str).to_dict() == DTYPES


def test_all_categories_are_there_in_declared_order():
    state = to_pandas(table(1))["state"]
    assert state.cat.categories.tolist() == ["draft", "final"]
    assert state.tolist() == ["final"]


def test_lists_stay_lists_if_all_have_the_same_length():
    assert to_pandas(table(2))["names"].tolist() == [["x"], ["y"]]


def test_missing_is_missing():
    assert to_pandas(table(2)).iloc[1, [1, 3, 4, 6, 7]].isna().all()


@pytest.mark.parametrize("rows", [0, 2])
def test_a_frame_is_unchanged_by_parquet_and_pickle(tmp_path, rows):
    frame = to_pandas(table(rows))
    frame.to_parquet(tmp_path / "frame.parquet")
    back = pd.read_parquet(tmp_path / "frame.parquet")
    assert back.dtypes.drop("state").equals(frame.dtypes.drop("state"))
    pd.testing.assert_frame_equal(back.drop(columns=["names", "state"]), frame.drop(columns=["names", "state"]))
    assert [list(each) for each in back["names"]] == frame["names"].tolist()
    frame.to_pickle(tmp_path / "frame.pickle")
    pd.testing.assert_frame_equal(pd.read_pickle(tmp_path / "frame.pickle"), frame)


def test_polars_keeps_enums_dates_and_lists():
    frame = to_polars(table(2))
    assert [str(kind) for kind in frame.dtypes] == [
        "String",
        "Enum(categories=['draft', 'final'])",
        "Date",
        "Datetime(time_unit='us', time_zone='UTC')",
        "Time",
        "Boolean",
        "Boolean",
        "Float64",
        "List(String)",
    ]
    assert frame["state"].to_list() == ["final", None]
