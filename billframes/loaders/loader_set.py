"""The set of all loaders of a client, of a mirror, or of the default connection."""

from __future__ import annotations

from collections.abc import Callable

from billframes import loaders
from billframes._shared.suggestions import SuggestsNames
from billframes.loading.connection import Connected


class LoaderSet(SuggestsNames):
    """A loader for each resource, as attributes; `owner` returns the client or mirror, and is called at each load."""

    def __init__(self, owner: Callable[[], Connected]) -> None:
        self.client_balances = loaders.ClientBalancesLoader(owner)
        self.clients = loaders.Clients(owner)
        self.code_sets = loaders.CodeSets(owner)
        self.codes = loaders.Codes(owner)
        self.custom_fields = loaders.CustomFields(owner)
        self.expenses = loaders.Expenses(owner)
        self.fixed_fees = loaders.FixedFees(owner)
        self.health = loaders.Health(owner)
        self.invoices = loaders.Invoices(owner)
        self.matters = loaders.Matters(owner)
        self.practice_areas = loaders.PracticeAreas(owner)
        self.time_entries = loaders.TimeEntries(owner)
        self.users = loaders.Users(owner)


class Owner:
    """A callable that returns the client or mirror of the loaders. Unlike a function, it can be pickled."""

    def __init__(self, owner: Connected) -> None:
        self._owner = owner

    def __call__(self) -> Connected:
        """Return the client or mirror."""
        return self._owner
