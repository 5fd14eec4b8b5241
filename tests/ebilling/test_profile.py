"""A profile refuses unknown keys and invalid values, and suggests the nearest valid one."""

from __future__ import annotations

import datetime as dt

import pytest

from billframes.ebilling import LedesProfile
from billframes.errors import ConfigError, ParameterError

FILE = """
law_firm_id = "24-6437381"
client = "Granite Mutual"
client_matter_id = "cf_client_no"
adjustments = "lines"
fixed_fees = "F"
billing_start = 2026-10-01
max_description = 1024
require = ["task", "expense"]

[timekeeper_ids]
"ada@firm.example" = "22547"
"""


def test_a_file_has_the_same_keys(tmp_path):
    path = tmp_path / "granite.toml"
    path.write_text(FILE, encoding="utf-8")
    assert LedesProfile.load(path) == LedesProfile(
        law_firm_id="24-6437381",
        client="Granite Mutual",
        client_matter_id="cf_client_no",
        adjustments="lines",
        fixed_fees="F",
        billing_start=dt.date(2026, 10, 1),
        max_description=1024,
        require=["task", "expense"],
        timekeeper_ids={"ada@firm.example": "22547"},
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"law_firm": "1"}, "unexpected keyword argument 'law_firm'. Did you mean 'law_firm_id'?"),
        ({"client": "x"}, "missing a required argument: 'law_firm_id'"),
        (
            {"law_firm_id": "1", "adjustments": "line"},
            "one of 'refuse', 'invoice', 'lines'. Did you mean 'lines'?",
        ),
    ],
)
def test_an_argument_with_a_mistake_is_named_with_the_nearest(given, said):
    with pytest.raises(ParameterError) as error:
        LedesProfile(**given)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("law_firm = '1'", "unknown key 'law_firm'. Did you mean 'law_firm_id'?"),
        ("law_firm_id = '1'\nadjustment = 'lines'", "Did you mean 'adjustments'?"),
        ("client = 'x'", "has no law_firm_id"),
        ("law_firm_id = 24", "law_firm_id=24 is not a text"),
        ("law_firm_id = ", "can't be read as a LEDES profile"),
        ("law_firm_id = '1'\nadjustments = 'line'", "Did you mean 'lines'?"),
    ],
)
def test_a_file_with_a_mistake_is_one_sentence(tmp_path, text, said):
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        LedesProfile.load(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match=r"no\.toml can't be read as a LEDES profile"):
        LedesProfile.load(tmp_path / "no.toml")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"law_firm_id": ""}, "law_firm_id is empty"),
        ({"law_firm_id": "1" * 21}, "has 21 characters; the format takes 20"),
        ({"law_firm_id": "24|1"}, "can't hold"),
        ({"client_id": "2f9d3a53-3d4c-4e0a-9a55-0b6a6a3b1c11"}, "has 36 characters"),
        ({"fixed_fees": "FI"}, "fixed_fees='FI' is not known"),
        ({"require": "tasks"}, "Did you mean 'task'?"),
        ({"timekeeper_ids": "own_id"}, "these begin with 'cf_'"),
        ({"timekeeper_ids": {"u1": "7", "u2": "7"}}, "gives '7' to two people"),
        ({"timekeeper_ids": {"u1": ""}}, "is empty"),
        ({"timekeeper_names": {"u1": "x" * 31}}, "the format takes 30"),
        ({"classifications": {"attorney": "ASSOCIATE LAWYER"}}, "the format takes 10"),
        ({"classifications": "ASSOC"}, "is not a table"),
        ({"max_description": 0}, "is not a number of characters"),
        ({"max_description": True}, "is not a number of characters"),
        ({"billing_start": "2026-10-01"}, "is not a date"),
        ({"billing_start": dt.date(2026, 10, 2), "billing_end": dt.date(2026, 10, 1)}, "is after billing_end"),
        ({"invoice_description": "Für Leistungen"}, "can't hold"),
    ],
)
def test_a_wrong_value_names_its_key(options, said):
    with pytest.raises(ParameterError) as error:
        LedesProfile(**{"law_firm_id": "24-6437381", **options})
    assert said in str(error.value)
    assert next(iter(options)) in str(error.value)
