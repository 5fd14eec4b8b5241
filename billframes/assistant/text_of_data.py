"""Text of the data, made harmless for a model: names and narratives are data, never instructions.

A client can be named like an instruction, and a narrative can hold a link that an application would open. So texts are
cut, lose what people don't see, and their links are broken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

LONGEST_CELL = 120
"""The most characters of a name or another text of the data."""
LONGEST_TEXT = 1_500
"""The most characters of a sentence of the library, which can quote the data."""

# Control, format, private and unassigned characters, and separators; variation selectors can carry hidden text, too.
_UNSEEN = frozenset("CZ")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_LINKS = re.compile(r"://|\]\(|\]\[|\]:|(?<![^\W_])www(?=\.)", re.IGNORECASE)
# Applications turn addresses into links, and the firm's settings name people by them.
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}")
# The library's sentences name its function; a tool has the same name.
_EXPLAIN = re.compile(r"\bbf\.explain\((?:'figures'|('[^']*'))?\)")
_MARKUP = str.maketrans({"<": "'", ">": "'", "`": "'"})


def safe_text(text: str, most: int = LONGEST_CELL) -> str:
    r"""
    Return a text without characters that people don't see, without markup, and without links that an app would open.

    Examples
    --------
    >>> safe_text("Acme\x1b[2J\u200b\nLtd"), safe_text("![x](https://evil.example/?q=1)")
    ('Acme [2J Ltd', '![x] (https: / /evil.example/?q=1)')
    >>> len(safe_text("x" * 500))
    120
    """
    # Long before it is cut: a text of megabytes is not worth the time.
    seen = unicodedata.normalize("NFC", _SELECTORS.sub("", text[: 10 * most]))
    plain = "".join(" " if unicodedata.category(each)[0] in _UNSEEN else each for each in seen)
    plain = _ADDRESS.sub("(e-mail address)", plain.translate(_MARKUP))
    plain = " ".join(_LINKS.sub(_broken, plain).split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def _tool(found: re.Match[str]) -> str:
    return f"explain({found[1]})" if found[1] else "explain"


def _broken(found: re.Match[str]) -> str:
    text = found[0]
    return f"{text} " if text[0] in "wW" else " ".join(text)


def harmless(value: Any) -> Any:
    """Return an answer in which all texts are harmless, also those of the library, which quote names of the data."""
    if isinstance(value, str):
        return safe_text(_EXPLAIN.sub(_tool, value), LONGEST_TEXT)
    if isinstance(value, Mapping):
        return {safe_text(str(key)): harmless(each) for key, each in value.items()}
    return [harmless(each) for each in value] if isinstance(value, list | tuple) else value
