"""The loaders, one noun a resource, with every signature spelled out."""

from __future__ import annotations

from billframes.loaders.clients_and_matters import Clients, Matters
from billframes.loaders.codes_and_balances import ClientBalances, Codes, CodeSets, Health
from billframes.loaders.costs import Expenses, FixedFees
from billframes.loaders.invoices import Invoices
from billframes.loaders.time_entries import TimeEntries
from billframes.loaders.whole_lists import CustomFields, PracticeAreas, Users

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
