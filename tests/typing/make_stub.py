"""Write `billframes/loaders/__init__.pyi`: the loaders' signatures, for type checkers and editors.

    python -m tests.typing.make_stub

The signatures are read from the classes, which build them from the API's declaration. Each loader has an overload for
each kind of frame, because `to=` decides what it returns. What several loaders have is written once: the options of
paged lists, the methods for single records that take an id or a frame, and the calls that take only `to`.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import UNSET

from billframes import loaders
from billframes.loaders.loader import Loader

STUB = Path(loaders.__file__).with_suffix(".pyi")
HEAD = """\
# Written by `python -m tests.typing.make_stub` from the loaders' signatures; not edited by hand.
import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypedDict, Unpack, overload

import pandas as pd
import polars as pl
import pyarrow as pa
from msgspec import UNSET, UnsetType

from billframes.bulk.plan import Plan
from billframes.loaders.loader import Id, Ids, Loader, Names, Parameters
from billframes.loading.progress import Progress
from billframes.loading.record import Record
from billframes.loading.request_bodies import SetFields
from billframes.periods import DateLike

__all__ = {names}
"""
FRAMES = {"pandas": "pd.DataFrame", "arrow": "pa.Table", "polars": "pl.DataFrame"}


# The options of all paged lists: those of `count`, too, and those of a load only.
COUNTED, PAGED = ("modified_since", "params"), ("select", "sort", "limit", "progress")
SHARED = ("delete", "get", "plan")


def stub() -> str:
    """Return the text of the stub for the current classes."""
    classes = [getattr(loaders, name) for name in loaders.__all__]
    shared = "\n".join([*_shared(loaders.TimeEntries), "class _ToOnly(Loader):", *_call(_signature(loaders.Codes), "")])
    text = HEAD.format(names=loaders.__all__) + shared + "\n" + "\n".join("\n".join(_loader(each)) for each in classes)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def _shared(loader: type[Loader]) -> Iterator[str]:
    parameters = _signature(loader).parameters
    for name, names in (("_Counted", COUNTED), ("_Paged", PAGED)):
        yield from _options(name, "TypedDict", [parameters[each] for each in names])
    yield "class _SingleRecords(Loader):"
    yield from (_method(name, getattr(loader, name)) for name in SHARED)


def _loader(loader: type[Loader]) -> Iterator[str]:
    call, name = _signature(loader), f"_{loader.__name__}"
    named = [each for each in call.parameters.values() if each.kind is each.KEYWORD_ONLY and each.name != "to"]
    own = [each for each in named if each.name not in (*COUNTED, *PAGED)]
    if hasattr(loader, "count"):
        yield from _options(name, "_Counted", own)
        yield from _options(f"{name}Options", f"{name}, _Paged", [])
    elif named:
        yield from _options(f"{name}Options", "TypedDict", named)
    bases = ["_SingleRecords"] if all(hasattr(loader, each) for each in SHARED) else []
    bases += ["_ToOnly"] if [*call.parameters] == ["self", "to"] else []
    yield f"class {loader.__name__}({', '.join(bases) or 'Loader'}):"
    if "_ToOnly" not in bases:
        yield from _call(call, f"{name}Options" if named else "")
    methods = dict(inspect.getmembers(loader, inspect.isfunction))
    shared = {*SHARED} if "_SingleRecords" in bases else set()
    written = [
        each for each in methods if not each.startswith("_") and not hasattr(Loader, each) and each not in shared
    ]
    for each in written:
        yield _count(methods[each], name) if each == "count" else _method(each, methods[each])
    if "_ToOnly" in bases and not written:
        yield "    ..."


def _signature(loader: type[Loader]) -> inspect.Signature:
    return inspect.signature(loader.__call__)


def _options(name: str, base: str, parameters: list[inspect.Parameter]) -> Iterator[str]:
    yield f"class {name}({base}, total=False):"
    yield from (f"    {each.name}: {each.annotation}" for each in parameters)
    if not parameters:
        yield "    ..."


def _count(method: Callable[..., Any], options: str) -> str:
    positional = [each for each in inspect.signature(method).parameters.values() if each.kind is not each.KEYWORD_ONLY]
    return f"    def count({', '.join([*map(_shown, positional), f'**options: Unpack[{options}]'])}) -> int: ..."


def _call(call: inspect.Signature, options: str) -> Iterator[str]:
    positional = [_shown(each) for each in call.parameters.values() if each.kind is not each.KEYWORD_ONLY]
    for kind, frame in FRAMES.items():
        to = f"to: Literal[{kind!r}]" + (f" = {kind!r}" if kind == "pandas" else "")
        arguments = [*positional, "*", to, *([f"**options: Unpack[{options}]"] if options else [])]
        yield f"    @overload\n    def __call__({', '.join(arguments)}) -> {frame}: ..."


def _method(name: str, method: Callable[..., Any]) -> str:
    signature = inspect.signature(method)
    parameters = list(signature.parameters.values())
    arguments = [_shown(each) for each in parameters]
    keywords = sum(each.kind is each.KEYWORD_ONLY for each in parameters)
    if keywords:
        arguments.insert(len(arguments) - keywords, "*")
    return f"    def {name}({', '.join(arguments)}) -> {signature.return_annotation}: ..."


def _shown(parameter: inspect.Parameter) -> str:
    if parameter.name == "self":
        return "self"
    text = f"{parameter.name}: {parameter.annotation}"
    if parameter.default is parameter.empty:
        return text
    return f"{text} = {'UNSET' if parameter.default is UNSET else repr(parameter.default)}"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
