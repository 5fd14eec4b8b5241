"""Check with fourteen small requests whether a server behaves as loads assume; nothing is written.

The proofs of loads rely on the rules for lists in the API's description: sorts and filters are honoured,
`modifiedSince` finds what changed, `total` is correct, and a server states when it grants a lower limit. Each rule is
tried on time entries, with a record that is known to exist. Four more requests find the `select` names of details that
servers name differently. Loads don't need this check, because they compare every response with the request. It shows
beforehand how loads would end. `billframes.loaders.server_findings` derives the findings from the responses.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from billframes.errors import AccessDeniedError, DecodeError, NotFoundError, RefusedError
from billframes.loaders.server_findings import FEW, CheckReplies, Reply, ServerCheck, ServerFinding, findings
from billframes.loading.connection import ApiConnection
from billframes.loading.query_args import ListRequest, build_request
from billframes.loading.select_names import NameResolver, is_reference_sent
from billframes.schema.decode import ListBody, decode_page, earlier, parse_instant
from billframes.schema.resources import RESOURCES, TIME_ENTRIES, Resource

SECOND = dt.timedelta(seconds=1)
DAY = dt.timedelta(days=1)


def check_server(connection: ApiConnection, base_url: str) -> ServerCheck:
    """Find out how a server behaves; raise `ApiError` or `DecodeError` if no load could read it."""
    requests = _CheckRequests(connection)
    replies = _collect(requests, connection.page_size)
    found = (*findings(replies), _select_names(requests))
    return ServerCheck(base_url, found, requests.number)


@dataclass(slots=True)
class _CheckRequests:
    connection: ApiConnection
    number: int = 0

    def time_entries(self, parameters: Mapping[str, str], limit: int = FEW, offset: int = 0) -> Reply:
        """Request time entries. A refusal is a reply, too, except to the first request."""
        paging = {"limit": str(limit), "offset": str(offset)}
        query = tuple({"select": "meta", **parameters, **paging}.items())
        self.number += 1
        begun, now = time.monotonic(), dt.datetime.now(dt.UTC)
        try:
            response = self.connection.fetch(TIME_ENTRIES.path, query, resource="check")
        except RefusedError as error:
            if self.number == 1:
                raise
            return Reply(now, refused=f"refused with {error.status}")
        seconds = time.monotonic() - begun
        page = decode_page(response.body, TIME_ENTRIES)
        for row in page.data or ():
            _check_instants(row)
        return Reply(now + dt.timedelta(seconds=seconds / 2), page.data or (), page.pagination, response.date, seconds)

    def details(self, resource: Resource) -> bool | str | None:
        """Return whether details are sent by some name; None if no record shows it; a text if the request failed."""
        billed = {"billed": True} if any(each.name == "billed" for each in resource.filters) else {}
        names = [name for name in resource.select if name != "customFields"]
        request = build_request(resource, billed, select=names)
        try:
            page = NameResolver(self.connection.select_names, request).run(
                lambda renamed, check_names: check_names(self._first_rows(renamed))
            )
        except (AccessDeniedError, NotFoundError, RefusedError) as error:
            return f"refused with {error.status}"
        except DecodeError:
            return "the response can't be read"
        sent = [is_reference_sent(each.reference, page.data or []) for each in resource.alternates]
        return None if None in sent else all(sent)

    def _first_rows(self, request: ListRequest) -> ListBody[Any]:
        self.number += 1
        query = (*request.queries[0], ("limit", str(FEW)), ("offset", "0"))
        return decode_page(self.connection.fetch(request.resource.path, query, resource="check").body, request.resource)


def _collect(requests: _CheckRequests, page_size: int) -> CheckReplies:
    request = requests.time_entries
    newest, oldest = request({"sort": "-date"}), request({"sort": "date"})
    # A record from the middle, so that there are records before and after it, which filters must leave out.
    middle = request({"sort": "date"}, offset=(newest.total or 0) // 2)
    record = next(iter(middle.rows or oldest.rows), None)
    day = record.date.isoformat() if record is not None else ""
    modified = parse_instant(record.meta.modified_at) if record is not None and record.meta else None
    narrow, kind = _narrow_filters(record), _rarest([*newest.rows, *oldest.rows, *middle.rows])
    before = request(narrow | _since(modified and earlier(modified, SECOND)))
    # A request for a full page shows the granted limit. It is sent only if the filters keep the response small.
    few = not before.refused and len(before.rows) < FEW
    full_limit = page_size if few else None
    return CheckReplies(
        record=record,
        newest=newest,
        oldest=oldest,
        middle=middle,
        starting=request({"sort": "date"} | ({"startDate": day} if day else {})),
        ending=request({"sort": "-date"} | ({"endDate": day} if day else {})),
        created=request({"sort": "-created", "billingType": kind, "billed": "true"}),
        kind=kind,
        unknown=request({"billframesCheck": "1"}, 1),
        future=request({"modifiedSince": _text((newest.date or newest.local_time) + DAY)}, 1),
        before=before,
        at=request(narrow | _since(modified), full_limit or FEW),
        full_limit=full_limit,
    )


def _select_names(requests: _CheckRequests) -> ServerFinding:
    """Find the `select` names of details that servers name differently; the client remembers them."""
    known = requests.connection.select_names
    sent = {resource.name: requests.details(resource) for resource in RESOURCES if resource.alternates}
    lacking = [f"{name}: {words}" for name, words in sent.items() if isinstance(words, str)]
    lacking += [f"{_spaced(name)}: the invoice or client is not sent" for name, each in sent.items() if each is False]
    if lacking:
        return ServerFinding("select names", "; ".join(lacking), False, _LACKING)
    if known:
        names = "; ".join(f"{', '.join(names)} of {_spaced(name)}" for name, names in known.items())
        return ServerFinding("select names", f"other names than in the API's description: {names}", False, _OTHER)
    unseen = [_spaced(name) for name, each in sent.items() if each is None]
    if unseen:
        return ServerFinding("select names", f"unknown: no record has an invoice or client ({', '.join(unseen)})", None)
    return ServerFinding("select names", "matters have their client, and items their invoice", True)


_LACKING = "a load without these details warns with DetailsMissingWarning; select= accepts any name"
_OTHER = "loads use these names; check(remember=True), or billframes doctor --remember, stores them in the profile"


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _narrow_filters(record: Any) -> dict[str, str]:
    """Return filters for the record's day, matter and timekeeper: few rows fit them, one of which is the record."""
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
    """Return the rarest billing type of billed rows: if the filter is ignored, other types are sent."""
    kinds = Counter(row.billing_type for row in rows if row.billed)
    return min(kinds, key=kinds.__getitem__, default="billable")


def _since(instant: dt.datetime | None) -> dict[str, str]:
    return {"modifiedSince": _text(instant)} if instant else {}


def _text(instant: dt.datetime) -> str:
    return instant.astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"
