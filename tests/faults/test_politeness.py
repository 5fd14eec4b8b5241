"""`concurrency` and `rate_limit` are never exceeded by any number of threads, and all threads wait if a server asks."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import pytest

import billframes as bf
from billframes.transport import http, pacing
from billframes.transport.connections import CancelScope
from billframes.transport.pacing import Pace
from billframes.transport.process_state import RateLimiter
from billframes.transport.retry import RetryBudget
from tests.faults.cases import connect
from tests.faults.server import Server, respond_correctly


def slowly(exchange):
    time.sleep(0.02)
    respond_correctly(exchange)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_never_more_requests_at_once_than_concurrency_across_threads(concurrency):
    with Server(slowly) as server, connect(server, concurrency=concurrency) as client, ThreadPoolExecutor(6) as pool:
        loads = [pool.submit(lambda: len(client.time_entries(select=""))) for _ in range(6)]
        singles = [pool.submit(client.expenses.get, "e1") for _ in range(6)]
        assert [load.result() for load in loads] == [25] * 6
        assert all(single.result().amount == 1 for single in singles)
        assert server.most_at_once == concurrency
        assert server.connections <= concurrency


@pytest.fixture
def paced(monkeypatch):
    """
    Record when the limiter let requests through, and when it held them back.

    On a busy machine, requests may be sent later than the limiter allows.
    """
    noted = {"begin": [], "hold_back": []}

    def noting(name, method):
        def note(pace, *given):
            noted[name].append(given[-1])
            return method(pace, *given)

        return note

    for name in noted:
        monkeypatch.setattr(Pace, name, noting(name, getattr(Pace, name)))
    return SimpleNamespace(begun=noted["begin"], closed=noted["hold_back"])


def test_never_more_requests_a_second_than_the_rate_limit_across_threads(paced):
    with Server() as server, connect(server, rate_limit=20, concurrency=8) as client, ThreadPoolExecutor(8) as pool:
        loads = [pool.submit(lambda: len(client.time_entries(select=""))) for _ in range(8)]
        assert [load.result() for load in loads] == [25] * 8
        result = sorted(when for when, _, _ in server.arrivals)
    assert len(result) == len(paced.begun) > 20
    assert all(begun < when for begun, when in zip(paced.begun, result, strict=True))
    assert max(sum(1 for when in paced.begun if start <= when < start + 1) for start in paced.begun) <= 20


@pytest.mark.parametrize("status", [429, 503])
def test_all_connections_wait_if_the_server_asks_one_to(paced, status):
    arguments = []

    def fault(exchange):
        if len(exchange.server.arrivals) >= 6 and not arguments:
            arguments.append(time.monotonic())
            exchange.send(status, b"", "Retry-After: 1")
        else:
            slowly(exchange)

    with Server(fault) as server, connect(server, concurrency=4) as client, ThreadPoolExecutor(3) as pool:
        loads = [pool.submit(lambda: len(client.time_entries(select=""))) for _ in range(3)]
        assert [load.result() for load in loads] == [25] * 3
        result = sorted(when for when, _, _ in server.arrivals)
    (closed,) = paced.closed
    assert closed > arguments[0]
    # Requests under way when the server asked still arrive; after them there is none for a second.
    assert not [when for when in paced.begun if closed < when < closed + 1]
    late = [when for when in paced.begun if when >= closed + 1]
    assert late
    assert len(result) == len(paced.begun)
    assert all(begun < when for begun, when in zip(late, result[-len(late) :], strict=True))


def test_a_wait_that_is_too_long_is_reported_at_once():
    with Server(lambda exchange: exchange.send(429, b"", "Retry-After: 86400")) as server, connect(server) as client:
        with pytest.raises(bf.errors.RateLimitedError, match=r"asks to wait 86,400 seconds"):
            client.practice_areas()
        assert len(server.arrivals) == 1


def test_a_waiting_request_waits_longer_if_the_limiter_holds_back_requests_meanwhile(paced):
    limiter, scope = RateLimiter(10), CancelScope(60)
    with limiter.slot(scope):
        pass

    def pass_through():
        with limiter.slot(scope):
            pass

    with ThreadPoolExecutor(3) as pool:
        passed = [pool.submit(pass_through) for _ in range(3)]
        limiter.hold_back(0.3)
        assert [each.result() for each in passed] == [None] * 3
    (closed,) = paced.closed
    assert len(paced.begun) == 4
    # On a machine that is not busy, no request was let through before.
    assert not [when for when in paced.begun if closed < when < closed + 0.3]
    assert all(later - earlier >= 0.1 for earlier, later in pairwise(paced.begun))


def test_a_retry_budget_ends_a_storm_of_retries(monkeypatch):
    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.0)
    with Server(lambda exchange: exchange.send(503, b"")) as server, connect(server, retries=50) as client:
        for _ in range(5):
            with pytest.raises(bf.errors.ServerError):
                client.practice_areas()
        assert len(server.arrivals) == 5 + RetryBudget.FULL // RetryBudget.RETRY
        server.fault = respond_correctly
        for _ in range(RetryBudget.RETRY):
            client.practice_areas()
        server.fault = lambda exchange: (
            exchange.send(503, b"") if len(server.arrivals) % 2 else respond_correctly(exchange)
        )
        assert len(client.practice_areas()) == 3


def test_a_load_past_its_deadline_retries_no_request(monkeypatch):
    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.05)
    with Server(lambda exchange: exchange.send(503, b"")) as server, connect(server, retries=100) as client:
        client.limits.longest_load = 1.0
        with pytest.raises(bf.errors.ServerError, match="time_entries"):
            client.time_entries(select="")
        # At most one request in each pause; without a deadline there would be a hundred.
        assert 2 <= len(server.arrivals) < 60


class PerWindow:
    """Responds with a client's balances, up to `most` times in a window and `at_once` at once; else with 429."""

    def __init__(self, most, window, at_once=1000):
        self.most, self.window, self.at_once = most, window, at_once
        self.granted, self.refused, self.under_way, self.lock = [], 0, 0, threading.Lock()

    def __call__(self, exchange):
        with self.lock:
            now = time.monotonic()
            recent = sum(when > now - self.window for when in self.granted)
            grants = recent < self.most and self.under_way < self.at_once
            self.refused += not grants
            self.granted += [now] * grants
            self.under_way += grants
        if not grants:
            exchange.send(429, b'{"title": "Too many requests"}')
            return
        time.sleep(0.005)
        with self.lock:
            self.under_way -= 1
        exchange.send(200, b'{"data": {"balance": 1, "overdue": 0, "overdue30": 0, "overdue60": 0, "overdue90": 0}}')


@pytest.mark.slow
@pytest.mark.parametrize(("most", "at_once"), [(60, 1000), (300, 10), (10**6, 3)])
def test_a_load_succeeds_if_the_server_grants_few_calls_and_states_no_wait(minutes_last_a_second, most, at_once):
    fault = PerWindow(most, 1.0, at_once)
    with Server(fault) as server, bf.Client(server.url, "t0ken") as client:
        frame = client.client_balances([f"c{i}" for i in range(400 if most > 100 else 160)])
    assert frame["balance"].eq(1).all()
    assert len(frame) == len(fault.granted)
    assert fault.refused <= 0.5 * len(fault.granted)
    # The refusals used up none of the retry budget.
    assert client._connection._own.retry_budget.spend(timed_out=False)
    assert client._connection._own.retry_budget._left == RetryBudget.FULL - RetryBudget.RETRY


@pytest.mark.slow
def test_a_request_that_is_always_refused_raises_its_error_though_others_are_granted(
    minutes_last_a_second, monkeypatch
):
    monkeypatch.setattr(pacing, "pause_after", lambda _refusals: 0.0)

    def fault(exchange):
        exchange.send(429, b"") if exchange.path == "/v2/practice-areas" else respond_correctly(exchange)

    with Server(fault) as server, connect(server, retries=2, concurrency=4) as client, ThreadPoolExecutor(1) as pool:
        refused = pool.submit(client.practice_areas)
        while not refused.done():
            client.expenses.get("e1")
        with pytest.raises(bf.errors.RateLimitedError, match="also after retries"):
            refused.result()
        assert sum(path == "/v2/practice-areas" for _, _, path in server.arrivals) <= 11


def test_after_giving_up_the_next_call_is_sent_at_once(monkeypatch):
    monkeypatch.setattr(pacing, "pause_after", lambda refusals: 0.01 if refusals < 3 else 60.0)
    with Server(lambda exchange: exchange.send(429, b"")) as server, connect(server, retries=2) as client:
        for _ in range(2):
            with pytest.raises(bf.errors.RateLimitedError):
                client.practice_areas()
        server.fault = respond_correctly
        assert len(client.practice_areas()) == 3
