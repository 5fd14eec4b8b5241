"""A law firm's practice-and-billing API as pandas DataFrames its partners can trust.

>>> import billframes as bf
>>> client = bf.connect("sandbox")
>>> bf.time_entries("2026-10").dtypes["hours"]
dtype('float64')
"""

import sys
from types import FunctionType, ModuleType
from typing import Any

import lazy_loader

# `__init__.pyi` lists the public names and their modules. A module is imported when its name is first used, because the
# analyses import Narwhals, a client httpx, plots matplotlib and widgets ipywidgets.
_import, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _Root(ModuleType):
    def __setattr__(self, name: str, value: object) -> None:
        # Importing the module `billframes.book` must not replace the function `bf.book`.
        if not (isinstance(value, ModuleType) and name in ("book", "mirror")):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Root


def __getattr__(name: str) -> Any:
    if name in __all__ or name.startswith("__"):
        found = _import(name)
        if isinstance(found, FunctionType):
            from billframes._shared.suggestions import suggest_arguments

            found = globals()[name] = suggest_arguments(found)
        return found
    from billframes.errors import unknown_name

    raise unknown_name("billframes", name, __all__)


def __dir__() -> list[str]:
    # Errors and warnings can be imported from here too, but the list would be too long to find anything else.
    return [name for name in __all__ if not name.endswith(("Error", "Warning"))]
