"""Build the signature and docstring of a loader's methods from its resource.

A method with the decorator `declared_method` receives its arguments as a dict by name, with the defaults filled in::

    class ListLoader(Loader):
        @declared_method(list_arguments, returns="Frame")
        def __call__(self, arguments): ...

When such a method is first used, the loader's class gets its own function for it. The function's signature has the
names and defaults of the resource's arguments, so `help`, `?` and completion show them. Its docstring is that of the
method, with the words in braces replaced: `{parameters}` by the Parameters section, `{noun}` by the name of one record.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

from billframes._shared.names import holds_several, type_in_words, with_article
from billframes._shared.suggestions import Instead, bound_arguments
from billframes.errors import ParameterError
from billframes.loaders.arguments import Argument
from billframes.schema.resources import Resource

_Arguments = Callable[[Resource], Iterable[Argument]]

_LOAD_RAISES = """\
Raises
------
ParameterError
    An argument is wrong, or a name fits no record or several; the records were not requested.
ConfigError
    The address of the API is unknown: connect first.
DecodeError
    The server's response breaks the API's description.
PagingError
    The load could not be shown to be complete.
ApiError
    The server refused the request, or could not be reached."""

_WRITE_RAISES = """\
Raises
------
ParameterError
    A value is not of its type, or no value was given; nothing was sent.
NotFoundError
    There is no record with this id.
RefusedError
    The server refuses the write, for example because the record is billed. The message begins with its reason.
UncertainWriteError
    There was no response, or a record came back that differs from what was sent, so that it may be another one. The
    error has both as `sent` and `received`. Check the record before you send it again. Values that a server may change
    by its own rules are not compared; `docs/records.md` lists them."""


class DeclaredMethod:
    """
    A method whose arguments come from the loader's resource. `function` takes the loader, and its arguments as one
    dict.
    """

    def __init__(self, function: Callable[..., Any], arguments: _Arguments, returns: str) -> None:
        self._function, self._arguments, self._returns = function, arguments, returns

    def __get__(self, loader: Any, owner: type[Any]) -> Any:
        if not hasattr(owner, "_resource"):
            return self
        method = self._method(owner)
        setattr(owner, self._function.__name__, method)
        return method if loader is None else method.__get__(loader)

    def _method(self, loader: type[Any]) -> Callable[..., Any]:
        """Return the function of one loader."""
        function, resource = self._function, loader._resource
        arguments = tuple(self._arguments(resource))
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        signature = inspect.Signature([own, *(each.parameter for each in arguments)], return_annotation=self._returns)
        refuses = function.__name__ == "create"
        name = resource.name if function.__name__ == "__call__" else f"{resource.name}.{function.__name__}"

        @functools.wraps(function)
        def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            if refuses and args and holds_several(args[0]):
                raise several_records(loader, "create", args[0])
            return function(self, _bind(name, signature, (self, *args), kwargs, self._instead))

        method.__qualname__ = f"{loader.__qualname__}.{function.__name__}"
        method.__doc__ = _document(function, loader, arguments)
        method.__signature__ = signature  # type: ignore[attr-defined]
        return method


def declared_method(arguments: _Arguments, *, returns: str) -> Callable[[Callable[..., Any]], Any]:
    """Build a method's signature and docstring from the loader's resource."""
    return lambda function: DeclaredMethod(function, arguments, returns)


class DocOfCall:
    """The docstring of a loader: that of its call, whose own becomes Python's default, which `?` leaves out."""

    def __get__(self, _loader: Any, owner: type[Any]) -> str:
        call = owner.__call__
        owner.__doc__, call.__doc__ = inspect.cleandoc(call.__doc__ or ""), types.FunctionType.__call__.__doc__
        return owner.__doc__


# What to do with several records, if the loader has `plan`.
_PLANNED = "For a frame call bf.{name}.plan(frame): it lists each change, and its apply() sends them."
_FOR_SEVERAL = {
    "create": _PLANNED,
    "update": _PLANNED,
    "delete": "To delete several, call bf.{name}.plan(frame, delete=ids): it lists them, and its apply() deletes them.",
    "get": "bf.{name}() loads several as a frame.",
}


def several_records(loader: type[Any], verb: str, value: object) -> ParameterError:
    """Return the error for a frame or list that was given to a method for one record."""
    name = loader._resource.name
    instead = (hasattr(loader, "plan") and _FOR_SEVERAL.get(verb)) or "Call it once for each id."
    return ParameterError(
        f"{name}.{verb} takes one {loader._resource.noun}, not {type_in_words(value)}. {instead.format(name=name)}"
    )


def _bind(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], instead: Instead
) -> dict[str, Any]:
    """Return the arguments by name, with the defaults filled in; the error for a wrong name suggests a similar one."""
    bound = bound_arguments(name, signature, args, kwargs, instead)
    bound.apply_defaults()
    del bound.arguments["self"]
    return bound.arguments


def _document(function: Callable[..., Any], loader: type[Any], arguments: Iterable[Argument]) -> str:
    head, examples = _split_examples(inspect.cleandoc(loader._about))
    noun = loader._resource.noun
    words = {
        "head": head,
        "examples": examples,
        "noun": noun,
        "a_noun": with_article(noun),
        "nouns": loader._resource.nouns,
        "parameters": "\n".join(["Parameters", "----------", *(each.docstring_entry for each in arguments)]),
        "load_raises": _LOAD_RAISES,
        "write_raises": _WRITE_RAISES,
    }
    return inspect.cleandoc(function.__doc__ or "").format(**words).rstrip()


def _split_examples(text: str) -> tuple[str, str]:
    head, heading, examples = text.partition("Examples\n--------\n")
    return head.rstrip(), heading + examples
