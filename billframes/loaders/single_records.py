"""The methods for single records: create, read, update, delete, and plan edits.

Each loader has those methods that its resource has operations for. The arguments of `create` and `update` are declared
in the resource's structs (see `billframes.loaders.arguments`). If the response to an update is lost, the record is read
back before the update is sent again, so that nothing is written twice. `billframes.bulk` makes the plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from billframes._shared.names import as_given, holds_several, with_article
from billframes.errors import DecodeError, ParameterError
from billframes.loaders.arguments import Argument, create_arguments, update_arguments
from billframes.loaders.loader import Id, Loader
from billframes.loaders.methods import declared_method, several_records
from billframes.loading.ids import identifier, path_segment
from billframes.loading.load import custom_field_columns
from billframes.loading.record import Record, record_from
from billframes.loading.request_bodies import SetFields, custom_field_updates, encode_body, find_merges, merge_nested
from billframes.schema.decode import decode_single, same_id
from billframes.schema.records import WriteBody
from billframes.schema.resources import Resource
from billframes.transport.answers import OtherRecordError, check_answer, check_deletion_answer, is_of_another_kind
from billframes.transport.http_errors import uncertain_write_error
from billframes.transport.request import ApiRequest, Response
from billframes.transport.unanswered_updates import check_deletion, check_update
from billframes.wings import module_of

if TYPE_CHECKING:
    from billframes.bulk.plan import Plan


class RecordMethods(Loader):
    """The common part of the methods for single records."""

    def _create(self, values: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Record | None:
        request = self._resource.creates
        assert request is not None  # noqa: S101 - only loaders of resources that have it inherit `create`
        body = self._body(request, values)
        path, name = self._resource.path, self._resource.name
        response = self._connection.send("POST", path, body, resource=name, headers=headers)
        return self._written(response.body, request, ApiRequest(name, "POST", path, body=body))

    def _update(self, id: Id, values: Mapping[str, Any], verb: str = "update") -> Record | None:  # noqa: A002
        path, request = self._path(id, verb), self._resource.updates
        assert request is not None  # noqa: S101 - only loaders of resources that have it inherit `update`
        if all(value is UNSET for value in values.values()):
            raise ParameterError(f"update needs at least one change; it takes {', '.join(values)}.")
        merging = find_merges(request, values)
        changes = {name: value.changes if isinstance(value, SetFields) else value for name, value in values.items()}
        body = self._body(request, changes)
        if merging:
            present = self._read_back(path).body
            self._record(present, str(id))
            body = self._merged(body, present, list(merging.values()), str(id))
        check_outcome = None
        if self._resource.detail:
            check_outcome = check_update(lambda: self._read_back(path), body, self._resource, str(id))
        response = self._connection.send("PUT", path, body, resource=self._resource.name, check_outcome=check_outcome)
        return self._written(response.body, request, ApiRequest(self._resource.name, "PUT", path, body=body), str(id))

    def _written(
        self,
        answer: bytes,
        body: type[WriteBody],
        request: ApiRequest,
        id: str | None = None,  # noqa: A002
    ) -> Record | None:
        """Return the record that came back from a write; raise if it is not the one that was sent."""
        if not answer.strip():
            return None
        try:
            record = self._record(answer, id, checked=False)
            check_answer(answer, request.body, body, self._resource, id)
        except DecodeError as error:
            of_another = isinstance(error, OtherRecordError) or is_of_another_kind(answer, self._resource)
            if id is not None and not of_another:
                raise
            # The server did create a record. A caller who treats this as a failure might create it twice.
            raise uncertain_write_error(error, request) from None
        return record

    def _merged(self, body: bytes, present: bytes, names: list[str], id: str) -> bytes:  # noqa: A002
        try:
            return merge_nested(body, present, names)
        except (msgspec.DecodeError, RecursionError):
            reason = "it has a value that can't be read and sent back, so nothing was changed."
        raise DecodeError(f"{self._resource.name}: record {id} breaks the API's description at $.data: {reason}")

    def _read_back(self, path: str) -> Response:
        return self._connection.fetch(path, resource=self._resource.name)

    def _path(self, id: Id, verb: str) -> str:  # noqa: A002
        if holds_several(id):
            raise several_records(type(self), verb, id)
        return f"{self._resource.path}/{path_segment(identifier(id, 'id', self._resource.id_column), 'id')}"

    def _record(self, body: bytes, id: str | None = None, *, checked: bool = True) -> Record:  # noqa: A002
        """Return the record in a response; `checked` raises if it has another id."""
        resource = self._resource
        struct = decode_single(body, resource.detail or resource.record, resource.name, id_name=resource.id, id=id)
        received = getattr(struct, resource.id_column)
        if checked and id is not None and not same_id(received, id):
            raise DecodeError(
                f"{resource.name}: record {id} was requested, the server sent {received or 'one without an id'} at "
                f"$.data.{resource.id}. Try again; if it happens again, tell whoever runs the server."
            )
        try:
            return record_from(struct, resource.noun, self._connection.field_names)
        except DecodeError as error:
            raise DecodeError(
                f"{resource.name}: record {id or received} breaks the API's description at {error}."
            ) from None

    def _body(self, request: type[WriteBody], values: Mapping[str, Any]) -> bytes:
        fields = values.get("custom_fields", UNSET)
        if fields is UNSET or fields is None:
            return encode_body(request, values)
        # First the values that can be checked without a request.
        encode_body(request, {**values, "custom_fields": UNSET})
        if not isinstance(fields, Mapping):
            raise ParameterError(f"{as_given('custom_fields', fields)} is not a mapping of names to values.")
        columns = custom_field_columns(self._connection, str(self._resource.entity)) if fields else ()
        return encode_body(request, {**values, "custom_fields": custom_field_updates(fields, columns)})


class Creates(RecordMethods):
    """Records can be created."""

    @declared_method(create_arguments, returns="Record | None")
    def create(self, arguments: dict[str, Any]) -> Record | None:
        """
        Create {a_noun}. Omitted arguments are not sent; None is sent as null.

        {parameters}

        Returns
        -------
        Record or None
            The new {noun}, or None if the server does not return it.

        {write_raises}
        """
        return self._create(arguments)


class Updates(RecordMethods):
    """Records can be updated."""

    @declared_method(update_arguments, returns="Record | None")
    def update(self, arguments: dict[str, Any]) -> Record | None:
        """
        Change {a_noun}. Omitted arguments are not sent; None is sent as null.

        {parameters}

        Returns
        -------
        Record or None
            The changed {noun}, or None if the server does not return it.

        {write_raises}
        """
        return self._update(arguments.pop("id"), arguments)


class Deletes(RecordMethods):
    """Records can be deleted."""

    def delete(self, id: Id) -> None:  # noqa: A002 - the contract's name
        """
        Delete one record.

        Parameters
        ----------
        id : str or UUID
            The record to delete.

        Raises
        ------
        NotFoundError
            There is no record with this id.
        RefusedError
            The API does not allow it: the record is a client with matters, a matter with time entries, expenses or
            invoices (archive it instead), a billed item, or a fixed fee with time entries.
        UncertainWriteError
            There was no response, and the record can't be read; or the response has another record. Check the record
            before you delete it again.
        """
        path = self._path(id, "delete")
        check_outcome = check_deletion(lambda: self._read_back(path)) if self._resource.detail else None
        response = self._connection.send("DELETE", path, resource=self._resource.name, check_outcome=check_outcome)
        try:
            check_deletion_answer(response.body, self._resource, str(id))
        except DecodeError as error:
            raise uncertain_write_error(error, ApiRequest(self._resource.name, "DELETE", path)) from None


class Reads(RecordMethods):
    """Records can be read by their id."""

    def get(self, id: Id) -> Record:  # noqa: A002 - the contract's name
        """
        Read one record.

        Parameters
        ----------
        id : str or UUID
            The record to read.

        Returns
        -------
        Record
            The record with its references and custom fields; `to_dict()` returns plain values.

        Raises
        ------
        NotFoundError
            There is no record with this id.

        Examples
        --------
        >>> first = bf.time_entries("2026-10", limit=1)["time_entry_id"].item()
        >>> entry = bf.time_entries.get(first)
        >>> entry.hours > 0, entry.matter.name is not None
        (True, True)
        """
        return self._record(self._read_back(self._path(id, "get")).body, str(id))


_EDITED = (
    "A frame of pandas, Polars or Arrow with one row for each {noun}: its id in `{id}`, and any other columns. Only "
    "these columns are compared. A row without an id will be created."
)


def _plan_arguments(resource: Resource) -> Iterator[Argument]:
    text = _EDITED.format(noun=resource.noun, id=resource.id_column)
    yield Argument("edited", "Any", "DataFrame", text, positional=True)
    yield Argument("delete", "Id | Collection[Id]", "str, UUID or list of these", "Ids of records to delete.", ())
    yield Argument(
        "duplicates",
        "bool",
        "bool",
        f"Whether to create {with_article(resource.noun)} if the server has one with the same values. Otherwise "
        "such rows are marked `invalid`, because a frame with new rows would create them twice if applied twice.",
        False,
    )


class Plans(RecordMethods):
    """Edited frames can be planned and applied."""

    @declared_method(_plan_arguments, returns="Plan")
    def plan(self, arguments: dict[str, Any]) -> Plan:
        """
        Compare an edited frame with the server, and list every cell that would change. Nothing is written.

        {parameters}

        Returns
        -------
        Plan
            `.frame` has one row for each cell that differs, with its status; `.counts` has the number of each status. A
            notebook shows the plan as a table. `.apply()` sends the changes with the status `will change`.

        Raises
        ------
        ParameterError
            The frame has no column with ids, has an id twice, or is of another resource; nothing was requested.
        ApiError
            The records could not be read from the server.
        """
        plan: Plan = module_of("bulk", "plan").make_plan(
            self._connection,
            self._resource,
            arguments["edited"],
            arguments["delete"],
            duplicates=arguments["duplicates"],
        )
        return plan


class SingleRecords(Creates, Reads, Updates, Deletes, Plans):
    """Records can be created, read, updated and deleted, one by one and in bulk."""
