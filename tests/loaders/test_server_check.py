"""The check of a server: fourteen small requests tell what a server does, and loads then do what was said."""

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


class Meddling(httpx.BaseTransport):
    """A way to the sandbox on which somebody changes questions and answers."""

    def __init__(self, question=None, answer=None):
        self.question, self.answer = question or (lambda _query: None), answer or (lambda _headers, _body: None)
        self.asked = []

    def handle_request(self, request):
        query = dict(request.url.params)
        self.asked.append(dict(query))
        refusal = self.question(query)
        if refusal is not None:
            return refusal
        # Made anew, so that the path asked for is the sandbox's and the host header stays.
        onward = httpx.Request(request.method, request.url.copy_with(params=query), headers=request.headers)
        # A connection of its own each time: a client's lines close what they share one by one.
        with httpx.HTTPTransport(verify=False) as network:
            response = network.handle_request(onward)
            body, headers = json.loads(response.read()), dict(response.headers)
        self.answer(headers, body)
        headers.pop("content-length")
        return httpx.Response(response.status_code, headers=headers, content=json.dumps(body))


@pytest.fixture
def meet(sandbox):
    """Connect by way of a meddler."""
    opened = []

    def meeting(question=None, answer=None, token="full", **options):
        transport = Meddling(question, answer)
        options = {"page_size": PAGE, "retries": 0, **options}
        opened.append(bf.Client(sandbox.base_url, sandbox.tokens[token], transport=transport, **options))
        return opened[-1], transport.asked

    yield meeting
    for client in opened:
        client.close()


def ignoring(*names):
    return lambda query: [query.pop(name, None) for name in names] and None


def granting(most):
    def question(query):
        query["limit"] = str(min(int(query["limit"]), most))

    return question


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


def test_a_server_that_keeps_to_the_description_is_found_to(meet):
    client, asked = meet()
    contact = client.check()
    assert contact.failing == ()
    assert [finding.name for finding in contact.findings if finding.holds] == NAMES
    assert contact.requests == len(asked) == 14


def test_the_requests_are_small(meet):
    rows = []
    client, asked = meet(answer=lambda _headers, body: rows.append(len(body["data"])))
    client.check()
    assert len(rows) == len(asked) == 14
    assert max(rows) <= 10


MONTH = "2026-10"

TROUBLE = [
    # what the server does, the finding that does not hold, a load on such a server, and what comes of it
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
    (None, unpaged, "total", lambda c: c.time_entries(MONTH), "counted"),
    (None, unpaged, "total", lambda c: c.time_entries.count(), PagingError),
    (None, miscounting, "total", lambda c: c.time_entries(MONTH), PagingError),
    (None, timeless, "clock", lambda c: c.time_entries(MONTH), "counted"),
]


@pytest.mark.filterwarnings("ignore::billframes.DetailsMissingWarning")
@pytest.mark.parametrize(("question", "answer", "name", "load", "outcome"), TROUBLE)
def test_what_a_server_does_otherwise_is_found_and_loads_do_what_was_said(meet, question, answer, name, load, outcome):
    client, asked = meet(question, answer)
    contact = client.check()
    assert len(asked) == contact.requests <= 16
    assert contact[name].holds is False
    assert contact[name] in contact.failing
    if isinstance(outcome, str):
        assert load(client).attrs["load"]["proof"] == outcome
        assert (outcome == "counted") == ("'counted'" in contact[name].instead)
    else:
        with pytest.raises(outcome):
            load(client)
        assert outcome.__name__ in contact[name].instead


def test_a_skewed_clock_is_told_and_does_no_harm(meet):
    def slow(headers, _body):
        headers["date"] = format_datetime(dt.datetime.now(dt.UTC) - dt.timedelta(seconds=300), usegmt=True)

    client, _ = meet(answer=slow)
    clock = client.check()["clock"]
    told = re.match(r"the server's is (\d+) s behind this machine's", clock.found)
    # Headers tell whole seconds, and the answer takes its time.
    assert told
    assert 299 <= int(told[1]) <= 310
    assert clock.holds


def test_a_credential_without_rates_is_told(meet):
    client, _ = meet(token="norates")
    contact = client.check()
    assert [finding.name for finding in contact.failing] == ["rates"]


def test_a_refused_credential_is_the_error_it_is(sandbox):
    with bf.Client(sandbox.base_url, "wrong") as client, pytest.raises(AuthenticationError):
        client.check()


UNTOLD = ["offset", "date order", "creation order", "date filter", "other filters", "select names"]


@pytest.mark.parametrize(
    "rows", [[], [entry(billed=True, meta={"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "2026-10-02T00:00:00Z"})]]
)
def test_what_no_data_show_is_said_to_be_unknown(fake, connect, rows):
    """With one record or none, a server that ignores everything looks like one that honours everything."""

    def answer(request):
        query = dict(request.url.params)
        start, end = int(query["offset"]), int(query["offset"]) + int(query["limit"])
        where = {"limit": int(query["limit"]), "offset": start, "total": len(rows)}
        return {"data": rows[start:end], "pagination": where}

    fake.answers["/v2/time-entries"] = answer
    nothing = {"data": [], "pagination": {"limit": 10, "offset": 0, "total": 0}}
    fake.answers |= dict.fromkeys(["/v2/expenses", "/v2/fixed-fees", "/v2/matters"], nothing)
    with connect() as client:
        contact = client.check()
    told = {finding.name: finding.holds for finding in contact.findings}
    assert [told[name] for name in UNTOLD] == [None] * len(UNTOLD)
    assert contact.requests == len(fake.requests) == 14


@pytest.mark.parametrize("honoured", [True, False])
def test_two_records_show_whether_pages_move(fake, connect, honoured):
    serve = paged(entries(2))

    def ignore_offset(request):
        return serve(httpx.Request("GET", request.url.copy_remove_param("offset")))

    fake.answers["/v2/time-entries"] = serve if honoured else ignore_offset
    fake.answers |= {path: {"data": []} for path in ("/v2/expenses", "/v2/fixed-fees", "/v2/matters")}
    with connect() as client:
        assert client.check()["offset"].holds is honoured


@pytest.mark.parametrize(("modified", "holds"), [("0001-01-01T00:00:00Z", True), ("yesterday", None)])
def test_odd_instants_are_no_traceback(fake, connect, modified, holds):
    row = entry(meta={"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": modified})
    fake.answers["/v2/time-entries"] = {"data": [row], "pagination": {"limit": 10, "offset": 0, "total": 1}}
    fake.answers |= {path: {"data": []} for path in ("/v2/expenses", "/v2/fixed-fees", "/v2/matters")}
    with connect() as client:
        if holds:
            assert client.check()["metadata"].holds
        else:
            with pytest.raises(DecodeError, match="t0001"):
                client.check()


def test_an_instant_that_cannot_be_read_names_its_record_in_long_lists_too(fake, connect):
    meta = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "yesterday"}
    rows = paged([{**each, "meta": meta} for each in entries(30)])
    headers = {"date": "Sat, 31 Oct 2026 20:00:30 GMT"}
    fake.answers["/v2/time-entries"] = lambda request: httpx.Response(200, json=rows(request), headers=headers)
    with (
        connect(page_size=10) as client,
        pytest.raises(DecodeError, match="record t00.. breaks .*meta.modifiedAt: the value is not a date-time"),
    ):
        client.time_entries()


def test_an_instant_before_the_calendar_begins_is_asked_for_as_it_is(client):
    assert len(client.time_entries("2026-10", modified_since="0001-01-01")) == client.time_entries.count("2026-10")


def test_it_shows_itself(meet):
    client, _ = meet(ignoring("billed"))
    contact = client.check()
    lines = repr(contact).splitlines()
    assert lines[0] == f"Check of {client.base_url}, 14 requests:"
    assert "  other filters  NO billed or billingType is ignored: other records were sent" in lines
    assert any(line.lstrip().startswith("→ a load that receives") for line in lines)
    shown = contact._repr_html_()
    assert shown.count("<tr>") == len(NAMES) + 1
    assert "<td>NO</td>" in shown
    with pytest.raises(KeyError, match="'total'"):
        contact["totals"]
