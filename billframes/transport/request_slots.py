"""Let the requests of a client through when `Pace` allows it, whichever thread sends them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from billframes.transport.connections import POLL_SECONDS, CancelScope
from billframes.transport.pacing import SLACK, Pace, Refusal, Ticket


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
