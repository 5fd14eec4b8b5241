"""Findings about a server, read from its first answers, and what loads do if it differs from what they assume.

Each finding comes from one or two answers. If the server's data can't show it, it is unknown: a server with a single
record may ignore every filter without any sign of it.
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

__all__ = ["FEW", "CheckAnswers", "Finding", "Reply", "ServerCheck", "findings"]

# Rows to ask for if a few are enough.
FEW = 10
# A smaller difference of clocks may be the time that the answer took.
SKEW = 5.0
_EMPTY = "can't be told: there are no time entries to tell by"
_REFUSED = "a load or filter that needs it raises RefusedError with the server's words"
_COUNTED = "longer lists are read, but not caught up with what changes meanwhile; their proof is 'counted'"


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One property of a server.

    Parameters
    ----------
    name : str
        The property, in a word or two.
    found : str
        What the server does.
    holds : bool, optional
        Whether that is what loads assume; None if the data don't show it.
    instead : str
        What billframes does if it does not hold.
    """

    name: str
    found: str
    holds: bool | None
    instead: str = ""

    @property
    def mark(self) -> str:
        """The answer in short: "ok", "NO" or "?"."""
        return {True: "ok", False: "NO", None: "?"}[self.holds]


@dataclass(frozen=True, slots=True, repr=False)
class ServerCheck:
    """
    What a server really does; made by `Client.check`.

    `check["total"]` is a finding by its name.

    Parameters
    ----------
    base_url : str
        The server's address.
    findings : tuple of Finding
    requests : int
        Number of requests, without retries.
    """

    base_url: str
    findings: tuple[Finding, ...]
    requests: int

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The findings that do not hold."""
        return tuple(finding for finding in self.findings if finding.holds is False)

    def __getitem__(self, name: str) -> Finding:
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
            '<th scope="col">what</th><th scope="col">as assumed</th><th scope="col">found</th>'
            f'<th scope="col">what billframes does</th></tr></thead><tbody>{rows}</tbody></table>'
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its rows, their part of the list, the server's time and ours; or why the request was refused."""

    asked: dt.datetime
    rows: Sequence[Any] = ()
    pagination: Pagination | None = None
    date: dt.datetime | None = None
    seconds: float = 0.0
    refused: str = ""

    @property
    def total(self) -> int | None:
        """How many match, by the server's count."""
        return self.pagination.total if self.pagination else None

    def has(self, record: Any) -> bool:
        """Tell whether a record is among the rows."""
        return any(each.time_entry_id == record.time_entry_id for each in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswers:
    """
    The answers to everything that was asked.

    `newest`, `oldest` and `middle` are parts of the whole list by date. `record` is a record from the middle; None if
    there are no records. `starting` begins with the record's day and `ending` ends with it. `created` has billed
    entries of the billing type `kind`, the latest created first. `unknown` was asked with an unknown parameter,
    `future` for changes since tomorrow. `at` and `before` are of the record's day, matter and timekeeper: `at` has the
    changes since the record's own modified date, `before` those since a second earlier. `at` asked for `most` rows;
    None if it asked for a few.
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
    most: int | None

    @property
    def rows(self) -> list[Any]:
        """The rows that came from the whole list."""
        return [*self.newest.rows, *self.oldest.rows, *self.middle.rows]


def findings(seen: CheckAnswers) -> Iterator[Finding]:
    """Yield what the answers show."""
    yield Finding("credential", f"accepted; the first answer came in {seen.newest.seconds:.2f} s", holds=True)
    for name, answers, judged in _CHECKS:
        refused = next((reply.refused for reply in answers(seen) if reply.refused), "")
        yield Finding(name, refused, False, _REFUSED) if refused else Finding(name, *judged(seen))


_Judged = tuple[str, bool | None] | tuple[str, bool | None, str]


def _rates(seen: CheckAnswers) -> _Judged:
    billable = [row for row in [*seen.created.rows, *seen.rows] if row.billing_type.casefold() == "billable"]
    if not billable:
        return "unknown: there is no billable time entry to tell by", None
    if any(row.rate is not None for row in billable):
        return "visible", True
    instead = "rate and amount are missing, never zero; a RatesHiddenWarning and every analysis that needs them say so"
    return "hidden: the credential lacks read.rates", False, instead


def _metadata(seen: CheckAnswers) -> _Judged:
    if not seen.newest.rows:
        return _EMPTY, None
    if all(row.meta is not None for row in seen.newest.rows):
        return "comes if it is asked for", True
    return "does not come though asked for", False, _COUNTED


def _total(seen: CheckAnswers) -> _Judged:
    one, other = seen.newest.total, seen.oldest.total
    if seen.newest.pagination is None or one is None or other is None:
        instead = (
            "lists are read by plain pages until one is empty, their proof is 'counted'; .count() raises PagingError"
        )
        return "the server does not say which part of the list an answer is, nor how long the list", False, instead
    came, expected = len(seen.newest.rows), min(seen.newest.pagination.limit, one)
    if came != expected:
        return f"{one:,}, but {came} rows came where {expected} should", False, "such an answer raises PagingError"
    if one != other:
        return f"{one:,} time entries, and {other:,} a moment later: somebody is writing, or it is a guess", None
    return f"{one:,} time entries", True


def _limit(seen: CheckAnswers) -> _Judged:
    first, full = seen.newest.pagination, seen.at.pagination
    if len(seen.newest.rows) > FEW or (first is not None and first.limit > FEW):
        return f"ignored: {len(seen.newest.rows)} rows came where {FEW} were asked for", False, _LARGE
    if full is None or seen.most is None:
        return "can't be told without a large answer", None
    if full.limit < seen.most:
        return f"{full.limit:,} granted of {seen.most:,}", False, "pages have that size from then on: more requests"
    return f"{full.limit:,} granted", True


_LARGE = "answers with more rows than asked for raise DecodeError"


def _offset(seen: CheckAnswers) -> _Judged:
    oldest, middle = ([row.time_entry_id for row in reply.rows] for reply in (seen.oldest, seen.middle))
    if seen.newest.total is None or len(oldest) < 2:
        return "can't be told without a total and two records", None
    if oldest != middle:
        return "honoured: the middle of the list is not its beginning", True
    instead = "lists with dates are read without it; longer lists of clients and matters, and limit=, raise DecodeError"
    return "ignored: the middle of the list is its beginning", False, instead


def _date_order(seen: CheckAnswers) -> _Judged:
    down, up, middle = ([row.date for row in reply.rows] for reply in (seen.newest, seen.oldest, seen.middle))
    dates = {row.date for row in seen.rows}
    if len(dates) < 2:
        return "can't be told: all dates are equal" if dates else _EMPTY, None
    ordered = _falling(down) and _falling(up[::-1]) and _falling(middle[::-1])
    if ordered and up[0] == min(dates) and down[0] == max(dates):
        return f"honoured both ways: {min(dates)} to {max(dates)}", True
    return "not honoured", False, "answers whose rows come in another order than asked for raise DecodeError"


def _creation_order(seen: CheckAnswers) -> _Judged:
    instants = [row.meta.created_at for row in seen.created.rows if row.meta is not None]
    if len(set(instants)) < 2:
        return "can't be told: too few instants of creation came", None
    if _falling([parse_instant(each) for each in instants]):
        return "honoured", True
    return "not honoured", False, "lists of many time entries a day, and of many changes, raise DecodeError"


def _falling(values: Sequence[Any]) -> bool:
    return all(one >= other for one, other in pairwise(values))


def _date_filter(seen: CheckAnswers) -> _Judged:
    if seen.record is None:
        return _EMPTY, None
    day = seen.record.date
    after, before = ([row.date for row in reply.rows] for reply in (seen.starting, seen.ending))
    if any(date < day for date in after) or any(date > day for date in before):
        return "ignored: records of other days came", False, _STRAY
    if _date_order(seen)[1] is not True:
        return "can't be told without an order by date", None
    if day not in after or day not in before:
        return "without its ends: a day's records do not come when its day is the first or the last", False, _MISSING
    if not min(row.date for row in seen.rows) < day < max(row.date for row in seen.rows):
        return "can't be told: no day came with others on both sides", None
    return "honoured, both ends of the period included", True


_STRAY = "a load in which a record comes that was not asked for raises DecodeError"
_MISSING = (
    "loads longer than one answer raise PagingError; shorter ones lack these days: ask for a day more at each end"
)


def _other_filters(seen: CheckAnswers) -> _Judged:
    if any(not row.billed or row.billing_type.casefold() != seen.kind.casefold() for row in seen.created.rows):
        return "billed or billingType is ignored: others came", False, _STRAY
    if seen.record is None:
        return _EMPTY, None
    wanted = (seen.record.matter_id, seen.record.user_id)
    if any((row.matter_id, row.user_id) != wanted for row in seen.before.rows):
        return "matterId or userId is ignored: others' came", False, _STRAY
    others = {(row.matter_id, row.user_id) for row in seen.rows} - {wanted}
    unbilled = any(not row.billed for row in seen.rows)
    if not (seen.created.rows and others and unbilled and {row.billing_type for row in seen.rows} - {seen.kind}):
        return "can't be told: too few kinds of time entries came", None
    return "honoured: billed, billing type, matter, timekeeper", True


def _unknown(seen: CheckAnswers) -> _Judged:
    if seen.unknown.total == seen.newest.total and bool(seen.unknown.rows) == bool(seen.newest.rows):
        return "ignored: a name of no API changes nothing", True
    return "another list came", None


def _since(seen: CheckAnswers) -> _Judged:
    if seen.future.rows:
        instead = "lists longer than one answer raise DecodeError, and so does modified_since="
        return "ignored: records come that were changed 'since' tomorrow", False, instead
    return ("honoured: nothing was changed since tomorrow", True) if seen.newest.rows else (_EMPTY, None)


def _strict(seen: CheckAnswers) -> _Judged:
    if seen.record is None or seen.record.meta is None or seen.future.rows:
        return "can't be told", None
    if seen.at.has(seen.record):
        instead = "nothing else: loads ask from 60 s earlier and take the newest version of each record once"
        return "inclusive, or the instants shown are cut short", False, instead
    return "strict: a record is not changed since its own modified date", True


def _changes(seen: CheckAnswers) -> _Judged:
    if seen.record is None or seen.record.meta is None or seen.future.rows:
        return "can't be told", None
    if seen.before.has(seen.record):
        return "found by their modified date; how soon can't be told without writing", True
    if len(seen.before.rows) >= FEW:
        return "can't be told: too many records of one day, matter and timekeeper", None
    instead = "nothing can make up for it: records changed while a list is read may be as they were, 'complete' or not"
    return "not found: a record was not changed since a second before its modified date", False, instead


def _clock(seen: CheckAnswers) -> _Judged:
    server, here = seen.newest.date, seen.newest.asked
    if server is None:
        return "unknown: the server does not say its time", False, _COUNTED
    ahead = (server - here).total_seconds()
    if abs(ahead) < SKEW:
        return "the server's and this machine's agree", True
    where = f"the server's is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
    return f"{where}; loads go by the server's", True


_CHECKS: tuple[tuple[str, Callable[[CheckAnswers], tuple[Reply, ...]], Callable[[CheckAnswers], _Judged]], ...] = (
    ("rates", lambda seen: (seen.created,), _rates),
    ("clock", lambda seen: (), _clock),
    ("metadata", lambda seen: (), _metadata),
    ("total", lambda seen: (seen.oldest,), _total),
    ("limit", lambda seen: (seen.at,), _limit),
    ("offset", lambda seen: (seen.middle,), _offset),
    ("date order", lambda seen: (seen.oldest, seen.middle), _date_order),
    ("creation order", lambda seen: (seen.created,), _creation_order),
    ("date filter", lambda seen: (seen.starting, seen.ending), _date_filter),
    ("other filters", lambda seen: (seen.created, seen.before), _other_filters),
    ("unknown names", lambda seen: (seen.unknown,), _unknown),
    ("modifiedSince", lambda seen: (seen.future,), _since),
    ("strictness", lambda seen: (seen.at,), _strict),
    ("changes", lambda seen: (seen.before,), _changes),
)
