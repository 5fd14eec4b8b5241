"""Settings that name unknown users or matters give a warning, whichever table of the settings names them."""

from __future__ import annotations

import warnings

import pytest

from billframes import FirmSettings
from billframes.analysis import effective_rates, leverage, utilization
from billframes.errors import IncompleteDataWarning
from tests.analysis.calls import PEOPLE, WORK, edge_case_frames

KEYS = {
    "user_hours": {"u7": 4.0},
    "user_start": {"u7": "2026-01-01"},
    "user_end": {"u7": "2026-12-01"},
    "leave": {"u7": ["2026-10-01"]},
    "targets": {"u7": {"hours": 100, "period": "month"}},
    "standard_rates": {"u7": 300},
    "cost_rates": {"u7": 100},
    "roles": {"u7": "attorney"},
}


def warnings_of(firm, settings, function=utilization, names=("time_entries", *PEOPLE), **options):
    frames = edge_case_frames(firm)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(**{name: frames[name] for name in names}, settings=settings, **options)
    return [str(each.message) for each in caught if "settings name" in str(each.message)]


@pytest.mark.parametrize("key", KEYS)
def test_every_table_of_users_is_checked(pandas_firm, key):
    (message,) = warnings_of(pandas_firm, FirmSettings(**{key: KEYS[key]}), start="2026-10")
    assert message.startswith(f"settings name 1 user that is not among those passed: u7 ({key}).")


def test_users_and_matters_are_named_with_their_tables(firm):
    settings = FirmSettings(
        budgets={"m1": 10, "m7": 10}, originator_weights={"m7": {"u1": 0.5, "u7": 0.5}}, roles={"u7": "attorney"}
    )
    assert [message.partition(". Load")[0] for message in warnings_of(firm, settings, start="2026-10")] == [
        "settings name 1 user that is not among those passed: u7 (roles, originator_weights)",
        "settings name 1 matter that is not among those passed: m7 (budgets, originator_weights)",
    ]
    assert warnings_of(firm, FirmSettings(budgets={"m1": 10}, roles={"u1": "attorney"}), start="2026-10") == []


def test_only_names_of_frames_that_were_passed_are_checked(pandas_firm):
    settings = FirmSettings(budgets={"m7": 10}, roles={"u7": "attorney"})
    assert len(warnings_of(pandas_firm, settings, names=("time_entries", "matters"), start="2026-10")) == 1


@pytest.mark.parametrize(("function", "names"), [(leverage, ("time_entries", *PEOPLE)), (effective_rates, WORK)])
def test_an_analysis_that_calls_others_warns_once(pandas_firm, function, names):
    assert len(warnings_of(pandas_firm, FirmSettings(roles={"u7": "attorney"}), function, names, start="2026-10")) == 1


def test_the_warning_is_of_incomplete_data(pandas_firm):
    frames = edge_case_frames(pandas_firm)
    with pytest.warns(IncompleteDataWarning, match="settings name 1 user"):
        utilization(frames["time_entries"].iloc[:0], start="2026-10", users=frames["users"], matters=frames["matters"],
                    settings=FirmSettings(roles={"u7": "attorney"}))  # fmt: skip
