"""Lists without dates: read by key cover, or proved by counts where nothing is written.

Tiles can't be joined if many neighbours may be equal: names in many scripts, long groups of equal names. A quiet list
has another proof, without joins. Every answer counted N, N different records are here, nothing was changed since before
the reading, and the list still has N. So no record was added meanwhile; then none was deleted, because each deletion
would show in a count; and N of the N records are all of them.

That rests on `modifiedSince`. So it is asked from just before the newest change that is here, and must find exactly
what is here since then.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from billframes.errors import PagingError
from billframes.paging.key_ranges import Covering
from billframes.paging.list_schema import Query, asked, changed
from billframes.paging.page import Answer, Ask
from billframes.paging.record_store import Held
from billframes.paging.scheduler import Session
from billframes.schema.decode import earlier, parse_instant

__all__ = ["Undated", "read_undated", "since"]

TRIES = 3


@dataclass(frozen=True, slots=True)
class Undated:
    """
    What came of a list without dates.

    `held` has the records; `quiet` says that they are exactly what was there throughout; `started` is the server's time
    when the reading began, None if it was not said; `count` is the list's length where every answer said the same.
    """

    held: Held
    quiet: bool
    started: dt.datetime | None
    count: int | None


def read_undated(
    session: Session, query: Query, held: Held, overlap: dt.timedelta, first: Answer | None = None
) -> Undated:
    """
    Read a list without dates.

    Parameters
    ----------
    session : Session
    query : query
        Without limit and offset.
    held : Held
        Empty. Where the records go, unless the list is read again.
    overlap : timedelta
        How far before its time of asking a change is still looked for.
    first : Answer, optional
        One that came to this query at offset 0.

    Raises
    ------
    PagingError
        The list can't be shown to be complete.
    """
    for tries in range(1, TRIES + 1):
        covering = Covering(session, query, session.listing.covers, held, first=first)
        covered = covering.look()
        started = session.started()
        quiet = not covered and covering.all_counted and started is not None
        if quiet and started is not None and _unchanged(session, query, held, started - overlap):
            return Undated(held, True, started, covering.count)
        try:
            if not covered:
                covering.read()
            break
        except PagingError:
            # Once nobody writes any more, it can still be proved by its count.
            if tries == TRIES or not held.dated or started is None:
                raise
            held, first = session.held(), None
    return Undated(held, False, started, covering.count)


def _unchanged(session: Session, query: Query, held: Held, mark: dt.datetime) -> bool:
    """Tell whether nothing was changed since an instant, and as many records are there as here."""
    newest = held.newest() if held.dated else None
    if newest is None or newest >= mark:
        return False
    ask = since(session, query, earlier(newest, dt.timedelta(seconds=1)))
    answer = session.ask(ask)
    found = set(map(session.listing.id_of, answer.records))
    # A server that shows instants cut to seconds may find more than the instants here let expect.
    if not answer.whole or not found or not found >= held.since(parse_instant(ask.narrowed[0][1])):
        return False
    news = held.news
    held.take(answer)
    return held.news == news and session.count(query) == len(held)


def since(session: Session, query: Query, mark: dt.datetime) -> Ask:
    """Return what asks for the changes after an instant, or after the query's own where that is later."""
    own = asked(query, "modifiedSince")
    text = (max(mark, parse_instant(own)) if own else mark).astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"
    return Ask(changed(query, modifiedSince=text), session.page_size, narrowed=(("modifiedSince", text),))
