"""The loaders, one noun a resource, with every signature spelled out."""

from __future__ import annotations

from billframes.api._firm import ClientBalances, Codes, CodeSets, CustomFields, Health, PracticeAreas, Users
from billframes.api._ledger import Clients, Invoices, Matters
from billframes.api._work import Expenses, FixedFees, TimeEntries

__all__ = [
    "ClientBalances",
    "Clients",
    "CodeSets",
    "Codes",
    "CustomFields",
    "Expenses",
    "FixedFees",
    "Health",
    "Invoices",
    "Matters",
    "PracticeAreas",
    "TimeEntries",
    "Users",
]
