"""Derive findings about a server from its first responses, and say what loads do if it is not as they assume.

Each finding is derived from one or two responses. It is unknown if the server's data can't show it: in a list with a
single record, for example, an ignored filter can't be noticed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from billframes.schema.decode import parse_instant
from billframes.schema.records import Pagination

# The number of rows to request if a few are enough.
FEW = 10
# A smaller difference of the clocks, in seconds, may be the time of the response.
SKEW = 5.0
_EMPTY = "unknown: there are no time entries"
_REFUSED = "a load or filter that needs it raises RefusedError with the server's reason"
_COUNTED = "longer lists are loaded without changes made meanwhile; their proof is 'counted'"


@dataclass(frozen=True, slots=True)
class ServerFinding:
    """
    One property of a server.

    Parameters
    ----------
    name : str
        The property, in a word or two.
    found : str
        What the server does.
    holds : bool, optional
        Whether this is as loads assume; None if the data don't show it.
    instead : str
        What billframes does if it is not.
    """

    name: str
    found: str
    holds: bool | None
    instead: str = ""

    @property
    def mark(self) -> str:
        """`holds` as a text: "ok", "NO" or "?"."""
        return {True: "ok", False: "NO", None: "?"}[self.holds]


@dataclass(frozen=True, slots=True, repr=False)
class ServerCheck:
    """
    The findings about a server; returned by `Client.check`.

    `check["total"]` is the finding with that name.

    Parameters
    ----------
    base_url : str
        The server's address.
    findings : tuple of ServerFinding
    requests : int
        Number of requests, without retries.
    """

    base_url: str
    findings: tuple[ServerFinding, ...]
    requests: int

    @property
    def failing(self) -> tuple[ServerFinding, ...]:
        """The findings that do not hold."""
        return tuple(finding for finding in self.findings if finding.holds is False)

    def __getitem__(self, name: str) -> ServerFinding:
        found = next((finding for finding in self.findings if finding.name == name), None)
        if found is None:
            raise KeyError(f"{name!r}; there are {', '.join(repr(finding.name) for finding in self.findings)}")
        return found

    def __repr__(self) -> str:
        lines = [f"Check of {self.base_url}, {self.requests} requests:"]
        for finding in self.findings:
            lines.append(f"  {finding.name:<14} {finding.mark:<2} {finding.found}")
            lines += [f"  {'':<14}    → {finding.instead}"] if finding.instead else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{escape(finding.name)}</th><td>{finding.mark}</td>'
            f"<td>{escape(finding.found)}</td><td>{escape(finding.instead)}</td></tr>"
            for finding in self.findings
        )
        return (
            f"<table><caption>Check of {escape(self.base_url)}, {self.requests} requests</caption><thead><tr>"
            '<th scope="col">property</th><th scope="col">as assumed</th><th scope="col">found</th>'
            f'<th scope="col">what billframes does</th></tr></thead><tbody>{rows}</tbody></table>'
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: its rows, their part of the list, and the times of server and client; or why it was refused."""

    local_time: dt.datetime
    rows: Sequence[Any] = ()
    pagination: Pagination | None = None
    date: dt.datetime | None = None
    seconds: float = 0.0
    refused: str = ""

    @property
    def total(self) -> int | None:
        """The total that the server states."""
        return self.pagination.total if self.pagination else None

    def has(self, record: Any) -> bool:
        """Return whether a record is among the rows."""
        return any(each.time_entry_id == record.time_entry_id for each in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReplies:
    """
    The responses to the requests for time entries.

    `newest`, `oldest` and `middle` are parts of the whole list by date. `record` is a record from the middle; None if
    there are no records. `starting` begins with the record's day and `ending` ends with it. `created` has billed
    entries of the billing type `kind`, the latest created first. `unknown` was requested with an unknown parameter, and
    `future` has the changes since tomorrow. `at` and `before` are of the record's day, matter and timekeeper: `at` has
    the changes since the record's own modified date, `before` those since a second earlier. `full_limit` is the limit
    with which `at` was requested; None if that was small.
    """

    record: Any
    newest: Reply
    oldest: Reply
    middle: Reply
    starting: Reply
    ending: Reply
    created: Reply
    kind: str
    unknown: Reply
    future: Reply
    at: Reply
    before: Reply
    full_limit: int | None

    @property
    def rows(self) -> list[Any]:
        """The rows of the whole list."""
        return [*self.newest.rows, *self.oldest.rows, *self.middle.rows]


def findings(replies: CheckReplies) -> Iterator[ServerFinding]:
    """Yield the findings that the responses show."""
    yield ServerFinding("credential", f"accepted; the first response took {replies.newest.seconds:.2f} s", holds=True)
    for name, answers, judge in _CHECKS:
        refused = next((reply.refused for reply in answers(replies) if reply.refused), "")
        yield ServerFinding(name, refused, False, _REFUSED) if refused else ServerFinding(name, *judge(replies))


_Result = tuple[str, bool | None] | tuple[str, bool | None, str]


def _rates(replies: CheckReplies) -> _Result:
    billable = [row for row in [*replies.created.rows, *replies.rows] if row.billing_type.casefold() == "billable"]
    if not billable:
        return "unknown: there is no billable time entry", None
    if any(row.rate is not None for row in billable):
        return "visible", True
    instead = "rate and amount are missing, not zero; a RatesHiddenWarning and the analyses that need them say so"
    return "hidden: the credential lacks read.rates", False, instead


def _metadata(replies: CheckReplies) -> _Result:
    if not replies.newest.rows:
        return _EMPTY, None
    if all(row.meta is not None for row in replies.newest.rows):
        return "sent if it is selected", True
    return "not sent although it is selected", False, _COUNTED


def _total(replies: CheckReplies) -> _Result:
    one, other = replies.newest.total, replies.oldest.total
    if replies.newest.pagination is None or one is None or other is None:
        instead = (
            "lists are read by plain pages until one is empty, their proof is 'counted'; .count() raises PagingError"
        )
        return "responses state neither the total nor their part of the list", False, instead
    sent, expected = len(replies.newest.rows), min(replies.newest.pagination.limit, one)
    if sent != expected:
        return f"{one:,}, but {sent} rows were sent instead of {expected}", False, "such a response raises PagingError"
    if one != other:
        return f"{one:,} time entries, and {other:,} a moment later: somebody is writing, or it is estimated", None
    return f"{one:,} time entries", True


def _limit(replies: CheckReplies) -> _Result:
    first, full = replies.newest.pagination, replies.at.pagination
    if len(replies.newest.rows) > FEW or (first is not None and first.limit > FEW):
        return f"ignored: {len(replies.newest.rows)} rows were sent instead of {FEW}", False, _LARGE
    if full is None or replies.full_limit is None:
        return "unknown: this needs a large response", None
    if full.limit < replies.full_limit:
        return (
            f"{full.limit:,} granted of {replies.full_limit:,}",
            False,
            "pages have this size, so loads need more requests",
        )
    return f"{full.limit:,} granted", True


_LARGE = "responses with more rows than requested raise DecodeError"


def _offset(replies: CheckReplies) -> _Result:
    oldest, middle = ([row.time_entry_id for row in reply.rows] for reply in (replies.oldest, replies.middle))
    if replies.newest.total is None or len(oldest) < 2:
        return "unknown: this needs a total and two records", None
    if oldest != middle:
        return "honoured: a page from the middle differs from the first page", True
    instead = "lists with dates are read without it; longer lists of clients and matters, and limit=, raise DecodeError"
    return "ignored: a page from the middle equals the first page", False, instead


def _date_order(replies: CheckReplies) -> _Result:
    down, up, middle = ([row.date for row in reply.rows] for reply in (replies.newest, replies.oldest, replies.middle))
    dates = {row.date for row in replies.rows}
    if len(dates) < 2:
        return "unknown: all dates are equal" if dates else _EMPTY, None
    ordered = _falling(down) and _falling(up[::-1]) and _falling(middle[::-1])
    if ordered and up[0] == min(dates) and down[0] == max(dates):
        return f"honoured both ways: {min(dates)} to {max(dates)}", True
    return "not honoured", False, "responses whose rows are not in the requested order raise DecodeError"


def _creation_order(replies: CheckReplies) -> _Result:
    instants = [row.meta.created_at for row in replies.created.rows if row.meta is not None]
    if len(set(instants)) < 2:
        return "unknown: this needs records with different creation times", None
    if _falling([parse_instant(each) for each in instants]):
        return "honoured", True
    return (
        "not honoured",
        False,
        "time entries are read by date, with more requests; loads with many changes raise DecodeError",
    )


def _falling(values: Sequence[Any]) -> bool:
    return all(one >= other for one, other in pairwise(values))


def _date_filter(replies: CheckReplies) -> _Result:
    if replies.record is None:
        return _EMPTY, None
    day = replies.record.date
    after, before = ([row.date for row in reply.rows] for reply in (replies.starting, replies.ending))
    if any(date < day for date in after) or any(date > day for date in before):
        return "ignored: records of other days were sent", False, _STRAY
    if _date_order(replies)[1] is not True:
        return "unknown: this needs an order by date", None
    if day not in after or day not in before:
        return "honoured, but the first or the last day of the period is left out", False, _MISSING
    if not min(row.date for row in replies.rows) < day < max(row.date for row in replies.rows):
        return "unknown: this needs records of three different days", None
    return "honoured, both ends of the period included", True


_STRAY = "a load that receives a record outside its filters raises DecodeError"
_MISSING = "loads of more than one page raise PagingError; shorter ones lack these days: load one day more at each end"


def _other_filters(replies: CheckReplies) -> _Result:
    if any(not row.billed or row.billing_type.casefold() != replies.kind.casefold() for row in replies.created.rows):
        return "billed or billingType is ignored: other records were sent", False, _STRAY
    if replies.record is None:
        return _EMPTY, None
    wanted = (replies.record.matter_id, replies.record.user_id)
    if any((row.matter_id, row.user_id) != wanted for row in replies.before.rows):
        return "matterId or userId is ignored: other records were sent", False, _STRAY
    others = {(row.matter_id, row.user_id) for row in replies.rows} - {wanted}
    unbilled = any(not row.billed for row in replies.rows)
    if not (
        replies.created.rows and others and unbilled and {row.billing_type for row in replies.rows} - {replies.kind}
    ):
        return "unknown: this needs more different time entries", None
    return "honoured: billed, billing type, matter, timekeeper", True


def _unknown(replies: CheckReplies) -> _Result:
    if replies.unknown.total == replies.newest.total and bool(replies.unknown.rows) == bool(replies.newest.rows):
        return "ignored: an unknown parameter changes nothing", True
    return "an unknown parameter gives another list", None


def _since(replies: CheckReplies) -> _Result:
    if replies.future.rows:
        instead = "lists of more than one page raise DecodeError, and so does modified_since="
        return "ignored: records are sent as changed since tomorrow", False, instead
    return ("honoured: no record is sent as changed since tomorrow", True) if replies.newest.rows else (_EMPTY, None)


def _strict(replies: CheckReplies) -> _Result:
    if replies.record is None or replies.record.meta is None or replies.future.rows:
        return "unknown", None
    if replies.at.has(replies.record):
        instead = "nothing: loads request changes from 60 s earlier, and use the newest version of each record"
        return "inclusive, or the times shown are less exact than those compared", False, instead
    return "strict: changes since an instant don't include records modified at that instant", True


def _changes(replies: CheckReplies) -> _Result:
    if replies.record is None or replies.record.meta is None or replies.future.rows:
        return "unknown", None
    if replies.before.has(replies.record):
        return "found by their modified date; only a write could show how soon", True
    if len(replies.before.rows) >= FEW:
        return "unknown: there are too many records of one day, matter and timekeeper", None
    instead = "nothing: records that change during a load may be out of date, even if its proof is 'complete'"
    return "not found: a record is not among the changes since a second before its modified date", False, instead


def _clock(replies: CheckReplies) -> _Result:
    server, here = replies.newest.date, replies.newest.local_time
    if server is None:
        return "unknown: the server does not state its time", False, _COUNTED
    ahead = (server - here).total_seconds()
    if abs(ahead) < SKEW:
        return "the server's and this machine's agree", True
    difference = f"the server's is {_span(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} this machine's"
    return f"{difference}; loads use the server's", True


def _span(seconds: float) -> str:
    """Return a span of time in the largest unit of which there are at least two."""
    sizes = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
    unit = next((unit for unit, size in sizes.items() if seconds >= 2 * size), "seconds")
    return f"{seconds / sizes[unit]:,.0f} {unit}"


_CHECKS: tuple[tuple[str, Callable[[CheckReplies], tuple[Reply, ...]], Callable[[CheckReplies], _Result]], ...] = (
    ("rates", lambda replies: (replies.created,), _rates),
    ("clock", lambda replies: (), _clock),
    ("metadata", lambda replies: (), _metadata),
    ("total", lambda replies: (replies.oldest,), _total),
    ("limit", lambda replies: (replies.at,), _limit),
    ("offset", lambda replies: (replies.middle,), _offset),
    ("date order", lambda replies: (replies.oldest, replies.middle), _date_order),
    ("creation order", lambda replies: (replies.created,), _creation_order),
    ("date filter", lambda replies: (replies.starting, replies.ending), _date_filter),
    ("other filters", lambda replies: (replies.created, replies.before), _other_filters),
    ("unknown names", lambda replies: (replies.unknown,), _unknown),
    ("modifiedSince", lambda replies: (replies.future,), _since),
    ("strictness", lambda replies: (replies.at,), _strict),
    ("changes", lambda replies: (replies.before,), _changes),
)
