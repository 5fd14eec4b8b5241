"""Text that leaves for a terminal: without what could move its cursor, and no longer than somebody reads.

Names, narratives and the reasons of a refusal come from a server. A terminal takes control characters in them for
commands: to clear the screen, to write over lines above, to change the window's title or the clipboard.
"""

from __future__ import annotations

import re
import sys

__all__ = ["plain", "say", "shortened"]

# Whole sequences of ANSI: colours and cursor moves, then titles, links and the clipboard; each begins in two ways.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
)
# All other control characters but tab and line feed; marks that turn the direction of what follows; lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LONGEST = 4_000
_LONGEST_QUOTE = 200
_QUOTED = re.compile(rf"'[^']{{{_LONGEST_QUOTE},}}'|\"[^\"]{{{_LONGEST_QUOTE},}}\"")
_ENDS = 60


def plain(text: str) -> str:
    r"""
    Return a text without ANSI sequences, control characters and marks that turn the writing direction.

    Tabs and line feeds stay; other line breaks become line feeds.

    Examples
    --------
    >>> plain("Acme\x1b[2J\x1b]0;pwned\x07 Inc\x08\x85"), plain("one\r\ntwo"), plain("\u202egnp.exe")
    ('Acme Inc\n', 'one\ntwo', 'gnp.exe')
    """
    lines = re.sub("\r\n|[\x0b\x0c\x85\u2028\u2029]|\r(?!$)", "\n", _SEQUENCES.sub("", text))
    return _CONTROLS.sub("", lines)


def shortened(text: str) -> str:
    """
    Return a text of at most 4,000 characters: a longer one is cut where it quotes, else in the middle.

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

    Every line that a command prints goes through here, except the sandbox's own.
    """
    stream = sys.stderr if error else sys.stdout
    words = plain(str(text))
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(words.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)
