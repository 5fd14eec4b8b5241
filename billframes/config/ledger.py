"""Names in the firm's books: customers, and the items and accounts of write-offs, trust money and tax."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from billframes.config.firm_values import list_of, mapping_of, read_text, table_of


@dataclass(frozen=True, kw_only=True)
class LedgerSettings:
    """
    Names in the firm's books, as `ledger` of the firm's settings.

    Parameters
    ----------
    customers : mapping of str to str
        The id or the reference of the client, by the name of the customer in the books. Only customers whose name
        differs from the client's need it.
    write_off_items, discount_items : sequence of str
        Products or services on credit memos that are write-offs, or discounts. Other credit memos are credits.
    write_off_accounts, discount_accounts : sequence of str
        Accounts against which a journal entry or credit is a write-off, or a discount.
    trust_accounts : sequence of str
        Accounts whose money is trust money; payments from them are cash.
    expense_items, tax_items : sequence of str
        Products or services of expenses and of tax, in reports that list the lines of invoices.
    folder : str
        A folder with exported reports, which the monthly report and the dashboard read.
    """

    customers: Mapping[str, str] = field(default_factory=dict)
    write_off_items: tuple[str, ...] = ()
    discount_items: tuple[str, ...] = ()
    write_off_accounts: tuple[str, ...] = ()
    discount_accounts: tuple[str, ...] = ()
    trust_accounts: tuple[str, ...] = ()
    expense_items: tuple[str, ...] = ()
    tax_items: tuple[str, ...] = ()
    folder: str = ""


_NAMES = list_of(read_text)
_TABLE = table_of(
    {
        "customers": mapping_of(read_text, "a mapping from a customer's name to a client's id"),
        "folder": read_text,
        **{each.name: _NAMES for each in fields(LedgerSettings) if each.name not in ("customers", "folder")},
    },
    "a mapping such as {'customers': {'Acme Inc': 'client id'}}",
)


def read_names(value: Any, key: str) -> LedgerSettings:
    """Return the names in the firm's books."""
    return value if isinstance(value, LedgerSettings) else LedgerSettings(**_TABLE(value, key))
