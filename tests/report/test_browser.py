"""The report in a real browser: it opens offline, fits its window, and prints."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report_file(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("seen") / "october.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def seen(browser, report_file):
    """The report as Chromium shows it, with whatever it asked the network for or complained of."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.asked, page.complaints = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(report_file.as_uri())
    yield page
    context.close()


def test_it_asks_the_network_for_nothing_and_has_no_complaints(seen, report_file):
    strays = [url for url in seen.asked if not url.startswith(("data:", report_file.as_uri()))]
    assert strays == []
    assert seen.complaints == []


def test_every_section_has_a_table_that_is_shown(seen):
    headings = seen.locator("h2").all_inner_texts()
    assert headings[:4] == [
        "The month in figures",
        "Utilization by timekeeper",
        "Realization by practice area",
        "Realization by client",
    ]
    assert seen.locator("table:visible").count() >= 5
    assert all(box["width"] > 300 and box["height"] > 60 for box in map(box_of, seen.locator("table").all()))


def box_of(locator):
    return locator.bounding_box()


def test_charts_are_drawn(seen):
    charts = seen.locator("img.chart").all()
    assert len(charts) >= 5
    assert all(box_of(chart)["width"] > 300 for chart in charts)
    assert all(chart.get_attribute("alt") for chart in charts)


@pytest.mark.parametrize("width", [900, 1280, 1900])
def test_nothing_sticks_out_sideways(seen, width):
    seen.set_viewport_size({"width": width, "height": 900})
    assert seen.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_it_prints_on_a_handful_of_pages(seen, paper):
    pdf = seen.pdf(format=paper, prefer_css_page_size=False)
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 3 <= pages <= 6
