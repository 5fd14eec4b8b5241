"""Invoices, which the API only lists."""

from __future__ import annotations

from typing import Annotated

from billframes.schema.records.fields import Date, Id, Label, Money, Record, note
from billframes.schema.records.shared import ClientReference, InvoiceState, MatterReference, Metadata

__all__ = ["InvoiceList"]

_SEVERAL = "the invoice covers several matters and the server names none"


class InvoiceList(Record, kw_only=True):
    """An invoice in a list."""

    invoice_id: Annotated[Id, note("The invoice.")]
    invoice_number: Annotated[Label, note("The invoice's number.")]
    invoice_date: Annotated[Date, note("The invoice's date.")]
    invoice_state: Annotated[InvoiceState, note("How far the invoice has come.")]
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
