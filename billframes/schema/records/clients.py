"""Declare clients and their matters: list items, single records, balances, and the bodies of creates and updates."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated

from msgspec import UNSET, UnsetType

from billframes.config.firm_values import MATTER_TYPES
from billframes.schema.records.shared import (
    ApiRecord,
    ClientReference,
    Contact,
    CustomFieldValue,
    Date,
    FieldUpdates,
    Flag,
    Id,
    Label,
    Metadata,
    Money,
    PracticeAreaReference,
    Text,
    Unsent,
    UserReference,
    WriteBody,
    enum,
    note,
)


class ClientList(ApiRecord, kw_only=True):
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


_SET_A, _SET_B = "the server sends set A", "the server sends set B"


class ClientBalances(ApiRecord):
    """
    What a client owes. The API describes two sets of fields; a server sends one of them, or both.

    Set A has `overdue0To30` and the like: buckets that don't overlap. Set B has `overdue30`, `overdue60` and
    `overdue90`: in each, everything that is more than that many days overdue.
    """

    balance: Annotated[Money, note("Open balance of all final invoices.")]
    overdue: Annotated[Money, note("Total that is past due.")]
    current: Annotated[Money | None, note("Not yet due.", missing=_SET_B)] = None
    overdue0_to30: Annotated[Money | None, note("Up to 30 days overdue.", missing=_SET_B)] = None
    overdue30_to60: Annotated[Money | None, note("30 to 60 days overdue.", missing=_SET_B)] = None
    overdue60_to90: Annotated[Money | None, note("60 to 90 days overdue.", missing=_SET_B)] = None
    overdue_over90: Annotated[Money | None, note("More than 90 days overdue.", missing=_SET_B)] = None
    overdue30: Annotated[Money | None, note("Total that is more than 30 days overdue.", missing=_SET_A)] = None
    overdue60: Annotated[Money | None, note("Total that is more than 60 days overdue.", missing=_SET_A)] = None
    overdue90: Annotated[Money | None, note("Total that is more than 90 days overdue.", missing=_SET_A)] = None


BALANCE_SETS = MappingProxyType(
    {
        "A": ("balance", "current", "overdue", "overdue0To30", "overdue30To60", "overdue60To90", "overdueOver90"),
        "B": ("balance", "overdue", "overdue30", "overdue60", "overdue90"),
    }
)


class CreateClient(WriteBody):
    """A client to create."""

    name: Annotated[Label, note("Company name or individual name.")]
    reference: Annotated[Text | Unsent, note("Reference number.")] = UNSET
    contact: Annotated[Contact | UnsetType, note("Must give a company name, or a first and last name, or both.")] = (
        UNSET
    )
    notes: Annotated[Text | Unsent, note("Internal notes.")] = UNSET
    custom_fields: Annotated[FieldUpdates, note("Custom fields to set; the others stay unset.")] = UNSET


class UpdateClient(WriteBody):
    """Changes to a client; a field that is not sent stays unchanged."""

    name: Annotated[Text | Unsent, note("Company name or individual name.")] = UNSET
    reference: Annotated[Text | Unsent, note("Reference number.")] = UNSET
    notes: Annotated[Text | Unsent, note("Internal notes.")] = UNSET
    contact: Annotated[Contact | UnsetType, note("How to reach the client.")] = UNSET
    custom_fields: Annotated[FieldUpdates, note("Custom fields to change; null as a value clears the field.")] = UNSET


MatterType = Annotated[str, enum(*MATTER_TYPES)]


class ConflictInformation(ApiRecord):
    """Who else is involved, for conflict checks."""

    adverse: Annotated[Text | None, note("Adverse parties.")] = None
    related_adverse: Annotated[Text | None, note("Parties related to the adverse ones.")] = None
    related_client: Annotated[Text | None, note("Parties related to the client.")] = None
    opposing: Annotated[Text | None, note("Opposing parties.")] = None


class MatterLedesConfiguration(ApiRecord):
    """How a matter is billed electronically."""

    enabled: Annotated[Flag, note("Whether LEDES billing is on.")]
    activity_code_required: Annotated[Flag, note("Time entries and fixed fees need an activity code.")]
    task_code_required: Annotated[Flag, note("Time entries and fixed fees need a task code.")]
    expense_code_required: Annotated[Flag, note("Expenses need an expense code.")]
    code_set_ids: Annotated[list[str], note("Code sets available for the matter.")]


LEDES_CODES = {
    "activity_code": ("activity", "ledes_activity_code_required"),
    "task_code": ("task", "ledes_task_code_required"),
    "expense_code": ("expense", "ledes_expense_code_required"),
}
"""The columns of codes, each with the kind of code and the column of the matter's setting that requires it."""


class MatterList(ApiRecord, kw_only=True):
    """A matter in a list."""

    matter_id: Annotated[Id, note("The matter.")]
    name: Annotated[Label, note("The matter's name.")]
    reference: Annotated[Text | None, note("Reference number.", missing="the matter has none")] = None
    matter_type: Annotated[MatterType, note("Decides defaults for time entries and how the matter is billed.")]
    archived: Annotated[Flag, note("True when archived, False when active.")]
    opened: Annotated[Date | None, note("When the matter was opened.", missing="not recorded")] = None
    client_id: Annotated[Id, note("The client.")]
    client: Annotated[ClientReference | None, note("The client in short.")] = None
    responsible_id: Annotated[Id, note("The responsible attorney.")]
    responsible: Annotated[UserReference | None, note("The responsible attorney in short.", select="responsible")] = (
        None
    )
    originator_ids: Annotated[
        list[Id] | None, note("The originating attorneys.", missing="nobody originated the matter")
    ]
    originators: Annotated[
        list[UserReference] | None, note("The originating attorneys in short.", select="originator")
    ] = None
    practice_area_id: Annotated[Id | None, note("The practice area.", missing="the matter has none")] = None
    practice_area: Annotated[
        PracticeAreaReference | None, note("The practice area in short.", select="practiceArea")
    ] = None
    ledes_configuration: Annotated[
        MatterLedesConfiguration | None,
        note("How the matter is billed electronically.", select="ledesConfiguration", prefix="ledes"),
    ] = None
    meta: Annotated[Metadata | None, note("When created and changed.", select="meta")] = None
    custom_fields: Annotated[list[CustomFieldValue] | None, note("Custom field values.", select="customFields")] = None

    def __post_init__(self) -> None:
        """Put the originators in the order of their ids, because lists of ids and names are read side by side."""
        if not self.originators or len(self.originator_ids or ()) < 2:
            return
        found = {each.user_id.casefold(): each for each in self.originators if each.user_id}
        ids = [id_.casefold() for id_ in self.originator_ids or ()]
        if len(found) == len(self.originators) and found.keys() <= set(ids):
            self.originators = [found.get(id_) or UserReference(user_id=id_) for id_ in ids]


class MatterDetail(MatterList, kw_only=True):
    """A matter by itself."""

    client: Annotated[ClientReference, note("The client in short.")]
    responsible: Annotated[UserReference, note("The responsible attorney in short.")]
    originator_ids: Annotated[list[Id] | None, note("The originating attorneys.")] = None
    conflict_information: Annotated[ConflictInformation | None, note("For conflict checks.")] = None
    billing_instructions: Annotated[Text | None, note("How the client wants to be billed.")] = None
    notes: Annotated[Text | None, note("Internal notes.")] = None
    referral_sources: Annotated[Text | None, note("Where the matter came from.")] = None


class CreateMatter(WriteBody):
    """A matter to create."""

    name: Annotated[Label, note("The matter's name.")]
    client_id: Annotated[Id, note("The client.")]
    responsible_id: Annotated[Id, note("The responsible attorney.")]
    reference: Annotated[Text | Unsent, note("Reference number.")] = UNSET
    matter_type: Annotated[MatterType | UnsetType, note("The kind of matter. If omitted, hourly.")] = UNSET
    originator_id: Annotated[Id | Unsent, note("The originating attorney.")] = UNSET
    opened: Annotated[Date | Unsent, note("When the matter was opened.")] = UNSET
    archived: Annotated[Flag | UnsetType, note("Whether the matter is archived.")] = UNSET
    conflict_information: Annotated[ConflictInformation | Unsent, note("For conflict checks.")] = UNSET
    billing_instructions: Annotated[Text | Unsent, note("How the client wants to be billed.")] = UNSET
    notes: Annotated[Text | Unsent, note("Internal notes.")] = UNSET
    referral_sources: Annotated[Text | Unsent, note("Where the matter came from.")] = UNSET
    practice_area_id: Annotated[Id | Unsent, note("The practice area.")] = UNSET
    rate_group_id: Annotated[Id | Unsent, note("The rate group.")] = UNSET
    custom_fields: Annotated[FieldUpdates, note("Custom fields to set; the others stay unset.")] = UNSET


class UpdateMatter(WriteBody):
    """Changes to a matter; a field that is not sent stays unchanged."""

    name: Annotated[Text | Unsent, note("The matter's name.")] = UNSET
    reference: Annotated[Text | Unsent, note("Reference number.")] = UNSET
    client_id: Annotated[Id | Unsent, note("The client.")] = UNSET
    responsible_id: Annotated[Id | Unsent, note("The responsible attorney.")] = UNSET
    opened: Annotated[Date | Unsent, note("When the matter was opened.")] = UNSET
    archived: Annotated[Flag | Unsent, note("True archives the matter, False makes it active again.")] = UNSET
    conflict_information: Annotated[ConflictInformation | Unsent, note("For conflict checks.")] = UNSET
    billing_instructions: Annotated[Text | Unsent, note("How the client wants to be billed.")] = UNSET
    notes: Annotated[Text | Unsent, note("Internal notes.")] = UNSET
    referral_sources: Annotated[Text | Unsent, note("Where the matter came from.")] = UNSET
    practice_area_id: Annotated[Id | Unsent, note("The practice area; the all-zero UUID removes it.")] = UNSET
    custom_fields: Annotated[FieldUpdates, note("Custom fields to change; null as a value clears the field.")] = UNSET
