"""Clients: the list item, the single record, balances, and what creates and updates take."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated

from msgspec import UNSET, UnsetType

from billframes.schema.records.fields import ApiRecord, Id, Label, Money, Text, WriteBody, note
from billframes.schema.records.shared import Contact, CustomFieldValue, CustomFieldValueUpdate, Metadata

__all__ = ["BALANCE_SETS", "ClientBalances", "ClientDetail", "ClientList", "CreateClient", "UpdateClient"]


class ClientList(ApiRecord):
    """A client in a list."""

    client_id: Annotated[Id, note("The client.")]
    name: Annotated[Label, note("Company name or individual name.")]
    reference: Annotated[Text | None, note("Reference number.", missing="the client has none")] = None
    contact: Annotated[Contact | None, note("How to reach the client.", select="contact")] = None
    meta: Annotated[Metadata | None, note("When created and changed.", select="meta")] = None
    custom_fields: Annotated[list[CustomFieldValue] | None, note("Custom field values.", select="customFields")] = None


class ClientDetail(ClientList, kw_only=True):
    """A client by itself."""

    contact: Annotated[Contact, note("How to reach the client.")]
    notes: Annotated[Text | None, note("Internal notes.", missing="there are none")] = None


class ClientBalances(ApiRecord):
    """
    What a client owes. Two field sets are described; a server sends either (or both).

    Set A has `overdue0To30` and the like, with separate buckets; set B has `overdue30`, `overdue60` and
    `overdue90`, each everything more than so many days overdue.
    """

    balance: Annotated[Money, note("Open balance of all final invoices.")]
    overdue: Annotated[Money, note("All that is past due.")]
    current: Annotated[Money | None, note("Not yet due.", missing="the server sends set B")] = None
    overdue0_to30: Annotated[Money | None, note("Up to 30 days overdue.", missing="the server sends set B")] = None
    overdue30_to60: Annotated[Money | None, note("30 to 60 days overdue.", missing="the server sends set B")] = None
    overdue60_to90: Annotated[Money | None, note("60 to 90 days overdue.", missing="the server sends set B")] = None
    overdue_over90: Annotated[Money | None, note("More than 90 days overdue.", missing="the server sends set B")] = None
    overdue30: Annotated[
        Money | None, note("More than 30 days overdue, all of it.", missing="the server sends set A")
    ] = None
    overdue60: Annotated[
        Money | None, note("More than 60 days overdue, all of it.", missing="the server sends set A")
    ] = None
    overdue90: Annotated[
        Money | None, note("More than 90 days overdue, all of it.", missing="the server sends set A")
    ] = None


BALANCE_SETS = MappingProxyType(
    {
        "A": ("balance", "current", "overdue", "overdue0To30", "overdue30To60", "overdue60To90", "overdueOver90"),
        "B": ("balance", "overdue", "overdue30", "overdue60", "overdue90"),
    }
)


class CreateClient(WriteBody):
    """A client to create."""

    name: Annotated[Label, note("Company name or individual name.")]
    reference: Annotated[Text | UnsetType | None, note("Reference number.")] = UNSET
    contact: Annotated[Contact | UnsetType, note("Must give a company name, or a first and last name, or both.")] = (
        UNSET
    )
    notes: Annotated[Text | UnsetType | None, note("Internal notes.")] = UNSET
    custom_fields: Annotated[
        list[CustomFieldValueUpdate] | UnsetType | None, note("Custom fields to set; the others stay unset.")
    ] = UNSET


class UpdateClient(WriteBody):
    """Changes to a client; what is not sent stays as it is."""

    name: Annotated[Text | UnsetType | None, note("Company name or individual name.")] = UNSET
    reference: Annotated[Text | UnsetType | None, note("Reference number.")] = UNSET
    notes: Annotated[Text | UnsetType | None, note("Internal notes.")] = UNSET
    contact: Annotated[Contact | UnsetType, note("How to reach the client.")] = UNSET
    custom_fields: Annotated[
        list[CustomFieldValueUpdate] | UnsetType | None,
        note("Custom fields to change; null as a value clears the field."),
    ] = UNSET
