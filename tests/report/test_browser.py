"""The report in a real browser: it opens offline, fits its window, and prints."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from billframes import FirmSettings
from billframes.report.building import _page
from tests.firms import make_firm
from tests.report.test_firms import report_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def report_file(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("report_page") / "october.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report_page(browser, report_file):
    """The report in Chromium, with its requests and its messages on the console."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.requests, page.messages = [], []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("console", lambda message: page.messages.append(message.text))
    page.on("pageerror", lambda error: page.messages.append(str(error)))
    page.goto(report_file.as_uri())
    yield page
    context.close()


def test_it_sends_no_requests_and_logs_no_errors(report_page, report_file):
    strays = [url for url in report_page.requests if not url.startswith(("data:", report_file.as_uri()))]
    assert strays == []
    assert report_page.messages == []


def test_a_section_shows_its_finding_and_a_table_or_is_a_folded_line(report_page):
    assert report_page.locator("section:not(.ask) h2").all_inner_texts()[:6] == [
        "What stands out",
        "To do",
        "The month in figures",
        "Fees billed",
        "Hours and targets",
        "Realization",
    ]
    for section in report_page.locator("section:has(.finding)").all():
        assert section.locator("table:visible, figure:visible").count() >= 1
        # A table of the page has at most eight columns.
        assert all(row.count("\t") < 8 for row in section.locator("tbody tr:visible").all_inner_texts())
    folded = report_page.locator("section.quiet")
    assert folded.count() >= 2
    assert all(box_of(each)["height"] < 60 for each in folded.all())


def box_of(locator):
    return locator.bounding_box()


def test_bars_stand_right_of_their_numbers_and_begin_at_one_line(report_page):
    report_page.set_viewport_size({"width": 1280, "height": 900})
    for table in report_page.locator("table:has(td.bar i):visible").all():
        places = table.evaluate(
            """table => [...table.querySelectorAll("tbody tr:not(.group)")].flatMap(row => {
                const bar = row.querySelector("td.bar"), number = bar?.previousElementSibling
                return bar?.querySelector("i") && number
                    ? [[number.getBoundingClientRect().right, bar.querySelector("i").getBoundingClientRect().left]] : []
            })"""
        )
        assert places
        assert all(number <= bar for number, bar in places)


def test_lines_of_months_are_drawn_with_their_last_value(report_page):
    lines = report_page.locator("figure.line")
    assert lines.count() == 2
    for each in lines.all():
        assert box_of(each.locator("svg"))["width"] > 300
        assert re.search(r"\d", each.locator("s").inner_text())
        assert each.locator(".plot").get_attribute("aria-label")


@pytest.mark.parametrize("width", [900, 1280, 1900])
def test_the_page_fits_the_width_of_the_window(report_page, width):
    report_page.set_viewport_size({"width": width, "height": 900})
    assert report_page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_page_one_fits_the_first_screen_of_a_laptop(report_page):
    report_page.set_viewport_size({"width": 1280, "height": 900})
    report_page.evaluate("scrollTo(0, 0)")
    box = box_of(report_page.locator("section.page-one"))
    assert box["y"] + box["height"] <= 900


@pytest.mark.parametrize("width", [760, 900, 1280])
def test_a_months_name_is_on_one_line(report_page, width):
    report_page.set_viewport_size({"width": width, "height": 900})
    report_page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    lines = report_page.evaluate(
        """() => [...document.querySelectorAll("th")]
            .filter(each => /^[A-Z][a-z]{2} 20\\d\\d$/.test(each.textContent.trim()))
            .map(each => {
                const range = document.createRange()
                range.selectNodeContents(each)
                return [each.textContent.trim(), new Set([...range.getClientRects()].map(box => box.top)).size]
            })"""
    )
    assert len(lines) >= 3
    assert [name for name, count in lines if count > 1] == []


@pytest.mark.parametrize("width", [390, 900, 1280])
def test_a_heading_of_one_word_is_not_divided_at_its_hyphen(report_page, width):
    report_page.set_viewport_size({"width": width, "height": 900})
    report_page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    heights = report_page.evaluate(
        """() => [...document.querySelectorAll("thead th")]
            .filter(each => each.firstChild?.textContent.trim() === "Lock-up," && each.getClientRects().length)
            .map(each => {
                const range = document.createRange()
                range.selectNodeContents(each.firstChild)
                return range.getClientRects().length
            })"""
    )
    # A phone has no room for this column.
    assert heights == ([] if width == 390 else [1])


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext")
def test_on_paper_no_heading_within_a_table_is_the_last_row_of_a_page(report_page, tmp_path):
    for height in range(240, 300, 4):
        paper = report_page.pdf(width="210mm", height=f"{height}mm", prefer_css_page_size=False)
        (tmp_path / "report.pdf").write_bytes(paper)
        command = ["pdftotext", "-l", "2", "-layout", tmp_path / "report.pdf", "-"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for page in text.split("\f")[:2]:
            # The last line is the number of the page.
            last = [line.strip() for line in page.splitlines() if line.strip()][-2]
            assert not last.startswith(("Invoices dated", "Receivables aged", "Work in progress on", "Lock-up on")), (
                height
            )


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_it_prints_on_eight_to_fourteen_pages(report_page, paper):
    pdf = report_page.pdf(format=paper, prefer_css_page_size=False)
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 8 <= pages <= 14


def test_on_a_phone_a_name_is_above_its_figure_and_only_the_table_of_periods_scrolls(browser, report_file):
    context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
    page = context.new_page()
    page.goto(report_file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    wide = [
        each for each in page.locator(".scroll").all() if each.evaluate("each => each.scrollWidth > each.clientWidth")
    ]
    assert [each.get_attribute("aria-label") for each in wide] == ["The month in figures"]
    before = wide[0].locator("tbody th[scope=row]").first.bounding_box()["x"]
    assert wide[0].evaluate("each => { each.scrollLeft = 100; return each.scrollLeft; }") > 0
    assert wide[0].locator("tbody th[scope=row]").first.bounding_box()["x"] == before
    row = page.locator("#realization tbody tr").first
    name, figure = (row.locator(each).first.bounding_box() for each in ("th", "td"))
    assert name["y"] + name["height"] <= figure["y"] + figure["height"] / 2
    context.close()


def test_links_in_the_key_points_go_to_sections(report_page):
    links = report_page.locator(".points a:not(.to-ask)")
    assert links.count() >= 5
    for link in links.all():
        assert report_page.locator(f"section{link.get_attribute('href')}").count() == 1


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="needs pdftoppm")
def test_on_paper_only_the_last_page_can_be_nearly_empty(report_page, tmp_path):
    """A page is empty below its lowest dark pixel, above the page number. The first page stands alone."""
    (tmp_path / "report.pdf").write_bytes(report_page.pdf(format="A4", print_background=True))
    subprocess.run(["pdftoppm", "-r", "30", "-gray", tmp_path / "report.pdf", tmp_path / "page"], check=True)
    for path in sorted(tmp_path.glob("page-*.pgm"))[1:-1]:
        width, height, pixels = read_pgm(path.read_bytes())
        rows = [min(pixels[row * width : (row + 1) * width]) for row in range(int(height * 0.94))]
        lowest = max(row for row, darkest in enumerate(rows) if darkest < 200)
        # A section that fits a page is not divided.
        assert lowest > 0.4 * height, path.name


def read_pgm(content: bytes) -> tuple[int, int, bytes]:
    _, size, _, pixels = content.split(b"\n", 3)
    width, height = map(int, size.split())
    return width, height, pixels


# Each text with the colour behind it. A background that is not opaque is that of what is around it.
_CONTRASTS = """() => {
    const parts = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
        .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
        .reduce((sum, c, place) => sum + c * [.2126, .7152, .0722][place], 0);
    const behind = node => {
        for (let each = node; each; each = each.parentElement) {
            const [r, g, b, alpha] = parts(getComputedStyle(each).backgroundColor);
            if (alpha === undefined || alpha === 1) return [r, g, b];
        }
        return [255, 255, 255];
    };
    const texts = [...document.querySelectorAll("main *")].filter(each =>
        [...each.childNodes].some(one => one.nodeType === 3 && one.data.trim()) && each.getClientRects().length);
    return texts.map(each => {
        const ends = [light(parts(getComputedStyle(each).color)), light(behind(each))].sort((a, b) => a - b);
        return [(ends[1] + .05) / (ends[0] + .05), each.outerHTML.slice(0, 90)];
    });
}"""


def test_every_text_has_a_contrast_of_at_least_4_5_and_no_typeface_with_serifs(report_page):
    report_page.set_viewport_size({"width": 1280, "height": 900})
    report_page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    contrasts = report_page.evaluate(_CONTRASTS)
    typefaces = report_page.evaluate(
        "[...new Set([...document.querySelectorAll('body *')].map(each => getComputedStyle(each).fontFamily))]"
    )
    report_page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = false })")
    assert len(contrasts) > 500
    assert [each for each in contrasts if each[0] < 4.5] == []
    for each in typefaces:
        names = [name.strip(' "') for name in each.split(",")]
        assert names[-1] in {"sans-serif", "monospace"}
        assert len(names) > 3
        assert not {"system-ui", "serif", "ui-sans-serif"} & {*names}


_GAPS = """() => {
    document.querySelectorAll("details").forEach(each => { each.open = true });
    return [...document.querySelectorAll("main thead tr")].flatMap(row => {
        const boxes = [...row.children].filter(each => each.textContent.trim()).map(each => {
            const range = document.createRange();
            range.selectNodeContents(each);
            return [range.getBoundingClientRect(), each.textContent];
        }).filter(([box]) => box.width);
        return boxes.slice(1).map(([box, text], place) => [box.left - boxes[place][0].right, text]);
    });
}"""


def test_headings_of_columns_do_not_touch_also_beside_a_target_and_a_floor(browser):
    settings = FirmSettings(realization_floor=0.9, targets={"p0@firm.example": {"hours": 1_044, "period": "year"}})
    month = report_of(make_firm(3, taxes=(0.0,) * 3), settings=settings)
    html = _page(month, {}, narratives=False, announce=lambda _text: None, ask="")
    for width in (1280, 390):
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        page = context.new_page()
        page.set_content(html)
        gaps = page.evaluate(_GAPS)
        context.close()
        assert {"mark: target", "floor 90.0%"} <= {text for _, text in gaps}
        assert [each for each in gaps if each[0] < 3] == [], width
