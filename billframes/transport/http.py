"""Send requests with httpx, retry them where that is safe, and raise the error that fits each failure.

Redirects are not followed, because custom credential headers would be sent along. Queries stay out of messages and
logs, because they can hold client names. To see requests, set the logger "billframes" to DEBUG.
"""

from __future__ import annotations

import codecs
import logging
import ssl
import time
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx

from billframes._shared.forks import PerProcess, Process
from billframes.config.profiles import Limits
from billframes.config.secret import Secret
from billframes.errors import BillframesError, ConfigError, NotFoundError
from billframes.schema.json_text import ends_early, json_flaw, not_json_error
from billframes.transport.connections import CancelledError, CancelScope, DeadlineError, deadline
from billframes.transport.http_errors import (
    connection_failure,
    failure_after_sending,
    incomplete_error,
    leaves_open,
    status_error,
    too_large_error,
)
from billframes.transport.pacing import Refusal
from billframes.transport.process_state import OwnState, client_opener
from billframes.transport.redaction import Redaction, mask_secrets
from billframes.transport.request import (
    ApiRequest,
    BodyError,
    BodyTooLargeError,
    Failure,
    OutcomeCheck,
    QueryPairs,
    RawResponse,
    Response,
    absolute_path,
    httpx_request,
    outcome_of_write,
    read_body,
)
from billframes.transport.retry import LONGEST_RETRY_AFTER, RETRIED_STATUSES, backoff, http_date, retry_after

Auth = httpx.Auth
BaseTransport = httpx.BaseTransport

_log = logging.getLogger("billframes")
# A request is given up after this many 429s for each of its `retries`, even if other requests are granted meanwhile.
MOST_REFUSALS = 5


class HttpClient:
    """
    A client of one API, for use by several threads.

    `auth` takes precedence over `token`. `timeout` is the seconds without data from the server after which a request
    fails. `verify` as True checks certificates against the operating system's trust store. `transport` replaces the
    network.
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
        self.limits = limits
        self._timeout = timeout
        self._retries = retries
        self._secrets = [*(headers or {}).values(), *([token] if token else [])]
        new_opener = partial(
            client_opener,
            *(base_url, token, auth, headers or {}),
            timeout=timeout,
            verify=verify,
            transport=transport,
            made_in=Process.current(),
        )
        self._states = PerProcess(lambda: OwnState(new_opener(), rate_limit, int(concurrency)))
        self._closed = False

    def close(self) -> None:
        """
        Cancel all requests and close the connections. Safe to call twice.

        If this process was forked from the one that made the client, requests there continue.
        """
        self._closed = True
        if (state := self._states.made) is not None:
            state.close()

    def fetch(
        self,
        path: str,
        query: QueryPairs = (),
        *,
        resource: str,
        scope: CancelScope | None = None,
        may_be_empty: bool = False,
    ) -> Response:
        """
        Send a GET; retry it after a failure that may be temporary. Raise `ApiError`, or `DecodeError` if it is not
        JSON.
        """
        request = ApiRequest(resource, "GET", absolute_path(path), query, may_be_empty=may_be_empty)
        return self._send(request, scope or self.cancel_scope())

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        resource: str,
        headers: Mapping[str, str] | None = None,
        check_outcome: OutcomeCheck | None = None,
    ) -> Response:
        """
        Send a POST, PUT or DELETE; retry it only if it certainly had no effect.

        This is certain if it was not sent, after a 429, and if `check_outcome` finds that it had no effect. Otherwise
        raise `UncertainWriteError`.
        """
        kind = {"Content-Type": "application/json"} if body is not None else {}
        request = ApiRequest(
            resource, method, absolute_path(path), body=body, headers={**kind, **(headers or {})}, may_be_empty=True
        )
        return self._send(request, self.cancel_scope(), check_outcome)

    def cancel_scope(self) -> CancelScope:
        """Return a cancel scope for the requests of a new load."""
        return CancelScope(self.limits.longest_load, self._own.every_load)

    def _send(self, request: ApiRequest, scope: CancelScope, check_outcome: OutcomeCheck | None = None) -> Response:
        outcome = self._try_until_done(request, scope, check_outcome)
        if isinstance(outcome, Response):
            return outcome
        raise mask_secrets(outcome, self._secrets)

    def _try_until_done(
        self, request: ApiRequest, scope: CancelScope, check_outcome: OutcomeCheck | None
    ) -> Response | BillframesError:
        started, may_have_happened, retries, refusals = time.monotonic(), False, 0, 0
        while True:
            outcome = self._try(request, scope, again=retries + refusals > 0)
            if isinstance(outcome, Response):
                self._own.retry_budget.refill()
                return outcome
            if may_have_happened and request.method == "DELETE" and isinstance(outcome.error, NotFoundError):
                # An earlier attempt deleted the record.
                return Response(b"", None)
            if outcome.refusal is not None:
                refusals += 1
                if not self._wait_after_refusal(outcome, outcome.refusal, refusals, scope):
                    return outcome.error
                continue
            if outcome.uncertain and check_outcome is not None:
                may_have_happened = True
                self._own.limiter.hold_back(backoff(retries))
                if (seen := outcome_of_write(check_outcome, started, outcome.error)) is not None:
                    return seen
            elif not outcome.retryable:
                return outcome.error
            given_up = retries >= self._retries or scope.expired
            if given_up or not self._own.retry_budget.spend(timed_out=outcome.timed_out):
                return outcome.error
            self._own.limiter.hold_back(backoff(retries) if outcome.wait is None else outcome.wait)
            retries += 1

    def _wait_after_refusal(self, outcome: Failure, refusal: Refusal, refusals: int, scope: CancelScope) -> bool:
        """Let all requests wait after a 429; return False if this request is given up instead."""
        too_many = refusal.in_a_row > self._retries or refusals > MOST_REFUSALS * self._retries
        if not outcome.retryable or too_many or scope.expired:
            self._own.limiter.forget_refusals()
            return False
        self._own.limiter.hold_back(refusal.pause if outcome.wait is None else outcome.wait)
        return True

    def _try(self, request: ApiRequest, scope: CancelScope, *, again: bool) -> Response | Failure:
        begun = time.monotonic()
        try:
            response, refusal = self._exchange(request, scope)
        except BodyTooLargeError:
            return failure_after_sending(Failure(too_large_error(request, self.limits.largest_answer), False), request)
        except (BodyError, DeadlineError, httpx.RequestError) as failure:
            _log.debug("%s %s: no response, %s", request.method, request.path, type(failure).__name__)
            return connection_failure(failure, request, self._origin, self._longest_request)
        _log.debug("%s %s: %d in %.3f s", request.method, request.path, response.status, time.monotonic() - begun)
        if response.is_success:
            return self._checked(response, request)
        wait = retry_after(response.headers.get("retry-after"), response.headers.get("date"))
        too_long = wait is not None and wait > LONGEST_RETRY_AFTER
        error = status_error(response, request, self.base_url, again=again, wait=wait if too_long else None)
        outcome = Failure(error, response.status in RETRIED_STATUSES and not too_long, wait, refusal=refusal)
        return failure_after_sending(outcome, request) if leaves_open(response.status) else outcome

    def _exchange(self, request: ApiRequest, scope: CancelScope) -> tuple[RawResponse, Refusal | None]:
        """Send a request once; return the response and, if it is a 429, the pause after it."""
        try:
            with self._own.limiter.slot(scope) as ticket:
                with self._own.clients.lend() as client, Redaction(), deadline(scope, self._longest_request):
                    response = self._send_and_read(client, request)
                if response.status == HTTPStatus.TOO_MANY_REQUESTS:
                    return response, self._own.limiter.record_refusal(ticket)
                if response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                    self._own.limiter.record_grant(ticket)
                return response, None
        except CancelledError:
            if self._own.every_load.expired:
                raise ConfigError("The client is closed; connect again.") from None
            raise

    def _send_and_read(self, client: httpx.Client, request: ApiRequest) -> RawResponse:
        response = client.send(httpx_request(client, self.base_url, request), stream=True)
        try:
            # Cookies are credentials too, and nothing here reads them.
            headers = {name.lower(): value for name, value in response.headers.items() if name.lower() != "set-cookie"}
            return RawResponse(response.status_code, headers, self._body(response))
        finally:
            response.close()

    def _body(self, response: httpx.Response) -> bytes:
        # A caller's own transport may have read the body already.
        pieces, encoding = response.iter_raw(), response.headers.get("content-encoding", "")
        if response.is_stream_consumed:
            pieces, encoding = iter((response.content,)), ""
        try:
            return read_body(pieces, encoding, self.limits.largest_answer)
        except (BodyError, BodyTooLargeError):
            if response.is_success:
                raise
            return b""

    @property
    def _own(self) -> OwnState:
        state = self._states.own
        # The parent closed the client before this process used it.
        if self._closed and not state.closed:
            state.close()
        return state

    @property
    def _longest_request(self) -> float:
        return self.limits.longest_request or 4 * self._timeout

    def _checked(self, response: RawResponse, request: ApiRequest) -> Response | Failure:
        """Return a 2xx response if its body is JSON, or is empty and may be empty; else a failure."""
        body = response.body.removeprefix(codecs.BOM_UTF8)
        empty = request.may_be_empty and not body.strip()
        flaw = None if empty else json_flaw(body)
        if flaw is None:
            return Response(body, http_date(response.headers.get("date")))
        cut_short = ends_early(body)
        error = incomplete_error(request, self._origin) if cut_short else not_json_error(request.resource, body, flaw)
        return failure_after_sending(Failure(error, retryable=True), request)

    @property
    def _origin(self) -> str:
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"
