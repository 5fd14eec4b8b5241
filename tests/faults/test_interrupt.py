"""Ctrl-C ends a load at once and closes its connections, and the client can be used again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from tests.faults.server import Server, respond_correctly

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a process can't be sent Ctrl-C alone there"),
]

# It takes a second on a machine that is not busy. The responses would take a minute.
PROMPT = 15


def silent(exchange):
    exchange.server.closed.wait(60)


def trickling(exchange):
    exchange.send_bytes(exchange.head(200, "Content-Length: 1000"))
    exchange.trickle(b" " * 1000)


def failing(exchange):
    exchange.send(500, b"")


def waiting(exchange):
    exchange.send(429, b"", "Retry-After: 100")


def first_pages_then_silent(exchange):
    (silent if len(exchange.server.arrivals) > 2 else respond_correctly)(exchange)


def until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.01)


CASES = [(fault, how) for fault in (silent, trickling, failing, waiting) for how in ("list", "one")]
CASES += [(silent, "balances"), (trickling, "balances"), (waiting, "balances")]


@pytest.mark.parametrize(("fault", "how"), [*CASES, (first_pages_then_silent, "list")])
def test_ctrl_c_ends_a_load_at_once_and_the_client_can_be_used_again(fault, how):
    with Server(fault) as server, running(server.url, how) as child:
        until(lambda: len(server.arrivals) >= {failing: 3, first_pages_then_silent: 3}.get(fault, 1))
        time.sleep(0.1)
        assert interrupted(child) == "stopped"
        if fault is trickling:
            # This server writes all the time, so it notices that the connection is closed.
            until(lambda: server.open == 0, seconds=PROMPT)
        server.fault = respond_correctly
        child.stdin.write("\n")
        child.stdin.flush()
        if fault is waiting:
            # The server asked the client to wait, which it also does after an interruption.
            return
        assert child.stdout.readline().split() == ["25", "True"]
        server.fault = silent
        before = len(server.arrivals)
        child.stdin.write("\n")
        child.stdin.flush()
        until(lambda: len(server.arrivals) > before)
        assert interrupted(child) == "ending"
        assert child.wait(timeout=PROMPT) == 0


@contextmanager
def running(url, how):
    command = [sys.executable, "-m", "tests.faults.interrupted", url, how]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def interrupted(child):
    """Interrupt the program; return the line that it prints."""
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    said = child.stdout.readline().strip()
    assert time.monotonic() - begun < PROMPT
    return said
