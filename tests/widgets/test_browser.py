"""The panel in a real browser, in JupyterLab and as a Voila page: click, read the numbers back, compare with pandas."""

from __future__ import annotations

import itertools
import re
import sqlite3
from contextlib import closing, contextmanager

import pandas as pd
import pytest
from playwright.sync_api import expect

import billframes as bf
from billframes.sandbox import Sandbox
from tests.widgets import servers
from tests.widgets.conftest import HOSTILE_NAME

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PANEL = """import billframes as bf
entries = bf.enrich(bf.time_entries())
panel = bf.widgets.filter_panel(entries)
panel"""


EDITS = """import billframes as bf
panel = bf.widgets.filter_panel(bf.time_entries("2026-10", billed=False))
panel.state = {"billing_type": ["nonBillable"]}
edited = panel.frame.head(5).assign(description="Edited from the <b>panel</b>")
bf.widgets.apply_button(bf.time_entries.plan(edited))"""


EXPLORER = """import billframes as bf
bf.explore(bf.book("2026-Q3"))"""
NAMELESS = """() => [...document.querySelectorAll('.bf-panel :is(input, select, button)')]
    .filter(each => each.offsetParent && !(each.labels?.[0]?.innerText || each.innerText).trim())
    .map(each => each.outerHTML)"""


@pytest.fixture(scope="module")
def firm():
    """The seeded firm; the client with most work has a script and a formula as its name."""
    with Sandbox() as sandbox, sqlite3.connect(sandbox.database) as database:
        database.execute(
            """UPDATE client SET name = ? WHERE client_id = (
                SELECT client_id FROM matter JOIN time_entry USING (matter_id)
                GROUP BY client_id ORDER BY COUNT(*) DESC LIMIT 1)""",
            [HOSTILE_NAME],
        )
        database.commit()
        yield sandbox
    database.close()


@pytest.fixture(scope="module")
def entries_there(firm):
    with bf.Client(firm.base_url, firm.tokens["full"]) as client:
        return bf.enrich(client.time_entries(), client=client)


@pytest.fixture(scope="module")
def jupyter(firm, tmp_path_factory):
    """A folder with the notebooks, and the environment of servers and kernels."""
    home = tmp_path_factory.mktemp("jupyter")
    (home / "explorer.ipynb").write_text(servers.notebook(EXPLORER), encoding="utf-8")
    (home / "edits.ipynb").write_text(servers.notebook(EDITS), encoding="utf-8")
    (home / "panel.ipynb").write_text(servers.notebook(PANEL), encoding="utf-8")
    return home, servers.environment(
        tmp_path_factory.mktemp("home"), BILLFRAMES_BASE_URL=firm.base_url, BILLFRAMES_TOKEN=firm.tokens["full"]
    )


@pytest.fixture(scope="module")
def voila(jupyter):
    with servers.voila(*jupyter) as address:
        yield lambda page, name: page.goto(
            address.format(f"voila/render/{name}"), wait_until="domcontentloaded", timeout=90_000
        )


@pytest.fixture(scope="module")
def lab(jupyter):
    with servers.lab(*jupyter) as address:
        yield lambda page, name: servers.run_in_lab(page, address, name)


@contextmanager
def watched(browser):
    """A page that can connect only to this machine, with its errors and dialogs."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.route(lambda url: not url.startswith(("http://127.0.0.1", "data:", "blob:")), lambda route: route.abort())
    context.set_default_timeout(90_000)
    page = context.new_page()
    page.errors = []
    page.on("dialog", lambda dialog: (page.errors.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    context.close()


@pytest.fixture
def page(browser):
    with watched(browser) as page:
        yield page


@pytest.fixture(scope="module")
def panel_page(browser, voila):
    """The panel in Voila. Several tests share it, because a kernel takes seconds to start."""
    with watched(browser) as page:
        voila(page, "panel.ipynb")
        expect(page.locator(".bf-count").first).to_contain_text("rows")
        yield page


@pytest.fixture(params=["voila", "lab"])
def panel(request):
    """The panel in Voila and in JupyterLab, without filters."""
    if request.param == "voila":
        return request.getfixturevalue("panel_page")
    page = request.getfixturevalue("page")
    request.getfixturevalue("lab")(page, "panel.ipynb")
    expect(page.locator(".bf-count").first).to_contain_text("rows")
    return page


def rows_shown(page) -> int:
    return int(re.match(r"[\d,]+", page.locator(".bf-count").first.inner_text())[0].replace(",", ""))


def open_filter(page, name: str) -> None:
    """Open a filter, if an earlier test has not left it open."""
    inside, toggle = page.locator(f".bf-{name} input").first, page.locator(f".bf-{name} .bf-toggle")
    if not toggle.is_visible():
        for group in page.locator(".bf-group", has_text="▸").all()[::-1]:
            group.click()
        expect(toggle).to_be_visible()
    if not inside.is_visible():
        page.locator(f".bf-{name} .bf-toggle").click()
    expect(inside).to_be_visible()


def settle(page, wanted: int) -> None:
    expect(page.locator(".bf-count").first).to_contain_text(re.compile(rf"^\s*{wanted:,} of"))
    assert rows_shown(page) == wanted


def test_every_control_is_labelled_and_the_page_fits_the_window(panel_page):
    page = panel_page
    for name in ("client-id", "billing-type", "matter-cf-trial-date", "matter-cf-budget"):
        open_filter(page, name)
    assert page.evaluate(NAMELESS) == []
    for width in (390, 900, 1280, 1900):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), width


def test_clicks_filter_and_the_numbers_equal_those_of_pandas(panel, entries_there):
    page, work = panel, entries_there
    settle(page, len(work))
    page.locator(".bf-quick select").select_option("Last month")
    september = work[work["date"].between("2026-09-01", "2026-09-30")]
    settle(page, len(september))

    open_filter(page, "client-id")
    page.get_by_label("Search 58").fill("söhne")
    option = page.locator(".bf-client-id .widget-checkbox")
    expect(option).to_have_count(1)
    of_client = september[september["client_name"] == HOSTILE_NAME]
    # The name is shown unchanged. It is neither run as a script nor rendered as a formula.
    expect(option).to_have_text(f"{HOSTILE_NAME} ({len(of_client):,})")
    option.locator("input").check()
    settle(page, len(of_client))

    open_filter(page, "billing-type")
    page.get_by_label(re.compile("^Billable")).check()
    settle(page, int((of_client["billing_type"] == "billable").sum()))
    expect(page.locator(".bf-summary")).to_contain_text("Billing type: Billable")

    page.locator(".bf-chip", has_text="Client").click()
    settle(page, int((september["billing_type"] == "billable").sum()))
    page.locator(".bf-clear").click()
    settle(page, len(work))
    assert page.errors == []


# The last one on this page, because it leaves a filter chosen.
def test_the_panel_works_with_the_keyboard(panel_page, entries_there):
    page = panel_page
    settle(page, len(entries_there))
    page.locator(".bf-billed .bf-toggle").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".bf-billed input")).to_have_count(2)
    page.locator(".bf-billed .bf-toggle").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    label = page.locator(".bf-billed .widget-checkbox").first.inner_text()
    settle(page, int((entries_there["billed"] == label.startswith("Billed")).sum()))


def test_the_explorer_follows_the_filters_and_shows_the_rows_behind_a_bar(page, voila, entries_there):
    voila(page, "explorer.ipynb")
    expect(page.locator(".bf-report .tile").first).to_be_visible()
    page.locator(".bf-tabs .lm-TabBar-tab", has_text="Utilization").click()
    hours = page.locator(".bf-tiles:visible dd").first
    counted = entries_there[
        entries_there["billing_type"].isin(["billable", "fixedFee"])
        & (entries_there["matter_type"] != "internal")
        & entries_there["date"].between("2026-07-01", "2026-09-30")
    ]
    expect(hours).to_have_text(f"{counted['hours'].sum():,.1f}")

    page.locator(".bf-unfold").click()
    page.locator(".bf-user-id .bf-toggle").click()
    option = page.locator(".bf-user-id .widget-checkbox").first
    expect(option).to_be_visible()
    name = option.inner_text().rpartition(" (")[0]
    option.locator("input").check()
    mine = counted[counted["user_name"] == name]
    expect(hours).to_have_text(f"{mine['hours'].sum():,.1f}")

    # Figures are shown before their chart. Until it is drawn, the bars are those of the old chart.
    expect(page.locator(".bf-view.bf-busy:visible")).to_have_count(0)
    page.get_by_role("button", name=f"Show the rows behind {name}").press("Enter")
    expect(page.locator(".bf-drill:visible caption")).to_have_text(
        f"{name}: {len(mine):,} rows, client hours {mine['hours'].sum():,.1f}"
    )
    with page.expect_download() as download:
        page.locator(".bf-drill:visible a", has_text="CSV").click()
    rows = pd.read_csv(download.value.path(), encoding="utf-8-sig")
    assert rows["Client hours"].sum() == pytest.approx(mine["hours"].sum())
    for width in (390, 900, 1280, 1900):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), width

    # A click on a heading sorts the table, and a row opens its records.
    heading = page.locator(".bf-table:visible thead th", has_text="Non-billable hours").last
    heading.locator("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")

    # On a laptop no table scrolls sideways, whatever the size of its figures. It shows its main columns, until all are
    # wanted.
    page.locator(".bf-clear").click()
    page.locator(".bf-tabs .lm-TabBar-tab", has_text="Scorecard").click()
    table = page.locator(".bf-scroll:visible", has_text="Median lag")
    expect(table).to_be_visible()
    for width, is_narrow in ((1280, True), (1900, False)):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator("th:visible", has_text="Median lag")).to_have_count(int(not is_narrow))
        expect(page.locator(".bf-all:visible")).to_have_count(int(is_narrow))
        assert table.evaluate("each => each.scrollWidth <= each.clientWidth"), width
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator(".bf-all:visible input").check()
    expect(page.locator("th:visible", has_text="Median lag")).to_have_count(1)
    page.set_viewport_size({"width": 1280, "height": 300})
    page.locator(".bf-table:visible tbody td:visible").first.click()
    expect(page.locator(".bf-drill:visible caption")).to_contain_text("client hours")
    expect(page.locator(".bf-drill:visible")).to_be_in_viewport()
    expect(page.locator("th:visible", has_text="Median lag")).to_have_count(1)
    assert page.errors == []


def test_an_explanation_is_readable_with_jupyters_style_sheet(page):
    # JupyterLab's style for the output of cells.
    jupyters = "dt { float: left; width: 20%; font-weight: bold; } dd { float: left; width: 80%; }"
    page.set_content(f"<style>{jupyters}</style>{bf.explain('realization')._repr_html_()}")
    boxes = page.locator("dt, dd").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect()).map(each => [each.left, each.top, each.bottom])"
    )
    assert all(above[2] <= below[1] for above, below in itertools.pairwise(boxes))
    assert len({left for left, _top, _bottom in boxes}) == 2


# Last, because it edits the firm that the other tests read.
def test_the_plan_of_a_filtered_panel_is_applied_after_one_question_with_the_counts(page, voila, firm):
    def edited() -> int:
        with closing(sqlite3.connect(firm.database)) as database:
            sql = "SELECT count(*) FROM time_entry WHERE description = 'Edited from the <b>panel</b>'"
            return int(database.execute(sql).fetchone()[0])

    voila(page, "edits.ipynb")
    plan = page.locator(".bf-plan-table")
    expect(plan).to_contain_text("5 time entries will be updated")
    expect(plan).to_contain_text("Edited from the <b>panel</b>")
    page.locator(".bf-apply").click()
    question = page.locator(".bf-question")
    expect(question).to_contain_text("5 time entries will be updated")
    expect(question).to_contain_text(firm.base_url)
    expect(page.locator(".bf-apply")).to_be_hidden()
    page.locator(".bf-cancel").click()
    expect(page.locator(".bf-confirm")).to_be_hidden()
    assert edited() == 0
    page.locator(".bf-apply").click()
    page.locator(".bf-confirm").click()
    expect(question).to_contain_text("5 done")
    assert edited() == 5
    for name in ("apply", "confirm", "cancel"):
        expect(page.locator(f".bf-{name}")).to_be_hidden()
    assert page.errors == []
