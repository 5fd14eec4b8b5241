"""Write the sections Parameters, Returns and Raises of the analyses' docstrings, from what they declare.

    python -m tests.typing.make_docstrings

Run it after the arguments or columns of an analysis were changed. Everything else in a docstring is written by hand and
kept: the summary, the arguments that no other analysis has, notes and examples.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.options import FRAMES, OPTIONS
from billframes.analysis.declare.spec import Analysis

WIDTH = 116
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(?P<names>\w[\w, ]*?)(?: : (?P<kind>.*))?\n(?P<text>(?:    .*\n|\n)*)", re.MULTILINE)
RAISES = """MissingColumnError, ParameterError
    A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes."""


def docstring(analysis: Analysis) -> str:
    """Return the docstring of an analysis as it should be."""
    text = inspect.getdoc(analysis.function) or ""
    head, *rest = SECTION.split(text + "\n")
    own = dict(zip(rest[::2], rest[1::2], strict=True))
    made = {
        "Parameters": "\n".join(_entries(analysis, own.get("Parameters", ""))),
        "Returns": own["Returns"] if "returns" in analysis.own else _returns(analysis),
        "Raises": own["Raises"] if "raises" in analysis.own else RAISES,
        **{name: each for name, each in own.items() if name not in {"Parameters", "Returns", "Raises"}},
    }
    sections = (f"{name}\n{'-' * len(name)}\n{each.strip()}" for name, each in made.items() if each)
    return "\n\n".join([head.strip(), *sections])


def _entries(analysis: Analysis, own: str) -> Iterator[str]:
    """Return the entries of the arguments in the order of the signature; neighbours with the same text share one."""
    written = {
        name: (each["kind"] or "", " ".join(each["text"].split()))
        for each in ENTRY.finditer(own)
        for name in each["names"].split(", ")
    }
    parameters = inspect.signature(analysis.function).parameters.values()
    described = {each.name: _description(analysis, each, written) for each in parameters}
    for (kind, text), group in groupby(described, key=described.__getitem__):
        names = ", ".join(group)
        yield "\n".join([f"{names} : {kind}" if kind else names, *_wrapped(text)])


def _description(
    analysis: Analysis, parameter: inspect.Parameter, written: dict[str, tuple[str, str]]
) -> tuple[str, str]:
    name = parameter.name
    optional = parameter.default is None
    if name in analysis.own or (name not in OPTIONS and not (optional and _frame_text(name))):
        return written[name]
    text = _frame_text(name) or OPTIONS[name]
    if name in {"start", "end"} and "start" in inspect.signature(analysis.function).parameters:
        first = inspect.signature(analysis.function).parameters["start"]
        text = f"{text.removesuffix('.')}; None is open." if first.default is None else text
        kind = "str or date, optional" if first.default is None else "str or date"
        return kind, f"{text} {analysis.arguments.get('start', '')}".strip()
    return _kind(parameter), f"{text} {analysis.arguments.get(name, '')}".strip()


def _frame_text(name: str) -> str:
    return next((text for names, text in FRAMES.items() if name in names), "")


KINDS = {
    "IntoFrameT": "frame",
    "By": "str or list of str",
    "DateLike": "str or date",
    "Collection[str]": "collection of str",
    "Sequence[int]": "sequence of int",
}


def _kind(parameter: inspect.Parameter) -> str:
    """Return the type as docstrings write it."""
    words = str(parameter.annotation).removesuffix(" | None")
    choices = re.fullmatch(r"Literal\[(.*)\]", words)
    kind = f"{{{choices[1]}}}".replace("'", '"') if choices else KINDS.get(words, words)
    return (
        f"{kind}, optional"
        if parameter.default is None or (words == "By" and parameter.default is not inspect.Parameter.empty)
        else kind
    )


def _returns(analysis: Analysis) -> str:
    names = ", ".join(f"`{name}`" for name in dict.fromkeys((*analysis.keys, *analysis.measure_names)))
    text = f'Of the kind of the input, {analysis.rows} {names}. `bf.explain("{analysis.name}")` says what each is.'
    return "\n".join(["frame", *_wrapped(text)])


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def sources() -> dict[Path, str]:
    """Return the text of each module as it should be."""
    found = {}
    for analysis in analyses().values():
        path = Path(inspect.getsourcefile(analysis.function) or "")
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        function = next(each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == analysis.name)
        node = typing.cast("ast.Expr", function.body[0])
        lines = text.splitlines(keepends=True)
        prefix = lines[node.lineno - 1].strip().removesuffix('"""')
        new = textwrap.indent(f'{prefix}"""\n{docstring(analysis)}\n"""\n', "    ")
        lines[node.lineno - 1 : node.end_lineno] = [new]
        found[path] = "".join(lines)
    return found


if __name__ == "__main__":
    for path, text in sources().items():
        path.write_text(text, encoding="utf-8")
