"""Declare users, practice areas, LEDES codes, custom field definitions, and the server's health."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from billframes.config.firm_values import ROLES
from billframes.schema.records.shared import (
    ApiRecord,
    CustomFieldValue,
    FieldUpdates,
    Flag,
    Id,
    Label,
    Text,
    Unsent,
    ValueType,
    WriteBody,
    enum,
    note,
)

Role = Annotated[str, enum(*ROLES)]
CustomFieldEntity = Annotated[str, enum("client", "matter", "user")]
HealthStatus = Annotated[str, enum("unhealthy", "degraded", "healthy")]


class UserList(ApiRecord):
    """A user in a list."""

    user_id: Annotated[Id, note("The user.")]
    name: Annotated[Label, note("The user's name.")]
    first_name: Annotated[Text, note("First name.")]
    last_name: Annotated[Text, note("Last name.")]
    role: Annotated[Role, note("What the user does in the firm.")]
    email: Annotated[Label, note("E-mail address.")]
    initials: Annotated[Text | None, note("Initials.", missing="not recorded")] = None
    custom_fields: Annotated[list[CustomFieldValue] | None, note("Custom field values.", select="customFields")] = None


class UpdateUser(WriteBody):
    """Changes to a user: custom fields only."""

    custom_fields: Annotated[FieldUpdates, note("Custom fields to change; null as a value clears the field.")] = UNSET


class PracticeAreaList(ApiRecord):
    """A practice area in a list."""

    practice_area_id: Annotated[Id, note("The practice area.")]
    label: Annotated[Label, note("The label.")]
    default: Annotated[Flag, note("Whether it is the default practice area.")]


class CreatePracticeArea(WriteBody):
    """A practice area to create."""

    label: Annotated[Label, note("The label.")]
    default: Annotated[Flag | UnsetType, note("Whether it is the default practice area.")] = UNSET


class UpdatePracticeArea(WriteBody):
    """Changes to a practice area; a field that is not sent stays unchanged."""

    label: Annotated[Text | Unsent, note("The label.")] = UNSET
    default: Annotated[Flag | Unsent, note("Whether it is the default practice area.")] = UNSET


class CodeDetail(ApiRecord):
    """A LEDES code."""

    code: Annotated[Label, note("The code, such as L110 or A103.")]
    label: Annotated[Label, note("The meaning of the code.")]
    code_set_id: Annotated[Label, note("The code set it belongs to.")]
    parent_code: Annotated[Text | None, note("The heading it falls under.", missing="it is at the top")] = None
    selectable: Annotated[
        Flag | None, note("False for headings, which can't be assigned.", missing="the server does not state it")
    ] = None


class CodeSet(ApiRecord):
    """A set of LEDES codes."""

    code_set_id: Annotated[Label, note("The code set.")]
    label: Annotated[Label, note("The label.")]
    description: Annotated[Label, note("The purpose of the code set.")]


class CodeList(ApiRecord):
    """All LEDES codes and code sets."""

    activity: Annotated[list[CodeDetail], note("Activity codes.")]
    task: Annotated[list[CodeDetail], note("Task codes.")]
    expense: Annotated[list[CodeDetail], note("Expense codes.")]
    code_sets: Annotated[list[CodeSet], note("The sets the codes belong to.")]


class CustomFieldOption(ApiRecord):
    """One choice of an enum custom field."""

    option_id: Annotated[Id, note("The choice's id, with which the field can be set.")]
    label: Annotated[Label, note("The label.")]


class CustomFieldList(ApiRecord):
    """A custom field's definition."""

    id: Annotated[Label, note("The custom field.")]
    entity: Annotated[CustomFieldEntity, note("The kind of record that has the field.")]
    name: Annotated[Label, note("The name.")]
    value_type: Annotated[ValueType, note("What kind of value it holds.")]
    options: Annotated[
        list[CustomFieldOption] | None, note("The choices in display order.", missing="the field is not an enum")
    ] = None


class HealthCheckResponse(ApiRecord):
    """Whether the server is well. The API's description does not show the fields of `version`, so any are accepted."""

    status: Annotated[HealthStatus | None, note("The server's state.", missing="the server does not state it")] = None
    version: Annotated[
        dict[str, Any] | None, note("The server's version, as JSON text.", missing="the server does not state it")
    ] = None
    message: Annotated[Text | None, note("The server's message.", missing="the server sends none")] = None
