"""Open what a client has in one process: its connections, its rate limiter, its retry budget.

A forked child opens connections of its own, because two processes that read from one connection take each other's
responses. `transport=` is the caller's object, which may hold connections that billframes can't renew, so a client with
one is refused in a child, unless the object is known to have none.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import httpx

from billframes._shared.forks import Process
from billframes._version import __version__
from billframes.config.secret import Secret
from billframes.errors import ConfigError
from billframes.transport.connections import (
    POLL_SECONDS,
    CancelScope,
    ClientPool,
    add_deadlines,
    trusted_certificates,
)
from billframes.transport.pacing import SLACK, Pace, Refusal, Ticket
from billframes.transport.proxies import environment_proxy
from billframes.transport.redaction import Credentials, redact_http_logs
from billframes.transport.request import ENCODINGS, REDIRECT
from billframes.transport.retry import RetryBudget

OpenClient = Callable[[], httpx.Client]
_WITHOUT_CONNECTIONS = (httpx.MockTransport, httpx.WSGITransport)


class RateLimiter:
    """
    Decides when each request of a client may be sent: how many per second and at once. None is no limit.

    The server may grant fewer.
    """

    def __init__(self, rate_limit: float | None, concurrency: int | None = None) -> None:
        self._pace = Pace(SLACK / rate_limit if rate_limit else 0.0, concurrency)
        self._condition = threading.Condition()

    @contextmanager
    def slot(self, scope: CancelScope) -> Iterator[Ticket]:
        """Wait until a request may be sent, and yield its ticket; the request is under way during this block."""
        ticket = self._enter(scope)
        try:
            yield ticket
        finally:
            with self._condition:
                self._pace.end()
                self._condition.notify_all()

    def record_grant(self, ticket: Ticket) -> None:
        """Record that a request was granted; call it within the request's block."""
        with self._condition:
            self._pace.record_grant(ticket, time.monotonic())

    def record_refusal(self, ticket: Ticket) -> Refusal:
        """Record a 429; return the pause after it. Call it within the request's block."""
        with self._condition:
            return self._pace.record_refusal(ticket, time.monotonic())

    def hold_back(self, seconds: float) -> None:
        """Let no request be sent for that many seconds, because the server asked for it or failed."""
        with self._condition:
            self._pace.hold_back(seconds, time.monotonic())

    def forget_refusals(self) -> None:
        """Forget the refusals: a load gave up, and the next one should not fail because of them."""
        with self._condition:
            self._pace.forget_refusals()
            self._condition.notify_all()

    def _enter(self, scope: CancelScope) -> Ticket:
        with self._condition:
            while True:
                scope.check()
                now = time.monotonic()
                seconds_left = self._pace.seconds_left(now)
                if seconds_left == 0:
                    return self._pace.begin(now)
                # Check again after waiting: `hold_back` may have moved the next slot.
                self._condition.wait(POLL_SECONDS if seconds_left is None else min(seconds_left, POLL_SECONDS))


class OwnState:
    """The state in one process: `limiter`, `retry_budget`, `every_load`, which cancels all loads, and `clients`."""

    def __init__(self, open_client: OpenClient, rate_limit: float | None, concurrency: int) -> None:
        self.limiter = RateLimiter(rate_limit, concurrency)
        self.retry_budget = RetryBudget()
        self.every_load = CancelScope(float("inf"))
        self.clients = ClientPool(open_client)
        self.closed = False

    def close(self) -> None:
        """Cancel all requests and close the connections."""
        self.closed = True
        self.every_load.cancel()
        self.clients.close()


def client_opener(
    base_url: str,
    token: Secret | None,
    auth: httpx.Auth | None,
    headers: Mapping[str, Secret],
    *,
    timeout: float,
    verify: bool | str | ssl.SSLContext,
    transport: httpx.BaseTransport | None,
    made_in: Process,
) -> OpenClient:
    """Return a function that opens a client with one connection. The options were given in the process `made_in`."""
    # Each process has its own context: its lock may be held by a thread that a child does not have.
    certificates = trusted_certificates(verify) if transport is None else True
    proxy = environment_proxy(base_url, certificates) if transport is None else None

    def open_client() -> httpx.Client:
        if transport is not None and not isinstance(transport, _WITHOUT_CONNECTIONS) and not made_in.is_current:
            raise ConfigError(
                "transport= may have connections of the process that this one was forked from. Connect again in this "
                "process, with a new transport."
            )
        client = httpx.Client(
            headers={
                "User-Agent": f"billframes/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": ENCODINGS,
            },
            timeout=timeout,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1),
            verify=certificates,
            transport=transport,
            follow_redirects=False,
            event_hooks={"response": [_hide_location]},
            proxy=proxy,
            trust_env=False,
        )
        client.auth = Credentials(token, auth, headers, client.headers)
        add_deadlines(client)
        redact_http_logs()
        return client

    return open_client


def _hide_location(response: httpx.Response) -> None:
    # httpx prepares the next request even if redirects are not followed, and fails if it can't parse the address.
    if "location" in response.headers:
        response.headers[REDIRECT] = response.headers.pop("location")
