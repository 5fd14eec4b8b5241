"""Frames made in any way are converted to the types of the analyses."""

from __future__ import annotations

from decimal import Decimal

import narwhals.stable.v2 as nw
import pandas as pd
import pytest

import billframes as bf
from billframes.analysis.data.call import Reader
from billframes.analysis.data.data import Data
from tests.analysis.conftest import ENGINES
from tests.firms import CALLS, FIRMS, on


@pytest.mark.parametrize("dtype", ["str", "string", "object"])
def test_an_empty_frame_of_text_is_converted_to_dates_and_numbers(dtype):
    names = ("matter_id", "date", "hours", "amount")
    frame = pd.DataFrame({name: pd.Series(dtype=dtype) for name in names})
    schema = Reader(Data(items=frame)).select("items", names).collect_schema()
    assert [schema[name] for name in names] == [nw.String, nw.Datetime("us"), nw.Float64, nw.Float64]


def test_work_in_progress_of_empty_frames_of_text_is_0():
    columns = ["matter_id", "client_id", "date", "hours", "billing_type", "amount", "invoice_id"]
    entries = pd.DataFrame(columns=columns, dtype="str")
    items = pd.DataFrame(columns=["matter_id", "client_id", "date", "amount", "invoice_id"], dtype="str")
    invoices = pd.DataFrame(columns=["invoice_id", "invoice_date", "invoice_state"], dtype="str")
    result = bf.analysis.wip(entries, expenses=items, fixed_fees=items, invoices=invoices, as_of="2026-10-31", by=None)
    assert result["total"].tolist() == [0.0]


@pytest.mark.parametrize("lists", [[None, None], [["u1"], None], [("u1", "u2"), []]])
def test_originators_in_object_columns_are_lists_of_text_even_if_all_are_missing(lists):
    frame = pd.DataFrame({"matter_id": ["m1", "m2"], "originator_ids": pd.Series(lists, dtype="object")})
    selected = Reader(Data(matters=frame)).select("matters", ("matter_id", "originator_ids"))
    assert selected.collect_schema()["originator_ids"] == nw.List(nw.String)


HAND_MADE = {
    "dates as objects": lambda frame: frame.assign(date=frame["date"].dt.date),
    "decimals": lambda frame: frame.assign(hours=[Decimal(4), Decimal(2), Decimal(1)]),
    "objects": lambda frame: frame.astype(object),
    "categories": lambda frame: frame.astype({"user_id": "category", "matter_id": "category"}),
    "one index": lambda frame: frame.set_axis([0, 0, 0]),
    "an index as a column": lambda frame: frame.set_index("date"),
    "two columns as an index": lambda frame: frame.set_index(["date", "user_id"]),
    "an index with the name of a column": lambda frame: frame.set_index("date", drop=False),
}


@pytest.mark.parametrize("change", HAND_MADE.values(), ids=HAND_MADE)
def test_frames_made_by_hand_give_the_same_figures(change):
    entries = pd.DataFrame({
        "date": pd.to_datetime(["2026-10-01", "2026-10-02", "2026-11-01"]), "user_id": ["u1", "u2", "u1"],
        "matter_id": ["m1", "m1", "m1"], "hours": [4.0, 2.0, 1.0], "billing_type": ["billable"] * 3,
        "description": ["A", "B", "C"], "time_entry_id": ["t1", "t2", "t3"],
    })  # fmt: skip
    matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["hourly"]})
    with pytest.warns(bf.errors.IncompleteDataWarning, match="Without users=") as caught:
        found = bf.analysis.utilization(change(entries), start="2026-10", by="month", matters=matters)
    assert len(caught) == 1
    assert found["client_hours"].tolist() == [6.0]
    assert bf.analysis.duplicates(change(entries)).empty


WRONG_TYPES = {
    "of a type that analyses don't know, such as .*, not dates.* periods with .*to_timestamp": lambda day: (
        day.dt.to_period("D")
    ),
    "of the type String, such as '.*', not dates.*31.10.2026 with .* reads 05.10.2026": lambda day: day.dt.strftime(
        "%d.%m.%Y"
    ),
    "an instant": lambda day: day.dt.tz_localize("Europe/Berlin"),
    "of the type String": lambda day: day.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
}


@pytest.mark.parametrize("said", WRONG_TYPES)
@pytest.mark.parametrize("analysis", ["wip", "stale", "overdue invoices", "realization", "exposure", "utilization"])
def test_dates_of_another_type_are_refused_by_every_analysis(analysis, said):
    """Periods counted as days before 1970, and figures were 0."""
    firm = on(FIRMS["two people"](), ENGINES["pandas"])
    for name, column in (("time_entries", "date"), ("invoices", "invoice_date")):
        firm[name][column] = WRONG_TYPES[said](pd.to_datetime(firm[name][column]))
    with pytest.raises(bf.errors.ParameterError, match=f"(date|invoice_date) is {said}"):
        CALLS[analysis](firm)


def test_a_frame_that_an_analysis_cannot_do_without_is_named():
    firm = on(FIRMS["two people"](), ENGINES["pandas"]) | {"matters": None}
    with pytest.raises(
        bf.errors.ParameterError, match=r"matters is missing; pass the frame that the loader matters\(\)"
    ):
        CALLS["stale"](firm)


def test_a_column_that_a_merge_renamed_is_shown():
    firm = on(FIRMS["two people"](), ENGINES["pandas"])
    entries = firm["time_entries"].merge(firm["invoices"], on="invoice_id", how="left")
    with pytest.raises(bf.errors.MissingColumnError, match="A merge made amount_x of it"):
        CALLS["reconcile"](firm | {"time_entries": entries.rename(columns={"matter_id_x": "matter_id"})})


def test_a_column_of_numbers_and_texts_is_text():
    frame = pd.DataFrame({"matter_id": ["m1", "m2", "m3"], "court": [7, "Bern", None]})
    selected = Reader(Data(matters=frame)).select("matters", ("court",))
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
    with pytest.warns(bf.errors.IncompleteDataWarning, match="1 time entry is on matters of unknown type"):
        found = bf.analysis.utilization(entries, start="2026-10", matters=matters, users=users)
    assert found[["billable_hours", "non_billable_hours", "client_hours"]].to_numpy().tolist() == [[4.0, 2.0, 5.0]]
