"""Forecasts of cash: NumPy over whole weeks, without frames except in `reading`.

- `history`: invoices, falls of balances and work as arrays by week, and what was known at the end of a week
- `curves`: how fast invoices are settled and work is billed
- `ranges`: how far a forecast can be off, widened by how far past ones were
- `forecasts`: the forecast at the end of a week, and the record of past ones
- `reading`, `preparing`: frames into a history, with refusals and notes
- `rows`: the rows of a result
"""
