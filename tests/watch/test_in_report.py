"""What the firm's rules find is among the report's key points, once and in the watch's sentences."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

import billframes as bf
from billframes.report.key_points import MOST, key_points
from billframes.report.loading import load
from billframes.watch.in_report import points
from billframes.watch.look import look

BILLED = {"figure": "billing_realization", "below": 0.95}


@pytest.fixture(scope="module")
def month(watched, sandbox):
    return load("2026-10", settings=str(sandbox.firm_settings), client=watched)


@pytest.mark.slow
def test_the_findings_of_a_rule_are_one_point_first_and_displace_little(watched, month):
    found, bare = (key_points(each) for each in (month, with_settings(month, replace(month.settings, watch=()))))
    said = " ".join(each.text for each in found)
    holding = look(watched, month.settings, {}, "").holding
    assert len(holding) > 4
    firsts = [each for each in holding if each.rule.rule != "budget_used" or each.value < 1]
    for place, each in enumerate(firsts):
        is_first = place == 0 or firsts[place - 1].rule != each.rule
        assert (each.text if is_first else f"{each.name} (") in said
    (over,) = [each for each in holding if each.rule.rule == "budget_used" and each.value > 1]
    assert said.count(over.name) == 1
    assert len(found) <= MOST
    assert [each.is_breach for each in found] == sorted((each.is_breach for each in found), reverse=True)
    # The figures of page one remain.
    for each in bare[:-1]:
        assert each.headline in said
    assert key_points(month.only("practice_area:Litigation"))
    assert [*points(month.only("practice_area:Litigation"))] == []


@pytest.mark.slow
def test_what_a_key_point_says_and_what_the_report_cannot_know_is_left_out(month):
    unknown = [{"figure": "receivables", "moved_by": 1e-6}, {"rule": "old_data", "days": 1e-9}]
    with_floor = bf.FirmSettings(realization_floor=0.9, watch=[BILLED, *unknown])
    assert [*points(with_settings(month, with_floor))] == []
    (point,) = points(with_settings(month, bf.FirmSettings(watch=[BILLED, *unknown])))
    assert point.headline.startswith("Billing realization in the last 90 days is ")
    assert point.section == "realization"


def with_settings(month, settings):
    book = copy.copy(month.book)
    book.settings = settings
    return replace(month, book=book)
