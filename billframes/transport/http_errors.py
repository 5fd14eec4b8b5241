"""What a request that brought nothing usable is called, and the words for it.

Each message says what happened, to which resource, and what to do next. Queries stay out of messages: they can hold
client names; so do bodies, which the error carries beside its message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

import msgspec

from billframes.errors import (
    AccessDeniedError,
    ApiError,
    AuthenticationError,
    NotFoundError,
    RateLimitedError,
    RefusedError,
    ServerError,
    TransportError,
    UncertainWriteError,
)
from billframes.transport.outcome import HttpAnswer
from billframes.transport.reasons import reason_of, trace_of

__all__ = [
    "Sent",
    "TooLargeAnswerError",
    "refused",
    "too_large",
    "uncertain",
    "unreachable",
]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: to which resource in the words of messages, how, where, and what goes with it."""

    resource: str
    method: str
    path: str
    query: Sequence[tuple[str, str]] = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    may_be_empty: bool = False

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"


def unreachable(sent: Sent, origin: str, reason: str, advice: str) -> TransportError:
    """Return the error for a request that brought no usable answer."""
    return TransportError(
        f"{sent.resource}: no usable answer from {origin} ({reason}). {advice}", method=sent.method, path=sent.path
    )


class TooLargeAnswerError(TransportError):
    """An answer beyond the bound: a page can be asked for with fewer rows."""


def too_large(sent: Sent, most: int) -> TransportError:
    """Return the error for an answer beyond the bound."""
    return TooLargeAnswerError(
        f"{sent.resource}: the answer is larger than {most:,} bytes, so it was not read. Ask for less, or raise "
        "client.limits.largest_answer.",
        method=sent.method,
        path=sent.path,
    )


def uncertain(cause: Exception, sent: Sent) -> UncertainWriteError:
    """Return the error for a write that was sent and whose outcome is not known."""
    known = cause if isinstance(cause, ApiError) else ApiError("")
    loader, record = f"{sent.resource}(…)", f"{sent.resource}.get({sent.path.rpartition('/')[2]!r})"
    done, look = {
        "POST": ("created", f"Load {loader} and look for what was sent: it may be there."),
        "PUT": ("changed", f"Compare {record} or the row in {loader} with what was sent."),
        "DELETE": ("deleted", f"{record} raises NotFoundError where it was."),
    }[sent.method]
    return UncertainWriteError(
        f"{sent.resource}: it is not known whether the record was {done}. {cause} Look before sending this again, so "
        f"that nothing is done twice. {look} The error's `sent` holds what was sent.",
        status=known.status,
        method=sent.method,
        path=sent.path,
        body=known.body,
        trace_id=known.trace_id,
        sent=msgspec.json.decode(sent.body) if sent.body else None,
    )


def refused(answer: HttpAnswer, sent: Sent, *, again: bool = False, wait: float | None = None) -> ApiError:
    """
    Return the error for a status that is not a 2xx.

    `again` says that the request was tried more than once; `wait` is what the server asks for, if that is too long.
    """
    tried = f", and asks to wait {wait:,.0f} seconds" if wait is not None else ", also after trying again" * again
    kind, message = _explain(answer.status, sent.resource, reason_of(answer), tried)
    return kind(
        message,
        status=answer.status,
        method=sent.method,
        path=sent.path,
        body=answer.text,
        trace_id=trace_of(answer),
    )


def _explain(status: int, resource: str, words: str, tried: str) -> tuple[type[ApiError], str]:
    said = f" The server says: {words}" if words else ""
    if status == HTTPStatus.UNAUTHORIZED:
        return AuthenticationError, (
            f"{resource}: the server does not accept the credential (401).{said} Check the token, or connect again."
        )
    if status == HTTPStatus.FORBIDDEN:
        return AccessDeniedError, (
            f"{resource}: access denied (403).{said} The credential may lack permission; on some servers a wrong "
            "credential looks like this too."
        )
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError, (
            f"{resource}: not found (404).{said} Check the id, and that the address is the API's own."
        )
    if status in {400, 409, 422}:
        return RefusedError, f"{words or 'The server gave no reason.'} ({resource}: refused with {status}.)"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimitedError, (
            f"{resource}: too many requests (429){tried}.{said} Try later, or lower rate_limit= and concurrency=."
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return (
            ServerError,
            f"{resource}: the server failed ({status}){tried}.{said} Try later.",
        )
    if 300 <= status < 400:
        return TransportError, (
            f"{resource}: the server points elsewhere ({status}); redirects are not followed, so that credentials "
            "go nowhere else. Connect to the final address."
        )
    return ApiError, f"{resource}: the server answered {status}.{said}"
