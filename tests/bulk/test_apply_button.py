"""The button under a plan asks once, with the counts, and then sends."""

from __future__ import annotations

import pytest

import billframes as bf


def hidden(widget) -> bool:
    return widget.layout.display == "none"


def test_the_first_click_asks_with_the_counts_and_the_second_sends(firm):
    panel = bf.widgets.filter_panel(firm.client.time_entries("2026-10", billed=False))
    panel.state = {"billing_type": ["billable"]}
    edited = panel.frame.head(3).assign(description="From the <panel>")
    shown = bf.widgets.apply_button(firm.client.time_entries.plan(edited))
    at = firm.position()
    assert (hidden(shown.apply), hidden(shown.confirm), hidden(shown.cancel)) == (False, True, True)
    shown.apply.click()
    question = shown.children[1].value
    assert "3 time entries will be updated." in question
    assert firm.sandbox.base_url in question
    assert (hidden(shown.apply), hidden(shown.confirm)) == (True, False)
    shown.cancel.click()
    assert (hidden(shown.apply), hidden(shown.confirm), firm.changes(at)) == (False, True, [])
    shown.apply.click()
    shown.confirm.click()
    assert len(firm.changes(at)) == 3
    assert shown.outcomes["outcome"].tolist() == ["done"] * 3
    assert "3 done" in shown.children[1].value
    assert (hidden(shown.apply), hidden(shown.confirm)) == (True, True)


def test_a_plan_with_nothing_to_send_has_no_button(firm, entries):
    shown = bf.widgets.apply_button(firm.client.time_entries.plan(entries.head(1)[["time_entry_id"]]))
    assert hidden(shown.apply)


def test_an_error_is_shown_escaped(firm, monkeypatch):
    loaded = firm.client.time_entries("2026-10", billed=False).head(1)
    shown = bf.widgets.apply_button(firm.client.time_entries.plan(loaded.assign(description="x")))
    shown.plan._connection = bf.Client(firm.sandbox.base_url, "wrong", progress=False)._connection
    shown.apply.click()
    shown.confirm.click()
    assert "does not accept the credential" in shown.children[1].value
    assert shown.outcomes is None


def test_only_a_plan_has_a_button(entries):
    with pytest.raises(bf.errors.ParameterError, match="apply_button takes a plan"):
        bf.widgets.apply_button(entries)


def test_the_name_stays_the_function_however_often_it_is_used():
    assert bf.widgets.apply_button is bf.widgets.apply_button
    assert callable(bf.widgets.apply_button)


def test_without_a_kernel_the_button_is_its_plan_and_then_its_outcomes(firm):
    loaded = firm.client.time_entries("2026-10", billed=False).head(1)
    shown = bf.widgets.apply_button(firm.client.time_entries.plan(loaded.assign(description="<b>x")))
    still = shown._repr_mimebundle_()
    assert still["text/plain"] == f"ApplyButton: {shown.plan!r}"
    assert shown.plan._repr_html_() in still["text/html"]
    shown.confirm.click()
    assert "1 done" in shown._repr_mimebundle_()["text/html"]
