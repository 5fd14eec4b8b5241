"""Single JSON values: each reader returns one as the tables hold it, or raises ValueError with what is wrong."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from billframes.sandbox.parameters import read_date, read_uuid
from billframes.sandbox.problems import shown
from billframes.sandbox.schema import SCALE

__all__ = ["BOUNDS", "READERS", "read_scalar", "read_text"]

# The description gives no bounds; these keep every product and any invoice's sum exact in 64 bits.
BOUNDS = {
    "money": (-1_000_000_000, 1_000_000_000),
    "hours": (-100_000, 100_000),
    "rate": (0, 100_000),
}

_HUGE = 10**300
_TIME = re.compile(r"([0-9]{2}:[0-9]{2})(:[0-9]{2})?([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})?", re.IGNORECASE)


def read_text(value: Any, least: int = 0) -> str:
    """Return text of at least so many characters."""
    if not isinstance(value, str):
        raise ValueError(f"is {shown(value)}, and takes text")  # noqa: TRY004 - noted as a fault
    if len(value) < least:
        raise ValueError("is empty, and takes text")
    return value


def read_scalar(value: Any) -> str | float | bool:
    """Return a value that is neither an object nor an array."""
    if isinstance(value, (str, bool, float)):
        return value
    if isinstance(value, int) and abs(value) < _HUGE:
        return float(value)
    raise ValueError(f"is {shown(value)}, and takes text, a number, true or false")


def _text_reader(read: Callable[[str], str]) -> Callable[[Any], str]:
    return lambda value: read(read_text(value))


def _number_reader(kind: str) -> Callable[[Any], int]:
    """Return a reader of numbers in ten-thousandths; what is finer is rounded, halves away from zero."""
    least, most = BOUNDS[kind]

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"is {shown(value)}, and takes a number")  # noqa: TRY004 - noted as a fault
        if not least <= value <= most:
            raise ValueError(f"is {shown(value)}, and takes a number from {least} to {most}")
        return int((Decimal(repr(value)) * SCALE).to_integral_value(ROUND_HALF_UP))

    return read


def _read_time(text: str) -> str:
    """Return a time of day. An offset is accepted and has no say: the time is on the entry's own day."""
    found = _TIME.fullmatch(text)
    try:
        if found:
            fraction = (found[3] or "")[:7]
            return dt.time.fromisoformat(found[1] + (found[2] or ":00") + fraction).isoformat()
    except ValueError:
        pass
    raise ValueError(f"is {shown(text)}, and takes a time as HH:mm:ss")


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"is {shown(value)}, and takes true or false")  # noqa: TRY004 - noted as a fault
    return value


READERS: dict[str, Callable[[Any], Any]] = {
    "id": _text_reader(read_uuid),
    "date": _text_reader(read_date),
    "time": _text_reader(_read_time),
    "flag": _read_flag,
    **{kind: _number_reader(kind) for kind in BOUNDS},
}
