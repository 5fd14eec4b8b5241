"""What an answer must be before any of it is used.

A proof is only as good as the answers it is made of: the part of the list that was asked for, no more rows than
granted, each with its id and none twice, every row within the window that was asked for, in the order asked for, and
as many rows as its own `total` says. A server that ignores a parameter it does not know answers with everything: an
error, not data. An answer that breaks this is asked for once more, then it is the error.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from billframes.errors import BillframesError, DecodeError, PagingError
from billframes.paging.list_schema import Listing, Query, asked
from billframes.schema.decode import Page, parse_instant

__all__ = ["Answer", "Ask", "check"]


@dataclass(frozen=True, slots=True)
class Ask:
    """
    A part of a list to ask for.

    `query` has everything but limit and offset; `narrowed` those parameters of it that the reader chose itself, which
    every row is held against; `limit` None sends neither limit nor offset; `tag` is the asker's own.
    """

    query: Query
    limit: int | None = None
    offset: int = 0
    narrowed: Query = ()
    tag: Any = None

    @property
    def sent(self) -> Query:
        """The query as it is sent."""
        if self.limit is None:
            return self.query
        return (*self.query, ("limit", str(self.limit)), ("offset", str(self.offset)))


@dataclass(slots=True)
class Answer:
    """
    What came: the records, how many match in all, the page size granted, and the server's time.

    `total` and `granted` are None where the server does not page the list; `block` has the records packed, once the
    answer was found fit for use.
    """

    page: Page[Any]
    listing: Listing
    date: dt.datetime | None = None
    offset: int = 0
    block: Any = None
    _keys: dict[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def records(self) -> list[Any]:
        """The records, in the server's order."""
        return self.page.data or []

    @property
    def total(self) -> int | None:
        """How many match in all."""
        return self.page.pagination.total if self.page.pagination else None

    @property
    def granted(self) -> int | None:
        """Rows that the server gives at once."""
        return self.page.pagination.limit if self.page.pagination else None

    def keys(self, sort: str) -> Sequence[Any]:
        """Read the records' keys under a sort, once."""
        if sort not in self._keys:
            self._keys[sort] = self.listing.keys(sort, self.records)
        return self._keys[sort]

    @property
    def short(self) -> bool:
        """Whether the list ends in this answer: fewer rows than granted."""
        return self.granted is not None and len(self.records) < self.granted

    @property
    def whole(self) -> bool:
        """Whether this is the whole list as it was at one instant."""
        return self.short and self.offset == 0


def check(ask: Ask, answer: Answer) -> BillframesError | None:
    """Return what is wrong with an answer; None for nothing."""
    return next((error for rule in _RULES for error in rule(ask, answer, answer.listing)), None)


def _place(ask: Ask, answer: Answer, listing: Listing) -> Iterator[BillframesError]:
    """Check that it is the part that was asked for."""
    where = answer.page.pagination
    if where is None:
        came = len(answer.records)
        if ask.limit is not None and came > ask.limit:
            yield DecodeError(f"{listing.name}: asked for {ask.limit} rows at most, the server sent {came}.")
        return
    if where.offset != ask.offset:
        yield DecodeError(
            f"{listing.name}: asked for the page at offset {ask.offset}, the server sent the one at {where.offset}."
        )
    if ask.limit is not None and not 1 <= where.limit <= ask.limit:
        yield DecodeError(f"{listing.name}: asked for {ask.limit} rows at most, the server granted {where.limit}.")


def _number(ask: Ask, answer: Answer, listing: Listing) -> Iterator[BillframesError]:
    """Check the number of rows against the answer's own limit and total."""
    where = answer.page.pagination
    if where is None:
        return
    came, expected = len(answer.records), max(0, min(where.limit, where.total - ask.offset))
    if came != expected:
        yield PagingError(
            f"{listing.name}: {came} rows came at offset {ask.offset} where {expected} should, of {where.total}"
            " in all by the server's own count, so the list can't be shown to be complete. Try again later."
        )


def _ids(_ask: Ask, answer: Answer, listing: Listing) -> Iterator[BillframesError]:
    ids = set(map(listing.id_of, answer.records))
    if len(ids) < len(answer.records):
        yield PagingError(f"{listing.name}: a record came twice in one answer, so the rows can't be trusted.")
    if "" in ids:
        yield DecodeError(f"{listing.name}: a record came without {listing.resource.id}.")


def _window(ask: Ask, answer: Answer, listing: Listing) -> Iterator[BillframesError]:
    """Check that every row fits what the reader narrowed the list to."""
    for name, text in ask.narrowed:
        fits = _FITS[name](text, listing)
        stray = next((record for record in answer.records if not fits(record)), None)
        if stray is not None:
            yield DecodeError(
                f"{listing.name}: record {listing.id_of(stray)} does not fit the filter {name}, so the server does not "
                "honour it and the rows can't be trusted."
            )


def _order(ask: Ask, answer: Answer, listing: Listing) -> Iterator[BillframesError]:
    """Check the order by the first key, where that is a date, a number or an instant."""
    records, first = answer.records, (asked(ask.query, "sort") or "").partition(",")[0]
    name = first.removeprefix("-")
    path = listing.resource.sort.get(name, "")
    if len(records) < 2 or (path.startswith("meta.") and not all(map(attrgetter("meta"), records))):
        return
    if not path or ("." in path and not path.startswith("meta.")):
        return
    keys = list(answer.keys(name))
    if not {*map(type, keys)} <= _COMPARABLE:
        return
    if first.startswith("-"):
        keys.reverse()
    if keys != sorted(keys):
        yield DecodeError(f"{listing.name}: the rows did not come in the order asked for, sort={first}.")


_COMPARABLE = {dt.date, int, float}
_Rule = Callable[[Ask, Answer, Listing], Iterator[BillframesError]]
_RULES: tuple[_Rule, ...] = (_place, _ids, _number, _window, _order)


def _since(text: str, listing: Listing) -> Callable[[Any], bool]:
    # Some servers show instants cut to whole seconds.
    mark = parse_instant(text) - dt.timedelta(seconds=1)

    def fits(record: Any) -> bool:
        modified = listing.modified(record)
        return modified is None or modified >= mark

    return fits


def _from(text: str, listing: Listing) -> Callable[[Any], bool]:
    day = dt.date.fromisoformat(text)
    return lambda record: listing.date_of(record) >= day


def _to(text: str, listing: Listing) -> Callable[[Any], bool]:
    day = dt.date.fromisoformat(text)
    return lambda record: listing.date_of(record) <= day


_FITS: dict[str, Callable[[str, Listing], Callable[[Any], bool]]] = {
    "modifiedSince": _since,
    "startDate": _from,
    "endDate": _to,
    "billed": lambda text, _listing: lambda record: record.billed == (text == "true"),
    "billingType": lambda text, _listing: lambda record: record.billing_type.casefold() == text.casefold(),
}
