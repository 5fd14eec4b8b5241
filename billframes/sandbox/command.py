"""The command `billframes sandbox`: run the server in the foreground until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import logging
import os
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from billframes import sandbox
from billframes._shared.messages import say

if TYPE_CHECKING:
    from billframes.sandbox.server import Sandbox

EXAMPLES = ("billframes sandbox", "billframes sandbox --port 8080 --db firm.db --size medium")

_STDERR = 2
# A pipe that is ready for writing takes at least this many bytes without blocking.
_PIPE_BYTES = 512


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="the port; 0, the default, takes any free port")
    parser.add_argument("--db", metavar="FILE", help="keep the firm in this SQLite file")
    parser.add_argument(
        "--size",
        choices=["small", "medium", "large"],
        default="small",
        help="about 25,000, 250,000 or 2,500,000 time entries (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="another firm for each N (default: %(default)s)"
    )
    parser.add_argument("--latency-ms", type=float, default=0, metavar="N", help="delay every call by N milliseconds")
    parser.add_argument(
        "--throttle",
        metavar="LIMITS",
        help="rate limits, beyond which calls get 429: per_minute=N,at_once=N,per_day=N, or some of these",
    )
    parser.add_argument(
        "--trouble",
        metavar="KINDS",
        help="inject faults: faults=SHARE,fault_kinds=503+drop,shuffled_ties,late_commits=SHARE,late_seconds=N,"
        "still_edits=SHARE,most_granted=N,replaced_objects,other_names=WORD,ignored=NAME+NAME,writes_per_second=N,"
        "seed=N, or some of these",
    )
    parser.add_argument("--audit", action="store_true", help="record every change in the database's table audit")
    parser.add_argument("--json", action="store_true", help="print the address and tokens as one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C, SIGTERM or SIGHUP, and return the exit code."""
    try:
        with signals_interrupt(), _logging(), _sandbox(args) as server:
            if server.is_open_to_network:
                say(_WARNING, error=True)
            say(_ready_text(server, as_json=args.json))
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        return 0


def _sandbox(args: argparse.Namespace) -> Sandbox:
    return sandbox.Sandbox(
        size=args.size,
        seed=args.seed,
        db=args.db,
        host=args.host,
        port=args.port,
        trouble=sandbox.Trouble.parse(args.trouble) if args.trouble else None,
        throttle=sandbox.Throttle.parse(args.throttle) if args.throttle else None,
        latency_ms=args.latency_ms,
        audit=args.audit,
    )


_WARNING = "Warning: the sandbox listens beyond this machine, and its tokens are public. Keep real data out of it."


def _ready_text(server: Sandbox, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"base_url": server.base_url, "tokens": server.tokens})
    tokens = ", ".join(f"{token} ({kind})" for kind, token in server.tokens.items())
    return f"Sandbox at {server.base_url}. Tokens: {tokens}. Ctrl-C ends it."


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """
    Make SIGTERM and SIGHUP interrupt the block as Ctrl-C does, and SIGINT even if a shell set it to be ignored.

    If SIGHUP is ignored, it stays ignored, because `nohup` relies on that.
    """
    numbers = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) != signal.SIG_IGN:
        numbers.append(hangup)
    before = [signal.signal(each, signal.default_int_handler) for each in numbers]
    try:
        yield
    finally:
        for each, handler in zip(numbers, before, strict=True):
            signal.signal(each, handler)


class _UnblockedLog(logging.Handler):
    """Write to stderr only as much as the pipe has room for, because an unread log must not block the server."""

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{self.format(record)}\n".encode(errors="replace")
        with suppress(OSError):
            for start in range(0, len(text), _PIPE_BYTES):
                if not select.select([], [_STDERR], [], 0)[1]:
                    return
                os.write(_STDERR, text[start : start + _PIPE_BYTES])


@contextmanager
def _logging() -> Iterator[None]:
    """Write the server's log to stderr. Only POSIX can tell whether a pipe has room."""
    handler = _UnblockedLog() if os.name == "posix" else logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
