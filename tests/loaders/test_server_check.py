"""The check of a server: fourteen small requests show how it behaves, and loads do as the findings say."""

from __future__ import annotations

import datetime as dt
import json
import re
from email.utils import format_datetime

import httpx
import pytest

import billframes as bf
from billframes.errors import AuthenticationError, DecodeError, PagingError, RefusedError
from tests.conftest import entries, entry, paged

PAGE = 200
NAMES = [
    "credential",
    "rates",
    "clock",
    "metadata",
    "total",
    "limit",
    "offset",
    "date order",
    "creation order",
    "date filter",
    "other filters",
    "unknown names",
    "modifiedSince",
    "strictness",
    "changes",
    "select names",
]


class ChangingTransport(httpx.BaseTransport):
    """Sends requests to the sandbox, and changes queries and responses."""

    def __init__(self, change_query=None, change_response=None):
        self.change_query, self.change_response = (
            change_query or (lambda _query: None),
            change_response or (lambda _headers, _body: None),
        )
        self.queries = []

    def handle_request(self, request):
        query = dict(request.url.params)
        self.queries.append(dict(query))
        refusal = self.change_query(query)
        if refusal is not None:
            return refusal
        # A new request, so that its path has the changed query; the host header stays.
        onward = httpx.Request(request.method, request.url.copy_with(params=query), headers=request.headers)
        # One transport for each request, because the clients of a pool would close a shared one.
        with httpx.HTTPTransport(verify=False) as network:
            response = network.handle_request(onward)
            body, headers = json.loads(response.read()), dict(response.headers)
        self.change_response(headers, body)
        headers.pop("content-length")
        return httpx.Response(response.status_code, headers=headers, content=json.dumps(body))


@pytest.fixture
def connect_with_changes(sandbox):
    """Return a function that connects through a `ChangingTransport`."""
    opened = []

    def connect(change_query=None, change_response=None, token="full", **options):
        transport = ChangingTransport(change_query, change_response)
        options = {"page_size": PAGE, "retries": 0, **options}
        opened.append(bf.Client(sandbox.base_url, sandbox.tokens[token], transport=transport, **options))
        return opened[-1], transport.queries

    yield connect
    for client in opened:
        client.close()


def ignoring(*names):
    return lambda query: [query.pop(name, None) for name in names] and None


def granting(most):
    def change_query(query):
        query["limit"] = str(min(int(query["limit"]), most))

    return change_query


def inclusive(query):
    if "modifiedSince" in query:
        instant = dt.datetime.fromisoformat(query["modifiedSince"]) - dt.timedelta(microseconds=1)
        query["modifiedSince"] = instant.isoformat()


def blind(query):
    if "modifiedSince" in query:
        query["modifiedSince"] = "2100-01-01T00:00:00Z"


def exclusive(query):
    for name, days in (("startDate", 1), ("endDate", -1)):
        if name in query:
            query[name] = str(dt.date.fromisoformat(query[name]) + dt.timedelta(days=days))


def picky(query):
    return httpx.Response(400, json={"detail": "What is billframesCheck?"}) if "billframesCheck" in query else None


def unsorted_by_creation(query):
    return httpx.Response(422, json={"detail": "No such sort."}) if "created" in query.get("sort", "") else None


def unpaged(_headers, body):
    body.pop("pagination", None)


def timeless(headers, _body):
    headers.pop("date")


def miscounting(_headers, body):
    if "pagination" in body:
        body["pagination"]["total"] = 3


def test_all_findings_hold_for_a_server_that_follows_the_description(connect_with_changes):
    client, queries = connect_with_changes()
    check = client.check()
    assert check.failing == ()
    assert [finding.name for finding in check.findings if finding.holds] == NAMES
    assert check.requests == len(queries) == 14


def test_the_requests_are_small(connect_with_changes):
    rows = []
    client, queries = connect_with_changes(change_response=lambda _headers, body: rows.append(len(body["data"])))
    client.check()
    assert len(rows) == len(queries) == 14
    assert max(rows) <= 10


MONTH = "2026-10"

DIFFERENCES = [
    # changes of query and response, the finding that does not hold, a load from such a server, and its outcome
    (ignoring("sort"), None, "date order", lambda c: c.time_entries(MONTH, sort="-date"), DecodeError),
    (ignoring("startDate"), None, "date filter", lambda c: c.time_entries("2024-02"), DecodeError),
    (ignoring("endDate"), None, "date filter", lambda c: c.time_entries("2026-09"), DecodeError),
    (ignoring("billed"), None, "other filters", lambda c: c.time_entries(MONTH, billed=True), DecodeError),
    (
        ignoring("billingType"),
        None,
        "other filters",
        lambda c: c.time_entries(MONTH, billing_type="billable"),
        DecodeError,
    ),
    (ignoring("modifiedSince"), None, "modifiedSince", lambda c: c.time_entries(MONTH), DecodeError),
    (
        ignoring("modifiedSince"),
        None,
        "modifiedSince",
        lambda c: c.expenses("2026-10", modified_since="2026-10-31"),
        DecodeError,
    ),
    (ignoring("offset"), None, "offset", lambda c: c.time_entries(MONTH), "snapshot"),
    (ignoring("offset"), None, "offset", lambda c: c.time_entries(MONTH, limit=300), DecodeError),
    (ignoring("limit"), None, "limit", lambda c: c.time_entries(MONTH), DecodeError),
    (granting(150), None, "limit", lambda c: c.time_entries(MONTH), "snapshot"),
    (ignoring("select"), None, "metadata", lambda c: c.time_entries(MONTH, select="meta"), "counted"),
    (inclusive, None, "strictness", lambda c: c.time_entries(MONTH), "snapshot"),
    (blind, None, "changes", lambda c: c.time_entries(MONTH), "snapshot"),
    (exclusive, None, "date filter", lambda c: c.time_entries(MONTH), PagingError),
    (picky, None, "unknown names", lambda c: c.time_entries(MONTH, params={"billframesCheck": 1}), RefusedError),
    (unsorted_by_creation, None, "creation order", lambda c: c.time_entries(MONTH, sort="created"), RefusedError),
    (unsorted_by_creation, None, "creation order", lambda c: c.time_entries(MONTH), "snapshot"),
    (None, unpaged, "total", lambda c: c.time_entries(MONTH), "counted"),
    (None, unpaged, "total", lambda c: c.time_entries.count(), PagingError),
    (None, miscounting, "total", lambda c: c.time_entries(MONTH), PagingError),
    (None, timeless, "clock", lambda c: c.time_entries(MONTH), "counted"),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::billframes.errors.DetailsMissingWarning")
@pytest.mark.parametrize(("change_query", "change_response", "name", "load", "outcome"), DIFFERENCES)
def test_a_difference_is_found_and_loads_do_as_the_finding_says(
    connect_with_changes, change_query, change_response, name, load, outcome
):
    client, queries = connect_with_changes(change_query, change_response)
    check = client.check()
    assert len(queries) == check.requests <= 16
    assert check[name].holds is False
    assert check[name] in check.failing
    if isinstance(outcome, str):
        assert load(client).attrs["load"]["proof"] == outcome
        assert (outcome == "counted") == ("'counted'" in check[name].instead)
    else:
        with pytest.raises(outcome):
            load(client)
        assert outcome.__name__ in check[name].instead


@pytest.mark.parametrize(
    ("seconds", "words"), [(100, r"10\d seconds"), (300, "5 minutes"), (7_300, "2 hours"), (2_268_005, "26 days")]
)
def test_a_skewed_clock_is_reported_and_harmless(connect_with_changes, seconds, words):
    def slow(headers, _body):
        headers["date"] = format_datetime(dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds), usegmt=True)

    client, _ = connect_with_changes(change_response=slow)
    clock = client.check()["clock"]
    assert re.match(f"the server's is {words} behind this machine's", clock.found)
    assert clock.holds


def test_a_credential_without_rates_is_reported(connect_with_changes):
    client, _ = connect_with_changes(token="norates")
    check = client.check()
    assert [finding.name for finding in check.failing] == ["rates"]


def test_a_refused_credential_raises_its_error(sandbox):
    with bf.Client(sandbox.base_url, "wrong") as client, pytest.raises(AuthenticationError):
        client.check()


UNKNOWN = ["offset", "date order", "creation order", "date filter", "other filters", "select names"]


@pytest.mark.parametrize(
    "rows", [[], [entry(billed=True, meta={"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "2026-10-02T00:00:00Z"})]]
)
def test_a_finding_is_unknown_if_the_data_do_not_show_it(fake, connect, rows):
    """With at most one record, a server that ignores all parameters looks like one that honours them."""

    def change_response(request):
        query = dict(request.url.params)
        start, end = int(query["offset"]), int(query["offset"]) + int(query["limit"])
        where = {"limit": int(query["limit"]), "offset": start, "total": len(rows)}
        return {"data": rows[start:end], "pagination": where}

    fake.answers["/v2/time-entries"] = change_response
    nothing = {"data": [], "pagination": {"limit": 10, "offset": 0, "total": 0}}
    fake.answers |= dict.fromkeys(["/v2/expenses", "/v2/fixed-fees", "/v2/matters"], nothing)
    with connect() as client:
        check = client.check()
    found = {finding.name: finding.holds for finding in check.findings}
    assert [found[name] for name in UNKNOWN] == [None] * len(UNKNOWN)
    assert check.requests == len(fake.requests) == 14


@pytest.mark.parametrize("honoured", [True, False])
def test_two_records_show_whether_offset_is_honoured(fake, connect, honoured):
    serve = paged(entries(2))

    def ignore_offset(request):
        return serve(httpx.Request("GET", request.url.copy_remove_param("offset")))

    fake.answers["/v2/time-entries"] = serve if honoured else ignore_offset
    fake.answers |= {path: {"data": []} for path in ("/v2/expenses", "/v2/fixed-fees", "/v2/matters")}
    with connect() as client:
        assert client.check()["offset"].holds is honoured


@pytest.mark.parametrize(("modified", "holds"), [("0001-01-01T00:00:00Z", True), ("yesterday", None)])
def test_impossible_instants_raise_a_decode_error_or_are_accepted(fake, connect, modified, holds):
    row = entry(meta={"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": modified})
    fake.answers["/v2/time-entries"] = {"data": [row], "pagination": {"limit": 10, "offset": 0, "total": 1}}
    fake.answers |= {path: {"data": []} for path in ("/v2/expenses", "/v2/fixed-fees", "/v2/matters")}
    with connect() as client:
        if holds:
            assert client.check()["metadata"].holds
        else:
            with pytest.raises(DecodeError, match="t0001"):
                client.check()


def test_the_error_for_an_invalid_instant_names_its_record_in_long_lists_too(fake, connect):
    meta = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "yesterday"}
    rows = paged([{**each, "meta": meta} for each in entries(30)])
    headers = {"date": "Sat, 31 Oct 2026 20:00:30 GMT"}
    fake.answers["/v2/time-entries"] = lambda request: httpx.Response(200, json=rows(request), headers=headers)
    with (
        connect(page_size=10) as client,
        pytest.raises(DecodeError, match="record t00.. breaks .*meta.modifiedAt: the value is not a date-time"),
    ):
        client.time_entries()


def test_the_first_instant_of_the_calendar_can_be_requested(client):
    assert len(client.time_entries("2026-10", modified_since="0001-01-01")) == client.time_entries.count("2026-10")


def test_a_check_is_shown_as_text_and_table(connect_with_changes):
    client, _ = connect_with_changes(ignoring("billed"))
    check = client.check()
    lines = repr(check).splitlines()
    assert lines[0] == f"Check of {client.base_url}, 14 requests:"
    assert "  other filters  NO billed or billingType is ignored: other records were sent" in lines
    assert any(line.lstrip().startswith("→ a load that receives") for line in lines)
    shown = check._repr_html_()
    assert shown.count("<tr>") == len(NAMES) + 1
    assert "<td>NO</td>" in shown
    with pytest.raises(KeyError, match="'total'"):
        check["totals"]
