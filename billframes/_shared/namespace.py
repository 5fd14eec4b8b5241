"""The public names of billframes and its namespaces: listed in `__init__.pyi`, imported when they are first used."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from billframes._shared.suggestions import suggest_arguments
from billframes.errors import __all__ as error_names, unknown_name

_ROOT = Path(__file__).parents[1]
# Classes, by how their objects are called in the docs.
_CLASSES = {"book": "Book", "mirror": "Mirror"}
# Words that people look for at the root, with the place of what they mean.
_ELSEWHERE = {
    **{verb: f"time_entries.{verb}" for verb in ("plan", "create", "update", "delete", "count", "get")},
    **dict.fromkeys(("undo", "reverse", "rollback"), "plan.reverse()"),
    "apply": "plan.apply()",
    "sync": "mirror.refresh",
    **dict.fromkeys(("chart", "charts", "plot"), "plots"),
    "report": "import billframes.report, or billframes report in a terminal",
}
_QUOTED = re.compile(r"`(\w+)`")
_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def namespace(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package. Its functions suggest the right argument."""
    folder = Path(file).parent
    modules = _listed(folder)
    names = sorted(modules)

    class Namespace(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            # Importing the module `billframes.book` must not replace the function `bf.book`.
            if not (isinstance(value, ModuleType) and modules.get(name, ".") != "."):
                super().__setattr__(name, value)

    sys.modules[package].__class__ = Namespace

    def find(name: str) -> Any:
        if name not in modules:
            spaces = [each for each in reversed(names) if modules[each] == "."]
            inner = {
                each: f"{space}.{each}" for space in spaces for each in _listed(folder / space) if each not in names
            }
            inner |= {each: f"errors.{each}" for each in error_names if "errors" in spaces}
            if package == _ROOT.name and not name.startswith("_") and name not in inner:
                method = place_of(name)
                inner |= (
                    _ELSEWHERE | _glossary_place(name, [*inner, *names], inner) | ({name: method} if method else {})
                )
            raise unknown_name(package, name, [*inner, *names], inner)
        if modules[name] == ".":
            return import_module(f"{package}.{name}")
        found = getattr(import_module(modules[name], package), name)
        if isinstance(found, FunctionType):
            found = suggest_arguments(found, package)
        setattr(sys.modules[package], name, found)
        return found

    return find, names.copy, names


def place_of(name: str) -> str:
    """
    Return where a public name is, such as "bf.ebilling.ledes" or "book.credits"; empty if there is none.

    Examples
    --------
    >>> place_of("ledes"), place_of("implied_receipts")
    ('bf.ebilling.ledes', 'mirror.implied_receipts')
    """
    root = _listed(_ROOT)
    if name in root:
        return f"bf.{name}"
    spaces = [each for each in root if root[each] == "." and name in _listed(_ROOT / each)]
    there = {each: kind for each, kind in _CLASSES.items() if (_ROOT / each).exists()}
    classes = {each: getattr(import_module(f"{_ROOT.name}.{each}"), kind) for each, kind in there.items()}
    methods = [each for each, kind in classes.items() if callable(getattr(kind, name, None))]
    return next((f"{owner}.{name}" for owner in [*(f"bf.{each}" for each in spaces), *methods]), "")


def _glossary_place(word: str, known: Collection[str], places: Mapping[str, str]) -> dict[str, str]:
    """Return the place of what a word of the glossary is counted by, or else of its explanation; empty for others."""
    # The analyses import this module.
    term = import_module(f"{_ROOT.name}.analysis.declare.glossary").term(word)
    if term is None or word in _ELSEWHERE:
        return {}
    named = [each for each in _QUOTED.findall(term.meaning) if each in known]
    return {word: places.get(named[0], named[0]) if named else f"explain({word!r})"}


def _listed(folder: Path) -> dict[str, str]:
    """Return the names of a namespace, with their modules; none of a package without a stub or of a deleted one."""
    stub = folder / "__init__.pyi"
    found = _IMPORT.findall(stub.read_text(encoding="utf-8")) if stub.exists() else ()
    listed = {name: module for module, *given in found for name in re.findall(r"\b(\w+) as", "".join(given))}
    return {name: module for name, module in listed.items() if _is_there(name if module == "." else module, folder)}


def _is_there(module: str, folder: Path) -> bool:
    """Tell whether the top folder or module of a name is there: a wing can be deleted."""
    base = _ROOT if module.startswith("billframes.") else folder
    top = base / module.removeprefix("billframes.").lstrip(".").partition(".")[0]
    return top.exists() or top.with_suffix(".py").exists()
