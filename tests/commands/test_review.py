"""`billframes review` writes a page and a workbook, or prints why not and writes no file."""

from __future__ import annotations

import datetime as dt
import html
import io
import re

import openpyxl
import pandas as pd
import pytest

from billframes.cli import main
from billframes.report.prebill_sheets import paper_sheets, prebill_page, prebill_workbook


@pytest.fixture(scope="module")
def rows(october_book):
    return october_book.prebill_review()


@pytest.fixture(autouse=True)
def configured(sandbox, monkeypatch, tmp_path):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_the_prebills_of_a_lawyer_equal_the_database(tmp_path, capsys, sql):
    assert main(["review", "--responsible", "Miriam Harrow", "--out", "october"]) == 0
    wanted = sql(
        """
        select distinct i.invoice_number, i.amount from invoice i join (
            select invoice_id, matter_id from time_entry union select invoice_id, matter_id from expense
            union select invoice_id, matter_id from fixed_fee) using (invoice_id) join matter m using (matter_id)
        join user u on u.user_id = m.responsible_id
        where u.last_name = 'Harrow' and u.first_name = 'Miriam' and i.invoice_state <> 'final'
        """
    )
    said = capsys.readouterr().out
    assert said.splitlines()[0] == str(tmp_path / "october" / "prebill-review.html")
    assert f"{len(wanted)} invoices," in said
    page = (tmp_path / "october" / "prebill-review.html").read_text(encoding="utf-8")
    assert set(re.findall(r"<strong>Invoice (\d+)</strong>", page)) == {number for number, _ in wanted}
    invoices = pd.read_excel(
        tmp_path / "october" / "prebill-review.xlsx", sheet_name="Invoices", dtype={"Invoice": str}
    )
    amounts = dict(zip(invoices["Invoice"], invoices["Invoice amount"], strict=True))
    assert amounts == pytest.approx({number: amount / 1e4 for number, amount in wanted})
    assert main(["review", "--responsible", "Miriam Harrow", "--out", "october"]) == 2
    assert "already has prebill-review.html and prebill-review.xlsx" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Choose the invoices: add --responsible NAME or --invoice NUMBER."),
        (["--responsible", "Miriam Harow"], "has the name, reference or id 'Miriam Harow'. Did you mean"),
        (["--invoice", "10434"], "Invoice '10434' is final"),
        (["--invoice", "1", "--out", "no/where"], "there is no folder"),
        (["--invoice", "1", "--hours-per-day", "0"], "--hours-per-day 0 is not above 0"),
    ],
)
def test_invalid_arguments_are_refused_with_one_sentence_and_leave_no_file(tmp_path, capsys, words, said):
    assert main(["review", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("billframes: ")
    assert said in line
    assert list(tmp_path.iterdir()) == []


def test_help_has_two_examples(capsys):
    with pytest.raises(SystemExit):
        main(["review", "--help"])
    assert capsys.readouterr().out.count("\n  billframes review --") == 2


@pytest.mark.slow
def test_every_item_is_printed_or_counted(rows):
    for sheet, (_, items) in zip(paper_sheets(rows), rows.groupby("invoice_id", sort=False), strict=True):
        counted = re.search(r"(\d+) more items?", sheet.not_printed)
        assert len(sheet.items) + int(counted[1] if counted else 0) == items["item"].count()
        assert (
            sum(bool(item["findings"]) for item in sheet.items) == sheet.flagged or "with findings" in sheet.not_printed
        )
        printed = [item["description"] for item in sheet.items]
        assert set(printed) <= set(items["description"].dropna()) | {""}


SETTINGS = "Firm settings from the_firm_and_its_people_2026.toml: 8 hours a day, Mon to Fri, with holidays and leave."
HOSTILE = '=HYPERLINK("http://x")<script>alert(1)</script>'


def test_narratives_are_text_on_paper_and_in_excel(rows):
    few = rows.head(3).assign(description=HOSTILE, client_name=HOSTILE)
    page = prebill_page(few, title=HOSTILE, settings=SETTINGS)
    assert "<script" not in page
    assert html.escape("<script>alert(1)") in page
    book = openpyxl.load_workbook(io.BytesIO(prebill_workbook(few, settings=SETTINGS)))
    found = [cell for row in book["Items"].iter_rows(min_row=2) for cell in row if "HYPERLINK" in str(cell.value)]
    assert len(found) == 6
    assert all(cell.data_type == "s" and cell.value.startswith("'=") for cell in found)


@pytest.mark.slow
def test_the_same_rows_give_the_same_files(rows):
    assert prebill_workbook(rows, settings=SETTINGS) == prebill_workbook(rows, settings=SETTINGS)
    assert prebill_page(rows, settings=SETTINGS) == prebill_page(rows, settings=SETTINGS)


LONG = "Review and annotate the production of documents; confer with co-counsel about privilege. "


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_each_invoice_prints_on_one_sheet(rows, paper, tmp_path):
    """Even with long narratives, two hundred items, or one narrative longer than a page."""
    pytest.importorskip("playwright.sync_api")
    from billframes.report.html import print_pages

    longest = rows["invoice_id"].value_counts().index[0]
    many = rows[rows["invoice_id"] == longest]
    wordy = many.assign(invoice_id="w", description=[LONG * (nth % 7) for nth in range(len(many))])
    endless = many.head(2).assign(invoice_id="e", description=LONG * 100)
    every = pd.concat([rows, wordy, endless], ignore_index=True)
    (pdf,) = print_pages([prebill_page(every, data=dt.date(2026, 10, 31), settings=SETTINGS)], paper=paper)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == every["invoice_id"].nunique()
