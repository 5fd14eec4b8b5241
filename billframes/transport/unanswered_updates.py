"""Read the record back after a write whose response was lost, to find out whether the write happened.

A deletion happened if the record no longer exists. A change happened if the record has the values that were sent. It
did not happen if the record was last changed before the write was first sent; then the change can be sent again. In any
other case somebody else wrote meanwhile, and sending the change again could undo their work. A create is not checked
here, because the new record's id is unknown.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from billframes.errors import DecodeError, NotFoundError
from billframes.schema.decode import parse_instant, same_id
from billframes.schema.json_text import parse_day
from billframes.schema.resources import ALL_ZERO_ID, Resource
from billframes.transport.answers import custom_values, record_in
from billframes.transport.request import OutcomeCheck, Response

ReadRecord = Callable[[], Response]


def check_deletion(read_record: ReadRecord) -> OutcomeCheck:
    """Return a check of whether a deletion happened; `read_record` reads the record."""

    def check_outcome(_started: float) -> Response | None:
        try:
            read_record()
        except NotFoundError:
            return Response(b"", None)
        return None

    return check_outcome


def check_update(read_record: ReadRecord, body: bytes, resource: Resource, id_: str) -> OutcomeCheck:
    """Return a check of whether the change `body` of record `id_` happened; `read_record` reads the record."""
    sent = msgspec.json.decode(body)

    def check_outcome(started: float) -> Response | None:
        response = read_record()
        record = record_in(response.body)
        if not same_id(str(record.get(resource.id, "")), id_):
            raise DecodeError(f"{resource.name}: the record could not be read back.")
        if has_values(sent, record):
            return response
        if _is_unchanged(record, response.date, time.monotonic() - started):
            return None
        raise DecodeError(f"{resource.name}: the record was changed meanwhile, and does not have the values sent.")

    return check_outcome


def has_values(sent: Any, record: Any) -> bool:
    """Return whether a record has the values that were sent."""
    if sent is None or sent == ALL_ZERO_ID:
        return record is None
    if isinstance(sent, Mapping):
        return isinstance(record, Mapping) and all(
            _has_custom_values(value, record) if name == "customFields" else has_values(value, record.get(name))
            for name, value in sent.items()
        )
    return bool(sent == record) or _is_midnight_of(sent, record)


def _is_midnight_of(sent: Any, record: Any) -> bool:
    if not isinstance(sent, str) or not isinstance(record, str) or not record.startswith(f"{sent}T"):
        return False
    try:
        return parse_day(record).isoformat() == sent
    except ValueError:
        return False


def _has_custom_values(sent: Any, record: Mapping[str, Any]) -> bool:
    shown = custom_values(record)
    return all(has_values(each.get("value"), shown.get(each["id"], {}).get("value")) for each in sent or ())


def _is_unchanged(record: Mapping[str, Any], now: dt.datetime | None, elapsed: float) -> bool:
    """Return whether a record did not change since the write, by the server's clock, which shows whole seconds."""
    meta = record.get("meta")
    modified = meta.get("modifiedAt") if isinstance(meta, Mapping) else None
    if not isinstance(modified, str) or now is None:
        return False
    try:
        return parse_instant(modified) < now - dt.timedelta(seconds=elapsed + 1)
    except ValueError:
        return False
