"""Matters: the list item, the single record, and what creates and updates take."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from billframes.schema.records.fields import ApiRecord, Date, Flag, Id, Label, Text, WriteBody, enum, note
from billframes.schema.records.shared import (
    ClientReference,
    CustomFieldValue,
    CustomFieldValueUpdate,
    Metadata,
    PracticeAreaReference,
    UserReference,
)

__all__ = [
    "ConflictInformation",
    "CreateMatter",
    "MatterDetail",
    "MatterLedesConfiguration",
    "MatterList",
    "MatterType",
    "UpdateMatter",
]

MatterType = Annotated[str, enum("hourly", "fixedFee", "contingency", "probono", "internal")]


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
    reference: Annotated[Text | UnsetType | None, note("Reference number.")] = UNSET
    matter_type: Annotated[MatterType | UnsetType, note("The kind of matter. If omitted, hourly.")] = UNSET
    originator_id: Annotated[Id | UnsetType | None, note("The originating attorney.")] = UNSET
    opened: Annotated[Date | UnsetType | None, note("When the matter was opened.")] = UNSET
    archived: Annotated[Flag | UnsetType, note("Whether the matter is archived.")] = UNSET
    conflict_information: Annotated[ConflictInformation | UnsetType | None, note("For conflict checks.")] = UNSET
    billing_instructions: Annotated[Text | UnsetType | None, note("How the client wants to be billed.")] = UNSET
    notes: Annotated[Text | UnsetType | None, note("Internal notes.")] = UNSET
    referral_sources: Annotated[Text | UnsetType | None, note("Where the matter came from.")] = UNSET
    practice_area_id: Annotated[Id | UnsetType | None, note("The practice area.")] = UNSET
    rate_group_id: Annotated[Id | UnsetType | None, note("The rate group.")] = UNSET
    custom_fields: Annotated[
        list[CustomFieldValueUpdate] | UnsetType | None, note("Custom fields to set; the others stay unset.")
    ] = UNSET


class UpdateMatter(WriteBody):
    """Changes to a matter; what is not sent stays as it is."""

    name: Annotated[Text | UnsetType | None, note("The matter's name.")] = UNSET
    reference: Annotated[Text | UnsetType | None, note("Reference number.")] = UNSET
    client_id: Annotated[Id | UnsetType | None, note("The client.")] = UNSET
    responsible_id: Annotated[Id | UnsetType | None, note("The responsible attorney.")] = UNSET
    opened: Annotated[Date | UnsetType | None, note("When the matter was opened.")] = UNSET
    archived: Annotated[Flag | UnsetType | None, note("True archives, False brings back.")] = UNSET
    conflict_information: Annotated[ConflictInformation | UnsetType | None, note("For conflict checks.")] = UNSET
    billing_instructions: Annotated[Text | UnsetType | None, note("How the client wants to be billed.")] = UNSET
    notes: Annotated[Text | UnsetType | None, note("Internal notes.")] = UNSET
    referral_sources: Annotated[Text | UnsetType | None, note("Where the matter came from.")] = UNSET
    practice_area_id: Annotated[Id | UnsetType | None, note("The practice area; the all-zero UUID takes it away.")] = (
        UNSET
    )
    custom_fields: Annotated[
        list[CustomFieldValueUpdate] | UnsetType | None,
        note("Custom fields to change; null as a value clears the field."),
    ] = UNSET
