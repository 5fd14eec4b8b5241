"""What an answer must be before any of it is used.

A proof is only as good as the answers it is made of: the part of the list that was asked for, no more rows than
granted, each with its id and none twice, every row within the window that was asked for, in the order asked for, and
as many rows as its own `total` says. A server that ignores a parameter it does not know answers with everything: an
error, not data. An answer that breaks this is asked for once more, then it is the error.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from billframes.api.decoding import Page, parse_instant
from billframes.api.paging.listing import Listing, Query, asked
from billframes.errors import BillframesError, DecodeError, PagingError

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


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What came: the records, how many match in all, the page size granted, and the server's time.

    `total` and `granted` are None where the server does not page the list.
    """

    records: list[Any]
    total: int | None
    granted: int | None
    date: dt.datetime | None
    offset: int = 0

    @property
    def short(self) -> bool:
        """Whether the list ends in this answer: fewer rows than granted."""
        return self.granted is not None and len(self.records) < self.granted

    @property
    def whole(self) -> bool:
        """Whether this is the whole list as it was at one instant."""
        return self.short and self.offset == 0


def check(ask: Ask, page: Page[Any], listing: Listing) -> BillframesError | None:
    """Return what is wrong with an answer; None for nothing."""
    records = page.data or []
    return next((error for rule in _RULES for error in rule(ask, page, records, listing)), None)


def _place(ask: Ask, page: Page[Any], records: list[Any], listing: Listing) -> Iterator[BillframesError]:
    """Check that it is the part that was asked for."""
    where = page.pagination
    if where is None:
        if ask.limit is not None and len(records) > ask.limit:
            yield DecodeError(f"{listing.name}: asked for {ask.limit} rows at most, the server sent {len(records)}.")
        return
    if where.offset != ask.offset:
        yield DecodeError(
            f"{listing.name}: asked for the page at offset {ask.offset}, the server sent the one at {where.offset}."
        )
    if ask.limit is not None and not 1 <= where.limit <= ask.limit:
        yield DecodeError(f"{listing.name}: asked for {ask.limit} rows at most, the server granted {where.limit}.")


def _number(ask: Ask, page: Page[Any], records: list[Any], listing: Listing) -> Iterator[BillframesError]:
    """Check the number of rows against the answer's own limit and total."""
    where = page.pagination
    if where is None:
        return
    expected = max(0, min(where.limit, where.total - ask.offset))
    if len(records) != expected:
        yield PagingError(
            f"{listing.name}: {len(records)} rows came at offset {ask.offset} where {expected} should, of {where.total}"
            " in all by the server's own count, so the list can't be shown to be complete. Try again later."
        )


def _ids(_ask: Ask, _page: Page[Any], records: list[Any], listing: Listing) -> Iterator[BillframesError]:
    ids = set(map(listing.id_of, records))
    if len(ids) < len(records):
        yield PagingError(f"{listing.name}: a record came twice in one answer, so the rows can't be trusted.")
    if "" in ids:
        yield DecodeError(f"{listing.name}: a record came without {listing.resource.id}.")


def _window(ask: Ask, _page: Page[Any], records: list[Any], listing: Listing) -> Iterator[BillframesError]:
    """Check that every row fits what the reader narrowed the list to."""
    for name, text in ask.narrowed:
        fits = _FITS[name](text, listing)
        stray = next((record for record in records if not fits(record)), None)
        if stray is not None:
            yield DecodeError(
                f"{listing.name}: record {listing.id_of(stray)} does not fit the filter {name}, so the server does not "
                "honour it and the rows can't be trusted."
            )


def _order(ask: Ask, _page: Page[Any], records: list[Any], listing: Listing) -> Iterator[BillframesError]:
    """Check the order by the first key, where that is a date, a number or an instant."""
    first = (asked(ask.query, "sort") or "").partition(",")[0]
    name = first.removeprefix("-")
    path = listing.resource.sort.get(name, "")
    if len(records) < 2 or (path.startswith("meta.") and any(record.meta is None for record in records)):
        return
    if "." in path and not path.startswith("meta."):
        return
    keys = listing.keys(name, records) if path else []
    if not all(isinstance(key, dt.date | int | float) for key in keys):
        return
    if first.startswith("-"):
        keys.reverse()
    if keys != sorted(keys):
        yield DecodeError(f"{listing.name}: the rows did not come in the order asked for, sort={first}.")


_Rule = Callable[[Ask, Page[Any], list[Any], Listing], Iterator[BillframesError]]
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
