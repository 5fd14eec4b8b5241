"""The command line.

Each command is a module with `EXAMPLES`, `add_arguments(parser)` and `run(args) -> exit code`. It may have
`replace_old_options(argv)`, which replaces options that the help no longer shows. An error is printed to stderr as one
sentence, or with `--debug` as a traceback. The exit code is 0 only if the work was done.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from billframes._shared.messages import DEBUG_VARIABLE, ArgumentParser, say, say_error, wrapped
from billframes._shared.names import closest
from billframes._version import __version__
from billframes.errors import BillframesError
from billframes.wings import commands

_OWN = {
    "doctor": ("billframes.commands.doctor", "Show what is installed and configured, and whether the server answers."),
    "export": ("billframes.commands.export", "Write records to a CSV, Excel or Parquet file."),
    "login": ("billframes.commands.login", "Save an address and a token."),
    "report": ("billframes.commands.report", "Write a month's billing report."),
    "review": ("billframes.commands.review", "Write the prebill review: one sheet per invoice, and a workbook."),
    "sandbox": ("billframes.sandbox.command", "Run the bundled sandbox server."),
}
COMMANDS = dict(sorted((_OWN | commands()).items()))

# Most objects of a command stay until its end, so looking for garbage as often as Python does takes 7 % of the time
# of a report.
_ALLOCATIONS_BETWEEN_COLLECTIONS = 100_000
BROKEN = 1
FAILED = 2
INTERRUPTED = 130


@contextmanager
def _few_collections() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_few_collections()
def main(argv: Sequence[str] | None = None) -> int:
    """
    Run a command with the arguments after "billframes", by default those of the process, and return the exit code.

    It is 0 if the work was done; 2 if it could not be done; 1 after a bug in billframes, if a file can't be read or
    written, or if the keyring refuses a token; 130 after Ctrl-C. `ledes` returns 1 if it writes no file, or if
    `--check` finds something to reject. `report` returns 1 if nothing is dated in the month or a report of the books
    can't be read, `tie-out` if one can't be read or compared, and `guidelines` if there are findings that `--fail-on`
    names. `watch` returns 3 if something is new, and 1 after any error.
    """
    _open_closed_streams()
    args = _parse(sys.argv[1:] if argv is None else argv)
    before = os.environ.get(DEBUG_VARIABLE)
    if args.debug:
        # Kernels that the command starts then show whole tracebacks, too.
        os.environ[DEBUG_VARIABLE] = "1"
    try:
        return int(args.run(args))
    except BillframesError as error:
        say_error(error, args)
        return FAILED
    except KeyboardInterrupt as error:
        for note in getattr(error, "__notes__", ()):
            say(f"billframes: {note}", error=True)
        return INTERRUPTED
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        say_error(error, args, f"A file can't be read or written: {error.strerror or error}{place}.")
        return BROKEN
    except Exception as error:  # noqa: BLE001 - a bug
        name = type(error).__name__
        say_error(error, args, f"A bug in billframes: {name}: {error}. Add --debug to see where, and report it.")
        return BROKEN
    finally:
        if before is None:
            os.environ.pop(DEBUG_VARIABLE, None)
        else:
            os.environ[DEBUG_VARIABLE] = before


def _open_closed_streams() -> None:
    """Open the null device in place of a closed standard stream, without which no kernel starts."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It gets the lowest free number, which is the stream's.
            file = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - it stays open
            os.set_inheritable(file.fileno(), True)
            setattr(sys, name, file)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments. A period may also follow options, which argparse does not support for optional words."""
    parser = _parser(argv)
    args, rest = parser.parse_known_args(_replace_old_options(argv))
    if len(rest) == 1 and not rest[0].startswith("-") and getattr(args, "period", "") is None:
        args.period, rest = rest[0], []
    if rest:
        options = re.findall(r"--[\w-]+", args.parser.format_help())
        hint = closest(rest[0], options) if rest[0].startswith("--") else ""
        args.parser.error(f"unrecognized arguments: {' '.join(rest)}.{hint}")
    return args


def _replace_old_options(argv: Sequence[str]) -> list[str]:
    """Replace options that a command accepts, but whose help no longer shows them."""
    command = _command(argv)
    replace = getattr(importlib.import_module(COMMANDS[command][0]), "replace_old_options", list) if command else list
    return list(replace(argv))


def _command(argv: Sequence[str]) -> str | None:
    return next((word for word in argv if not word.startswith("-")), None)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Breaks alternatives in the usage that argparse would keep on one line."""

    def _format_usage(self, *given: Any) -> str:
        lines = super()._format_usage(*given).splitlines()
        indents = [" " * (len(line) - len(line.lstrip())) for line in lines]
        return "\n".join(wrapped(line.strip(), indent) for line, indent in zip(lines, indents, strict=True)) + "\n"


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser. Only the command that is run is imported and declares its arguments."""
    requested = _command(argv)
    parser = ArgumentParser(prog="billframes", description="A law firm's billing API as frames, analyses and reports.")
    parser.add_argument("--version", action="version", version=f"billframes {__version__}")
    # `--debug` is shown with each command's options, and may also precede the command.
    parser.add_argument("--debug", action="store_true", help=argparse.SUPPRESS)
    if requested is not None and requested not in COMMANDS:
        hint = closest(requested, COMMANDS)
        parser.error(f"there is no command {requested!r}; it takes {', '.join(COMMANDS)}.{hint}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (module, summary) in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=summary, description=wrapped(summary), formatter_class=_Help)
        if name != requested:
            continue
        command = importlib.import_module(module)
        subparser.epilog = "examples:\n" + "".join(f"  {each}\n" for each in getattr(command, "EXAMPLES", ()))
        subparser.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show the traceback of an error"
        )
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run, parser=subparser)
    return parser
