"""The monthly report: a notebook that ships with the package, and the functions its cells call.

`billframes.report.load` fetches a month's figures; the others turn them into sections that show themselves in a
notebook. `billframes.report.build` runs the notebook and writes one HTML file (extra `billframes[report]`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from billframes.report.building import build
    from billframes.report.html import Section
    from billframes.report.loading import load
    from billframes.report.month import Month
    from billframes.report.sections import (
        changes,
        cover,
        headlines,
        narratives,
        notes,
        overdue_invoices,
        page_one,
        realization,
        receivables,
        stale,
        targets,
        trends,
        utilization,
        work_in_progress,
        write_downs,
    )

__all__ = [
    "Month",
    "Section",
    "build",
    "changes",
    "cover",
    "headlines",
    "load",
    "narratives",
    "notes",
    "overdue_invoices",
    "page_one",
    "realization",
    "receivables",
    "stale",
    "targets",
    "trends",
    "utilization",
    "work_in_progress",
    "write_downs",
]

_HOMES = {"build": "building", "Month": "month", "Section": "html", "load": "loading"}


def __getattr__(name: str) -> Any:
    # The command line imports this package before it checks that matplotlib and Jinja are installed.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(f"billframes.report.{_HOMES.get(name, 'sections')}")
    return getattr(home, name)
