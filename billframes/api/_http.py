"""HTTP: the one module that knows httpx.

Sends a request, tries again where that is safe, and turns every outcome but a 2xx into the contract's error.
Credentials are put on a copy of the request by an auth hook that holds them as `Secret`s; redirects are never followed,
because custom headers would go along. Queries stay out of messages and logs: they can hold client names. Who wants to
see requests sets the logger "billframes" to DEBUG.
"""

from __future__ import annotations

import datetime as dt
import logging
import socket
import ssl
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec
import truststore

from billframes._version import __version__
from billframes.api._discretion import Discretion, chain_of, quieten
from billframes.api._retry import PASSING_STATUSES, Gate, backoff, retry_after
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
from billframes.settings.connection import is_loopback
from billframes.settings.secret import Secret

__all__ = ["Auth", "BaseTransport", "Http", "Query", "Response"]

Auth = httpx.Auth
BaseTransport = httpx.BaseTransport
Query = Sequence[tuple[str, str]]

LONGEST_QUOTE = 500
_log = logging.getLogger("billframes")
_NONE: Mapping[str, str] = MappingProxyType({})
# A request that failed this way never left this machine.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass(frozen=True, slots=True)
class Response:
    """A 2xx answer: its body, and the server's time where it says so."""

    body: bytes
    date: dt.datetime | None


@dataclass(frozen=True, slots=True)
class _Failure:
    """A request that failed: how, whether trying again may help, and the wait the server asked for."""

    error: ApiError
    passing: bool
    wait: float | None = None


class _Credentials(httpx.Auth):
    """Sends a copy of each request that has the user's headers and `Authorization`; the request itself has neither."""

    def __init__(self, headers: Mapping[str, Secret], auth: httpx.Auth | None, usual: httpx.Headers) -> None:
        self._headers = headers
        self._auth = auth or httpx.Auth()
        self._usual = usual

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        signed = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        for name, value in self._headers.items():
            # A header of this very request goes before the user's.
            if request.headers.get(name) == self._usual.get(name):
                signed.headers[name] = value.reveal()
        yield from self._auth.sync_auth_flow(signed)


class _Bearer(httpx.Auth):
    """Puts `Authorization: Bearer …` on each request."""

    def __init__(self, token: Secret) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._token.reveal()}"
        yield request


class Http:
    """
    A connection to one API.

    Parameters
    ----------
    base_url : str
    token : Secret, optional
    auth : httpx.Auth, optional
        Goes before `token`.
    headers : mapping of str to Secret, optional
        Sent with every request.
    timeout : float
        Seconds of silence after which a request counts as failed.
    retries : int
        How often a GET is tried again.
    concurrency : int
        Most requests under way at once.
    rate_limit : float, optional
        Most requests a second.
    verify : bool, str or ssl.SSLContext
        True checks certificates against the operating system's trust store; a text is the path of a CA file.
    transport : httpx.BaseTransport, optional
        Sends the requests in place of the network.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Secret | None,
        auth: httpx.Auth | None,
        headers: Mapping[str, Secret] | None,
        timeout: float,
        retries: int,
        concurrency: int,
        rate_limit: float | None,
        verify: bool | str | ssl.SSLContext,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.base_url = base_url
        self._retries = retries
        self._secrets = [*(headers or {}).values(), *([token] if token else [])]
        self._gate = Gate(rate_limit)
        self._client = httpx.Client(
            headers={"User-Agent": f"billframes/{__version__}", "Accept": "application/json"},
            timeout=timeout,
            limits=httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
            verify=_tls(verify) if transport is None else True,
            transport=transport,
            follow_redirects=False,
            # No proxy stands before this machine itself, where http:// is allowed.
            trust_env=not is_loopback(urlsplit(base_url).hostname or ""),
        )
        auth = auth or (_Bearer(token) if token else None)
        self._client.auth = _Credentials(headers or {}, auth, self._client.headers)
        quieten()

    def close(self) -> None:
        """Close the connections. Safe to call twice."""
        self._client.close()

    def get(self, path: str, query: Query = (), *, resource: str) -> Response:
        """
        Send a GET, again where it fails in a way that passes.

        Raises
        ------
        ApiError
            Whichever of its kind fits the outcome.
        """
        return self._send(self._client.build_request("GET", self.base_url + path, params=list(query)), resource)

    def write(
        self, method: str, path: str, body: bytes | None = None, *, resource: str, headers: Mapping[str, str] = _NONE
    ) -> Response:
        """
        Send a POST, PUT or DELETE; again only where it surely did nothing: not sent, or 429.

        Raises
        ------
        UncertainWriteError
            It was sent and no answer says what became of it.
        ApiError
            Whichever of its kind fits the outcome.
        """
        kind = {"Content-Type": "application/json"} if body is not None else {}
        request = self._client.build_request(method, self.base_url + path, content=body, headers={**kind, **headers})
        return self._send(request, resource)

    def _send(self, request: httpx.Request, resource: str) -> Response:
        attempt = 0
        while True:
            self._gate.wait()
            outcome = self._try(request, resource)
            if isinstance(outcome, Response):
                return outcome
            if not outcome.passing or attempt >= self._retries:
                raise self._masked(outcome.error)
            self._gate.close_for(backoff(attempt) if outcome.wait is None else outcome.wait)
            attempt += 1

    def _try(self, request: httpx.Request, resource: str) -> Response | _Failure:
        reads = request.method == "GET"
        begun = time.monotonic()
        try:
            with Discretion():
                answer = self._client.send(request)
        except httpx.RequestError as failure:
            _log.debug("%s %s: no answer, %s", request.method, request.url.path, type(failure).__name__)
            error = _unreachable(failure, request, resource)
            if isinstance(failure, _NOT_SENT):
                return _Failure(error, _passes(failure))
            return _Failure(error, _passes(failure)) if reads else _Failure(_uncertain(error, request, resource), False)
        seconds = time.monotonic() - begun
        _log.debug("%s %s: %d in %.3f s", request.method, request.url.path, answer.status_code, seconds)
        if answer.is_success:
            return Response(answer.content, _date(answer.headers.get("date")))
        refusal = _refusal(answer, request.url.path, resource)
        if not reads and answer.is_server_error:
            return _Failure(_uncertain(refusal, request, resource), False)
        wait = retry_after(answer.headers.get("retry-after"), answer.headers.get("date"))
        return _Failure(refusal, answer.status_code in PASSING_STATUSES, wait)

    def _masked(self, error: ApiError) -> ApiError:
        """Take credentials out of what the server said: some repeat them."""
        for secret in self._secrets:
            error.args = tuple(map(secret.masked, error.args))
            error.body, error.trace_id = secret.masked(error.body), secret.masked(error.trace_id or "") or None
        return error


def _tls(verify: bool | str | ssl.SSLContext) -> bool | ssl.SSLContext:
    if verify is True:
        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if isinstance(verify, str):
        try:
            return ssl.create_default_context(cafile=verify)
        except OSError as error:
            raise ConfigError(f"verify={verify!r} is no file of certificates that can be read: {error}.") from None
    return verify


def _passes(failure: httpx.RequestError) -> bool:
    """Whether a failure may pass by itself: not where TLS or the address is wrong."""
    if isinstance(failure, httpx.UnsupportedProtocol | httpx.ProxyError):
        return False
    return not any(map(_stays, chain_of(failure)))


def _stays(cause: BaseException) -> bool:
    unknown_host = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
    return unknown_host or isinstance(cause, ssl.SSLError) or "CERTIFICATE_VERIFY" in str(cause)


def _unreachable(failure: httpx.RequestError, request: httpx.Request, resource: str) -> ApiError:
    # What could not be sent is not quoted: it may be a credential of an `auth=` object.
    reason = "" if isinstance(failure, httpx.LocalProtocolError) else str(failure)
    reason = reason or type(failure).__name__
    if isinstance(failure, httpx.TimeoutException):
        advice = "The server was silent for too long: try again, or raise timeout=."
    elif "certificate" in reason.lower():
        advice = "Its TLS certificate is not trusted on this machine: ask your IT for the right address or authority."
    else:
        advice = "Check the address and your network connection."
    where = f"{request.url.scheme}://{request.url.netloc.decode()}"
    return TransportError(
        f"{resource}: no usable answer from {where} ({reason}). {advice}", method=request.method, path=request.url.path
    )


def _uncertain(cause: ApiError, request: httpx.Request, resource: str) -> ApiError:
    done = {"POST": "created", "PUT": "changed", "DELETE": "deleted"}[request.method]
    return UncertainWriteError(
        f"{resource}: it is not known whether the record was {done}. {cause} Look the record up before sending this "
        "again, so that nothing is done twice.",
        status=cause.status,
        method=request.method,
        path=request.url.path,
        body=cause.body,
        trace_id=cause.trace_id,
    )


def _refusal(answer: httpx.Response, path: str, resource: str) -> ApiError:
    status, method = answer.status_code, answer.request.method
    words = _own_words(answer)
    kind, message = _explain(status, resource, words)
    return kind(
        message,
        status=status,
        method=method,
        path=path,
        body=answer.text,
        trace_id=_trace_id(answer),
    )


def _explain(status: int, resource: str, words: str) -> tuple[type[ApiError], str]:
    said = f" The server says: {words}" if words else ""
    if status == 401:
        return AuthenticationError, (
            f"{resource}: the server does not accept the credential (401).{said} Check the token, or connect again."
        )
    if status == 403:
        return AccessDeniedError, (
            f"{resource}: access denied (403).{said} The credential may lack permission; on some servers a wrong "
            "credential looks like this too."
        )
    if status == 404:
        return NotFoundError, (
            f"{resource}: not found (404).{said} Check the id, and that the address is the API's own."
        )
    if status in {400, 409, 422}:
        return RefusedError, f"{words or 'The server gave no reason.'} ({resource}: refused with {status}.)"
    if status == 429:
        return RateLimitedError, (
            f"{resource}: too many requests (429), also after waiting.{said} Try later, or lower rate_limit= and "
            "concurrency=."
        )
    if status >= 500:
        return (
            ServerError,
            f"{resource}: the server failed ({status}), also after trying again.{said} Try later.",
        )
    if 300 <= status < 400:
        return TransportError, (
            f"{resource}: the server points elsewhere ({status}); redirects are not followed, so that credentials "
            "go nowhere else. Connect to the final address."
        )
    return ApiError, f"{resource}: the server answered {status}.{said}"


def _own_words(answer: httpx.Response) -> str:
    """Return what the server says of a refusal: a problem's title, detail and errors, or its text."""
    try:
        problem: Any = msgspec.json.decode(answer.content)
    except msgspec.DecodeError:
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


def _trace_id(answer: httpx.Response) -> str | None:
    names = ("x-request-id", "x-correlation-id", "x-trace-id", "traceparent")
    return next((answer.headers[name] for name in names if name in answer.headers), None)


def _date(text: str | None) -> dt.datetime | None:
    try:
        return parsedate_to_datetime(text) if text else None
    except (TypeError, ValueError):
        return None
