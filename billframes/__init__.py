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
from billframes.analysis import (
    aging,
    billing_lag,
    budget_burn,
    code_check,
    contribution,
    duplicates,
    effective_rates,
    fixed_fee_realization,
    leverage,
    lockup,
    missing_time,
    normalize_balances,
    origination,
    profitability,
    realization,
    reconcile,
    timekeeping_lag,
    utilization,
    wip,
)
from billframes.analysis.explain import explain
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
    from billframes import plots, tables
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
    "billing_lag",
    "book",
    "budget_burn",
    "client_balances",
    "clients",
    "code_check",
    "code_sets",
    "codes",
    "connect",
    "contribution",
    "custom_fields",
    "duplicates",
    "effective_rates",
    "enrich",
    "expenses",
    "explain",
    "explore",
    "filter_panel",
    "fixed_fee_realization",
    "fixed_fees",
    "health",
    "invoices",
    "leverage",
    "lockup",
    "matters",
    "missing_time",
    "normalize_balances",
    "origination",
    "plots",
    "practice_areas",
    "profitability",
    "realization",
    "reconcile",
    "tables",
    "time_entries",
    "timekeeping_lag",
    "users",
    "utilization",
    "wip",
]


# Plots bring matplotlib, tables great-tables and widgets ipywidgets, so they are imported when first asked for.
_MODULES = ("plots", "tables")
_WIDGETS = ("explore", "filter_panel")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"billframes.{name}")
    if name in _WIDGETS:
        return getattr(importlib.import_module("billframes.widgets"), name)
    raise AttributeError(f"module 'billframes' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
