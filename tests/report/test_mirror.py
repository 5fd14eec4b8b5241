"""The report from a mirror: without requests, and with the balances at the ends of earlier months."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes import cli, report
from billframes.mirror import Mirror
from billframes.report.figures import figures
from billframes.sandbox import Sandbox

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


@pytest.mark.slow
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
    with pytest.warns(bf.BillframesWarning, match="Balances are as loaded"):
        expected = then.aging(as_of="2026-09-30")["total"].iloc[0]
    assert owed.before == pytest.approx(expected)
    assert owed.mark == ""
    # There is no version from a year ago.
    assert owed.year_ago != owed.year_ago
    assert "Sep 2026 from the mirror as refreshed on" in report.headlines(month)._repr_html_()


def test_codes_that_a_mirror_does_not_have_are_counted_separately(mirrored):
    found = report.load("2026-10", client=mirrored).e_billing
    assert found.needed
    assert found.unknown_codes
    assert not {item for item, _ in found.unknown_codes} & set(found.findings["item_id"])
    assert f"The codes of {len(found.unknown_codes)} expenses and fixed fees are not known." in found.summary
