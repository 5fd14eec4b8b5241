"""Common mistakes in an edited frame or workbook are held back, or the plan has a note about them."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from typing import Any

import openpyxl
import pandas as pd
import pytest

import billframes as bf
from billframes import cli
from billframes._shared.export import to_excel
from billframes.bulk.edited_frame import read_workbook
from billframes.bulk.plan import Plan
from billframes.sandbox import Sandbox


@pytest.fixture
def sheet(entries, tmp_path) -> Any:
    """An exported sheet, the column numbers by heading, and a function that saves it."""
    book = openpyxl.load_workbook(io.BytesIO(to_excel(entries.head(12), sheet="time_entries")))

    def saved() -> Any:
        book.save(tmp_path / "edited.xlsx")
        return tmp_path / "edited.xlsx"

    return book.active, {cell.value: cell.column for cell in book.active[1]}, saved


def invalid(plan: Plan, column: str) -> list[str]:
    rows = plan.frame[(plan.frame["column"] == column) & (plan.frame["status"] == "invalid")]
    return [str(each) for each in rows["reason"]]


def sort_without_ids(entries: pd.DataFrame) -> pd.DataFrame:
    """Return the entries sorted without their ids."""
    rest = [name for name in entries.columns if name != "time_entry_id"]
    edited = entries.copy()
    edited[rest] = entries[rest].iloc[::-1].to_numpy()
    return edited


def test_rows_that_were_moved_against_their_ids_are_not_sent(firm, entries):
    edited = sort_without_ids(entries.head(12)).drop(columns="modified_at")
    plan = firm.client.time_entries.plan(edited)
    assert plan._sent == []
    assert set(invalid(plan, "description")) == {
        "created_at is another record's, so this row was moved against its id, as by a sort without the id's column"
    }


def test_texts_of_other_rows_are_noted_where_nothing_else_shows_that_rows_moved(firm, entries):
    edited = sort_without_ids(entries.head(12))[["time_entry_id", "description"]]
    plan = firm.client.time_entries.plan(edited)
    assert any(note.startswith("12 of the new values in description are the old values of") for note in plan.notes)
    # The same text in all rows, and a new text in each row, are not mistakes.
    for texts in ("Call", [f"Call {row}" for row in range(12)]):
        assert firm.client.time_entries.plan(edited.assign(description=texts)).notes == ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("12,50", "is not a number"),
        ("1.250", "is 1250 in some countries and 1.25 in others"),
        (dt.time(1, 30), "is not a number"),
        ("1:30", "is not a number"),
    ],
)
def test_hours_that_can_be_read_in_two_ways_are_invalid(firm, sheet, value, message):
    page, columns, saved = sheet
    page.cell(2, columns["hours"]).value = value
    (reason,) = invalid(firm.client.time_entries.plan(read_workbook(saved())[1]), "hours")
    assert message in reason


def test_hours_shown_as_a_percentage_are_invalid(firm, sheet):
    page, columns, saved = sheet
    cell = page.cell(2, columns["hours"])
    cell.value, cell.number_format = 0.5, "0%"
    plan = firm.client.time_entries.plan(read_workbook(saved())[1])
    assert invalid(plan, "hours") == ["is a percentage; give the number itself"]


def test_a_text_that_shows_what_the_server_has_is_no_change(firm, entries):
    one = entries.iloc[[0]]
    id_ = one["time_entry_id"].item()
    firm.client.time_entries.update(id_, hours=1.125)
    frame = pd.DataFrame({"time_entry_id": [id_], "hours": ["1.125"]})
    assert firm.client.time_entries.plan(frame).frame["status"].tolist() == ["no change"]
    firm.client.time_entries.update(id_, hours=one["hours"].item())


@pytest.mark.parametrize("text", ["31/10/2026", "03/10/2026", "3.10.2026", "2026/10/03", 46000])
def test_dates_in_another_order_are_invalid(firm, entries, text):
    frame = pd.DataFrame({"time_entry_id": entries["time_entry_id"].iloc[:1], "date": pd.Series([text], dtype=object)})
    assert len(invalid(firm.client.time_entries.plan(frame), "date")) == 1


@pytest.mark.parametrize("year", [2006, 2062])
def test_a_date_of_another_year_and_a_day_of_90_hours_are_noted(firm, entries, year):
    rows = entries[["time_entry_id", "date", "hours"]].iloc[200:203]
    plan = firm.client.time_entries.plan(rows.assign(date=dt.date(year, 10, 3), hours=90))
    assert "Rows with more than 24 hours: 3, such as 90." in plan.notes
    noted = rf"Dates that move by more than a year: 3, such as 2026-10-\d\d to {year}-10-03"
    assert any(re.match(noted, each) for each in plan.notes)
    assert not any("24 hours" in n for n in firm.client.time_entries.plan(rows.assign(hours=24)).notes)


@pytest.mark.parametrize(
    ("hours", "shown"),
    [
        ([0.0625, 0.1667, 0.0208, 0.3333], "4, such as 0.0625 for 1:30"),
        ([7.5 / 24, 1 / 24, 2 / 24, 1.25 / 24], "4, such as 0.3125 for 7:30"),
        ([0.25, 0.1, 0.5], None),
        ([0.0833, 0.1667, 0.3333, 0.9167], None),
        ([0.08, 0.17, 0.33, 0.67], None),
        ([0.125, 0.375, 0.625], None),
        ([0.0625, 1.5, 2.0], None),
        ([225 / 3600, 317 / 3600, 1204 / 3600, 88 / 3600], None),
    ],
)
def test_new_hours_that_are_parts_of_a_day_are_noted_and_those_of_a_timer_are_not(firm, entries, hours, shown):
    new = entries.head(len(hours))[["matter_id", "user_id", "date", "description"]]
    plan = firm.client.time_entries.plan(new.assign(time_entry_id=None, hours=hours))
    said = [note for note in plan.notes if "parts of a day" in note]
    assert said == (
        [f"Hours that look like parts of a day: {shown}. Spreadsheets store times so: multiply them by 24."]
        if shown
        else []
    )


def test_hours_that_become_a_24th_are_noted_and_others_are_not(firm):
    entries = firm.client.time_entries("2026-10", billed=False)
    # Other tests change the first rows.
    one = entries[entries["hours"] > 0.5].iloc[[20]][["time_entry_id", "hours"]]
    plan = firm.client.time_entries.plan(one.assign(hours=(one["hours"] / 24).round(4)))
    assert [note for note in plan.notes if note.startswith("Hours that look like parts of a day: 1, such as ")], plan
    assert not any("parts of a day" in note for note in firm.client.time_entries.plan(one.assign(hours=0.25)).notes)


def test_two_columns_in_each_others_place_are_noted(firm):
    matters = firm.client.matters().iloc[:5][["matter_id", "name", "reference"]]
    swapped = matters.rename(columns={"name": "reference", "reference": "name"})
    (note,) = [each for each in firm.client.matters.plan(swapped).notes if "swapped" in each]
    assert re.match(
        r"In 5 rows, (name|reference) gets the old value of (reference|name), .* the two headings swapped", note
    )
    renamed = matters.assign(name="New " + matters["name"], reference="R-" + matters["reference"])
    assert firm.client.matters.plan(renamed).notes == ()


def test_dates_whose_day_and_month_changed_places_are_noted(firm, entries):
    rows = entries[["time_entry_id", "date"]].assign(day=entries["date"].dt.day, month=entries["date"].dt.month)
    # Other tests change the first row.
    rows = rows[(rows["day"] <= 12) & (rows["day"] != rows["month"])].iloc[1:5]
    swapped = [dt.date(each.date.year, each.day, each.month) for each in rows.itertuples()]
    plan = firm.client.time_entries.plan(rows[["time_entry_id"]].assign(date=swapped))
    assert any(each.startswith("Dates whose day and month are swapped: 4.") for each in plan.notes)
    next_day = firm.client.time_entries.plan(rows[["time_entry_id"]].assign(date=rows["date"] + pd.Timedelta(days=1)))
    assert not any("month are swapped" in each for each in next_day.notes)


def test_amounts_in_cents_are_noted(firm):
    expenses = firm.client.expenses(billed=False).query("amount > 0").iloc[:4][["expense_id", "amount"]]
    plan = firm.client.expenses.plan(expenses.assign(amount=expenses["amount"] * 100))
    (note,) = plan.notes
    assert note.startswith("Values in amount that become at least 50 times as large or as small: 4, such as ")
    assert firm.client.expenses.plan(expenses.assign(amount=expenses["amount"] * 2)).notes == ()


def test_dates_that_all_moved_by_a_day_are_noted(firm, entries):
    rows = entries[["time_entry_id", "date"]].iloc[20:60]
    moved = rows.assign(date=rows["date"] - pd.Timedelta(days=1))
    (note,) = firm.client.time_entries.plan(moved).notes
    assert note == "40 values in date become 1 day earlier. Did a spreadsheet or a time zone move them?"
    assert firm.client.time_entries.plan(moved.iloc[:5]).notes == ()
    by_row = pd.to_timedelta(range(1, 41), unit="D")
    assert firm.client.time_entries.plan(rows.assign(date=rows["date"] - by_row)).notes == ()


@pytest.mark.slow
def test_negated_hours_and_amounts_are_noted(firm, entries):
    rows = entries[["time_entry_id", "hours"]].iloc[20:60]
    (note,) = firm.client.time_entries.plan(rows.assign(hours=-rows["hours"])).notes
    assert note == "40 values in hours get the other sign. Was the column negated?"
    assert firm.client.time_entries.plan(rows.assign(hours=rows["hours"] / 2)).notes == ()
    expenses = firm.client.expenses(billed=False).query("amount > 0").iloc[:4][["expense_id", "amount"]]
    (note,) = firm.client.expenses.plan(expenses.assign(amount=-expenses["amount"])).notes
    assert note.startswith("4 values in amount get the other sign")


@pytest.mark.slow
def test_a_value_that_was_filled_down_is_noted(firm, entries):
    rows = entries[["time_entry_id", "matter_id", "user_id", "hours", "date"]].iloc[20::8].iloc[:40]
    for name in ("matter_id", "user_id", "hours", "date"):
        notes = firm.client.time_entries.plan(rows[["time_entry_id"]].assign(**{name: rows[name].iloc[0]})).notes
        assert any(f"rows get the same {name}, " in each and "filled down?" in each for each in notes), name
    few = rows.drop_duplicates("matter_id").iloc[:4]
    assert firm.client.time_entries.plan(few.assign(matter_id=rows["matter_id"].iloc[-1])).notes == ()
    # Whoever takes over all work of one matter or person changes one value, not many.
    user = rows["user_id"].mode()[0]
    theirs = entries[entries["user_id"] == user][["time_entry_id"]]
    other = rows.loc[rows["user_id"] != user, "user_id"].iloc[0]
    assert firm.client.time_entries.plan(theirs.assign(user_id=other)).notes == ()


def test_merged_cells_are_refused(sheet):
    page, columns, saved = sheet
    page.merge_cells(start_row=2, end_row=5, start_column=columns["task_code"], end_column=columns["task_code"])
    with pytest.raises(bf.errors.ParameterError, match=r"has merged cells \([A-Z]+2:[A-Z]+5\).*unmerge them"):
        read_workbook(saved())


def test_merged_cells_above_the_heading_do_no_harm(firm, sheet):
    page, _, saved = sheet
    page.insert_rows(1)
    page.cell(1, 1).value = "October, to be corrected"
    page.merge_cells("A1:D1")
    assert set(firm.client.time_entries.plan(read_workbook(saved())[1]).frame["status"]) == {"no change"}


def test_changed_rows_that_a_filter_hides_are_noted(firm, sheet, monkeypatch, capsys):
    page, columns, saved = sheet
    for row in (2, 3, 4):
        page.cell(row, columns["description"]).value = f"Pasted over a filtered column {row}"
    for row in (3, 4, 5):
        page.row_dimensions[row].hidden = True
    monkeypatch.setenv("BILLFRAMES_BASE_URL", firm.sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", firm.sandbox.tokens["full"])
    assert cli.main(["apply", str(saved()), "--dry-run"]) == 0
    assert "Changes in rows that the sheet hides, for example by a filter: 2." in capsys.readouterr().out


def test_cells_that_lose_their_value_are_counted(firm, entries):
    matters = firm.client.matters()
    free = matters[matters["ledes_enabled"] == False]["matter_id"]  # noqa: E712
    rows = entries[entries["time"].notna() & entries["matter_id"].isin(free)].head(2)
    plan = firm.client.time_entries.plan(rows.assign(time=None))
    assert f"Cells that have a value on the server and will be empty: time {len(rows)}." in plan.notes
    assert len(rows) > 0


@pytest.mark.parametrize("text", ["nan", "None", "NaT", "<NA>"])
def test_missing_values_that_became_text_are_invalid(firm, text):
    clients = firm.client.clients(limit=1)
    (reason,) = invalid(firm.client.clients.plan(clients.assign(reference=text)), "reference")
    assert "is how Python writes a missing value" in reason


def test_references_that_a_spreadsheet_took_for_numbers_are_no_change(firm):
    client = firm.client
    ids, texts = client.clients(limit=3)["client_id"].tolist(), ["00042", "1E5", "7"]
    for id_, text in zip(ids, texts, strict=True):
        client.clients.update(id_, reference=text)
    frame = pd.DataFrame({"client_id": ids, "reference": pd.Series([42, 100000.0, 8], dtype=object)})
    plan = client.clients.plan(frame)
    assert plan.frame["after"].fillna("").tolist() == ["", "", "8"]
    assert plan.counts["update"] == 1
    frame["reference"] = pd.Series([1234567890123456789, 1.5, "42"], dtype=object)
    plan = client.clients.plan(frame)
    assert "more than 15 digits" in invalid(plan, "reference")[0]
    # A text is what it says.
    assert plan.frame["after"].tolist()[2] == "42"
    assert plan.frame["status"].tolist() == ["invalid", "invalid", "will change"]


def test_an_id_in_scientific_notation_changes_nothing(firm, sheet):
    page, columns, saved = sheet
    page.cell(2, columns["time_entry_id"]).value = 1.2e35
    page.cell(2, columns["description"]).value = "Whose?"
    plan = firm.client.time_entries.plan(read_workbook(saved())[1])
    assert (plan._sent, plan.counts["gone"]) == ([], 1)


def test_equal_new_rows_are_noted(firm, entries):
    new = entries.head(1)[["matter_id", "user_id", "date", "hours"]].assign(time_entry_id=None, description="Pasted")
    plan = firm.client.time_entries.plan(pd.concat([new, new, new]))
    assert "2 new time entries are the same as another new row, and each will be created." in plan.notes
    assert plan.counts["create"] == 3


def test_a_frame_of_another_server_is_noted(firm, entries):
    with Sandbox() as other, bf.Client(other.base_url, other.tokens["full"], progress=False) as client:
        plan = client.time_entries.plan(entries.head(1).assign(description="From elsewhere"))
        message = f"The frame was loaded from {firm.sandbox.base_url}, and this plan changes {other.base_url}."
    assert message in plan.notes


def test_narratives_of_every_script_arrive_as_they_were_typed(firm):
    texts = ["  two spaces  ", "line\nbreak", "שלום \u202eRTL", "🙂 👩🏽‍⚖️", "tab\tand “quotes”"]
    rows = firm.client.time_entries("2026-10", billed=False).tail(len(texts))
    assert firm.client.time_entries.plan(rows.assign(description=texts)).apply()["outcome"].tolist() == ["done"] * 5
    ids = rows["time_entry_id"].tolist()
    assert [firm.client.time_entries.get(id_).description for id_ in ids] == texts
    again = firm.client.time_entries("2026-10", billed=False).set_index("time_entry_id").loc[ids].reset_index()
    assert set(firm.client.time_entries.plan(again).frame["status"]) == {"no change"}


@pytest.mark.parametrize(
    "text", ["Purchase_x0020_Order", "_xD83D_ and _x000D_", "one\r\ntwo", "three\rfour", "\r\n=1+1"]
)
def test_a_text_that_was_exported_and_not_edited_is_no_change(firm, entries, tmp_path, text):
    id_ = entries["time_entry_id"].iloc[-1]
    firm.client.time_entries.update(id_, description=text)
    frame = firm.client.time_entries("2026-10", billed=False)
    path = tmp_path / "exported.xlsx"
    path.write_bytes(to_excel(frame[frame["time_entry_id"] == id_], sheet="time_entries"))
    assert b"_x000D_" not in zipfile.ZipFile(path).read("xl/sharedStrings.xml").replace(b"_x005F_x000D_", b"")
    assert firm.client.time_entries.plan(read_workbook(path)[1])._sent == []


def test_a_matter_that_was_renamed_since_changes_nothing(firm, entries):
    one = entries.head(1)
    firm.client.matters.update(one["matter_id"].item(), name="Renamed since")
    plan = firm.client.time_entries.plan(one)
    assert (plan._sent, set(plan.frame["status"])) == ([], {"read-only column"})
