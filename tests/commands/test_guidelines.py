"""`billframes guidelines` writes a page and a workbook with a sheet for each person, and shows no narrative."""

from __future__ import annotations

import html
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

import billframes as bf
from billframes.cli import main
from billframes.guidelines.sheets import describe_findings, guideline_page
from billframes.sandbox import Sandbox

FOLDER = Path(Sandbox.__init__.__code__.co_filename).with_name("guidelines")


@pytest.fixture(autouse=True)
def configured(sandbox, monkeypatch, tmp_path):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def findings(october_book):
    return bf.Guidelines.read(FOLDER).check(october_book)


@pytest.mark.slow
def test_each_person_has_a_sheet_and_no_narrative_is_written(tmp_path, capsys, findings, october_book):
    assert main(["guidelines", str(FOLDER), "--out", "week"]) == 0
    *files, said = capsys.readouterr().out.splitlines()
    assert said == describe_findings(findings)
    book = openpyxl.load_workbook(files[1])
    people = findings["user_name"].fillna(findings["responsible_name"])
    assert set(book.sheetnames) == {"Summary", "About", *people}
    rows = [row for name in book.sheetnames[2:] for row in book[name].iter_rows(min_row=2, values_only=True)]
    assert sorted(row[-1] or "" for row in rows) == sorted(findings["item_id"].fillna(""))
    dates = [row[0] for row in book[people[0]].iter_rows(min_row=2, values_only=True)]
    assert dates == sorted(dates, reverse=True)
    total = Decimal(str(book["Summary"].cell(book["Summary"].max_row, 5).value))
    assert total == bf.Guidelines.summary(findings).iloc[-1]["at_risk"]
    page = html.unescape((tmp_path / "week" / "guidelines.html").read_text("utf-8"))
    texts = october_book.time_entries.set_index("time_entry_id")["description"].reindex(findings["item_id"]).dropna()
    shown = page + str([[cell.value for cell in row] for sheet in book for row in sheet])
    assert len(texts) > 100
    assert [text for text in texts if text in shown] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--fail-on", "refused"], 1),
        (["--fail-on", "refused", "--since", "1d"], 0),
        (["--fail-on", "review", "--since", "2026-10-31"], 1),
        (["--by", "responsible", "--since", "7d", "--as-of", "2026-10-20"], 0),
    ],
)
def test_the_exit_code_tells_whether_there_are_findings_of_a_severity(words, code, capsys):
    assert main(["guidelines", str(FOLDER), *words]) == code
    assert "at risk" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "There is no file or folder nowhere."),
        ([], "Give the folder of the guideline files"),
        ([str(FOLDER), "--out", "no/where"], "there is no folder"),
        ([str(FOLDER), "--since", "7 weeks"], "7 weeks"),
        (["."], "has no guideline file"),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_is_written(words, said, tmp_path, capsys):
    assert main(["guidelines", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_names_are_escaped_and_no_findings_are_said(findings):
    strange = findings.head(1).assign(user_name="<b>O'Hara</b>", value="<script>")
    page = guideline_page(strange)
    assert "<script>" not in page
    assert "&lt;b&gt;O&#39;Hara&lt;/b&gt;" in page
    assert describe_findings(findings.head(0)) == "No findings."
    assert describe_findings(findings.head(1)).startswith("1 finding on 1 item; ")
