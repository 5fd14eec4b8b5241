"""Every request ends in a frame or a documented error, and shows no credential."""

from __future__ import annotations

import pickle
import traceback

import httpx
import pytest

import billframes as bf
from billframes.transport import http, pacing
from billframes.transport.process_state import RateLimiter
from tests.conftest import entries, entry, paged


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.0)
    monkeypatch.setattr(pacing, "pause_after", lambda _refusals: 0.0)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, bf.errors.RefusedError),
        (401, bf.errors.AuthenticationError),
        (403, bf.errors.AccessDeniedError),
        (404, bf.errors.NotFoundError),
        (409, bf.errors.RefusedError),
        (418, bf.errors.ApiError),
        (422, bf.errors.RefusedError),
        (429, bf.errors.RateLimitedError),
        (500, bf.errors.ServerError),
        (503, bf.errors.ServerError),
        (302, bf.errors.TransportError),
    ],
)
def test_each_status_raises_its_error(fake, connect, status, error):
    fake.answers["/v2/practice-areas"] = httpx.Response(
        status, json={"title": "No", "detail": "The firm is closed."}, headers={"x-request-id": "r7"}
    )
    with pytest.raises(error) as raised:
        connect().practice_areas()
    assert type(raised.value) is error
    assert raised.value.status == status
    assert raised.value.method == "GET"
    assert raised.value.path == "/v2/practice-areas"
    assert raised.value.trace_id == "r7"
    assert "practice_areas" in str(raised.value)
    assert "firm is closed" in raised.value.body


def test_the_message_of_a_refusal_begins_with_the_servers_reason(fake, connect):
    fake.answers["/v2/practice-areas"] = httpx.Response(422, json={"detail": "Label is taken."})
    with pytest.raises(bf.errors.RefusedError, match=r"^Label is taken\."):
        connect().practice_areas()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_temporary_failure_is_retried(fake, connect, status):
    fake.answers["/v2/practice-areas"] = [httpx.Response(status), httpx.Response(status), {"data": []}]
    assert connect(retries=5).practice_areas().empty
    assert len(fake.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 501])
def test_a_permanent_failure_is_not_retried(fake, connect, status):
    fake.answers["/v2/practice-areas"] = httpx.Response(status)
    with pytest.raises(bf.errors.ApiError):
        connect(retries=5).practice_areas()
    assert len(fake.requests) == 1


@pytest.mark.parametrize("failure", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.ReadError("")])
def test_a_failed_connection_is_retried_and_then_named(fake, connect, failure):
    def fail(_request):
        raise failure

    fake.answers["/v2/practice-areas"] = fail
    with pytest.raises(bf.errors.TransportError, match="practice_areas: no usable response from https://billing.test"):
        connect(retries=2).practice_areas()
    assert len(fake.requests) == 3


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("7", 7.0), ("Sat, 31 Oct 2026 20:00:09 GMT", 9.0), ("Sat, 31 Oct 2026 19:59:00 GMT", 0.0)],
)
def test_retry_after_is_honoured(fake, connect, monkeypatch, asked, seconds):
    waits = []
    monkeypatch.setattr(RateLimiter, "hold_back", lambda _self, seconds: waits.append(seconds))
    busy = httpx.Response(429, headers={"retry-after": asked, "date": "Sat, 31 Oct 2026 20:00:00 GMT"})
    fake.answers["/v2/practice-areas"] = [busy, {"data": []}]
    connect(retries=1).practice_areas()
    assert waits == [seconds]


def test_a_request_is_given_up_after_five_refusals_a_retry_though_others_are_granted(fake, connect, monkeypatch):
    """Each grant of another request begins a new count of pauses."""
    monkeypatch.setattr(RateLimiter, "record_refusal", lambda _self, _ticket: pacing.Refusal(1, 0.0))
    fake.answers["/v2/practice-areas"] = httpx.Response(429)
    with pytest.raises(bf.errors.RateLimitedError):
        connect(retries=2).practice_areas()
    assert len(fake.requests) == 1 + 2 * http.MOST_REFUSALS


def test_a_304_is_not_called_a_redirect(fake, connect):
    fake.answers["/v2/practice-areas"] = httpx.Response(304)
    with pytest.raises(bf.errors.TransportError, match=r"the server sent no data \(304 Not Modified\)") as raised:
        connect().practice_areas()
    assert raised.value.status == 304


@pytest.mark.parametrize("status", [200, 204])
@pytest.mark.parametrize("body", [b"", b"\r\n"])
def test_an_empty_response_is_called_empty(fake, connect, status, body):
    fake.answers["/v2/practice-areas"] = httpx.Response(status, content=body)
    with pytest.raises(bf.errors.DecodeError, match="practice_areas: the server's response is empty"):
        connect().practice_areas()


@pytest.mark.parametrize("body", [b'{"data": []}', b"[]"])
def test_a_byte_order_mark_before_the_json_is_ignored(fake, connect, body):
    fake.answers["/v2/practice-areas"] = b"\xef\xbb\xbf" + body
    assert connect().practice_areas().empty


REDIRECTS = [
    (
        "https://api.firm.test/v2/practice-areas",
        "to https://api.firm.test/v2/practice-areas .*Connect to https://api.firm.test.$",
    ),
    (
        "https://billing.test/api/v2/practice-areas?a=b#c",
        "to https://billing.test/api/v2/practice-areas .*Connect to https://billing.test/api.$",
    ),
    ("//other.test/v2/practice-areas", "to https://other.test/v2/practice-areas .*Connect to https://other.test.$"),
    ("/v2/practice-areas/", "to https://billing.test/v2/practice-areas/ .*Check that the address is the API's own"),
    ("/login?next=/v2&token=s3cret", "to https://billing.test/login .*Check that the address"),
    ("https://ada:s3cret@idp.test/login", "to https://idp.test/login .*Check that the address"),
    ("http://billing.test/v2/practice-areas", "to http://billing.test/v2/practice-areas .*Check that the address"),
    ("https://a..b/v2/practice-areas", "to https://a..b/v2/practice-areas .*Check that the address"),
    ("/v2/practice-areas", "to https://billing.test/v2/practice-areas .*Check that the address"),
    ("", "to another address .*Check that the address"),
    ("https://[::bad", "to another address .*Check that the address"),
]


def test_a_redirect_is_not_followed_and_its_address_is_named(fake, connect):
    for location, said in REDIRECTS:
        fake.answers["/v2/practice-areas"] = httpx.Response(302, headers={"location": location})
        with pytest.raises(bf.errors.TransportError, match=f"practice_areas: the server redirects {said}") as raised:
            connect().practice_areas()
        assert "s3cret" not in str(raised.value)
    assert {request.url.host for request in fake.requests} == {"billing.test"}
    assert len(fake.requests) == len(REDIRECTS)


def test_the_token_is_in_no_text_or_pickle(fake, connect):
    client = connect()
    fake.answers["/v2/practice-areas"] = httpx.Response(401)
    try:
        client.practice_areas()
    except bf.errors.AuthenticationError as error:
        shown = "".join(traceback.format_exception(error)) + repr(vars(error))
    shown += repr(client) + str(client) + repr(vars(client)) + repr(vars(client._connection))
    assert "t0ken" not in shown
    assert b"t0ken" not in pickle.dumps(client)


def test_errors_and_frames_pickle(fake, connect):
    fake.answers["/v2/practice-areas"] = httpx.Response(404, json={"detail": "Gone."})
    with pytest.raises(bf.errors.NotFoundError) as raised:
        connect().practice_areas()
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (type(copy), str(copy), copy.status, copy.body) == (
        type(raised.value),
        str(raised.value),
        404,
        raised.value.body,
    )


def test_a_query_stays_out_of_messages(fake, connect):
    fake.answers["/v2/clients"] = httpx.Response(500)
    with pytest.raises(bf.errors.ServerError) as raised:
        connect().clients("Privileged Client Inc")
    assert "Privileged" not in str(raised.value)


def test_a_page_of_another_offset_is_refused(fake, connect):
    fake.answers["/v2/time-entries"] = {"data": [entry()], "pagination": {"limit": 1000, "offset": 5, "total": 1}}
    with pytest.raises(bf.errors.DecodeError, match="offset"):
        connect().time_entries(select="")


def test_rows_that_do_not_fit_the_filter_are_refused(fake, connect):
    everything = {"data": [entry(date="2026-09-30"), entry(2)], "pagination": {"limit": 1000, "offset": 0, "total": 2}}
    fake.answers["/v2/time-entries"] = everything
    with pytest.raises(bf.errors.DecodeError, match="1 of 2 rows do not fit the filter startDate"):
        connect().time_entries("2026-10", select="")
    fake.answers["/v2/time-entries"] = paged([entry(), entry(2, billingType="nonBillable")])
    with pytest.raises(bf.errors.DecodeError, match="billingType"):
        connect().time_entries(billing_type="billable", select="")


def test_the_case_of_ids_is_ignored(fake, connect):
    fake.answers["/v2/time-entries"] = paged([entry(matterId="ABC1")])
    assert len(connect().time_entries(matter_id="abc1", select="")) == 1


@pytest.mark.parametrize("lie", [{"total": 3}, {"total": 1}])
def test_a_wrong_total_is_a_paging_error(fake, connect, lie):
    fake.answers["/v2/time-entries"] = lambda request: {
        "data": [entry(1), entry(2)] if request.url.params["offset"] == "0" else [],
        "pagination": {"limit": 1000, "offset": int(request.url.params["offset"]), **lie},
    }
    with pytest.raises(bf.errors.PagingError, match="time_entries"):
        connect().time_entries(select="")


def test_a_record_twice_in_a_list_is_a_paging_error(fake, connect):
    fake.answers["/v2/time-entries"] = paged([entry(1), entry(1)])
    with pytest.raises(bf.errors.PagingError, match="twice"):
        connect().time_entries(select="")


def test_a_list_that_changed_is_read_again(fake, connect):
    rows = entries(15)

    def serve(request):
        answer = paged(list(rows))(request)
        if len(fake.requests) == 1:
            rows.append(entry(99, date="2026-09-10"))
        return answer

    fake.answers["/v2/time-entries"] = serve
    frame = connect(page_size=10).time_entries(select="")
    assert len(frame) == 16


def test_a_smaller_granted_limit_becomes_the_page_size(fake, connect):
    fake.answers["/v2/time-entries"] = paged(entries(25), granted=10)
    assert len(connect().time_entries(select="")) == 25


def test_a_list_without_pagination_is_read_to_its_end(fake, connect):
    rows = [entry(i) for i in range(25)]
    fake.answers["/v2/time-entries"] = lambda request: {
        "data": rows[int(request.url.params["offset"]) :][: int(request.url.params["limit"])]
    }
    assert len(connect(page_size=10).time_entries(select="")) == 25


def test_a_list_that_is_not_paged_may_be_a_bare_array(fake, connect):
    fake.answers["/v2/practice-areas"] = b'[{"practiceAreaId": "p", "label": "Tax", "default": true}]'
    assert connect().practice_areas()["label"].tolist() == ["Tax"]


def test_rows_out_of_order_are_refused(fake, connect):
    fake.answers["/v2/time-entries"] = lambda _request: {
        "data": [entry(1, date="2026-10-02"), entry(2)],
        "pagination": {"limit": 1000, "offset": 0, "total": 2},
    }
    with pytest.raises(bf.errors.DecodeError, match="order"):
        connect().time_entries(select="")
    assert len(fake.requests) == 2


def test_a_page_larger_than_granted_is_refused(fake, connect):
    fake.answers["/v2/time-entries"] = {"data": entries(3), "pagination": {"limit": 2000, "offset": 0, "total": 3}}
    with pytest.raises(bf.errors.DecodeError, match="granted 2000"):
        connect().time_entries(select="")


def test_a_page_that_fails_a_check_is_requested_once_more(fake, connect):
    good = {"data": entries(3), "pagination": {"limit": 1000, "offset": 0, "total": 3}}
    fake.answers["/v2/time-entries"] = [{**good, "data": []}, good]
    assert len(connect().time_entries(select="")) == 3


def test_a_day_of_more_than_a_page_of_equal_rows_can_not_be_proved(fake, connect):
    fake.answers["/v2/time-entries"] = paged([entry(i, billed=i > 25) for i in range(50)])
    with pytest.raises(bf.errors.BillframesError, match="time_entries"):
        connect(page_size=10).time_entries(select="", billed=False, billing_type="billable")


def test_progress_is_called_with_rows_and_total(fake, connect):
    told = []
    fake.answers["/v2/time-entries"] = paged(entries(150))
    connect(page_size=10).time_entries(select="", progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (150, 150)
    assert len({done for done, _ in told}) > 5


def test_a_list_without_a_total_whose_server_ignores_offset_is_an_error(fake, connect):
    fake.answers["/v2/time-entries"] = {"data": [entry(i) for i in range(10)]}
    with pytest.raises(bf.errors.DecodeError, match="The server ignores offset"):
        connect(page_size=10).time_entries(select="")
