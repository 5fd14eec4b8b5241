"""Wrong arguments of every loader and verb, and servers that break their description, wherever it can be broken.

Which loaders, arguments and fields there are is asked of billframes itself, so that a new one is tested too.
"""

from __future__ import annotations

import copy
import inspect
import json

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import billframes as bf
from billframes._names import snake_case
from billframes.api import resources as declared
from billframes.api.columns import fields_of
from billframes.api.records import ClientBalances, CodeList, HealthCheckResponse, UserList
from tests.api.conftest import Fake
from tests.api.made import is_struct, wire_names

LOADERS = [name for name in bf.__all__ if hasattr(getattr(bf, name), "resource")]
# What no argument of that type takes; the type is as the signature says.
WRONG = {
    "DateLike | None": [7, "soon", "2026-13-01", [], object()],
    "str | None": [7, b"x", ["x"], True],
    "Ids | None": [7, [7], "", [" "], {"a": None}.values(), object()],
    "Id | None": [7, ["a"], "", True],
    "Id | Collection[Id] | None": [7, [7], "", [""], object()],
    "bool | None": ["yes", 1, 0.0, []],
    "Names | None": [7, [7], "nonesuch", ["-nonesuch"], object()],
    "int | None": ["5", -1, 1.5, True, []],
    "bool | Progress | None": ["yes", 7, []],
    "Parameters | None": [7, "a=b", ["a"]],
    "str": [7, None, "numpy", ["pandas"]],
}


def arguments(call):
    return {name: each for name, each in inspect.signature(call).parameters.items() if name not in {"self", "id"}}


CALLS = [
    (name, each, argument, parameter.annotation)
    for name in LOADERS
    for each in ("__call__", "count")
    if hasattr(getattr(bf, name), each)
    for argument, parameter in arguments(getattr(type(getattr(bf, name)), each)).items()
]


@pytest.mark.parametrize(
    ("name", "method", "argument", "value"),
    [(*call[:3], value) for call in CALLS for value in WRONG[call[3]]],
    ids=lambda each: str(each)[:20] if not hasattr(each, "__dict__") else type(each).__name__,
)
def test_a_wrong_argument_of_a_loader_is_named_before_any_request(fake, connect, name, method, argument, value):
    with pytest.raises(bf.ParameterError) as raised:
        getattr(getattr(connect(health_path="/up"), name), method)(**{argument: value})
    assert argument in str(raised.value)
    assert fake.requests == []


RESOURCES = {each.name: each for each in declared.RESOURCES}


@pytest.mark.parametrize(
    ("name", "argument", "known"),
    [
        (each.name, argument, known)
        for each in RESOURCES.values()
        for argument, values in [
            ("select", each.select),
            ("sort", tuple(each.sort)),
            *((snake_case(one.name), one.values) for one in each.filters if one.kind == "enum"),
        ]
        for known in values
    ],
)
def test_a_misspelt_name_is_answered_with_the_closest(fake, connect, name, argument, known):
    misspelt = known[:-1] + "zz" if len(known) > 4 else known + "z"
    with pytest.raises(bf.ParameterError) as raised:
        getattr(connect(), name)(**{argument: misspelt})
    said = str(raised.value)
    assert f"{argument}={misspelt!r}" in said
    assert repr(known) in said
    assert "Did you mean" in said
    assert fake.requests == []


# By the kind of value that a field of the request holds.
WRONG_VALUES = {
    "id": [7, "", []],
    "text": [7, ["x"], b"x"],
    "enum": [7, "nonesuch", []],
    "date": [7, "soon", "2026-02-30", "2026-10", []],
    "time": [7, "noon", "25:00", []],
    "flag": ["yes", 1, []],
    **dict.fromkeys(("money", "hours", "rate", "number"), ["1.5", True, float("nan"), float("inf"), []]),
}


def requests():
    from billframes.api import records

    for name in LOADERS:
        for verb in ("create", "update"):
            if hasattr(getattr(bf, name), verb):
                noun = getattr(bf, name).resource.noun.title().replace(" ", "")
                yield name, verb, getattr(records, f"{verb.title()}{noun}")


GOOD = {"id": "a", "text": "x", "date": "2026-10-30", "enum": "billable", "hours": 1, "money": 1}


def required(request):
    return {
        each.name: GOOD[each.notes.get("kind", "text")]
        for each in fields_of(request)
        if each.name in request.__struct_fields__[: len(request.__struct_fields__) - len(request.__struct_defaults__)]
    }


@pytest.mark.parametrize(
    ("name", "verb", "argument", "value"),
    [
        (name, verb, field.name, value)
        for name, verb, request in requests()
        for field in fields_of(request)
        for value in (
            [7, "x", {7: "x"}, {"nonesuch": "x"}]
            if is_struct(field.type)
            else WRONG_VALUES[field.notes.get("kind", "text")]
        )
        if not (field.name == "custom_fields" and isinstance(value, dict))
    ],
)
def test_a_wrong_value_of_a_verb_is_named_before_any_request(fake, connect, name, verb, argument, value):
    request = next(each for one, other, each in requests() if (one, other) == (name, verb))
    values = {**(required(request) if verb == "create" else {}), argument: value}
    with pytest.raises(bf.ParameterError) as raised:
        getattr(getattr(connect(), name), verb)(*(["a"] if verb == "update" else []), **values)
    assert argument in str(raised.value)
    assert fake.requests == []


@pytest.mark.parametrize("id_", [7, "", " ", None, ["a"], True])
@pytest.mark.parametrize("verb", ["get", "update", "delete", "archive", "unarchive"])
@pytest.mark.parametrize("name", LOADERS)
def test_a_wrong_id_is_named_before_any_request(fake, connect, name, verb, id_):
    loader = getattr(connect(), name)
    if not hasattr(loader, verb):
        return
    changes = {"custom_fields": {}} if name == "users" else {"description": "x"}
    changes = {"notes": "x"} if name in {"clients", "matters"} else changes
    with pytest.raises(bf.ParameterError, match="id="):
        getattr(loader, verb)(id_, **(changes if verb == "update" else {}))
    assert fake.requests == []


@pytest.mark.parametrize("acting", [7, ["a"], " "])
def test_a_wrong_acting_user_is_named_before_any_request(fake, connect, acting):
    with pytest.raises(bf.ParameterError, match="acting_user="):
        connect().time_entries.create(matter_id="m", date="2026-10-30", description="x", hours=1, acting_user=acting)
    assert fake.requests == []
