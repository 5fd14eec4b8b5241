"""`billframes credits` writes a page and a workbook that add up to the fees, with what is nobody's first."""

from __future__ import annotations

import re

import openpyxl
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes.cli import main
from billframes.ledger.demo import sandbox_reports

OTHER = "[credits]\nfirm = 0.1\noriginating = 0.15\nresponsible = 0.1\n"


@pytest.fixture(autouse=True)
def configured(sandbox, monkeypatch, tmp_path):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "15.toml").write_text(OTHER)


def tables(page):
    """The rows of each table by its caption: the row's name and its cells."""
    found = {}
    for table in page.find_all("table"):
        rows = [[each.get_text(" ", strip=True) for each in row.find_all(["th", "td"])] for row in table.find_all("tr")]
        found[table.caption.get_text()] = [rows[0], *rows[1:]]
    return found


def number(text):
    return float(re.sub("[,+]", "", text).replace("−", "-"))


@pytest.mark.slow
def test_two_rules_are_side_by_side_for_each_person_and_matter(tmp_path, capsys, sandbox):
    words = ["--settings", str(sandbox.firm_settings), "--compare", "15.toml"]
    assert main(["credits", "2026", *words]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "Fees billed: 4,629,170.17, of which 61,755.79 belong to nobody."
    page = BeautifulSoup((tmp_path / "credits" / "credits.html").read_text("utf-8"), "html.parser")
    shown = tables(page)
    assert list(shown)[:3] == ["What belongs to nobody", "Whose the fees are", "Where the difference comes from"]
    findings = [each.get_text() for each in page.select(".finding")]
    assert findings[0].startswith("Of 4,629,170 of fees billed, 61,756 belongs to nobody, 462,917 to the firm, and")
    assert findings[1] == (
        "Under the other rule, Dolores Abernathy-Cruz would have 45,849 less and Priya Raman would have 20,110 more."
    )
    heads, *rows, total = shown["Whose the fees are"]
    assert heads[:4] == ["Person", "Credit", "Difference", "Other rule"]
    assert [row[0] for row in rows[:2]] == ["No one", "The firm"]
    assert total[1:4] == ["4,629,170", "0", "4,629,170"]
    assert abs(sum(number(row[2]) for row in rows)) <= len(rows) / 2
    assert len(shown["Where the difference comes from"]) == 12
    for name in (row[0] for row in rows[2:]):
        by_role, by_matter = shown[f"Credits of {name} by role"], shown[f"Credits of {name} by matter"]
        of_person = next(row for row in rows if row[0] == name)
        for column, place in (("Credit", 1), ("Difference", 2), ("Other rule", 3)):
            for heads, *parts, whole in (by_role, by_matter):
                total = number(whole[heads.index(column)])
                assert round(sum(number(row[heads.index(column)]) for row in parts), 2) == total, (name, column)
                assert abs(number(of_person[place]) - total) <= 0.5
    book = openpyxl.load_workbook(tmp_path / "credits" / "credits.xlsx")
    assert book.sheetnames == ["Nobody", "People", "Matters", "About"]
    for sheet in (book["People"], book["Matters"]):
        columns = [cell.value for cell in sheet[1]]
        for title in ("Credit", "Other rule"):
            values = [row[columns.index(title)] for row in sheet.iter_rows(min_row=2, values_only=True)]
            assert round(sum(values), 2) == 4_629_170.17, (sheet.title, title)


@pytest.mark.slow
def test_fees_collected_need_the_payments_of_the_books(tmp_path, capsys, client):
    files = sandbox_reports(tmp_path)
    words = ["credits", "2026-10", "--rule", "15.toml", "--base", "collected"]
    assert main(words) == 2
    assert "export Sales by Customer Detail, on cash basis, and pass it as --ledger" in capsys.readouterr().err
    assert main([*words, "--ledger", str(files["payments"])]) == 0
    book = bf.book("2026-10", client=client)
    paid = book.payments(bf.read_ledger(files["payments"]))
    total = book.fees_collected(paid, by=None)["collected_amount"].sum()
    assert f"Fees collected: {total:,.2f}" in capsys.readouterr().out


@pytest.mark.slow
def test_a_rule_that_is_missing_or_wrong_is_one_sentence(capsys, tmp_path):
    assert main(["credits", "2026-10"]) == 2
    assert "the firm's settings have no [credits]" in capsys.readouterr().err
    (tmp_path / "bad.toml").write_text('[credits.matters."9999-1"]\nfirm = 0.1')
    assert main(["credits", "2026-10", "--rule", "bad.toml"]) == 2
    assert "No matter has the name, reference or id '9999-1'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_page_fits_narrow_screens_and_shows_no_script(tmp_path, browser):
    assert main(["credits", "2026-10", "--rule", "15.toml", "--compare", "15.toml"]) == 0
    for width in (1280, 390):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto((tmp_path / "credits" / "credits.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("script").count() == 0
        assert "nobody's credit changes" in page.locator(".finding").nth(1).inner_text()
        page.close()
