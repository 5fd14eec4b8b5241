"""What comes into the analyses has the types that they count with, however the frame was made."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pandas as pd
import pytest

import billframes as bf
from billframes.analysis._frames import open_frames, take


@pytest.mark.parametrize("dtype", ["str", "string", "object"])
def test_an_empty_frame_of_text_has_dates_and_money_inside(dtype):
    names = ("matter_id", "date", "hours", "amount")
    frame = pd.DataFrame({name: pd.Series(dtype=dtype) for name in names})
    schema = take(open_frames(items=frame)["items"], "items", names).collect_schema()
    assert [schema[name] for name in names] == [nw.String, nw.Datetime("us"), nw.Float64, nw.Float64]


def test_work_in_progress_of_empty_frames_of_text_is_nothing():
    columns = ["matter_id", "client_id", "date", "hours", "billing_type", "amount", "invoice_id"]
    entries = pd.DataFrame(columns=columns, dtype="str")
    items = pd.DataFrame(columns=["matter_id", "client_id", "date", "amount", "invoice_id"], dtype="str")
    invoices = pd.DataFrame(columns=["invoice_id", "invoice_date", "invoice_state"], dtype="str")
    result = bf.wip(entries, items, items, invoices, as_of="2026-10-31", by=None)
    assert result["total"].tolist() == [0.0]
