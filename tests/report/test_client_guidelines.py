"""What clients may refuse or cut, in the month's to-do list, notes and workbook."""

from __future__ import annotations

from pathlib import Path

import pytest

import billframes as bf
from billframes import report
from billframes.errors import ConfigError
from billframes.guidelines.in_report import (
    ClientGuidelines,
    check_client_guidelines,
    compare_with_saved,
    save_check,
)
from billframes.report.to_do import to_do
from billframes.sandbox import Sandbox
from tests.report.conftest import sheets

pytestmark = pytest.mark.slow

FIRM = Path(Sandbox.__init__.__code__.co_filename).with_name("firm.toml")


@pytest.fixture(scope="module")
def month(firm):
    with bf.Client(firm.base_url, firm.tokens["full"], profile="") as client:
        return report.load("2026-10", settings=str(FIRM), client=client)


def test_the_month_has_the_findings_up_to_its_last_day(month):
    found = bf.Guidelines.read(month.firm_book.settings.guidelines).check(
        month.firm_book, end="2026-10-31", as_of="2026-10-31"
    )
    total = bf.Guidelines.summary(found).iloc[-1]
    assert month.parts["guidelines"].at_risk == float(total["at_risk"])
    assert month.parts["guidelines"].summary.startswith(f"Client guidelines: {total['items']} items of the work")
    said = "7 clients have billing guidelines, but no guideline file:"
    assert [each for each in month.notes if each.text("page").startswith(said)]


def test_the_to_do_list_and_the_workbook_have_the_amounts(month):
    rows = [each for each in to_do(month, most=0) if each.what.endswith("before billing")]
    cut = month.parts["guidelines"].findings.query("severity != 'review'")
    assert [each.person for each in rows] == ["Thomas Whitfield", "Grace Nakamura"]
    assert sum(each.amount for each in rows) == pytest.approx(ClientGuidelines(cut).at_risk)
    by_rule, findings = (each for each in sheets(month) if each.title in ("At risk by rule", "Client guidelines"))
    assert by_rule.total["at_risk"].iloc[0] == findings.total["at_risk"].iloc[0] == month.parts["guidelines"].at_risk
    assert len(findings.rows) == len(month.parts["guidelines"].findings) == by_rule.rows["findings"].sum()


def test_a_part_of_the_firm_has_its_own_findings(month):
    parts = [month.only(f"responsible:{name}").parts["guidelines"] for name in ("Thomas Whitfield", "Grace Nakamura")]
    assert sum(each.at_risk for each in parts) == pytest.approx(month.parts["guidelines"].at_risk)
    other = month.only("responsible:Miriam Harrow").parts["guidelines"]
    assert other.summary == "Client guidelines: the work that is not on a final invoice has no findings."


def test_a_firm_without_guideline_files_sees_nothing_of_them(october):
    found = check_client_guidelines(october.firm_book, october.last)
    assert (found.findings, found.summary, found.at_risk) == (None, "", 0.0)


def test_the_month_says_how_many_saved_findings_are_unchanged(month, tmp_path):
    found = month.parts["guidelines"].findings
    path = tmp_path / "last-check.csv"
    save_check(
        found.assign(item_id=found["item_id"].where(found["rule"] != "rates", "mended")), str(tmp_path), month.last
    )
    same = found[found["rule"] != "rates"][["item_id", "rule"]].dropna().drop_duplicates()
    said = compare_with_saved(found, path)
    assert (
        said
        == f"Of the {len(same) + 1} findings on items that were saved on 31 October 2026, {len(same)} are unchanged."
    )
    assert not set(path.read_text("utf-8-sig").split(",")) & set(month.book.time_entries["description"])
    path.write_text("a,b", "utf-8")
    with pytest.raises(ConfigError, match="is not a saved check"):
        compare_with_saved(found, path)
    assert compare_with_saved(found, tmp_path / "none.csv") == ""
