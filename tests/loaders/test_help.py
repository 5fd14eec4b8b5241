"""What IPython and Jupyter show of a loader: real names, defaults and texts, though none is written on the method."""

from __future__ import annotations

import inspect

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from msgspec import UNSET

import billframes as bf
from billframes._names import snake_case
from billframes.schema.resources import RESOURCES
from billframes.schema.sources import fields_of

FILTERS = [(each.name, snake_case(one.name), one) for each in RESOURCES for one in each.filters if one.kind != "date"]
WRITES = [
    (f"{each.name}.{verb}", field)
    for each in RESOURCES
    for verb, request in (("create", each.creates), ("update", each.updates))
    if request
    for field in fields_of(request)
]


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell()
    shell.colors = "nocolor"
    shell.user_ns["bf"] = bf
    yield shell
    shell.history_manager.end_session()


def shown(shell, call):
    """What `bf.call?` shows, in one line."""
    return " ".join(shell.object_inspect_text(f"bf.{call}").split())


def completed(shell, text):
    with provisionalcompleter():
        return [each.text for each in shell.Completer.completions(text, len(text))]


@pytest.mark.parametrize(("loader", "argument", "declared"), FILTERS)
def test_a_question_mark_shows_every_filter_with_its_default_and_text(shell, loader, argument, declared):
    text = shown(shell, loader)
    annotation = inspect.signature(getattr(bf, loader)).parameters[argument].annotation
    assert f"{argument}: '{annotation}' = None" in text
    assert f"{argument} : " in text
    assert declared.description.removesuffix(".") in text
    assert all(f'"{value}"' in text for value in declared.values)


@pytest.mark.parametrize("loader", ["time_entries", "invoices", "clients", "matters"])
def test_a_question_mark_shows_what_all_paged_lists_take(shell, loader):
    text = shown(shell, loader)
    assert "to: 'str' = 'pandas'" in text
    assert 'to : {"pandas", "arrow", "polars"}, default "pandas"' in text
    resource = getattr(bf, loader).resource
    assert f"Details to load, by the API's names: {', '.join(resource.select)}." in text
    assert f"Order of the rows: {', '.join(resource.sort)}." in text
    assert "{" not in text.replace('{"pandas"', "")


def test_a_question_mark_names_the_day_that_a_period_goes_by(shell):
    assert "First day, inclusive, by `date`." in shown(shell, "expenses")
    assert "First day, inclusive, by `invoice_date`." in shown(shell, "invoices")


@pytest.mark.parametrize(("call", "field"), WRITES, ids=lambda each: getattr(each, "name", each))
def test_a_question_mark_shows_every_field_of_a_write(shell, call, field):
    text = shown(shell, call)
    loader, verb = call.split(".")
    parameter = inspect.signature(getattr(getattr(bf, loader), verb)).parameters[field.name]
    ending = "" if parameter.default is parameter.empty else " = UNSET"
    assert f"{field.name}: '{parameter.annotation}'{ending}," in text
    assert f"{field.name} : " in text
    assert parameter.default in (parameter.empty, UNSET)


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("bf.time_entries(bil", ["billed=", "billing_type="]),
        ("bf.time_entries('2026-10', fix", ["fixed_fee_id="]),
        ("bf.matters(arch", ["archived="]),
        ("bf.expenses.count(inv", ["invoice_id="]),
        ("bf.time_entries.create(hou", ["hours="]),
        ("bf.matters.update('m', conf", ["conflict_information="]),
    ],
)
def test_tab_completes_the_names_of_arguments(shell, typed, names):
    assert completed(shell, typed)[: len(names)] == names


@pytest.mark.parametrize(
    ("call", "arguments", "said"),
    [
        ("time_entries", {"biled": True}, "time_entries() got an unexpected keyword argument 'biled'. Did you mean"),
        ("matters.count", {"archive": True}, "Did you mean 'archived'?"),
        ("expenses.create", {"ammount": 1}, "expenses.create() got an unexpected keyword argument 'ammount'. Did you"),
        ("users.update", {"id": "u", "custom_field": {}}, "Did you mean 'custom_fields'?"),
        ("practice_areas", {"zzz": 1}, "It takes to."),
        ("clients.create", {}, "clients.create(): missing a required"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_right_one(call, arguments, said):
    loader, _, method = call.partition(".")
    with pytest.raises(TypeError) as raised:
        getattr(getattr(bf, loader), method or "__call__")(**arguments)
    assert said in str(raised.value)
