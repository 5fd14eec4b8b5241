"""The explorer without a kernel: figures under filters are parts of the whole, and a click on a bar shows its rows."""

from __future__ import annotations

import base64
import datetime as dt
import io
import itertools
import math
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes._shared.format import format_change, format_number
from billframes._shared.notes import note
from billframes.analysis.data import values
from billframes.analysis.declare.lookup import heading_of, measures
from billframes.analysis.declare.metrics import Measure
from billframes.analysis.facts.capacity import PARTIAL_HOURS
from billframes.analysis.results.explain import meaning
from billframes.analysis.rules.periods import LATER_BALANCES, LONG_AFTER_LOAD
from billframes.book import Book
from billframes.cli import main
from billframes.ledger.month_reports import read_payments
from billframes.widgets import dashboard, filtered_analyses, filtered_book, html as html_module, overview
from billframes.widgets.filtered_book import FilteredBook, FilteredBooks
from billframes.widgets.filtered_frames import BookFilters
from billframes.widgets.html import download_links, records_table, result_table, tiles
from billframes.widgets.state import FilterState, read_state
from billframes.widgets.tabs import AnalysisTab
from billframes.widgets.views import AnalysisView, views
from tests.frames import assert_frame_equal
from tests.widgets.conftest import HOSTILE_NAME

TIME = itertools.count()
TODAY = dt.date(2026, 10, 31)
VIEWS = views()
VIEW = {view.analysis.name: view for view in VIEWS}
UTILIZATION, REALIZATION, RECEIVABLES, WIP, COLLECTIONS = (
    VIEW[name] for name in ("utilization", "realization", "aging", "wip", "overdue_invoices")
)


@pytest.fixture(scope="module")
def payment_files(tmp_path_factory) -> dict[str, Path]:
    return bf.ledger.sandbox_reports(tmp_path_factory.mktemp("books"))


@pytest.fixture(scope="module")
def books(client, payment_files) -> FilteredBooks:
    book = bf.book("2026-Q3", client=client)
    return FilteredBooks(book, TODAY, read_payments(book, [*payment_files.values()], []))


@pytest.fixture(scope="module")
def book_filters(books) -> BookFilters:
    return books.book_filters


@pytest.fixture(scope="module")
def october(october_book) -> Book:
    """A book that several explorers share, so that its frames are loaded once."""
    return october_book


@pytest.fixture
def without_charts(request, monkeypatch) -> None:
    """
    Draw no charts and no overview, which take most of the time, in tests that look at other figures and words only.

    Under a filter on clients charts are drawn, because some of their figures are missing there.
    """
    monkeypatch.setattr(overview, "_page", lambda *_given: "The overview.")
    if "client_id" not in request.node.name:
        monkeypatch.setattr(AnalysisView, "picture", lambda *_given, **_options: ("", []))


@pytest.fixture
def filtered(books, book_filters):
    def make(**saved) -> FilteredBook:
        fields = book_filters.for_frame("time_entries").fields
        return FilteredBook(books, read_state({"date": "2026-Q3", **saved}, fields))

    return make


def result(filtered, name, by):
    return filtered.result(VIEW[name].analysis, by)


def words_of(widget):
    return BeautifulSoup(widget.value, "html.parser").get_text()


def some(book_filters, column, take=2):
    options = book_filters.for_frame("time_entries").options(column)
    return [options.keys[place] for place in options.order[:take]]


def most_frequent(book_filters, column):
    entries = book_filters.for_frame("time_entries").data
    recent = entries[entries["date"].between("2026-07-01", "2026-09-30") & (entries["billing_type"] == "billable")]
    return recent[column].mode().tolist()[:1]


@pytest.mark.slow
def test_without_filters_the_figures_equal_those_of_the_book(filtered, book_filters):
    for name in ("utilization", "realization"):
        for by in (None, "user", "month"):
            assert_frame_equal(result(filtered(), name, by), getattr(book_filters.book, name)(by))
    with pytest.warns(bf.errors.IncompleteDataWarning, match="mirror"):
        assert_frame_equal(result(filtered(), "aging", "client"), book_filters.book.aging("client"))


@pytest.mark.parametrize("column", ["client_id", "responsible_id", "user_id", "billing_type"])
def test_realization_under_a_filter_equals_the_same_rows_of_the_whole(filtered, book_filters, column):
    chosen = some(book_filters, column)
    mine = result(filtered(**{column: chosen}), "realization", None)
    by = {"client_id": "client", "responsible_id": "responsible", "user_id": "user"}.get(column, column)
    whole = book_filters.book.realization(by)
    whole = whole[whole[whole.columns[0]].isin(chosen)]
    for measure in ("worked_amount", "billed_amount", "settled_amount", "billable_hours"):
        assert mine[measure].sum() == pytest.approx(whole[measure].sum()), measure


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@pytest.mark.parametrize("column", ["client_id", "responsible_id", "user_id", "matter_type"])
def test_receivables_under_a_filter_equal_the_same_rows_of_the_whole(filtered, book_filters, column):
    chosen = some(book_filters, column)
    mine = result(filtered(**{column: chosen}), "aging", None)
    whole = book_filters.book.aging(column)
    whole = whole[whole[whole.columns[0]].isin(chosen)]
    assert mine["total"].sum() == pytest.approx(whole["total"].sum())
    assert mine["overdue"].sum() == pytest.approx(whole["overdue"].sum())


def test_the_roster_has_the_people_who_pass_the_filters(filtered, book_filters):
    chosen = some(book_filters, "user_id")
    mine = result(filtered(user_id=chosen), "utilization", "user")
    whole = book_filters.book.utilization("user")
    expected = whole[whole["user_id"].isin(chosen)].reset_index(drop=True)
    assert_frame_equal(mine, expected)


NEED_ALL_HOURS = ("capacity_hours", "idle_capacity_hours", "utilization", "target_hours", "pace", "missing_days")


@pytest.mark.parametrize("column", ["client_id", "client_cf_industry", "matter_id", "responsible_id", "billed"])
def test_utilization_of_a_part_of_the_hours_is_that_of_the_book_grouped_by_the_filter(filtered, book_filters, column):
    chosen = most_frequent(book_filters, column)
    shown = result(filtered(**{column: chosen}), "utilization", "user")
    by = {"client_id": "client", "matter_id": "matter", "responsible_id": "responsible"}.get(column, column)
    whole = book_filters.book.utilization(["user", by])
    expected = whole[whole[column] == chosen[0]][list(shown)].reset_index(drop=True)
    assert_frame_equal(shown, expected)
    assert shown["client_hours"].sum() > 0
    assert shown["utilization"].isna().all()


@pytest.fixture(scope="module")
def with_targets(client) -> bf.Explorer:
    """An explorer of a firm in which everyone has a target."""
    everyone = client.users()["email"]
    settings = bf.FirmSettings(targets={each: {"hours": 150, "period": "month"} for each in everyone})
    return bf.explore(bf.book("2026-09", client=client, settings=settings))


@pytest.mark.slow
@pytest.mark.sweep(keep=2)
@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("column", ["matter_id", "billed", "user_role"])
def test_no_tab_compares_a_part_of_the_hours_with_all_available_hours(with_targets, column):
    explorer = with_targets
    filters = explorer._books.book_filters
    explorer.panel.state = {"date": "2026-09", column: most_frequent(filters, column)}
    whole = column.startswith("user_")
    for view in (UTILIZATION, VIEW["scorecard"]):
        explorer.tabs.selected_index = explorer.tabs.titles.index(view.tab.title)
        tab = explorer.tabs.children[explorer.tabs.selected_index]
        assert PARTIAL_HOURS in words_of(tab._about)
        counts = not explorer._filtered.not_counted(view.tab)
        for figures in (tab._total, tab.result):
            for name in set(NEED_ALL_HOURS) & set(figures):
                assert pd.notna(pd.Series(figures[name])).any() == (whole or not counts), (view.tab.title, name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_a_filter_on_clients_finds_no_missing_days(filtered, book_filters):
    scorecard = result(filtered(client_id=some(book_filters, "client_id")), "scorecard", "user")
    assert scorecard["missing_days"].isna().all()
    # Peers are the whole firm, as under filters on matters and people.
    firm = result(filtered(), "scorecard", "user")["peer_billing_realization"].iloc[0]
    assert scorecard["peer_billing_realization"].tolist() == pytest.approx([firm] * len(scorecard))


def test_a_period_that_is_not_over_ends_with_the_data(filtered):
    assert filtered(date="2026").end == TODAY
    assert filtered(date="2026-Q3").end == dt.date(2026, 9, 30)
    assert filtered(date=None).start == dt.date(2024, 1, 2) or filtered(date=None).start.year == 2024


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@pytest.mark.parametrize(
    ("view", "measure"),
    [(UTILIZATION, "client_hours"), (REALIZATION, "worked_amount"), (RECEIVABLES, "total"), (WIP, "total")],
    ids=lambda each: each if isinstance(each, str) else each.tab.title,
)
def test_the_rows_behind_a_bar_add_up_to_it(filtered, book_filters, view, measure):
    tab = AnalysisTab(view, "UTC")
    tab.show(filtered(client_id=some(book_filters, "client_id", 5)))
    for words, key in view.keys.items():
        tab.by.value = words
        bars = len(bars_of(tab))
        assert bars, key
        # The largest row, and the last one, which is often Unassigned.
        for row in {0, bars - 1}:
            click(tab, f"open {row}")
            links = BeautifulSoup(tab._records.value, "html.parser").find_all("a")
            data = base64.b64decode(links[0]["href"].partition(",")[2])
            rows = pd.read_csv(io.BytesIO(data), encoding="utf-8-sig")
            # Each row is rounded to the cent.
            wanted = pytest.approx(tab.result[measure].iloc[row], abs=0.005 * len(rows) + 1e-6)
            assert rows[heading_of(measure)].sum() == wanted, (words, row)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_a_row_of_the_scorecard_opens_the_time_entries_of_its_hours(filtered, book_filters):
    of_matters = filtered(practice_area_id=some(book_filters, "practice_area_id", 2))
    rows = result(of_matters, "scorecard", "user")
    for row in (0, 1):
        behind = VIEW["scorecard"].rows_behind(of_matters, "user", rows["user_id"].iloc[row])
        assert behind["client_hours"].sum() == pytest.approx(rows["client_hours"].iloc[row])


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_a_row_of_the_overdue_invoices_opens_the_work_on_the_invoice(filtered, book_filters):
    tab = AnalysisTab(COLLECTIONS, "UTC")
    tab.show(filtered(client_id=some(book_filters, "client_id", 20)))
    click(tab, "open 1")
    entries = book_filters.book.time_entries
    hours = entries.loc[entries["invoice_id"] == tab.result["invoice_id"].iloc[1], "hours"]
    assert tab._behind["hours"].sum() == pytest.approx(hours.sum()) != 0
    assert f"{tab.result['invoice_number'].iloc[1]}: {len(tab._behind)} row" in words_of(tab._records)


@pytest.mark.usefixtures("without_charts")
def test_a_click_on_a_heading_sorts_the_rows_and_keeps_each_with_its_records(filtered):
    tab = AnalysisTab(UTILIZATION, "UTC")
    tab.show(filtered(date="2026-09"))

    def shown():
        page = BeautifulSoup(tab._table.value, "html.parser")
        sorted_by = page.find("th", attrs={"aria-sort": True})
        rows = page.tbody.find_all("tr")
        return sorted_by.get_text(), sorted_by["aria-sort"], [(row.th.get_text(), row["data-ask"]) for row in rows]

    assert shown()[:2] == ("Client hours", "descending")
    click(tab, "sort user_id")
    title, order, rows = shown()
    assert (title, order) == ("Timekeeper", "ascending")
    assert [name for name, _ in rows] == sorted(tab.result["user_name"], key=str.casefold)
    assert all(tab.result["user_name"].iloc[int(ask.split()[1])] == name for name, ask in rows)
    click(tab, "sort user_id")
    assert shown() == (title, "descending", rows[::-1])
    # Rows without a value are last in both directions.
    for order in ("descending", "ascending"):
        click(tab, "sort utilization")
        places = [int(ask.split()[1]) for _, ask in shown()[2]]
        values = tab.result["utilization"].iloc[places]
        assert shown()[1] == order
        known = values.dropna()
        assert known.tolist() == sorted(known, reverse=order == "descending")
        assert values.isna().tolist() == sorted(values.isna())
    # A column that the table does not have changes nothing.
    click(tab, "sort password")
    assert shown()[0] == "Utilization"
    click(tab, "open 0")
    click(tab, "records client_hours")
    assert 'aria-sort="descending"' in tab._records.value


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_points_are_sorted_by_the_value_they_show_and_a_bar_opens_its_own_row(filtered, monkeypatch):
    tab, whole = AnalysisTab(VIEW["scorecard"], "UTC"), filtered()
    # The hours of the third person are the fewest, and all of their time.
    rows = result(whole, "scorecard", "user").head(3).assign(utilization=[0.6, 0.7, 1.0])
    monkeypatch.setattr(AnalysisView, "compute", lambda *_given: rows)
    tab.show(whole)
    rows = [int(each["data-ask"].split()[1]) for each in bars_of(tab)]
    assert rows == [2, 1, 0]
    monkeypatch.undo()
    click(tab, f"open {rows[0]}")
    assert tab.result["user_name"].iloc[rows[0]] in words_of(tab._records)
    assert [place for place, bar in enumerate(bars_of(tab)) if "bf-marked" in bar["class"]] == [0]


def test_rows_can_be_grouped_by_responsible_lawyer_wherever_they_are_grouped():
    assert [view.tab.title for view in VIEWS if view.tab.by and "responsible" not in view.tab.by] == []


def test_the_last_row_of_the_table_is_the_total(filtered):
    tab = AnalysisTab(REALIZATION, "UTC")
    tab.show(filtered())
    page = BeautifulSoup(tab._table.value, "html.parser")
    heads = [cell.get_text() for cell in page.thead.find_all("th")]
    cells = dict(zip(heads, (cell.get_text() for cell in page.tfoot.find_all(["th", "td"])), strict=True))
    assert cells["Fees billed"] == format_number(tab.result["billed_amount"].sum(), "money")
    assert len(page.tbody.find_all("tr")) == len(tab.result)


@pytest.mark.parametrize("view", [UTILIZATION, REALIZATION], ids=lambda view: view.tab.title)
def test_tiles_have_the_totals_whichever_rows_were_computed_before(filtered, view):
    alone = filtered().result(view.analysis, None).iloc[0].to_dict()
    for key in ("month", view.tab.by[0]):
        shown = filtered()
        view.compute(shown, key)
        total = shown.total(view.analysis)
        assert len(shown._results) == 1
        assert {name: total[name] for name in view.tab.tiles} == pytest.approx(
            {name: alone[name] for name in view.tab.tiles}
        )


@pytest.mark.filterwarnings("ignore:as_of=2026-09-30 is before the day the invoices were loaded")
@pytest.mark.parametrize("column", [None, "practice_area_id", "client_id"])
def test_the_scorecard_is_calculated_once_for_its_rows_and_their_total(filtered, book_filters, column):
    """Of its figures, the median lag is not in the rows, so it is calculated alone."""
    view = VIEW["scorecard"]
    state = {column: [book_filters.for_frame("time_entries").data[column].mode()[0]]} if column else {}
    shown = filtered(**state)
    rows = view.compute(shown, "user")
    total = shown.total(view.analysis)
    assert len(shown._results) == 2
    alone = shown.result(view.analysis, None).iloc[0].to_dict()
    for each in view.columns(rows):
        assert total.get(each.name, math.nan) == pytest.approx(alone[each.name], nan_ok=True), each.name
    assert total["median_lag_days"] >= 0


@pytest.mark.slow
def test_tiles_are_compared_with_the_period_before(filtered, book_filters):
    tab = AnalysisTab(UTILIZATION, "UTC")
    tab.show(filtered(date="2026-09"))
    then = book_filters.book.utilization(None, start="2026-08-01", end="2026-08-31")["client_hours"].iloc[0]
    now = book_filters.book.utilization(None, start="2026-09-01", end="2026-09-30")["client_hours"].iloc[0]
    line = BeautifulSoup(tab._tiles.value, "html.parser").select_one(".bf-then").get_text()
    assert line == f"{format_change(now, then, 'hours')} from {then:,.1f}"
    assert "Compared with 1 August 2026 to 31 August 2026." in words_of(tab._about)
    # There is no period before the first month of the data, or before an open period.
    assert filtered(date="2024-01").before is None
    assert filtered(date=None).before is None
    # Balances have no history.
    receivables = AnalysisTab(RECEIVABLES, "UTC")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        receivables.show(filtered())
    assert "bf-then" not in receivables._tiles.value


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
def test_a_change_of_the_period_checks_no_frame_again(client, monkeypatch):
    explorer = bf.explore(bf.book("2026-08", client=client))
    explorer.tabs.selected_index = 1
    checked = []
    checks_of = values._checks_of
    monkeypatch.setattr(
        values, "_checks_of", lambda name, *given, **how: (checked.append(name), checks_of(name, *given, **how))[1]
    )
    calculated, call = [], filtered_analyses.call_analysis
    monkeypatch.setattr(
        filtered_analyses,
        "call_analysis",
        lambda *given, **how: (calculated.append(given[0].name), call(*given, **how))[1],
    )
    explorer.panel.state = {"date": "2026-09"}
    assert checked == []
    # The period before was calculated already.
    assert calculated == ["utilization"]


def test_a_chart_of_zeros_only_is_left_out():
    assert not RECEIVABLES.has_chart(pd.DataFrame({"client_id": ["c1"], "current": [0.0], "total": [None]}))
    assert RECEIVABLES.has_chart(pd.DataFrame({"client_id": ["c1"], "current": [-1.0]}))


@pytest.mark.slow
def test_the_bar_whose_rows_are_shown_is_marked(filtered):
    tab = AnalysisTab(UTILIZATION, "UTC")
    tab.show(filtered())
    marked = lambda: [row for row, bar in enumerate(bars_of(tab)) if "bf-marked" in bar["class"]]  # noqa: E731
    click(tab, "open 2")
    assert marked() == [2]
    click(tab, "open 0")
    assert marked() == [0]
    tab.records_box.children[-1].click()
    assert marked() == []


def test_clients_with_one_name_have_their_reference_everywhere(client, filtered, book_filters, monkeypatch):
    clients = book_filters.book.clients
    shared = set(clients.loc[clients["name"].duplicated(keep=False), "client_id"])
    assert shared
    whole = filtered(date="2026")
    named = REALIZATION.compute(whole, "client").set_index("client_id")["client_name"]
    references = clients.set_index("client_id")["reference"]
    there = shared & set(named.index)
    assert there
    assert all(named[each].endswith(f"({references[each]})") for each in there)
    some_id = next(iter(there))
    rows = REALIZATION.rows_behind(whole, "client", some_id)
    assert set(rows["client_name"]) == {named[some_id]}


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
def test_the_firm_and_the_period_are_at_the_top(october):
    explorer = bf.explore(october, title="Harrow & <b>", remark="Made up.")
    page = BeautifulSoup(explorer._top.value, "html.parser")
    assert page.get_text(" ") == "October 2026 Harrow & <b> Data of 31 October 2026 Made up."
    explorer.panel.state = {"date": "2026-09"}
    assert "September 2026" in explorer._top.value
    explorer.panel.state = {"date": "2026"}
    assert "January–October 2026" in explorer._top.value


@pytest.mark.slow
def test_charts_for_a_phone_are_narrow_and_their_bars_can_be_clicked(book_filters):
    explorer = bf.explore(book_filters.book)
    explorer.tabs.selected_index = 1
    tab = explorer.tabs.children[1]
    wide, places = width_of(tab._chart.value), styles_of(tab)
    grey = []
    explorer.observe(lambda _change: grey.append("bf-busy" in tab._dom_classes), "_dom_classes")
    explorer.narrow.value = True
    # The tab is grey before the page is switched to the other width.
    assert grey == [True]
    assert "bf-phone" in explorer._dom_classes
    assert width_of(tab._chart.value) < 0.6 * wide
    assert len(bars_of(tab)) == len(set(styles_of(tab))) > 1
    explorer.narrow.value = False
    assert (width_of(tab._chart.value), styles_of(tab)) == (wide, places)


def bars_of(tab):
    """Return the buttons over the bars of a tab's chart."""
    return BeautifulSoup(tab._bar_buttons.value, "html.parser").find_all("button")


def styles_of(tab):
    return [each["style"] for each in bars_of(tab)]


def click(tab, words: str) -> None:
    """Click as the browser does, which adds the time."""
    tab.children[-1].value = f"{words} {next(TIME)}"


def width_of(html: str) -> float:
    """Return the width in points of a picture in HTML."""
    svg = base64.b64decode(html.partition("base64,")[2].partition('"')[0]).decode()
    return float(re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)[1])


def test_each_tab_says_what_is_left_out_in_plain_words():
    for view in VIEWS:
        words = " ".join(text for texts in meaning(view.analysis).values() for text in texts)
        assert "Not counted" in meaning(view.analysis)
        assert "=" not in words
        assert "_" not in words
        assert "`" not in words


def test_a_download_without_excel_says_why(monkeypatch):
    frame = pd.DataFrame({"hours": [1.0]})
    assert "Excel</a>" in download_links("hours", frame)
    assert 'title="hours.csv, 1 row"' in download_links("hours", frame)
    monkeypatch.setattr(html_module, "_MOST_EXCEL_ROWS", 0)
    assert "up to 0 rows; this table has 1" in download_links("hours", frame)
    monkeypatch.undo()
    monkeypatch.setattr(html_module, "find_spec", lambda _name: None)
    assert "pip install 'billframes[excel]'" in download_links("hours", frame)


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
def test_a_tab_that_fails_shows_the_error(october, monkeypatch):
    explorer = bf.explore(october)
    view = explorer.tabs.children[1]
    monkeypatch.setattr(view, "show", lambda _filtered: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        explorer.tabs.selected_index = 1
    assert "This tab could not be calculated (ZeroDivisionError: division by zero)." in explorer._error.value
    assert "bf-failed" in view._dom_classes
    monkeypatch.undo()
    explorer._show()
    assert explorer._error.value == ""
    assert not {"bf-failed", "bf-busy"} & set(view._dom_classes)


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
def test_only_the_visible_tab_is_computed(october):
    explorer = bf.explore(october)
    shown, first = explorer.tabs.children[:2]
    assert "The overview." in shown._page.value
    assert not hasattr(first, "result")
    explorer.tabs.selected_index = 1
    everyone = len(first.result)
    explorer.panel.state = {"date": "2026-10", "user_role": ["principal"]}
    assert 0 < len(first.result) < everyone
    assert explorer.tabs.titles == ("Overview", *(view.tab.title for view in VIEWS if view.tab.filters != "payments"))


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
def test_what_came_in_is_the_cash_of_the_books_by_lawyer_client_and_month(book_filters):
    payments = book_filters.payments.copy()
    payments.attrs["payments"] = dict(payments.attrs["payments"])
    explorer = bf.explore(book_filters.book, payments=payments)
    explorer.address = "tab=what-came-in&period=2026-Q3"
    tab = explorer.tabs.children[explorer.tabs.selected_index]
    cash = payments[payments["payment_date"].between("2026-07-01", "2026-09-30") & (payments["kind"] == "cash")]
    for words, key in VIEW["fees_collected"].keys.items():
        tab.by.value = words
        assert tab.result["cash_amount"].sum() == pytest.approx(cash["amount"].sum()), key
    assert f"<dd>{format_number(cash['amount'].sum(), 'money')}" in tab._tiles.value
    client = some(book_filters, "client_id", 1)
    explorer.panel.state = {"date": "2026-Q3", "client_id": client, "billed": [True]}
    of_client = cash[cash["client_id"].isin(client)]["amount"].sum()
    assert 0 < of_client == pytest.approx(tab._total["cash_amount"])
    assert "The filter “Billed” does not count here." in words_of(tab._notes)
    # A part of the cash would look like all of it.
    payments.attrs["payments"] |= {"start": "2026-08-01"}
    explorer.panel.state = {"date": "2026-07"}
    assert "The payments in the books are those of 1 August 2026 to" in explorer._error.value
    payments.attrs["payments"] |= {"start": "2026-01-01", "end": "2026-08-31"}
    explorer.panel.state = {"date": "2026-Q3"}
    assert "The payments in the books end on 31 August 2026; later ones are missing here." in words_of(tab._notes)


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_the_cash_forecast_is_that_of_the_book_under_all_filters(filtered, book_filters):
    tab = AnalysisTab(VIEW["cash_forecast"], "UTC")
    tab.show(filtered(client_id=some(book_filters, "client_id", 1), date="2026-09"))
    assert_frame_equal(tab.result, book_filters.book.cash_forecast())
    assert "The filter “Client” does not count here." in words_of(tab._notes)
    assert "Neither the period nor filters count here" in words_of(tab._about)
    table = BeautifulSoup(tab._table.value, "html.parser")
    assert [each.get_text() for each in table.select("tbody th")] == tab.result["horizon"].tolist()
    # Horizons overlap, so there is no total.
    assert not table.select("tfoot tr")
    assert "<img" in tab._chart.value


@pytest.mark.slow
def test_below_the_limits_of_a_forecast_the_tab_says_why_and_nothing_else(book_filters):
    book = bf.book("2026-Q3", client=book_filters.book.client)
    book.invoices = book.invoices.head(20)
    tab = AnalysisTab(VIEW["cash_forecast"], "UTC")
    tab.show(FilteredBooks(book, TODAY).at(FilterState()))
    assert re.fullmatch(r"Cash is not forecast: [^.]+\.", words_of(tab._about))
    shown = (tab._tiles, tab._notes, tab._chart, tab._table, tab._links)
    assert [each.value for each in shown] == [""] * 5


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("named", [True, False])
def test_the_dashboard_reads_the_files_that_are_named_or_those_of_the_folder_in_the_settings(
    client, payment_files, tmp_path, named
):
    files = [str(payment_files["payments"])] if named else []
    settings = tmp_path / "firm.toml"
    settings.write_text("" if named else f"[ledger]\nfolder = {str(payment_files['payments'].parent)!r}", "utf-8")
    explorer = dashboard._explorer(client, "2026-10", str(settings), files)
    assert "What came in" in explorer.tabs.titles


def test_the_dashboard_does_not_start_with_files_without_payments(payment_files, capsys):
    assert main(["dashboard", "--demo", "--ledger", str(payment_files["aging"])]) == 1
    assert "There are no payments in A_R Aging Detail.csv; export Sales by Customer" in capsys.readouterr().err


def test_warnings_of_an_analysis_are_shown_beside_its_figures(filtered):
    tab = AnalysisTab(RECEIVABLES, "UTC")
    tab.show(filtered())
    assert "Balances are those of 31 October 2026, when they were loaded" in tab._notes.value
    assert "Payments since 30 September 2026 are already deducted" in tab._notes.value


def test_a_tab_shows_notes_without_python_and_the_balances_in_its_own_words(filtered, monkeypatch):
    def calculate(*_given):
        loaded = {"since": "the load", "loaded": dt.date(2026, 10, 31)}
        note(LONG_AFTER_LOAD, 51, "aging", day=dt.date(2026, 12, 21), **loaded)
        note(LATER_BALANCES, 31, "aging", day=dt.date(2026, 9, 30), **loaded)
        return pd.DataFrame({"client_id": ["c1"], "client_name": ["Acme"], "91+": [1.0], "total": [1.0]})

    monkeypatch.setattr(filtered_book, "calculate", calculate)
    tab = AnalysisTab(RECEIVABLES, "UTC")
    tab.show(filtered())
    notes = words_of(tab._notes)
    assert "21 December 2026 is 51 days after the load" in notes
    assert "Balances are those of 31 October 2026" in notes
    assert "as_of" not in notes


@pytest.mark.slow
def test_a_period_after_the_data_is_refused_and_old_figures_are_grey(client, october):
    with pytest.raises(
        bf.errors.ParameterError, match="begins on 1 January 2027, after the day of the data, 31 October 2026"
    ):
        bf.explore(bf.book("2027", client=client))
    explorer = bf.explore(october)
    first = explorer.tabs.children[0]
    assert "bf-busy" not in first._dom_classes
    explorer.panel.state = {"date": "2027"}
    assert "after the day of the data" in explorer._error.value
    assert "bf-busy" in first._dom_classes
    explorer.panel.state = {"date": "2026-10"}
    assert "bf-busy" not in first._dom_classes
    assert explorer._error.value == ""


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
def test_figures_are_grey_from_the_click_until_the_new_ones_are_complete(october, monkeypatch):
    explorer = bf.explore(october)
    page_one, first = explorer.tabs.children[:2]
    seen = []
    monkeypatch.setattr(explorer.panel, "_refresh", lambda: seen.append("bf-busy" in page_one._dom_classes))
    show = type(page_one).show
    monkeypatch.setattr(
        type(page_one), "show", lambda *given: (seen.append("bf-busy" in given[0]._dom_classes), show(*given))
    )
    explorer.panel.state = {"date": "2026-09"}
    assert seen == [True, True]
    assert "bf-busy" not in page_one._dom_classes
    # A tab that has not been opened since the change is grey.
    assert "bf-busy" in first._dom_classes
    explorer.tabs.selected_index = 1
    assert "bf-busy" not in first._dom_classes


@pytest.fixture(scope="module")
def unfiltered(books, book_filters) -> FilteredBook:
    """The quarter without filters, whose totals are calculated once."""
    return FilteredBook(books, read_state({"date": "2026-Q3"}, book_filters.for_frame("time_entries").fields))


@pytest.mark.slow
@pytest.mark.usefixtures("without_charts")
@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
@pytest.mark.parametrize(
    ("view", "column"),
    [
        (view, column)
        for nth, view in enumerate(each for each in VIEWS if each.tab.order)
        for column in ("user_role", ("client_id", "client_cf_industry", "responsible_id", "billing_type")[nth % 4])
    ],
)
def test_each_tab_says_truthfully_which_filters_count(filtered, unfiltered, book_filters, view, column):
    few = filtered(**{column: some(book_filters, column, 1)})
    tab = AnalysisTab(view, "UTC")
    tab.show(few)
    field = next(each for each in book_filters.for_frame("time_entries").fields if each.column == column)
    is_whole = tab._total[view.tab.order] == pytest.approx(unfiltered.total(view.analysis)[view.tab.order])
    assert (f"The filter “{field.title}” does not count here." in words_of(tab._notes)) == is_whole
    assert view.tab.about_filters in words_of(tab._about)


def test_unbilled_work_alone_is_no_reason_for_a_warning(filtered, book_filters):
    tab = AnalysisTab(WIP, "UTC")
    tab.show(filtered(date="2026-10", billed=[False]))
    assert words_of(tab._notes) == ""
    whole = book_filters.book.wip(as_of="2026-10-31").iloc[0]
    assert tab._total["total"] == pytest.approx(whole["unbilled_amount"])
    assert tab._total["prebill_amount"] == 0


@pytest.mark.slow
def test_filters_that_no_record_passes_give_an_empty_tab(filtered):
    for view in VIEWS:
        tab = AnalysisTab(view, "UTC")
        tab.show(filtered(client_id=["nobody"], user_id=["nobody"]))
        assert not bars_of(tab)
        assert tab._total.get(view.tab.order, 0.0) == 0.0


def test_months_without_work_of_the_client_have_a_bar_of_0(filtered, book_filters):
    entries = book_filters.book.time_entries
    of_year = entries[entries["date"].dt.year == 2026]
    months = of_year.groupby("client_id")["date"].agg(lambda dates: dates.dt.month.nunique())
    rows = result(filtered(date="2026", client_id=[months.idxmin()]), "utilization", "month")
    assert rows["month"].tolist() == [f"2026-{month:02}" for month in range(1, 11)]
    assert (rows["client_hours"] == 0).sum() >= 10 - months.min()
    assert rows["capacity_hours"].isna().all()


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_amounts_show_their_currency_and_dates_have_the_month_in_words(filtered):
    shown = tiles(
        [measures()["billed_amount"], measures()["client_hours"]],
        {"billed_amount": 5.0, "client_hours": 2.0},
        {},
        "CHF",
    )
    assert [each.get_text() for each in BeautifulSoup(shown, "html.parser").find_all("dd")] == ["5 CHF", "2.0"]
    dates = COLLECTIONS.names(COLLECTIONS.compute(filtered(), None))["due_date"]
    assert re.fullmatch(r"\d{1,2}\s[A-Z][a-z]{2}\s20\d\d", dates[0])


def test_text_from_data_is_never_html():
    frame = pd.DataFrame({"client_id": ["c1"], "client_name": [HOSTILE_NAME], "amount": [1.0]})
    shown = (
        result_table(
            HOSTILE_NAME, {"client_name": [HOSTILE_NAME]}, [Measure("amount", HOSTILE_NAME, "money", "")], frame, {}
        )
        + records_table(HOSTILE_NAME, frame)
        + download_links(HOSTILE_NAME, frame)
    )
    page = BeautifulSoup(shown, "html.parser")
    assert page.find("script") is None
    assert page.get_text().count("<script>") == 5
    names = [link["download"] for link in page.find_all("a")]
    assert names[0] == "script-alert-x-script-sohne-5-6.csv"
    assert all(re.fullmatch(r"[a-z0-9-]+\.(csv|xlsx)", name) for name in names)


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_the_rows_behind_a_matter_have_its_share_of_each_invoice(filtered, book_filters):
    rows = RECEIVABLES.rows_behind(filtered(), "matter", some(book_filters, "matter_id", 1)[0])
    assert (rows["total"].abs() <= rows["balance"].abs() + 0.005).all()
    by_matter = result(filtered(), "aging", ["matter", "invoice_id"])
    whole = by_matter.groupby("invoice_id")["total"].sum()
    invoices = book_filters.book.invoices.set_index("invoice_id")["balance"]
    pd.testing.assert_series_equal(whole, invoices.loc[whole.index], check_names=False)


def test_headings_and_values_of_records_are_in_words(filtered):
    tab = AnalysisTab(UTILIZATION, "UTC")
    tab.show(filtered())
    tab.open_row(0)
    page = BeautifulSoup(tab._records.value, "html.parser")
    # The figure is beside the date, so that it is visible on a narrow screen.
    assert [cell.get_text() for cell in page.thead.find_all("th")][:3] == ["Date", "Client hours", "Client"]
    assert {cell.get_text() for cell in page.select("td.bf-enum")} <= {"Billable", "Fixed fee"}


def test_a_frame_in_place_of_a_book_is_refused(client):
    with pytest.raises(bf.errors.ParameterError, match=r"book is a DataFrame; pass a book"):
        bf.explore(client.practice_areas())


@pytest.mark.slow
def test_without_a_kernel_the_explorer_is_the_open_tab_as_a_table(october):
    explorer = bf.explore(october, title="Firm <b>")
    explorer.tabs.selected_index = list(explorer.tabs.titles).index("Realization")
    still = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in still
    assert still["text/plain"].startswith("Explorer: Realization; Period: 1 Oct 2026 to 31 Oct 2026")
    page = BeautifulSoup(still["text/html"], "html.parser")
    shown = explorer.tabs.children[explorer.tabs.selected_index]
    assert len(page.select("table.bf-table tbody tr")) == len(shown.result)
    assert page.select_one(".bf-firm").get_text() == "Firm <b>"
    assert not page.select("button, style, script, [onclick], a[download], input")
    assert {each["data-ask"].split()[0] for each in page.select("[data-ask]")} <= {"open"}
