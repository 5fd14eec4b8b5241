"""`billframes sandbox`: the server in the foreground, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from billframes import sandbox

if TYPE_CHECKING:
    from billframes.sandbox.server import Sandbox

__all__ = ["add_arguments", "run"]


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
    parser.add_argument("--json", action="store_true", help="say where it is as one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM, and return the exit code."""
    with _until_signalled() as signalled:
        server = sandbox.Sandbox(size=args.size, seed=args.seed, db=args.db, host=args.host, port=args.port)
        with server:
            if server.is_open_to_network:
                print(_OPEN, file=sys.stderr)  # noqa: T201
            print(_ready(server, as_json=args.json), flush=True)  # noqa: T201
            signalled.wait()
    return 0


_OPEN = "Warning: the sandbox listens beyond this machine, and its tokens are public. Keep real data out of it."


def _ready(server: Sandbox, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"base_url": server.base_url, "tokens": server.tokens})
    tokens = ", ".join(f"{token} ({kind})" for kind, token in server.tokens.items())
    return f"Sandbox at {server.base_url}. Tokens: {tokens}. Ctrl-C ends it."


@contextmanager
def _until_signalled() -> Iterator[threading.Event]:
    """Turn SIGINT and SIGTERM into an event for as long as the block runs."""
    signalled = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        signalled.set()

    before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signalled
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
