"""The server's reason and its id of the request are found in all forms that servers of this kind use."""

from __future__ import annotations

import json

import httpx
import pytest

import billframes as bf


@pytest.fixture
def refused(fake, connect):
    """Return the error for a create that is refused with this body."""

    def refusing(body, headers=(), status=422):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        fake.answers["/v2/expenses"] = httpx.Response(status, content=content, headers=dict(headers))
        with pytest.raises(bf.errors.ApiError) as raised:
            connect().expenses.create(matter_id="m1", date="2026-10-01", description="x", amount=1)
        return raised.value

    return refusing


REASONS = [
    ({"error": {"message": "The matter is closed."}}, "The matter is closed."),
    ({"error": {"code": 7, "details": [{"message": "Too old."}, {"message": "Too much."}]}}, "Too old. Too much."),
    ({"error": "The matter is closed."}, "The matter is closed."),
    ({"error": "invalid", "error_description": "The matter is closed."}, "The matter is closed."),
    ({"errors": [{"message": "The matter is closed."}, {"message": "No amount."}]}, "The matter is closed. No amount."),
    ({"errors": ["The matter is closed.", "No amount."]}, "The matter is closed. No amount."),
    (
        {"errors": {"amount": ["Too much.", "Too round."], "date": "Too old."}},
        "amount: Too much. Too round. date: Too old.",
    ),
    (
        {"title": "One or more errors.", "errors": {"Amount": ["Too much."], "": ["Not today."]}},
        "One or more errors. Amount: Too much. Not today.",
    ),
    ({"Message": "Not valid.", "ModelState": {"amount": ["Too much."]}}, "Not valid. amount: Too much."),
    ({"MESSAGE": "The matter is closed."}, "The matter is closed."),
    ({"title": "Bad", "detail": "The matter is closed."}, "The matter is closed."),
    ({"fault": {"faultstring": "The matter is closed."}}, "The matter is closed."),
    (
        {"detail": "Not valid.", "errors": [{"parameter": "amount", "detail": "Too much."}]},
        "Not valid. amount: Too much.",
    ),
    ([{"message": "The matter is closed."}, {"description": "No amount."}], "The matter is closed. No amount."),
    ("The matter is closed.", "The matter is closed."),
    (b"\xef\xbb\xbf" + b'{"message": "The matter is closed."}', "The matter is closed."),
    (b"The matter is closed.", "The matter is closed."),
]


@pytest.mark.parametrize(("body", "reason"), REASONS)
def test_the_message_begins_with_the_reason(refused, body, reason):
    assert str(refused(body)).startswith(f"{reason} (expenses: refused with 422.)")


@pytest.mark.parametrize("kind", ["application/JSON", "Application/Problem+Json; Charset=UTF-8", "text/plain", ""])
def test_json_is_read_with_any_content_type(refused, kind):
    assert str(refused({"message": "Closed."}, {"Content-Type": kind})).startswith("Closed. (")


@pytest.mark.parametrize("kind", ["Text/Plain", "TEXT/PLAIN; charset=latin-1", "application/json", ""])
def test_text_is_read_with_any_case_of_its_content_type_or_without_one(refused, kind):
    assert str(
        refused("Straße gesperrt".encode("latin-1" if "latin" in kind else "utf-8"), {"Content-Type": kind})
    ).startswith("Straße gesperrt (")


@pytest.mark.parametrize("kind", ["text/html", "TEXT/HTML", ""])
def test_the_title_of_a_web_page_is_the_reason(refused, kind):
    page = b"<!DOCTYPE html><html><TITLE>\n Access &amp; rules:\n closed </TITLE><body>A lot more</body></html>"
    assert str(refused(page, {"Content-Type": kind})).startswith("Access & rules: closed (")


@pytest.mark.parametrize(
    "body", [b"", b"<p>x</p>", b"{broken", b"\0\1binary", {}, [], {"error": {}}, {"message": 7}, None]
)
def test_without_a_reason_the_message_says_so(refused, body):
    assert str(refused(body)).startswith("The server gave no reason. (expenses: refused with 422.)")


def test_bytes_of_another_kind_are_not_quoted(refused):
    assert "no reason" in str(refused(b"PK", {"Content-Type": "application/zip"}))


def test_a_reason_is_short_and_has_no_control_characters(refused):
    error = refused({"message": "Not\x1b[31m red\r\n\x07\u202e, " + "long " * 100_000})
    assert str(error).startswith("Not red , long")
    assert len(str(error)) < 600
    assert str(error).isprintable()


def test_a_repeated_reason_is_quoted_once(refused):
    assert str(refused({"message": "Closed.", "errors": ["Closed.", "Late."]})).startswith("Closed. Late. (")


def test_errors_that_the_detail_already_lists_are_not_repeated(refused):
    body = {
        "detail": "#/amount is empty; expected a number.",
        "errors": [{"pointer": "#/amount", "detail": "is empty"}],
    }
    assert str(refused(body)).startswith("#/amount is empty; expected a number. (expenses")


def test_reasons_without_a_full_stop_are_sentences_of_their_own(refused):
    assert str(refused({"errors": ["No amount", "Too late"]})).startswith("No amount. Too late (expenses")
    assert " The server says: Not yours. The credential" in str(refused({"message": "Not yours"}, status=403))


@pytest.mark.parametrize("status", [402, 405, 413, 415, 423])
def test_every_status_has_a_next_step(refused, status):
    message = str(refused({"detail": "No"}, status=status))
    assert message == (
        f"expenses: the server responded with status {status}. The server says: No. Check that the address is the "
        "API's own; if it is, tell whoever runs the server."
    )


def test_a_refusal_nested_ten_thousand_deep_is_a_refusal(refused):
    error = refused(b'{"error":' * 10_000 + b"1" + b"}" * 10_000)
    assert type(error) is bf.errors.RefusedError


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Request-Id": "r7"},
        {"request-id": "r7"},
        {"x-ms-request-id": "r7"},
        {"X-Amzn-RequestId": "r7"},
        {"X-Trace-Id": "r7"},
        {"X-B3-TraceId": "r7"},
        {"x-cloud-trace-context": "r7"},
        {"traceparent": "r7", "tracestate": "vendor=9"},
        {"x-correlation-id": "r7"},
    ],
)
def test_the_trace_id_is_found_in_any_header_for_it(refused, headers):
    assert refused({}, headers).trace_id == "r7"


@pytest.mark.parametrize(
    "body",
    [
        {"traceId": "r7"},
        {"TraceID": "r7"},
        {"trace_id": "r7"},
        {"request-id": "r7"},
        {"requestId": "r7", "stackTrace": "at line 7"},
        {"error": {"message": "No", "trace-id": "r7"}},
        {"Error": {"message": "No", "trace-id": "r7"}},
        {"message": "No", "meta": {"request_id": "r7"}},
        {"stacktrace": "at line 7", "trace": "r7"},
    ],
)
def test_the_trace_id_is_found_in_any_field_for_it(refused, body):
    assert refused(body).trace_id == "r7"


@pytest.mark.parametrize("body", [{"stackTrace": "at line 7"}, {"trace": {"a": 1}}, {"trace": True}, [], b""])
def test_other_fields_are_not_used_as_trace_id(refused, body):
    assert refused(body, {"tracestate": "vendor=9"}).trace_id is None


def test_a_header_takes_precedence_over_a_field_and_a_long_trace_id_is_cut(refused):
    assert refused({"traceId": "of the body"}, {"x-trace-id": "of the header"}).trace_id == "of the header"
    assert len(refused({"traceId": "r" * 10_000}).trace_id) == 200


@pytest.mark.parametrize("status", [401, 403, 404, 418, 429, 501])
def test_other_refusals_quote_the_server_too(refused, status):
    assert "The server says: Closed." in str(refused({"Message": "Closed."}, status=status))
