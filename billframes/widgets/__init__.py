"""Seeing and filtering in a notebook: a panel of filters, and an explorer of a book.

What is filtered is a plain value (`_state`), and filtering is plain pandas (`_fields`, `_options`, `_filters`,
`_wording`), so both are tested without a notebook. The widgets only show it and pass on what was clicked.
"""

from __future__ import annotations

from billframes.widgets.explorer import Explorer, explore
from billframes.widgets.panel import FilterPanel, filter_panel

__all__ = ["Explorer", "FilterPanel", "explore", "filter_panel"]
