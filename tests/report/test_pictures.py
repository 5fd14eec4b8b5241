"""Pictures of the page, the phone's page, the PDF and the workbook of firms of seven shapes, to be looked at.

They are written to `BILLFRAMES_PICTURES`, or else to a temporary folder.
"""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest

from billframes import FirmSettings
from billframes.report.ask import ask
from billframes.report.building import _page
from billframes.report.workbook import workbook
from tests.firms import FIRMS, make_firm
from tests.report.test_firms import TARGETS, VAT, report_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MONTHS = {
    "first month": lambda: report_of(FIRMS["first month"]()),
    "in progress with tax": lambda: report_of(
        make_firm(3, taxes=(0.19,) * 4), dt.date(2026, 10, 14), FirmSettings(taxes=[VAT], currency="EUR")
    ),
    "one lawyer": lambda: report_of(FIRMS["one lawyer"]()),
    "contingency": lambda: report_of(FIRMS["contingency only"]()),
    "fixed fees": lambda: report_of(FIRMS["fixed fees only"]()),
    "fiscal year": lambda: report_of(make_firm(3), settings=FirmSettings(fiscal_year_start=7, targets=TARGETS.targets)),
    "no settings": lambda: report_of(make_firm(4, taxes=(0.0,) * 9)),
}


@pytest.mark.sweep(keep=0)
@pytest.mark.parametrize("name", MONTHS)
def test_the_page_the_phone_and_the_paper_of_a_firm_are_complete(browser, tmp_path, name):
    out = Path(os.environ.get("BILLFRAMES_PICTURES", tmp_path))
    month = MONTHS[name]()
    html = _page(month, {"title": name}, narratives=False, announce=lambda _text: None, ask=ask(month, None)[0])
    for width in (1280, 390):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_content(html)
        page.screenshot(path=out / f"{name} {width}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        values = page.locator(".tile .value").all_inner_texts()
        assert values
        assert "–" not in values
        assert all(each.inner_text().strip() for each in page.locator(".quiet").all())
        page.close()
    page = browser.new_page()
    page.set_content(html.replace("<details", "<details open"))
    page.pdf(path=out / f"{name}.pdf", format="A4", print_background=True)
    page.close()
    (out / f"{name}.xlsx").write_bytes(workbook(month, title=name))
