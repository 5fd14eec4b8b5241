"""Frames made in any way are converted to the types of the analyses."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pandas as pd
import pytest

import billframes as bf
from billframes.analysis.frames.frames import Frames


@pytest.mark.parametrize("dtype", ["str", "string", "object"])
def test_an_empty_frame_of_text_is_converted_to_dates_and_numbers(dtype):
    names = ("matter_id", "date", "hours", "amount")
    frame = pd.DataFrame({name: pd.Series(dtype=dtype) for name in names})
    schema = Frames.of(items=frame).select("items", names).collect_schema()
    assert [schema[name] for name in names] == [nw.String, nw.Datetime("us"), nw.Float64, nw.Float64]


def test_work_in_progress_of_empty_frames_of_text_is_0():
    columns = ["matter_id", "client_id", "date", "hours", "billing_type", "amount", "invoice_id"]
    entries = pd.DataFrame(columns=columns, dtype="str")
    items = pd.DataFrame(columns=["matter_id", "client_id", "date", "amount", "invoice_id"], dtype="str")
    invoices = pd.DataFrame(columns=["invoice_id", "invoice_date", "invoice_state"], dtype="str")
    result = bf.wip(entries, expenses=items, fixed_fees=items, invoices=invoices, as_of="2026-10-31", by=None)
    assert result["total"].tolist() == [0.0]


@pytest.mark.parametrize("lists", [[None, None], [["u1"], None], [("u1", "u2"), []]])
def test_originators_in_object_columns_are_lists_of_text_even_if_all_are_missing(lists):
    frame = pd.DataFrame({"matter_id": ["m1", "m2"], "originator_ids": pd.Series(lists, dtype="object")})
    selected = Frames.of(matters=frame).select("matters", ("matter_id", "originator_ids"))
    assert selected.collect_schema()["originator_ids"] == nw.List(nw.String)


def test_a_column_of_numbers_and_texts_is_text():
    frame = pd.DataFrame({"matter_id": ["m1", "m2", "m3"], "court": [7, "Bern", None]})
    selected = Frames.of(matters=frame).select("matters", ("court",))
    assert selected.to_native()["court"].to_pylist() == ["7", "Bern", None]


def test_time_on_a_matter_of_unknown_type_is_warned_of_also_if_types_are_categorical():
    kinds = pd.Categorical(["billable", "nonBillable", "fixedFee"])
    entries = pd.DataFrame({
        "date": pd.to_datetime(["2026-10-01"] * 3), "user_id": ["u1"] * 3, "user_name": ["Ada"] * 3,
        "matter_id": ["m1", "m2", "lost"], "hours": [4.0, 2.0, 1.0], "billing_type": kinds,
    })  # fmt: skip
    types = pd.Categorical(["hourly", "internal"])
    matters = pd.DataFrame({"matter_id": ["m1", "m2"], "matter_type": types})
    users = pd.DataFrame({"user_id": ["u1"], "name": ["Ada"], "role": ["attorney"]})
    with pytest.warns(bf.IncompleteDataWarning, match="1 time entry is on matters of unknown type"):
        found = bf.utilization(entries, start="2026-10", matters=matters, users=users)
    assert found[["billable_hours", "non_billable_hours", "client_hours"]].to_numpy().tolist() == [[4.0, 2.0, 5.0]]
