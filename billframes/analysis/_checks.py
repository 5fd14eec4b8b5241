"""Arguments that several analyses share, checked before anything is computed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence

import narwhals.stable.v2 as nw

from billframes._names import closest
from billframes.analysis._frames import Frame
from billframes.analysis._keys import UNKNOWN
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period, resolve

__all__ = ["MATTER_TYPES", "bucket_names", "choice", "matter_types_of", "read_date", "stamp", "within"]

MATTER_TYPES = ("hourly", "fixedFee", "contingency", "probono", "internal", UNKNOWN)


def choice(value: object, name: str, accepted: Sequence[str]) -> None:
    """Refuse a value that is not among those accepted."""
    if value not in accepted:
        raise ParameterError(
            f"{name}={value!r} is not known.{closest(value, accepted)} It takes {', '.join(map(repr, accepted))}."
        )


def matter_types_of(matter_types: Collection[str] | None) -> frozenset[str] | None:
    """Check the types of matter that were asked for; None if none were named."""
    if matter_types is None:
        return None
    names = [matter_types] if isinstance(matter_types, str) else list(matter_types)
    for name in names or [""]:
        choice(name, "matter_types", MATTER_TYPES)
    # Naming every type means everything: also what has none, such as credit notes, which are on no matter.
    return frozenset(MATTER_TYPES if {*names, UNKNOWN} == set(MATTER_TYPES) else names)


def read_date(value: DateLike, name: str) -> dt.date:
    """Read a date argument that may not be left open."""
    day = resolve(None, value, names=("start", name)).end
    if day is None:
        raise ParameterError(f"{name}={value!r} is not a date; it takes a date such as '2026-10-31'.")
    return day


def stamp(day: dt.date) -> dt.datetime:
    """Return midnight of a day, which is what date columns hold inside."""
    return dt.datetime(day.year, day.month, day.day)  # noqa: DTZ001


def within(frame: Frame, column: str, period: Period) -> Frame:
    """Keep rows whose date lies in the period, both ends inclusive; None is open."""
    if period.start is not None:
        frame = frame.filter(nw.col(column) >= stamp(period.start))
    if period.end is not None:
        frame = frame.filter(nw.col(column) <= stamp(period.end))
    return frame


def bucket_names(buckets: Sequence[int], first: int) -> list[str]:
    """
    Name the stretches of days between bounds, from day `first` on.

    Examples
    --------
    >>> bucket_names((30, 60, 90), 0)
    ['0-30', '31-60', '61-90', '91+']
    """
    bounds = list(buckets)
    whole = all(isinstance(bound, int) and not isinstance(bound, bool) and bound > 0 for bound in bounds)
    if not bounds or not whole or bounds != sorted(set(bounds)):
        raise ParameterError(f"buckets={buckets!r} must be whole numbers of days that rise from above 0.")
    lows = [first, *(bound + 1 for bound in bounds)]
    return [*(f"{low}-{high}" for low, high in zip(lows, bounds, strict=False)), f"{lows[-1]}+"]
