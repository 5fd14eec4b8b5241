"""Credentials, refusals, and that no input gives a 500."""

from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from billframes.schema.resources import RESOURCES

PATHS = [*(each.path for each in RESOURCES), "/v2/health", "/schema/openapi.json"]
NAMES = sorted(
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
    """401, without the credential in the answer."""
    problem = api.problem("/v2/clients", 401, token="sandbox-secret")
    assert "secret" not in str(problem)


@pytest.mark.parametrize("name", ["clients", "expenses", "fixed-fees", "matters", "time-entries"])
def test_unknown_ids(api, name):
    """path id (uuid, R)."""
    for id_ in ("00000000-0000-0000-0000-000000000000", "nonsense", "%00", "a" * 3000):
        api.problem(f"/v2/{name}/{id_}", 404)


def test_balances_of_nobody(api):
    """GET /v2/clients/{id}/balances: path id (uuid, R)."""
    api.problem(f"/v2/clients/{api.id('a1')}/balances", 404)


def test_unknown_paths(api):
    """Every operation path begins with the prefix /v2."""
    for path in ("/", "/v1/clients", "/v2", "/v2/clients/", "/v2/Clients", "/v2/clients/a/b/c"):
        api.problem(path, 404)


def test_wrong_method(api):
    """405 with Allow."""
    answer = api.call("/v2/codes", method="DELETE")
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert answer.headers["content-type"] == "application/problem+json"


def test_answers_carry_sandbox_time(api):
    """Timestamps are `date-time`: the sandbox's own begin on 2026-10-31 at 20:00 UTC, in refusals too."""
    for answer in (api.call("/v2/clients"), api.call("/v2/clients", token=None), api.call("/nothing")):
        assert answer.headers.get_list("date")[0].startswith("Sat, 31 Oct 2026 20:")
        assert len(answer.headers.get_list("date")) == 1


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(PATHS) | st.text(max_size=30).map(lambda text: "/v2/" + quote(text, safe="/")),
    query=st.lists(st.tuples(st.sampled_from(NAMES), st.text(max_size=30) | st.integers().map(str)), max_size=4),
    token=st.sampled_from(["sandbox-full", "sandbox-norates", "x"]),
    method=st.sampled_from(["GET", "GET", "HEAD", "POST", "OPTIONS", "TRACE"]),
)
def test_no_input_gives_a_500(api, path, query, token, method):
    """No input whatever gives a 500."""
    url = path + "?" + "&".join(f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in query)
    answer = api.call(url, method=method, token=token)
    assert answer.status_code < 500
    if answer.status_code != 200 and method != "HEAD":
        assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize("text", ["%ff%fe", "%00", "%ed%a0%80", "'%22;--", "%F0%9F%92%B8", "+"])
def test_odd_bytes(api, text):
    """No input whatever gives a 500."""
    for name in ("query", "reference", "userId", "sort", "select", "limit", "modifiedSince"):
        assert api.call(f"/v2/matters?{name}={text}").status_code in (200, 400)
        assert api.call(f"/v2/clients/{text}?{name}={text}").status_code == 404
