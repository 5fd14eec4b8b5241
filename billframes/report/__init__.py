"""The monthly report: a notebook that is made from the report's outline, and the functions that its cells call.

`billframes.report.load` fetches a month's figures. The sections (`cover`, `utilization`, `realization`, ...) show them
in a notebook, and `billframes.report.build` in one HTML file (extra `billframes[report]`).
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from billframes.errors import unknown_name

if TYPE_CHECKING:
    from billframes.report.building import build
    from billframes.report.html import Section
    from billframes.report.loading import load
    from billframes.report.month import Month
    from billframes.report.notebook import write_notebook
    from billframes.report.section_spec import SectionSpec

_HOMES = {"Month": "month", "Section": "html", "build": "building", "load": "loading", "write_notebook": "notebook"}

__all__ = ["Month", "Section", "build", "load", "write_notebook"]


def __getattr__(name: str) -> Any:
    # The command line imports this package before it checks that matplotlib and Jinja are installed.
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    sections = _sections()
    if name not in sections:
        raise unknown_name(__name__, name, [*__all__, *sections])
    return sections[name]


def __dir__() -> list[str]:
    return [*__all__, *_sections()]


def _sections() -> dict[str, SectionSpec]:
    from billframes.report.outline import OUTLINE

    return {each.name: each for each in OUTLINE}
