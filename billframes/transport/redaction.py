"""Keep credentials, queries and headers out of errors, logs and tracebacks.

A copy of each request gets the credentials, so that the request itself, which errors and hooks may show, has none.

httpx logs each URL with its query, which can name clients, and httpcore logs the headers of each response. Filters on
their loggers drop these records while a request of billframes is under way in the same thread. Requests that other code
sends with httpx are logged as usual. Some tracebacks show local variables, and the functions of httpx have a request's
headers in theirs. So the tracebacks of an error and its causes are removed below billframes; their messages stay.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextvars import ContextVar, Token

import httpx

from billframes.config.secret import Secret
from billframes.errors import ApiError, BillframesError

_under_way: ContextVar[bool] = ContextVar("billframes_request_under_way", default=False)


class Credentials(httpx.Auth):
    """
    Sends a copy of each request, with the user's headers and `Authorization`; `auth` takes precedence over `token`.

    A header that one request sets differently from the client's `defaults` takes precedence over `headers`.
    """

    def __init__(
        self, token: Secret | None, auth: httpx.Auth | None, headers: Mapping[str, Secret], defaults: httpx.Headers
    ) -> None:
        self._headers = headers
        self._auth = auth or httpx.Auth()
        self._token = None if auth else token
        self._defaults = defaults

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send the copy."""
        signed = httpx.Request(
            request.method, request.url, headers=request.headers, stream=request.stream, extensions=request.extensions
        )
        for name, value in self._headers.items():
            if request.headers.get(name) == self._defaults.get(name):
                signed.headers[name] = value.reveal()
        if self._token:
            signed.headers["Authorization"] = f"Bearer {self._token.reveal()}"
        yield from self._auth.sync_auth_flow(signed)


def mask_secrets(error: BillframesError, secrets: Iterable[Secret]) -> BillframesError:
    """Mask credentials in the parts of the response that an error quotes, because some servers repeat them."""
    for secret in secrets:
        error.args = tuple(map(secret.mask_in, error.args))
        if isinstance(error, ApiError):
            error.body, error.trace_id = secret.mask_in(error.body), secret.mask_in(error.trace_id or "") or None
    return error


class Redaction:
    """Keeps the request that is sent in its `with` block out of logs and tracebacks."""

    def __enter__(self) -> None:
        self._before: Token[bool] = _under_way.set(True)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        _under_way.reset(self._before)
        for each in chain_of(error):
            each.__traceback__ = None


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause's cause, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def redact_http_logs() -> None:
    """Add a filter to every logger of httpx and httpcore; both must be imported. Safe to call again."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"httpx", "httpcore"}:
            logging.getLogger(name).addFilter(_is_of_other_code)


def _is_of_other_code(_record: logging.LogRecord) -> bool:
    return not _under_way.get()
