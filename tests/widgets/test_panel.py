"""The panel without a kernel: a click creates a state, and everything shown depends on the state."""

from __future__ import annotations

import datetime as dt
import inspect

import pandas as pd
import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes.errors import ParameterError
from tests.frames import assert_frame_equal

TODAY = dt.date(2026, 10, 31)


@pytest.fixture
def panel(work):
    return bf.widgets.filter_panel(work, today=TODAY)


def box(panel, column, words):
    control = panel.controls[column]
    control.open()
    return next(each for each in control.boxes if words_of(each).startswith(words))


def words_of(widget):
    """Return the visible text of a check box or of HTML."""
    markup = widget.value if isinstance(widget.value, str) else widget.description
    return BeautifulSoup(markup, "html.parser").get_text()


def test_nothing_is_filtered_at_first(panel, work):
    assert panel.frame is work
    assert panel.state == {}
    assert panel.code() == "frame"
    assert panel.clear.disabled
    assert "6 of 6 rows" in panel._count.value


def test_ticking_options_gives_the_frame_that_pandas_gives(panel, work):
    box(panel, "client_id", "Acme (A-1)").value = True
    box(panel, "billing_type", "Non-billable").value = True
    expected = work[work["client_id"].isin(["c1"]) & (work["billing_type"] == "nonBillable")]
    assert_frame_equal(panel.frame, expected)
    assert panel.state == {"client_id": ["c1"], "billing_type": ["nonBillable"]}
    assert "1 of 6 rows" in panel._count.value
    assert words_of(panel._summary) == "Client: Acme (A-1) · Billing type: Non-billable"


def test_counts_beside_options_follow_the_other_filters(panel):
    box(panel, "billed", "Billed").value = True
    assert words_of(box(panel, "client_id", "Acme (A-1)")) == "Acme (A-1) (1)"
    assert words_of(box(panel, "billed", "Not")) == "Not billed (3)"


def test_unticking_and_clearing_remove_filters(panel, work):
    box(panel, "client_id", "Acme (A-1)").value = True
    box(panel, "client_id", "Unassigned").value = True
    assert panel.state == {"client_id": ["c1", None]}
    box(panel, "client_id", "Acme (A-1)").value = False
    assert panel.state == {"client_id": [None]}
    panel.clear.click()
    assert panel.state == {}
    assert not box(panel, "client_id", "Unassigned").value
    assert panel.frame is work


def test_each_chosen_value_is_a_button_that_removes_it(panel):
    panel.state = {"client_id": ["c1", None]}
    first, second = panel._chosen.children
    assert first.description == "Client: Acme (A-1) ✕"
    second.click()
    assert panel.state == {"client_id": ["c1"]}


def shown_controls(panel):
    return [
        column
        for group in panel.groups._groups
        for column in (control.field.column for control in group.controls if control.box.layout.display != "none")
        if "none" not in {group.box.layout.display, group._body.layout.display}
    ]


def test_filters_are_in_groups_and_a_search_finds_a_filter_or_a_value(entries):
    panel = bf.widgets.filter_panel(entries)
    first, billing, *about = panel.groups._groups
    assert first.toggle.description == "▾ Client, matter and people"
    assert [group.toggle.description for group in about] == [
        *("▸ About the matter", "▸ About the client", "▸ About the timekeeper")
    ]
    columns = [control.field.column for group in (first, billing, *about) for control in group.controls]
    assert ["date", *columns] == list(panel.controls)
    assert shown_controls(panel) == columns[: len(first.controls) + len(billing.controls)]
    # A filter, by its title.
    panel.groups.search.value = "indus"
    assert shown_controls(panel) == ["client_cf_industry"]
    # A value, whose list is opened at the results.
    name = "Fjellström Åkerlund AB"
    panel.groups.search.value = "akerlund"
    assert "client_id" in shown_controls(panel)
    assert [words_of(each).partition(" (")[0] for each in panel.controls["client_id"].boxes] == [name]
    panel.controls["client_id"].boxes[0].value = True
    assert set(panel.frame["client_name"]) == {name}
    panel.groups.search.value = "no such thing"
    assert shown_controls(panel) == []
    assert panel.groups._nothing.layout.display is None
    panel.groups.search.value = ""
    assert shown_controls(panel) == columns[: len(first.controls) + len(billing.controls)]
    assert not panel.controls["client_id"].is_open
    assert first.toggle.description == "▾ Client, matter and people (1 chosen)"


def test_a_panel_with_few_filters_has_no_groups(panel):
    assert panel.groups._groups == []
    assert len(panel.groups.children) == 1


def test_quick_choices_are_relative_to_today(panel):
    quick = panel.controls["date"].quick
    quick.value = "Last month"
    assert panel.state == {"date": {"from": "2026-09-01", "to": "2026-09-30"}}
    assert panel.controls["date"].first.value == dt.date(2026, 9, 1)
    panel.controls["date"].last.value = dt.date(2026, 9, 15)
    assert quick.value == "Custom dates"
    assert panel.frame.index.tolist() == [1]
    quick.value = "All dates"
    assert panel.state == {}


def test_quick_choices_are_relative_to_the_day_the_frame_was_loaded(client):
    entries = client.time_entries("2026-10")
    entries.attrs["load"]["time"] = "2026-03-15T12:00:00+00:00"
    panel = bf.widgets.filter_panel(entries)
    panel.controls["date"].quick.value = "This quarter"
    assert panel.state["date"] == {"from": "2026-01-01", "to": "2026-03-31"}


def test_invalid_ends_show_a_message_and_change_nothing(panel):
    budget = panel.controls["matter_cf_budget"]
    budget.open()
    budget.first.value = "1,000"
    assert panel.state == {"matter_cf_budget": {"from": 1000.0, "to": None}}
    budget.last.value = "much"
    assert "not a number" in budget._message.value
    budget.last.value = "5"
    assert "is after" in budget._message.value
    assert panel.state == {"matter_cf_budget": {"from": 1000.0, "to": None}}
    budget.last.value = ""
    assert budget._message.value == ""


@pytest.mark.parametrize("text", ["1250,5", "1.250,50", "1,2"])
def test_a_comma_that_is_not_a_thousands_separator_is_refused(panel, text):
    budget = panel.controls["matter_cf_budget"]
    budget.open()
    budget.first.value = text
    assert "is not a number" in budget._message.value
    assert panel.state == {}


def test_a_search_sends_few_options_and_they_can_be_ticked(client):
    matters = pd.DataFrame(
        {"matter_id": [f"m{i}" for i in range(5000)], "matter_name": [f"No {i}" for i in range(5000)]}
    )
    panel = bf.widgets.filter_panel(matters)
    control = panel.controls["matter_id"]
    control.open()
    assert len(control.boxes) == 10
    control.search.value = "no 4711"
    assert [words_of(each) for each in control.boxes] == ["No 4711 (1)"]
    control.boxes[0].value = True
    assert panel.frame["matter_id"].tolist() == ["m4711"]
    control.search.value = ""
    control.more.click()
    assert len(control.boxes) == 50
    control.search.value = "nobody"
    assert "Nothing found" in control._foot.value


def test_a_state_can_be_saved_and_set_on_another_panel(panel, work):
    panel.state = {"date": "2026-10", "client_id": ["c1"], "matter_cf_insured": [True]}
    other = bf.widgets.filter_panel(work, today=TODAY)
    other.controls["client_id"].open()
    other.state = panel.state
    assert_frame_equal(other.frame, panel.frame)
    assert [each.value for each in other.controls["client_id"].boxes].count(True) == 1
    with pytest.raises(ParameterError, match="has no filter"):
        other.state = {"client": ["c1"]}


def test_listeners_receive_each_new_frame_once(panel):
    seen = []
    panel.on_change(seen.append)
    panel.state = {"client_id": ["c1"]}
    panel.state = {"client_id": ["c1"]}
    box(panel, "client_id", "Acme (A-1)").value = False
    assert [len(frame) for frame in seen] == [2, 6]


def test_names_are_shown_as_text_never_as_html(panel):
    panel.state = {"client_id": ["c3"]}
    assert "<script" not in panel._summary.value
    assert "&lt;script&gt;" in panel._summary.value
    panel.controls["client_id"].open()
    assert not any("<script" in each.description for each in panel.controls["client_id"].boxes)


def test_the_panel_is_a_name_of_billframes():
    assert "filter_panel" in dir(bf.widgets)
    assert inspect.unwrap(bf.widgets.filter_panel).__module__ == "billframes.widgets.panel"


@pytest.mark.parametrize("name", [2026, 0, ("fees", 2026)])
def test_a_column_whose_name_is_not_text_does_no_harm(client, name):
    frame = client.time_entries("2026-10", limit=5)
    panel = bf.widgets.filter_panel(pd.concat([frame, pd.DataFrame({name: [1.0] * len(frame)})], axis=1))
    assert panel.frame[name].tolist() == [1.0] * len(frame)


def test_without_a_kernel_a_panel_is_its_filters_and_a_table(panel):
    panel.state = {"client_id": ["c3"]}
    still = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in still
    assert still["text/plain"].startswith("FilterPanel: 1 of 6 rows; Client: ")
    assert "<table>" in still["text/html"]
    assert "Client: " in still["text/html"]
    assert "<script" not in still["text/html"]
    panel.close()
    assert panel._repr_mimebundle_ is None
