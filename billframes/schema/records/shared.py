"""Records that appear inside others: metadata, custom fields, contacts, references, pagination.

The spec does not show which fields the embedded user, matter, client, invoice, fixed fee and practice area
carry. Here each takes any of the reference's fields, none required, and a name that does not come whole is
put together from its parts.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType, field

from billframes.schema.records.fields import (
    ApiRecord,
    Date,
    Hint,
    Id,
    Instant,
    Label,
    Money,
    Text,
    WriteBody,
    enum,
    note,
)

__all__ = [
    "ClientReference",
    "Contact",
    "CustomFieldValue",
    "CustomFieldValueUpdate",
    "FixedFeeReference",
    "InvoiceReference",
    "InvoiceState",
    "MatterReference",
    "Metadata",
    "Pagination",
    "PracticeAreaReference",
    "Reference",
    "UserReference",
    "ValueType",
]

ValueType = Annotated[str, enum("text", "boolean", "number", "date", "enum")]
InvoiceState = Annotated[str, enum("draft", "review", "approved", "final")]


class CustomFieldValue(ApiRecord):
    """A custom field's value on a record."""

    id: Annotated[Label, note("Which custom field this is.")]
    name: Annotated[Label, note("The custom field's name.")]
    value_type: Annotated[ValueType, note("What kind of value the field holds.")]
    value: Annotated[
        str | float | bool | None,
        note("The value; for an enum the selected option's label, for a date ISO text."),
    ]
    option_id: Annotated[Id | None, note("The selected option, for enum fields.")] = None


class CustomFieldValueUpdate(WriteBody):
    """A custom field's value to set."""

    id: Annotated[Label, note("Which custom field to set.")]
    value: Annotated[
        str | float | bool | UnsetType | None,
        note("The value by the field's type; numbers, booleans and dates may be text; null clears the field."),
    ] = UNSET
    option_id: Annotated[
        Id | UnsetType | None, note("The option to select, for enum fields; takes precedence over `value`.")
    ] = UNSET


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
    """Another record in short. Many records name the same one, so it is repeated: equal ones are one."""


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
        Text | None,
        note("The user's name, or first and last name where it does not come whole.", reads="full_name"),
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
        """The name, or one put together from first and last name; None without either."""
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
        """The label, under whichever name it came."""
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
    """Which part of a list an answer holds."""

    limit: Annotated[int, note("Most records this answer may hold, as the server granted.")]
    offset: Annotated[int, note("How many records come before this answer's first.")]
    total: Annotated[int, note("How many records match in all.")]
    sort: Annotated[str | None, note("The sort applied.")] = None
