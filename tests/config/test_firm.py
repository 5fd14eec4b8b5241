"""Firm settings accept valid values, and errors name wrong keys and values."""

from __future__ import annotations

import datetime as dt
import pickle
from dataclasses import replace
from functools import partial
from inspect import signature

import pytest

from billframes.config.firm import FirmSettings, describe_settings
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
        ({"working_days": ["Monday"]}, r"working_days\[0\]='Monday' is not known. Did you mean 'Mon'"),
        ({"working_days": "Mon"}, "working_days='Mon' is not a list"),
        ({"holidays": ["soon"]}, r"holidays\[0\]='soon' is not a date"),
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
        ({"matter_types": ["fixed fee"]}, r"matter_types\[0\]='fixed fee' is not known. Did you mean 'fixedFee'"),
        ({"matter_types": "hourly"}, "matter_types='hourly' is not a list"),
        ({"report": {"titel": "Harrow"}}, "report has an unknown key 'titel'. Did you mean 'title'"),
        ({"report": {"accent": "blue"}}, "report.accent='blue' is not a colour"),
        ({"report": {"paper": "A5"}}, "report.paper='A5' is not known"),
        ({"ledger": {"customers": {"Acme": 1}}}, r"ledger.customers\['Acme'\]=1 is not a text"),
        ({"ledger": {"trust_accounts": "IOLTA"}}, "ledger.trust_accounts='IOLTA' is not a list"),
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


HST = {"name": "HST", "rate": 0.13, "on": ["time"]}


@pytest.mark.parametrize(
    ("taxes", "message"),
    [
        (HST, r"taxes=\{.*\} is not a list"),
        (["HST"], r"taxes\[0\]='HST' is not a tax"),
        ([{**HST, "rate": 13}], r"taxes\[0\]: rate=13 is not a rate from 0 to 1. Write 13% as 0.13."),
        ([HST, {**HST, "name": "PST", "rate": -0.1}], r"taxes\[1\]: rate=-0.1 is not a rate from 0 to 1"),
        ([{"name": "HST", "rte": 0.13}], r"taxes\[0\] has an unknown key 'rte'. Did you mean 'rate'\?"),
        ([{"name": "HST"}], r"taxes\[0\] has no rate; a tax needs a name and a rate"),
        ([{**HST, "name": " "}], r"taxes\[0\]: name=' ' is not the name of a tax"),
        ([{**HST, "on": ["fixed fees"]}], r"taxes\[0\]: on\[0\]='fixed fees' is not known. Did you mean 'fixed_fees'"),
        ([{**HST, "on": []}], r"taxes\[0\]: on is empty"),
        ([{**HST, "clients": []}], r"taxes\[0\]: clients is empty"),
        ([{**HST, "clients": "c1"}], r"taxes\[0\]: clients='c1' is not a list"),
        ([{**HST, "clients": ["c1"], "except_clients": ["c2"]}], r"taxes\[0\]: it has both clients and except_clients"),
        ([{**HST, "start": "2026-02-01", "end": "2026-01-31"}], r"start=2026-02-01 is after end=2026-01-31"),
        (
            [{**HST, "end": "2026-07-01"}, {"name": "hst", "rate": 0.15, "start": "2026-07-01", "clients": ["c1"]}],
            "taxes has 'HST' twice .0.13 and 0.15. for the client c1 on time from 2026-07-01 up to 2026-07-01",
        ),
        ([{**HST, "except_clients": ["c2"]}, {**HST, "rate": 0.15, "except_clients": ["c1"]}], "for the same clients"),
    ],
)
def test_a_wrong_tax_is_named_in_one_sentence(taxes, message):
    with pytest.raises(ParameterError, match=message) as caught:
        FirmSettings(taxes=taxes)
    assert "\n" not in str(caught.value)


def test_rates_of_one_tax_may_follow_each_other_and_different_taxes_add_up():
    later = {**HST, "rate": 0.15, "start": "2026-07-01"}
    others = [{**HST, "on": ["expenses"]}, {**HST, "rate": 0.05, "name": "GST"}]
    firm = FirmSettings(taxes=[{**HST, "end": "2026-06-30", "clients": ["c1"]}, later, *others])
    assert [tax.rate for tax in firm.taxes] == [0.13, 0.15, 0.13, 0.05]
    assert firm.named["clients"] == {"c1": ["taxes"]}
    assert replace(firm, currency="CAD").taxes == firm.taxes


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("proportionate", "payment_order='proportionate' is not known.*Did you mean 'proportional'"),
        (("tax", "tax", "fees"), "payment_order names 'tax' twice"),
        (("tax", "fees"), "payment_order lacks 'expenses'"),
        (("tax", "expense", "fees"), r"payment_order\[1\]='expense' is not known. Did you mean 'expenses'"),
        (None, "payment_order=None is not a list"),
    ],
)
def test_a_wrong_order_of_payments_is_named(order, message):
    with pytest.raises(ParameterError, match=message):
        FirmSettings(payment_order=order)


def test_taxes_and_the_order_of_payments_are_read_from_a_file(tmp_path):
    path = tmp_path / "firm.toml"
    path.write_text(
        'payment_order = ["tax", "expenses", "fees"]\n'
        '[[taxes]]\nname = "HST"\nrate = 0.13\non = ["time"]\nstart = 2026-07-01\nexcept_clients = ["c1"]\n'
    )
    firm = FirmSettings.load(path)
    (tax,) = firm.taxes
    assert (tax.name, tax.rate, tax.on, tax.start, tax.end) == ("HST", 0.13, ("time",), dt.date(2026, 7, 1), None)
    assert (firm.payment_order, tax.except_clients) == (("tax", "expenses", "fees"), ("c1",))
    assert describe_settings(firm).endswith(" taxes and payments that settle tax, then expenses, then fees.")
    path.write_text('[[taxes]]\nname = "HST"\nrate = 13\n')
    with pytest.raises(ConfigError, match=r"firm.toml: taxes\[0\]: rate=13"):
        FirmSettings.load(path)
