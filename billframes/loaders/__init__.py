"""The loaders, one for each resource; `__init__.pyi` has their signatures for type checkers."""

from __future__ import annotations

from billframes.loaders.codes_and_balances import ClientBalancesLoader, Codes, CodeSets, Health
from billframes.loaders.lists import (
    Clients,
    CustomFields,
    Expenses,
    FixedFees,
    Invoices,
    Matters,
    PracticeAreas,
    TimeEntries,
    Users,
)

__all__ = [
    "ClientBalancesLoader",
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
