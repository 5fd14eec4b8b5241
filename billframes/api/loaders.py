"""The loaders, one noun a resource, with every signature spelled out."""

from __future__ import annotations

from billframes.api._costs import Expenses, FixedFees
from billframes.api._firm import ClientBalances, Codes, CodeSets, Health
from billframes.api._invoices import Invoices
from billframes.api._ledger import Clients, Matters
from billframes.api._lists import CustomFields, PracticeAreas, Users
from billframes.api._time import TimeEntries

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
