"""Complete the docstrings of the analyses: the arguments that several have, what is returned, and what is raised.

The source has what only the analysis itself says: its summary, its own arguments, notes and examples. An argument in
`Analysis.own` has a shared name and another meaning.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

_ABSENT = (
    "If the firm has none, pass an empty frame. With None, a warning says that they are missing; fees billed for time "
    "then include what invoices bill for them."
)
_FRAMES = dict.fromkeys(("expenses", "fixed_fees"), _ABSENT) | dict.fromkeys(
    ("matters", "users", "clients"), "For the columns that `by` names, matter types and roles."
)
"""The meaning of frames that an analysis can do without."""
_INVOICES = "With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`."
_PERIOD = 'First and last day, inclusive, or a period such as "2026-Q3" as `start`.'
OPTIONS = {
    "by": "Keys to group by; None gives one row.",
    "start": _PERIOD,
    "end": _PERIOD,
    "as_of": "The day to measure from; what is dated on it counts.",
    "settings": "The firm's settings.",
    "matter_types": "Types of matter that count; by default the settings', or all but contingency, pro bono, internal.",
    "discounts": 'Whether only "time" bears a discount, or all "items" by value; by default as in the settings.',
    "buckets": "Upper bounds of the buckets in days, rising; the last bucket has no upper bound.",
    "roster": (
        '"timekeepers": everyone whose role is principal, attorney, paralegal or timekeeper, and others with client '
        'hours. "active": only those of them with an entry in the period.'
    ),
    "include_fixed_fee": "Whether `fixedFee` entries are client hours.",
    "include_probono": "Whether `nonBillable` entries on pro bono matters are client hours.",
}
"""The meaning of the other arguments that several analyses have."""
_RAISES = """MissingColumnError, ParameterError
    A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes."""
_WIDTH = 116
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<names>\w[\w, ]*?)(?: : (?P<kind>.*))?\n(?P<text>(?:    .*\n|\n)*)", re.MULTILINE)
_KINDS = {
    "IntoFrameT": "frame",
    "By": "str or list of str",
    "DateLike": "str or date",
    "Collection[str]": "collection of str",
    "Sequence[int]": "sequence of int",
}


def whole_docstring(
    function: Callable[..., Any],
    own: Collection[str],
    arguments: Mapping[str, str],
    returns: str,
    example: str,
) -> str:
    """
    Return the whole docstring of a function.

    `own` are the shared names whose meaning its docstring says itself, `arguments` what an argument means here, after
    the text that all share, `returns` what is returned, and `example` the introduction of the example, unless it has
    one of its own.
    """
    text = (inspect.getdoc(function) or "") + "\n"
    head, *rest = _SECTION.split(text)
    written = dict(zip(rest[::2], rest[1::2], strict=True))
    code = written.pop("Examples", "").strip()
    code = f"{textwrap.fill(example, _WIDTH)}\n\n{code}" if code.startswith(">>>") else code
    sections = {
        "Parameters": "\n".join(_entries(function, own, arguments, documented_arguments(text))),
        "Returns": "\n".join(["frame", *_wrapped(returns)]),
        "Raises": _RAISES,
        **{name: each for name, each in written.items() if name != "Parameters"},
        "Examples": code,
    }
    return "\n\n".join(
        [head.strip(), *(f"{name}\n{'-' * len(name)}\n{each.strip()}" for name, each in sections.items() if each)]
    )


def documented_arguments(text: str) -> dict[str, tuple[str, str]]:
    """Return the type and the text of each argument in a docstring."""
    _, *rest = _SECTION.split(text + "\n")
    section = dict(zip(rest[::2], rest[1::2], strict=True)).get("Parameters", "")
    return {
        name: (each["kind"] or "", " ".join(each["text"].split()))
        for each in _ENTRY.finditer(section)
        for name in each["names"].split(", ")
    }


def _entries(
    function: Callable[..., Any],
    own: Collection[str],
    arguments: Mapping[str, str],
    written: Mapping[str, tuple[str, str]],
) -> Iterator[str]:
    """Yield the entries in the order of the signature; neighbours with the same text share one."""
    parameters = inspect.signature(function).parameters
    described = {name: _described(name, parameters, own, arguments, written) for name in parameters}
    for (kind, text), group in groupby(described, key=described.__getitem__):
        names = ", ".join(group)
        yield "\n".join([f"{names} : {kind}" if kind else names, *_wrapped(text)])


def _described(
    name: str,
    parameters: Mapping[str, inspect.Parameter],
    own: Collection[str],
    arguments: Mapping[str, str],
    written: Mapping[str, tuple[str, str]],
) -> tuple[str, str]:
    # The first and the last day of a period share an entry.
    name = "start" if name == "end" and "start" in parameters else name
    is_open = parameters[name].default is None
    text = OPTIONS.get(name) or (is_open and _FRAMES.get(name))
    if name == "invoices" and name not in written:
        return "frame", _INVOICES
    if name in own or not text:
        return written[name]
    if name == "start" and is_open:
        text = f"{text.removesuffix('.')}; None is open."
    return _kind(parameters[name]), f"{text} {arguments.get(name, '')}".strip()


def _kind(parameter: inspect.Parameter) -> str:
    """Return the type as docstrings write it."""
    words = str(parameter.annotation).removesuffix(" | None")
    choices = re.fullmatch(r"Literal\[(.*)\]", words)
    kind = f"{{{choices[1]}}}".replace("'", '"') if choices else _KINDS.get(words, words)
    has_default = parameter.default is not inspect.Parameter.empty
    return f"{kind}, optional" if parameter.default is None or (words == "By" and has_default) else kind


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
