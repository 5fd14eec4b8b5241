"""Make the error for each kind of failed request.

Each message says what happened, to which resource, and what to do next. Queries and bodies stay out of messages,
because they can hold client names. The error has the body as an attribute.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx
import msgspec

from billframes._shared.messages import cut
from billframes.config.credentials import check_address
from billframes.errors import (
    AccessDeniedError,
    ApiError,
    AuthenticationError,
    ConfigError,
    NotFoundError,
    RateLimitedError,
    RefusedError,
    ServerError,
    TransportError,
    UncertainWriteError,
)
from billframes.transport.answers import OtherRecordError
from billframes.transport.connections import DeadlineError
from billframes.transport.reasons import end_sentence, reason_of, trace_id_of
from billframes.transport.redaction import chain_of
from billframes.transport.request import LONGEST_SHOWN, REDIRECT, ApiRequest, Failure, RawResponse

# A request that failed with one of these errors was never sent.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
_INCOMPLETE = "The response was incomplete. Try again; if that fails too, tell whoever runs the server or your network."


def connection_failure(failure: Exception, request: ApiRequest, origin: str, longest: float) -> Failure:
    """Return the failure of a request to `origin` without a complete response within `longest` seconds."""
    if isinstance(failure, DeadlineError):
        reason = f"the response was not complete after {longest:g} seconds"
    else:
        # The text of a LocalProtocolError quotes what could not be sent, which may be a credential.
        reason = "" if isinstance(failure, httpx.LocalProtocolError) else str(failure)
        reason = reason or type(failure).__name__
    error = _unusable_response_error(request, origin, reason, _advice(failure, reason))
    timed_out = isinstance(failure, DeadlineError | httpx.TimeoutException)
    outcome = Failure(error, _is_temporary(failure), timed_out=timed_out)
    return outcome if isinstance(failure, _NOT_SENT) else failure_after_sending(outcome, request)


def _advice(failure: Exception, reason: str) -> str:
    if isinstance(failure, DeadlineError):
        return "The server is too slow: load less at once, try again, or increase client.limits.longest_request."
    if isinstance(failure, httpx.TimeoutException):
        return "The server sent nothing for too long: try again, or increase timeout=."
    if "certificate" in reason.lower():
        return (
            "Its TLS certificate is not trusted on this machine: check the address, or ask your IT for the file of its "
            "certificate authority, and give the path as verify=."
        )
    if isinstance(failure, httpx.ProxyError):
        return (
            "This is the proxy's refusal: check its address, user and password in HTTPS_PROXY, or ask your IT whether "
            "it lets you reach this server."
        )
    if isinstance(failure, httpx.ConnectError):
        return "Check the address, your network connection and, if there is one, the proxy (HTTPS_PROXY)."
    return _INCOMPLETE


def _is_temporary(failure: Exception) -> bool:
    if not isinstance(failure, httpx.RequestError):
        return True
    if isinstance(failure, httpx.UnsupportedProtocol | httpx.ProxyError):
        return False
    connecting = isinstance(failure, httpx.ConnectError)
    return not any(_is_permanent(cause, connecting=connecting) for cause in chain_of(failure))


def _is_permanent(cause: BaseException, *, connecting: bool) -> bool:
    if isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        # While a response is read, this is only a lost connection.
        return connecting
    unknown_host = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
    return unknown_host or isinstance(cause, ssl.SSLError) or "CERTIFICATE_VERIFY" in str(cause)


def incomplete_error(request: ApiRequest, origin: str) -> TransportError:
    """Return the error for a response whose JSON ends too early."""
    return _unusable_response_error(request, origin, "it ends in the middle", _INCOMPLETE)


def _unusable_response_error(request: ApiRequest, origin: str, reason: str, advice: str) -> TransportError:
    return TransportError(
        f"{request.resource}: no usable response from {origin} ({reason}). {advice}",
        method=request.method,
        path=request.path,
    )


def leaves_open(status: int) -> bool:
    """
    Tell whether a write with this status can have had an effect.

    A form's server redirects to the new record. Only 307 and 308 ask to send the same request elsewhere.
    """
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
    repeats = status in {HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or (is_redirect and not repeats)


def failure_after_sending(failure: Failure, request: ApiRequest) -> Failure:
    """Return the failure of a request that was sent: the outcome of a write is then uncertain."""
    if request.is_read:
        return failure
    error = uncertain_write_error(failure.error, request)
    return replace(failure, error=error, retryable=False, uncertain=True)


class TooLargeResponseError(TransportError):
    """A response larger than the limit; a page can be requested with fewer rows."""


def too_large_error(request: ApiRequest, most: int) -> TransportError:
    """Return the error for a response larger than the limit."""
    return TooLargeResponseError(
        f"{request.resource}: the response is larger than {most:,} bytes, so it was not read. Load less at once, or "
        "increase client.limits.largest_answer.",
        method=request.method,
        path=request.path,
    )


def uncertain_write_error(cause: Exception, request: ApiRequest) -> UncertainWriteError:
    """Return the error for a write that was sent, if it is not known whether it had an effect."""
    known = cause if isinstance(cause, ApiError) else ApiError("")
    loader, record = f"{request.resource}(…)", f"{request.resource}.get({request.path.rpartition('/')[2]!r})"
    done, look = {
        "POST": ("created", f"Load {loader} and look for the record."),
        "PUT": ("changed", f"Compare {record} or the row in {loader} with the values that were sent."),
        "DELETE": ("deleted", f"{record} raises NotFoundError if it was."),
    }[request.method]
    received = cause.received if isinstance(cause, OtherRecordError) else None
    both = " and `received` those that came back" if received else ""
    return UncertainWriteError(
        f"{request.resource}: it is not known whether the record was {done}. {cause} Check this before you send it "
        f"again, so that nothing is done twice. {look} The error's `sent` has the values that were sent{both}.",
        status=known.status,
        method=request.method,
        path=request.path,
        body=known.body,
        trace_id=known.trace_id,
        sent=msgspec.json.decode(request.body) if request.body else None,
        received=received,
    )


def status_error(
    response: RawResponse, request: ApiRequest, base_url: str, *, again: bool = False, wait: float | None = None
) -> ApiError:
    """
    Return the error for a status that is not a 2xx, of a request to the API at `base_url`.

    `again` says that the request was retried. `wait` is the server's `Retry-After` in seconds, if that is too long.
    """
    tried = f", and asks to wait {wait:,.0f} seconds" if wait is not None else ", also after retries" * again
    target, advice = _redirect(response.headers.get(REDIRECT, ""), request.path, base_url)
    kind, message = _explain(
        response.status, reason_of(response), resource=request.resource, tried=tried, target=target, advice=advice
    )
    return kind(
        message,
        status=response.status,
        method=request.method,
        path=request.path,
        body=response.text,
        trace_id=trace_id_of(response),
    )


# By status. 300 is used for the other 3xx, 500 for all statuses from 500 on, and 0 for all others.
_EXPLAINED: dict[int, tuple[type[ApiError], str]] = {
    401: (
        AuthenticationError,
        "{resource}: the server does not accept the credential (401).{said} Check the token, or connect again.",
    ),
    403: (
        AccessDeniedError,
        "{resource}: access denied (403).{said} The credential may lack permission; on some servers a wrong credential "
        "looks like this too.",
    ),
    404: (NotFoundError, "{resource}: not found (404).{said} Check the id, and that the address is the API's own."),
    429: (
        RateLimitedError,
        "{resource}: too many requests (429){tried}.{said} Try later, or lower rate_limit= and concurrency=.",
    ),
    500: (ServerError, "{resource}: the server failed ({status}){tried}.{said} Try later."),
    300: (
        TransportError,
        "{resource}: the server redirects to {target} ({status}). Redirects are not followed, so that credentials are "
        "not sent there. {advice}",
    ),
    304: (
        TransportError,
        "{resource}: the server sent no data (304 Not Modified), although the request had no condition. Try again; if "
        "that fails too, tell whoever runs the server or your network: a cache may be wrong.",
    ),
    0: (
        ApiError,
        "{resource}: the server responded with status {status}.{said} Check that the address is the API's own; if it "
        "is, tell whoever runs the server.",
    ),
}


def _explain(status: int, words: str, **known: str) -> tuple[type[ApiError], str]:
    if status in {400, 409, 422}:
        return RefusedError, f"{words or 'The server gave no reason.'} ({known['resource']}: refused with {status}.)"
    hundred = 500 if status >= HTTPStatus.INTERNAL_SERVER_ERROR else status // 100 * 100
    kind, text = _EXPLAINED.get(status) or _EXPLAINED.get(hundred) or _EXPLAINED[0]
    said = f" The server says: {end_sentence(words)}" if words else ""
    return kind, text.format(status=status, said=said, **known)


def _redirect(location: str, path: str, base_url: str) -> tuple[str, str]:
    """Return where a redirect leads, without its query, and the advice to connect there if the API is."""
    try:
        parts = urlsplit(urljoin(base_url + path, location))
        target = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")) if location else ""
    except ValueError:
        target = ""
    base = target.removesuffix(path)
    with suppress(ConfigError):
        if base not in {target, base_url}:
            return cut(target, LONGEST_SHOWN), f"Connect to {check_address(base, 'redirect')}."
    advice = "Check that the address is the API's own, and ask whoever runs the server for it."
    return cut(target, LONGEST_SHOWN) or "another address", advice
