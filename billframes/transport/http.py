"""HTTP: the one module that knows httpx.

Sends a request, tries again where that is safe, and turns every outcome but a 2xx into the contract's error.
Credentials are put on a copy of the request by an auth hook that holds them as `Secret`s; redirects are never followed,
because custom headers would go along. An answer is read piece by piece, so that neither its size nor its time is the
server's to choose. Queries stay out of messages and logs: they can hold client names. Who wants to see requests sets
the logger "billframes" to DEBUG.
"""

from __future__ import annotations

import logging
import re
import ssl
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

import httpx

from billframes._version import __version__
from billframes.config.profiles import Limits
from billframes.config.secret import Secret
from billframes.config.sources import is_loopback
from billframes.errors import ApiError, BillframesError, NotFoundError, ParameterError
from billframes.schema.json_text import ends_early, flaw_of, not_json
from billframes.transport.body import ENCODINGS, BodyError, TooLargeError, read_body
from billframes.transport.cancellation import Task
from billframes.transport.connections import CutError, Line, Lines, Watch
from billframes.transport.http_errors import (
    Sent,
    refused,
    too_large,
    uncertain,
    unreachable,
)
from billframes.transport.outcome import Failure, HttpAnswer, Response, Settle, settled
from billframes.transport.pacing import pause
from billframes.transport.redaction import Discretion, quieten
from billframes.transport.retry import (
    LONGEST_RETRY_AFTER,
    PASSING_STATUSES,
    Gate,
    Quota,
    backoff,
    http_date,
    retry_after,
)
from billframes.transport.tls import stays, trusted

__all__ = ["Auth", "BaseTransport", "Http", "Query", "Response", "Settle", "rooted"]

Auth = httpx.Auth
BaseTransport = httpx.BaseTransport
Query = Sequence[tuple[str, str]]

_log = logging.getLogger("billframes")
_NONE: Mapping[str, str] = MappingProxyType({})
# A request is refused that often, for each try it has, although others are granted: it won't be.
MOST_HELD = 5
# A request that failed this way never left this machine.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)

# A step to another folder, also where it is written with backslashes or followed by a parameter.
_DOTS = re.compile(r"(?:^|[/\\])\.{1,2}(?:[/\\;?#]|$)")
LONGEST_SHOWN = 100
_NOT_WHOLE = "The answer was not whole. Try again; if it stays, tell whoever runs the server or your network."


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
    limits : Limits
        What bounds answers, requests and loads.
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
        limits: Limits,
    ) -> None:
        self.base_url = base_url
        self._base = httpx.URL(base_url)
        self.limits = limits
        self._timeout = timeout
        self._retries = retries
        self._gate = Gate(rate_limit)
        self._quota = Quota()
        self._watch = Watch()
        self._secrets = [*(headers or {}).values(), *([token] if token else [])]
        checked = trusted(verify) if transport is None else True

        def make() -> httpx.Client:
            client = httpx.Client(
                headers={
                    "User-Agent": f"billframes/{__version__}",
                    "Accept": "application/json",
                    "Accept-Encoding": ENCODINGS,
                },
                timeout=timeout,
                limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
                verify=checked,
                transport=transport,
                follow_redirects=False,
                event_hooks={"response": [_forget_location]},
                # No proxy stands before this machine itself, where http:// is allowed.
                trust_env=not is_loopback(urlsplit(base_url).hostname or ""),
            )
            client.auth = _Credentials(headers or {}, auth or (_Bearer(token) if token else None), client.headers)
            quieten()
            return client

        self._lines = Lines(int(concurrency), make)

    def close(self) -> None:
        """Close the connections. Safe to call twice."""
        self._lines.close()

    def get(
        self, path: str, query: Query = (), *, resource: str, task: Task | None = None, may_be_empty: bool = False
    ) -> Response:
        """
        Send a GET, again where it fails in a way that passes.

        Raises
        ------
        ApiError
            Whichever of its kind fits the outcome.
        DecodeError
            The answer is no JSON.
        """
        sent = Sent(resource, "GET", rooted(path), query, may_be_empty=may_be_empty)
        return self._answered(sent, task or self.task())

    def write(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        resource: str,
        headers: Mapping[str, str] = _NONE,
        settle: Settle | None = None,
    ) -> Response:
        """
        Send a POST, PUT or DELETE; again only where it surely did nothing: not sent, 429, or a look showed it.

        Raises
        ------
        UncertainWriteError
            It was sent and no answer says what became of it.
        ApiError
            Whichever of its kind fits the outcome.
        """
        kind = {"Content-Type": "application/json"} if body is not None else {}
        sent = Sent(resource, method, rooted(path), body=body, headers={**kind, **headers}, may_be_empty=True)
        return self._answered(sent, self.task(), settle)

    def task(self) -> Task:
        """Return what the requests of a new load belong to."""
        return Task(self.limits.longest_load)

    def _answered(self, sent: Sent, task: Task, settle: Settle | None = None) -> Response:
        outcome = self._send(sent, task, settle)
        if isinstance(outcome, Response):
            return outcome
        raise self._masked(outcome)

    def _send(self, sent: Sent, task: Task, settle: Settle | None = None) -> Response | BillframesError:
        started, unsure, attempt, held = time.monotonic(), False, 0, 0
        while True:
            outcome = self._try(sent, task, again=attempt + held > 0)
            if isinstance(outcome, Response):
                self._quota.earn()
                return outcome
            if unsure and sent.method == "DELETE" and isinstance(outcome.error, NotFoundError):
                # The first one did it after all.
                return Response(b"", None)
            if outcome.refusals:
                held += 1
                if not self._waits(outcome, held, task):
                    return outcome.error
                continue
            if outcome.lost and settle is not None:
                unsure = True
                self._gate.close_for(backoff(attempt))
                if (seen := settled(settle, started, outcome.error)) is not None:
                    return seen
            elif not outcome.passing:
                return outcome.error
            if attempt >= self._retries or task.over or not self._quota.spend(timed_out=outcome.timed_out):
                return outcome.error
            self._gate.close_for(backoff(attempt) if outcome.wait is None else outcome.wait)
            attempt += 1

    def _waits(self, refused: Failure, held: int, task: Task) -> bool:
        """Hold every request back after a 429; False if it is no use to go on: for long nothing was granted."""
        if not refused.passing or refused.refusals > self._retries or held > MOST_HELD * self._retries or task.over:
            self._gate.forget_refusals()
            return False
        self._gate.close_for(pause(refused.refusals) if refused.wait is None else refused.wait)
        return True

    def _try(self, sent: Sent, task: Task, *, again: bool) -> Response | Failure:
        begun = time.monotonic()
        try:
            answer, refusals = self._exchange(sent, task)
        except TooLargeError:
            return self._lost(Failure(too_large(sent, self.limits.largest_answer), passing=False), sent)
        except (BodyError, CutError, httpx.RequestError) as failure:
            _log.debug("%s %s: no answer, %s", sent.method, sent.path, type(failure).__name__)
            return self._failed(failure, sent)
        _log.debug("%s %s: %d in %.3f s", sent.method, sent.path, answer.status, time.monotonic() - begun)
        if answer.is_success:
            return self._taken(answer, sent)
        wait = retry_after(answer.headers.get("retry-after"), answer.headers.get("date"))
        too_long = wait is not None and wait > LONGEST_RETRY_AFTER
        error = refused(answer, sent, again=again, wait=wait if too_long else None)
        refusal = Failure(error, answer.status in PASSING_STATUSES and not too_long, wait, refusals=refusals)
        return self._lost(refusal, sent) if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR else refusal

    def _exchange(self, sent: Sent, task: Task) -> tuple[HttpAnswer, int]:
        """Send a request once; return what came, and of a 429 how many came in a row."""
        # The line comes first: many that wait for one must not pass the gate at once when it is free.
        with self._lines.one(task) as line, self._gate.passing(task) as round_:
            with Discretion(), line.used(self._watch, self._longest, task):
                answer = self._talk(line, sent)
            if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                return answer, self._gate.refused(round_)
            if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                self._gate.granted(round_)
            return answer, 0

    def _talk(self, line: Line[httpx.Client], sent: Sent) -> HttpAnswer:
        request = self._request(line, sent)
        answer = line.client.send(request, stream=True)
        try:
            # Cookies are credentials too, and nothing here reads them.
            headers = {name.lower(): value for name, value in answer.headers.items() if name.lower() != "set-cookie"}
            return HttpAnswer(answer.status_code, headers, self._body(answer))
        finally:
            answer.close()

    def _request(self, line: Line[httpx.Client], sent: Sent) -> httpx.Request:
        """
        Build a request. The credential goes with it, so none leaves the API's address, whatever its path.

        Raises
        ------
        ParameterError
            The path leads elsewhere, or can't be part of an address.
        """
        try:
            request = line.client.build_request(
                sent.method,
                self.base_url + sent.path,
                params=list(sent.query) or None,
                content=sent.body,
                headers=dict(sent.headers),
                extensions={"trace": line.trace},
            )
            within = _is_within(request.url, self._base) and not _DOTS.search(unquote(sent.path))
        except httpx.InvalidURL:
            within = False
        if within:
            return request
        raise ParameterError(
            f"{sent.resource}: the path {sent.path[:LONGEST_SHOWN]!r} is not below the API's address, so nothing was "
            "sent. Check the path, and the id in it."
        )

    def _body(self, answer: httpx.Response) -> bytes:
        # A transport of the caller's may have read it already.
        pieces, packing = answer.iter_raw(), answer.headers.get("content-encoding", "")
        if answer.is_stream_consumed:
            pieces, packing = iter((answer.content,)), ""
        try:
            return read_body(pieces, packing, self.limits.largest_answer)
        except (BodyError, TooLargeError):
            if answer.is_success:
                raise
            return b""

    @property
    def _longest(self) -> float:
        return self.limits.longest_request or 4 * self._timeout

    def _taken(self, answer: HttpAnswer, sent: Sent) -> Response | Failure:
        """Take a 2xx answer, if it is the API's: JSON, or nothing where nothing may come."""
        body = answer.body
        nothing = sent.may_be_empty and not body.strip()
        flaw = None if nothing else flaw_of(body)
        if flaw is None:
            return Response(body, http_date(answer.headers.get("date")))
        cut_short = unreachable(sent, _origin(self.base_url), "it ends in the middle", _NOT_WHOLE)
        error = cut_short if ends_early(body) else not_json(sent.resource, body, flaw)
        return self._lost(Failure(error, passing=True), sent)

    def _failed(self, failure: Exception, sent: Sent) -> Failure:
        slow = isinstance(failure, CutError | httpx.TimeoutException)
        if isinstance(failure, CutError):
            reason = f"the answer was not whole after {self._longest:g} seconds"
        else:
            # What could not be sent is not quoted: it may be a credential of an `auth=` object.
            reason = "" if isinstance(failure, httpx.LocalProtocolError) else str(failure)
            reason = reason or type(failure).__name__
        error = unreachable(sent, _origin(self.base_url), reason, _advice(failure, reason))
        passing = not isinstance(failure, httpx.RequestError) or _passes(failure)
        outcome = Failure(error, passing, timed_out=slow)
        return outcome if isinstance(failure, _NOT_SENT) else self._lost(outcome, sent)

    def _lost(self, failure: Failure, sent: Sent) -> Failure:
        """Return the failure of a request that was sent: of a write, nobody knows then what became of it."""
        if sent.reads:
            return failure
        return replace(failure, error=uncertain(failure.error, sent), passing=False, lost=True)

    def _masked(self, error: BillframesError) -> BillframesError:
        """Take credentials out of what the server said: some repeat them."""
        for secret in self._secrets:
            error.args = tuple(map(secret.masked, error.args))
            if isinstance(error, ApiError):
                error.body, error.trace_id = secret.masked(error.body), secret.masked(error.trace_id or "") or None
        return error


def rooted(path: str) -> str:
    """
    Return a path that begins with exactly one slash: without one it would become part of the host's name.

    Examples
    --------
    >>> rooted("v2/health"), rooted("//elsewhere.test")
    ('/v2/health', '/elsewhere.test')
    """
    return "/" + path.lstrip("/")


def _is_within(url: httpx.URL, base: httpx.URL) -> bool:
    same_server = (url.scheme, url.host, url.port, url.userinfo) == (base.scheme, base.host, base.port, base.userinfo)
    return same_server and url.path.startswith(base.path.rstrip("/") + "/")


def _forget_location(answer: httpx.Response) -> None:
    # httpx prepares the next request even if it is not to follow, and fails where the address can't be read.
    if "location" in answer.headers:
        del answer.headers["location"]


def _passes(failure: httpx.RequestError) -> bool:
    """Whether a failure may pass by itself: not where TLS or the address is wrong."""
    if isinstance(failure, httpx.UnsupportedProtocol | httpx.ProxyError):
        return False
    return not stays(failure, connecting=isinstance(failure, httpx.ConnectError))


def _advice(failure: Exception, reason: str) -> str:
    if isinstance(failure, CutError):
        return "The server is too slow: ask for less, try again, or raise client.limits.longest_request."
    if isinstance(failure, httpx.TimeoutException):
        return "The server was silent for too long: try again, or raise timeout=."
    if "certificate" in reason.lower():
        return "Its TLS certificate is not trusted on this machine: ask your IT for the right address or authority."
    if isinstance(failure, httpx.ConnectError):
        return "Check the address and your network connection."
    return _NOT_WHOLE


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
