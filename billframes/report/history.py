"""Receivables, work in progress and lock-up as they stood: in the mirror's version of an earlier month's end."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from billframes.book import Book
from billframes.book_slice import SlicedBook
from billframes.config.firm import FirmSettings
from billframes.mirror import Mirror
from billframes.periods import local_day, month_end

if TYPE_CHECKING:
    from billframes.report.month import Month

__all__ = ["Balances", "balances_then"]

# Days after a month's end in which a refresh still stands for it; payments of these days are taken off.
_LATE = 7


@dataclass(frozen=True)
class Balances:
    """
    What was open on the last day of a month.

    Parameters
    ----------
    day : date
        The day of the refresh, in the firm's time zone.
    values : dict of str to float
        The headline figures by name.
    """

    day: dt.date
    values: dict[str, float]


def balances_then(month: Month, back: int) -> Balances | None:
    """
    Return the figures of the end of an earlier month; None without a mirror that has them.

    The version is one whose tag has the month in its name ("2026-09 close"), else the last refresh of the month's last
    day, else the first of the week after it. An older one would lack the month's last invoices.

    Parameters
    ----------
    month : Month
    back : int
        How many months earlier.
    """
    mirror = month.whole.client
    if not isinstance(mirror, Mirror):
        return None
    first = month.earlier(back)
    found = _version(mirror, month_end(first), month.settings)
    if found is None:
        return None
    number, day = found
    with mirror.as_of(number) as then:
        book = Book(month.whole.period, settings=month.whole.settings, client=then)
        part = SlicedBook(book, month.scope.key).slice(month.scope.id) if month.scope else book
        return Balances(day, month.open_figures(part, month_end(first)))


def _version(mirror: Mirror, last: dt.date, settings: FirmSettings) -> tuple[int, dt.date] | None:
    history = mirror.history()
    rows = [
        (int(row["version"]), local_day(row["time"].to_pydatetime(), settings.time_zone), str(row["tags"]))
        for row in history.to_dict("records")
    ]
    tagged = [(number, day) for number, day, tags in rows if f"{last:%Y-%m}" in tags and day >= last]
    on_the_day = [(number, day) for number, day, _ in rows if day == last]
    after = [(number, day) for number, day, _ in rows if last < day <= last + dt.timedelta(days=_LATE)]
    found = [*tagged[-1:], *on_the_day[-1:], *after[:1]]
    return found[0] if found else None
