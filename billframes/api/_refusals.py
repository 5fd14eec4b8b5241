"""What a request that brought nothing usable is called, and the words for it.

Each message says what happened, to which resource, and what to do next. Queries stay out of messages: they can hold
client names; so do bodies, which the error carries beside its message.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from billframes.errors import (
    AccessDeniedError,
    ApiError,
    AuthenticationError,
    DecodeError,
    NotFoundError,
    RateLimitedError,
    RefusedError,
    ServerError,
    TransportError,
    UncertainWriteError,
)

__all__ = [
    "Refusal",
    "Sent",
    "TooLargeAnswerError",
    "is_json",
    "not_json",
    "refused",
    "too_large",
    "uncertain",
    "unreachable",
]

LONGEST_QUOTE = 500
LARGE = 2**17
_OPEN, _CLOSED = {b"{", b"["}, {b"}", b"]"}
_JSON = msgspec.json.Decoder(msgspec.Raw)
_TRACES = ("x-request-id", "x-correlation-id", "x-trace-id", "traceparent")


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


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is no 2xx; the headers' names are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, as far as it is any."""
        _, _, charset = self.headers.get("content-type", "").partition("charset=")
        try:
            name = codecs.lookup(charset.split(";")[0].strip(" \"'") or "utf-8").name
            return self.body.decode(name, errors="replace")
        except (LookupError, ValueError):
            return self.body.decode("utf-8", errors="replace")

    @property
    def trace_id(self) -> str | None:
        """The server's own name for the request."""
        return next((self.headers[name] for name in _TRACES if name in self.headers), None)


def is_json(body: bytes) -> bool:
    """
    Tell whether a body is JSON, whatever it says.

    Of a large one only its ends are looked at: whoever decodes it reads the whole, and asks again where it is none.
    """
    if len(body) > LARGE:
        return body[:LARGE].lstrip()[:1] in _OPEN and body[-LARGE:].rstrip()[-1:] in _CLOSED
    try:
        _JSON.decode(body)
    except msgspec.DecodeError:
        return False
    return True


def ends_early(body: bytes) -> bool:
    """Tell whether a body that is no JSON looks like the beginning of some."""
    text = body.strip()
    return text[:1] in _OPEN and text[-1:] not in _CLOSED


def not_json(resource: str, body: bytes) -> DecodeError:
    """Return the error for an answer that is no JSON."""
    page = body.lstrip()[:1] == b"<"
    advice = " It looks like a web page: check that the address is the API's own." if page else ""
    return DecodeError(f"{resource}: the server's answer is not valid JSON.{advice}")


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


def refused(answer: Refusal, sent: Sent, *, wait: float | None = None) -> ApiError:
    """Return the error for a status that is no 2xx; `wait` is what the server asks for, where that is too long."""
    kind, message = _explain(answer.status, sent.resource, _own_words(answer), wait)
    return kind(
        message,
        status=answer.status,
        method=sent.method,
        path=sent.path,
        body=answer.text,
        trace_id=answer.trace_id,
    )


def _explain(status: int, resource: str, words: str, wait: float | None) -> tuple[type[ApiError], str]:
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
    tried = ", also after trying again" if wait is None else f", and asks to wait {wait:,.0f} seconds"
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


def _own_words(answer: Refusal) -> str:
    """Return what the server says of a refusal: a problem's title, detail and errors, or its text."""
    try:
        problem: Any = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        plain = answer.headers.get("content-type", "").startswith("text/plain")
        return answer.text.strip()[:LONGEST_QUOTE] if plain else ""
    if not isinstance(problem, dict):
        return ""
    words = [problem.get(key) for key in ("detail", "message", "title", "error")]
    first = next((word for word in words if isinstance(word, str) and word), "")
    return " ".join([first, *_listed(problem.get("errors"))]).strip()[:LONGEST_QUOTE]


def _listed(errors: Any) -> list[str]:
    if not isinstance(errors, list):
        return []
    return [
        ": ".join(str(error[key]) for key in ("parameter", "pointer", "detail") if error.get(key))
        if isinstance(error, dict)
        else str(error)
        for error in errors
    ]
