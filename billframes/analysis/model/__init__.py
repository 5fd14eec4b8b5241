"""The rows that analyses add up, with their dates and amounts, and the keys that group them.

- `worked_time`, `capacity`: hours and available hours
- `billed_work`: the rows of fees on invoices, allocated once by `allocation` and `invoice_parts`; `realized_fees` and
  `fees` add them up, for realization and for fees of all types
- `open_work`, `open_balances`: work in progress and receivables on a day
- `keys`, `grouping`, `arguments`: what `by=` and the other shared arguments mean
"""
