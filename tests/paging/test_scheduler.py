"""Ctrl-C stops a load at once, and the client can be used again."""

from __future__ import annotations

import _thread
import threading
import time

import pytest

from tests.conftest import entries, paged


def test_ctrl_c_stops_a_load_at_once_and_the_client_can_be_used_again(fake, connect):
    released, rows = threading.Event(), paged(entries(25))

    def slow(request):
        if len(fake.requests) == 2:
            released.wait(60)
        return rows(request)

    fake.answers["/v2/time-entries"] = slow
    client = connect(page_size=10)
    begun, timer = time.monotonic(), threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        client.time_entries(select="")
    assert time.monotonic() - begun < 20
    released.set()
    assert len(client.time_entries(select="")) == 25


def test_no_more_requests_are_under_way_than_allowed(fake, connect):
    rows, here, most, lock = paged(entries(200)), [0], [0], threading.Lock()

    def serve(request):
        with lock:
            here[0] += 1
            most[0] = max(most[0], here[0])
        time.sleep(0.002)
        with lock:
            here[0] -= 1
        return rows(request)

    fake.answers["/v2/time-entries"] = serve
    assert len(connect(page_size=10, concurrency=3).time_entries(select="")) == 200
    assert 1 < most[0] <= 3
