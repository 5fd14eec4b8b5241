"""The part of the page that answers questions: "Show realization by matter, only Granite Mutual, for twelve months".

The sums of `cube` stand in the page, compressed. The browser filters, adds up and divides: `answer.js` has the pure
functions, `question.js` the questions in the address, `page.js` what people see. The page needs no server.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

from billframes.errors import ParameterError
from billframes.report.ask.cube import BALANCES, Cube
from billframes.report.html import templates
from billframes.report.month import Month

USUAL_BYTES, MOST_BYTES = 2_000_000, 5_000_000
"""The size up to which the page has the section, and up to which it has it if it is asked for."""


def ask(month: Month, keys: Sequence[str] | None = None) -> tuple[str, str]:
    """
    Return the section, or nothing and why the page is without it.

    It answers by `keys`, some of `BALANCES`; by default by all, if the sums take less than `USUAL_BYTES`.
    """
    for each in keys or ():
        if each not in BALANCES:
            raise ParameterError(f"--answers {each} is not a key; it takes {', '.join(BALANCES)}.")
    cube = Cube.of(month, keys or BALANCES)
    sums = cube.packed()
    if len(sums) > (MOST_BYTES if keys else USUAL_BYTES):
        return "", _too_large(cube, len(sums))
    shell = templates().get_template("ask.html")
    return shell.render(sums=sums, script=script()), ""


def _too_large(cube: Cube, size: int) -> str:
    smaller = [
        f"{','.join(keys)} ({length / 1e6:.1f} MB)"
        for left_out in cube.keys
        if (keys := [each for each in cube.keys if each != left_out])
        and (length := len(Cube.of(cube.month, keys).packed())) <= MOST_BYTES
    ]
    fits = f" Give --answers with fewer keys: {' or '.join(smaller)}." if smaller else ""
    remedy = f" Add --answers {','.join(cube.keys)} to have it." if size <= MOST_BYTES else fits
    return f"The page can’t be asked: its sums take {size / 1e6:.1f} MB.{remedy}"


@functools.cache
def script() -> str:
    """Return the script of the section."""
    folder = Path(__file__).parent
    return "".join((folder / name).read_text(encoding="utf-8") for name in ("answer.js", "question.js", "page.js"))


def script_hash() -> str:
    """Return the hash by which the page's security policy permits the script, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()}'"
