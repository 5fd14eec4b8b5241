"""Declare time entries, fixed fees, expenses, and invoices, of which the API has only a list."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from billframes.schema.records.shared import (
    ApiRecord,
    ClientReference,
    Date,
    FixedFeeReference,
    Flag,
    Hours,
    Id,
    InvoiceReference,
    InvoiceState,
    Label,
    MatterReference,
    Metadata,
    Money,
    Rate,
    Text,
    TimeOfDay,
    Unsent,
    UserReference,
    WriteBody,
    enum,
    note,
)

BillingType = Annotated[str, enum("nonBillable", "billable", "fixedFee")]

_BILLED = "True when the item is on an invoice in any state, drafts included."
_NOT_ON_INVOICE = "the item is on no invoice"
_SEVERAL = "the invoice covers several matters and the server states none of them"
_RATES = "billing type is not billable, or the credential lacks `read.rates`"


class TimeEntryList(ApiRecord, kw_only=True):
    """A time entry in a list."""

    time_entry_id: Annotated[Id, note("The time entry.")]
    date: Annotated[Date, note("The day the work is billed under.")]
    time: Annotated[TimeOfDay | None, note("Time of day.", missing="the entry has only a date")] = None
    client_id: Annotated[Id, note("The client.")]
    client: Annotated[ClientReference | None, note("The client in short.", select="client")] = None
    matter_id: Annotated[Id, note("The matter.")]
    matter: Annotated[MatterReference | None, note("The matter in short.", select="matter")] = None
    user_id: Annotated[Id, note("The timekeeper, who created the entry.")]
    user: Annotated[UserReference | None, note("The timekeeper in short.", select="user")] = None
    description: Annotated[Label, note("The narrative.")]
    hours: Annotated[Hours, note("Hours worked.")]
    billing_type: Annotated[BillingType, note("How the time is billed.")]
    rate: Annotated[Rate | None, note("Money an hour.", missing=_RATES, scope="read.rates")] = None
    amount: Annotated[
        Money | None, note("What the time is worth: hours at the rate.", missing=_RATES, scope="read.rates")
    ] = None
    billed: Annotated[Flag, note(_BILLED)]
    invoice_id: Annotated[Id | None, note("The invoice.", missing=_NOT_ON_INVOICE)] = None
    invoice: Annotated[InvoiceReference | None, note("The invoice in short.", missing=_NOT_ON_INVOICE)] = None
    fixed_fee_id: Annotated[
        Id | None, note("The fixed fee that covers the time.", missing="no fixed fee covers it")
    ] = None
    fixed_fee: Annotated[FixedFeeReference | None, note("The fixed fee in short.", select="fixedFee")] = None
    activity_code: Annotated[Text | None, note("LEDES activity code.", missing="not coded", repeated=True)] = None
    task_code: Annotated[Text | None, note("LEDES task code.", missing="not coded", repeated=True)] = None
    meta: Annotated[Metadata | None, note("When created and changed.", select="meta")] = None


class TimeEntryDetail(TimeEntryList, kw_only=True):
    """A time entry by itself."""

    user: Annotated[UserReference, note("The timekeeper in short.")]
    matter: Annotated[MatterReference, note("The matter in short.")]
    client: Annotated[ClientReference, note("The client in short.")]


class CreateTimeEntry(WriteBody):
    """A time entry to create."""

    matter_id: Annotated[Id, note("The matter.")]
    date: Annotated[Date, note("The day the work is billed under.")]
    description: Annotated[Label, note("The narrative.")]
    hours: Annotated[Hours, note("Hours worked.")]
    user_id: Annotated[
        Id | Unsent,
        note("The timekeeper. If omitted, the user of the acting-user header, or else of the credential."),
    ] = UNSET
    time: Annotated[TimeOfDay | Unsent, note("Time of day.")] = UNSET
    rate: Annotated[Rate | Unsent, note("Money an hour. Normally omitted: then it is the user's rate.")] = UNSET
    billing_type: Annotated[BillingType | UnsetType, note("How the time is billed.")] = UNSET
    fixed_fee_id: Annotated[Id | Unsent, note("The fixed fee that covers the time.")] = UNSET
    activity_code: Annotated[Text | Unsent, note("LEDES activity code.")] = UNSET
    task_code: Annotated[Text | Unsent, note("LEDES task code.")] = UNSET


class UpdateTimeEntry(WriteBody):
    """Changes to a time entry; a field that is not sent stays unchanged."""

    user_id: Annotated[Id | Unsent, note("The timekeeper.")] = UNSET
    matter_id: Annotated[Id | Unsent, note("The matter.")] = UNSET
    date: Annotated[Date | Unsent, note("The day the work is billed under.")] = UNSET
    time: Annotated[TimeOfDay | Unsent, note("Time of day.")] = UNSET
    description: Annotated[Text | Unsent, note("The narrative; null keeps it.")] = UNSET
    hours: Annotated[Hours | Unsent, note("Hours worked; null keeps them.")] = UNSET
    rate: Annotated[Rate | Unsent, note("Money an hour.")] = UNSET
    billing_type: Annotated[BillingType | Unsent, note("How the time is billed.")] = UNSET
    fixed_fee_id: Annotated[
        Id | Unsent, note("The fixed fee that covers the time; null keeps it, the all-zero UUID removes it.")
    ] = UNSET
    activity_code: Annotated[Text | Unsent, note("LEDES activity code.")] = UNSET
    task_code: Annotated[Text | Unsent, note("LEDES task code.")] = UNSET


class FixedFeeList(ApiRecord, kw_only=True):
    """A fixed fee in a list."""

    fixed_fee_id: Annotated[Id, note("The fixed fee.")]
    date: Annotated[Date, note("The day the fee is billed under.")]
    client_id: Annotated[Id, note("The client.")]
    client: Annotated[ClientReference | None, note("The client in short.", select="client")] = None
    matter_id: Annotated[Id, note("The matter.")]
    matter: Annotated[MatterReference | None, note("The matter in short.", select="matter")] = None
    user_id: Annotated[Id | None, note("The timekeeper.", missing="the fee belongs to the firm")] = None
    user: Annotated[UserReference | None, note("The timekeeper in short.", select="user")] = None
    description: Annotated[Label, note("What the fee is for.")]
    amount: Annotated[Money, note("The fee.")]
    billed: Annotated[Flag, note(_BILLED)]
    invoice_id: Annotated[Id | None, note("The invoice.", missing=_NOT_ON_INVOICE)] = None
    invoice: Annotated[InvoiceReference | None, note("The invoice in short.", missing=_NOT_ON_INVOICE)] = None
    meta: Annotated[Metadata | None, note("When created and changed.", select="meta")] = None


class FixedFeeDetail(FixedFeeList, kw_only=True):
    """A fixed fee by itself."""

    matter: Annotated[MatterReference, note("The matter in short.")]
    client: Annotated[ClientReference, note("The client in short.")]
    activity_code: Annotated[Text | None, note("LEDES activity code.", missing="not coded", repeated=True)] = None
    task_code: Annotated[Text | None, note("LEDES task code.", missing="not coded", repeated=True)] = None


class CreateFixedFee(WriteBody):
    """A fixed fee to create."""

    matter_id: Annotated[Id, note("The matter.")]
    date: Annotated[Date, note("The day the fee is billed under.")]
    description: Annotated[Label, note("What the fee is for.")]
    amount: Annotated[Money, note("The fee.")]
    user_id: Annotated[Id | Unsent, note("The timekeeper. If omitted, the fee belongs to the firm.")] = UNSET
    activity_code: Annotated[Text | Unsent, note("LEDES activity code.")] = UNSET
    task_code: Annotated[Text | Unsent, note("LEDES task code.")] = UNSET


class UpdateFixedFee(WriteBody):
    """Changes to a fixed fee; a field that is not sent stays unchanged."""

    date: Annotated[Date | Unsent, note("The day the fee is billed under.")] = UNSET
    matter_id: Annotated[Id | Unsent, note("The matter.")] = UNSET
    user_id: Annotated[Id | Unsent, note("The timekeeper.")] = UNSET
    description: Annotated[Text | Unsent, note("What the fee is for.")] = UNSET
    amount: Annotated[Money | Unsent, note("The fee.")] = UNSET
    activity_code: Annotated[Text | Unsent, note("LEDES activity code.")] = UNSET
    task_code: Annotated[Text | Unsent, note("LEDES task code.")] = UNSET


class ExpenseList(ApiRecord, kw_only=True):
    """An expense in a list."""

    expense_id: Annotated[Id, note("The expense.")]
    date: Annotated[Date, note("The day the expense is billed under.")]
    client_id: Annotated[Id, note("The client.")]
    client: Annotated[ClientReference | None, note("The client in short.", select="client")] = None
    matter_id: Annotated[Id, note("The matter.")]
    matter: Annotated[MatterReference | None, note("The matter in short.", select="matter")] = None
    user_id: Annotated[Id | None, note("Who spent it.", missing="the expense belongs to the firm")] = None
    user: Annotated[UserReference | None, note("Who spent it, in short.", select="user")] = None
    description: Annotated[Label, note("What the expense is for.")]
    amount: Annotated[Money, note("The expense.")]
    billed: Annotated[Flag, note(_BILLED)]
    invoice_id: Annotated[Id | None, note("The invoice.", missing=_NOT_ON_INVOICE)] = None
    invoice: Annotated[InvoiceReference | None, note("The invoice in short.", missing=_NOT_ON_INVOICE)] = None
    check_number: Annotated[
        Text | None, note("The check that paid it, from the accounting system.", missing="not paid by check")
    ] = None
    meta: Annotated[Metadata | None, note("When created and changed.", select="meta")] = None


class ExpenseDetail(ExpenseList, kw_only=True):
    """An expense by itself."""

    matter: Annotated[MatterReference, note("The matter in short.")]
    client: Annotated[ClientReference, note("The client in short.")]
    expense_code: Annotated[Text | None, note("LEDES expense code.", missing="not coded", repeated=True)] = None


class CreateExpense(WriteBody):
    """An expense to create."""

    matter_id: Annotated[Id, note("The matter.")]
    date: Annotated[Date, note("The day the expense is billed under.")]
    description: Annotated[Label, note("What the expense is for.")]
    amount: Annotated[Money, note("The expense.")]
    user_id: Annotated[Id | Unsent, note("The person who spent it. If omitted, the expense belongs to the firm.")] = (
        UNSET
    )
    expense_code: Annotated[Text | Unsent, note("LEDES expense code.")] = UNSET


class UpdateExpense(WriteBody):
    """Changes to an expense; a field that is not sent stays unchanged."""

    matter_id: Annotated[Id | Unsent, note("The matter.")] = UNSET
    user_id: Annotated[Id | Unsent, note("Who spent it.")] = UNSET
    date: Annotated[Date | Unsent, note("The day the expense is billed under.")] = UNSET
    description: Annotated[Text | Unsent, note("What the expense is for; null keeps it.")] = UNSET
    amount: Annotated[Money | Unsent, note("The expense; null keeps it.")] = UNSET
    expense_code: Annotated[Text | Unsent, note("LEDES expense code.")] = UNSET


class InvoiceList(ApiRecord, kw_only=True):
    """An invoice in a list."""

    invoice_id: Annotated[Id, note("The invoice.")]
    invoice_number: Annotated[Label, note("The invoice's number.")]
    invoice_date: Annotated[Date, note("The invoice's date.")]
    invoice_state: Annotated[InvoiceState, note("The invoice's state.")]
    due_date: Annotated[Date | None, note("When payment is due.", missing="the invoice is not final")] = None
    client_id: Annotated[Id, note("The client.")]
    client: Annotated[ClientReference | None, note("The client in short.", select="client")] = None
    matter_id: Annotated[Id | None, note("One of the invoice's matters; it may cover several.", missing=_SEVERAL)] = (
        None
    )
    matter: Annotated[MatterReference | None, note("That matter in short.", select="matter", missing=_SEVERAL)] = None
    amount: Annotated[Money, note("The invoice's total.")]
    balance: Annotated[Money, note("What is outstanding.")]
    meta: Annotated[Metadata | None, note("When created and changed.", select="meta")] = None
