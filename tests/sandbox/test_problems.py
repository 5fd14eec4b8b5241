"""Credentials, wrong requests and wrong bodies: how they are refused, and that no input gives a 500."""

import json
import socket
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from billframes.sandbox.app import WRITES
from billframes.schema.resources import RESOURCES
from tests.examples import example_count

PATHS = [*(each.path for each in RESOURCES), "/v2/health", "/schema/openapi.json"]
PARAMETERS = sorted(
    {each.name for resource in RESOURCES for each in resource.filters}
    | {"limit", "offset", "sort", "select", "modifiedSince"}
)


@pytest.mark.parametrize("path", [each.path for each in RESOURCES])
def test_a_credential_is_needed(api, path):
    """A request is made with a credential that identifies a user, or in some cases no user."""
    for headers in ({}, {"Authorization": "Basic c2FuZGJveA=="}, {"Authorization": "Bearer"}):
        answer = api.call(path, token=None, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    for token in ("sandbox-full", "sandbox-norates", "sandbox-service"):
        assert api.call(path, token=token).status_code == 200


def test_an_unknown_credential_is_refused_and_not_repeated(api):
    """401. The response does not repeat the credential."""
    problem = api.expect_problem("/v2/clients", 401, token="sandbox-secret")
    assert "secret" not in str(problem)


@pytest.mark.parametrize("name", ["clients", "expenses", "fixed-fees", "matters", "time-entries"])
def test_unknown_ids_of_reads(api, name):
    """path id (uuid, R)."""
    for id_ in ("00000000-0000-0000-0000-000000000000", "nonsense", "%00", "a" * 3000):
        api.expect_problem(f"/v2/{name}/{id_}", 404)


def test_balances_of_nobody(api):
    """GET /v2/clients/{id}/balances: path id (uuid, R)."""
    api.expect_problem(f"/v2/clients/{api.id('a1')}/balances", 404)


def test_unknown_paths(api):
    """Every operation path begins with the prefix /v2."""
    for path in ("/", "/v1/clients", "/v2", "/v2/clients/", "/v2/Clients", "/v2/clients/a/b/c"):
        api.expect_problem(path, 404)


def test_answers_carry_sandbox_time(api):
    """The `Date` of every response, also of refusals, is sandbox time, which starts on 2026-10-31 at 20:00 UTC."""
    for answer in (api.call("/v2/clients"), api.call("/v2/clients", token=None), api.call("/nothing")):
        assert answer.headers.get_list("date")[0].startswith("Sat, 31 Oct 2026 20:")
        assert len(answer.headers.get_list("date")) == 1


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(PATHS) | st.text(max_size=30).map(lambda text: "/v2/" + quote(text, safe="/")),
    query=st.lists(st.tuples(st.sampled_from(PARAMETERS), st.text(max_size=30) | st.integers().map(str)), max_size=4),
    token=st.sampled_from(["sandbox-full", "sandbox-norates", "x"]),
    method=st.sampled_from(["GET", "GET", "HEAD", "POST", "OPTIONS", "TRACE"]),
)
def test_no_input_gives_a_500(api, path, query, token, method):
    """No input gives a 500."""
    url = path + "?" + "&".join(f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in query)
    answer = api.call(url, method=method, token=token)
    assert answer.status_code < 500
    if answer.status_code != 200 and method != "HEAD":
        assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize("text", ["%ff%fe", "%00", "%ed%a0%80", "'%22;--", "%F0%9F%92%B8", "+"])
def test_odd_bytes(api, text):
    """No input gives a 500."""
    for name in ("query", "reference", "userId", "sort", "select", "limit", "modifiedSince"):
        assert api.call(f"/v2/matters?{name}={text}").status_code in (200, 400)
        assert api.call(f"/v2/clients/{text}?{name}={text}").status_code == 404


NEW = {"name": "New", "contact": {"companyName": "New Inc"}}
JSON = {"Content-Type": "application/json"}
IDS = {"clients": "c1", "matters": "a1", "expenses": "d3", "fixed-fees": "f2", "time-entries": "e2"}
IDS |= {"users": "b1", "practice-areas": "21"}


def raw(fresh_api, content, status, headers=JSON):
    return fresh_api.expect_refusal(status, "POST", "clients", content=content, headers=headers)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"NaN",
        b'{"name": NaN}',
        b'{"name": 1e400}',
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b'{"name": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"name": ' + b"[" * 900 + b"]" * 900 + b"}",
        b"\xef\xbb\xbf{}",
        b'{"name": "x"} more',
    ],
    ids=range(16),
)
def test_malformed_bodies(fresh_api, content):
    """All bodies are JSON (application/json)."""
    raw(fresh_api, content, 400)


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "json", "é"]
)
def test_wrong_content_type(fresh_api, kind):
    """All bodies are JSON (application/json): anything else is 415."""
    raw(fresh_api, json.dumps(NEW).encode(), 415, {"Content-Type": kind.encode()} if kind else {})


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']
)
def test_right_content_type(fresh_api, kind):
    """All bodies are JSON (application/json)."""
    fresh_api.write("POST", "clients", content=json.dumps(NEW).encode(), headers={"Content-Type": kind})


def test_large_bodies(fresh_api):
    """A body over 1 MB gets 413; a body of 1 MB is accepted."""
    body = json.dumps(NEW | {"notes": ""}).encode()
    fits = body.replace(b'"notes": ""', b'"notes": "' + b"x" * (1_000_000 - len(body)) + b'"')
    assert len(fits) == 1_000_000
    assert len(fresh_api.write("POST", "clients", content=fits, headers=JSON)["notes"]) == 1_000_000 - len(body)
    raw(fresh_api, fits + b" ", 413)
    raw(fresh_api, iter([b"x" * 100_000] * 50), 413)


def test_a_body_with_everything_wrong(fresh_api):
    """Every fault is listed, up to a thousand."""
    fields = [{"id": str(number)} for number in range(5_000)]
    problem = fresh_api.expect_refusal(400, "POST", "clients", NEW | {"customFields": fields})
    assert len(problem["errors"]) == 1_000
    assert "and 4950 more" in problem["detail"]
    problem = fresh_api.expect_refusal(400, "POST", "clients", NEW | {"customFields": fields[:50]})
    assert "more" not in problem["detail"]


def test_a_body_that_breaks_off(fresh_api):
    """If a caller disconnects in the middle of a body, nothing changes, and the server keeps working."""
    before = fresh_api.all_rows()
    host, port = fresh_api.sandbox.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            b"POST /v2/clients HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sandbox-full\r\n"
            b'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":'
        )
    fresh_api.rows("clients")
    assert fresh_api.all_rows() == before


def test_writes_need_a_credential(fresh_api):
    """A request is made with a credential."""
    for operation in WRITES:
        path = operation.path.replace("/v2/", "").replace("{id}", fresh_api.id("c1"))
        fresh_api.expect_refusal(401, operation.method, path, {}, token="nobody")


def test_unknown_ids_of_writes(fresh_api):
    """path id (uuid, R)."""
    for operation in WRITES:
        if operation.has_id:
            for id_ in ("09", "nonsense", "%00"):
                path = operation.path.replace("/v2/", "").replace("{id}", id_)
                fresh_api.expect_refusal(404, operation.method, path, {})


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "clients/c1", "DELETE, GET, HEAD, PUT"),
        ("PUT", "clients", "GET, HEAD, POST"),
        ("POST", "time-entries/e1", "DELETE, GET, HEAD, PUT"),
        ("POST", "invoices", "GET, HEAD"),
        ("DELETE", "users/b1", "PUT"),
        ("GET", "users/b1", "PUT"),
        ("POST", "codes", "GET, HEAD"),
    ],
)
def test_wrong_methods(fresh_api, method, path, allowed):
    """Other methods get 405, with those that are allowed."""
    answer = fresh_api.send(method, path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 405


def test_text_survives_as_it_is(fresh_api):
    """Texts can have any characters and any length."""
    for text in (
        "nul \x00 inside",
        "\U0001f4a9",
        "\u061c\u0639\u0631\u0628\u064a",
        "'; DROP TABLE client; --",
        "x" * 300_000,
        " ",
    ):
        client = fresh_api.write("POST", "clients", NEW | {"name": text, "notes": text})
        assert (client["name"], client["notes"]) == (text, text)
        assert fresh_api.call(f"/v2/clients/{client['clientId']}").json()["data"] == client


def test_undeclared_properties_are_ignored(fresh_api):
    """Undeclared properties are ignored, also read-only ones."""
    body = {"clientId": "c9", "meta": {"createdAt": "2000-01-01T00:00:00Z"}, "": 1, "a/b~c": {}}
    assert fresh_api.write("POST", "clients", NEW | body)["meta"]["createdAt"] > "2026"


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(["c1", "a1", "b1", "f2", "2026-10-01", "cf-tier", "cf-score", "billable", "09:00", "1e5"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
PROPERTIES = sorted(
    {each.encode_name for operation in WRITES if operation.body for each in msgspec.structs.fields(operation.body)}
)
ENTRY = st.fixed_dictionaries({}, optional={"id": VALUES, "value": VALUES, "optionId": VALUES})


@pytest.mark.slow
@settings(
    max_examples=example_count(400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    operation=st.sampled_from(WRITES),
    body=st.dictionaries(st.sampled_from(PROPERTIES), VALUES, max_size=12),
    fields=st.none() | st.lists(ENTRY, max_size=3),
    header=st.none() | st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=40),
)
def test_no_body_gives_a_500(writable_api, operation, body, fields, header):
    """No input gives a 500."""
    body = body | ({"customFields": fields} if fields is not None else {})
    name = operation.path.split("/")[2]
    path = f"{name}/{IDS[name]}" if operation.has_id else name
    headers = {"x-service-userid": header.encode("latin-1")} if header is not None else {}
    answer = writable_api.send(operation.method, path, body, headers=headers)
    assert answer.status_code in {200, 400, 404, 409}, answer.text
    if answer.status_code == 400:
        assert answer.json()["errors"]
