"""Widgets for notebooks: a filter panel for a frame, and an explorer for a book.

The filter state is a plain value (`_state`) and filtering is plain pandas (`_fields`, `_options`, `_filters`,
`_describe`), so both are tested without a notebook. The widgets show the state and handle clicks.
"""

from __future__ import annotations

from billframes.widgets.explorer import Explorer, explore
from billframes.widgets.panel import FilterPanel, filter_panel

__all__ = ["Explorer", "FilterPanel", "explore", "filter_panel"]
