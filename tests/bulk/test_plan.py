"""A plan lists every cell that would change, with its status, and writes nothing."""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from contextlib import closing

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import billframes as bf
from billframes.bulk.changes import STATUSES
from billframes.bulk.plan import Plan
from billframes.sandbox import Sandbox
from billframes.transport.http import HttpClient
from tests.frames import assert_frame_equal


def statuses(plan: Plan) -> dict[str, int]:
    return {str(name): int(number) for name, number in plan.frame["status"].value_counts().items() if number}


def only(plan: Plan) -> dict[str, object]:
    """The one row of a plan."""
    assert len(plan.frame) == 1, plan.frame.to_string()
    return plan.frame.iloc[0].to_dict()


def test_an_unedited_frame_has_no_change_and_costs_no_more_requests_than_loading_it(firm):
    entries = firm.client.time_entries("2026-10")
    plan = firm.client.time_entries.plan(entries)
    assert statuses(plan) == {"no change": len(entries)}
    assert plan.requests == entries.attrs["load"]["requests"]
    assert firm.changes(0) == []


def test_a_long_text_is_shown_from_just_before_its_first_difference(firm):
    entries = firm.client.time_entries("2026-10", billed=False).head(1)
    long = "Review the lease and its schedules, and draft a letter on the covenants to repair, with "
    before, after = f"{long}one exhibit.", f"{long}two exhibits."
    firm.client.time_entries.update(entries["time_entry_id"].iloc[0], description=before)
    entries = firm.client.time_entries("2026-10", billed=False).head(1)
    shown = repr(firm.client.time_entries.plan(entries.assign(description=after)))
    assert re.search(r"description: …[^→]*with one exhibit\. → …[^→]*with two exhibits\.$", shown)


@pytest.mark.parametrize("resource", ["expenses", "fixed_fees", "matters", "clients"])
def test_every_resource_comes_back_as_it_was(firm, resource):
    loader = getattr(firm.client, resource)
    assert set(statuses(loader.plan(loader(limit=40)))) == {"no change"}


@pytest.mark.slow
def test_a_plan_of_2000_rows_of_one_month_takes_at_most_five_requests_more_than_loading_them(monkeypatch):
    with (
        Sandbox() as sandbox,
        bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False) as client,
        closing(sqlite3.connect(sandbox.database)) as database,
    ):
        database.execute("UPDATE time_entry SET date = '2026-10-' || substr(date, 9) WHERE date >= '2026-07-01'")
        database.execute(
            "UPDATE time_entry SET invoice_id = NULL WHERE time_entry_id IN"
            " (SELECT time_entry_id FROM time_entry WHERE date >= '2026-10-01' LIMIT 2000)"
        )
        database.commit()
        sent: list[str] = []
        fetch = HttpClient.fetch
        monkeypatch.setattr(HttpClient, "fetch", lambda *a, **k: (sent.append(a[1]), fetch(*a, **k))[1])
        month = client.time_entries("2026-10", billed=False)
        loading, users = len(sent), month["user_id"].unique()
        assert len(month) >= 2000
        plan = client.time_entries.plan(
            month.assign(task_code="L120", description=month["description"] + ".", user_id=users[0])
        )
        assert plan.requests == len(sent) - loading <= loading + 5, sent
        # All were billed after the load: the month is listed again instead of reading each.
        database.execute("UPDATE time_entry SET invoice_id = (SELECT invoice_id FROM invoice LIMIT 1)")
        database.commit()
        plan = client.time_entries.plan(month[["time_entry_id", "description"]].assign(description="Too late"))
        assert statuses(plan) == {"billed": len(month)}
        assert plan.requests < 20


@pytest.mark.parametrize("rows", [None, 20])
def test_frames_of_months_that_are_far_apart_are_read_month_by_month(firm, rows):
    client = firm.client
    loaded = [client.time_entries(month, limit=rows) for month in ("2024-08", "2026-07", "2026-08")]
    edited = pd.concat([each.assign(description="Over months") for each in loaded], ignore_index=True)
    edited.attrs = {}
    plan = client.time_entries.plan(edited)
    assert len(plan.frame) == len(edited)
    assert "gone" not in statuses(plan)
    assert plan.requests <= sum(each.attrs["load"]["requests"] for each in loaded) + 5


def test_a_cell_is_listed_with_its_value_before_and_after(firm, entries):
    edited = entries.head(1).assign(hours=7.25)
    row = only(firm.client.time_entries.plan(edited))
    assert row["id"] == entries["time_entry_id"].iloc[0]
    assert (row["column"], row["after"], row["status"], row["action"], row["row"]) == (
        "hours",
        "7.25",
        "will change",
        "update",
        0,
    )
    assert float(row["before"]) == entries["hours"].iloc[0]


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_frames_of_every_engine_are_planned_alike(firm, entries, kind):
    loaded = firm.client.time_entries("2026-10", billed=False, to=kind)
    if kind == "polars":
        edited = loaded.with_columns(pl.lit("Called the client").alias("description"))
    else:
        place = loaded.column_names.index("description")
        texts = pa.array(["Called the client"] * loaded.num_rows, pa.string())
        edited = loaded.set_column(place, "description", texts)
    plan = firm.client.time_entries.plan(edited)
    same = firm.client.time_entries.plan(entries.assign(description="Called the client"))
    assert_frame_equal(plan.frame, same.frame)
    assert plan.counts["update"] == len(entries)


def test_only_columns_of_the_frame_are_compared(firm, entries):
    edited = entries[["time_entry_id", "description"]].head(3).assign(description="Short frame")
    edited.attrs = {}
    plan = firm.client.time_entries.plan(edited)
    assert plan.frame["column"].tolist() == ["description"] * 3
    assert any("modified_at" in note for note in plan.notes)


def test_hours_that_went_through_excel_compare_at_the_cent(firm, entries):
    edited = entries.assign(hours=entries["hours"] + 0.0049)
    assert statuses(firm.client.time_entries.plan(edited)) == {"no change": len(entries)}


def test_a_value_that_was_missing_before_is_no_change_and_one_that_is_taken_away_is(firm, entries):
    coded = entries[entries["task_code"].notna()].head(2)
    plan = firm.client.time_entries.plan(coded.assign(task_code=None))
    assert plan.frame["column"].tolist() == ["task_code"] * 2
    bare = entries[entries["task_code"].isna()].head(2)
    assert statuses(firm.client.time_entries.plan(bare.assign(task_code=""))) == {"no change": 2}


def test_billed_records_are_marked(firm):
    billed = firm.client.time_entries("2026-09", billed=True, limit=3)
    plan = firm.client.time_entries.plan(billed.assign(description="Too late"))
    assert statuses(plan) == {"billed": 3}
    assert plan._sent == []


def test_a_record_that_somebody_changed_is_marked(firm, entries):
    loaded = firm.client.time_entries("2026-10", billed=False).tail(2)
    firm.client.time_entries.update(loaded["time_entry_id"].iloc[0], description="A colleague was here")
    plan = firm.client.time_entries.plan(loaded.assign(description="Mine"))
    assert statuses(plan) == {"changed since loaded": 1, "will change": 1}
    # An unedited cell that is out of date does not undo the colleague's change.
    stale = firm.client.time_entries.plan(loaded)
    assert statuses(stale) == {"changed since loaded": 1, "no change": 1}
    without = loaded.drop(columns="modified_at").assign(description="Mine")
    assert statuses(firm.client.time_entries.plan(without)) == {"changed since loaded": 1, "will change": 1}


def test_columns_that_callers_cannot_write_are_marked_and_the_rest_is_sent(firm, entries):
    edited = entries.head(1).assign(client_name="Somebody else", amount=1.0, description="Read the file")
    plan = firm.client.time_entries.plan(edited)
    assert dict(zip(plan.frame["column"], plan.frame["status"], strict=True)) == {
        "client_name": "read-only column",
        "description": "will change",
        "amount": "read-only column",
    }


def test_a_column_that_is_unknown_is_noted_with_the_nearest_name(firm, entries):
    plan = firm.client.time_entries.plan(entries.head(1).assign(descripton="x"))
    (note,) = plan.notes
    assert "'descripton'" in note
    assert "Did you mean 'description'?" in note


def test_a_record_that_is_not_there_is_gone(firm):
    frame = pd.DataFrame({"time_entry_id": ["c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a11"], "description": ["x"]})
    assert only(firm.client.time_entries.plan(frame))["status"] == "gone"


def test_a_moved_date_is_found_where_it_is(firm, entries):
    loaded = entries.iloc[[4]]
    id_ = loaded["time_entry_id"].iloc[0]
    firm.client.time_entries.update(id_, date="2025-01-15")
    ids = [id_, *entries["time_entry_id"].iloc[5:20]]
    several = entries[entries["time_entry_id"].isin(ids)]
    plan = firm.client.time_entries.plan(several.drop(columns="modified_at").set_axis(range(len(several))))
    assert "gone" not in statuses(plan)


def test_hidden_rates_are_not_taken_for_emptied_ones(firm):
    blind = bf.Client(firm.sandbox.base_url, firm.sandbox.tokens["norates"], progress=False)
    with pytest.warns(bf.errors.RatesHiddenWarning):
        loaded = blind.time_entries("2026-10", billed=False).head(50)
    plan = firm.client.time_entries.plan(loaded)
    assert statuses(plan) == {"no change": 50}
    assert any(note.startswith("rate is empty in every row") for note in plan.notes)


def test_taking_a_fixed_fee_away_sends_the_zero_id(firm):
    covered = firm.client.time_entries(billing_type="fixedFee", billed=False, limit=500)
    covered = covered[covered["fixed_fee_id"].notna()].head(1)
    plan = firm.client.time_entries.plan(covered.assign(fixed_fee_id=None))
    from billframes.bulk.changes import request_body

    assert b"00000000-0000-0000-0000-000000000000" in request_body(plan._sent[0], plan._resource, plan._columns)


def test_custom_fields_and_parts_of_nested_objects_can_be_edited(firm):
    clients = firm.client.clients(limit=3)
    custom = next(name for name, each in clients.attrs["custom_fields"].items() if each["type"] == "text")
    edited = clients.assign(**{custom: "New value", "contact_phone": "020 7946 0000"})
    plan = firm.client.clients.plan(edited)
    assert set(plan.frame["column"]) == {custom, "contact_phone"}
    assert plan.apply()["outcome"].tolist() == ["done"] * 3
    after = firm.client.clients(limit=3)
    assert after[custom].tolist() == ["New value"] * 3
    # The rest of the contact is as it was.
    pd.testing.assert_series_equal(after["contact_city"], clients["contact_city"])


def test_new_rows_are_creates_and_empty_rows_are_nothing(firm, entries):
    new = {"matter_id": entries["matter_id"].iloc[0], "date": dt.date(2026, 10, 7), "hours": 0.5, "description": "New"}
    frame = pd.DataFrame([{"time_entry_id": None, **new}, {"time_entry_id": None}])
    plan = firm.client.time_entries.plan(frame)
    assert plan.counts["create"] == 1
    assert set(plan.frame["action"]) == {"create"}
    assert plan.frame["id"].isna().all()


def test_a_new_row_that_the_server_has_already_is_not_created_again(firm, entries):
    one = entries.iloc[[10]][["matter_id", "date", "user_id", "hours", "description"]].assign(time_entry_id=None)
    plan = firm.client.time_entries.plan(one)
    assert set(plan.frame["status"]) == {"invalid"}
    assert entries["time_entry_id"].iloc[10] in plan.frame["reason"].iloc[0]
    assert firm.client.time_entries.plan(one, duplicates=True).counts["create"] == 1


def test_a_plan_shows_itself_with_counts_on_top_and_escapes_what_it_shows(firm, entries):
    plan = firm.client.time_entries.plan(entries.head(3).assign(description="<script>alert(1)</script> \x1b[2J $x$"))
    assert repr(plan).startswith("3 time entries will be updated.")
    assert "\x1b" not in repr(plan)
    shown = plan._repr_html_()
    assert "<script>alert" not in shown
    assert "3 time entries will be updated" in shown
    assert set(plan.frame["status"].cat.categories) == set(STATUSES)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda entries: entries.drop(columns="time_entry_id"), "which time entries to change. Add it"),
        (lambda entries: entries.set_index("time_entry_id"), "time_entry_id is the frame's index"),
        (lambda entries: pd.concat([entries, entries]), "is in more than one row"),
        (lambda entries: entries.assign(time_entry_id="../users"), "is not an id"),
        (lambda entries: entries.assign(invoice_line_id=1).rename(columns={"time_entry_id": "id"}), "has no column"),
        (lambda _: "time_entries", "takes a frame of pandas, Polars or Arrow, not str"),
        (lambda entries: pd.concat([entries, entries["hours"]], axis=1), "more than once"),
    ],
)
def test_a_frame_that_cannot_be_planned_is_refused_in_one_sentence_before_any_request(entries, edit, message):
    closed = bf.Client("https://nowhere.invalid", "token")
    with pytest.raises(bf.errors.ParameterError, match=re.escape(message)):
        closed.time_entries.plan(edit(entries.head(2)))


def test_a_frame_of_another_resource_is_refused(firm, entries):
    with pytest.raises(bf.errors.ParameterError, match="loaded as time_entries"):
        firm.client.matters.plan(entries)
    bare = entries.head(2).copy()
    bare.attrs = {}
    with pytest.raises(bf.errors.ParameterError, match="has the column 'time_entry_id', so its rows are time entries"):
        firm.client.matters.plan(bare)


def test_a_record_cannot_be_edited_and_deleted_at_once(firm, entries):
    with pytest.raises(bf.errors.ParameterError, match="is to be deleted and is a row"):
        firm.client.time_entries.plan(entries.head(2), delete=entries["time_entry_id"].iloc[0])
