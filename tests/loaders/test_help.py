"""IPython and Jupyter show the names, defaults and texts of a loader's arguments, which are all derived."""

from __future__ import annotations

import inspect
import pydoc
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from msgspec import UNSET

import billframes as bf
from billframes._shared.names import snake_case
from billframes._shared.places import ELSEWHERE
from billframes._shared.suggestions import SuggestsNames
from billframes.bulk import Plan
from billframes.loaders.loader import Loader
from billframes.loading.record import Record
from billframes.mirror import Mirror
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
    """Return the output of `bf.call?`, on one line."""
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
def test_a_question_mark_shows_the_arguments_of_paged_lists(shell, loader):
    text = shown(shell, loader)
    assert "to: 'str' = 'pandas'" in text
    assert 'to : {"pandas", "arrow", "polars"}, default "pandas"' in text
    resource = getattr(bf, loader)._resource
    assert f"Details to load, by the API's names: {', '.join(resource.select)}." in text
    assert f"Order of the rows: {', '.join(resource.sort)}." in text
    assert "{" not in text.replace('{"pandas"', "")


@pytest.mark.parametrize("loader", ["time_entries", "users", "custom_fields", "client_balances", "codes", "health"])
def test_a_question_mark_says_everything_once(shell, loader):
    text = shell.object_inspect_text(f"bf.{loader}")
    first = inspect.getdoc(getattr(bf, loader)).partition("\n")[0]
    assert text.count(first) == 1
    assert text.count("Returns\n-------") == 1
    assert "Call docstring" not in text


@pytest.mark.parametrize("name", [each for each in bf.__all__ if isinstance(getattr(bf, each), Loader)])
def test_a_loader_is_shown_with_its_name_and_what_it_loads(name):
    assert repr(getattr(bf, name)).startswith(f"<billframes loader {name}: load ")


@pytest.mark.parametrize("name", [each for each in bf.tables.__all__ if each != "TableOf"])
def test_help_on_a_table_is_that_of_its_call(name):
    text = pydoc.render_doc(getattr(bf.tables, name), renderer=pydoc.plaintext)
    shown = "Show a result of `billframes.figures()`" if name == "figures" else f"`billframes.analysis.{name}()`"
    assert shown in text
    assert "Parameters" in text
    assert "__" not in text


def test_tab_shows_the_common_names_and_errors_are_in_their_own_module(shell):
    shown = completed(shell, "bf.")
    assert {"time_entries", "book", "analysis", "errors", "plots"} <= set(shown)
    assert [name for name in shown if name.endswith(("Error", "Warning"))] == []
    assert {f"bf.errors.{name}" for name in bf.errors.__all__} >= {"bf.errors.ApiError", "bf.errors.RatesHiddenWarning"}
    assert set(completed(shell, "bf.errors.")) == set(bf.errors.__all__)
    assert set(completed(shell, "bf.plots.")) == set(bf.plots.__all__)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("bf.time_entires", "billframes has no 'time_entires'. Did you mean 'time_entries'?"),
        ("bf.time_entries.cuont", "TimeEntries has no 'cuont'. Did you mean 'count'?"),
        ("client.time_entires", "Client has no 'time_entires'. Did you mean 'time_entries'?"),
        ("book.realisation", "Book has no 'realisation'. Did you mean 'realization'?"),
        ("book.time_entires", "Book has no 'time_entires'. Did you mean 'time_entries'?"),
        ("bf.plots.realisation", "billframes.plots has no 'realisation'. Did you mean 'realization'?"),
        ("bf.errors.ParamError", "billframes.errors has no 'ParamError'. Did you mean 'ParameterError'?"),
        ("bf.tables.agin", "billframes.tables has no 'agin'. Did you mean 'aging'?"),
        ("record.labl", "A practice area has no 'labl'. Did you mean 'label'?"),
        ("bf.Guidelines.from_file", "Guidelines has no 'from_file'. Did you mean 'read'?"),
        ("bf.guidelines.GuidelineFile.read", "GuidelineFile has no 'read'. Did you mean 'load'?"),
        ("bf.FirmSettings.from_toml", "FirmSettings has no 'from_toml'. Did you mean 'load'?"),
        ("bf.ebilling.LedesProfile.open", "LedesProfile has no 'open'. Did you mean 'load'?"),
        ("bf.bulk.Plan.undo", "Plan has no 'undo'. Did you mean 'reverse'?"),
        ("bf.bulk.Plan.resume", "Plan has no 'resume'. Did you mean 'bf.bulk.resume'?"),
        ("bf.bulk.plan", "billframes.bulk has no 'plan'. Did you mean 'bf.time_entries.plan'?"),
        ("bf.bulk.apply", "billframes.bulk has no 'apply'. Did you mean 'plan.apply()'?"),
        ("type(book).as_of", "Book has no 'as_of'. Did you mean 'bf.mirror(path).as_of(…)'?"),
        ("client.book", "Client has no 'book'. Did you mean 'bf.book'?"),
        ("book.receipts", "Book has no 'receipts'. Did you mean 'bf.mirror(path).implied_receipts(…)'?"),
        (
            "bf.guidelines.check",
            "billframes.guidelines has no 'check'. Did you mean 'bf.Guidelines.read(…).check(book)'?",
        ),
        ("bf.ebilling.check", "billframes.ebilling has no 'check'. Did you mean 'ledes_check'?"),
        ("bf.agin", "billframes has no 'agin'. Did you mean \"bf.book('2026-10').aging(…)\"?"),
        ("book.collections", "Book has no 'collections'. Did you mean 'overdue_invoices'?"),
        ("book.write_offs", "Book has no 'write_offs'. Did you mean \"bf.explain('write_offs')\"?"),
        ("mirror.at", "Mirror has no 'at'. Did you mean 'as_of'?"),
        ("mirror.receipts", "Mirror has no 'receipts'. Did you mean 'implied_receipts'?"),
        ("mirror.sync", "Mirror has no 'sync'. Did you mean 'refresh'?"),
    ],
)
def test_the_error_for_a_wrong_attribute_suggests_a_similar_one(client, expression, message):
    record = Record("practice area", {"practice_area_id": "p1", "label": "Tax"})
    names = {"bf": bf, "client": client, "book": bf.book("2026-10", client=client), "record": record, "mirror": Mirror}
    with pytest.raises(bf.errors.UnknownNameError) as raised:
        eval(expression, names)
    assert str(raised.value) == message
    assert isinstance(raised.value, AttributeError)


def test_an_attribute_that_raises_an_error_is_not_reported_as_unknown():
    class Odd(SuggestsNames):
        @property
        def time_entries(self):
            return None.columns

    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'columns'"):
        _ = Odd().time_entries


def test_a_question_mark_names_the_date_of_a_period(shell):
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
    ("call", "arguments", "message"),
    [
        ("time_entries", {"biled": True}, "time_entries() got an unexpected keyword argument 'biled'. Did you mean"),
        ("matters.count", {"archive": True}, "Did you mean 'archived'?"),
        ("expenses.create", {"ammount": 1}, "expenses.create() got an unexpected keyword argument 'ammount'. Did you"),
        ("users.update", {"id": "u", "custom_field": {}}, "Did you mean 'custom_fields'?"),
        ("practice_areas", {"zzz": 1}, "It takes to."),
        ("clients.create", {}, "clients.create(): missing a required"),
        ("invoices", {"state": "final"}, "Did you mean 'invoice_state'?"),
        ("time_entries", {"as_of": "2026-09-30"}, "For an earlier day: mirror.as_of(day).time_entries(…)."),
        ("client_balances", {"as_of": "2026-09-30"}, "client_balances() got an unexpected keyword argument 'as_of'."),
    ],
)
def test_a_wrong_name_suggests_the_nearest(call, arguments, message):
    loader, _, method = call.partition(".")
    with pytest.raises(bf.errors.CallError) as raised:
        getattr(getattr(bf, loader), method or "__call__")(**arguments)
    assert message in str(raised.value)


def verbs() -> Iterator[Any]:
    """Yield every public method of every loader, and the public functions."""
    for name in bf.__all__:
        loader = getattr(bf, name)
        if not isinstance(loader, Loader):
            continue
        found = [each for each in dir(loader) if not each.startswith("_") and callable(getattr(loader, each))]
        yield from (pytest.param(getattr(loader, each), id=f"{name}.{each}") for each in found)
        yield pytest.param(loader, id=name)
    for kind in (bf.FirmSettings, bf.Guidelines, bf.ebilling.LedesProfile):
        made = [name for name, each in vars(kind).items() if isinstance(each, classmethod) and name != "read"]
        yield from (pytest.param(getattr(kind, name), id=f"{kind.__name__}.{name}") for name in made)
    for module in (bf.plots, bf.tables):
        yield from (pytest.param(getattr(module, name), id=f"{module.__name__}.{name}") for name in module.__all__)


@pytest.mark.parametrize("call", [each for each in verbs() if each.id != "billframes.tables.TableOf"])
def test_every_method_and_function_suggests_the_right_argument(call):
    """The last letter of its first argument is doubled."""
    first = next(iter(inspect.signature(call).parameters))
    with pytest.raises(bf.errors.CallError, match=rf"'{first}{first[-1]}'\. Did you mean '{first}'\?"):
        call(**{f"{first}{first[-1]}": None})


def test_an_argument_that_is_taken_by_place_is_shown_so():
    for name in ("path", "paths"):
        with pytest.raises(bf.errors.CallError, match=rf"Guidelines.read\(\) got .* '{name}'. Did you mean '\*paths'"):
            bf.Guidelines.read(**{name: "guidelines"})


@pytest.mark.parametrize("call", ["time_entries.get", "matters.archive", "expenses.delete"])
def test_a_missing_argument_is_named(call):
    loader, _, method = call.partition(".")
    with pytest.raises(bf.errors.CallError, match=rf"{call}\(\): missing a required argument: 'id'"):
        getattr(getattr(bf, loader), method)()


@pytest.mark.parametrize(
    ("method", "returned"),
    [("time_entries", "Frame"), ("codes", "Frame"), ("time_entries.count", "int"), ("time_entries.get", "Record")],
)
def test_the_signature_says_what_a_call_returns(method, returned):
    assert inspect.signature(attrgetter(method)(bf)).return_annotation == returned


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("stop", "end"), ("from_", "start"), ("end_date", "end"), ("columns", "select"), ("order_by", "sort")],
)
def test_a_word_of_other_libraries_suggests_the_argument_that_means_the_same(wrong, right):
    with pytest.raises(bf.errors.CallError, match=rf"unexpected keyword argument '{wrong}'\. Did you mean '{right}'\?"):
        bf.time_entries("2026-10", **{wrong: "2026-10-31"})


def test_a_law_firms_word_suggests_the_analysis():
    for word, name in (("receivables", "aging"), ("ar", "aging"), ("unbilled", "wip"), ("realisation", "realization")):
        with pytest.raises(bf.errors.UnknownNameError) as raised:
            getattr(bf, word)
        assert f"Did you mean \"bf.book('2026-10').{name}(…)\"?" in str(raised.value)


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("plan", "time_entries.plan"),
        ("undo", "plan.reverse()"),
        ("chart", "plots"),
        ("implied_receipts", "bf.mirror(path).implied_receipts(…)"),
        ("as_of", "bf.mirror(path).as_of(…)"),
        ("sync", "bf.mirror(path).refresh()"),
        ("report", "import billframes.report, or billframes report in a terminal"),
        ("leakage", "bf.book('2026-10').write_downs(…)"),
        ("DSO", "bf.book('2026-10').lockup(…)"),
        ("budget", "bf.book('2026-10').budget_burn(…)"),
        ("capacity", "explain('capacity')"),
    ],
)
def test_a_word_of_the_trade_or_a_verb_suggests_its_place(word, place, monkeypatch):
    # A package that was imported is an attribute.
    monkeypatch.delattr(bf, word, raising=False)
    with pytest.raises(bf.errors.UnknownNameError) as raised:
        getattr(bf, word)
    assert str(raised.value) == f"billframes has no {word!r}. Did you mean {place!r}?"


@pytest.mark.parametrize("place", sorted({each for each in ELSEWHERE.values() if " " not in each}))
def test_the_place_of_a_verb_exists(place):
    owner, _, name = re.sub(r"\(\w*\)$", "", place.removeprefix("bf.")).rpartition(".")
    owners = {"": bf, "plan": Plan, "mirror(path)": Mirror, "time_entries": bf.time_entries}
    owners["Guidelines.read(…)"] = bf.Guidelines
    assert hasattr(owners[owner], name)


def test_earlier_names_are_refused_with_the_present_one():
    names = {
        "collections": "bf.book('2026-10').overdue_invoices(…)",
        "rates": "bf.book('2026-10').effective_rates(…)",
        "normalize_balances": "client_balances",
        "read_ledes": "ebilling.read_ledes",
        "ParameterError": "errors.ParameterError",
    }
    for word, name in names.items():
        with pytest.raises(bf.errors.UnknownNameError) as raised:
            getattr(bf, word)
        assert str(raised.value).endswith(f"has no '{word}'. Did you mean {name!r}?")
    with pytest.raises(bf.errors.CallError, match="'hours_a_day'. Did you mean 'hours_per_day'?"):
        bf.FirmSettings(hours_a_day=8)


def test_frames_that_are_passed_by_place_are_told_to_be_passed_by_name():
    with pytest.raises(bf.errors.CallError, match="after 'time_entries', pass all by name, such as expenses=…"):
        bf.analysis.realization("time", "expenses", "fees", "invoices")


def test_a_function_without_a_required_argument_names_it_and_the_others():
    with pytest.raises(
        bf.errors.CallError,
        match=r"realization\(\): missing a required argument: 'invoices'\. It takes .*users.*; or call "
        r"bf.book\('2026-10'\).realization\(…\)\.$",
    ):
        bf.analysis.realization("2026-10")
