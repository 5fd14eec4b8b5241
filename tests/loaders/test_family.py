"""Servers of the same family write some values in another form: the frames are the same, or the error says why."""

from __future__ import annotations

import datetime as dt
import json
import re

import httpx
import pytest

import billframes as bf
from billframes.sandbox import Sandbox, Trouble
from billframes.schema.json_text import cut_midnights
from tests.conftest import entry, paged
from tests.frames import assert_frame_equal

DATES = re.compile(r'("(?:date|opened|invoiceDate|dueDate)":")([0-9-]{10})"')
INSTANTS = re.compile(r"(\.\d{6})Z")


class RewritingTransport(httpx.HTTPTransport):
    """Sends requests to the sandbox, and rewrites the responses."""

    def __init__(self, rewrite):
        super().__init__()
        self.rewrite = rewrite

    def handle_request(self, request):
        response = super().handle_request(request)
        text = response.read().decode()
        response.close()
        headers = {name: value for name, value in response.headers.items() if name != "content-length"}
        if response.is_success and text:
            text = self.rewrite(text)
        return httpx.Response(response.status_code, headers=headers, content=text)


def dates_as_midnight(suffix):
    return lambda text: DATES.sub(rf'\1\2T00:00:00{suffix}"', text)


def wrapped_as(name, beside=False):
    def rewrite(text):
        body = json.loads(text)
        if isinstance(body.get("data"), list):
            rows, pagination = body.pop("data"), body.pop("pagination", {})
            body = {name or "x": rows, **(pagination if beside else {"pagination": pagination} if pagination else {})}
        return json.dumps(body)

    return rewrite


def bare(text):
    return json.dumps(json.loads(text)["data"])


def seven_digits(text):
    return INSTANTS.sub(r"\g<1>7Z", text)


@pytest.fixture
def written(sandbox):
    opened = []

    def connect(rewrite, **options):
        transport = RewritingTransport(rewrite)
        opened.append(bf.Client(sandbox.base_url, sandbox.tokens["full"], transport=transport, **options))
        return opened[-1]

    yield connect
    for client in opened:
        client.close()


LOADS = {
    "time_entries": lambda client: client.time_entries("2026-Q3"),
    "expenses": lambda client: client.expenses("2026"),
    "fixed_fees": lambda client: client.fixed_fees(),
    "invoices": lambda client: client.invoices("2026"),
    "matters": lambda client: client.matters(),
}
FORMS = {
    "midnight": dates_as_midnight(""),
    "midnight in UTC": dates_as_midnight(".0000000Z"),
    "midnight with an offset": dates_as_midnight("+01:00"),
    "seven digits": seven_digits,
    "items": wrapped_as("items"),
    "results, pagination beside": wrapped_as("results", beside=True),
}


@pytest.mark.sweep
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LOADS)
def test_lists_in_another_form_give_the_same_frame_and_proof(client, written, form, name):
    frame = LOADS[name](written(FORMS[form]))
    plain = LOADS[name](client)
    assert_frame_equal(frame, plain)
    own = {"time": None, "server": None, "key": None}
    assert frame.attrs["load"] | own == plain.attrs["load"] | own


def test_lists_that_are_not_paged_may_have_any_wrapper(client, written):
    for rewrite in (
        wrapped_as("items"),
        wrapped_as("practiceAreas"),
        lambda text: json.dumps(json.loads(text)["data"]),
    ):
        assert_frame_equal(written(rewrite).practice_areas(), client.practice_areas())


def test_a_single_record_has_its_dates_and_custom_dates(client, written):
    midnight = written(lambda text: re.sub(r'"(\d{4}-\d\d-\d\d)"', r'"\1T00:00:00"', text))
    for matter in client.matters(limit=20)["matter_id"]:
        assert midnight.matters.get(matter) == client.matters.get(matter)
    fields = client.matters().attrs["custom_fields"]
    dated = [name for name, each in fields.items() if each["type"] == "date"]
    assert dated
    assert_frame_equal(midnight.matters()[dated], client.matters()[dated])


def test_a_datetime_with_another_time_of_day_is_not_a_date(fake, connect):
    fake.answers["/v2/time-entries"] = paged([entry(date="2026-10-01T09:30:00")])
    with pytest.raises(bf.errors.DecodeError, match=r"record t0001 breaks .* at \$\.data\[0\]\.date"):
        connect().time_entries(select="")
    billed = entry(billed=True, invoiceId="i1", invoice={"invoiceDate": "2026-10-01T23:00:00Z"})
    fake.answers["/v2/time-entries"] = paged([billed])
    with pytest.raises(bf.errors.DecodeError, match=r"invoice\.invoiceDate"):
        connect().time_entries(select="")
    value = {"id": "7", "name": "Trial", "valueType": "date", "value": "2026-10-01T00:00:01Z"}
    fake.answers["/v2/custom-fields"] = {"data": [{**value, "entity": "user"}]}
    user = {"userId": "u1", "name": "A B", "firstName": "A", "lastName": "B", "role": "attorney", "email": "a@b.c"}
    fake.answers["/v2/users"] = {"data": [{**user, "customFields": [value]}]}
    with pytest.raises(bf.errors.DecodeError, match="not a date"):
        connect().users()


def test_a_narrative_that_looks_like_a_date_is_not_changed():
    narrative = json.dumps({"description": 'x "date":"2026-10-01T00:00:00" y', "date": "2026-10-01T00:00:00"})
    assert json.loads(cut_midnights(narrative.encode())) == {
        "description": 'x "date":"2026-10-01T00:00:00" y',
        "date": "2026-10-01",
    }


def test_a_lost_change_of_a_date_is_recognised_in_a_datetime(fake, connect):
    def serve(request):
        if request.method == "PUT":
            return httpx.Response(500)
        return httpx.Response(200, json={"data": entry(date="2026-10-05T00:00:00", user={}, matter={}, client={})})

    fake.answers["/v2/time-entries/t0001"] = serve
    assert connect().time_entries.update("t0001", date="2026-10-05").date == dt.date(2026, 10, 5)


@pytest.mark.parametrize(
    "body",
    [
        {"errors": []},
        {"message": "no", "details": []},
        {"items": [], "results": []},
        {"items": {"a": 1}},
        {"items": [], "data": 7},
        {"practiceAreas": [], "nextLink": "https://billing.test/2"},
        {"items": [], "totalCount": 70},
    ],
)
def test_a_response_without_a_list_is_not_an_empty_list(fake, connect, body):
    fake.answers["/v2/practice-areas"] = body
    with pytest.raises(bf.errors.DecodeError, match="practice_areas"):
        connect().practice_areas()


ITEMS = ["time_entries", "expenses", "fixed_fees"]


@pytest.fixture(scope="module", params=["ignores", "honours"])
def server(request, client):
    """Return a server that ignores `invoiceId`, which is not in the API's description, or one that honours it."""
    if request.param == "ignores":
        yield client
        return
    trouble = Trouble(other_names="lenient")
    with Sandbox(trouble=trouble) as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as other:
        yield other


@pytest.mark.parametrize("name", ITEMS)
def test_items_are_filtered_by_invoice(client, server, name):
    every = getattr(client, name)("2026-Q3", billed=True)
    invoice = every["invoice_id"].value_counts().index[0]
    expected = every[every["invoice_id"] == invoice].reset_index(drop=True)
    loader = getattr(server, name)
    frame = loader("2026-Q3", invoice_id=invoice)
    assert_frame_equal(frame, expected)
    assert frame.attrs["load"]["proof"] == "snapshot"
    assert loader.count("2026-Q3", invoice_id=invoice) == len(expected)
    assert_frame_equal(loader("2026-Q3", invoice_id=invoice.upper(), limit=1), expected[:1])
    assert loader("2026-Q3", invoice_id="00000000-0000-4000-8000-000000000000").empty


def test_the_invoice_filter_is_sent_and_billed_rows_without_an_invoice_are_an_error(fake, connect):
    fake.answers["/v2/expenses"] = paged([])
    connect().expenses(invoice_id="i1")
    assert fake.query()["invoiceId"] == "i1"
    row = {"expenseId": "e1", "matterId": "m", "clientId": "c", "date": "2026-10-01", "description": "x", "amount": 1}
    fake.answers["/v2/expenses"] = paged([{**row, "billed": True}])
    with pytest.raises(bf.errors.DecodeError, match="e1 is billed but has no invoiceId"):
        connect().expenses(invoice_id="i1", select="")
