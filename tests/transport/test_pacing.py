"""Requests to a server that responds with 429 are paced by what it grants; a simulation, so that hours take no time."""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from billframes.transport.pacing import Pace

# A call takes about three steps: a pause, a request and its response. A faulty pace must not run for ever.
STEPS_PER_CALL = 50


@dataclass
class LimitedServer:
    """A server that grants `most` calls in any `window` seconds, or in fixed windows, and a number at once."""

    most: int
    window: float = 60.0
    at_once: int = 1000
    whole: bool = False
    under_way: int = 0
    granted: deque = field(default_factory=deque)
    times: list = field(default_factory=list)
    refused: int = 0

    def grants(self, now):
        self.times.append(now)
        begins = now // self.window * self.window if self.whole else now - self.window
        while self.granted and self.granted[0] <= begins - (1e-9 if self.whole else 0):
            self.granted.popleft()
        if self.under_way >= self.at_once or len(self.granted) >= self.most:
            self.refused += 1
            return False
        self.granted.append(now)
        return True


@dataclass
class ScatteredServer(LimitedServer):
    """A server that refuses a random share of the calls, too, or of the first ones."""

    share: float = 0.1
    first: int = 10**9

    def grants(self, now):
        if len(self.times) < self.first and random.random() < self.share:
            self.times.append(now)
            self.refused += 1
            return False
        return super().grants(now)


@dataclass
class BucketServer(LimitedServer):
    """A server with a token bucket of `most` calls, which is refilled in `window` seconds."""

    held: float = -1.0
    filled: float = 0.0

    def grants(self, now):
        self.times.append(now)
        held = self.most if self.held < 0 else self.held + (now - self.filled) * self.most / self.window
        self.held, self.filled = min(self.most, held), now
        if self.held < 1 or self.under_way >= self.at_once:
            self.refused += 1
            return False
        self.held -= 1
        return True


@dataclass
class JitteryServer(LimitedServer):
    """A server that handles each call in a random time, sometimes longer than until its response arrives."""

    ends: list = field(default_factory=list)

    def grants(self, now):
        self.ends = [end for end in self.ends if end > now]
        self.under_way = len(self.ends)
        granted = super().grants(now)
        if granted:
            self.ends.append(now + random.uniform(0.005, 0.09))
        return granted


def simulate(server, calls, *, pace=None, workers=8, latency=0.05, retries=5, now=0.0, asked=None):
    """
    Send calls like a client; return the time of the last grant, or None if the client gave up.

    `asked` is the server's `Retry-After` in seconds.
    """
    pace = pace or Pace()
    events, waiting, number = [], workers, 0
    most_steps = STEPS_PER_CALL * calls
    for _ in range(most_steps):
        if not calls:
            return now
        left = pace.seconds_left(now)
        if waiting and left == 0:
            waiting, number = waiting - 1, number + 1
            ticket, granted = pace.begin(now), server.grants(now)
            server.under_way += granted
            # A refusal takes a tenth of the time of a granted call.
            heapq.heappush(events, (now + (latency if granted else latency / 10), number, ticket, granted))
            continue
        due = events[0][0] if events else float("inf")
        if waiting and left is not None and now + left < due:
            now += left + 1e-9
            continue
        now, _, ticket, granted = heapq.heappop(events)
        server.under_way -= granted
        if granted:
            calls -= 1
            pace.record_grant(ticket, now)
        else:
            refusal = pace.record_refusal(ticket, now)
            if refusal.in_a_row > retries:
                return None
            pace.hold_back(refusal.pause if asked is None else asked, now)
        pace.end()
        waiting += 1
    raise AssertionError(f"{calls} calls are not granted after {most_steps} steps")


@pytest.fixture(autouse=True)
def same_pauses():
    random.seed(7)


KINDS = {
    "60 in any minute": lambda: LimitedServer(60),
    "300 in any minute": lambda: LimitedServer(300),
    "300 in any minute, 10 at once": lambda: LimitedServer(300, at_once=10),
    "300 in any minute, 4 at once": lambda: LimitedServer(300, at_once=4),
    "60 in each minute": lambda: LimitedServer(60, whole=True),
    "300 in each minute": lambda: LimitedServer(300, whole=True),
    "60 in a bucket": lambda: BucketServer(60),
    "300 in a bucket": lambda: BucketServer(300),
    "10 a second": lambda: LimitedServer(10, window=1.0),
    "1 in any 10 seconds": lambda: LimitedServer(1, window=10.0),
    "4 at once": lambda: LimitedServer(10**9, at_once=4),
    "1 at once": lambda: LimitedServer(10**9, at_once=1),
}


@pytest.mark.parametrize("latency", [0.005, 0.05, 0.5, 3.0])
@pytest.mark.parametrize("kind", KINDS)
def test_every_call_is_granted_at_last_with_few_refusals(kind, latency):
    server, calls = KINDS[kind](), 1000
    took = simulate(server, calls, latency=latency)
    assert took is not None
    assert server.refused <= 0.05 * calls


@pytest.mark.parametrize(("most", "seconds"), [(60, 1150), (300, 260)])
@pytest.mark.parametrize("whole", [False, True])
def test_a_limit_of_calls_per_minute_is_used_and_rarely_exceeded(most, seconds, whole):
    server = LimitedServer(most, at_once=10, whole=whole)
    took = simulate(server, 1000)
    # The shortest possible time: a minute's calls at once, and the rest as the limit allows.
    assert (1000 / most - 1) * 60 < took < 1.1 * seconds
    assert server.refused <= 25
    # After the first burst, no minute has many more requests than allowed.
    later = [when for when in server.times if when > 60]
    assert max(sum(begins <= when < begins + 60 for when in later) for begins in later) <= 1.3 * most


# What the pace held before it told chance from limits: seconds for 1,000 calls, and refusals.
@pytest.mark.parametrize(
    ("kind", "seconds", "refused"), [("60 in any minute", 1061, 20), ("300 in any minute", 236, 10)]
)
def test_limits_per_minute_cost_no_more_than_without_chance_refusals_in_mind(kind, seconds, refused):
    server = KINDS[kind]()
    assert simulate(server, 1000) < 1.01 * seconds
    assert server.refused <= refused


@pytest.mark.parametrize("asked", [None, 0.0, 1.0, 5.0])
@pytest.mark.parametrize("latency", [0.01, 0.2])
@pytest.mark.parametrize("workers", [1, 4, 8])
def test_scattered_refusals_of_a_tenth_take_at_most_five_times_as_long(workers, latency, asked):
    """Apart from the waits that the server asks for, and whatever the random numbers."""
    for seed in range(40):
        random.seed(seed)
        server = ScatteredServer(10**9, share=0.1)
        took = simulate(server, 60, workers=workers, latency=latency, asked=asked)
        assert took <= 5 * 60 / workers * latency + server.refused * (asked or 0), seed


@pytest.mark.parametrize(("share", "workers"), [(0.2, 8), (0.4, 1), (0.4, 8)])
def test_many_scattered_refusals_end_in_sensible_time(share, workers):
    took = []
    for seed in range(100):
        random.seed(seed)
        took.append(simulate(ScatteredServer(10**9, share=share), 60, workers=workers, latency=0.01) or 1e9)
    took.sort()
    assert took[50] < 2
    assert took[90] < 20
    assert took[-1] < 300


def test_calls_are_as_fast_as_before_soon_after_scattered_refusals():
    for seed in range(20):
        random.seed(seed)
        server = ScatteredServer(10**9, share=0.4, first=300)
        ended = simulate(server, 2000)
        assert ended - server.times[300] < 3 * 1700 / 8 * 0.05, seed


def test_a_limit_per_minute_is_kept_beside_scattered_refusals():
    server = ScatteredServer(300, share=0.1)
    assert simulate(server, 1000) < 2 * 260
    assert server.refused <= 0.25 * 1000


def test_beside_scattered_refusals_the_pace_stays_near_what_a_minute_was_granted():
    took = []
    for seed in range(20):
        random.seed(seed)
        took.append(simulate(ScatteredServer(60, share=0.1), 1000))
    granted = sorted(each for each in took if each is not None)
    assert len(granted) >= 15
    assert granted[len(granted) // 2] < 4 * 1000
    assert granted[-1] < 7 * 1000


def test_if_the_server_limits_concurrency_fewer_calls_are_sent_at_once():
    server, pace = LimitedServer(10**9, at_once=3), Pace()
    took = simulate(server, 500, pace=pace, latency=0.1)
    assert took < 1.25 * 500 * 0.1 / 3
    assert server.refused <= 10


def test_if_the_server_is_busy_for_random_times_few_calls_exceed_its_limit_at_once():
    refused = []
    for seed in range(20):
        random.seed(seed)
        server = JitteryServer(10**9, at_once=3)
        assert simulate(server, 1000, latency=0.05) < 2.5 * 1000 * 0.05 / 3
        refused.append(server.refused)
    assert max(refused) <= 0.2 * 1000, refused


@pytest.mark.parametrize("others", [1, 20])
def test_a_limit_that_others_use_too_is_found_quickly(others):
    server = LimitedServer(300)
    server.granted.extend([-59.5] * (300 - others + 1) + [-1.0] * (others - 1))
    assert simulate(server, 250) < 45
    assert server.refused <= 12


def test_calls_become_faster_again_when_the_server_grants_more():
    server, pace = LimitedServer(60), Pace()
    begun = simulate(server, 200, pace=pace)
    server.most = 10**9
    ended = simulate(server, 3000, pace=pace, now=begun)
    assert ended - begun < 3000 / 4
    server.most, server.granted = 60, deque()
    assert simulate(server, 200, pace=pace, now=ended) is not None


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_a_client_that_is_granted_nothing_gives_up_after_the_retries(retries):
    server = LimitedServer(0)
    assert simulate(server, 10, retries=retries, latency=0) is None
    assert server.refused <= 8 + retries


def test_the_callers_own_limits_are_never_exceeded():
    server = LimitedServer(10**9)
    simulate(server, 100, pace=Pace(spacing=0.5))
    assert all(later - earlier >= 0.5 for earlier, later in pairwise(server.times))


def test_while_nothing_is_granted_requests_are_sent_one_at_a_time():
    pace = Pace()
    rounds = [pace.begin(0.0) for _ in range(8)]
    assert [pace.record_refusal(each, 0.1).in_a_row for each in rounds] == [1] * 8
    pace.hold_back(7, 0.1)
    assert pace.seconds_left(0.1) is None
    for _ in rounds:
        pace.end()
    assert pace.seconds_left(0.1) == pytest.approx(7)
    assert pace.seconds_left(7.2) == 0
    alone = pace.begin(7.2)
    assert pace.seconds_left(60) is None
    assert pace.record_refusal(alone, 7.3).in_a_row == 2
    pace.end()
    pace.forget_refusals()
    assert pace.record_refusal(pace.begin(60), 60).in_a_row == 1
