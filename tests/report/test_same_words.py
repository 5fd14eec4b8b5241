"""A figure has the same name in the declarations, on the page, in the workbook and in the explorer."""

from __future__ import annotations

import io
import re
import sqlite3
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import openpyxl
import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes import report
from billframes._shared.format import MISSING, format_number, month_name
from billframes.analysis.declare.lookup import analyses, measure
from billframes.analysis.declare.metrics import BUCKET
from billframes.report import prebill_sheets, workbook as writing
from billframes.report.cells import SheetRange, sheet_name
from billframes.report.figures import figures
from billframes.report.html import Section
from billframes.report.loading import load
from billframes.report.month import Month
from billframes.report.notebook import new_notebook
from billframes.report.sheet_plan import planned
from billframes.report.workbook import workbook
from billframes.sandbox import Sandbox
from billframes.widgets import views as views_module
from billframes.widgets.filtered_book import FilteredBooks
from billframes.widgets.state import FilterState, Range
from billframes.widgets.tabs import AnalysisTab
from billframes.widgets.views import views
from tests.report.conftest import connection
from tests.report.test_firms import MONTHS

pytestmark = pytest.mark.slow

BY_AGE = "the headline of a table by age, where the sum of the buckets is called the total"
PART = "a part of the headline above it, named in its words"
OTHER_NAMES = {
    ("total", "Receivables"): BY_AGE,
    ("total", "Work in progress"): BY_AGE,
    ("overdue", "Receivables: of which overdue"): PART,
    ("credit_amount", "Receivables: of which unused credits"): PART,
    ("91+", "Work in progress: of which older than 90 days"): PART,
    ("wip_days", "Lock-up: of which work in progress"): PART,
    ("receivable_days", "Lock-up: of which receivables"): PART,
    ("current", "Receivables, current"): "in a chart beside work in progress, which can't be current",
}
"""Columns with a second name somewhere, and the reason."""
SAME_FIGURE = {("overdue_invoices", "balance"): "overdue"}
"""Columns that are a figure of another analysis under another name, and so have its title."""


class Named(NamedTuple):
    """A title of a column in one place."""

    column: str
    meaning: str
    title: str
    place: str


def named(month: Month) -> Iterator[Named]:
    """List the titles of each column in results, charts, tiles, headlines and the sheets of a review."""
    for analysis in analyses().values():
        for each in analysis.columns:
            column = SAME_FIGURE.get((analysis.name, each.name), each.name)
            yield Named(column, each.meaning, each.title, analysis.name)
        chart = analysis.chart
        drawn = (*chart.columns, *chart.instead.get("columns", ()), *filter(None, [chart.mark])) if chart else ()
        for name in drawn:
            found = measure(name, analysis)
            yield Named(name, found.meaning, chart.legend.get(name, found.title), f"chart of {analysis.name}")
        for name in analysis.tab.tiles if analysis.tab else ():
            found, column = measure(name, analysis), SAME_FIGURE.get((analysis.name, name), name)
            yield Named(column, found.meaning, found.title, f"tile of {analysis.name}")
    review = analyses()["prebill_review"]
    for sheet in (prebill_sheets._INVOICE_COLUMNS, prebill_sheets._ITEM_COLUMNS):
        for name, (title, *_form) in sheet.items():
            if found := measure(name, review):
                yield Named(name, found.meaning, title, "billframes review")
    for each, words in headlines(month):
        yield Named(each.column, each.measure.meaning, words, "headline")


def headlines(month):
    """Return the headline figures with their names; the name of a part begins with the name of its whole."""
    whole = ""
    for each in figures(month):
        whole = whole if each.is_part else each.name
        yield each, f"{whole}: {each.name}" if each.is_part else each.name


def contradictions(found: list[Named]) -> list[str]:
    """List titles of several columns, and columns of one meaning with several titles."""
    columns, titles = defaultdict(dict), defaultdict(dict)
    for each in found:
        columns[each.title.casefold()].setdefault(each.column, each.place)
        titles[each.column, each.meaning].setdefault(each.title, each.place)
    return [
        *(f"{title!r} is {where}" for title, where in columns.items() if len(where) > 1),
        *(f"{column} ({meaning}) is called {where}" for (column, meaning), where in titles.items() if len(where) > 1),
    ]


def test_a_title_belongs_to_one_column_and_a_column_has_one_title(month):
    found = list(named(month))
    assert contradictions([each for each in found if (each.column, each.title) not in OTHER_NAMES]) == []
    # An exception that is no longer needed would hide the next contradiction.
    assert {(each.column, each.title) for each in found} >= OTHER_NAMES.keys()


def test_a_contradiction_would_be_found(month):
    found = list(named(month))
    more = [Named("billed_amount", "Net billed time fees.", "All fees", "a new tile")]
    assert any(each.startswith("'all fees' is") for each in contradictions([*found, *more]))
    other = next(each for each in found if each.title == "Fees billed")._replace(title="Billed")
    assert any("is called {'Fees billed':" in each and "'Billed'" in each for each in contradictions([*found, other]))


class Seen(NamedTuple):
    """A figure as a reader sees it."""

    view: str
    table: str
    row: str
    words: str
    text: str
    marked: bool = False


TILES = {"Settled of the month’s bills": "Settled"}
"""The words of a tile that says more than the title of the figure."""
# Their rows have no name of their own.
LISTS = {"Stale work and matters", "Overdue invoices", "Items on draft bills", "Invoices", "E-billing"}
# Of these tabs the page or the workbook has tables by the same key. Where rates are hidden, some show no more.
KEYS = {
    "Utilization": ("Timekeeper",),
    "Realization": ("Client",),
    "Receivables": ("Client",),
    "Work in progress": ("Client",),
    "Overdue invoices": (None,),
}
MORE_KEYS = KEYS | {"Realization": ("Client", "Timekeeper"), "Exposure": ("Client",), "Scorecard": (None,)}
BY_TABLE = {"Total", "Running share"}
"""Words that the table's title completes; buckets of days are such, too."""
SAME = {
    "Receivables: of which overdue": ("", "Overdue"),
    "Receivables: of which unused credits": ("", "Unused credits"),
    "Work in progress: of which older than 90 days": ("Work in progress", "91+ days"),
    "Lock-up: of which work in progress": ("", "Days of work in progress"),
    "Lock-up: of which receivables": ("", "Days of receivables"),
}
"""The words in tables of what headlines call a part, with the title that completes them."""


def texts_of(view: str, title: str, table) -> Iterator[Seen]:
    heads = [each.get_text().strip() for each in table.thead.find_all("th")]
    for row in table.select("tbody tr, tfoot tr"):
        if "group" in row.get("class", ()):
            continue
        name, *cells = [each for each in row.find_all(["th", "td"]) if "bar" not in each.get("class", ())]
        # What is beside a name in small letters is no part of it.
        for each in name.find_all("small"):
            each.decompose()
        for words, cell in zip(heads[1:], cells, strict=True):
            marked = "outside" in cell.get("class", ())
            # The page shows the sign of a change.
            text = cell.get_text().strip().removeprefix("+")
            yield Seen(view, title, name.get_text().strip(), words, text, marked)


def shown_by_the_notebook(month: Month) -> Iterator[Section]:
    """Run the cells of the report's notebook after the load, from which the page is made, except lists and texts."""
    _about, parameters, _load, *cells = new_notebook()["cells"]
    names: dict[str, Any] = {"report": report, "firm": month}
    exec(parameters["source"], names)
    without = {"report.stale(firm)"}
    shown = [eval(cell["source"], names) for cell in cells if cell["source"] not in without]
    yield from filter(None, shown)


def on_the_page(month: Month) -> Iterator[Seen]:
    for section in shown_by_the_notebook(month):
        page = BeautifulSoup(section._repr_html_(), "html.parser")
        for each in page.select("span.unit, span.mark, .tile b, .tile small, .to-do"):
            each.decompose()
        for tile in page.select(".tile"):
            text = tile.select_one(".value").get_text().strip()
            # Balances of a later day say so after their name.
            words = tile.h3.get_text().strip().partition(" on ")[0]
            yield Seen("page one", "", "Total", TILES.get(words, words), text)
        for table in page.select("table:not(.figures)"):
            title = table.caption.get_text() if table.caption else page.h2.get_text().partition(", with")[0]
            yield from texts_of("page", title, table)
        rows = page.select("table.figures tbody tr:not(.group)")
        shown = headlines(month) if rows else ()
        for row, (each, words) in zip(rows, shown, strict=True):
            assert row.th.get_text().strip() == each.name
            yield Seen("page", "", "Total", words, row.td.get_text(), "outside" in row.td.get("class", ()))


def in_the_workbook(month: Month, monkeypatch) -> Iterator[Seen]:
    plan = planned(month)
    monkeypatch.setattr(writing, "planned", lambda *_given, **_options: plan)
    book = openpyxl.load_workbook(io.BytesIO(workbook(month)), read_only=True, data_only=True)
    for sheet in [table for each in plan for table in each.tables]:
        place = SheetRange(sheet)
        ends = {"max_row": place.total, "max_col": len(sheet.labels) + len(sheet.columns)}
        lines = book[place.name].iter_rows(min_row=place.heading, values_only=True, **ends)
        heads, *rows = [
            tuple(str(cell).removesuffix(f", {month.currency}") if at == 0 and cell else cell for cell in line)
            for at, line in enumerate(lines)
        ]
        for row in filter(any, rows):
            count = len(sheet.labels)
            name = ", ".join(str(each) for each in row[:count] if each is not None)
            for each, words, value in zip(sheet.columns, heads[count:], row[count:], strict=True):
                if each.unit not in {"text", "date"}:
                    yield Seen("workbook", sheet_name(sheet.title), name, words, format_number(value, each.unit))
    shown = {str(row[0]): row[1] for row in book["In figures"].iter_rows(values_only=True) if row and row[0]}
    for each, words in headlines(month):
        value = shown["   " + each.name if each.is_part else each.name]
        yield Seen("workbook", "", "Total", words, format_number(value, each.unit))


def in_the_explorer(month: Month) -> Iterator[Seen]:
    period = FilterState().with_criterion("date", Range(month.first, month.last))
    filtered = FilteredBooks(month.book, month.loaded_on or month.as_of).at(period)
    keys = MORE_KEYS if month.book.time_entries["amount"].notna().any() else KEYS
    for view in views():
        for key in keys.get(view.tab.title, ()):
            tab = AnalysisTab(view, "UTC")
            if key and tab.by.value != key:
                tab.by.value = key
            tab.show(filtered)
            table = BeautifulSoup(tab._table.value, "html.parser").table
            yield from texts_of("explorer", table.caption.get_text(), table)
            tiles = BeautifulSoup(tab._tiles.value, "html.parser")
            for each in tiles.select("span.bf-unit"):
                each.decompose()
            for tile in tiles.select("dl > div"):
                yield Seen("explorer", view.tab.title, "Total", tile.dt.get_text(), tile.dd.get_text().strip())


def place_of(each: Seen, month: Month) -> tuple[str, str, str, str]:
    """Return the row of a figure, and its name, which the table's title completes if necessary."""
    subject, _, key = sheet_name(each.table).partition(" by ")
    now = {month_name(month.first, short=True), str(pd.Timestamp(month.first))}
    whole = each.row == "Total" or (each.table == "Twelve months" and each.row in now)
    of = ("", "Total") if whole else (key.replace("responsible lawyer", "responsible") or each.table, each.row)
    if each.words in SAME:
        return (*of, *SAME[each.words])
    if not each.table and each.words in {"Receivables", "Work in progress"}:
        return (*of, each.words, "Total")
    by_age = BUCKET.fullmatch(each.words.removesuffix(" days").replace("–", "-"))
    # The title names the twelve months.
    completed = each.words in BY_TABLE or subject == "Fees of twelve months" or (by_age and subject != "Exposure")
    return (*of, subject if completed else "Receivables" if by_age else "", each.words)


@pytest.fixture(scope="module")
def renamed():
    """The seeded firm, in which two of the busiest clients, matters and people share a name."""
    october = "date LIKE '2026-10-%'"
    with Sandbox() as sandbox, sqlite3.connect(sandbox.database) as database:
        for table, name in (("client", "name = 'Acme'"), ("matter", "name = 'Advice'"), ("user", _ANN_LEE)):
            database.execute(
                f"""UPDATE {table} SET {name} WHERE {table}_id IN (SELECT {table}_id FROM time_entry
                JOIN matter USING (matter_id) WHERE {october} GROUP BY {table}_id ORDER BY SUM(hours) DESC LIMIT 2)"""
            )
        database.commit()
        yield sandbox
    database.close()


_ANN_LEE = "first_name = 'Ann', last_name = 'Lee'"
_SETTINGS = """
currency = "CHF"
time_zone = "Asia/Tokyo"
hours_per_day = 7.5
[targets]
"grace.nakamura@harrowlindqvist.example.com" = { hours = 1700, fees = 420000, period = "year" }
"""


@pytest.fixture(scope="module", params=["full", pytest.param("norates", marks=pytest.mark.sweep(keep=0))])
def month(request, renamed, tmp_path_factory) -> Month:
    """The month of a firm with another currency and time zone, and of a token without the scope for rates."""
    settings = ""
    if request.param == "full":
        path = tmp_path_factory.mktemp("firm") / "firm.toml"
        path.write_text(_SETTINGS, encoding="utf-8")
        settings = str(path)
    with connection(renamed.base_url, renamed.tokens[request.param]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load("2026-10", settings=settings)


def test_the_day_of_the_data_is_in_the_firms_time_zone_everywhere(month, monkeypatch):
    monkeypatch.setattr(views_module, "picture", lambda *_given, **_options: ("", []))
    # The sandbox's clock starts at 20:00 UTC on 31 October, which is the next day in Tokyo.
    day, zone = ("1 November 2026", r"05:\d\d Asia/Tokyo") if month.currency else ("31 October 2026", r"20:\d\d UTC")
    assert re.search(rf"[Dd]ata of {day}, {zone}", report.cover(month)._repr_html_())
    top = BeautifulSoup(bf.explore(month.firm_book)._top.value, "html.parser")
    assert f"ata of {day}" in top.get_text()


@pytest.fixture(scope="module")
def seen(month) -> list[Seen]:
    with pytest.MonkeyPatch.context() as monkeypatch, warnings.catch_warnings():
        # Charts are drawn from the rows of the tables, and take most of the time.
        monkeypatch.setattr(views_module, "picture", lambda *_given, **_options: ("", []))
        warnings.simplefilter("ignore")
        shown = [*on_the_page(month), *in_the_workbook(month, monkeypatch), *in_the_explorer(month)]
    return [each for each in shown if each.table not in LISTS or each.row == "Total"]


def compared(month: Month, seen: list[Seen]) -> tuple[dict[Any, dict[str, set[str]]], dict[Any, set[str]]]:
    """Return the figures with several texts, and the views that show each figure."""
    texts, where = defaultdict(lambda: defaultdict(set)), defaultdict(set)
    for each in seen:
        place = place_of(each, month)
        texts[place][each.text].add(f"{each.view}: {each.table}")
        where[place].add(each.view)
    return {place: dict(found) for place, found in texts.items() if len(found) > 1}, where


@pytest.mark.parametrize("name", ["mid-month", "tax"])
def test_the_report_of_a_made_up_firm_shows_one_figure_under_the_same_words(name, monkeypatch):
    month = MONTHS[name]()
    seen = [*on_the_page(month), *in_the_workbook(month, monkeypatch)]
    different, where = compared(month, [each for each in seen if each.table not in LISTS or each.row == "Total"])
    assert different == {}
    assert sum(len(views) > 1 for views in where.values()) > 50
    first = {words for (*_, words), views in where.items() if {"page one", "page", "workbook"} <= views}
    assert first >= {"Client hours", "Utilization", "Fees billed", "Billing realization", "Total", "Lock-up"}


def test_page_workbook_and_explorer_show_one_figure_under_the_same_words(month, seen):
    different, where = compared(month, seen)
    assert different == {}
    assert sum(len(views) > 1 for views in where.values()) > 500
    # A shared name is always shown with its reference.
    first = month.firm_book.clients.loc[month.firm_book.clients["name"] == "Acme", ["client_id", "reference"]].iloc[0]
    assert month.only(f"client:{first['client_id']}").scope.title == f"Client: Acme ({first['reference']})"
    rows = {each.row for each in seen}
    assert not rows & {"Acme", "Advice", "Ann Lee"}
    for name in ("Acme (", "Ann Lee ("):
        assert {each.view for each in seen if each.row.startswith(name)} == {"page", "workbook", "explorer"}
        assert len({each.row.split(", ")[0] for each in seen if each.row.startswith(name)}) == 2
    everywhere = {words for (*_, words), views in where.items() if views >= {"page", "workbook", "explorer"}}
    hours = {"Client hours", "Utilization"}
    assert everywhere >= hours | {"Fees billed", "Settled share", "Overdue", "Total", "91+ days", "On draft bills"}


def test_a_figure_is_marked_in_all_tables_of_the_page_or_in_none(month, seen):
    tables = defaultdict(lambda: defaultdict(set))
    for each in seen:
        if each.view == "page":
            tables[place_of(each, month)][each.marked].add(each.table)
    assert {place: dict(found) for place, found in tables.items() if len(found) > 1} == {}
    # More than a target is good.
    assert not [each for each in seen if each.words == "Target attainment" and each.marked]


ALSO_EQUAL = {
    "All fees counted": "no fees of contingency matters were billed in twelve months",
    **dict.fromkeys(
        ("Fees billed, all types", "Settled, all types", "Value of time billed, all types"),
        "all billed entries are on matters that realization counts",
    ),
    "Value of entries": "all billed entries are on matters that realization counts",
    "Fees billed, Oct 2026": "the fees billed of the month that is compared with the month before",
    "Value of time worked: of which on no final invoice yet": "none of the month's work is on a final invoice yet",
}
"""Figures of the firm that equal another one here, and the reason."""


def test_a_figure_of_the_firm_has_one_name(month, seen):
    names = defaultdict(set)
    for each in seen:
        subject, row, table, words = place_of(each, month)
        if (subject, row) == ("", "Total") and sum(map(str.isdigit, each.text)) >= 6 and words not in ALSO_EQUAL:
            names[each.text].add(f"{table} {words}".strip().removesuffix(" Total"))
    assert {text: found for text, found in names.items() if len(found) > 1} == {}


def test_the_figures_equal_those_of_plain_pandas(month, seen):
    book, days = month.book, (pd.Timestamp(month.first), pd.Timestamp(month.last))
    kinds = book.matters.set_index("matter_id")["matter_type"].astype(str)
    entries = book.time_entries.assign(kind=book.time_entries["matter_id"].map(kinds))
    for_clients = entries["billing_type"].isin(["billable", "fixedFee"]) & (entries["kind"] != "internal")
    invoices = book.invoices[book.invoices["invoice_state"] == "final"]
    owed = invoices[invoices["invoice_date"] <= days[1]]
    late = owed["due_date"].fillna(owed["invoice_date"]) < days[1]
    items = (entries[entries["billing_type"] == "billable"], book.expenses, book.fixed_fees)
    items = [each[each["matter_id"].map(kinds) != "contingency"] for each in items]
    open_items = [each[(each["date"] <= days[1]) & ~each["invoice_id"].isin(owed["invoice_id"])] for each in items]
    expected = {
        ("", "Client hours"): (entries.loc[for_clients & entries["date"].between(*days), "hours"].sum(), "hours"),
        ("Receivables", "Total"): (owed["balance"].sum(), "money"),
        ("", "Overdue"): (owed.loc[late & (owed["balance"] > 0), "balance"].sum(), "money"),
        ("", "Unused credits"): (owed.loc[owed["balance"] < 0, "balance"].sum(), "money"),
        ("Work in progress", "Total"): (sum(each["amount"].sum(skipna=False) for each in open_items), "money"),
    }
    shown = {place_of(each, month): each.text for each in seen}
    found = {words: shown["", "Total", *words] for words in expected}
    assert found == {words: format_number(value, unit) for words, (value, unit) in expected.items()}
    assert (found["Work in progress", "Total"] == MISSING) == bool(entries["amount"].isna().all())
