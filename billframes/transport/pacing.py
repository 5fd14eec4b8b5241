"""Limit the requests of a client, and find out how many a server allows if it responds with 429.

A 429 is not a failure: the server works and limits the number of requests. One rate limiter for the whole client paces
all connections together by what the server grants. Independent retries against a limit of requests per minute would
send more unnecessary requests than useful ones. A request is retried as long as the server grants other requests.

A server refuses for one of two reasons, and one request sent alone shows which. If that request is granted, too many
requests were under way at once. From then on, no more are sent at once than were granted. If it is refused, too, there
were too many requests within some time. The number of granted requests, divided by the time until the next grant, is
the rate that the server allows, and requests are spaced accordingly. If a spaced request is refused, the rate is
lowered a little. As long as no request is refused, the rate grows again, slowly at first, because the server's limit
was only a little above the last rate.

`Pace` has no clock and no threads: callers pass it the events and their times.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from billframes.transport.connections import POLL_SECONDS, CancelScope

__all__ = ["Pace", "RateLimiter", "pause_after"]

# Seconds before a request is sent alone after a refusal, and the longest wait before the next one. Five waits are 70
# seconds, which is enough for a limit of requests per minute.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
# How far back grants are counted, in seconds.
HORIZON = 120.0
# Seconds after which a rate has doubled, if nothing is refused. After a minute it is 10 % higher.
DOUBLES_AFTER = 190.0
GUESS_DOUBLES_AFTER = 5.0
# At a rate of few requests per minute, the rate doubles after this many requests instead.
LEAST_CALLS = 80
SLOWER = 0.85
ONE_MORE_AFTER = 15.0
# Requests are spaced a little wider than the limit, so that delays in the network don't make them exceed it.
SLACK = 1.05


def pause_after(refusals: int) -> float:
    """
    Return the seconds to wait after that many refusals in a row, with a small random addition.

    Examples
    --------
    >>> [round(pause_after(number) / 1.05) for number in (1, 2, 3)]
    [1, 3, 9]
    """
    return min(LONGEST_PAUSE, FIRST_PAUSE * 3.0 ** (refusals - 1)) * random.uniform(1.0, 1.1)  # noqa: S311 - no secret


class Pace:
    """
    Decides when the next request may be sent.

    Parameters
    ----------
    spacing : float
        Least number of seconds between two requests; the server may require more.
    concurrency : int, optional
        Largest number of requests under way at once; the server may grant fewer.
    """

    def __init__(self, spacing: float = 0.0, concurrency: int | None = None) -> None:
        self._least = spacing
        self._concurrency = concurrency
        self._next_slot = 0.0
        self._under_way = 0
        # What the server grants: requests at once, and requests a second. None is no limit.
        self._most_at_once: int | None = None
        self._rate: float | None = None
        self._rate_is_guess = False
        self._resumed_at = 0.0
        self._grants: deque[float] = deque()
        # Each refusal that counts begins a new round. The refusal of a request of an older round shows nothing new.
        self._round = 0
        self._refusals = 0
        self._first_refusal = 0.0
        self._granted_beside = 0
        self._refused_alone = False

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds until the next request may be sent; None if one under way must end first."""
        most = 1 if self._refusals else self._most_at_once_at(now)
        if most is not None and self._under_way >= most:
            return None
        return max(0.0, self._next_slot - now)

    def begin(self, now: float) -> int:
        """Record that a request is sent; return its round, which must be passed with its outcome."""
        self._under_way += 1
        self._next_slot = now + self._spacing(now)
        return self._round

    def end(self) -> None:
        """Record that a request has ended, whatever its outcome."""
        self._under_way -= 1

    def hold_back(self, seconds: float, now: float) -> None:
        """Let no request be sent for that many seconds."""
        self._next_slot = max(self._next_slot, now + seconds)

    def record_grant(self, round_: int, now: float) -> None:
        """Record that a request was granted; call it before `end`."""
        self._grants.append(now)
        while self._grants[0] < now - HORIZON:
            self._grants.popleft()
        if not self._refusals:
            return
        if round_ == self._round:
            self._resume(now)
        else:
            self._granted_beside += 1

    def record_refusal(self, round_: int, now: float) -> int:
        """Record a 429; return how many rounds in a row were refused, at least 1. Call it before `end`."""
        if round_ == self._round:
            if not self._refusals:
                self._first_refusal, self._granted_beside, self._refused_alone = now, 0, self._under_way == 1
            self._round += 1
            self._refusals += 1
        return max(self._refusals, 1)

    def forget_refusals(self) -> None:
        """Forget the refusals: a load gave up, and the next one should not fail because of them."""
        self._refusals = 0

    def _resume(self, now: float) -> None:
        """Send several requests again, after a request sent alone was granted."""
        unpaced = self._rate is None or self._rate_is_guess
        if unpaced and self._refusals == 1 and not self._refused_alone and now - self._first_refusal <= 3 * FIRST_PAUSE:
            self._most_at_once, self._rate = max(1, self._granted_beside), None
        else:
            self._rate = self._rate_granted(now)
        self._resumed_at, self._refusals = now, 0
        self._next_slot = max(self._next_slot, now + self._spacing(now))

    def _rate_granted(self, now: float) -> float:
        """Return the rate that the server allows, from its grants before the refusals and how long these lasted."""
        refused_for = now - self._first_refusal
        begins = self._first_refusal - max(refused_for, FIRST_PAUSE)
        recent = [each for each in self._grants if begins <= each < now]
        measured = len(recent) / (now - recent[0]) if recent else 1 / max(refused_for, FIRST_PAUSE)
        rate = None if self._rate_is_guess else self._rate_at(self._first_refusal)
        # Nothing was granted before the refusals: others use the same limit, so the rate has to be found by trying.
        self._rate_is_guess = rate is None and not recent
        if rate is None:
            return measured / SLACK
        # A single refusal of spaced requests means that they are a little too fast.
        return SLOWER * rate if self._refusals == 1 else min(SLOWER * rate, measured / SLACK)

    def _rate_at(self, now: float) -> float | None:
        if self._rate is None:
            return None
        if self._rate_is_guess:
            return self._rate * 2 ** min((now - self._resumed_at) / GUESS_DOUBLES_AFTER, 10.0)
        doubles = max(DOUBLES_AFTER, LEAST_CALLS / self._rate)
        return self._rate * (1 + ((now - self._resumed_at) / doubles) ** 2)

    def _most_at_once_at(self, now: float) -> int | None:
        if self._most_at_once is None:
            return self._concurrency
        at_once = self._most_at_once + int((now - self._resumed_at) / ONE_MORE_AFTER)
        return at_once if self._concurrency is None else min(at_once, self._concurrency)

    def _spacing(self, now: float) -> float:
        rate = self._rate_at(now)
        return self._least if rate is None else max(self._least, 1 / rate)


class RateLimiter:
    """
    Decides when each request of a client may be sent, whichever thread sends it.

    Parameters
    ----------
    rate_limit : float, optional
        Largest number of requests per second; None is no limit. The server may grant fewer.
    concurrency : int, optional
        Largest number of requests under way at once; None is no limit. The server may grant fewer.
    """

    def __init__(self, rate_limit: float | None, concurrency: int | None = None) -> None:
        self._pace = Pace(SLACK / rate_limit if rate_limit else 0.0, concurrency)
        self._condition = threading.Condition()

    @contextmanager
    def slot(self, scope: CancelScope) -> Iterator[int]:
        """
        Wait until a request may be sent, and yield its round; the request is under way during this block.

        Raises
        ------
        CancelledError
            The scope was cancelled while the request waited.
        """
        round_ = self._enter(scope)
        try:
            yield round_
        finally:
            with self._condition:
                self._pace.end()
                self._condition.notify_all()

    def record_grant(self, round_: int) -> None:
        """Record that a request was granted; call it within the request's block."""
        with self._condition:
            self._pace.record_grant(round_, time.monotonic())

    def record_refusal(self, round_: int) -> int:
        """Record a 429; return how many rounds in a row were refused. Call it within the request's block."""
        with self._condition:
            return self._pace.record_refusal(round_, time.monotonic())

    def hold_back(self, seconds: float) -> None:
        """Let no request be sent for that many seconds, because the server asked for it or failed."""
        with self._condition:
            self._pace.hold_back(seconds, time.monotonic())

    def forget_refusals(self) -> None:
        """Forget the refusals: a load gave up, and the next one should not fail because of them."""
        with self._condition:
            self._pace.forget_refusals()
            self._condition.notify_all()

    def _enter(self, scope: CancelScope) -> int:
        with self._condition:
            while True:
                scope.check()
                now = time.monotonic()
                seconds_left = self._pace.seconds_left(now)
                if seconds_left == 0:
                    return self._pace.begin(now)
                # Check again after waiting: `hold_back` may have moved the next slot.
                self._condition.wait(POLL_SECONDS if seconds_left is None else min(seconds_left, POLL_SECONDS))
