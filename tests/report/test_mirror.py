"""The report from a mirror: without requests, and with the balances at the ends of earlier months."""

from __future__ import annotations

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes import cli, report
from billframes.ledger.writing import write_report
from billframes.mirror import Mirror
from billframes.report.figures import figures
from billframes.report.outline import OUTLINE
from billframes.sandbox import Sandbox

pytestmark = pytest.mark.slow

pytest.importorskip("deltalake")


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory) -> Mirror:
    """A mirror whose server has been stopped."""
    path = tmp_path_factory.mktemp("mirror") / "firm"
    with Sandbox() as sandbox, bf.connect(sandbox.base_url, sandbox.tokens["full"], progress=False) as client:
        made = bf.mirror(path, client=client)
        made.refresh(progress=False)
    made.tag("2026-09 close")
    return bf.mirror(path)


def test_the_command_writes_the_page_without_a_request(mirrored, tmp_path):
    out = tmp_path / "october.html"
    assert cli.main(["report", "2026-10", "--mirror", mirrored.path, "--out", str(out)]) == 0
    page = BeautifulSoup(out.read_text(encoding="utf-8"), "html.parser")
    assert page.select_one("h1").get_text(" ", strip=True) == "October 2026"
    assert len(page.select("section")) > 8


def test_receivables_of_a_tagged_version_are_shown_beside_those_of_the_month(mirrored):
    month = report.load("2026-10", client=mirrored)
    owed = {each.name: each for each in figures(month)}["Receivables"]
    then = mirrored.as_of("2026-09 close").book("2026-09")
    with pytest.warns(bf.errors.BillframesWarning, match="Balances are as loaded"):
        expected = then.aging(as_of="2026-09-30")["total"].iloc[0]
    assert owed.by_period[1] == pytest.approx(expected)
    assert owed.mark == ""
    # There is no version from a year ago.
    assert owed.by_period[2] != owed.by_period[2]
    assert "Sep 2026 from the mirror as refreshed on" in report.headlines(month)._repr_html_()


def test_a_month_that_nobody_changed_since_its_close_is_not_mentioned(mirrored):
    assert report.restated(report.load("2026-10", client=mirrored)) is None


def test_codes_that_a_mirror_does_not_have_are_counted_separately(mirrored):
    found = report.load("2026-10", client=mirrored).parts["ebilling"]
    assert found.needed
    assert found.unknown_codes
    assert not {item for item, _ in found.unknown_codes} & set(found.findings["item_id"])
    assert f"The codes of {len(found.unknown_codes)} expenses and fixed fees are not known." in found.summary


def sales(folder, name, period, *rows):
    """Write the payments of some days: the day, the invoice's number, and cents."""
    headings = ("Transaction date", "Transaction type", "Num", "Amount")
    lines = [[pd.Timestamp(day).date(), "Invoice", number, cents] for day, number, cents in rows]
    content = write_report("Sales by Customer Detail", period, headings, {"Acme": lines}, basis="Cash Basis")
    (folder / name).write_bytes(content)
    return str(folder / name)


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_payments_of_earlier_months_are_kept_and_a_restated_month_is_told(mirrored, tmp_path):
    early = sales(tmp_path, "to_september.csv", "January-September, 2026", ("2026-09-20", "x1", 50_000))
    report.load("2026-09", client=mirrored, ledger=[early])
    october = sales(tmp_path, "october.csv", "October, 2026", ("2026-10-20", "x2", 70_000))
    month = report.load("2026-10", client=mirrored, ledger=[october])
    assert month.parts["ledger"].covers(month.first_of_year)
    assert month.parts["ledger"].payments["amount"].to_list() == [500.0, 700.0]
    assert not any("restated" in each for each in month.remarks)
    # Without a file, what was kept counts; a file that was read twice is kept once.
    again = report.load("2026-10", client=mirrored)
    assert again.parts["ledger"].payments["amount"].to_list() == [500.0, 700.0]
    other = sales(
        tmp_path, "year.csv", "January-October, 2026", ("2026-09-20", "x1", 40_000), ("2026-10-20", "x2", 70_000)
    )
    month = report.load("2026-10", client=mirrored, ledger=[other])
    assert month.parts["ledger"].payments["amount"].to_list() == [400.0, 700.0]
    (said,) = [each for each in month.remarks if "restated" in each]
    assert said.startswith("The books restated 2026-09: year.csv has 400.00, and to_september.csv, which was read bef")


def test_the_report_says_by_how_much_a_closed_month_changed(tmp_path):
    with Sandbox() as sandbox, bf.connect(sandbox.base_url, sandbox.tokens["full"], progress=False) as client:
        made = bf.mirror(tmp_path / "firm", client=client)
        made.refresh(progress=False)
        made.tag("2026-09 close")
        entries = client.time_entries("2026-09", billed=False, billing_type="billable")
        late = entries.iloc[0]
        client.time_entries.delete(late["time_entry_id"])
        client.time_entries.update(entries["time_entry_id"][1], date="2026-10-01")
        billed = client.invoices("2026-09", invoice_state="final").query("amount > 1000").iloc[0]
        sandbox.admin.void(billed["invoice_id"])
        made.refresh(progress=False)
    change = -float(entries["amount"].head(2).sum())
    month = report.load("2026-10", client=made)
    text = BeautifulSoup(report.restated(month)._repr_html_(), "html.parser").get_text(" ", strip=True)
    amount = f"{abs(change):,.2f}"
    fees = made.restated("2026-09 close", "fees_amount")["change"].iloc[0]
    assert fees < 0
    sentence = f"September 2026 was restated by −{amount}, and its fees by −{abs(fees):,.2f}, since its close."
    assert sentence in text
    by_cause, by_record = next(each for each in OUTLINE if each.name == "restated").made(month)
    assert by_cause.rows["cohort_amount"].sum() == pytest.approx(change)
    assert {*entries["time_entry_id"].head(2)} < {*by_record.rows["record_id"]}
    assert by_record.rows["fees_amount"].sum() == pytest.approx(fees)
    assert by_record.rows["cohort_amount"].sum() == pytest.approx(change)
    # A part of the firm does not have it.
    assert report.restated(month.only("client:" + late["client_id"])) is None
