"""The methods of a book: each calls an analysis with what the book has.

A book's frames, settings and period are bound to the arguments of their name. A method takes the other arguments of the
analysis, and a frame or settings to be used instead of the book's. Signatures and docstrings are made from those of the
analysis; `_book_analyses.pyi` tells them to type checkers.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

import pandas as pd

from billframes._suggestions import bound_arguments
from billframes.analysis.keys import SHORT_NAMES, names_in
from billframes.analysis.spec import Analysis, analyses

__all__ = ["FRAMES", "call", "methods"]

FRAMES = (
    "time_entries",
    "expenses",
    "fixed_fees",
    "invoices",
    "matters",
    "users",
    "clients",
    "codes",
    "code_sets",
    "client_balances",
)
"""The frames that a book has, by the names of arguments."""

_PERIOD = ("start", "end")
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_ENTRY = re.compile(r"^(?P<names>\w[\w, ]*?)(?: : (?P<kind>.*))?\n(?P<text>(?:    .*\n|\n)+)", re.MULTILINE)


def methods() -> dict[str, Callable[..., pd.DataFrame]]:
    """Return the methods of all analyses by name."""
    return {name: _method(each) for name, each in analyses().items()}


def _method(analysis: Analysis) -> Callable[..., pd.DataFrame]:
    signature = _signature(analysis)

    def method(*args: Any, **kwargs: Any) -> pd.DataFrame:
        given = bound_arguments(analysis.name, signature, args, kwargs).arguments
        book = given.pop("self")
        return call(analysis, book, given)

    method.__name__, method.__qualname__, method.__module__ = analysis.name, f"Book.{analysis.name}", "billframes.book"
    method.__doc__ = _doc(analysis, signature)
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def call(analysis: Analysis, book: Any, given: Mapping[str, Any]) -> pd.DataFrame:
    """
    Call an analysis with the arguments given, and for the others with what a book has.

    Parameters
    ----------
    analysis : Analysis
    book : Book
        Or another object with frames of these names, `settings`, `span`, `day` and `loaded_on`.
    given : mapping of str to object
        Arguments by name; frames and settings among them are used instead of the book's.
    """
    own = analysis.book.method
    if own:
        made: pd.DataFrame = own(book, **given)
        return made
    takes = inspect.signature(analysis.function).parameters
    arguments = dict(given)
    first, last = book.span(arguments.pop("start", None), arguments.pop("end", None))
    if "start" in takes:
        arguments |= {"start": first, "end": last}
    if "as_of" in takes and takes["as_of"].default is inspect.Parameter.empty:
        arguments["as_of"] = book.day(given.get("as_of"))
    for name, argument in analysis.book.defaults.items():
        if name not in given:
            arguments[name] = argument.value(book, last)
    if "settings" in takes:
        arguments.setdefault("settings", book.settings)
    for name in _frames(analysis, takes, book, given.get("by", takes["by"].default if "by" in takes else None)):
        if name not in given:
            arguments[name] = getattr(book, name)
    result: pd.DataFrame = analysis.function(**arguments)
    return result


def _frames(analysis: Analysis, takes: Collection[str], book: Any, by: Any) -> Iterator[str]:
    """Name the frames that the book passes; each is loaded by that."""
    needed = FRAMES if analysis.book.needs is None else analysis.book.needs(by)
    for name in FRAMES:
        if name not in takes or name in analysis.book.not_passed:
            continue
        # Settings name people by their e-mail address.
        by_email = name == "users" and book.settings is not None
        if (name in needed and (name != "clients" or _is_of_clients(by, book))) or by_email:
            yield name


def _is_of_clients(by: Any, book: Any) -> bool:
    """Tell whether `by` names a column that only clients have."""
    names = names_in(by)
    own = {*SHORT_NAMES, *book.time_entries.columns, *book.matters.columns, *book.users.columns}
    return any(name.removeprefix("matter_").removeprefix("user_") not in own for name in names)


def _signature(analysis: Analysis) -> inspect.Signature:
    """Make the method's signature: what the caller may pass, in the order of interest."""
    how = analysis.book
    own = inspect.signature(how.method or analysis.function).parameters
    keywords = {each.name: each for each in own.values() if each.kind is _KEYWORD}
    for name in {*_PERIOD, "as_of"} & keywords.keys():
        keywords[name] = keywords[name].replace(default=None, annotation="DateLike | None")
    instead = [*FRAMES, "settings"]
    shown = sorted(keywords.values(), key=lambda each: (each.name not in _PERIOD, each.name in instead))
    parameters = [_parameter(each, positional=each.name == how.first) for each in shown]
    parameters.sort(key=lambda each: each.kind)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Signature([itself, *parameters], return_annotation="pd.DataFrame")


def _parameter(parameter: inspect.Parameter, *, positional: bool) -> inspect.Parameter:
    annotation = parameter.annotation.replace("IntoFrameT", "pd.DataFrame")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if positional else _KEYWORD
    default = None if annotation == "pd.DataFrame" else parameter.default
    annotation = "pd.DataFrame | None" if annotation == "pd.DataFrame" else annotation
    return parameter.replace(kind=kind, annotation=annotation, default=default)


def _doc(analysis: Analysis, signature: inspect.Signature) -> str:
    """Make the method's docstring: the summary of the analysis, its arguments and the columns of its result."""
    if analysis.book.method:
        return inspect.getdoc(analysis.book.method) or ""
    summary = (inspect.getdoc(analysis.function) or "").partition("\n")[0]
    note = f"What counts, errors and warnings are those of `billframes.{analysis.name}`. {analysis.book.note}"
    documented = dict(_documented(analysis))
    names = [name for name in signature.parameters if name != "self"]
    described = groupby(names, key=lambda name: _described(name, analysis, documented.get(name, ("", ""))))
    entries = [f"{', '.join(together)}{text}" for text, together in described]
    parameters = ["\n".join(["Parameters\n----------", *entries])] if entries else []
    columns = "\n".join(f"    - `{each.name}`: {each.meaning}" for each in analysis.columns)
    returns = f"Returns\n-------\nDataFrame\n    What the rows are by, and\n\n{columns}\n"
    return "\n\n".join([summary, textwrap.fill(note.strip(), 112), *parameters, returns])


def _described(name: str, analysis: Analysis, documented: tuple[str, str]) -> str:
    """Describe a parameter of the method in the words of the analysis, or the book's."""
    kind, text = documented
    if name in _PERIOD:
        own = analysis.book.defaults.get(name)
        kind, text = "date-like, optional", own.meaning if own else "Another period than the book's."
    elif name in analysis.book.defaults:
        text = f"{text} {analysis.book.defaults[name].meaning}"
    elif name == "as_of":
        kind, text = "date-like, optional", "The day to measure from; the period's last day by default."
    elif name in {*FRAMES, "settings"} - {*analysis.book.not_passed}:
        kind = "FirmSettings, optional" if name == "settings" else "DataFrame, optional"
        text = "Instead of the book's."
    return f"{f' : {kind}' if kind else ''}\n{textwrap.indent(textwrap.fill(text, 108), '    ')}"


def _documented(analysis: Analysis) -> Iterator[tuple[str, tuple[str, str]]]:
    """Read what the docstring of the analysis says of each parameter: its type and its text."""
    section = (inspect.getdoc(analysis.function) or "").partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\w+\n---+\n", section)[0] + "\n"
    for found in _ENTRY.finditer(section):
        for name in found["names"].split(", "):
            yield name, (found["kind"] or "", " ".join(found["text"].split()))
