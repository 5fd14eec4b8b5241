"""`billframes dashboard`: serve the explorer as a web page on this machine only, until Ctrl-C.

The address contains a token that is valid for this run only, so other users of the machine can't open the page.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from billframes._shared.export import write
from billframes._shared.messages import say, say_error
from billframes.commands import DEMO_FIRM, DEMO_REMARK, add_connection
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import BillframesError, ConfigError, LedgerError
from billframes.periods import parse_period
from billframes.sandbox.command import signals_interrupt
from billframes.widgets.dashboard import FOLDER_VARIABLE, PORT_FILE, START_FILE
from billframes.widgets.dashboard.kernel import NO_PRIVATE_SOCKETS, open_source, private_folder, transport_in
from billframes.wings import module_of

if TYPE_CHECKING:
    from billframes.client import Client

EXAMPLES = (
    "billframes dashboard --demo",
    "billframes dashboard 2026-Q3 --mirror firm-mirror",
    "billframes dashboard 2026 --ledger sales.csv",
)

_DEMO_PERIOD = "2026"
_TIMEOUT = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options on `parser`."""
    parser.add_argument("period", nargs="?", metavar="PERIOD", help="such as 2026-Q3 (default: this year)")
    add_connection(parser, more=", in 2026 by default")
    parser.add_argument("--title", metavar="NAME", help="the firm's name, shown at the top")
    parser.add_argument("--no-browser", action="store_true", help="don't open the page in the browser")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (default: 0, any free port)")
    parser.add_argument(
        "--ledger",
        nargs="+",
        default=[],
        metavar="FILE",
        help="payments of the firm's books: Sales by Customer Detail (default: the settings' folder)",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM, and return the exit code."""
    period = args.period or (_DEMO_PERIOD if args.demo else "this year")
    if importlib.util.find_spec("voila") is None:
        raise ConfigError("The dashboard needs Voila: pip install 'billframes[dashboard]'.")
    shown: dict[str, Any] = {"period": period}
    if args.demo:
        shown |= {"title": DEMO_FIRM, "remark": DEMO_REMARK}
    if args.title:
        shown["title"] = args.title
    if args.ledger:
        try:
            module_of("ledger", "month_reports").check_payments_among(args.ledger)
        except LedgerError as error:
            say_error(error, args)
            return 1
        shown["ledger"] = [str(Path(each).absolute()) for each in args.ledger]
    try:
        with signals_interrupt():
            _serve(args, shown)
    except KeyboardInterrupt:
        return 0
    return 0


def _serve(args: argparse.Namespace, shown: dict[str, Any]) -> None:
    """Start the server, load the records while it starts, and wait until it ends."""
    token = secrets.token_urlsafe(16)
    with private_folder() as folder:
        if transport_in(folder) == "tcp":
            say(NO_PRIVATE_SOCKETS, error=True)
        notebook = folder / "dashboard.ipynb"
        shipped = resources.files("billframes.widgets.dashboard").joinpath("dashboard.ipynb")
        notebook.write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
        frames, log = folder / "frames", folder / "voila.log"
        with (
            log.open("w") as file,
            _started_server(notebook, args.port, token, file) as server,
            open_source(args) as (variables, client),
        ):
            parse_period(shown["period"], calendar=FirmCalendar(lambda: client))
            settings = {"settings": client.settings.source} if client.settings else {}
            _prepare(frames, client, {"variables": variables, "shown": shown | settings})
            base = f"http://127.0.0.1:{_wait_for_port(server, folder, log)}/"
            say(f"Dashboard at {base}?token={token}  Ctrl-C ends it.")
            if not args.no_browser:
                _open_browser(f"{base}?token={token}", folder)
            if server.wait():
                raise BillframesError(f"The dashboard's server ended. Its last message: {_last_line(log)}")


def _prepare(folder: Path, client: Client, start: Mapping[str, Any]) -> None:
    """Write the file for which the kernels wait, and start loading the records."""
    from billframes.widgets.dashboard.shared_frames import SharedFrames

    frames = SharedFrames(folder, client)
    write(folder / START_FILE, json.dumps(start).encode(), private=True)
    frames.load_ahead()


@contextmanager
def _started_server(notebook: Path, port: int, token: str, log: IO[str]) -> Iterator[subprocess.Popen[str]]:
    """
    Start the server, write the token to its standard input, and stop it at the end of the block.

    Its standard input stays open: the server ends when it is closed, also if this process is killed.
    """
    command = [sys.executable, "-m", "billframes.widgets.dashboard", str(notebook), str(port)]
    # A registered kernel named python3 may be another Python without billframes, so prefer this environment's kernel.
    environment = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1", FOLDER_VARIABLE: str(notebook.parent / "frames")}
    # The server imports and reads files of its working folder, so this must be a private folder.
    server = subprocess.Popen(  # noqa: S603
        command,
        env=environment,
        cwd=notebook.parent,
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        if server.stdin:
            with contextlib.suppress(BrokenPipeError):
                server.stdin.write(f"{token}\n")
                server.stdin.flush()
        yield server
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        if server.stdin:
            server.stdin.close()


def _open_browser(address: str, folder: Path) -> None:
    """
    Open the page in the user's browser, if it is not one for terminals.

    It opens a local file that leads to the page: every user can read a command line, which must not contain the token.
    """
    redirect = folder / "open.html"
    redirect.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', encoding="utf-8")
    with contextlib.suppress(webbrowser.Error):
        browser = webbrowser.get()
        # A browser for terminals would take over this one.
        if type(browser) is not webbrowser.GenericBrowser:
            threading.Thread(target=browser.open, args=[redirect.as_uri()], daemon=True).start()


def _wait_for_port(server: subprocess.Popen[str], folder: Path, log: Path) -> int:
    """Wait until the server has written its port, and return it."""
    until = time.monotonic() + _TIMEOUT
    file = folder / PORT_FILE
    while server.poll() is None and time.monotonic() < until:
        if file.exists():
            return int(file.read_text(encoding="ascii"))
        time.sleep(0.1)
    raise BillframesError(f"The dashboard's server did not start. Its last message: {_last_line(log)}")


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "none."
