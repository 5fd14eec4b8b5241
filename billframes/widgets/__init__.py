"""Widgets for notebooks: a filter panel for a frame, an explorer for a book, and a button that applies bulk edits.

The filter state is a plain value (`state`) and filtering is plain pandas (`fields`, `options`, `filters`,
`describe`), so both are tested without a notebook. The widgets show the state and handle clicks.
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
