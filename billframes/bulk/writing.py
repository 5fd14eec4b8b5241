"""Send one change, and find out its outcome.

An update or a deletion reads the record first and is skipped if somebody changed it since the plan was made. An update
is sent without that if a list has just shown the record unchanged. If the response is lost, the record is read again:
it has what was sent (done), or its values from before (sent again), or others (uncertain: somebody else wrote
meanwhile). A create is never sent twice here: without an answer it
stays `unanswered`, and `billframes.bulk.apply` looks for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from billframes._names import snake_case
from billframes.bulk.cells import read_cell, same
from billframes.bulk.columns import EditColumn
from billframes.bulk.journal import Entry
from billframes.bulk.present import cells_of
from billframes.bulk.records import Record
from billframes.errors import (
    AccessDeniedError,
    ApiError,
    AuthenticationError,
    BillframesError,
    DecodeError,
    NotFoundError,
    RefusedError,
    UncertainWriteError,
)
from billframes.loading.connection import WritingConnection
from billframes.loading.ids import segment
from billframes.loading.request_bodies import merged
from billframes.schema.decode import decode_single
from billframes.schema.resources import TIME_ENTRIES, Resource
from billframes.transport.http import OutcomeCheck, Response

__all__ = ["MOVED", "ON_INVOICE", "Writer"]

# The outcomes of changes that are held back, with their reasons.
MOVED = ("changed since planned", "somebody changed the record after the plan was made")
ON_INVOICE = ("billed", "the record is on an invoice now")
# Seconds after which a list no longer counts as read just before.
_FRESH = 2.0
_UNSURE = "it was sent, and then somebody changed the record, so it can't be said whether it happened"


class Writer:
    """
    Sends changes of one resource.

    Parameters
    ----------
    connection : WritingConnection
    resource : Resource
    columns : mapping of str to EditColumn
    """

    def __init__(self, connection: WritingConnection, resource: Resource, columns: Mapping[str, EditColumn]) -> None:
        self._connection, self.resource, self._columns = connection, resource, columns
        self._nested = _nested_of(resource)

    def send(self, entry: Entry, unmoved_at: float | None = None) -> Entry:
        """
        Send a change and return it with its outcome.

        Parameters
        ----------
        entry : Entry
        unmoved_at : float, optional
            When a list proved that the record is as it was planned, by `time.monotonic`; otherwise it is read first.

        Raises
        ------
        AuthenticationError
            The credential is not accepted, so no other change would be.
        """
        try:
            if entry.action == "create":
                return self._create(entry)
            return self._write(entry) if self._is_proved(entry, unmoved_at) else self._change(entry)
        except (AuthenticationError, KeyboardInterrupt):
            raise
        except UncertainWriteError as error:
            if entry.action == "create":
                return entry.with_outcome("unanswered", _short(error))
            return entry.with_outcome("uncertain", _short(error))
        except (RefusedError, AccessDeniedError) as error:
            return entry.with_outcome("refused", str(error))
        except NotFoundError:
            return entry.with_outcome("gone", "the server has no such record any more")
        except BillframesError as error:
            return entry.with_outcome("failed", f"not sent: {error}" if _is_read(error) else str(error))

    def _create(self, entry: Entry) -> Entry:
        resource = self.resource
        headers = {}
        if resource is TIME_ENTRIES and self._connection.acting_user:
            headers = {self._connection.acting_user_header: self._connection.acting_user}
        response = self._connection.send("POST", resource.path, entry.body, resource=resource.name, headers=headers)
        if not response.body.strip():
            return entry.with_outcome("done")
        try:
            made = decode_single(response.body, resource.detail, resource.name, id_name=resource.id)
        except DecodeError:
            return entry.with_outcome("unanswered", "the server's answer could not be read")
        return entry.with_outcome("done", id_=str(getattr(made, snake_case(resource.id))))

    def _is_proved(self, entry: Entry, unmoved_at: float | None) -> bool:
        """Tell whether an update can be sent without reading its record."""
        if unmoved_at is None or time.monotonic() - unmoved_at > _FRESH or entry.action != "update":
            return False
        return not entry.tries and entry.base is not None and not self._parts(entry)

    def _write(self, entry: Entry) -> Entry:
        """Send an update of a record that is unchanged since the plan."""
        path = self._path(entry)
        try:
            check = self._outcome_check(entry, path)
            self._connection.send("PUT", path, entry.body, resource=self.resource.name, check_outcome=check)
        except RefusedError:
            # It may have been put on an invoice in between.
            _, record = self._read(entry, path)
            held = self._held(entry, record)
            if held is None:
                raise
            return held
        return entry.with_outcome("done")

    def _path(self, entry: Entry) -> str:
        return f"{self.resource.path}/{segment(str(entry.id), 'id')}"

    def _change(self, entry: Entry) -> Entry:
        path = self._path(entry)
        try:
            body, record = self._read(entry, path)
        except NotFoundError:
            if entry.action == "delete" and entry.tries:
                return entry.with_outcome("done")
            raise
        held = self._held(entry, record)
        if held is not None:
            return held
        check = self._outcome_check(entry, path)
        if entry.action == "delete":
            self._connection.send("DELETE", path, resource=self.resource.name, check_outcome=check)
            return entry.with_outcome("done")
        assert entry.body is not None  # noqa: S101 - updates have one
        parts = self._parts(entry)
        # Servers may replace a whole nested object by the part that is sent.
        sent = merged(entry.body, body, parts) if parts else entry.body
        self._connection.send("PUT", path, sent, resource=self.resource.name, check_outcome=check)
        return entry.with_outcome("done")

    def _parts(self, entry: Entry) -> list[str]:
        """Return the nested objects of which a part is sent."""
        if not self._nested or entry.body is None:
            return []
        sent = msgspec.json.decode(entry.body)
        return [name for name in self._nested if name in sent]

    def _read(self, entry: Entry, path: str) -> tuple[bytes, Record]:
        body = self._connection.fetch(path, resource=self.resource.name).body
        names = {"billed", "modified_at", *(name for name, *_ in entry.cells)}
        columns = [self._columns[name] for name in self._columns if name in names]
        return body, cells_of(body, self.resource, str(entry.id), columns)

    def _held(self, entry: Entry, record: Record) -> Entry | None:
        """Return the outcome of a change that must not be sent now; None if it may be."""
        # Sent before by a process that was killed: it may have happened.
        if entry.tries and entry.action == "update" and self._shows(entry, record):
            return entry.with_outcome("done")
        if not self._as_planned(entry, record):
            if entry.tries:
                return entry.with_outcome("uncertain", _UNSURE)
            return entry.with_outcome(*MOVED)
        if record.get("billed") is True:
            return entry.with_outcome(*ON_INVOICE)
        return None

    def _as_planned(self, entry: Entry, record: Record) -> bool:
        """Tell whether a record is as it was when the change was planned."""
        now = record.get("modified_at")
        if now is not None and entry.base is not None and now.isoformat() != entry.base:
            return False
        return all(self._has(name, record, before) for name, before, _ in entry.cells)

    def _shows(self, entry: Entry, record: Record) -> bool:
        return all(self._has(name, record, after) for name, _, after in entry.cells)

    def _has(self, name: str, record: Record, value: object) -> bool:
        column = self._columns[name]
        return same(column, record.get(name), read_cell(column, value))

    def _outcome_check(self, entry: Entry, path: str) -> OutcomeCheck:
        def check(_started: float) -> Response | None:
            try:
                _, record = self._read(entry, path)
            except NotFoundError:
                if entry.action == "delete":
                    return Response(b"", None)
                raise
            if entry.action == "update" and self._shows(entry, record):
                return Response(b"", None)
            if self._as_planned(entry, record):
                return None
            raise DecodeError(f"{self.resource.name}: {_UNSURE}.")

        return check


def _nested_of(resource: Resource) -> list[str]:
    """Return the names in JSON of the nested objects that an update takes."""
    updates = resource.updates
    assert updates is not None  # noqa: S101 - only such resources have plans
    wire = dict(zip(updates.__struct_fields__, updates.__struct_encode_fields__, strict=True))
    return [wire[name] for name in ("contact", "conflict_information") if name in wire]


def _short(error: Exception) -> str:
    return str(error.__cause__ or error)


def _is_read(error: Exception) -> bool:
    return isinstance(error, ApiError) and error.method == "GET"
