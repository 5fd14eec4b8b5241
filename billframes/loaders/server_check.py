"""Ask a server fourteen small questions before anything is loaded, and write nothing.

Loads are proved by what the API's description says of lists: that sorts and filters are honoured, that `modifiedSince`
finds what changed, that `total` counts, that a server says when it grants a lower limit. Each rule is tried on time
entries, with one record that is known to be there. Four more questions find the `select` names of details that servers
name differently. Loads don't need this check, because they compare every answer with the request; it tells beforehand.
`billframes.loaders.server_findings` reads the answers.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from billframes.errors import AccessDeniedError, DecodeError, NotFoundError, RefusedError
from billframes.loaders.server_findings import FEW, CheckAnswers, Finding, Reply, ServerCheck, findings
from billframes.loading.connection import ApiConnection
from billframes.loading.query_args import ListRequest, build_request
from billframes.loading.select_names import NameResolver, is_reference_sent
from billframes.schema.decode import ListBody, decode_page, earlier, parse_instant
from billframes.schema.resources import RESOURCES, TIME_ENTRIES, Resource

__all__ = ["check_server"]

SECOND = dt.timedelta(seconds=1)
DAY = dt.timedelta(days=1)


def check_server(connection: ApiConnection, base_url: str) -> ServerCheck:
    """
    Find out what a server really does.

    Parameters
    ----------
    connection : ApiConnection
    base_url : str
        The server's address, for the result.

    Raises
    ------
    ApiError
        The server does not answer, or refuses the first request.
    DecodeError
        An answer is not what the API's description says, so that no load could read it.
    """
    asking = _Asking(connection)
    seen = _see(asking, connection.page_size)
    found = (*findings(seen), _select_names(asking))
    return ServerCheck(base_url, found, asking.requests)


@dataclass(slots=True)
class _Asking:
    """Asks for time entries, and counts."""

    connection: ApiConnection
    requests: int = 0

    def __call__(self, parameters: Mapping[str, str], limit: int = FEW, offset: int = 0) -> Reply:
        """Ask for a few. A refusal is an answer too, except to the first request."""
        paging = {"limit": str(limit), "offset": str(offset)}
        query = tuple({"select": "meta", **parameters, **paging}.items())
        self.requests += 1
        begun, now = time.monotonic(), dt.datetime.now(dt.UTC)
        try:
            response = self.connection.fetch(TIME_ENTRIES.path, query, resource="check")
        except RefusedError as error:
            if self.requests == 1:
                raise
            return Reply(now, refused=f"refused with {error.status}")
        seconds = time.monotonic() - begun
        page = decode_page(response.body, TIME_ENTRIES)
        for row in page.data or ():
            _check_instants(row)
        return Reply(now + dt.timedelta(seconds=seconds / 2), page.data or (), page.pagination, response.date, seconds)

    def details(self, resource: Resource) -> bool | str | None:
        """Tell whether details come by some name; None if no record shows it, or why there was no answer."""
        billed = {"billed": True} if any(each.name == "billed" for each in resource.filters) else {}
        names = [name for name in resource.select if name != "customFields"]
        request = build_request(resource, billed, select=names)
        try:
            page = NameResolver(self.connection.select_names, request).run(lambda named, see: see(self._few(named)))
        except (AccessDeniedError, NotFoundError, RefusedError) as error:
            return f"refused with {error.status}"
        except DecodeError:
            return "the answer can't be read"
        came = [is_reference_sent(each.reference, page.data or []) for each in resource.alternates]
        return None if None in came else all(came)

    def _few(self, request: ListRequest) -> ListBody[Any]:
        self.requests += 1
        query = (*request.queries[0], ("limit", str(FEW)), ("offset", "0"))
        return decode_page(self.connection.fetch(request.resource.path, query, resource="check").body, request.resource)


def _see(ask: _Asking, page_size: int) -> CheckAnswers:
    newest, oldest = ask({"sort": "-date"}), ask({"sort": "date"})
    # From the middle, so that there are records on either side for filters to leave out.
    middle = ask({"sort": "date"}, offset=(newest.total or 0) // 2)
    record = next(iter(middle.rows or oldest.rows), None)
    day = record.date.isoformat() if record is not None else ""
    modified = parse_instant(record.meta.modified_at) if record is not None and record.meta else None
    narrow, kind = _narrow(record), _rarest([*newest.rows, *oldest.rows, *middle.rows])
    before = ask(narrow | _since(modified and earlier(modified, SECOND)))
    # Asking for a full page shows the limit granted; only where filters are honoured are the rows few all the same.
    few = not before.refused and len(before.rows) < FEW
    return CheckAnswers(
        record=record,
        newest=newest,
        oldest=oldest,
        middle=middle,
        starting=ask({"sort": "date"} | ({"startDate": day} if day else {})),
        ending=ask({"sort": "-date"} | ({"endDate": day} if day else {})),
        created=ask({"sort": "-created", "billingType": kind, "billed": "true"}),
        kind=kind,
        unknown=ask({"billframesCheck": "1"}, 1),
        future=ask({"modifiedSince": _text((newest.date or newest.asked) + DAY)}, 1),
        before=before,
        at=ask(narrow | _since(modified), page_size if few else FEW),
        most=page_size if few else None,
    )


def _select_names(ask: _Asking) -> Finding:
    """Find out by which names the details come that servers name differently; the client remembers them."""
    known, told = ask.connection.select_names, []
    came = {resource.name: ask.details(resource) for resource in RESOURCES if resource.alternates}
    told = [f"{name}: {words}" for name, words in came.items() if isinstance(words, str)]
    told += [f"{_words(name)}: the invoice or client does not come" for name, each in came.items() if each is False]
    if told:
        return Finding("select names", "; ".join(told), False, _LACKING)
    if known:
        names = "; ".join(f"{', '.join(names)} of {_words(name)}" for name, names in known.items())
        return Finding("select names", f"not all are the description's: {names}", False, _OTHER)
    unseen = [_words(name) for name, each in came.items() if each is None]
    if unseen:
        return Finding("select names", f"can't be told: no record has what to ask for ({', '.join(unseen)})", None)
    return Finding("select names", "the client of matters and the invoice of items come as described", True)


_LACKING = "a load whose details are missing gives a DetailsMissingWarning; select= takes any name"
_OTHER = "loads ask by these names; check(remember=True), or billframes doctor --remember, keeps them in the profile"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _narrow(record: Any) -> dict[str, str]:
    """Return the filters that leave one timekeeper's day on one matter: few rows, the record among them."""
    if record is None:
        return {}
    day = record.date.isoformat()
    return {"startDate": day, "endDate": day, "matterId": record.matter_id, "userId": record.user_id}


def _check_instants(row: Any) -> None:
    try:
        _ = row.meta and (parse_instant(row.meta.created_at), parse_instant(row.meta.modified_at))
    except ValueError:
        raise DecodeError(
            f"check: time entry {row.time_entry_id} breaks the API's description at $.data[*].meta: the value is not a "
            "date-time, so no load can read it either."
        ) from None


def _rarest(rows: Sequence[Any]) -> str:
    """Return the rarest billing type of what is billed: where the filter is ignored, others come."""
    kinds = Counter(row.billing_type for row in rows if row.billed)
    return min(kinds, key=kinds.__getitem__, default="billable")


def _since(instant: dt.datetime | None) -> dict[str, str]:
    return {"modifiedSince": _text(instant)} if instant else {}


def _text(instant: dt.datetime) -> str:
    """Write an instant as loads send it."""
    return instant.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"
