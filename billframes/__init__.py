"""A law firm's practice-and-billing API as pandas DataFrames its partners can trust.

>>> import billframes as bf
>>> client = bf.connect("sandbox")
>>> bf.time_entries("2026-10").dtypes["hours"]
dtype('float64')
"""

import lazy_loader

# What there is, and where, stands in `__init__.pyi`. Each is imported when it is first asked for: the analyses bring
# Narwhals, a client httpx, plots matplotlib, widgets ipywidgets.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
