"""Find where a public name is: in which namespace, or in which class; else how people may mean it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from billframes._shared.names import same_word, snake_case
from billframes.errors import UnknownNameError, unknown_name

ROOT = Path(__file__).parents[1]
# Classes, each with its package and how an object is made.
_CLASSES = {"Book": ("book", "bf.book('2026-10')"), "Mirror": ("mirror", "bf.mirror(path)")}
# Words that people look for, with the place of what they mean.
ELSEWHERE = {
    **{verb: f"bf.time_entries.{verb}" for verb in ("plan", "create", "update", "delete", "count", "get")},
    **dict.fromkeys(("undo", "reverse", "rollback"), "plan.reverse()"),
    "apply": "plan.apply()",
    "sync": "bf.mirror(path).refresh()",
    **dict.fromkeys(("check", "guidelines"), "bf.Guidelines.read(…).check(book)"),
    **dict.fromkeys(("chart", "charts", "plot"), "bf.plots"),
    "report": "import billframes.report, or billframes report in a terminal",
}
_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


def place_of(name: str, own: Mapping[str, str] = MappingProxyType({})) -> str:
    """
    Return where a public name, or what a word of the glossary is counted by, is; empty if there is none.

    `own` are the names that are looked at first, with their places.

    Examples
    --------
    >>> place_of("ledes"), place_of("implied_receipts"), place_of("write_offs")
    ('bf.ebilling.ledes', 'bf.mirror(path).implied_receipts(…)', "bf.explain('write_offs')")
    """
    direct = own.get(same_word(name, own)) or ELSEWHERE.get(name) or _public_place(name)
    # The analyses import this module.
    term = None if direct else import_module(f"{ROOT.name}.analysis.declare.glossary").term(name)
    if term is None:
        return direct
    named = (own.get(each) or _public_place(each) for each in (snake_case(term.name), *term.names))
    return next(filter(None, named), f"bf.explain({name!r})")


def _public_place(name: str) -> str:
    root = listed(ROOT)
    if name in root:
        return f"bf.{name}"
    spaces = [f"bf.{each}" for each in root if root[each] == "." and name in listed(ROOT / each)]
    return method_place(name) or next((f"{space}.{name}" for space in spaces), "")


def method_place(name: str) -> str:
    """Return the call of a method of a book or a mirror; empty if neither has it."""
    for kind, (package, made) in _CLASSES.items():
        found = (ROOT / package).exists() and getattr(import_module(f"{ROOT.name}.{package}"), kind)
        if found and name in dir(found) and callable(getattr(found, name)):
            return f"{made}.{name}(…)"
    return ""


def missing_name(owner: str, name: str, own: Mapping[str, str]) -> UnknownNameError:
    """Return the error for a name that a namespace, a class or an object does not have, with its place."""
    is_own = name in own or sum(name in each.split("_") for each in own) == 1
    place = "" if is_own else place_of(name, own)
    # A call is typed whole; "bf." is left out of a name of `bf`.
    places = {name: place.removeprefix("bf.") if owner == ROOT.name and ")." not in place else place} if place else own
    return unknown_name(owner, name, places, places)


@functools.cache
def listed(folder: Path) -> dict[str, str]:
    """Return the names of a namespace, with their modules; none of a package without a stub or of a deleted one."""
    stub = folder / "__init__.pyi"
    found = _IMPORT.findall(stub.read_text(encoding="utf-8")) if stub.exists() else ()
    names = {name: module for module, *given in found for name in re.findall(r"\b(\w+) as", "".join(given))}
    return {name: module for name, module in names.items() if _is_there(name if module == "." else module, folder)}


def _is_there(module: str, folder: Path) -> bool:
    """Tell whether the top folder or module of a name is there: a wing can be deleted."""
    base = ROOT if module.startswith("billframes.") else folder
    top = base / module.removeprefix("billframes.").lstrip(".").partition(".")[0]
    return top.exists() or top.with_suffix(".py").exists()
