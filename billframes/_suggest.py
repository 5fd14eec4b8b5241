"""Answer a wrong name of an argument, attribute or method with the nearest right one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from billframes._names import closest
from billframes.errors import CallError, UnknownNameError

__all__ = ["SuggestsNames", "bound_arguments", "check_names", "suggesting", "unknown_name"]


def check_names(call: str, given: Iterable[str], accepted: Iterable[str]) -> None:
    """Raise `CallError` for a keyword argument that a call does not take."""
    names = list(accepted)
    for name in given:
        if name not in names:
            hint = closest(name, names) or f" It takes {', '.join(names) or 'none'}."
            raise CallError(f"{call}() got an unexpected keyword argument {name!r}.{hint}")


def bound_arguments(
    call: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    """
    Bind arguments to the signature of a method, whose first parameter is `self`.

    Raises
    ------
    CallError
        A name is unknown, a required argument is missing, or there are too many.
    """
    check_names(call, kwargs, [name for name in signature.parameters if name != "self"])
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        reason = str(error)
    raise CallError(f"{call}(): {reason}.")


def suggesting(function: FunctionType) -> Callable[..., Any]:
    """
    Return a public function that answers a wrong argument with the nearest right one; it belongs to `billframes`.

    A function with `**kwargs` checks its names itself and stays as it is: `connect` takes a token, which a traceback
    would show among the arguments of the function around it.
    """
    if function.__code__.co_flags & inspect.CO_VARKEYWORDS:
        return function
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        check_names(function.__name__, kwargs, signature.parameters)
        return function(*args, **kwargs)

    # As it is found there, it can be pickled.
    call.__module__, call.__qualname__ = "billframes", function.__name__
    return call


def unknown_name(owner: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """
    Return the error for a name that an object or module does not have.

    Examples
    --------
    >>> unknown_name("billframes", "time_entires", ["expenses", "time_entries"])
    UnknownNameError("billframes has no 'time_entires'. Did you mean 'time_entries'?")
    """
    error = UnknownNameError(f"{owner} has no {name!r}.{closest(name, known)}")
    # A name without its object: Python fills in neither, so its traceback adds no second suggestion.
    error.name = name
    return error


class SuggestsNames:
    """A base class: an attribute that an object does not have is answered with the nearest one."""

    # Hidden from type checkers, which would accept any name.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python asks for names with underscores by itself. A property that failed raises its own error again.
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise unknown_name(type(self).__name__, name, (each for each in dir(self) if not each.startswith("_")))
