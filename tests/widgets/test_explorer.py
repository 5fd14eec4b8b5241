"""The explorer without a kernel: its figures under filters are parts of the whole, and rows stand behind its bars."""

from __future__ import annotations

import base64
import datetime as dt
import io
import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes.analysis.metrics import Measure
from billframes.widgets._filtered_book import BookFilters, FilteredBook
from billframes.widgets._html import downloads, records, table
from billframes.widgets._state import read_state
from billframes.widgets._tabs import Overview, ViewTab
from billframes.widgets._views import REALIZATION, RECEIVABLES, UTILIZATION, VIEWS, WIP
from tests.widgets.conftest import MEAN

TODAY = dt.date(2026, 10, 31)


@pytest.fixture(scope="module")
def book_filters(client) -> BookFilters:
    return BookFilters(bf.book("2026-Q3", client=client), TODAY)


@pytest.fixture
def filtered(book_filters):
    def make(**saved) -> FilteredBook:
        return FilteredBook(
            book_filters, read_state({"date": "2026-Q3", **saved}, book_filters.filters("time_entries").fields)
        )

    return make


def some(book_filters, column, take=2):
    options = book_filters.filters("time_entries").options(column)
    return [options.keys[place] for place in options.order[:take]]


def test_without_filters_the_figures_are_the_books(filtered, book_filters):
    for name in ("utilization", "realization"):
        for by in (None, "user", "month"):
            pd.testing.assert_frame_equal(getattr(filtered(), name)(by), getattr(book_filters.book, name)(by))
    with pytest.warns(bf.IncompleteDataWarning, match="mirror"):
        pd.testing.assert_frame_equal(filtered().aging("client"), book_filters.book.aging("client"))


@pytest.mark.parametrize("column", ["client_id", "responsible_id", "user_id", "billing_type"])
def test_realization_under_a_filter_is_the_same_rows_of_the_whole(filtered, book_filters, column):
    chosen = some(book_filters, column)
    result = filtered(**{column: chosen}).realization(None)
    by = {"client_id": "client", "responsible_id": "responsible", "user_id": "user"}.get(column, column)
    whole = book_filters.book.realization(by)
    whole = whole[whole[whole.columns[0]].isin(chosen)]
    for measure in ("worked_amount", "billed_amount", "settled_amount", "billable_hours"):
        assert result[measure].sum() == pytest.approx(whole[measure].sum()), measure


@pytest.mark.filterwarnings("ignore::billframes.IncompleteDataWarning")
@pytest.mark.parametrize("column", ["client_id", "responsible_id", "user_id", "matter_type"])
def test_receivables_under_a_filter_are_the_same_rows_of_the_whole(filtered, book_filters, column):
    chosen = some(book_filters, column)
    result = filtered(**{column: chosen}).aging(None)
    whole = book_filters.book.aging(column)
    whole = whole[whole[whole.columns[0]].isin(chosen)]
    assert result["total"].sum() == pytest.approx(whole["total"].sum())
    assert result["overdue"].sum() == pytest.approx(whole["overdue"].sum())


def test_people_filtered_are_the_roster(filtered, book_filters):
    chosen = some(book_filters, "user_id")
    result = filtered(user_id=chosen).utilization("user")
    whole = book_filters.book.utilization("user")
    expected = whole[whole["user_id"].isin(chosen)].reset_index(drop=True)
    pd.testing.assert_frame_equal(result, expected)


def test_a_filter_on_clients_leaves_available_hours_whole(filtered, book_filters):
    chosen = some(book_filters, "client_id")
    row = filtered(client_id=chosen).utilization(None).iloc[0]
    entries = book_filters.filters("time_entries").data
    mine = entries[entries["client_id"].isin(chosen) & entries["date"].between("2026-07-01", "2026-09-30")]
    hours = mine[mine["billing_type"].isin(["billable", "fixedFee"]) & (mine["matter_type"] != "internal")]["hours"]
    assert row["client_hours"] == pytest.approx(hours.sum())
    assert row["capacity_hours"] == book_filters.book.utilization(None)["capacity_hours"].iloc[0]


def test_a_period_that_is_not_over_ends_with_the_data(filtered):
    assert filtered(date="2026").end == TODAY
    assert filtered(date="2026-Q3").end == dt.date(2026, 9, 30)
    assert filtered(date=None).start == dt.date(2024, 1, 2) or filtered(date=None).start.year == 2024


@pytest.mark.filterwarnings("ignore::billframes.IncompleteDataWarning")
@pytest.mark.parametrize(
    ("view", "measure"),
    [(UTILIZATION, "client_hours"), (REALIZATION, "worked_amount"), (RECEIVABLES, "total"), (WIP, "total")],
    ids=lambda each: getattr(each, "title", each),
)
def test_the_rows_behind_a_bar_add_up_to_it(filtered, book_filters, view, measure):
    tab = ViewTab(view, "UTC")
    tab.show(filtered(client_id=some(book_filters, "client_id", 5)))
    for words, key in view.keys.items():
        tab.by.value = words
        assert tab.bars, key
        # The largest, and the last, which often has no name.
        for row in {0, len(tab.bars) - 1}:
            tab.bars[row].click()
            links = BeautifulSoup(tab.drill.children[0].value, "html.parser").find_all("a")
            data = base64.b64decode(links[0]["href"].partition(",")[2])
            rows = pd.read_csv(io.BytesIO(data), encoding="utf-8-sig")
            assert rows[measure].sum() == pytest.approx(tab.result[measure].iloc[row]), (words, row)


def test_the_table_ends_with_the_row_of_everything(filtered):
    tab = ViewTab(REALIZATION, "UTC")
    tab.show(filtered())
    page = BeautifulSoup(tab._table.value, "html.parser")
    cells = [cell.get_text() for cell in page.tfoot.find_all("td")]
    assert cells[2] == f"{tab.result['billed_amount'].sum():,.0f}"
    assert len(page.tbody.find_all("tr")) == len(tab.result)


def test_only_the_visible_tab_is_computed(client):
    explorer = bf.explore(bf.book("2026-10", client=client))
    overview, first = explorer.tabs.children[:2]
    assert "bf-tiles" in overview._body.value
    assert not hasattr(first, "result")
    explorer.tabs.selected_index = 1
    everyone = len(first.result)
    explorer.panel.state = {"date": "2026-10", "user_role": ["principal"]}
    assert 0 < len(first.result) < everyone
    assert explorer.tabs.titles == ("Overview", *(view.title for view in VIEWS))


def test_warnings_of_an_analysis_stand_beside_its_figures(filtered):
    tab = ViewTab(RECEIVABLES, "UTC")
    tab.show(filtered())
    assert "Balances are those of 31 October 2026, when they were loaded" in tab._notes.value
    overview = Overview(VIEWS)
    overview.show(filtered())
    section = BeautifulSoup(overview._body.value, "html.parser").find("h3", string="Receivables").parent
    assert "payments since 30 September 2026 are already taken off" in section.get_text()


def test_a_period_after_the_data_is_refused_and_old_figures_are_grey(client):
    with pytest.raises(bf.ParameterError, match="begins on 1 January 2027, after the data of 31 October 2026"):
        bf.explore(bf.book("2027", client=client))
    explorer = bf.explore(bf.book("2026-10", client=client))
    overview = explorer.tabs.children[0]
    assert "bf-busy" not in overview._dom_classes
    explorer.panel.state = {"date": "2027"}
    assert "after the data of" in explorer._error.value
    assert "bf-busy" in overview._dom_classes
    explorer.panel.state = {"date": "2026-10"}
    assert "bf-busy" not in overview._dom_classes
    assert explorer._error.value == ""


def test_figures_are_grey_from_the_click_until_the_new_ones_are_complete(client, monkeypatch):
    explorer = bf.explore(bf.book("2026-10", client=client))
    overview, first = explorer.tabs.children[:2]
    seen = []
    monkeypatch.setattr(explorer.panel, "_refresh", lambda: seen.append("bf-busy" in overview._dom_classes))
    show = type(overview).show
    monkeypatch.setattr(
        type(overview), "show", lambda *given: (seen.append("bf-busy" in given[0]._dom_classes), show(*given))
    )
    explorer.panel.state = {"date": "2026-09"}
    assert seen == [True, True]
    assert "bf-busy" not in overview._dom_classes
    # A tab that was not opened since is grey before the browser turns to it.
    assert "bf-busy" in first._dom_classes
    explorer.tabs.selected_index = 1
    assert "bf-busy" not in first._dom_classes


def test_each_tab_says_which_settings_count(client):
    settings = bf.FirmSettings(hours_per_day=7.5, holidays=["2026-10-12"])
    explorer = bf.explore(bf.book("2026-10", client=client, settings=settings))
    explorer.tabs.selected_index = 1
    for tab in explorer.tabs.children[:2]:
        assert "Firm settings: 7.5 hours a day, Mon to Fri; holidays." in tab._about.value


def test_nothing_under_the_filters_says_so(filtered):
    for view in VIEWS:
        tab = ViewTab(view, "UTC")
        tab.show(filtered(client_id=["nobody"], user_id=["nobody"]))
        assert not tab.bars or view is UTILIZATION


def test_words_from_data_are_never_html():
    frame = pd.DataFrame({"client_id": ["c1"], "client_name": [MEAN], "amount": [1.0]})
    shown = (
        table(MEAN, MEAN, [Measure("amount", MEAN, "money", "")], frame, {})
        + records(MEAN, frame)
        + downloads(MEAN, frame)
    )
    page = BeautifulSoup(shown, "html.parser")
    assert page.find("script") is None
    assert page.get_text().count("<script>") == 6
    names = [link["download"] for link in page.find_all("a")]
    assert names[0] == "script-alert-x-script-sohne-5-6.csv"
    assert all(re.fullmatch(r"[a-z0-9-]+\.(csv|xlsx)", name) for name in names)


@pytest.mark.filterwarnings("ignore::billframes.IncompleteDataWarning")
def test_an_invoice_for_several_matters_is_listed_with_its_share(filtered, book_filters):
    rows = RECEIVABLES.rows_behind(filtered(), "matter", some(book_filters, "matter_id", 1)[0])
    assert (rows["total"].abs() <= rows["balance"].abs() + 0.005).all()
    by_matter = filtered().aging(["matter", "invoice_id"])
    whole = by_matter.groupby("invoice_id")["total"].sum()
    invoices = book_filters.book.invoices.set_index("invoice_id")["balance"]
    pd.testing.assert_series_equal(whole, invoices.loc[whole.index], check_names=False)


def test_headings_and_values_of_records_are_in_words(filtered):
    tab = ViewTab(UTILIZATION, "UTC")
    tab.show(filtered())
    tab.open_row(0)
    page = BeautifulSoup(tab.drill.children[0].value, "html.parser")
    assert [cell.get_text() for cell in page.thead.find_all("th")][-2:] == ["Billing type", "Client hours"]
    assert {cell.get_text() for cell in page.select("td.bf-enum")} <= {"Billable", "Fixed fee"}
