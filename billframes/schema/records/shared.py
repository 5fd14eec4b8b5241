"""The types of records' fields, and the records that appear inside others.

A field's annotation is a Python type for msgspec plus one or more `Meta`. Their descriptions are shown in the docs'
column tables and in the sandbox's OpenAPI document. Their `extra` has these keys, which only billframes uses:

========== ======================================================================================
kind       the kind of value, which determines its dtype (see `billframes.schema.columns`)
values     an enum's declared values, in the order of the API's description
missing    the meaning of a missing value
select     the `select` name that requests the field; None if it is always sent
scope      the credential's scope that the field needs
reads      the attribute to read instead, if the value may have to be computed
repeated   True if many records have the same value, such as codes; ids of other records always do
prefix     the prefix of the columns of a nested record, if it is not the field's name
hidden     True if the field only serves another field and is not a column
========== ======================================================================================

Enum values are declared as text, not as Python enums, because a value that is not in the API's description must be
decoded, too (it is kept, with a warning).

The API's description does not show which fields the embedded user, matter, client, invoice, fixed fee and practice area
have. Here each may have any of the reference's fields, and none is required. If there is no full name, it is made from
the first and last name.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field


class ApiRecord(Struct, rename="camel", gc=False):
    """
    Base of the records in responses.

    Unknown properties are ignored. `gc=False` keeps the garbage collector from tracking thousands of small structs,
    which halves the time for decoding. It is safe because records have no reference cycles.
    """


class WriteBody(Struct, rename="camel", omit_defaults=True):
    """Base of the request bodies: a property that is UNSET is not sent, None is sent as null."""


def note(description: str, **extra: Any) -> Meta:
    """Describe a field."""
    return Meta(description=description, extra=extra)


def enum(*values: str) -> Meta:
    """Declare the values of an enum, in the order of the API's description."""
    return Meta(extra={"kind": "enum", "values": values}, extra_json_schema={"enum": list(values)})


def _kind(kind: str, format_: str | None = None, **schema: Any) -> Meta:
    if format_:
        schema["format"] = format_
    return Meta(extra={"kind": kind}, extra_json_schema=schema or None)


Id = Annotated[str, _kind("id", "uuid")]
Text = Annotated[str, _kind("text")]
# A property that is not in the API's description and may replace one that is: used if it is text, else ignored.
Hint = Annotated[Any, _kind("text")]
# An empty label breaks the API's description, but a load must not fail because of it: only writes are checked.
Label = Annotated[str, _kind("text", minLength=1)]
Date = Annotated[dt.date, _kind("date", "date")]
Instant = Annotated[str, _kind("instant", "date-time")]
TimeOfDay = Annotated[str, _kind("time", "time")]
Flag = Annotated[bool, _kind("flag")]
Money = Annotated[float, _kind("money", "double")]
Hours = Annotated[float, _kind("hours", "double")]
Rate = Annotated[float, _kind("rate", "double")]
Number = Annotated[float, _kind("number", "double")]


ValueType = Annotated[str, enum("text", "boolean", "number", "date", "enum")]
InvoiceState = Annotated[str, enum("draft", "review", "approved", "final")]


Unsent = UnsetType | None
"""A property of a request body that may be left out, or sent as null."""


class CustomFieldValue(ApiRecord):
    """A custom field's value on a record."""

    id: Annotated[Label, note("Which custom field this is.")]
    name: Annotated[Label, note("The custom field's name.")]
    value_type: Annotated[ValueType, note("What kind of value the field holds.")]
    value: Annotated[
        str | float | bool | None, note("The value; for an enum the selected option's label, for a date ISO text.")
    ]
    option_id: Annotated[Id | None, note("The selected option, for enum fields.")] = None


class CustomFieldValueUpdate(WriteBody):
    """A custom field's value to set."""

    id: Annotated[Label, note("Which custom field to set.")]
    value: Annotated[
        str | float | bool | Unsent,
        note("The value by the field's type; numbers, booleans and dates may be text; null clears the field."),
    ] = UNSET
    option_id: Annotated[Id | Unsent, note("The option to select, for enum fields; takes precedence over `value`.")] = (
        UNSET
    )


FieldUpdates = list[CustomFieldValueUpdate] | Unsent


class Metadata(ApiRecord):
    """When a record was made and last changed."""

    created_at: Annotated[Instant, note("When the record was created.")]
    modified_at: Annotated[Instant, note("When the record was last changed.")]
    custom_fields: Annotated[list[CustomFieldValue] | None, note("Custom field values.", select="customFields")] = None


class Contact(ApiRecord):
    """How to reach a client."""

    company_name: Annotated[Text | None, note("Company name.")] = None
    first_name: Annotated[Text | None, note("First name.")] = None
    last_name: Annotated[Text | None, note("Last name.")] = None
    middle_name: Annotated[Text | None, note("Middle name.")] = None
    suffix: Annotated[Text | None, note("Suffix to the name.")] = None
    email: Annotated[Text | None, note("E-mail address.")] = None
    email_cc: Annotated[Text | None, note("E-mail address for copies.")] = field(default=None, name="emailCC")
    phone: Annotated[Text | None, note("Telephone.")] = None
    cell_phone: Annotated[Text | None, note("Mobile telephone.")] = None
    other_phone: Annotated[Text | None, note("Another telephone.")] = None
    fax: Annotated[Text | None, note("Fax.")] = None
    street: Annotated[Text | None, note("Street; may have several lines.")] = None
    city: Annotated[Text | None, note("City.")] = None
    state: Annotated[Text | None, note("State or province.")] = None
    zip: Annotated[Text | None, note("Postal code.")] = None
    country: Annotated[Text | None, note("Country.")] = None


class Reference(Struct, rename="camel", gc=False, frozen=True):
    """Another record in short, such as the client of a matter. Many records have the same reference."""


class ClientReference(Reference, frozen=True):
    """A client as other records show it."""

    name: Annotated[Text | None, note("The client's name.")] = None
    reference: Annotated[Text | None, note("The client's reference number.")] = None


class MatterReference(Reference, frozen=True):
    """A matter as other records show it."""

    name: Annotated[Text | None, note("The matter's name.")] = None
    reference: Annotated[Text | None, note("The matter's reference number.")] = None


class UserReference(Reference, frozen=True):
    """A user as other records show them."""

    user_id: Annotated[Id | None, note("The user.", hidden=True)] = None
    name: Annotated[
        Text | None, note("The user's name; if the server sends no full name, first and last name.", reads="full_name")
    ] = None
    first_name: Annotated[Hint | None, note("First name.", hidden=True, reads="first")] = None
    last_name: Annotated[Hint | None, note("Last name.", hidden=True, reads="last")] = None

    @property
    def first(self) -> str | None:
        """The first name; None if it is not text."""
        return _if_text(self.first_name)

    @property
    def last(self) -> str | None:
        """The last name; None if it is not text."""
        return _if_text(self.last_name)

    @property
    def full_name(self) -> str | None:
        """The name, or else the first and last name; None if both are missing."""
        return self.name or " ".join(filter(None, (self.first, self.last))) or self.name


class PracticeAreaReference(Reference, frozen=True):
    """A practice area as other records show it."""

    practice_area_id: Annotated[Id | None, note("The practice area.", hidden=True)] = None
    label: Annotated[Text | None, note("The practice area's label.", reads="full_label")] = None
    name: Annotated[Hint | None, note("The label under another name.", hidden=True, reads="other_label")] = None

    @property
    def other_label(self) -> str | None:
        """The label under another name; None if it is not text."""
        return _if_text(self.name)

    @property
    def full_label(self) -> str | None:
        """The label, whichever of the two names the server uses for it."""
        return self.label or self.other_label or self.label


def _if_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class InvoiceReference(Reference, frozen=True):
    """An invoice as the items on it show it."""

    invoice_id: Annotated[Id | None, note("The invoice.", hidden=True)] = None
    invoice_number: Annotated[Text | None, note("The invoice's number.")] = None
    invoice_date: Annotated[Date | None, note("The invoice's date.")] = None
    invoice_state: Annotated[InvoiceState | None, note("The invoice's state.")] = None
    invoice_amount: Annotated[Money | None, note("The whole invoice's total.")] = None
    invoice_balance: Annotated[Money | None, note("What is outstanding on the whole invoice.")] = None


class FixedFeeReference(Reference, frozen=True):
    """A fixed fee as the time entries under it show it."""

    id: Annotated[Id | None, note("The fixed fee.", hidden=True)] = None
    label: Annotated[Text | None, note("The fixed fee's description.")] = None
    amount: Annotated[Money | None, note("The fixed fee's amount.")] = None


class Pagination(ApiRecord):
    """Which part of a list a response holds."""

    limit: Annotated[int, note("The page size that the server granted.")]
    offset: Annotated[int, note("Number of matching records before the first one of this response.")]
    total: Annotated[int, note("Number of matching records in all.")]
    sort: Annotated[str | None, note("The sort applied.")] = None
