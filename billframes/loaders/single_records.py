"""Single records: read, create, update and delete, for the loaders whose resources have it.

A verb's signature is spelled out on its loader; here is what they share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from billframes._names import snake_case
from billframes.errors import DecodeError, ParameterError
from billframes.loaders.loader import Id, Loader
from billframes.loading.load import definitions_of
from billframes.loading.merge import Merge, merged
from billframes.loading.query_args import segment
from billframes.loading.record import Record, record_from
from billframes.loading.request_bodies import body_of, custom_updates, mergeable
from billframes.schema.decode import decode_single, same_id
from billframes.schema.records import Request
from billframes.transport.http import Response
from billframes.transport.http_errors import Sent, uncertain
from billframes.transport.write_recovery import change_settled, deletion_settled

__all__ = ["DeleteVerb", "RecordVerbs", "Verbs"]


class Verbs(Loader):
    """What a loader needs for its verbs."""

    def _create(
        self, request: type[Request], values: Mapping[str, Any], *, headers: Mapping[str, str] | None = None
    ) -> Record | None:
        body = self._body(request, values)
        path, name = self.resource.path, self.resource.name
        response = self._client().send("POST", path, body, resource=name, headers=headers)
        try:
            return self._record(response.body) if response.body.strip() else None
        except DecodeError as error:
            # The server did something: who takes this for a failure might send it again.
            raise uncertain(error, Sent(name, "POST", path, body=body)) from None

    def _update(self, id: Id, request: type[Request], values: Mapping[str, Any]) -> Record | None:  # noqa: A002
        path = self._path(id)
        if all(value is UNSET for value in values.values()):
            raise ParameterError(f"update was given nothing to change; it takes {', '.join(values)}.")
        merging = mergeable(request, values)
        changes = {name: value.changes if isinstance(value, Merge) else value for name, value in values.items()}
        body = self._body(request, changes)
        if merging:
            present = self._look(path).body
            self._record(present, str(id))
            body = self._merged(body, present, list(merging.values()), str(id))
        settle = None
        if self.resource.detail:
            settle = change_settled(lambda: self._look(path), body, self.resource, str(id))
        response = self._client().send("PUT", path, body, resource=self.resource.name, settle=settle)
        return self._record(response.body, str(id)) if response.body.strip() else None

    def _merged(self, body: bytes, present: bytes, names: list[str], id: str) -> bytes:  # noqa: A002
        try:
            return merged(body, present, names)
        except (msgspec.DecodeError, RecursionError):
            said = "it holds a value that can't be read and sent back, so nothing was changed."
        raise DecodeError(f"{self.resource.name}: record {id} breaks the API's description at $.data: {said}")

    def _look(self, path: str) -> Response:
        return self._client().fetch(path, resource=self.resource.name)

    def _path(self, id: Id) -> str:  # noqa: A002
        return f"{self.resource.path}/{segment(id, 'id')}"

    def _record(self, body: bytes, id: str | None = None) -> Record:  # noqa: A002
        resource = self.resource
        struct = decode_single(body, resource.detail or resource.record, resource.name, id_name=resource.id, id=id)
        came = getattr(struct, snake_case(resource.id))
        if id is not None and not same_id(came, id):
            raise DecodeError(
                f"{resource.name}: asked for record {id}, the server answered with {came or 'one without an id'} at "
                f"$.data.{resource.id}. Try again; if it stays, tell whoever runs the server."
            )
        try:
            return record_from(struct, resource.noun)
        except DecodeError as error:
            raise DecodeError(
                f"{resource.name}: record {id or came} breaks the API's description at {error}."
            ) from None

    def _body(self, request: type[Request], values: Mapping[str, Any]) -> bytes:
        fields = values.get("custom_fields", UNSET)
        if fields is UNSET or fields is None:
            return body_of(request, values)
        # What can be checked without asking the server comes first.
        body_of(request, {**values, "custom_fields": UNSET})
        if not isinstance(fields, Mapping):
            raise ParameterError(f"custom_fields={fields!r} is no mapping of names to values.")
        columns = definitions_of(self._client(), str(self.resource.entity)) if fields else ()
        return body_of(request, {**values, "custom_fields": custom_updates(fields, columns)})


class DeleteVerb(Verbs):
    """Deletion, the same for every resource that has it."""

    def delete(self, id: Id) -> None:  # noqa: A002
        """
        Delete one record.

        Parameters
        ----------
        id : str or UUID
            Which one.

        Raises
        ------
        NotFoundError
            There is none with this id.
        RefusedError
            A rule of the API is against it: a client with matters, a matter with time entries, expenses or invoices
            (archive it instead), an item that is billed, a fixed fee that time entries are assigned to.
        UncertainWriteError
            No answer came, and the record can't be read: look before sending it again.
        """
        path = self._path(id)
        settle = deletion_settled(lambda: self._look(path)) if self.resource.detail else None
        self._client().send("DELETE", path, resource=self.resource.name, settle=settle)


class RecordVerbs(DeleteVerb):
    """The verbs that are the same for every resource with single records."""

    def get(self, id: Id) -> Record:  # noqa: A002 - the contract's name
        """
        Read one record.

        Parameters
        ----------
        id : str or UUID
            Which one.

        Returns
        -------
        Record
            With its references and custom fields; `to_dict()` gives plain values.

        Raises
        ------
        NotFoundError
            There is none with this id.

        Examples
        --------
        >>> first = bf.time_entries("2026-10", limit=1)["time_entry_id"].item()
        >>> entry = bf.time_entries.get(first)
        >>> entry.hours > 0, entry.matter.name is not None
        (True, True)
        """
        return self._record(self._look(self._path(id)).body, str(id))
