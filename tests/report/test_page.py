"""The finished page: its numbers equal those of the database, and it needs no other file."""

from __future__ import annotations

import re
import sqlite3
from decimal import ROUND_HALF_UP, Decimal

import pandas as pd
import pytest

from billframes.analysis.declare.metrics import Measure
from billframes.report.page_table import MOST_COLUMNS, page_table
from billframes.report.table_spec import ReportTable

SCALE = 10_000
OCTOBER = "BETWEEN '2026-10-01' AND '2026-10-31'"
COUNTED = "matter_type NOT IN ('contingency', 'probono', 'internal')"


@pytest.fixture(scope="module")
def query(firm):
    database = sqlite3.connect(firm.database)
    yield lambda sql: [value / SCALE for value in database.execute(sql).fetchone()]
    database.close()


@pytest.fixture(scope="module")
def rows(page):
    """The cells of each table row, by section heading and row heading."""
    found = {}
    for section in page.find_all("section"):
        for row in section.select("tbody tr"):
            heading = row.find("th").get_text().rstrip("*†")
            cells = [cell.get_text() for cell in row.select("td:not(.bar)")]
            found.setdefault((section.h2.get_text(), heading), cells)
    return found


def money(value: float) -> str:
    # Halves are rounded away from 0, as in Excel; sums of the same cents differ in their last digits.
    return f"{Decimal(f'{value:.12g}').quantize(Decimal(1), ROUND_HALF_UP):,}".replace("-", "−")


@pytest.mark.slow
def test_the_cash_of_three_horizons_is_rounded_and_says_once_that_it_is_not_checked(page):
    section = page.select_one("#receivables")
    (table,) = [each for each in section.select("table") if "Cash that may come in" in each.get_text()]
    amounts = [int(row.td.get_text().replace(",", "")) for row in table.select("tbody tr")]
    assert len(amounts) == 3
    assert amounts == sorted(amounts)
    assert all(each % 10_000 == 0 for each in amounts)
    assert page.get_text().count("compared with what came in") == 1


def figure(rows, name: str) -> str:
    return rows["The month in figures", name][0]


def test_client_hours_and_utilization_equal_the_database(query, rows):
    (client,) = query(
        f"""SELECT SUM(hours) FROM time_entry JOIN matter USING (matter_id)
        WHERE date {OCTOBER} AND billing_type IN ('billable', 'fixedFee') AND matter_type <> 'internal'"""
    )
    (people,) = query(
        "SELECT COUNT(*) * 10000 FROM user WHERE role IN ('principal','attorney','paralegal','timekeeper')"
    )
    # October 2026 has 22 working days, and there are no settings.
    assert figure(rows, "Client hours") == f"{client:,.1f}"
    assert figure(rows, "Utilization") == f"{client / (people * 22 * 8):.1%}"
    assert rows["Hours and targets", "Total"][0] == f"{client:,.1f}"


def test_hours_of_a_timekeeper_equal_the_database(query, rows):
    (client,) = query(
        f"""SELECT SUM(hours) FILTER (WHERE billing_type <> 'nonBillable' AND matter_type <> 'internal')
        FROM time_entry JOIN matter USING (matter_id) JOIN user USING (user_id)
        WHERE date {OCTOBER} AND last_name = 'Whitfield'"""
    )
    cells = rows["Hours and targets", "Thomas Whitfield"]
    assert cells[:3] == [f"{client:.1f}", "176.0", f"{client / 176:.1%}"]


def test_fees_worked_are_the_months_billable_time(query, rows):
    worth, open_ = query(
        f"""SELECT SUM(t.amount), SUM(t.amount) FILTER (WHERE invoice_state IS NOT 'final')
        FROM time_entry t JOIN matter USING (matter_id) LEFT JOIN invoice USING (invoice_id)
        WHERE date {OCTOBER} AND billing_type = 'billable' AND {COUNTED}"""
    )
    assert figure(rows, "Value of time worked") == money(worth)
    assert figure(rows, "of which on no final invoice yet") == money(open_)


def test_a_note_says_what_fees_worked_leaves_out(query, page):
    hours, worth = query(
        f"""SELECT SUM(hours), SUM(amount) FROM time_entry JOIN matter USING (matter_id)
        WHERE date {OCTOBER} AND billing_type = 'billable' AND NOT {COUNTED}"""
    )
    words = page.select_one("#headlines .about").get_text()
    assert f"{hours:,.1f} billable hours worth {money(worth)} on contingency" in words
    assert "are not counted in the value of time worked" in words


NET = f"""
WITH work AS (
    SELECT invoice_id, matter_type, practice_area_id, amount FROM time_entry JOIN matter USING (matter_id)
    WHERE billing_type = 'billable' AND invoice_id IS NOT NULL
), net AS (
    SELECT invoice_id, amount, balance, amount
        - COALESCE((SELECT SUM(amount) FROM expense e WHERE e.invoice_id = i.invoice_id), 0)
        - COALESCE((SELECT SUM(amount) FROM fixed_fee f WHERE f.invoice_id = i.invoice_id), 0) AS fees,
        (SELECT SUM(amount) FROM work w WHERE w.invoice_id = i.invoice_id) AS worth
    FROM invoice i WHERE invoice_state = 'final' AND invoice_date {OCTOBER}
), part AS (
    SELECT practice_area_id, w.amount AS worked, 1.0 * fees * w.amount / worth AS billed, n.amount, balance
    FROM work w JOIN net n USING (invoice_id) WHERE worth <> 0 AND {COUNTED}
    UNION ALL
    SELECT NULL, 0, fees, amount, balance FROM net WHERE COALESCE(worth, 0) = 0
)
SELECT SUM(worked), SUM(billed), SUM(CASE WHEN amount = 0 THEN 0 ELSE billed * (amount - balance) / amount END)
FROM part
"""


def test_fees_billed_and_realization_equal_the_database(query, rows):
    worked, billed, settled = query(NET)
    assert figure(rows, "Fees billed") == money(billed)
    assert figure(rows, "Value of time billed") == money(worked)
    assert figure(rows, "Written down") == money(worked - billed)
    assert figure(rows, "Billing realization") == f"{billed / worked:.1%}"
    assert figure(rows, "Settled share") == f"{settled / billed:.1%}"
    total = rows["Realization", "Total"]
    assert total[:4] == [money(worked - billed), money(worked), money(billed), f"{billed / worked:.1%}"]


def test_fees_of_a_practice_area_equal_the_database(query, rows):
    worked, billed, _ = query(
        f"{NET} WHERE practice_area_id = (SELECT practice_area_id FROM practice_area WHERE label = 'Litigation')"
    )
    cells = rows["Realization", "Litigation"]
    assert cells[:4] == [money(worked - billed), money(worked), money(billed), f"{billed / worked:.1%}"]


def test_receivables_by_age_equal_the_database(query, rows):
    late = "julianday('2026-10-31') - julianday(COALESCE(due_date, invoice_date))"
    ages = ["<= 0", "BETWEEN 1 AND 30", "BETWEEN 31 AND 60", "BETWEEN 61 AND 90", "> 90"]
    columns = [*(f"balance > 0 AND {late} {age}" for age in ages), "balance < 0", "TRUE", f"balance > 0 AND {late} > 0"]
    sums = ", ".join(f"COALESCE(SUM(balance) FILTER (WHERE {each}), 0)" for each in columns)
    owed = query(f"SELECT {sums} FROM invoice WHERE invoice_state = 'final' AND invoice_date <= '2026-10-31'")
    names = ("Current", "1–30 days", "31–60 days", "61–90 days", "91+ days", "Unused credits", "Receivables")
    assert [rows["Receivables and cash", name] for name in names] == [[money(value)] for value in owed[:7]]
    assert rows["Receivables and cash", "Overdue"][0] == money(owed[7])
    names = ("of which unused credits", "Receivables", "of which overdue")
    assert [figure(rows, name) for name in names] == [money(value) for value in owed[5:]]
    assert owed[5] < 0


def test_the_twelve_months_end_with_the_headline_figures(rows, page):
    lines = page.select("#trends figure")
    assert [each.s.get_text() for each in lines] == [figure(rows, "All fees"), figure(rows, "Billing realization")]
    assert all(len(each.select(".months span")) == 12 for each in lines)


def test_earlier_receivables_are_not_shown_if_unknown(rows):
    assert set(rows["The month in figures", "Receivables"][1:]) == {""}
    assert any("no earlier balances are known" in key for _, key in rows)


def test_the_page_has_no_links_to_other_files(html):
    assert html.count("<script") == 2
    assert not re.search(r"https?://|<link|@import|url\(|fetch|XMLHttp|import ?\(|src=", html)
    assert "default-src 'none'" in html


def test_no_table_of_the_page_has_more_columns_than_fit(page):
    for table in page.select("section:not(.page-one) table:not(.figures)"):
        for row in table("tr"):
            assert len(row.find_all(["th", "td"])) <= MOST_COLUMNS


def test_each_section_begins_with_its_finding_or_is_a_folded_line(page):
    sections = page.select("section:not(.page-one, .notes, .definitions, .ask)")
    assert len(sections) >= 8
    for section in sections:
        folded = "quiet" in section["class"] if section.get("class") else False
        assert folded != (section.select_one("p.finding") is not None), section.h2.get_text()
    findings = [each.get_text() for each in page.select("p.finding")]
    assert all(re.search(r"\d", each) and each.endswith(".") for each in findings)
    assert {each.get_text() for each in page.select(".points a")}.isdisjoint(findings)


def test_a_list_of_clients_has_the_largest_and_the_others_in_one_row(page):
    for section in ("#realization", "#work-in-progress"):
        (folded,) = page.select(f"{section} details.list")
        assert re.match(r"By client: \d+ clients", folded.summary.get_text())
    *listed, others, _total = page.select("#realization details.list tbody th")
    assert len(listed) == 7
    assert re.match(r"All other clients \(\d+\)", others.get_text())


def test_rows_of_the_to_do_list_are_linked_to_rows_of_the_page(page):
    links = [each["href"].removeprefix("#") for each in page.select(".to-do a, .points a")]
    there = {each["id"] for each in page.select("[id]")}
    assert set(links) <= there
    assert len([each for each in links if "/" in each]) >= 3


def test_names_are_shown_as_text(html, page):
    assert "<script>alert" not in html
    assert "<script>alert('x')</script> & Söhne $5 $6" in [cell.get_text() for cell in page.select("tbody th")]
    assert page.select_one(".firm").get_text() == "Bold <b>&</b> Sons"


def test_no_credential_and_no_narrative_is_on_the_page(firm, html, query):
    assert not any(token in html for token in firm.tokens.values())
    database = sqlite3.connect(firm.database)
    texts = {text for (text,) in database.execute(f"SELECT description FROM time_entry WHERE date {OCTOBER}")}
    database.close()
    assert len(texts) > 100
    assert not any(text in html for text in texts)


def test_no_code_and_no_prompt_is_on_the_page(html):
    assert "import billframes" not in html
    assert "parameters" not in html


def test_headings_and_tables_can_be_found_by_a_screen_reader(page):
    assert [heading.get_text(" ", strip=True) for heading in page.select("h1")] == ["October 2026"]
    for table in page.select("table"):
        assert table.caption or page.find(id=table["aria-labelledby"]).get_text()
    assert all(head.get("scope") for head in page.select("th"))
    assert page.html["lang"] == "en"


def test_notes_say_what_each_table_means_and_leaves_out(page):
    for section in page.select("section:not(.ask)"):
        assert section.select(".about p, li, dd"), section.h2.get_text()
    realization = page.select_one("#realization")
    assert "contingency, pro bono" in realization.select_one(".about").get_text()


def test_no_caption_is_repeated_and_nobody_without_hours_is_listed(page):
    for section in page.select("section:has(h2)"):
        captions = [caption.get_text() for caption in section.select("caption")]
        assert section.h2.get_text() not in captions
        assert len(captions) == len(set(captions))
    people = page.select("#utilization tbody tr:not(.total, .group)")
    assert people
    assert [each.th.get_text() for each in people if each.td.get_text() in {"0.0", "–"}] == []


def test_a_total_outside_0_to_100_percent_is_named_in_the_explanation():
    pace = Measure("pace", "Pace", "ratio", "", above="more than the target")
    people, total = pd.DataFrame({"user_name": ["Ada", "Ben"], "pace": [1.2, 0.9]}), pd.DataFrame({"pace": [1.1]})
    table = ReportTable(title="", label="user_name", rows=people, total=total, columns=(pace,))
    notes = page_table(table, people).counts
    assert list(notes) == ["‡ Pace above 100%: Ada, Total (more than the target)."]
    # A table of one row has no total.
    alone = page_table(table, people.head(1)).counts
    assert list(alone) == ["‡ Pace above 100%: Ada (more than the target)."]


def test_notes_have_typographic_apostrophes(page):
    notes = [each.get_text() for each in page.select(".about p")]
    assert any("client’s" in each for each in notes)
    assert [each for each in notes if "'" in each] == []


def test_each_ratio_outside_0_to_100_percent_has_an_explanation(page):
    marked = [section for section in page.select("section") if section.select("td.outside")]
    assert marked
    for section in marked:
        assert "‡" in section.select_one(".about").get_text(), section.h2.get_text()


def test_the_page_has_no_code_names_and_two_names_for_the_two_worths_of_work(page):
    words = page.get_text(" ")
    assert re.findall(r"\bAPI\b|=False|=True|nonBillable|fixedFee|_amount|_ratio", words) == []
    headings = {each.get_text(" ", strip=True) for each in page.select("th")}
    assert "Worked" not in headings
    assert {"Value of time worked", "Value of time billed"} <= headings


def test_a_table_says_if_its_rounded_rows_do_not_add_up_to_the_total():
    amount = Measure("amount", "Amount", "money", "", adds_up=True)

    def rounded(values, total):
        rows = pd.DataFrame({"client_name": list("abc"), "amount": values})
        whole = pd.DataFrame({"amount": [total]})
        table = ReportTable(title="T", label="client_name", rows=rows, total=whole, columns=(amount,))
        return any("rounded" in each for each in page_table(table, rows).counts)

    assert rounded([0.4, 0.4, 0.4], 1.2)
    assert not rounded([1.0, 2.0, 3.0], 6.0)
    # Other rows are in the total, too, as a note of the table says.
    assert not rounded([1.0, 2.0, float("nan")], 9.0)


@pytest.mark.parametrize("section", ["changes", "realization", "work-in-progress", "concentration"])
def test_amounts_of_a_table_add_up_or_it_says_that_they_are_rounded(page, section):
    section = page.select_one(f"#{section}")
    table = section.table
    texts = [
        [cell.get_text().lstrip("+").replace(",", "").replace("−", "-") for cell in row("td")]
        for row in table.tbody("tr")
    ]
    columns = [
        list(map(int, each)) for each in zip(*texts, strict=True) if all(map(re.compile(r"-?\d+").fullmatch, each))
    ]
    off = [sum(each[:-1]) - each[-1] for each in columns]
    # Some columns, such as numbers of invoices, have no sum.
    off = [each for each in off if abs(each) <= len(texts) / 2]
    assert off
    assert not any(off) or "Rows are rounded" in section.select_one(".about").get_text()
