"""The public names of billframes and its namespaces: listed in `__init__.pyi`, imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from billframes._shared.places import ROOT, listed, method_place, missing_name
from billframes._shared.suggestions import suggest_arguments
from billframes.errors import __all__ as error_names, unknown_name


def namespace(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package. Its functions suggest the right argument."""
    folder = Path(file).parent
    modules = listed(folder)
    names = sorted(modules)
    is_root, places = folder == ROOT, partial(_places, folder, modules)

    class Namespace(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            # Importing the module `billframes.book` must not replace the function `bf.book`, and an internal module
            # such as `billframes.bulk.apply` is not public. Users import `billframes.report` by hand.
            if not (isinstance(value, ModuleType) and modules.get(name, "." if is_root else "") != "."):
                super().__setattr__(name, value)

    sys.modules[package].__class__ = Namespace

    def find(name: str) -> Any:
        if name not in modules:
            # Python itself looks up names with underscores.
            is_private = name.startswith("_")
            raise unknown_name(package, name, names) if is_private else missing_name(package, name, places())
        if modules[name] == ".":
            return import_module(f"{package}.{name}")
        found = getattr(import_module(modules[name], package), name)
        if isinstance(found, FunctionType):
            found = suggest_arguments(found, package)
        setattr(sys.modules[package], name, found)
        return found

    return find, names.copy, names


def _places(folder: Path, modules: dict[str, str]) -> dict[str, str]:
    """Return the names of a namespace and of those in it, with their places."""
    spaces = [each for each in sorted(modules, reverse=True) if modules[each] == "."]
    places = {each: method_place(each) or f"{space}.{each}" for space in spaces for each in listed(folder / space)}
    places |= {each: f"errors.{each}" for each in error_names if "errors" in spaces}
    return places | {each: each for each in modules}
