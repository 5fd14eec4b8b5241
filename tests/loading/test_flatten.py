"""Lists become text, on every kind of frame."""

from __future__ import annotations

import sqlite3

import pandas as pd
import polars as pl
import pytest

import billframes as bf
from tests.frames import assert_frame_equal


def test_pandas_can_compare_and_store_a_flat_frame(client):
    matters = client.matters()
    flat = bf.flatten(matters)
    assert list(flat) == list(matters)
    assert len(flat.drop_duplicates()) == len(matters)
    assert flat["originator_names"].nunique() == len(flat["originator_names"].dropna().unique())
    with sqlite3.connect(":memory:") as database:
        assert flat.to_sql("matters", database, index=False) == len(matters)
    database.close()


def test_only_lists_change_and_the_frame_remembers_its_load(client):
    matters = client.matters()
    flat, lists = bf.flatten(matters), ["originator_ids", "originator_names", "ledes_code_set_ids"]
    assert_frame_equal(flat.drop(columns=lists), matters.drop(columns=lists))
    assert flat.attrs == matters.attrs
    assert isinstance(matters["originator_names"].iloc[0], list)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_every_kind_of_frame_has_the_same_texts(client, kind):
    flat = bf.flatten(client.matters(to=kind), " / ")
    found = flat["originator_names"].to_pylist() if kind == "arrow" else flat["originator_names"].to_list()
    expected = [" / ".join(names) or None for names in client.matters(to="arrow")["originator_names"].to_pylist()]
    assert [None if pd.isna(each) else each for each in found] == expected
    assert any(" / " in each for each in expected if each)


def test_missing_lists_empty_lists_and_missing_names_are_missing():
    frame = pd.DataFrame({"names": [["Ada", None, "Ben"], [], None, [None]], "n": [1, 2, 3, 4]}, index=[4, 5, 5, 7])
    flat = bf.flatten(frame)
    assert flat["names"].fillna("-").tolist() == ["Ada; Ben", "-", "-", "-"]
    assert flat.index.tolist() == [4, 5, 5, 7]
    assert bf.flatten(pl.DataFrame({"n": [1]})).equals(pl.DataFrame({"n": [1]}))


def test_what_is_not_a_frame_is_refused():
    with pytest.raises(bf.errors.ParameterError, match="pass a DataFrame of pandas, Polars or Arrow"):
        bf.flatten([1])
