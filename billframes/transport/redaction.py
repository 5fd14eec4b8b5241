"""Keep request URLs and headers out of logs and tracebacks.

httpx logs each URL with its query, which can name clients, and httpcore logs the headers of each response. Filters on
their loggers drop such records while a request of billframes is under way in the same thread; requests that other code
sends with httpx are logged as usual. The frames below billframes have a request's headers in their variables, which
some tracebacks show: so an error loses those frames, and keeps its text and its causes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextvars import ContextVar, Token
from types import TracebackType

__all__ = ["Redaction", "chain_of", "redact_http_logs"]

_under_way: ContextVar[bool] = ContextVar("billframes_request_under_way", default=False)


class Redaction:
    """A block in which a request is sent and its response read."""

    def __enter__(self) -> None:
        self._before: Token[bool] = _under_way.set(True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _under_way.reset(self._before)
        for each in chain_of(error):
            each.__traceback__ = None


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause's cause, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def redact_http_logs() -> None:
    """Filter every logger of httpx and httpcore; both must be imported. Safe to call again."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"httpx", "httpcore"}:
            logging.getLogger(name).addFilter(_is_not_ours)


def _is_not_ours(_record: logging.LogRecord) -> bool:
    return not _under_way.get()
