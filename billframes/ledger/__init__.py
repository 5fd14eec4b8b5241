"""The firm's books beside the billing system: reports of QuickBooks Online and Xero.

`reports` declares the reports that are read, and `read_ledger` of `reading` reads them: `csv_and_excel` opens a
file, `title_and_headings` finds what it is, `amounts_and_dates` reads values, `transactions_and_totals` reads the
rows and adds them up again, and `frame` has the columns that every report gives. `quickbooks_api` makes the same frame
from objects of the API of QuickBooks Online. `writing` writes such reports, for the sandbox's firm (`demo`) and for
tests.
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
