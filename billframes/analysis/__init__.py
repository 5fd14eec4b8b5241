"""The analyses: pure functions from frames to frames, on any engine.

Each analysis is one module of `sheets`. Its `ANALYSIS` declares everything that the rest of billframes needs:

- `declare`: the declarations of analyses and columns, and the words that explain them
- `data`: the frames of a book or of a call on every engine, and one call of an analysis
- `facts`: the rows that figures are sums of
- `keys`: how rows are added up by the keys of `by=`
- `rules`: what is noted about frames that would give a wrong figure without an error
- `books`: the firm's books beside the billing system: payments of invoices, and what is open in both
- `results`: results explained, compared, and put side by side
- `forecasting`: what `cash_forecast` is calculated from

The names here are the functions, not the modules with the same names.
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
