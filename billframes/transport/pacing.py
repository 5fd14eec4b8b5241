"""Find out how fast a server allows requests when it answers 429 without saying how long to wait.

A server refuses for one of two reasons, and one request sent alone shows which. If it is granted, too many requests
were under way at once: from then on no more are sent than were granted side by side. If it is refused too, there were
too many calls within some time: the granted calls divided by the time until the next grant is the rate the server
allows, and calls are spaced accordingly. A refusal of spaced calls makes them a little slower. As long as nothing is
refused, the rate grows again, slowly at first, because the limit was just above the last rate.

`Pace` has no clock and no threads: callers pass it the events and their times.
"""

from __future__ import annotations

import random
from collections import deque

__all__ = ["Pace", "pause"]

# Seconds until a request is sent alone after a refusal, then until the next one: 70 in five, more than a limit of calls
# a minute needs.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
# How far back grants are counted, in seconds.
HORIZON = 120.0
# A rate is 10 % above the last one that was refused after a minute, and 100 % after three.
DOUBLES_AFTER = 190.0
GUESS_DOUBLES_AFTER = 5.0
# At a rate of few calls a minute, it takes this many calls instead.
LEAST_CALLS = 80
SLOWER = 0.85
ONE_MORE_AFTER = 15.0
# Requests are spaced a little wider than the limit, so that delays on their way don't make them exceed it.
SLACK = 1.05


def pause(refusals: int) -> float:
    """
    Return the seconds to wait after so many refusals in a row, with a little random extra.

    Examples
    --------
    >>> [round(pause(number) / 1.05) for number in (1, 2, 3)]
    [1, 3, 9]
    """
    return min(LONGEST_PAUSE, FIRST_PAUSE * 3.0 ** (refusals - 1)) * random.uniform(1.0, 1.1)  # noqa: S311 - no secret


class Pace:
    """
    Decides when the next request may be sent.

    Parameters
    ----------
    spacing : float
        Least seconds between two requests, whatever the server grants.
    concurrency : int, optional
        Most requests under way at once, whatever the server grants.
    """

    def __init__(self, spacing: float = 0.0, concurrency: int | None = None) -> None:
        self._least = spacing
        self._concurrency = concurrency
        self._opens = 0.0
        self._under_way = 0
        # What the server grants: requests at once, and requests a second. None is no limit.
        self._at_once: int | None = None
        self._rate: float | None = None
        self._guessed = False
        self._since = 0.0
        self._grants: deque[float] = deque()
        # Requests sent before the last refusal that counted have an older round, and prove nothing new.
        self._round = 0
        self._refusals = 0
        self._first_refusal = 0.0
        self._beside = 0
        self._alone = False

    def left(self, now: float) -> float | None:
        """Return the seconds until the next request may be sent; None if one under way must end first."""
        most = 1 if self._refusals else self._at_once_by(now)
        if most is not None and self._under_way >= most:
            return None
        return max(0.0, self._opens - now)

    def begin(self, now: float) -> int:
        """Note that a request is sent; return its round, to be passed with its outcome."""
        self._under_way += 1
        self._opens = now + self._spacing(now)
        return self._round

    def end(self) -> None:
        """Note that a request has ended, in whichever way."""
        self._under_way -= 1

    def close_for(self, seconds: float, now: float) -> None:
        """Send nothing for so long."""
        self._opens = max(self._opens, now + seconds)

    def granted(self, round_: int, now: float) -> None:
        """Note that a request was answered; call it before `end`."""
        self._grants.append(now)
        while self._grants[0] < now - HORIZON:
            self._grants.popleft()
        if not self._refusals:
            return
        if round_ == self._round:
            self._reopen(now)
        else:
            self._beside += 1

    def refused(self, round_: int, now: float) -> int:
        """Note a 429; return how many came in a row with nothing granted between. Call it before `end`."""
        if round_ == self._round:
            if not self._refusals:
                self._first_refusal, self._beside, self._alone = now, 0, self._under_way == 1
            self._round += 1
            self._refusals += 1
        return max(self._refusals, 1)

    def forget_refusals(self) -> None:
        """Forget the refusals: a load gave up, and the next one should not fail because of them."""
        self._refusals = 0

    def _reopen(self, now: float) -> None:
        """Resume after a request that was sent alone was granted."""
        unpaced = self._rate is None or self._guessed
        if unpaced and self._refusals == 1 and not self._alone and now - self._first_refusal <= 3 * FIRST_PAUSE:
            self._at_once, self._rate = max(1, self._beside), None
        else:
            self._rate = self._rate_granted(now)
        self._since, self._refusals = now, 0
        self._opens = max(self._opens, now + self._spacing(now))

    def _rate_granted(self, now: float) -> float:
        """Return the rate that the server allows, from its grants before the refusals and how long these lasted."""
        refused_for = now - self._first_refusal
        begins = self._first_refusal - max(refused_for, FIRST_PAUSE)
        recent = [each for each in self._grants if begins <= each < now]
        measured = len(recent) / (now - recent[0]) if recent else 1 / max(refused_for, FIRST_PAUSE)
        rate = None if self._guessed else self._rate_by(self._first_refusal)
        # Nothing was granted before: others use the limit too, so it has to be found out.
        self._guessed = rate is None and not recent
        if rate is None:
            return measured / SLACK
        # One refusal of spaced calls means that they are a little too fast.
        return SLOWER * rate if self._refusals == 1 else min(SLOWER * rate, measured / SLACK)

    def _rate_by(self, now: float) -> float | None:
        if self._rate is None:
            return None
        if self._guessed:
            return self._rate * 2 ** min((now - self._since) / GUESS_DOUBLES_AFTER, 10.0)
        doubles = max(DOUBLES_AFTER, LEAST_CALLS / self._rate)
        return self._rate * (1 + ((now - self._since) / doubles) ** 2)

    def _at_once_by(self, now: float) -> int | None:
        if self._at_once is None:
            return self._concurrency
        at_once = self._at_once + int((now - self._since) / ONE_MORE_AFTER)
        return at_once if self._concurrency is None else min(at_once, self._concurrency)

    def _spacing(self, now: float) -> float:
        rate = self._rate_by(now)
        return self._least if rate is None else max(self._least, 1 / rate)
