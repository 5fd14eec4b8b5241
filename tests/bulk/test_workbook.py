"""The plan of an exported and edited workbook has exactly these edits."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import billframes as bf
from billframes import cli
from billframes._shared.export import to_excel
from billframes.bulk.display import as_text
from billframes.bulk.edited_frame import read_workbook
from billframes.bulk.plan import Plan
from billframes.sandbox import Sandbox
from tests.bulk.make_libreoffice import ROWS, SAVED, edit
from tests.frames import assert_frame_equal


@pytest.fixture(scope="module")
def exported(firm) -> bytes:
    return to_excel(firm.client.time_entries("2026-10", billed=False, limit=ROWS), sheet="time_entries")


def statuses(plan: Plan) -> dict[str, int]:
    return {str(name): int(number) for name, number in plan.frame["status"].value_counts().items() if number}


def saved(book: Any, folder: Path, name: str = "october.xlsx") -> Path:
    path = folder / name
    if isinstance(book, bytes):
        path.write_bytes(book)
    else:
        book.save(path)
    return path


@pytest.mark.parametrize("resource", ["time_entries", "expenses", "fixed_fees", "matters", "clients"])
def test_an_export_that_nobody_edited_has_no_change(firm, tmp_path, resource):
    loader = getattr(firm.client, resource)
    frame = loader(limit=60)
    read, edited = read_workbook(saved(to_excel(frame, sheet=resource), tmp_path))
    assert read.name == resource
    plan = loader.plan(edited)
    assert statuses(plan) == {"no change": len(frame)}
    assert plan.notes == ()


def check_edits(plan: Plan) -> None:
    """Check that the plan has the edits of `make_libreoffice`, and no others."""
    shown = plan.frame[plan.frame["action"] == "update"]
    changed = shown[shown["status"] == "will change"].set_index("column")["after"]
    assert sorted(changed.index) == ["activity_code", "date", "description", "description", "hours"]
    assert sorted(changed["description"]) == ["-10% agreed", "Réunion – “lease”\nsecond line"]
    assert (changed["hours"], changed["activity_code"], changed["date"]) == ("2.75", "A104", "2026-10-03")
    # One row is deleted in the workbook, and that is not a deletion.
    assert (shown["status"] == "no change").sum() == ROWS - 6
    assert plan.counts["delete"] == 0
    new = plan.frame[plan.frame["action"] == "create"].set_index("column")["after"].to_dict()
    assert new["description"] == "A new row"
    # Its heading is the sheet's first row.
    assert f"new (row {ROWS + 1})" in as_text(plan._resource, plan._changes, plan.notes, 2)


def test_a_workbook_edited_in_excels_format_is_a_plan_of_its_edits(tmp_path):
    with Sandbox() as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False)
        content = to_excel(client.time_entries("2026-10", billed=False, limit=ROWS), sheet="time_entries")
        _, frame = read_workbook(saved(edit(content), tmp_path))
        plan = client.time_entries.plan(frame)
    check_edits(plan)
    # openpyxl does not calculate: a formula without its result is not taken for an empty cell.
    hours = plan.frame[(plan.frame["action"] == "create") & (plan.frame["column"] == "hours")]
    assert hours["status"].tolist() == ["invalid"]
    assert "calculate it" in hours["after"].item()


def test_a_workbook_saved_by_libreoffice_is_a_plan_of_its_edits():
    with Sandbox() as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False)
        _, frame = read_workbook(SAVED)
        plan = client.time_entries.plan(frame)
        check_edits(plan)
        new = plan.frame[plan.frame["action"] == "create"].set_index("column")["after"].to_dict()
        assert new["hours"] == "0.25"
        assert plan.apply()["outcome"].astype(str).unique().tolist() == ["done"]


def test_codes_keep_their_zeros_and_texts_that_look_like_formulas_their_first_character(firm, tmp_path):
    clients = firm.client.clients(limit=2)
    for id_, name in zip(clients["client_id"], ["=1+1", "@home"], strict=True):
        firm.client.clients.update(id_, reference="00042", notes=name, name=name)
    frame = firm.client.clients()
    frame = frame[frame["client_id"].isin(clients["client_id"])]
    _, edited = read_workbook(saved(to_excel(frame, sheet="clients"), tmp_path))
    assert sorted(edited["name"]) == ["=1+1", "@home"]
    assert edited["reference"].tolist() == ["00042"] * 2
    assert statuses(firm.client.clients.plan(edited)) == {"no change": 2}


def test_a_text_that_an_excel_cell_cuts_is_no_edit_and_is_never_sent_cut(firm, tmp_path):
    ids = firm.client.time_entries("2026-09", billed=False, limit=2)["time_entry_id"]
    for id_, text in zip(ids, ["=Call. " + "Réunion\r\n" * 5_000, "\U0001f4dc\U0001f58b" * 20_000], strict=True):
        firm.client.time_entries.update(id_, description=text)
    frame = firm.client.time_entries("2026-09", billed=False)
    frame = frame[frame["time_entry_id"].isin(ids)]
    with pytest.warns(bf.errors.BillframesWarning, match=r"holds no more: description \(2\)\. CSV and Parquet"):
        content = to_excel(frame, sheet="time_entries")
    _, edited = read_workbook(saved(content, tmp_path))
    assert edited["description"].str.endswith("(cut: an Excel cell holds no more)").all()
    assert edited["description"].str.len().max() > 16_000
    assert statuses(firm.client.time_entries.plan(edited)) == {"no change": 2}
    edited["description"] = edited["description"].str.replace("R", "r").str.replace("\U0001f4dc", "")
    plan = firm.client.time_entries.plan(edited)
    assert statuses(plan) == {"invalid": 2}
    assert "edit it in pandas" in plan.frame["reason"].iloc[0]


def test_a_cell_with_an_error_is_not_sent(firm, exported, tmp_path):
    book = openpyxl.load_workbook(io.BytesIO(exported))
    place = {cell.value: cell.column for cell in book.active[1]}
    cell = book.active.cell(2, place["description"])
    cell.value, cell.data_type = "#REF!", "e"
    _, frame = read_workbook(saved(book, tmp_path))
    plan = firm.client.time_entries.plan(frame)
    assert plan.frame[plan.frame["column"] == "description"]["status"].tolist() == ["invalid"]


def workbook(*rows: Any) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book


def two_sheets() -> openpyxl.Workbook:
    book = workbook(["matter_id", "name"])
    book.create_sheet("more").append(["client_id", "name"])
    return book


@pytest.mark.parametrize(
    ("book", "message"),
    [
        (b"not a workbook", "october.xlsx can't be read as an Excel workbook"),
        (workbook(["name", "hours"], ["a", 1]), "has no sheet with records"),
        (workbook(["matter_id", "name", "name"]), "has the heading 'name' more than once"),
        (two_sheets(), "has several sheets with records ('Sheet', 'more')"),
        (
            workbook(["fixed_fee_id", "matter_id", "date", "hours", "description"]),
            "the sheet 'Sheet' look like time entries, but it has no column 'time_entry_id'",
        ),
    ],
)
def test_a_broken_workbook_is_refused_in_one_sentence(tmp_path, book, message):
    with pytest.raises(bf.errors.ParameterError, match=re.escape(message)):
        read_workbook(saved(book, tmp_path))


def test_a_workbook_with_a_broken_sheet_is_refused(exported, tmp_path):
    import zipfile

    path = tmp_path / "broken.xlsx"
    with zipfile.ZipFile(io.BytesIO(exported)) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content[: len(content) // 2] if "worksheets/" in name else content)
    with pytest.raises(bf.errors.ParameterError, match="can't be read as an Excel workbook"):
        read_workbook(path)


@pytest.fixture
def command(firm, monkeypatch, capsys):
    """Run `billframes apply`; return the exit code and what it printed."""
    monkeypatch.setenv("BILLFRAMES_BASE_URL", firm.sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", firm.sandbox.tokens["full"])

    def run(*words: object) -> tuple[int, str]:
        code = cli.main(["apply", *map(str, words)])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def edited_export(firm: Any, folder: Path, **changes: Any) -> Path:
    frame = firm.client.time_entries("2026-10", billed=False, limit=3)
    return saved(to_excel(frame.assign(**changes), sheet="time_entries"), folder)


def test_the_command_shows_the_plan_and_sends_it_only_after_a_yes(firm, command, tmp_path, monkeypatch):
    path = edited_export(firm, tmp_path, description="From the command line")
    at = firm.position()
    code, printed = command(path, "--dry-run")
    assert code == 0
    assert "3 time entries will be updated" in printed
    code, printed = command(path)
    assert code == 2
    assert "add --yes" in printed
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: "n" if firm.sandbox.base_url in question else "")
    assert command(path)[0] == 1
    assert firm.changes(at) == []
    code, printed = command(path, "--yes", "--journal", tmp_path / "j")
    assert (code, len(firm.changes(at))) == (0, 3)
    assert "3 done." in printed
    # The same workbook again: everything is as it says, and nothing is sent.
    code, printed = command(path, "--yes")
    assert len(firm.changes(at)) == 3
    assert "3 have no change" in printed
    code, printed = command(path, "--yes", "--journal", tmp_path / "j")
    assert code == 2
    assert "is finished" in printed


def test_a_deleted_row_is_a_deletion_only_if_it_is_named(firm, command, tmp_path):
    frame = firm.client.time_entries("2026-10", billed=False, limit=4)
    path = saved(to_excel(frame.iloc[1:], sheet="time_entries"), tmp_path)
    gone = frame["time_entry_id"].iloc[0]
    at = firm.position()
    assert command(path, "--yes")[0] == 0
    assert firm.changes(at) == []
    code, printed = command(path, "--yes", "--delete-missing", gone)
    assert (code, f"{frame['matter_name'].iloc[0]} · {gone}" in printed) == (0, True)
    assert firm.changes(at) == [(gone, None)]
    assert command(path, "--yes", "--delete-missing", frame["time_entry_id"].iloc[1])[0] == 2


def test_the_exit_code_is_1_if_something_was_held_back(firm, command, tmp_path):
    path = edited_export(firm, tmp_path, description="Half of it", hours=["two", 1.5, 1.6])
    code, printed = command(path, "--yes")
    assert code == 1
    assert "2 done." in printed
    assert "Not all changes in the workbook were sent." in printed


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed; the saved file is tested")
def test_libreoffice_writes_the_saved_file(tmp_path, monkeypatch):
    from tests.bulk import make_libreoffice

    monkeypatch.setattr(make_libreoffice, "SAVED", tmp_path / "made.xlsx")
    make_libreoffice.main()
    saved_file, made = (read_workbook(path)[1] for path in (SAVED, tmp_path / "made.xlsx"))
    assert_frame_equal(saved_file, made)
