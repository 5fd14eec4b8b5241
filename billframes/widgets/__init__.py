"""Widgets for notebooks: a filter panel for a frame, an explorer for a book, and a button that applies bulk edits.

The filter state is a plain value (`state`) and filtering is plain pandas (`fields`, `options`, `filters`,
`describe`), so both are tested without a notebook. The widgets show the state and handle clicks.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from billframes.widgets.bulk_button import ApplyButton, apply_button
    from billframes.widgets.explorer import Explorer, explore
    from billframes.widgets.panel import FilterPanel, filter_panel

__all__ = ["ApplyButton", "Explorer", "FilterPanel", "apply_button", "explore", "filter_panel"]

# The dashboard's command and server need no widgets, which take a second to import.
_PLACES = {
    "ApplyButton": "bulk_button",
    "Explorer": "explorer",
    "FilterPanel": "panel",
    "apply_button": "bulk_button",
    "explore": "explorer",
    "filter_panel": "panel",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"billframes.widgets.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
