"""The set of all loaders of a client, of a mirror, or of the default connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from billframes._suggestions import SuggestsNames
from billframes.loaders import (
    ClientBalances,
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

__all__ = ["LoaderSet", "Owner"]


class LoaderSet(SuggestsNames):
    """
    A loader for each resource, as attributes.

    Parameters
    ----------
    connection : callable
        Returns the client or mirror to load from; called at each load.
    """

    def __init__(self, connection: Callable[[], Any]) -> None:
        self.client_balances = ClientBalances(connection)
        self.clients = Clients(connection)
        self.code_sets = CodeSets(connection)
        self.codes = Codes(connection)
        self.custom_fields = CustomFields(connection)
        self.expenses = Expenses(connection)
        self.fixed_fees = FixedFees(connection)
        self.health = Health(connection)
        self.invoices = Invoices(connection)
        self.matters = Matters(connection)
        self.practice_areas = PracticeAreas(connection)
        self.time_entries = TimeEntries(connection)
        self.users = Users(connection)


class Owner:
    """A callable that returns the client or mirror of the loaders. Unlike a function, it can be pickled."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __call__(self) -> Any:
        """Return the client or mirror."""
        return self._owner
