"""Show messages: without control characters, not too long, and beside the user's own lines.

Names, narratives and error messages come from a server. A terminal would run control characters in them as commands,
for example to clear the screen, overwrite lines, or change the window title or the clipboard.

Warnings and tracebacks point at the user's own lines, however deep in billframes they arise. IPython asks an exception
for its own traceback (`_render_traceback_`). Lines of billframes, and of the libraries that it calls, are left out:
they don't help someone who gave a wrong period. `%xmode Verbose` shows all of them, and so does `--debug` for the
notebooks that commands run.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType

__all__ = ["DEBUG_VARIABLE", "in_ipython", "plain", "say", "say_error", "shortened", "warn"]

# ANSI sequences: colours and cursor moves, then titles, links and the clipboard. Each can begin in two ways.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
)
# All other control characters except tab and line feed; marks that change the writing direction; lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST = 4_000
_LONGEST_QUOTE = 200
_QUOTED = re.compile(rf"'[^']{{{_LONGEST_QUOTE},}}'|\"[^\"]{{{_LONGEST_QUOTE},}}\"")
_ENDS = 60


def plain(text: str) -> str:
    r"""
    Return a text without ANSI sequences, control characters and marks that change the writing direction.

    Tabs and line feeds are kept. Other line breaks become line feeds.

    Examples
    --------
    >>> plain("Acme\x1b[2J\x1b]0;pwned\x07 Inc\x08\x85"), plain("one\r\ntwo"), plain("\u202egnp.exe")
    ('Acme Inc\n', 'one\ntwo', 'gnp.exe')
    """
    lines = re.sub("\r\n|[\x0b\x0c\x85\u2028\u2029]|\r(?!$)", "\n", _SEQUENCES.sub("", text))
    return _CONTROLS.sub("", lines)


def shortened(text: str) -> str:
    """
    Return at most 4,000 characters: a longer text is cut inside long quotations, else in the middle.

    Examples
    --------
    >>> shortened("month='" + "9" * 5000 + "' is not a month.")
    "month='999999999999999999999999999999999999999999999999999999999999… (5,000 characters)' is not a month."
    >>> len(shortened("x" * 1_000_000))
    4000
    """
    if len(text) <= LONGEST:
        return text
    text = _QUOTED.sub(_cut_quote, text)
    if len(text) <= LONGEST:
        return text
    left_out = f" … ({len(text):,} characters) … "
    end = (LONGEST - len(left_out)) // 2
    return text[: LONGEST - len(left_out) - end] + left_out + text[-end:]


def _cut_quote(found: re.Match[str]) -> str:
    mark, quoted = found[0][0], found[0][1:-1]
    return f"{mark}{quoted[:_ENDS]}… ({len(quoted):,} characters){mark}"


def say(text: object, *, error: bool = False) -> None:
    """
    Print a line on stdout, or on stderr.

    All commands print through this function, except the sandbox's server.
    """
    stream = sys.stderr if error else sys.stdout
    words = plain(str(text))
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(words.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


# What commands call the period that loaders take as `start`.
_PERIODS = {"period": "PERIOD", "month": "MONTH", "check": "--check"}


def say_error(error: Exception, args: argparse.Namespace) -> None:
    """Print an error of a command on stderr: one sentence, or the traceback if `--debug` is given."""
    text = "".join(traceback.format_exception(error)) if args.debug else f"billframes: {_with_options(error, args)}"
    say(text, error=True)


def _with_options(error: Exception, args: argparse.Namespace) -> str:
    """Return the message with the option that was typed in place of the Python argument that it begins with."""
    message = str(error)
    name, _, rest = message.partition("=")
    typed = [word for option, word in _PERIODS.items() if getattr(args, option, None)]
    if name == "start" and typed:
        return f"{typed[0]} {rest}"
    return f"--{name.replace('_', '-')} {rest}" if rest and name in vars(args) else message


# Set by `--debug` for kernels that a command starts.
DEBUG_VARIABLE = "BILLFRAMES_DEBUG"
_PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning, shown at the first line outside billframes that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def in_ipython(error: BaseException) -> list[str]:
    """Return the lines that IPython prints for an error: the user's own frames, and the message."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return traceback.format_exception(error)
    form = shell.InteractiveTB
    if form.mode == "Verbose" or os.environ.get(DEBUG_VARIABLE):
        lines: list[str] = form.structured_traceback(type(error), error, error.__traceback__)
        return lines
    # A copy has no cause and no context, whose frames are the libraries'.
    alone = type(error).__new__(type(error), *error.args)
    alone.__dict__.update(error.__dict__)
    lines = form.structured_traceback(type(error), alone, _own_frames(error.__traceback__))
    return lines


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    own = None
    for each in reversed(list(_shown(trace))):
        own = TracebackType(own, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return own


def _shown(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Return what comes before the first frame of billframes, and after it what is not a library's."""
    entered = False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        entered = entered or file.startswith(_PACKAGE)
        if not (entered and file.startswith(_libraries())):
            yield trace
        trace = trace.tb_next


@cache
def _libraries() -> tuple[str, ...]:
    return (_PACKAGE, *(sysconfig.get_path(name) for name in ("stdlib", "platlib", "purelib")))
