"""The dashboard: the explorer as a page of its own, served on this machine to whoever has its address.

A Voila server runs the notebook that ships here; each visit has a kernel, and so filters, of its own.
"""

from __future__ import annotations

from billframes.widgets.dashboard.page import page

__all__ = ["page"]
