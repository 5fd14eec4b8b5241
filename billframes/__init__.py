"""A law firm's practice-and-billing API as pandas DataFrames its partners can trust.

>>> import billframes as bf
>>> client = bf.connect("sandbox")
>>> bf.time_entries("2026-10").dtypes["hours"]
dtype('float64')
"""

from billframes._shared.namespace import namespace

# A module is imported when one of its names is first used, because the analyses import Narwhals, a client httpx, plots
# matplotlib and widgets ipywidgets.
__getattr__, __dir__, __all__ = namespace(__name__, __file__)
