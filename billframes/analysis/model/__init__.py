"""The rows that analyses add up, with their dates and amounts, and the keys that group them.

- `worked_time`, `capacity`: hours and available hours
- `billed_work`, `fees`: fees of invoices, allocated to the work on them by `allocation` and `invoice_parts`
- `open_work`, `open_balances`: work in progress and receivables on a day
- `keys`, `grouping`, `arguments`: what `by=` and the other shared arguments mean
"""
