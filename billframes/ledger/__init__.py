"""The firm's books beside the billing system: reports of QuickBooks Online and Xero.

==========  ============================================================================
`reports`   the reports that are read, as declarations
`cells`     open a CSV or Excel file
`values`    amounts and dates
`rows`      transactions, groups and totals, which are added up again
`frame`     the columns that every report gives
`reading`   `read_ledger`
`quickbooks` the same frame from objects of the API of QuickBooks Online
`writing`   write such reports, for the sandbox's firm and for tests
`demo`      the reports of the sandbox's firm
==========  ============================================================================
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
