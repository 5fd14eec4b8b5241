"""The explorer's overview: page one of the report, which leads to the tabs, and says which filters do not count."""

from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes.errors import LedgerError
from billframes.ledger.month_reports import read_payments
from billframes.report.loading import load
from billframes.report.sections import page_one
from billframes.widgets import overview as module
from billframes.widgets.views import AnalysisView

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def settings(sandbox) -> str:
    return str(sandbox.firm_settings)


@pytest.fixture(scope="module")
def explorer(client, settings):
    return bf.explore(bf.book("2026-10", client=client, settings=bf.FirmSettings.load(settings)))


@pytest.fixture(autouse=True)
def _without_charts(monkeypatch):
    monkeypatch.setattr(AnalysisView, "picture", lambda *_given, **_options: ("", []))


def page(explorer) -> BeautifulSoup:
    return BeautifulSoup(explorer.tabs.children[0]._page.value, "html.parser")


def words(text: str) -> str:
    return " ".join(BeautifulSoup(text, "html.parser").get_text(" ").split())


@pytest.mark.parametrize(
    ("address", "month", "only"),
    [
        ("period=2026-10", "2026-10", ""),
        ("period=2026", "2026", ""),
        ("period=2026-09&practice_area={practice_area}", "2026-09", "practice_area:{practice_area}"),
    ],
)
def test_it_is_page_one_of_the_report(explorer, client, settings, address, month, only):
    area = explorer._filters.options("practice_area_id").keys[0]
    explorer.address = address.format(practice_area=area)
    report = load(month, settings=settings, only=only.format(practice_area=area), client=client)
    shown = page(explorer)
    assert words(str(shown.section)) == words(page_one(report)._repr_html_())
    assert [each["points"] for each in shown.select("polyline")] == [
        each["points"] for each in BeautifulSoup(page_one(report)._repr_html_(), "html.parser").select("polyline")
    ]
    assert "Firm settings from firm.toml" in shown.details.get_text()


def test_its_tiles_key_points_and_to_dos_open_the_tab_and_the_row_that_they_name(explorer):
    explorer.address = "period=2026-10"
    links = {each.get_text(): each["data-ask"] for each in page(explorer).select("a[data-ask]")}
    assert {each.partition("/")[0] for each in links.values()} <= {*explorer._names}
    overview = explorer.tabs.children[0]

    def follow(name: str) -> str:
        overview.children[-1].value = f"{next(ask for text, ask in links.items() if name in text)} 1"
        overview.children[-1].value = ""
        return explorer.address

    assert follow("Receivables") == "tab=receivables&period=2026-10"
    clients, people = bf_ids(explorer)
    debtor = next(text.removeprefix("Call ") for text in links if text.startswith("Call "))
    assert follow(f"Call {debtor}") == f"tab=receivables&row={clients[debtor]}&period=2026-10"
    # The lawyer is the responsible one, not the timekeeper.
    row = next(each for each in page(explorer).select(".to-do tr") if "draft bills" in each.get_text())
    lawyer = people[row.th.get_text()]
    assert follow(row.a.get_text()) == f"tab=work-in-progress&by=responsible&row={lawyer}&period=2026-10"
    # What has no tab is no link.
    assert not [each for each in page(explorer).select("a[href]") if not each.get("data-ask")]


def bf_ids(explorer) -> tuple[dict[str, str], dict[str, str]]:
    book = explorer._books.book_filters.book
    return tuple(dict(zip(each["name"], each.iloc[:, 0], strict=True)) for each in (book.clients, book.users))


def test_filters_that_page_one_does_not_have_are_named_and_other_periods_too(explorer):
    overview = explorer.tabs.children[0]
    explorer.address = "period=2026-10"
    firm = overview._page.value
    assert overview._filters.layout.display == "none"
    explorer.panel.state = {"date": "2026-10", "billed": [True]}
    assert "The filter “Billed” does not count here." in overview._filters.value
    assert overview._page.value == firm
    explorer.panel.state = {"date": {"from": "2026-10-05", "to": "2026-10-14"}}
    assert words(overview._page.value).startswith("The overview is of a month, quarter or year.")
    explorer.panel.clear.click()
    assert explorer.address == "tab=overview&period=2026-10-05..2026-10-14"


def test_the_payments_are_those_of_the_explorer_and_what_the_books_refuse_is_a_note(client, tmp_path, monkeypatch):
    book = bf.book("2026-09", client=client)
    payments = read_payments(book, [*bf.ledger.sandbox_reports(tmp_path).values()], [])
    explorer = bf.explore(book, payments=payments)
    cash = payments[payments["payment_date"].between("2026-09-01", "2026-09-30") & (payments["kind"] == "cash")]
    tile = next(each for each in page(explorer).select(".tile") if each.h3.get_text() == "Collected")
    assert tile.select_one(".value").get_text() == f"{cash['amount'].sum():,.0f}"

    def refuse(_month, _files):
        raise LedgerError("The file is of July.")

    monkeypatch.setattr(module, "in_report", lambda name: [refuse] if name == "load" else [])
    shown = page(bf.explore(book))
    assert "The file is of July." in shown.details.get_text()
    assert not re.search("Collected", shown.get_text())
