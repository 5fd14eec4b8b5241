"""Wrong arguments of every loader and method, and every way in which a response can break the API's description.

The lists of loaders, arguments and fields are read from billframes itself, so that new ones are tested, too.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json

import httpx
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec import structs

import billframes as bf
from billframes._shared.names import snake_case
from billframes.schema import resources as declared
from billframes.schema.records import ClientBalances, CodeList, HealthCheckResponse, UserList
from billframes.schema.sources import fields_of
from tests.conftest import FakeServer
from tests.record_strategies import is_struct, wire_names

LOADERS = [name for name in bf.__all__ if hasattr(getattr(bf, name), "_resource")]
# Values that no argument of a type accepts, by the type in the signature.
WRONG = {
    "DateLike | None": [7, "soon", "2026-13-01", [], object()],
    "str | None": [7, b"x", ["x"], True],
    "Ids | None": [7, [7], "", [" "], {"a": None}.values(), object()],
    "Id | None": [7, ["a"], "", True],
    "Id | Collection[Id] | None": [7, [7], "", [""], object()],
    "bool": ["yes", 1, None, []],
    "bool | None": ["yes", 1, 0.0, []],
    "Names | None": [7, [7], object()],
    "int | None": ["5", -1, 1.5, True, []],
    "bool | Progress | None": ["yes", 7, []],
    "Parameters | None": [7, "a=b", ["a"]],
    "str": [7, None, "numpy", ["pandas"]],
}


def arguments(call):
    return {name: each for name, each in inspect.signature(call).parameters.items() if name not in {"self", "id"}}


def refusals(call, wrong):
    """Return the error message for each of these arguments; the result if an argument is not refused."""
    message = {}
    for arguments in wrong:
        named = ", ".join(f"{name}={value!r:.30}" for name, value in arguments.items())
        try:
            call(**arguments)
        except bf.errors.ParameterError as error:
            message[named] = str(error)
        except Exception as error:  # noqa: BLE001 - each that is not refused is named
            message[named] = type(error).__name__
        else:
            message[named] = "taken"
    return message


CALLS = [
    (name, each, argument, parameter.annotation)
    for name in LOADERS
    for each in ("__call__", "count")
    if hasattr(getattr(bf, name), each)
    for argument, parameter in arguments(getattr(type(getattr(bf, name)), each)).items()
]


@pytest.mark.parametrize(("name", "method", "argument", "kind"), CALLS)
def test_a_wrong_argument_of_a_loader_is_named_before_any_request(fake, connect, name, method, argument, kind):
    call = getattr(getattr(connect(health_path="/up"), name), method)
    message = refusals(call, [{argument: value} for value in WRONG[kind]])
    assert {wrong: message for wrong, message in message.items() if f"{argument}=" not in message} == {}
    assert fake.requests == []


RESOURCES = {each.name: each for each in declared.RESOURCES}


@pytest.mark.parametrize(
    ("name", "argument", "known"),
    [
        (each.name, argument, known)
        for each in RESOURCES.values()
        for argument, values in [("select", each.select), ("sort", tuple(each.sort))]
        for known in values
    ],
)
def test_a_name_like_a_known_one_is_sent_with_a_warning(fake, connect, name, argument, known):
    """Such a name may be misspelt or not in the API's description, so it is sent."""
    fake.answers[RESOURCES[name].path] = {"data": []}
    other = known[:-1] + "zz" if len(known) > 4 else known + "z"
    with pytest.warns(bf.errors.BillframesWarning, match=f"Did you mean {known!r}") as given:
        getattr(connect(), name)(**{argument: other})
    assert f"{argument}={other!r}" in str(given[0].message)
    assert fake.query()[argument] == other


@pytest.mark.parametrize(
    ("name", "argument", "known"),
    [
        (each.name, snake_case(one.name), known)
        for each in RESOURCES.values()
        for one in each.filters
        if one.kind == "enum"
        for known in one.values
    ],
)
def test_the_error_for_a_misspelt_name_suggests_the_closest(fake, connect, name, argument, known):
    misspelt = known[:-1] + "zz" if len(known) > 4 else known + "z"
    with pytest.raises(bf.errors.ParameterError) as raised:
        getattr(connect(), name)(**{argument: misspelt})
    message = str(raised.value)
    assert f"{argument}={misspelt!r}" in message
    assert repr(known) in message
    assert "Did you mean" in message
    assert fake.requests == []


# Wrong values, by the kind of the request's field.
WRONG_VALUES = {
    "id": [7, "", [], "Acme", "Acme 7", "a@b7.test", "a1,b2"],
    "text": [7, ["x"], b"x"],
    "enum": [7, "nonesuch", []],
    "date": [7, "soon", "2026-02-30", "2026-10", []],
    "time": [7, "noon", "25:00", []],
    "flag": ["yes", 1, []],
    **{kind: ["1.5", True, float("nan"), float("inf"), []] for kind in ("money", "hours", "rate", "number")},
}


def requests():
    from billframes.schema import records

    for name in LOADERS:
        for verb in ("create", "update"):
            if hasattr(getattr(bf, name), verb):
                noun = getattr(bf, name)._resource.noun.title().replace(" ", "")
                yield name, verb, getattr(records, f"{verb.title()}{noun}")


GOOD = {"id": "a1", "text": "x", "date": "2026-10-30", "enum": "billable", "hours": 1, "money": 1}


def required(request):
    return {
        each.name: GOOD[each.notes.get("kind", "text")]
        for each in fields_of(request)
        if each.name in request.__struct_fields__[: len(request.__struct_fields__) - len(request.__struct_defaults__)]
    }


@pytest.mark.parametrize(
    ("name", "verb", "request_", "field"),
    [(*each, field) for each in requests() for field in fields_of(each[2])],
    ids=lambda each: each if isinstance(each, str) else each.__name__ if isinstance(each, type) else each.name,
)
def test_a_wrong_value_of_a_verb_is_named_before_any_request(fake, connect, name, verb, request_, field):
    argument, wrong = field.name, WRONG_VALUES[field.notes.get("kind", "text")]
    if is_struct(field.type):
        wrong = [7, "x", *([] if argument == "custom_fields" else [{7: "x"}, {"nonesuch": "x"}])]
    needed = required(request_) if verb == "create" else {"id": "a1"}
    call = functools.partial(getattr(getattr(connect(), name), verb), **needed)
    message = refusals(call, [{argument: value} for value in wrong])
    named = (f"{argument}=", f"{argument}[", f"{argument} has no")
    assert {wrong: message for wrong, message in message.items() if not message.startswith(named)} == {}
    assert fake.requests == []


VERBS = [
    (name, verb)
    for name in LOADERS
    for verb in ("get", "update", "delete", "archive", "unarchive")
    if hasattr(getattr(bf, name), verb)
]


@pytest.mark.parametrize(("name", "verb"), VERBS)
def test_a_wrong_id_is_named_before_any_request(fake, connect, name, verb):
    changes = {"custom_fields": {}} if name == "users" else {"description": "x"}
    changes = {"notes": "x"} if name in {"clients", "matters"} else changes
    changes = {"label": "x"} if name == "practice_areas" else changes
    call = functools.partial(getattr(getattr(connect(), name), verb), **(changes if verb == "update" else {}))
    message = refusals(call, [{"id": wrong} for wrong in (7, "", " ", None, ["a1"], True, "Acme", "Acme 7")])
    assert {wrong: message for wrong, message in message.items() if "id=" not in message} == {
        "id=['a1']": message["id=['a1']"]
    }
    assert f"{name}.{verb} takes one" in message["id=['a1']"]
    assert fake.requests == []


@pytest.mark.parametrize("acting", [7, ["a"], " "])
def test_a_wrong_acting_user_is_named_before_any_request(fake, connect, acting):
    with pytest.raises(bf.errors.ParameterError, match="acting_user="):
        connect().time_entries.create(matter_id="m1", date="2026-10-30", description="x", hours=1, acting_user=acting)
    assert fake.requests == []


LEAVING = [".", "..", "...", "a/b", "../clients", "a\\b", "%2e%2e", "a%2fb", "a\0b", "a1\0b", "a\nb"]


@pytest.mark.parametrize("id_", LEAVING)
@pytest.mark.parametrize("verb", ["get", "delete", "update"])
def test_an_id_that_would_leave_the_path_is_refused_before_any_request(fake, connect, verb, id_):
    changes = {"notes": "x"} if verb == "update" else {}
    with pytest.raises(bf.errors.ParameterError, match=r"^id=.*an id looks like '[0-9a-f]{8}-"):
        getattr(connect().matters, verb)(id_, **changes)
    with pytest.raises(bf.errors.ParameterError, match=r"^client_ids=.*an id looks like"):
        connect().client_balances(["c1", id_])
    assert fake.requests == []


def test_a_very_long_id_is_shortened_in_the_message(fake, connect):
    with pytest.raises(bf.errors.ParameterError) as raised:
        connect().matters.get("/" * 2**20)
    assert len(str(raised.value)) < 300


def test_an_odd_id_is_one_segment_of_the_path_of_a_clients_balances(fake, connect):
    fake.answers["/v2/clients/a1?b/balances"] = httpx.Response(404)
    with pytest.raises(bf.errors.NotFoundError):
        connect().client_balances("a1?b")
    assert fake.requests[-1].url.raw_path == b"/v2/clients/a1%3Fb/balances"


PLAIN = {"text": "x", "id": "x", "date": "2026-10-01", "instant": "2026-10-01T09:00:00Z", "time": "09:30", "flag": True}
STRINGS = [7, True, [], {}]
WRONG_JSON = {
    **dict.fromkeys(("id", "text", "enum"), STRINGS),
    "date": [*STRINGS, "", "soon", "2026-02-30", "0000-01-01", "10000-01-01"],
    "instant": [*STRINGS, "", "soon", "2026-02-30T00:00:00Z", "2026-10-01T25:00:00Z"],
    "time": [*STRINGS, "", "noon", "25:00"],
    "flag": ["true", 1, [], {}],
    "list": ["x", 7, True, {}, [7], [None]],
    "object": ["x", 7, True, []],
}


def whole(record):
    """Return a record with all declared fields."""
    names = wire_names(record)
    return {names[field.name]: plain(field) for field in fields_of(record) if "Any" not in str(field.type)}


def plain(field):
    kind = field.notes.get("kind", "text")
    value = whole(field.type) if is_struct(field.type) else PLAIN.get(kind, 1.5)
    value = field.notes["values"][0] if kind == "enum" else value
    return [value] if field.is_list else value


def faults(record, path=()):
    """Yield every way to break the declaration by one value of a record: its path, and the wrong value."""
    names = wire_names(record)
    needed = {each.name for each in structs.fields(record) if each.required}
    for field in fields_of(record):
        here = (*path, names[field.name])
        if "Any" in str(field.type) or (here[-1] == "value" and "optionId" in names.values()):
            continue
        kind = field.notes.get("kind", "text") if not is_struct(field.type) else "object"
        wrong = WRONG_JSON["list" if field.is_list else kind] if kind in WRONG_JSON else ["1.5", True, [], {}]
        yield from ((here, value) for value in wrong)
        if not field.nullable:
            yield here, None
        if field.name in needed:
            yield here, GONE
        if is_struct(field.type):
            yield from faults(field.type, (*here, *([0] if field.is_list else [])))


GONE = object()


def broken(record, path, value):
    """Return a copy of a record with one value replaced or removed."""
    made = copy.deepcopy(record)
    owner = made
    for step in path[:-1]:
        owner = owner[step]
    if value is GONE:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return made


@pytest.fixture(scope="module")
def server():
    fake = FakeServer()
    transport = httpx.MockTransport(fake)
    with bf.Client("https://billing.test", "t0ken", transport=transport, retries=0, health_path="/up") as client:
        yield fake, client


def says(error, resource, record, path):
    """Return whether the message names resource, record and path."""
    message = str(error)
    place = snake_case(str(next(step for step in reversed(path) if isinstance(step, str))))
    return (
        message.startswith(f"{resource}: ")
        and (record in message or path[-1] == f"{record}")
        and place in snake_case(message)
    )


@pytest.mark.parametrize(
    "resource", [each for each in declared.RESOURCES if each.name != "codes"], ids=lambda e: e.name
)
def test_a_list_that_breaks_the_description_is_a_decode_error(server, resource):
    fake, client = server
    rows = [{**whole(resource.record), resource.id: f"r{i}"} for i in range(2)]

    @settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.sampled_from(list(faults(resource.record))))
    def check(fault):
        path, value = fault
        where = {"pagination": {"limit": 1000, "offset": 0, "total": 2}} if resource.paginated else {}
        sent = json.dumps({"data": [rows[0], broken(rows[1], path, value)], **where})
        fake.answers = {"/v2/custom-fields": {"data": []}, resource.path: sent.encode()}
        arguments = {"entity": "client"} if resource.name == "custom_fields" else {}
        with pytest.raises(bf.errors.DecodeError) as raised:
            getattr(client, resource.name)(**arguments)
        assert says(raised.value, resource.name, "number 1" if path == (resource.id,) else "r1", path)

    check()


DETAILS = [each for each in declared.RESOURCES if each.detail]


@pytest.mark.parametrize("resource", DETAILS, ids=lambda each: each.name)
def test_a_record_that_breaks_the_description_is_a_decode_error(server, resource):
    fake, client = server
    row = {**whole(resource.detail), resource.id: "r1"}

    @settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.sampled_from(list(faults(resource.detail))))
    def check(fault):

        fake.answers = {f"{resource.path}/r1": {"data": broken(row, *fault)}}
        with pytest.raises(bf.errors.DecodeError) as raised:
            getattr(client, resource.name).get("r1")
        assert says(raised.value, resource.name, "r1", fault[0])

    check()


OTHERS = {
    "codes": ("/v2/codes", CodeList, lambda client: client.codes()),
    "client_balances": ("/v2/clients/r1/balances", ClientBalances, lambda client: client.client_balances("r1")),
    "health": ("/up", HealthCheckResponse, lambda client: client.health()),
    "users": ("/v2/users/r1", UserList, lambda client: client.users.update("r1", custom_fields={})),
}


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_response_that_breaks_the_description_is_a_decode_error(server, name):
    fake, client = server
    path, record, call = OTHERS[name]

    @settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.sampled_from(list(faults(record))))
    def check(fault):
        fake.answers = {path: {"data": broken(whole(record), *fault)}}
        with pytest.raises(bf.errors.DecodeError, match=f"^{name}: "):
            call(client)

    check()


WRAPPERS = [b"", b"null", b"7", b'"x"', b"{}", b"<html>", b'{"data": 7}', b'{"data": "x"}', b'{"data": [7]}', b"\xff"]


@pytest.mark.parametrize("body", [*WRAPPERS, b'{"data": [null]}', b'{"data": {}}', b'{"data": [], "pagination": []}'])
@pytest.mark.parametrize("name", [name for name in LOADERS if name not in {"health", "client_balances", "code_sets"}])
def test_a_list_with_no_wrapper_or_a_wrong_one_is_a_decode_error(server, name, body):
    fake, client = server
    fake.answers = {"/v2/custom-fields": {"data": []}, getattr(client, name)._resource.path: body}
    with pytest.raises(bf.errors.DecodeError, match=f"^{name}: "):
        getattr(client, name)()


@pytest.mark.parametrize("body", [*WRAPPERS, b"[]", b'{"data": null}', b'{"data": []}'])
@pytest.mark.parametrize("resource", DETAILS, ids=lambda each: each.name)
def test_a_record_with_no_wrapper_or_a_wrong_one_is_a_decode_error(server, resource, body):
    fake, client = server
    fake.answers = {f"{resource.path}/r1": body}
    with pytest.raises(bf.errors.DecodeError, match=f"^{resource.name}: "):
        getattr(client, resource.name).get("r1")


@pytest.mark.parametrize("text", ["x" * 100_000, "a\ud800"])
def test_a_text_that_can_not_be_sent_is_refused(fake, connect, text):
    with pytest.raises(bf.errors.ParameterError, match="clients: a text to filter by is too long, or has a character"):
        connect().clients(text, select="")
    assert fake.requests == []


def test_half_of_a_character_in_a_write_is_refused(fake, connect):
    with pytest.raises(bf.errors.ParameterError, match=r"half of a character \('\\ud800'\)"):
        connect().clients.update("c1", notes="a\ud800")
    assert fake.requests == []
