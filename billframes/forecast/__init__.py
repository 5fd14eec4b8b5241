"""The cash that is expected week by week, and how earlier forecasts came true.

- `history`: invoices, falls of balances and work as arrays by week, and what was known at the end of a week
- `curves`: how fast invoices are settled and work is billed
- `forecasts`: the forecast at the end of a week, its range, and the record of past ones
- `reading`, `preparing`: frames into a history, with refusals and notes
- `rows`: the rows of a result
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
