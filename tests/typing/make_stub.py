"""Write `billframes/loaders/__init__.pyi`: the loaders' signatures, for type checkers and editors.

    python -m tests.typing.make_stub

The signatures are read from the classes, which build them from the API's declaration. Each loader has an overload for
each kind of frame, because `to=` decides what it returns.
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


def stub() -> str:
    """Return the text of the stub for the current classes."""
    classes = [getattr(loaders, name) for name in loaders.__all__]
    text = HEAD.format(names=loaders.__all__) + "\n".join("\n".join(_loader(each)) for each in classes)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def _loader(loader: type[Loader]) -> Iterator[str]:
    call = inspect.signature(loader.__call__)
    named = [each for each in call.parameters.values() if each.kind is each.KEYWORD_ONLY and each.name != "to"]
    options = f"_{loader.__name__}Options" if named else ""
    if named:
        yield f"class {options}(TypedDict, total=False):"
        yield from (f"    {each.name}: {each.annotation}" for each in named)
    yield f"class {loader.__name__}(Loader):"
    yield from _call(call, options)
    for name, method in inspect.getmembers(loader, inspect.isfunction):
        if not name.startswith("_") and not hasattr(Loader, name):
            yield _method(name, method)


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
