"""The version of a mirror that has the balances of a day, such as the last one of a month."""

from __future__ import annotations

import datetime as dt

from billframes.mirror.mirror import Mirror
from billframes.periods import local_day

__all__ = ["version_of_day"]

# A refresh up to this many days after a day is used for it. Payments of these days are already deducted.
_DAYS_AFTER = 7


def version_of_day(mirror: Mirror, last: dt.date, time_zone: str) -> tuple[int, dt.date] | None:
    """
    Return the number and the day of the version with the balances of a day; None if there is none.

    It is one whose tag contains the day's month ("2026-09 close"), else the last refresh on the day, else the first one
    in the week after it. An older version would lack the last invoices.
    """
    rows = [
        (int(row["version"]), local_day(row["time"].to_pydatetime(), time_zone), str(row["tags"]))
        for row in mirror.history().to_dict("records")
    ]
    tagged = [(number, day) for number, day, tags in rows if f"{last:%Y-%m}" in tags and day >= last]
    on_the_day = [(number, day) for number, day, _ in rows if day == last]
    after = [(number, day) for number, day, _ in rows if last < day <= last + dt.timedelta(days=_DAYS_AFTER)]
    return next(iter([*tagged[-1:], *on_the_day[-1:], *after[:1]]), None)
