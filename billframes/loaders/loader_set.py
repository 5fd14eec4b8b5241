"""The set of all loaders of a client, of a mirror, or of the default connection."""

from __future__ import annotations

from collections.abc import Callable

from billframes._shared.suggestions import SuggestsNames
from billframes.loaders import (
    ClientBalancesLoader,
    Clients,
    Codes,
    CodeSets,
    CustomFields,
    Expenses,
    FixedFees,
    Health,
    Invoices,
    Matters,
    PracticeAreas,
    TimeEntries,
    Users,
)
from billframes.loading.connection import Connected


class LoaderSet(SuggestsNames):
    """A loader for each resource, as attributes; `owner` returns the client or mirror, and is called at each load."""

    def __init__(self, owner: Callable[[], Connected]) -> None:
        self.client_balances = ClientBalancesLoader(owner)
        self.clients = Clients(owner)
        self.code_sets = CodeSets(owner)
        self.codes = Codes(owner)
        self.custom_fields = CustomFields(owner)
        self.expenses = Expenses(owner)
        self.fixed_fees = FixedFees(owner)
        self.health = Health(owner)
        self.invoices = Invoices(owner)
        self.matters = Matters(owner)
        self.practice_areas = PracticeAreas(owner)
        self.time_entries = TimeEntries(owner)
        self.users = Users(owner)


class Owner:
    """A callable that returns the client or mirror of the loaders. Unlike a function, it can be pickled."""

    def __init__(self, owner: Connected) -> None:
        self._owner = owner

    def __call__(self) -> Connected:
        """Return the client or mirror."""
        return self._owner
