"""Rules: what is noted about frames that would give a wrong figure without an error (see `billframes._shared.notes`).

- `loads`: frames that were loaded for too short a period, or with filters
- `amounts`: amounts that are hidden, and rates that are not per hour
- `invoices`, `tax_share`, `fees`, `open_work`: invoices and the items on them
- `people`: people and matters, and what the firm's settings say about them
- `hours`: hours and available hours that are of other people or days
- `periods`: records dated too late, and periods that can't be compared
- `codes`, `payments`: LEDES codes, and payments in the firm's books

Rules of one frame are beside its checks, in `billframes.analysis.data`.
"""
