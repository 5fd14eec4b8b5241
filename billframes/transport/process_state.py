"""Open what a client has in one process: its connections, its rate limiter, its retry budget.

A forked child opens connections of its own, because two processes that read from one connection take each other's
responses. `transport=` is the caller's object, which may hold connections that billframes can't renew, so a client with
one is refused in a child, unless the object is known to have none.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping

import httpx

from billframes._shared.forks import Process
from billframes._version import __version__
from billframes.config.secret import Secret
from billframes.errors import ConfigError
from billframes.transport.connections import CancelScope, ClientPool, add_deadlines, trusted_certificates
from billframes.transport.proxies import environment_proxy
from billframes.transport.redaction import Credentials, redact_http_logs
from billframes.transport.request import ENCODINGS, REDIRECT
from billframes.transport.request_slots import RateLimiter
from billframes.transport.retry import RetryBudget

OpenClient = Callable[[], httpx.Client]
_WITHOUT_CONNECTIONS = (httpx.MockTransport, httpx.WSGITransport)


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
) -> Callable[[], OpenClient]:
    """Return a function that returns, once per process, a function that opens a client with one connection."""
    made_in = Process.current()

    def new_opener() -> OpenClient:
        # Its lock may be held by a thread that a child does not have.
        certificates = trusted_certificates(verify) if transport is None else True
        proxy = environment_proxy(base_url, certificates) if transport is None else None

        def open_client() -> httpx.Client:
            if transport is not None and not isinstance(transport, _WITHOUT_CONNECTIONS) and not made_in.is_current:
                raise ConfigError(
                    "transport= may have connections of the process that this one was forked from. Connect again in "
                    "this process, with a new transport."
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

    return new_opener


def _hide_location(response: httpx.Response) -> None:
    # httpx prepares the next request even if redirects are not followed, and fails if it can't parse the address.
    if "location" in response.headers:
        response.headers[REDIRECT] = response.headers.pop("location")
