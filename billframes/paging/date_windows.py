"""Date windows: a list with dates, read without ever using an offset, so that nothing can drift.

What a window proves. An answer at offset 0, sorted by date, that is full holds, as of its instant, every row of its
window dated before its last row's date; one that is short holds them all. A record that stays as it is keeps its date,
so it is in whichever answer proves its day. When the days proved cover the whole line of days, every such record is
here, whatever was written meanwhile: the answers need not agree on an instant.

So a window is asked at offset 0; after a full answer it goes on from the last date, that day included. Two answers,
one from each end of the list, tell where data are; what is between them is cut into a window a connection, and a
connection that runs out of work takes half of the largest window left. A day that overflows a page is split by
`billed` and by billing type, and what still overflows is read by key cover. Where days are dense the whole list is,
as soon as that shows: many entries made at one instant may leave its tiles apart, then windows follow.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from billframes.errors import PagingError
from billframes.paging.key_ranges import Cover, read_cover
from billframes.paging.list_schema import Query, asked, changed
from billframes.paging.page import Answer, Ask
from billframes.paging.record_store import Held
from billframes.paging.scheduler import Session

__all__ = ["read_windows", "within"]

DAY = dt.timedelta(days=1)
# Days are dense above this share of a page a day: a page would complete only a few of them.
DENSE = 0.2
# A window worth halving holds this many pages.
WORTH_HALVING = 2.0
TRIES = 3


@dataclass(eq=False, slots=True)
class _Window:
    """Days still to be read, both included; `asked` while an answer is awaited."""

    low: dt.date
    high: dt.date
    asked: bool = False

    @property
    def days(self) -> int:
        return (self.high - self.low).days + 1


def within(query: Query, low: dt.date | None, high: dt.date | None) -> tuple[Query, Query]:
    """Return a query narrowed to days, and the parameters that narrow it; None leaves an end as it is."""
    ends = (("startDate", low), ("endDate", high))
    narrowed = tuple((name, day.isoformat()) for name, day in ends if day is not None)
    return changed(query, **dict(narrowed)), narrowed


def read_windows(session: Session, query: Query, held: Held, first: Answer | None = None) -> int | None:
    """
    Read a list by date windows.

    Parameters
    ----------
    session : Session
    query : query
        Without limit and offset.
    held : Held
        Where the records go. An answer that is short at offset 0 ends the reading at once.
    first : Answer, optional
        One that came to this query at offset 0, whatever its sort.

    Returns
    -------
    int or None
        How many records the list has by the server's own count, where every answer was about all of it and said the
        same.

    Raises
    ------
    PagingError
        A day can't be proved whole.
    """
    sort, day = str(session.listing.date_sort), session.listing.date_of
    if first is not None and asked(query, "sort") == sort:
        low, high, rows = _expected(query, first, day)
        cover = _dense_cover(session, query, held, rows, low, high)
        if cover is not None and cover.read(expected=first.total):
            return cover.count
        answers = [first, session.ask(_page(session, query, f"-{sort}"))]
    else:
        cover = None
        answers = session.ask_all([_page(session, query, sort), _page(session, query, f"-{sort}")])
    first, last = answers
    for answer in answers:
        held.take(answer)
    if first.whole or last.whole:
        return None
    begin, low, high, end = (day(first.records[0]), day(first.records[-1]), day(last.records[-1]), day(last.records[0]))
    # Every day before `low` and every day after `high` is proved.
    if high < low:
        return first.total if first.total == last.total else None
    total = first.total or 0
    if cover is None:
        cover = _dense_cover(session, query, held, total, begin, end)
        if cover is not None and cover.read(expected=total):
            return cover.count
    rest = max(total - len(first.records) - len(last.records), 1)
    _Windows(session, changed(query, sort=sort), held, low, high, rest).read()
    return None


def _expected(query: Query, first: Answer, day: Callable[[Any], dt.date]) -> tuple[dt.date, dt.date, int]:
    """Return days and how many rows they have: of the period asked for, else of the first answer."""
    start, end = asked(query, "startDate"), asked(query, "endDate")
    if start and end:
        return dt.date.fromisoformat(start), dt.date.fromisoformat(end), first.total or 0
    return day(first.records[0]), day(first.records[-1]), len(first.records)


def _dense_cover(session: Session, query: Query, held: Held, rows: int, low: dt.date, high: dt.date) -> Cover | None:
    """Return what reads days that are dense; None where they are not, or nothing can."""
    sort = session.listing.dense_cover
    dense = rows > DENSE * session.page_size * ((high - low).days + 1)
    return Cover(session, query, sort, held) if sort and dense else None


def _page(session: Session, query: Query, sort: str) -> Ask:
    return Ask(changed(query, sort=sort), session.page_size)


class _Windows:
    """The days between two answers, and who reads which."""

    def __init__(self, session: Session, query: Query, held: Held, low: dt.date, high: dt.date, rows: int) -> None:
        self._session = session
        self._query = query
        self._held = held
        self._density = rows / ((high - low).days + 1)
        self._overfull: list[dt.date] = []
        pages = rows / session.page_size
        self._windows = _cut(low, high, max(1, min(session.concurrency, round(pages / WORTH_HALVING))))

    def read(self) -> None:
        """Read every day."""
        self._session.run((), self._take, self._more)
        for day in self._overfull:
            _read_day(self._session, self._query, day, self._held)

    def _more(self) -> Ask | None:
        """Return what an idle connection is to ask: a window nobody reads, or half of the largest."""
        window = next((each for each in self._windows if not each.asked), None) or self._half()
        if window is None:
            return None
        window.asked = True
        query, narrowed = within(self._query, window.low, window.high)
        return Ask(query, self._session.page_size, narrowed=narrowed, tag=window)

    def _half(self) -> _Window | None:
        """Take the later half of the largest window left; None where none is worth it."""
        largest = max(self._windows, key=lambda each: each.days, default=None)
        # The answer under way will prove about a page of it.
        worth = (WORTH_HALVING + 1) * self._session.page_size
        if largest is None or largest.days < 3 or largest.days * self._density < worth:
            return None
        first_page = min(largest.days - 2, int(self._session.page_size / self._density))
        middle = largest.low + DAY * ((first_page + largest.days) // 2)
        half = _Window(middle, largest.high)
        largest.high = middle - DAY
        self._windows.append(half)
        return half

    def _take(self, ask: Ask, answer: Answer) -> tuple[Ask, ...]:
        window: _Window = ask.tag
        self._held.take(answer)
        window.asked = False
        if answer.whole or self._proved(window, self._session.listing.date_of(answer.records[-1])):
            self._windows.remove(window)
        return ()

    def _proved(self, window: _Window, last: dt.date) -> bool:
        """Go on after a full answer that ended on a day; tell whether the window is done."""
        if last == window.low:
            self._overfull.append(last)
            if last == dt.date.max:
                return True
            last += DAY
        window.low = last
        return window.low > window.high


def _cut(low: dt.date, high: dt.date, parts: int) -> list[_Window]:
    """Cut days into windows of about equal length."""
    days = (high - low).days + 1
    parts = min(parts, days)
    cuts = [low + DAY * (days * part // parts) for part in range(parts)]
    return [_Window(one, other - DAY) for one, other in pairwise(cuts)] + [_Window(cuts[-1], high)]


def _read_day(session: Session, query: Query, day: dt.date, held: Held) -> None:
    """Read a day of more than a page: by `billed` and billing type, then by key cover."""
    of_day, narrowed = within(query, day, day)
    parts = _parts(session, of_day)
    if len(parts) == 1:
        read_cover(session, of_day, session.listing.covers, held, narrowed=narrowed)
        return
    for _ in range(TRIES):
        asks = [Ask(changed(of_day, **dict(part)), session.page_size, narrowed=(*narrowed, *part)) for part in parts]
        answers = session.ask_all([*asks, Ask(of_day, 1, narrowed=narrowed)])
        # Parts that don't add up: the server's `billed` or `billingType` leaves rows out, or the day changed.
        if sum(each.total or 0 for each in answers[:-1]) == answers[-1].total:
            break
    else:
        raise PagingError(
            f"{session.listing.name}: the parts of {day.isoformat()} don't add up to its total, {TRIES} times in a row,"
            " so the list can't be shown to be complete. Try again when fewer people are writing."
        )
    for ask, answer in zip(asks, answers, strict=False):
        held.take(answer)
        if not answer.whole:
            read_cover(session, ask.query, session.listing.covers, held, narrowed=ask.narrowed, first=answer)


def _parts(session: Session, query: Query) -> list[Query]:
    """Return the filters that split a day, each combination once; one empty one where nothing splits it."""
    choices = []
    for each in session.listing.resource.filters:
        values = {"billed": ("true", "false"), "billingType": each.values}.get(each.name)
        if values and asked(query, each.name) is None:
            choices.append([(each.name, value) for value in values])
    return [tuple(combination) for combination in product(*choices)]
