"""E-billing: LEDES files that equal their invoices to the cent, and checks of what a portal would reject.

Each step from an invoice to a file is a module: the client's requirements (`profile`), records (`source`, `codes`),
exact amounts (`lines`, `line_taxes`, `invoice_amount`), texts (`texts`), checks (`rules`, `check`), and the file
(`file`). `format` declares the formats. `reading` reads files of any software, which are checked by the same rules.
"""

from __future__ import annotations

from billframes.ebilling.check import ledes_check
from billframes.ebilling.codes import CodeStore, ItemCodes, ItemKey
from billframes.ebilling.file import LedesFile, ledes
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.reading import ledes_format, read_ledes

__all__ = [
    "CodeStore",
    "ItemCodes",
    "ItemKey",
    "LedesFile",
    "LedesProfile",
    "ledes",
    "ledes_check",
    "ledes_format",
    "read_ledes",
]
