"""Print text to a terminal without control characters, and shorten very long messages.

Names, narratives and error messages come from a server. A terminal would run control characters in them as commands,
for example to clear the screen, overwrite lines, or change the window title or the clipboard.
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback

__all__ = ["plain", "say", "say_error", "shortened"]

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
