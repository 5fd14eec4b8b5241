"""`billframes sandbox`: the server in the foreground, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from billframes import sandbox

if TYPE_CHECKING:
    from billframes.sandbox.server import Sandbox

__all__ = ["add_arguments", "run", "signals_interrupt"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes any free port")
    parser.add_argument("--db", metavar="FILE", help="keep the firm in this SQLite file")
    parser.add_argument(
        "--size",
        choices=["small", "medium", "large"],
        default="small",
        help="about 25,000, 250,000 or 2,500,000 time entries (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which firm (default: %(default)s)")
    parser.add_argument("--latency-ms", type=float, default=0, metavar="N", help="let every call take longer")
    parser.add_argument(
        "--throttle",
        metavar="LIMITS",
        help="answer 429 beyond per_minute=N,at_once=N,per_day=N, or some of these",
    )
    parser.add_argument(
        "--trouble",
        metavar="KINDS",
        help="go wrong on purpose: faults=SHARE,fault_kinds=503+drop,shuffled_ties,late_commits=SHARE,late_seconds=N,"
        "still_edits=SHARE,most_granted=N,ignored=NAME+NAME,writes_per_second=N,seed=N, or some of these",
    )
    parser.add_argument("--audit", action="store_true", help="keep every change in the database's table audit")
    parser.add_argument("--json", action="store_true", help="say where it is as one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM, and return the exit code."""
    try:
        with signals_interrupt(), _sandbox(args) as server:
            if server.is_open_to_network:
                print(_OPEN, file=sys.stderr)  # noqa: T201
            print(_ready(server, as_json=args.json), flush=True)  # noqa: T201
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
        trouble=sandbox.Trouble.read(args.trouble) if args.trouble else None,
        throttle=sandbox.Throttle.read(args.throttle) if args.throttle else None,
        latency_ms=args.latency_ms,
        audit=args.audit,
    )


_OPEN = "Warning: the sandbox listens beyond this machine, and its tokens are public. Keep real data out of it."


def _ready(server: Sandbox, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"base_url": server.base_url, "tokens": server.tokens})
    tokens = ", ".join(f"{token} ({kind})" for kind, token in server.tokens.items())
    return f"Sandbox at {server.base_url}. Tokens: {tokens}. Ctrl-C ends it."


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Make SIGTERM, and SIGINT even where a shell had it ignored, interrupt the block as Ctrl-C does."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, signal.default_int_handler) for each in numbers]
    try:
        yield
    finally:
        for each, handler in zip(numbers, before, strict=True):
            signal.signal(each, handler)
