"""Send one change, and find out its outcome.

Before an update or a deletion, the record is read, unless a list has just shown that it is unchanged. The change is
skipped if somebody changed the record after the plan was made. If the response is lost, the record is read again: with
the new values, the change is done; with those from before, it is sent again; with others, its outcome is uncertain. If
the response has another record, the change is not sent again. A create is never sent twice here: it is `unanswered`,
and `billframes.bulk.apply` searches the server for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from billframes.bulk.cells import cells_equal, read_cell
from billframes.bulk.columns import EditColumn
from billframes.bulk.journal_entry import Entry
from billframes.bulk.server_records import ServerRecord, response_cells
from billframes.errors import (
    AccessDeniedError,
    AuthenticationError,
    BillframesError,
    DecodeError,
    NotFoundError,
    RefusedError,
    UncertainWriteError,
)
from billframes.loading.connection import WritingConnection
from billframes.loading.ids import path_segment
from billframes.loading.request_bodies import merge_nested
from billframes.schema.decode import decode_single
from billframes.schema.resources import TIME_ENTRIES, Resource
from billframes.schema.sources import json_names
from billframes.transport.answers import OtherRecordError, check_answer, check_deletion_answer
from billframes.transport.http_errors import uncertain_write_error
from billframes.transport.request import ApiRequest, OutcomeCheck, Response, outcome_of_write

# Outcomes of changes that are held back, with their reasons.
CHANGED_SINCE_PLANNED = ("changed since planned", "somebody changed the record after the plan was made")
BILLED = ("billed", "the record is on an invoice now")
# Seconds for which a list proves that its records are unchanged.
_FRESH_SECONDS = 2.0
_UNCERTAIN = "it was sent, and then somebody changed the record, so it can't be said whether it happened"


class Writer:
    """Writes changes of one resource to the server."""

    def __init__(self, connection: WritingConnection, resource: Resource, columns: Mapping[str, EditColumn]) -> None:
        self._connection, self.resource, self._columns = connection, resource, columns
        assert resource.updates is not None  # noqa: S101 - only such resources have plans
        names = json_names(resource.updates)
        self._nested = [names[name] for name in ("contact", "conflict_information") if name in names]

    def write(self, entry: Entry, unchanged_at: float | None = None) -> Entry:
        """
        Send a change, and return it with its outcome; raise only `AuthenticationError`, which all changes would get.

        At `unchanged_at`, by `time.monotonic`, a list proved that the record is unchanged. If None, it is read first.
        """
        try:
            if entry.action == "create":
                return self._create(entry)
            return self._update(entry) if self._is_surely_unchanged(entry, unchanged_at) else self._read_and_send(entry)
        except (AuthenticationError, KeyboardInterrupt):
            raise
        except UncertainWriteError as error:
            state = "unanswered" if entry.action == "create" else "uncertain"
            return entry.with_outcome(state, str(error.__cause__ or error))
        except (RefusedError, AccessDeniedError) as error:
            return entry.with_outcome("refused", str(error))
        except NotFoundError:
            return entry.with_outcome("gone", "the record is no longer on the server")
        except BillframesError as error:
            return entry.with_outcome(
                "failed", f"not sent: {error}" if getattr(error, "method", "") == "GET" else str(error)
            )

    def _create(self, entry: Entry) -> Entry:
        resource = self.resource
        headers = {}
        if resource is TIME_ENTRIES and self._connection.acting_user:
            headers = {self._connection.acting_user_header: self._connection.acting_user}
        response = self._connection.send("POST", resource.path, entry.body, resource=resource.name, headers=headers)
        if not response.body.strip():
            return entry.with_outcome("done")
        assert resource.creates is not None  # noqa: S101 - only such resources have plans
        try:
            check_answer(response.body, entry.body, resource.creates, resource)
            made = decode_single(response.body, resource.detail, resource.name, id_name=resource.id)
        except OtherRecordError:
            return entry.with_outcome("unanswered", "the server's response has another record")
        except DecodeError:
            return entry.with_outcome("unanswered", "the server's response could not be read")
        return entry.with_outcome("done", id_=str(getattr(made, resource.id_column)))

    def _is_surely_unchanged(self, entry: Entry, unchanged_at: float | None) -> bool:
        if unchanged_at is None or time.monotonic() - unchanged_at > _FRESH_SECONDS or entry.action != "update":
            return False
        return not entry.tries and entry.modified_at is not None and not self._nested_objects(entry)

    def _update(self, entry: Entry) -> Entry:
        path = self._path(entry)
        try:
            return self._send(entry, path, entry.body)
        except RefusedError:
            # It may have been put on an invoice after the list.
            _, record = self._read(entry, path)
            outcome = self._outcome_if_held_back(entry, record)
            if outcome is None:
                raise
            return outcome

    def _send(self, entry: Entry, path: str, body: bytes | None) -> Entry:
        resource, check, started = self.resource, self._outcome_check(entry, path), time.monotonic()
        request = ApiRequest(resource.name, "DELETE" if body is None else "PUT", path, body=body)
        answer = self._connection.send(request.method, path, body, resource=resource.name, check_outcome=check).body
        try:
            if body is None:
                check_deletion_answer(answer, resource, str(entry.id))
            elif resource.updates is not None:
                check_answer(answer, body, resource.updates, resource, str(entry.id))
        except OtherRecordError as error:
            uncertain = uncertain_write_error(error, request)
            if outcome_of_write(check, started, uncertain) is None:
                # It is not sent again, because it may be under way.
                raise uncertain from error
        return entry.with_outcome("done")

    def _path(self, entry: Entry) -> str:
        return f"{self.resource.path}/{path_segment(str(entry.id), 'id')}"

    def _read_and_send(self, entry: Entry) -> Entry:
        path = self._path(entry)
        try:
            body, record = self._read(entry, path)
        except NotFoundError:
            if entry.action == "delete" and entry.tries:
                return entry.with_outcome("done")
            raise
        outcome = self._outcome_if_held_back(entry, record)
        if outcome is not None:
            return outcome
        if entry.action == "delete":
            return self._send(entry, path, None)
        assert entry.body is not None  # noqa: S101 - updates have one
        nested = self._nested_objects(entry)
        # A server may replace a whole nested object by the fields that are sent, so all its fields are sent.
        sent = merge_nested(entry.body, body, nested) if nested else entry.body
        return self._send(entry, path, sent)

    def _nested_objects(self, entry: Entry) -> list[str]:
        if not self._nested or entry.body is None:
            return []
        sent = msgspec.json.decode(entry.body)
        return [name for name in self._nested if name in sent]

    def _read(self, entry: Entry, path: str) -> tuple[bytes, ServerRecord]:
        body = self._connection.fetch(path, resource=self.resource.name).body
        names = {"billed", "modified_at", *(name for name, *_ in entry.cells)}
        columns = [self._columns[name] for name in self._columns if name in names]
        return body, response_cells(body, self.resource, str(entry.id), columns)

    def _outcome_if_held_back(self, entry: Entry, record: ServerRecord) -> Entry | None:
        """Return the change with its outcome if it must not be sent now; None if it can be sent."""
        # A killed process sent it, and it may have happened.
        if entry.tries and entry.action == "update" and self._has_new_values(entry, record):
            return entry.with_outcome("done")
        if not self._is_as_planned(entry, record):
            if entry.tries:
                return entry.with_outcome("uncertain", _UNCERTAIN)
            return entry.with_outcome(*CHANGED_SINCE_PLANNED)
        if record.get("billed") is True:
            return entry.with_outcome(*BILLED)
        return None

    def _is_as_planned(self, entry: Entry, record: ServerRecord) -> bool:
        now = record.get("modified_at")
        if now is not None and entry.modified_at is not None and now.isoformat() != entry.modified_at:
            return False
        return all(self._has_value(name, record, before) for name, before, _ in entry.cells)

    def _has_new_values(self, entry: Entry, record: ServerRecord) -> bool:
        return all(self._has_value(name, record, after) for name, _, after in entry.cells)

    def _has_value(self, name: str, record: ServerRecord, value: object) -> bool:
        column = self._columns[name]
        return cells_equal(column, record.get(name), read_cell(column, value))

    def _outcome_check(self, entry: Entry, path: str) -> OutcomeCheck:
        def check(_started: float) -> Response | None:
            try:
                _, record = self._read(entry, path)
            except NotFoundError:
                if entry.action == "delete":
                    return Response(b"", None)
                raise
            if entry.action == "update" and self._has_new_values(entry, record):
                return Response(b"", None)
            if self._is_as_planned(entry, record):
                return None
            raise DecodeError(f"{self.resource.name}: {_UNCERTAIN}.")

        return check
