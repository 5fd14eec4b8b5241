"""Show messages, warnings and tracebacks: without control characters, not too long, and at the user's own lines.

Names, narratives and error messages are received from a server. A terminal would run control characters in them as
commands, for example to clear the screen, overwrite lines, or change the window title or the clipboard.

Warnings and tracebacks point at the user's own lines, however deep in billframes they arise. IPython calls an
exception's method `_render_traceback_` for its traceback. Lines of billframes, and of the libraries that it calls, are
omitted, because they don't help someone who gave a wrong period. `%xmode Verbose` shows all lines, and so does
`--debug` for the notebooks that commands run.
"""

from __future__ import annotations

import argparse
import codecs
import errno
import os
import re
import shutil
import sys
import sysconfig
import textwrap
import traceback
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

# ANSI sequences: colours and cursor moves, then titles, links and the clipboard. Each can begin in two ways.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|"
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]*(?:\x07|\x1b\\|\x9c)"
)
# All other control characters except tab and line feed; characters that change the writing direction; lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST = 4_000
_LONGEST_QUOTE = 200
_QUOTED = re.compile(rf"'[^']{{{_LONGEST_QUOTE},}}'|\"[^\"]{{{_LONGEST_QUOTE},}}\"")
_ENDS = 60
# Columns of a terminal.
_NARROWEST = 60


def clean_text(text: str) -> str:
    """
    Remove ANSI sequences, control characters, and characters that change the writing direction.

    Tabs and line feeds are kept. Other line breaks become line feeds.
    """
    lines = re.sub("\r\n|[\x0b\x0c\x85\u2028\u2029]|\r(?!$)", "\n", _SEQUENCES.sub("", text))
    return _CONTROLS.sub("", lines)


def shorten(text: str) -> str:
    """Cut a text of more than 4,000 characters inside its long quotations, or else in the middle."""
    if len(text) <= LONGEST:
        return text
    text = _QUOTED.sub(_cut_quote, text)
    if len(text) <= LONGEST:
        return text
    left_out = f" … ({len(text):,} characters) … "
    end = (LONGEST - len(left_out)) // 2
    return text[: LONGEST - len(left_out) - end] + left_out + text[-end:]


def cut(text: str, most: int) -> str:
    """Cut a text to at most so many characters, of which an ellipsis is the last."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _cut_quote(found: re.Match[str]) -> str:
    mark, quoted = found[0][0], found[0][1:-1]
    return f"{mark}{quoted[:_ENDS]}… ({len(quoted):,} characters){mark}"


def spell(text: str, stream: TextIO | None) -> str:
    """Spell characters that a stream's encoding lacks with letters of ASCII, such as "-" for "−" and "EUR" for "€"."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, _SPELLED).decode(encoding)


_SPELLED = "billframes.ascii"


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    from anyascii import anyascii

    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - `spell` only encodes
    return anyascii(error.object[error.start : error.end]) or "?", error.end


codecs.register_error(_SPELLED, _in_ascii)


def say(text: object, *, error: bool = False) -> None:
    """
    Print a line on stdout, or on stderr. All commands print through this function.

    If nobody reads the output any more, as after `| head -1`, it is discarded, and the command continues.
    """
    stream = sys.stderr if error else sys.stdout
    try:
        print(spell(clean_text(str(text)), stream), file=stream, flush=True)
    except OSError as failure:
        if failure.errno not in _CLOSED:
            raise
        # What the stream still holds would fail again when Python flushes it at its end.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())


# The second is the error on Windows.
_CLOSED = {errno.EPIPE, *([errno.EINVAL] if os.name == "nt" else [])}


class ArgumentParser(argparse.ArgumentParser):
    """Prints help and errors as commands print."""

    def _print_message(self, message: str, file: Any = None) -> None:
        say(message.rstrip("\n"), error=file is not sys.stdout)


def wrapped(text: str, first: str = "", more: str | None = None) -> str:
    """Break a text into lines of the terminal's width: `first` is before the first line, `more` before others."""
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    more = " " * len(first) if more is None else more
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=more, break_long_words=False, break_on_hyphens=False
    )


# The period is the argument `start` of loaders, and has these names on the command line.
_PERIODS = {"period": "PERIOD", "month": "MONTH", "check": "--check"}


def say_error(error: Exception, args: argparse.Namespace, sentence: str = "") -> None:
    """
    Print an error of a command on stderr: one sentence, or the traceback if `--debug` is given.

    The sentence is the error's message if none is given.
    """
    sentence = with_notes(error, sentence or _with_options(error, args))
    say("".join(traceback.format_exception(error)) if args.debug else f"billframes: {sentence}", error=True)


def with_notes(error: BaseException, sentence: str = "") -> str:
    """Return an error's message, or another sentence, with the notes that the error has."""
    return " ".join([sentence or str(error), *getattr(error, "__notes__", ())])


def _with_options(error: Exception, args: argparse.Namespace) -> str:
    """Return the message; if it begins with a Python argument, replace that with the command's option."""
    message = str(error)
    name, _, rest = message.partition("=")
    periods = [word for option, word in _PERIODS.items() if getattr(args, option, None)]
    if name == "start" and periods:
        return f"{periods[0]} {rest}"
    return f"--{name.replace('_', '-')} {rest}" if rest and name in vars(args) else message


# `--debug` sets it for the kernels that a command starts.
DEBUG_VARIABLE = "BILLFRAMES_DEBUG"
_PACKAGE = str(Path(__file__).parents[1])


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning, shown at the user's line that called billframes."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(spell(message, sys.stderr), category, stacklevel=level)


def ipython_traceback(error: BaseException) -> list[str]:
    """Return the lines that IPython prints for an error: the user's own frames, and the message."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None:
        return traceback.format_exception(error)
    formatter = shell.InteractiveTB
    if formatter.mode == "Verbose" or os.environ.get(DEBUG_VARIABLE):
        lines: list[str] = formatter.structured_traceback(type(error), error, error.__traceback__)
        return lines
    # The copy has no cause and no context: their frames are those of libraries.
    copied = type(error).__new__(type(error), *error.args)
    copied.__dict__.update(error.__dict__)
    lines = formatter.structured_traceback(type(error), copied, _without_libraries(error.__traceback__))
    return lines


def _without_libraries(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback with the user's frames only."""
    own = None
    for each in reversed(list(_user_frames(trace))):
        own = TracebackType(own, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return own


def _user_frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the frames before the first one of billframes, and later those that are not in a library."""
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
