"""A law firm's practice-and-billing API as pandas DataFrames its partners can trust.

>>> import billframes as bf
>>> client = bf.connect("sandbox")
>>> bf.time_entries("2026-10").dtypes["hours"]
dtype('float64')
"""

import sys
from types import ModuleType

from billframes._shared.namespace import namespace

# A module is imported when one of its names is first used, because the analyses import Narwhals, a client httpx, plots
# matplotlib and widgets ipywidgets.
__getattr__, __dir__, __all__ = namespace(__name__, __file__)


class _Root(ModuleType):
    def __setattr__(self, name: str, value: object) -> None:
        # Importing the module `billframes.book` must not replace the function `bf.book`.
        if not (isinstance(value, ModuleType) and name in ("book", "mirror")):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Root
