"""Limit the requests of a client, and find out how many a server allows if it responds with 429.

A 429 is not a failure: the server works and limits the number of requests. One rate limiter for the whole client paces
all connections together by what the server grants. Independent retries against a limit of requests per minute would
send more unnecessary requests than useful ones. A request is retried as long as the server grants other requests.

A server refuses for one of three reasons. Requests that are sent alone after a refusal show which.

- **Chance**: some servers refuse a share of all requests, however few are sent. A retry is granted soon. Nothing is
  changed, because fewer requests would be refused as often. The share is estimated from such refusals. As long as the
  estimate can explain the refusals in a row, requests are retried after about the time that a response takes.
- **Requests at once**: more were refused together than chance explains, and the first that is sent alone is granted.
  From then on, no more are sent at once than were granted. If refusals continue although each request sent alone is
  granted, more often than chance explains, one less is sent at once: on a busy computer, the requests of which some
  were granted were not all at the server at once.
- **Requests within some time**: requests that are sent alone are refused, too. The number of granted requests, divided
  by the time until the next grant, is the rate that the server allows, and requests are spaced accordingly. If a spaced
  request is refused, the rate is lowered a little. As long as no request is refused, the rate grows again, slowly at
  first, because the server's limit was only a little above the last rate. If as many requests are refused after they
  were spaced, the refusals were chance after all, and requests are no longer spaced.

`Pace` has no clock and no threads: callers pass it the events and their times.
"""

from __future__ import annotations

import random
from collections import deque
from math import comb
from typing import NamedTuple

# Seconds before a request is sent alone after a refusal, and the longest wait before the next one. Five waits are 70
# seconds, which is enough for a limit of requests per minute.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
# The least number of seconds before a retry after a refusal that may be chance.
LEAST_PAUSE = 0.01
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
# As many refusals as are less probable than this are not chance.
IMPROBABLE = 2e-4
# One less at once costs some speed for a while, so that it takes stronger evidence.
VERY_IMPROBABLE = 1e-5
# The estimated share of chance refusals: at first, at least, and the largest that is taken for chance.
FIRST_SHARE, LEAST_SHARE, LARGEST_SHARE = 0.2, 0.03, 0.55
# How much each outcome changes the estimate.
MEMORY = 1 / 25
# While the estimate is small, a refusal of spaced requests is taken for the limit.
RARE = 0.1
# So many refusals in a row are never chance. So many at most are kept as the evidence of a limit.
LONGEST_CHANCE, MOST_EVIDENCE = 10, 8
# If a rate fell to this part by single refusals, there was no such limit.
LOWEST_PART = 0.25
# A new rate is at least this part of the most grants within a recent minute, which a burst may have doubled.
MINUTE, GRANTED_PART = 60.0, 0.5


def pause_after(refusals: int) -> float:
    """Return the seconds to wait after that many refusals in a row, with a small random addition."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 3.0 ** (refusals - 1)) * random.uniform(1.0, 1.1)  # noqa: S311 - no secret


class Ticket(NamedTuple):
    """A request under way: its round, and when it was sent."""

    round: int
    begun: float


class Refusal(NamedTuple):
    """A 429: the number of the pause after it, which counts those in a row that ended with another, and its seconds."""

    in_a_row: int
    pause: float


class _Chance:
    """Estimates the share of requests that are refused whatever their pace, from refusals with a quick retry."""

    def __init__(self) -> None:
        self.share = FIRST_SHARE

    def record_grant(self) -> None:
        self.share = max(LEAST_SHARE, self.share * (1 - MEMORY))

    def record_refusals(self, number: int) -> None:
        self.share = 1 - (1 - self.share) * (1 - MEMORY) ** number

    @property
    def is_too_large(self) -> bool:
        return self.share >= LARGEST_SHARE

    def explains_none_alone(self, granted: int) -> bool:
        """Return whether it may be chance that so many requests that were sent alone were all granted."""
        return (1 - self.share) ** granted > VERY_IMPROBABLE

    def explains(self, refused: int, sent: int, in_a_row: int) -> bool:
        """Return whether so many refusals of so many requests may be chance; `in_a_row` of them were sent alone."""
        if self.is_too_large or in_a_row >= LONGEST_CHANCE:
            return False
        return comb(sent, refused) * self.share**refused > IMPROBABLE


class Pace:
    """
    Decides when the next request may be sent: at least `spacing` seconds after the last one, and so many at once.

    The server may require more seconds, and grant fewer at once.
    """

    def __init__(self, spacing: float = 0.0, concurrency: int | None = None) -> None:
        self._least = spacing
        self._concurrency = concurrency
        self._next_slot = self._held_until = 0.0
        self._under_way = 0
        self._grants: deque[float] = deque()
        self._chance = _Chance()
        # What the server grants: requests at once, and requests a second. None is no limit.
        self._most_at_once: int | None = None
        self._lowered_at, self._granted_since = 0.0, 0
        # Requests in a row that were sent alone after a refusal and granted.
        self._granted_alone = 0
        self._rate: float | None = None
        self._rate_is_guess = False
        self._resumed_at = self._lowest_rate = 0.0
        self._evidence = 0
        # Each refusal that counts begins a new round. The refusal of a request of an older round shows nothing new.
        self._round = 0
        # Since the last grant of a request sent alone: all refusals, those in a row, and the longer pauses among them.
        self._refusals = self._rounds_refused = self._pauses_refused = 0
        self._first_refusal = 0.0
        self._sent = self._granted_beside = 0

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds until the next request may be sent; None if one under way must end first."""
        most = 1 if self._refusals else self._most_at_once_at(now)
        if most is not None and self._under_way >= most:
            return None
        return max(0.0, self._next_slot - now)

    def begin(self, now: float) -> Ticket:
        """Record that a request is sent; return its ticket, which must be passed with its outcome."""
        self._under_way += 1
        self._next_slot = now + self._spacing(now)
        return Ticket(self._round, now)

    def end(self) -> None:
        """Record that a request has ended, whatever its outcome."""
        self._under_way -= 1

    def hold_back(self, seconds: float, now: float) -> None:
        """Let no request be sent for that many seconds."""
        self._held_until = max(self._held_until, now + seconds)
        self._next_slot = max(self._next_slot, now + seconds)

    def record_grant(self, ticket: Ticket, now: float) -> None:
        """Record that a request was granted; call it before `end`."""
        self._grants.append(now)
        while self._grants[0] < now - HORIZON:
            self._grants.popleft()
        self._granted_since += 1
        self._chance.record_grant()
        if not self._refusals:
            return
        if ticket.round == self._round:
            self._resume(ticket, now)
        else:
            self._granted_beside += 1

    def record_refusal(self, ticket: Ticket, now: float) -> Refusal:
        """Record a 429; return the pause after it. Call it before `end`."""
        quick = min(FIRST_PAUSE, max(LEAST_PAUSE, now - ticket.begun) * 2.0**self._rounds_refused)
        if ticket.round == self._round:
            if not self._refusals:
                self._first_refusal, self._granted_beside, self._sent = now, 0, self._under_way
            else:
                self._sent += 1
                self._pauses_refused += self._seems_limited
            self._round += 1
            self._rounds_refused += 1
        elif not self._refusals:
            self._chance.record_refusals(1)
            return Refusal(1, quick)
        self._refusals += 1
        pauses = 1 + self._pauses_refused
        return Refusal(pauses, pause_after(pauses) if self._seems_limited else quick)

    def forget_refusals(self) -> None:
        """Forget the refusals: a load gave up, and the next one should not fail because of them."""
        self._refusals = self._rounds_refused = self._pauses_refused = 0

    @property
    def _is_limited(self) -> bool:
        return not self._chance.explains(self._refusals, self._sent, self._rounds_refused)

    @property
    def _seems_limited(self) -> bool:
        known = self._rate is not None and (self._rate_is_guess or self._chance.share <= RARE)
        return known or self._is_limited

    def _resume(self, ticket: Ticket, now: float) -> None:
        paced = self._rate is not None and not self._rate_is_guess
        # If requests under way took long to end, the grant was not soon enough to show that the refusal was chance.
        late = not paced and ticket.begun - max(self._first_refusal, self._held_until) >= FIRST_PAUSE
        limited = late or self._is_limited
        together = self._rounds_refused == 1 and self._granted_beside > 0
        soon = not limited or now - self._first_refusal <= 3 * FIRST_PAUSE
        self._granted_alone = self._granted_alone + 1 if self._rounds_refused == 1 else 0
        crowded = (
            together and self._most_at_once is not None and not self._chance.explains_none_alone(self._granted_alone)
        )
        if not limited and not crowded:
            self._chance.record_refusals(self._refusals)
        if paced and not limited:
            self._lower_rate(now)
        elif crowded and not paced:
            self._most_at_once, self._granted_alone = max(1, (self._most_at_once or 1) - 1), self._granted_alone // 2
            self._lowered_at, self._granted_since = now, 0
        elif together and soon and not paced:
            least = 1 if limited else self._most_at_once or 1
            self._most_at_once, self._rate = max(least, self._granted_beside), None
            self._lowered_at, self._granted_since = now, 0
        elif limited or self._rate_is_guess:
            self._space(now, certain=late or self._chance.is_too_large)
        self.forget_refusals()
        self._next_slot = max(self._next_slot, now + self._spacing(now))

    def _space(self, now: float, *, certain: bool) -> None:
        """Space requests by what was granted, until chance explains as many refusals as showed the limit."""
        self._evidence = MOST_EVIDENCE if certain else min(MOST_EVIDENCE, max(self._refusals, self._evidence))
        if certain:
            self._chance.share = min(self._chance.share, FIRST_SHARE)
        self._rate, self._resumed_at = self._rate_granted(now), now
        self._lowest_rate = LOWEST_PART * self._rate

    def _lower_rate(self, now: float) -> None:
        """Lower the rate after a refusal that may be chance; forget it if it seems that it changed nothing."""
        rate = self._rate_at(self._first_refusal) or 0.0
        self._rate, self._resumed_at = SLOWER**self._rounds_refused * rate, now
        if self._rate < self._lowest_rate or self._chance.explains(self._evidence, self._evidence, 0):
            self._rate, self._evidence = None, 0

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
            return measured / SLACK if self._rate_is_guess else max(measured / SLACK, self._least_rate())
        # A single refusal of spaced requests means that they are a little too fast.
        lower = SLOWER * rate if self._rounds_refused == 1 else min(SLOWER * rate, measured / SLACK)
        return max(lower, self._least_rate())

    def _least_rate(self) -> float:
        """Return the rate that the server has shown to allow: a part of the most grants within a minute."""
        most, begins, times = 0, 0, list(self._grants)
        for number, when in enumerate(times, 1):
            while times[begins] < when - MINUTE:
                begins += 1
            most = max(most, number - begins)
        return GRANTED_PART * most / MINUTE

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
        more = min(int((now - self._lowered_at) / ONE_MORE_AFTER), self._granted_since // 25)
        at_once = self._most_at_once + more
        return at_once if self._concurrency is None else min(at_once, self._concurrency)

    def _spacing(self, now: float) -> float:
        rate = self._rate_at(now)
        return self._least if rate is None else max(self._least, 1 / rate)
