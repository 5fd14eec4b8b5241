"""Make the public function of an analysis from its signature: which arguments are frames, and which are options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from billframes._shared.suggestions import bound_arguments
from billframes.analysis.data.call import run
from billframes.analysis.data.data import Data
from billframes.analysis.declare.columns import IDS

_FRAMES = frozenset((*IDS, "codes", "code_sets", "client_balances"))
Function = TypeVar("Function", bound=Callable[..., Any])


def sheet(function: Function) -> Function:
    """
    Return the function of an analysis that is written as a signature and a docstring.

    Its arguments with the names of a firm's lists are the frames, of which the first decides the kind of the result.
    `ANALYSIS.rows_of` of its module gets the others.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = bound_arguments(function.__name__, signature, args, kwargs)
        bound.apply_defaults()
        given = bound.arguments
        frames = {name: given.pop(name) for name in signature.parameters if name in _FRAMES}
        return run(function.__globals__["ANALYSIS"], Data(given.pop("settings", None), **frames), **given)

    return cast("Function", call)
