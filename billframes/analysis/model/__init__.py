"""The rows that analyses add up, with their dates and amounts, and the keys that group them.

- `billed_work`: the fact (`declare.facts`) of the fees on invoices, allocated once by `allocation` and `invoice_parts`;
  `realized_fees` adds up the part that counts in realization
- `open_work`: work in progress on a day
- `keys`, `grouping`, `arguments`: what `by=` and the other shared arguments mean
"""
