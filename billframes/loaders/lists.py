"""The loaders of lists, one for each resource.

A loader's arguments, signature and most of its docstring are derived from its resource. The class docstring has what is
special about its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from billframes.loaders.arguments import Argument, create_arguments
from billframes.loaders.loader import Id, ListLoader, PagedLoader
from billframes.loaders.methods import declared_method
from billframes.loaders.single_records import Creates, Deletes, SingleRecords, Updates
from billframes.loading.convert import convert
from billframes.loading.ids import identifier
from billframes.loading.progress import Progress
from billframes.loading.query_args import ListRequest
from billframes.loading.record import Record
from billframes.schema.columns import dictionary_encode, enum_column
from billframes.schema.resources import (
    CLIENTS,
    CUSTOM_FIELDS,
    EXPENSES,
    FIXED_FEES,
    INVOICES,
    MATTERS,
    PRACTICE_AREAS,
    TIME_ENTRIES,
    USERS,
    Resource,
)
from billframes.schema.sources import sources_of


def _with_acting_user(resource: Resource) -> Iterator[Argument]:
    yield from create_arguments(resource)
    text = "The user on whose behalf the entry is created, for this call. None is the client's `acting_user`."
    yield Argument("acting_user", "Id | None", "str or UUID", text)


class TimeEntries(PagedLoader, SingleRecords):
    """
    Load time entries.

    `rate` and `amount` are missing for entries that are not billable, and for all entries if the credential lacks the
    scope `read.rates`.

    Examples
    --------
    >>> entries = bf.time_entries("2026-10", billing_type="billable")
    >>> entries[["hours", "amount"]].dtypes.astype(str).tolist()
    ['float64', 'float64']
    """

    _resource = TIME_ENTRIES

    @declared_method(_with_acting_user, returns="Record | None")
    def create(self, arguments: dict[str, Any]) -> Record | None:
        """
        Create a time entry. Omitted arguments are not sent; None is sent as null.

        {parameters}

        Returns
        -------
        Record or None
            The new time entry, or None if the server does not return it.

        {write_raises}
        """
        connection = self._connection
        acting = arguments.pop("acting_user") or connection.acting_user
        headers = {connection.acting_user_header: identifier(acting, "acting_user")} if acting else {}
        return self._create(arguments, headers)


class Expenses(PagedLoader, SingleRecords):
    """
    Load expenses.

    `user_id` is missing if the expense belongs to the firm.

    Examples
    --------
    >>> bf.expenses("2026-09", billed=False)["billed"].any()
    np.False_
    """

    _resource = EXPENSES


class FixedFees(PagedLoader, SingleRecords):
    """
    Load fixed fees.

    `user_id` is missing if the fee belongs to the firm.

    Examples
    --------
    >>> bf.fixed_fees("2026-Q3")["amount"].dtype
    dtype('float64')
    """

    _resource = FIXED_FEES


class Invoices(PagedLoader):
    """
    Load invoices.

    `matter_id` is one of the matters that the invoice covers. `due_date` is missing unless the invoice is final.

    Examples
    --------
    >>> bf.invoices("2026-Q3", invoice_state="final")["due_date"].isna().any()
    np.False_
    """

    _resource = INVOICES


class Clients(PagedLoader, SingleRecords):
    """
    Load clients.

    Examples
    --------
    >>> bf.clients(limit=3).shape[0]
    3
    """

    _resource = CLIENTS


class Matters(PagedLoader, SingleRecords):
    """
    Load matters.

    Examples
    --------
    >>> bf.matters(archived=False)["archived"].any()
    np.False_
    """

    _resource = MATTERS

    def archive(self, id: Id) -> Record | None:  # noqa: A002
        """
        Archive a matter, for example if it can't be deleted.

        Parameters
        ----------
        id : str or UUID
            The matter to archive.

        Returns
        -------
        Record or None
            The archived matter, or None if the server does not return it.
        """
        return self._update(id, {"archived": True}, "archive")

    def unarchive(self, id: Id) -> Record | None:  # noqa: A002
        """
        Make an archived matter active again.

        Parameters
        ----------
        id : str or UUID
            The archived matter.

        Returns
        -------
        Record or None
            The active matter, or None if the server does not return it.
        """
        return self._update(id, {"archived": False}, "unarchive")


class Users(ListLoader, Updates):
    """
    Load users, in the server's order. Only a user's custom fields can be changed.

    Examples
    --------
    >>> bf.users(role="principal")["role"].unique().tolist()
    ['principal']
    """

    _resource = USERS


class PracticeAreas(ListLoader, Creates, Updates, Deletes):
    """
    Load practice areas: `practice_area_id`, `label` and `default` (bool), in the server's order.

    The API's description does not show the path for creating, updating and deleting them. The list's path is assumed.
    """

    _resource = PRACTICE_AREAS


class CustomFields(ListLoader):
    """
    Load the definitions of custom fields.

    The columns are `id`, `entity` and `value_type` (category), `name`, and for enums `option_ids` and `option_labels`,
    lists in display order. Without `entity`, one request is sent for each of the three.
    """

    _resource = CUSTOM_FIELDS

    def _load(self, request: ListRequest, *, to: str, progress: bool | Progress | None) -> Any:
        if request.expected_values:
            return super()._load(request, to=to, progress=progress)
        requests = [self._request({"entity": each}) for each in CUSTOM_FIELDS.filters[0].values]
        parts = [super(CustomFields, self)._load(each, to="arrow", progress=progress) for each in requests]
        return convert(_concatenated(parts), to)


def _concatenated(parts: list[pa.Table]) -> pa.Table:
    """Concatenate tables as if they were one load: the categories of each enum are those of all rows."""
    table = pa.concat_tables(parts)
    for place, source in enumerate(sources_of(CUSTOM_FIELDS.record)):
        if source.column.kind == "enum":
            encoded = enum_column(dictionary_encode(table.column(place).to_pylist()), source.column.values)
            table = table.set_column(place, source.column.field, encoded)
    return table
