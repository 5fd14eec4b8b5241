"""Firm settings accept valid values, and errors name wrong keys and values."""

from __future__ import annotations

import datetime as dt
import pickle
from dataclasses import replace
from functools import partial
from inspect import signature

import pytest

from billframes.config.firm import FirmSettings
from billframes.errors import CallError, ConfigError, IncompleteDataWarning, ParameterError

TOML = """
time_zone = "Europe/Berlin"
working_days = ["Mon", "Tue", "Wed", "Thu"]
holidays = [2026-10-03, "2026-12-25"]
hours_per_day = 7.5

[user_hours]
"ada@firm.example" = 4

[leave]
u1 = [2026-10-05, ["2026-10-10", "2026-10-12"]]

[targets.u1]
hours = 1600
period = "year"

[originator_weights.m1]
u1 = 0.6
u2 = 0.4
"""


def test_a_file_has_the_same_keys(tmp_path):
    path = tmp_path / "firm.toml"
    path.write_text(TOML)
    firm = FirmSettings.load(path)
    assert firm.holidays == (dt.date(2026, 10, 3), dt.date(2026, 12, 25))
    assert firm.leave == {
        "u1": [
            (dt.date(2026, 10, 5), dt.date(2026, 10, 5)),
            (dt.date(2026, 10, 10), dt.date(2026, 10, 12)),
        ]
    }
    assert firm.targets == {"u1": {"hours": 1600.0, "period": "year"}}
    assert firm == pickle.loads(pickle.dumps(firm))


def test_users_may_be_named_by_address():
    firm = FirmSettings(
        user_hours={"Ada@Firm.example": 4},
        roles={"u2": "attorney"},
        originator_weights={"m1": {"ada@firm.example": 1}},
    )
    assert firm.emails == {"ada@firm.example"}
    named = firm.by_id({"ada@firm.example": "u1"})
    assert named.user_hours == {"u1": 4.0}
    assert named.roles == {"u2": "attorney"}
    assert named.originator_weights == {"m1": {"u1": 1.0}}
    with pytest.raises(ParameterError, match="no user has that e-mail address"):
        firm.by_id({})
    with pytest.raises(ParameterError, match="twice"):
        FirmSettings(user_hours={"a@b": 1, "u1": 2}).by_id({"a@b": "u1"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"time_zone": "Mars/Phobos"}, "time_zone='Mars/Phobos'"),
        ({"working_days": ["Monday"]}, "working_days has 'Monday'.*Did you mean 'Mon'"),
        ({"working_days": "Mon"}, "working_days='Mon' is not a list"),
        ({"holidays": ["soon"]}, "holidays='soon'"),
        ({"hours_per_day": 25}, "hours_per_day=25"),
        ({"hours_per_day": True}, "hours_per_day=True"),
        ({"user_hours": {"u1": -1}}, r"user_hours\['u1'\]=-1 is negative"),
        ({"user_hours": [8]}, "user_hours=.* is not a mapping"),
        ({"user_start": {"u1": None}}, r"user_start\['u1'\]"),
        ({"user_start": {"u1": "2026-10-02"}, "user_end": {"u1": "2026-10-01"}}, "is after their user_end"),
        ({"leave": {"u1": [("2026-01-02", "2026-01-01")]}}, r"leave\['u1'\].*ends before it begins"),
        ({"leave": {"u1": [("2026-01-02",)]}}, r"leave\['u1'\]"),
        (
            {"leave": {"u1": ("2026-10-05", dt.date(2026, 10, 9))}},
            r"could be two days or all days .* Write \[\('2026-10-05', '2026-10-09'\)\] for all of them",
        ),
        ({"targets": {"u1": {"hours": 1600}}}, r"targets\['u1'\].*is not a target"),
        ({"targets": {"u1": {"hours": 1600, "period": "week"}}}, "the period 'week'"),
        ({"targets": {"u1": {"hours": 1600, "period": "month"}}}, "has more hours than a month"),
        ({"targets": {"u1": {"period": "year"}}}, r"targets\['u1'\].*is not a target"),
        ({"currency": "usd"}, "'usd' is not a currency code"),
        ({"currency": "$"}, "three capital letters"),
        ({"realization_floor": 90}, "0.9 is 90%"),
        ({"originator_weights": {"m1": {"u1": 0.5}}}, r"originator_weights\['m1'\] adds up to 0.5"),
        ({"roles": {"u1": "principle"}}, "Did you mean 'principal'"),
        ({"standard_rates": {"u1": "400"}}, r"standard_rates\['u1'\]='400' is not a number"),
        ({"standard_rates": {"u1": {"2026-01-01": -1}}}, r"standard_rates\['u1'\]\['2026-01-01'\]=-1 is negative"),
        ({"standard_rates": {"u1": {"January": 400}}}, r"standard_rates\['u1'\]"),
        ({"standard_rates": {"u1": {"2026-01-01": 1, dt.date(2026, 1, 1): 2}}}, "names one date twice"),
        ({"standard_rates": {"u1": {}}}, "has no rate"),
    ],
)
def test_a_wrong_value_names_its_key(values, message):
    with pytest.raises(ParameterError, match=message):
        FirmSettings(**values)


def test_dates_in_a_list_are_single_days_of_leave():
    first, last = dt.date(2026, 10, 5), dt.date(2026, 10, 9)
    assert FirmSettings(leave={"u1": [first, last]}).leave["u1"] == [(first, first), (last, last)]
    assert FirmSettings(leave={"u1": ((first, last),)}).leave["u1"] == [(first, last)]


def test_a_share_of_full_time_as_hours_per_day_gives_a_warning():
    FirmSettings(user_hours={"u1": 0, "u2": 1, "u3": 6.4})
    with pytest.warns(IncompleteDataWarning, match=r"but user_hours\['u1'\]=0.8. .* 80% of 8 hours has 6.4"):
        FirmSettings(user_hours={"u1": 0.8})


def test_an_unknown_setting_suggests_the_nearest():
    for change in (FirmSettings, partial(replace, FirmSettings(hours_per_day=7))):
        with pytest.raises(CallError, match=r"FirmSettings\(\) .* 'holiday'. Did you mean 'holidays'\?"):
            change(holiday=[])
    assert next(iter(signature(FirmSettings).parameters)) == "currency"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("holydays = []", "unknown key 'holydays'. Did you mean 'holidays'"),
        ("hours_per_day = ", "can't be read as firm settings"),
        ("hours_per_day = 99", "hours_per_day=99"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, message):
    path = tmp_path / "firm.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        FirmSettings.load(path)
    with pytest.raises(ConfigError, match=r"gone\.toml can't be read"):
        FirmSettings.load(tmp_path / "gone.toml")
