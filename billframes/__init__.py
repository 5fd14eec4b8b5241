"""A law firm's practice-and-billing API as pandas DataFrames its partners can trust.

>>> import billframes as bf
>>> client = bf.connect("sandbox")
>>> bf.time_entries("2026-10").dtypes["hours"]
dtype('float64')
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from billframes._session import (
    client_balances,
    clients,
    code_sets,
    codes,
    connect,
    custom_fields,
    enrich,
    expenses,
    fixed_fees,
    health,
    invoices,
    matters,
    practice_areas,
    time_entries,
    users,
)
from billframes._version import __version__
from billframes.analysis import aging, realization, utilization
from billframes.api.client import Client
from billframes.api.resources import ALL_ZERO_ID as CLEAR
from billframes.book import Book, book
from billframes.errors import (
    AccessDeniedError,
    ApiError,
    AuthenticationError,
    BillframesError,
    BillframesWarning,
    ConfigError,
    DecodeError,
    DetailsMissingWarning,
    IncompleteDataWarning,
    MirrorError,
    MissingColumnError,
    NotFoundError,
    PagingError,
    ParameterError,
    RateLimitedError,
    RatesHiddenWarning,
    RefusedError,
    ServerError,
    TransportError,
    UncertainWriteError,
    UnknownValueWarning,
)
from billframes.settings.firm import FirmSettings

if TYPE_CHECKING:
    from billframes import plots
    from billframes.widgets import explore, filter_panel

__all__ = [
    "CLEAR",
    "AccessDeniedError",
    "ApiError",
    "AuthenticationError",
    "BillframesError",
    "BillframesWarning",
    "Book",
    "Client",
    "ConfigError",
    "DecodeError",
    "DetailsMissingWarning",
    "FirmSettings",
    "IncompleteDataWarning",
    "MirrorError",
    "MissingColumnError",
    "NotFoundError",
    "PagingError",
    "ParameterError",
    "RateLimitedError",
    "RatesHiddenWarning",
    "RefusedError",
    "ServerError",
    "TransportError",
    "UncertainWriteError",
    "UnknownValueWarning",
    "__version__",
    "aging",
    "book",
    "client_balances",
    "clients",
    "code_sets",
    "codes",
    "connect",
    "custom_fields",
    "enrich",
    "expenses",
    "explore",
    "filter_panel",
    "fixed_fees",
    "health",
    "invoices",
    "matters",
    "plots",
    "practice_areas",
    "realization",
    "time_entries",
    "users",
    "utilization",
]


# Plots bring matplotlib and widgets ipywidgets, so they are imported when first asked for.
_WIDGETS = ("explore", "filter_panel")


def __getattr__(name: str) -> Any:
    if name == "plots":
        return importlib.import_module("billframes.plots")
    if name in _WIDGETS:
        return getattr(importlib.import_module("billframes.widgets"), name)
    raise AttributeError(f"module 'billframes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
