"""Make the public function of an analysis from its calculation: its arguments are declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from billframes._shared.suggestions import bound_arguments
from billframes.analysis.data.call import run
from billframes.analysis.data.data import Data
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.key_words import to_filter
from billframes.analysis.declare.spec import Analysis

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def sheet(*frames: str, settings: bool = True) -> Callable[..., Any]:
    """
    Return what makes the public function of an analysis from a calculation that takes a `Call` and options.

    The function takes `frames` by name, then the options and, unless `settings` is False, the settings. It passes the
    call of these frames, whose kind of the first one is that of the result, and the options to the calculation.

    Names of frames that the caller can omit end with "?". By position, the first frame can be passed, or the
    calculation's own options that can; otherwise what is before "*", among it such options.
    """

    def decorate(rows: Callable[..., Frame]) -> Callable[..., Any]:
        signature = _signature(inspect.signature(rows), frames, settings=settings)
        own = {"*", *inspect.signature(rows).parameters}
        names = [each.removesuffix("?") for each in frames if each not in own]

        @functools.wraps(rows)
        def function(*args: Any, **kwargs: Any) -> Any:
            analysis: Analysis = rows.__globals__["ANALYSIS"]
            instead, usual = partial(_instead, analysis, kwargs), f"bf.book('2026-10').{analysis.name}(…)"
            given = bound_arguments(analysis.name, signature, args, kwargs, instead, usual).arguments
            found = {name: given.pop(name, None) for name in names}
            return run(analysis, Data(given.pop("settings", None), **found), **given)

        function.__signature__ = signature  # type: ignore[attr-defined]
        return function

    return decorate


def _instead(analysis: Analysis, given: Mapping[str, Any], argument: str) -> str:
    """Say how to filter, if an argument names a key or a filter; a frame has only a wrong name."""
    figure = repr(analysis.short[1]) if analysis.short else "…"
    advice = to_filter(argument, analysis.takes, f"bf.figures({figure}, time_entries=…, …")
    if not advice or hasattr(given[argument], "columns"):
        return ""
    return "Filter the rows of its result." if analysis.keys else advice


def _signature(own: inspect.Signature, names: tuple[str, ...], *, settings: bool) -> inspect.Signature:
    """Return the signature with frames in place of the call, and the options where they are named, or around them."""
    _, *options = own.parameters.values()
    by_name = {each.name: each for each in options}
    if "*" not in names:
        first = [each.name for each in options if each.kind is not _KEYWORD]
        names = (*first, "*", *names) if first else (names[0], "*", *names[1:])
    placed, others = (names[: names.index("*")], names[names.index("*") + 1 :])
    others += tuple(name for name in by_name if name not in placed)
    parameters = [by_name.get(name) or _of_frame(name) for name in placed]
    parameters += [by_name.get(name) or _of_frame(name).replace(kind=_KEYWORD) for name in others]
    if settings:
        parameters.append(_of_frame("settings?").replace(kind=_KEYWORD, annotation="FirmSettings | None"))
    return own.replace(parameters=parameters, return_annotation="IntoFrameT")


def _of_frame(name: str) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if name.endswith("?"):
        return inspect.Parameter(name[:-1], kind, annotation="IntoFrameT | None", default=None)
    return inspect.Parameter(name, kind, annotation="IntoFrameT")
