"""The methods of a book: each calls an analysis with the book's frames, settings and period.

These go to the analysis's arguments of the same name. A method takes the other arguments of the analysis, and days
within the book's data. Its signature and docstring are made from those of the analysis; type checkers read them in
`_analyses.pyi`.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import chain, groupby
from typing import Any, cast

import pandas as pd

from billframes._shared.notes import Notes, collect_notes
from billframes._shared.suggestions import bound_arguments
from billframes.analysis.data.call import run
from billframes.analysis.data.data import Data
from billframes.analysis.data.distinct_names import attach_names
from billframes.analysis.declare.docstrings import documented_arguments
from billframes.analysis.declare.key_words import SHORT_NAMES, to_filter
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.spec import Analysis, parameters
from billframes.analysis.keys.by import names_in
from billframes.analysis.results.figure_names import figure_names, name_to_write
from billframes.book.denied import without_denied
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import attach_notes
from billframes.periods import Period

FRAME_NAMES = (
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
"""The frames of a book. Arguments of analyses have the same names."""

_PERIOD = ("start", "end")
_KEYWORD = inspect.Parameter.KEYWORD_ONLY


class AnalysisMethod:
    """A book's method for an analysis, made when it is first used; Python calls it with the class that has it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._owner = owner

    def __get__(self, book: Any, _owner: type) -> Any:
        method = _method(analyses()[self._name])
        setattr(self._owner, self._name, method)
        return method if book is None else method.__get__(book)


def _method(analysis: Analysis) -> Callable[..., pd.DataFrame]:
    signature = _signature(analysis)

    def method(*args: Any, **kwargs: Any) -> pd.DataFrame:
        given = bound_arguments(analysis.name, signature, args, kwargs, partial(_instead, analysis)).arguments
        book = given.pop("self")
        return cast("pd.DataFrame", attach_names(call_analysis(analysis, book, given), book._names))

    method.__name__, method.__qualname__, method.__module__ = analysis.name, f"Book.{analysis.name}", "billframes.book"
    method.__doc__ = _doc(analysis, signature)
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def _instead(analysis: Analysis, argument: str) -> str:
    """Say what to do instead of passing a frame or a setting, which the book has, or what `figures` keeps."""
    if argument in (*FRAME_NAMES, "settings"):
        return f"The book has it; to use another, assign it: book.{argument} = …"
    if argument in FirmSettings.__dataclass_fields__:
        return f"It is one of the settings: assign book.settings = FirmSettings({argument}=…)."
    own = (name_to_write(each.column) for each in figure_names().values() if each.analysis.name == analysis.name)
    name = next(chain(analysis.short[1:], own), "")
    advice = to_filter(argument, analysis.takes, f"book.figures({name!r}")
    oldest = next((each for each in figure_names() if each.startswith(f"{analysis.name}.") and each[-1] == "+"), "")
    advice += f" Its buckets are figures, too, such as {oldest!r}." if argument == "where" and oldest else ""
    return advice if name or not advice else "Filter the rows of its result."


def call_analysis(
    analysis: Analysis, book: Any, given: Mapping[str, Any], run: Callable[..., Any] = run
) -> pd.DataFrame:
    """
    Call an analysis with the given arguments, and take the others from a book, or an object like one.

    `run` gets an analysis that is made of facts, the data and the options.
    """
    notes = Notes("book")
    try:
        with collect_notes(notes):
            result = _call(analysis, book, given, run)
    finally:
        notes.finish()
    return cast("pd.DataFrame", attach_notes(result, notes))


def _call(analysis: Analysis, book: Any, given: Mapping[str, Any], run: Callable[..., Any]) -> Any:
    if own := analysis.book.method:
        return own(book, **given)
    takes = parameters(analysis.function)
    arguments = dict(given)
    first, last = book._days.span(arguments.pop("start", None), arguments.pop("end", None))
    by = given.get("by", takes["by"].default if "by" in takes else None)
    needed = [name for name in _needed_frames(analysis, takes, book, by) if name not in given]
    period = Period(first, last)
    if "start" in takes:
        period = book._days.until_now(period, analysis, needed)
        arguments |= {"start": period.start, "end": period.end}
    if "as_of" in takes and takes["as_of"].default is inspect.Parameter.empty:
        arguments["as_of"] = book._days.as_of(given.get("as_of"), needed, analysis.name)
    for name, argument in analysis.book.defaults.items():
        if name not in given and argument.only_by in ("", *names_in(by)):
            arguments[name] = argument.value(book, Period(first, last))
    if "settings" in takes:
        arguments["settings"] = book.settings
    denied = book._denied_of(needed)
    required = [name for name in denied if takes[name].default is not None]
    needed = [name for name in needed if name not in denied or name in required]
    with without_denied(denied, analysis.name, required):
        if analysis.rows_of is not None:
            return run(analysis, _data(book, needed, arguments), **arguments)
        return analysis.function(**arguments, **{name: getattr(book, name) for name in needed})


def _data(book: Any, needed: Collection[str], arguments: dict[str, Any]) -> Data:
    """Return the frames of a call: those of the book, with what it keeps of them, and those that only callers have."""
    settings = arguments.pop("settings", None)
    own = {name: arguments.pop(name) for name in FRAME_NAMES if name in arguments}
    if not own and hasattr(book, "_view"):
        view: Data = book._view(needed, settings)
        return view
    found = own | {name: getattr(book, name) for name in needed}
    return Data(settings, **{name: found[name] for name in FRAME_NAMES if name in found})


def _needed_frames(analysis: Analysis, takes: Collection[str], book: Any, by: Any) -> Iterator[str]:
    """Yield the names of the frames that the book passes, which are the only ones it has to load."""
    needed = FRAME_NAMES if analysis.book.needs is None else analysis.book.needs(by)
    for name in FRAME_NAMES:
        if name not in takes or name in analysis.book.not_passed:
            continue
        # Settings name people by their e-mail address.
        by_email = name == "users" and book.settings is not None
        if (name in needed and (name != "clients" or _needs_clients(by, book))) or by_email:
            yield name


def _needs_clients(by: Any, book: Any) -> bool:
    """Tell whether `by` names a column that only the frame of clients has."""
    names = names_in(by)
    if {*names} <= {*SHORT_NAMES}:
        return False
    own = {*SHORT_NAMES, *book.time_entries.columns, *book.matters.columns, *book.users.columns}
    return any(name.removeprefix("matter_").removeprefix("user_") not in own for name in names)


def _signature(analysis: Analysis) -> inspect.Signature:
    """Make the method's signature, without the frames and settings that the book has: start and end first."""
    how = analysis.book
    own = inspect.signature(how.method or analysis.function).parameters
    keywords = {each.name: each for each in own.values() if each.kind is _KEYWORD or each.name == how.first}
    for name in {*_PERIOD, "as_of"} & keywords.keys():
        keywords[name] = keywords[name].replace(default=None, annotation="DateLike | None")
    of_book = {*FRAME_NAMES, "settings", "discounts"} - {*how.not_passed, how.first}
    ordered = sorted(keywords.values(), key=lambda each: (each.name not in _PERIOD, each.name in FRAME_NAMES))
    parameters = [_parameter(each, positional=each.name == how.first) for each in ordered if each.name not in of_book]
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
    """Make the method's docstring: the analysis's summary, the method's parameters and the columns of the result."""
    own = inspect.getdoc(analysis.book.method or analysis.function) or ""
    summary = own.partition("\n")[0]
    note = f"See `billframes.analysis.{analysis.name}` for what counts, errors and warnings. {analysis.book.note}"
    documented = documented_arguments(inspect.getdoc(analysis.function) or "") | documented_arguments(own)
    names = [name for name in signature.parameters if name != "self"]
    # Neighbours with the same text share an entry, such as start and end.
    described = groupby(names, key=lambda name: _description(name, analysis, documented.get(name, ("", ""))))
    entries = [f"{', '.join(sharing)}{text}" for text, sharing in described]
    parameters = ["\n".join(["Parameters\n----------", *entries])] if entries else []
    columns = "\n".join(f"    - `{each.name}`: {each.meaning}" for each in analysis.columns)
    returns = f"Returns\n-------\nDataFrame\n    The columns that identify a row, and\n\n{columns}\n"
    return "\n\n".join([summary, textwrap.fill(note.strip(), 112), *parameters, returns])


def _description(name: str, analysis: Analysis, documented: tuple[str, str]) -> str:
    """Return type and text of a parameter: those of the analysis, unless a book takes it differently."""
    kind, text = documented
    if name in _PERIOD:
        own = analysis.book.defaults.get(name)
        other = "Another period than the book's."
        other += " A period that is not over ends on the day of the load." if analysis.book.ends_with_load else ""
        kind, text = "date-like, optional", own.meaning if own else other
    elif name in analysis.book.defaults:
        text = f"{text.partition(' By default ')[0]} {analysis.book.defaults[name].meaning}"
    elif name == "as_of":
        kind = "date-like, optional"
        text = (
            "The day to measure from. By default the period's last day, or the day of the load if the period is not "
            "over on that day."
        )
    return f"{f' : {kind}' if kind else ''}\n{textwrap.indent(textwrap.fill(text, 108), '    ')}"
