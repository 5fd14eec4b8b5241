"""E-billing: what a client's portal would reject, and LEDES 1998B files that agree with their invoices to the cent.

A bill becomes a file in steps, each a module: the client's wishes (`profile`), records (`source`, `codes`), exact
amounts (`lines`), texts (`texts`), the format's rules over them (`rules`, `check`), and the file (`file`). Files of
other software are read by `reading` and checked by the same rules.
"""

from __future__ import annotations

from billframes.ebilling.check import ledes_check
from billframes.ebilling.codes import CodeStore, ItemCodes, ItemKey
from billframes.ebilling.file import LedesFile, ledes
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.reading import read_ledes

__all__ = ["CodeStore", "ItemCodes", "ItemKey", "LedesFile", "LedesProfile", "ledes", "ledes_check", "read_ledes"]
