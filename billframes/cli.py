"""The command line: a thin door to the rest.

Each command lives with what it does, as `add_arguments(parser)` and `run(args) -> exit code`. Here errors become one
sentence on stderr, with `--debug` a traceback; the exit code is 0 only when the work was done.
"""

from __future__ import annotations

import argparse
import importlib
import traceback
from collections.abc import Sequence

from billframes._terminal import say
from billframes._version import __version__
from billframes.errors import BillframesError

__all__ = ["main"]

COMMANDS = {
    "dashboard": ("billframes.widgets.dashboard.command", "Show the explorer in the browser, from this machine."),
    "doctor": ("billframes.commands.doctor", "Say what is installed, configured and answering."),
    "export": ("billframes.commands.export", "Write records to a CSV, Excel or Parquet file."),
    "login": ("billframes.commands.login", "Keep an address and a token for later."),
    "report": ("billframes.report.command", "Write a month's billing report."),
    "sandbox": ("billframes.sandbox.command", "Run the bundled sandbox server."),
}
BROKEN = 1
FAILED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after "billframes"; those of the process where not given.

    Returns
    -------
    int
        0 when the work was done, 2 when it could not be, 1 after a fault of billframes itself or when the keyring
        refuses a token, 130 on Ctrl-C.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    args = _parser().parse_args(argv)
    try:
        return int(args.run(args))
    except BillframesError as error:
        say(traceback.format_exc() if args.debug else f"billframes: {error}", error=True)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - a fault of ours, whose traceback may hold what a server sent
        say(traceback.format_exc(), error=True)
        return BROKEN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="billframes", description="A law firm's billing API as frames, analyses and reports."
    )
    parser.add_argument("--version", action="version", version=f"billframes {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (module, summary) in COMMANDS.items():
        command = importlib.import_module(module)
        words = commands.add_parser(name, help=summary, description=summary)
        words.add_argument("--debug", action="store_true", help="show the traceback of an error")
        command.add_arguments(words)
        words.set_defaults(run=command.run)
    return parser
