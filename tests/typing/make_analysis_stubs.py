"""Write the stubs of the analyses for type checkers and editors, from their declarations.

    python -m tests.typing.make_analysis_stubs

Run it after an analysis was added or its arguments have changed. Tables, charts and the methods of a book are made when
billframes is imported, so type checkers can't find them in the source.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

import billframes
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.results.figure_names import figure_names, name_to_write
from billframes.book.book import Book

ROOT = Path(billframes.__file__).parent
# Public functions of the analyses' folder that are not analyses, with their modules.
_MORE = {
    "fact": "billframes.analysis.results.fact",
    "payments": "billframes.ledger.payments",
}
HEAD = "# Written by `python -m tests.typing.make_analysis_stubs` from what the analyses declare; not edited by hand."


def stubs() -> dict[Path, str]:
    """Return the text of each stub."""
    charts = [name for name, each in analyses().items() if each.chart]
    tables = [name for name, each in analyses().items() if each.table]
    methods_of_book = ROOT / "book" / "_analyses.pyi"
    of_figures = ROOT / "analysis" / "results" / "_figure_names.pyi"
    return {
        of_figures: _figure_names(),
        methods_of_book: _book(methods_of_book),
        ROOT / "analysis" / "__init__.pyi": _functions(ROOT / "analysis" / "__init__.pyi"),
        ROOT / "plots" / "__init__.pyi": _attributes("from .chart import Plot", "Plot", [*charts, "figures"]),
        ROOT / "tables" / "__init__.pyi": _attributes(
            "from .table import TableOf as TableOf", "TableOf", [*tables, "figures"]
        ),
    }


def _functions(path: Path) -> str:
    """Return the functions of `_MORE`, and those of the analyses, with the signature that `sheet` makes."""
    found = {name: each.function for name, each in analyses().items()}
    made = [name for name, each in found.items() if hasattr(each, "__wrapped__")]
    places = {name: each.__module__ for name, each in found.items()} | _MORE
    lines = [f"from {module} import {name} as {'_' * (name in made)}{name}" for name, module in sorted(places.items())]
    functions = "".join(_function(name, inspect.signature(found[name])) for name in made)
    return _formatted(path, "\n".join([f"{HEAD}\n# ruff: noqa: F401", *lines, FUNCTIONS, functions]))


def _figure_names() -> str:
    """Return the type of the names of figures, which editors complete."""
    short = [word for each in analyses().values() for word in (*each.short, each.name) if each.short]
    columns = dict.fromkeys(each.column for each in figure_names().values())
    lines = textwrap.wrap(", ".join(map(repr, sorted({*short, *map(name_to_write, columns)}))), 116)
    text = "\n".join(f"    {line}" for line in lines).replace("'", '"')
    head = f"{HEAD}\n# ruff: noqa: PYI051\n# fmt: off\nfrom typing import Literal, TypeAlias\n\n"
    return f"{head}FigureName: TypeAlias = Literal[\n{text}\n] | str\n"


def _attributes(imports: str, kind: str, names: list[str]) -> str:
    return "\n".join([HEAD, imports, "", *(f"{name}: {kind}" for name in names), ""])


TYPES = """
from collections.abc import Collection, Sequence
from typing import Any, Literal

import pandas as pd

from billframes.analysis.keys.by import By
from billframes.config.firm import FirmSettings
from billframes.forecast.horizons import Horizons
from billframes.periods import DateLike
"""
FUNCTIONS = f"{TYPES}\nfrom narwhals.stable.v2.typing import IntoFrameT\n"
BOOK = "{}\nclass BookAnalyses:\n".format(TYPES.replace("from billframes.config.firm import FirmSettings\n", ""))


def _book(path: Path) -> str:
    methods = "".join(_function(name, inspect.signature(getattr(Book, name))) for name in analyses())
    return _formatted(path, HEAD + BOOK + textwrap.indent(methods, "    "))


def _formatted(path: Path, text: str) -> str:
    command = [sys.executable, "-m", "ruff", "check", "--fix-only", "--quiet", "--select", "I", "--stdin-filename"]
    for each in (command, [*command[:3], "format", "--stdin-filename"]):
        text = subprocess.run([*each, str(path), "-"], input=text, capture_output=True, text=True, check=True).stdout
    return text


def _function(name: str, signature: inspect.Signature) -> str:
    arguments, star = [], False
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not star:
            arguments, star = [*arguments, "*"], True
        kind = "" if each.annotation is each.empty else f": {each.annotation}"
        default = "" if each.default is each.empty else f" = {each.default!r}"
        arguments.append(f"{each.name}{kind}{default}")
    return f"def {name}({', '.join(arguments)}) -> {signature.return_annotation}: ...\n"


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
