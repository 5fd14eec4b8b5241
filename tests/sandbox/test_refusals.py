"""Bodies and headers that are no good: what is answered, and that nothing gives a 500."""

import json
import socket

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from billframes.sandbox.app import WRITES
from tests.examples import number

NEW = {"name": "New", "contact": {"companyName": "New Inc"}}
JSON = {"Content-Type": "application/json"}
IDS = {"clients": "c1", "matters": "a1", "expenses": "d3", "fixed-fees": "f2", "time-entries": "e2"}
IDS |= {"users": "b1", "practice-areas": "21"}


def raw(fresh, content, status, headers=JSON):
    return fresh.refused(status, "POST", "clients", content=content, headers=headers)


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
def test_malformed_bodies(fresh, content):
    """All bodies are JSON (application/json)."""
    raw(fresh, content, 400)


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "json", "é"]
)
def test_wrong_content_type(fresh, kind):
    """All bodies are JSON (application/json): anything else is 415."""
    raw(fresh, json.dumps(NEW).encode(), 415, {"Content-Type": kind.encode()} if kind else {})


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"']
)
def test_right_content_type(fresh, kind):
    """All bodies are JSON (application/json)."""
    fresh.done("POST", "clients", content=json.dumps(NEW).encode(), headers={"Content-Type": kind})


def test_large_bodies(fresh):
    """A body over 1 MB is 413; one of 1 MB is taken."""
    body = json.dumps(NEW | {"notes": ""}).encode()
    fits = body.replace(b'"notes": ""', b'"notes": "' + b"x" * (1_000_000 - len(body)) + b'"')
    assert len(fits) == 1_000_000
    assert len(fresh.done("POST", "clients", content=fits, headers=JSON)["notes"]) == 1_000_000 - len(body)
    raw(fresh, fits + b" ", 413)
    raw(fresh, iter([b"x" * 100_000] * 50), 413)


def test_a_body_with_everything_wrong(fresh):
    """Every problem is listed, up to a thousand."""
    fields = [{"id": str(number)} for number in range(5_000)]
    problem = fresh.refused(400, "POST", "clients", NEW | {"customFields": fields})
    assert len(problem["errors"]) == 1_000
    assert "and 4950 more" in problem["detail"]
    problem = fresh.refused(400, "POST", "clients", NEW | {"customFields": fields[:50]})
    assert "more" not in problem["detail"]


def test_a_body_that_breaks_off(fresh):
    """A caller who goes away in the middle changes nothing, and the server goes on."""
    before = fresh.everything()
    host, port = fresh.sandbox.base_url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            b"POST /v2/clients HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sandbox-full\r\n"
            b'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":'
        )
    fresh.rows("clients")
    assert fresh.everything() == before


def test_unknown_credential(fresh):
    """A request is made with a credential."""
    for operation in WRITES:
        path = operation.path.replace("/v2/", "").replace("{id}", fresh.id("c1"))
        fresh.refused(401, operation.method, path, {}, token="nobody")


def test_unknown_ids(fresh):
    """path id (uuid, R)."""
    for operation in WRITES:
        if operation.has_id:
            for id_ in ("09", "nonsense", "%00"):
                path = operation.path.replace("/v2/", "").replace("{id}", id_)
                fresh.refused(404, operation.method, path, {})


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
def test_wrong_methods(fresh, method, path, allowed):
    """No other operation is given: 405, with all that is."""
    answer = fresh.send(method, path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)
    assert answer.json()["status"] == 405


def test_text_survives_as_it_is(fresh):
    """string: whatever characters, and any length."""
    for text in (
        "nul \x00 inside",
        "\U0001f4a9",
        "\u061c\u0639\u0631\u0628\u064a",
        "'; DROP TABLE client; --",
        "x" * 300_000,
        " ",
    ):
        client = fresh.done("POST", "clients", NEW | {"name": text, "notes": text})
        assert (client["name"], client["notes"]) == (text, text)
        assert fresh.call(f"/v2/clients/{client['clientId']}").json()["data"] == client


def test_undeclared_properties_are_ignored(fresh):
    """Only declared properties have a say, read-only ones among them."""
    body = {"clientId": "c9", "meta": {"createdAt": "2000-01-01T00:00:00Z"}, "": 1, "a/b~c": {}}
    assert fresh.done("POST", "clients", NEW | body)["meta"]["createdAt"] > "2026"


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
NAMES = sorted(
    {each.encode_name for operation in WRITES if operation.body for each in msgspec.structs.fields(operation.body)}
)
ENTRY = st.fixed_dictionaries({}, optional={"id": VALUES, "value": VALUES, "optionId": VALUES})


@pytest.mark.slow
@settings(
    max_examples=number(400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    operation=st.sampled_from(WRITES),
    body=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=12),
    fields=st.none() | st.lists(ENTRY, max_size=3),
    header=st.none() | st.text(st.characters(min_codepoint=33, max_codepoint=255), max_size=40),
)
def test_no_body_gives_a_500(changing, operation, body, fields, header):
    """No input whatever gives a 500."""
    body = body | ({"customFields": fields} if fields is not None else {})
    name = operation.path.split("/")[2]
    path = f"{name}/{IDS[name]}" if operation.has_id else name
    headers = {"x-service-userid": header.encode("latin-1")} if header is not None else {}
    answer = changing.send(operation.method, path, body, headers=headers)
    assert answer.status_code in {200, 400, 404, 409}, answer.text
    if answer.status_code == 400:
        assert answer.json()["errors"]
