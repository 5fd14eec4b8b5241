"""E-billing: LEDES files that equal their invoices to the cent, and checks of what a portal would reject.

Each step from an invoice to a file is a module: the client's requirements (`profile`), records (`source`, `codes`),
exact amounts (`bill_lines`, `line_taxes`, `invoice_amount`), texts (`written_fields`), checks (`rules`, `check`),
and the file (`write_ledes_file`). `ledes_formats` declares the formats. `reading` reads files of any software,
checked by the same rules.
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
