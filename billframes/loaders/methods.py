"""Methods whose signature and docstring are built from a loader's resource.

A method written with `declared` receives its arguments as one dict, by name, with the defaults filled in::

    class ListLoader(Loader):
        @declared(list_arguments, returns="Frame")
        def __call__(self, arguments): ...

Every loader gets a function of its own for each such method when its class is made. Its signature has the names and
defaults of the resource's arguments, so `help`, `?` and completion show them. Its docstring is the method's own, with
words in braces filled in: `{parameters}` is the Parameters section, `{noun}` what one record is called.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

from billframes._names import with_article
from billframes._suggestions import bound_arguments
from billframes.loaders.arguments import Argument
from billframes.schema.resources import Resource

__all__ = ["Declared", "declared", "install"]

_Arguments = Callable[[Resource], Iterable[Argument]]

_LOAD_RAISES = """\
Raises
------
ParameterError
    An argument is wrong; no request was sent.
ConfigError
    Nothing says which API to call.
DecodeError
    The server's answer breaks the API's description.
PagingError
    The load could not be shown to be complete.
ApiError
    The server refused the request, or could not be reached."""

_WRITE_RAISES = """\
Raises
------
ParameterError
    A value is not of its type, or nothing was given; nothing was sent.
NotFoundError
    There is no record with this id.
RefusedError
    The server refuses the write, for example because the record is billed. Its own words come first.
UncertainWriteError
    No answer came. Look at the record before sending it again."""


class Declared:
    """
    A method whose arguments come from the loader's resource.

    Parameters
    ----------
    function : callable
        Takes the loader, and its arguments as one dict.
    arguments : callable
        Returns the arguments for a resource.
    returns : str
        The return type as a type checker reads it.
    """

    def __init__(self, function: Callable[..., Any], arguments: _Arguments, returns: str) -> None:
        self._function, self._arguments, self._returns = function, arguments, returns

    def method(self, loader: type[Any]) -> Callable[..., Any]:
        """Return the function for one loader."""
        function, resource = self._function, loader.resource
        arguments = tuple(self._arguments(resource))
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        signature = inspect.Signature([own, *(each.parameter for each in arguments)], return_annotation=self._returns)
        name = resource.name if function.__name__ == "__call__" else f"{resource.name}.{function.__name__}"

        @functools.wraps(function)
        def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            return function(self, _bound(name, signature, (self, *args), kwargs))

        method.__qualname__ = f"{loader.__qualname__}.{function.__name__}"
        method.__doc__ = _document(function, loader, arguments)
        method.__signature__ = signature  # type: ignore[attr-defined]
        return method


def declared(arguments: _Arguments, *, returns: str) -> Callable[[Callable[..., Any]], Any]:
    """
    Build a method's signature and docstring from the loader's resource.

    Parameters
    ----------
    arguments : callable
        Returns the arguments for a resource.
    returns : str
        The return type as a type checker reads it.
    """
    return lambda function: Declared(function, arguments, returns)


def install(loader: type[Any]) -> None:
    """Give a loader its own function for each declared method that it has or inherits, and what its call says."""
    for name in dir(loader):
        each = inspect.getattr_static(loader, name)
        if isinstance(each, Declared):
            setattr(loader, name, each.method(loader))
    call = vars(loader).get("__call__")
    if call:
        # `?` shows the texts of the object and of its call, so one of them is Python's own, which it leaves out.
        loader.__doc__, call.__doc__ = inspect.cleandoc(call.__doc__ or ""), types.FunctionType.__call__.__doc__


def _bound(name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by name with the defaults filled in; a wrong name is answered with the nearest right one."""
    bound = bound_arguments(name, signature, args, kwargs)
    bound.apply_defaults()
    del bound.arguments["self"]
    return bound.arguments


def _document(function: Callable[..., Any], loader: type[Any], arguments: Iterable[Argument]) -> str:
    head, examples = _parts(inspect.cleandoc(loader.__doc__ or ""))
    noun = loader.resource.noun
    words = {
        "head": head,
        "examples": examples,
        "noun": noun,
        "a_noun": with_article(noun),
        "nouns": loader.resource.name.replace("_", " "),
        "parameters": "\n".join(["Parameters", "----------", *(each.documented for each in arguments)]),
        "load_raises": _LOAD_RAISES,
        "write_raises": _WRITE_RAISES,
    }
    return inspect.cleandoc(function.__doc__ or "").format(**words).rstrip()


def _parts(text: str) -> tuple[str, str]:
    """Split a class's docstring into what comes before its examples, and the examples."""
    head, heading, examples = text.partition("Examples\n--------\n")
    return head.rstrip(), heading + examples
