"""Check the arguments that several analyses share."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from numbers import Integral
from typing import cast

from billframes._shared.names import as_given
from billframes._shared.suggestions import check_choice
from billframes.analysis.declare.columns import MATTER_TYPES, UNKNOWN
from billframes.errors import ParameterError
from billframes.periods import DateLike, resolve


def read_whole_number(value: object, name: str, of: str) -> int:
    """Return a whole number above 0; refuse other values."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
        raise ParameterError(f"{as_given(name, value)} must be a whole number of {of} above 0.")
    return int(value)


def read_matter_types(matter_types: Collection[str] | None) -> frozenset[str] | None:
    """Return the matter types as a set, None if omitted; refuse unknown types."""
    if matter_types is None:
        return None
    single = isinstance(matter_types, str) or not isinstance(matter_types, Iterable)
    names = [cast("str", matter_types)] if single else list(matter_types)
    for name in names or [""]:
        check_choice(name, "matter_types", MATTER_TYPES)
    # All types together include rows without a matter, such as credit notes.
    return frozenset(MATTER_TYPES if {*names, UNKNOWN} == set(MATTER_TYPES) else names)


def read_date(value: DateLike, name: str) -> dt.date:
    """Return an argument as a date; refuse None and other values."""
    day = resolve(None, value, names=("start", name)).end
    if day is None:
        raise ParameterError(f"{as_given(name, value)} is not a date; it takes a date such as '2026-10-31'.")
    return day


def bucket_names(buckets: Sequence[int], first: int) -> list[str]:
    """
    Return the names of the buckets of days between bounds, from day `first` on.

    Examples
    --------
    >>> bucket_names((30, 60, 90), 0)
    ['0-30', '31-60', '61-90', '91+']
    """
    bounds = list(buckets) if isinstance(buckets, Iterable) else []
    whole = all(isinstance(bound, int) and not isinstance(bound, bool) and bound > 0 for bound in bounds)
    if not bounds or not whole or bounds != sorted(set(bounds)):
        raise ParameterError(f"buckets={buckets!r} must be whole numbers of days above 0, in rising order.")
    lows = [first, *(bound + 1 for bound in bounds)]
    return [*(f"{low}-{high}" for low, high in zip(lows, bounds, strict=False)), f"{lows[-1]}+"]


def bucket_limits(buckets: Sequence[int], basis: str) -> dict[str, float]:
    """Return the highest number of days of each bucket, by its name."""
    due = basis == "due_date"
    names = bucket_names(buckets, 1 if due else 0)
    return ({"current": 0.0} if due else {}) | dict(zip(names, [*buckets, float("inf")], strict=True))
