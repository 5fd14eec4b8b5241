"""The wings: packages that the core never imports, and what each of them adds to it.

The core finds the modules named here when it needs them. Deleting a wing's folder removes all that it adds.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from dataclasses import dataclass, field
from typing import Any

from billframes.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Wing:
    """
    What a wing adds, by the names of its modules.

    Parameters
    ----------
    analyses : tuple of str
        The modules with an `ANALYSIS`. Each is a method of a book, and has its tables, charts, explanation, dashboard
        tab and assistant tool from its declaration.
    methods : str
        A module whose class `METHODS` has further methods of a book.
    report : str
        A module with what the monthly report shows; see `in_report`.
    commands : dict of str to tuple
        The module and the summary of each command.
    needs : tuple of str
        Other wings, without which this one is not used.
    """

    analyses: tuple[str, ...] = ()
    methods: str = ""
    report: str = ""
    commands: dict[str, tuple[str, str]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


_WINGS = {
    "ebilling": Wing(
        report="in_report",
        commands={"ledes": ("command", "Write invoices as LEDES e-bills, or show what a portal would reject.")},
    ),
    "guidelines": Wing(
        report="in_report",
        commands={
            "guidelines": ("command", "Show what clients may refuse or cut of the unbilled work, by their guidelines.")
        },
        needs=("ebilling",),
    ),
    "ledger": Wing(
        analyses=("fees_collected", "days_to_pay", "tie_out"),
        methods="payments",
        report="in_report",
        commands={
            "tie-out": (
                "command",
                "Compare the receivables with a report of the firm's books, and give each difference a reason.",
            )
        },
    ),
    "credits": Wing(
        methods="book_methods",
        commands={
            "credits": (
                "command",
                "Write whose the fees are by the firm's rule for credits, and what another rule would change.",
            )
        },
        needs=("ledger",),
    ),
    "week": Wing(
        methods="book_methods",
        commands={"week": ("command", "Write everyone's page of last week, and the e-mails to send them with.")},
    ),
    "forecast": Wing(analyses=("cash_forecast", "cash_forecast_record"), report="in_report"),
    "bulk": Wing(
        commands={"apply": ("command", "Plan the edits of an Excel workbook, ask for confirmation, and send them.")}
    ),
    "watch": Wing(
        report="in_report",
        commands={
            "watch": (
                "command",
                "Show what newly stands out in a mirror by the firm's rules, what still does, and what ended.",
            )
        },
        needs=("mirror",),
    ),
    "mirror": Wing(report="in_report", commands={"sync": ("command", "Bring a local copy of all records up to date.")}),
    "widgets": Wing(commands={"dashboard": ("dashboard.command", "Serve the explorer as a web page on this machine.")}),
    "assistant": Wing(
        commands={"mcp": ("command", "Serve figures to an assistant application on this machine, read-only.")},
    ),
}


@functools.cache
def wings() -> dict[str, Wing]:
    """Return the wings that are installed, with those that they need."""
    found = {name: wing for name, wing in _WINGS.items() if _is_installed(name)}
    return {name: wing for name, wing in found.items() if found.keys() >= {*wing.needs}}


def _is_installed(name: str) -> bool:
    spec = importlib.util.find_spec(f"billframes.{name}")
    return spec is not None and spec.origin is not None


def module_of(wing: str, name: str = "") -> Any:
    """Import a module of a wing."""
    if wing not in wings():
        raise ConfigError(f"This installation of billframes has no billframes.{wing}; install it again.")
    return importlib.import_module(f"billframes.{wing}{name and f'.{name}'}")


def analysis_modules() -> list[str]:
    """Return the names of the modules with the wings' analyses."""
    return [f"billframes.{name}.{module}" for name, wing in wings().items() for module in wing.analyses]


def book_methods() -> tuple[type, ...]:
    """Return the classes with methods of a book that are not analyses."""
    return tuple(module_of(name, wing.methods).METHODS for name, wing in wings().items() if wing.methods)


def commands() -> dict[str, tuple[str, str]]:
    """Return the module and the summary of the wings' commands, by name."""
    return {
        command: (f"billframes.{name}.{module}", summary)
        for name, wing in wings().items()
        for command, (module, summary) in wing.commands.items()
    }


def in_report(what: str) -> list[Any]:
    """
    Return what the wings' modules for the monthly report have under a name.

    They can have `SECTIONS`, by the name of the section that they follow, and functions that take the month: `load`
    keeps a part with the month, whose `for_matters` returns that of some matters; `points` and those of `TO_DO` yield
    more rows of the first page, `cash_tile` and `outlook` return what it says about cash; `subjects` yields what can be
    asked, `beside_receivables` returns a table, and `about_open_work`, `about_receivables` and `about_cash` return
    notes.
    """
    modules = [module_of(name, wing.report) for name, wing in wings().items() if wing.report]
    return [getattr(module, what) for module in modules if hasattr(module, what)]
