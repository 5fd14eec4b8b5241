"""The explorer's address: it shows what it says, says what is shown, and is refused if it has anything unknown."""

from __future__ import annotations

import datetime as dt
import itertools
import re

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes.widgets import overview
from billframes.widgets.address import Place, read_address, write_address
from billframes.widgets.filters import Filters
from billframes.widgets.state import FilterState, read_state
from billframes.widgets.views import AnalysisView

TODAY = dt.date(2026, 10, 31)
TIME = itertools.count()


@pytest.fixture(scope="module")
def explorer(october_book):
    return bf.explore(october_book)


@pytest.fixture(autouse=True)
def _without_charts(monkeypatch):
    monkeypatch.setattr(AnalysisView, "picture", lambda *_given, **_options: ("", []))
    monkeypatch.setattr(overview, "_page", lambda *_given: "The overview.")


@pytest.mark.parametrize(
    "saved",
    [
        {},
        {"date": "2026-10", "client_id": ["c1", None]},
        {"date": {"from": "2026-09-05", "to": None, "missing": True}, "billed": [True], "cf_office": ['Basel "old"']},
        {"date": {"from": None, "to": "2026-10-14"}, "matter_cf_insured": [False, None]},
        {"matter_cf_budget": {"from": 100.5, "to": None, "missing": True}},
        {"client_cf_since": "2010", "billing_type": ["billable", "fixedFee"]},
    ],
)
def test_an_address_keeps_every_kind_of_filter(work, saved):
    filters = Filters(work)
    state = read_state(saved, filters.fields)
    place = Place("receivables", None, "m1", state)
    assert read_address(write_address(place, filters), {"receivables": ()}, filters, None, TODAY) == place


def test_a_text_that_begins_like_no_value_is_a_text():
    filters = Filters(pd.DataFrame({"cf_office": pd.Categorical(["~", "", None])}))
    for value in ("~", "", None):
        place = Place("overview", None, None, FilterState({"cf_office": (value,)}))
        assert read_address(write_address(place, filters), {"overview": ()}, filters, None, TODAY) == place


@pytest.mark.slow
def test_what_is_shown_is_in_the_address_and_the_address_shows_it_again(explorer):
    lawyer = explorer._filters.options("responsible_id").keys[0]
    explorer.address = f"?tab=receivables&by=responsible&period=2026-09&responsible={lawyer}"
    tab = explorer.tabs.children[explorer.tabs.selected_index]
    assert (tab.view.tab.title, tab.key) == ("Receivables", "responsible")
    assert tab.result["responsible_id"].tolist() == [lawyer]
    assert "September 2026" in explorer._top.value
    shown = explorer.address
    assert shown == f"tab=receivables&by=responsible&period=2026-09&responsible={lawyer}"
    table = tab._table.value
    explorer.panel.state = {"date": "2026-10"}
    assert explorer.address == "tab=receivables&by=responsible&period=2026-10"
    tab.by.value = "Client"
    explorer.tabs.selected_index = 0
    assert explorer.address == "tab=overview&period=2026-10"
    explorer.address = shown
    assert tab._table.value == table
    assert "bf-busy" not in tab._dom_classes
    explorer.address = ""
    assert explorer.address == "tab=overview&period=2026-10"


@pytest.mark.slow
def test_the_row_whose_records_are_shown_is_in_the_address(explorer):
    explorer.address = "tab=utilization&by=month&period=2026-Q3"
    tab = explorer.tabs.children[1]
    click(tab, "open 1")
    opened = explorer.address
    assert opened == "tab=utilization&by=month&row=2026-08&period=2026-Q3"
    assert "Aug" in tab._records.value
    tab.records_box.children[-1].click()
    assert explorer.address == "tab=utilization&by=month&period=2026-Q3"
    # It is also opened from another tab, and under another key. A row of other rows is closed.
    for before in (explorer.address, "tab=overview", "tab=utilization&period=2026-10"):
        explorer.address = before
        assert tab.records_box.layout.display == "none" or before == "tab=overview"
        explorer.address = opened
        assert (explorer.address, tab.records_box.layout.display) == (opened, None)
    explorer.panel.state = {"date": "2026-09"}
    assert explorer.address == "tab=utilization&by=month&period=2026-09"
    # Some records have no client.
    explorer.address = "tab=realization&row=~&period=2026-10"
    assert ("row=~" in explorer.address) == tab_has_unassigned(explorer.tabs.children[2])
    explorer.address = "tab=receivables&row=nobody&period=2026-10"
    assert explorer.address == "tab=receivables&period=2026-10"
    assert "The address has row=nobody, but the table has no such row." in explorer._refused.value


def tab_has_unassigned(tab) -> bool:
    return bool(tab.result["client_id"].isna().any())


def click(tab, words: str) -> None:
    tab.children[-1].value = f"{words} {next(TIME)}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tab=profits", "The address has tab=profits, but the tabs are overview, utilization"),
        ("tab=receivables&by=moon", "The address has by=moon, but the rows of this tab can't be grouped by it."),
        ("period=2026-13", "The address has period=2026-13, but it takes a span such as 2026-10"),
        ("period=2026-10&period=2026-09", "The address has period= more than once."),
        ("client=nobody", "The address has client=nobody, but no record here has this value."),
        ("row=c1", "The address has row=c1, but no tab."),
        ("colour=red", "The address has colour=red, but there is no filter of this name."),
        ("matter_cf_budget=much", "The address has matter_cf_budget=much, but it takes a span such as 100..200."),
        ("client=%3Cscript%3E", "The address has client=<script>, but no record here has this value."),
    ],
)
def test_an_unknown_value_is_refused_in_one_sentence_and_nothing_is_applied(explorer, text, said):
    explorer.address = before = "tab=overview&period=2026-10"
    explorer.address = f"{text}&billed=true"
    page = BeautifulSoup(explorer._refused.value, "html.parser")
    assert page.get_text().startswith(said)
    assert page.get_text().endswith(" Nothing of the address is applied.")
    assert page.find("script") is None
    assert not re.search(r"Traceback|ParameterError", explorer._refused.value)
    assert explorer.address == before
    # The sentence goes with the next choice.
    explorer.panel.state = {"date": "2026-09"}
    assert explorer._refused.value == ""
