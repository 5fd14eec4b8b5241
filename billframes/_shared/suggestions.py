"""Suggest the nearest name if an argument, a field or an attribute has a wrong name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from billframes._shared.names import as_given, closest
from billframes._shared.places import missing_name
from billframes.errors import BillframesError, CallError, ParameterError

T = TypeVar("T")

# The object or class that a method is called on.
_OWNER = ("self", "cls")
# How similar a name must be, as measured by `difflib`, to be one of the accepted names.
_MISSPELT = 0.9
# The class of each field, for the dataclasses that analyses take as `settings=`.
_OWNERS: dict[str, str] = {}


# What to do instead of passing an argument of this name: a sentence, or nothing.
Instead = Callable[[str], str]


def _nothing(_argument: str) -> str:
    return ""


def check_names(call: str, given: Iterable[str], accepted: Iterable[str], instead: Instead = _nothing) -> None:
    """Raise `CallError` for a keyword argument that a call does not take."""
    names = list(accepted)
    for name in given:
        if name not in names:
            # A misspelt name of its own is not one of another call; but `clients` are a frame, and a client is a key.
            others = [each for each in names if each != f"{name}s"]
            advice = "" if get_close_matches(name, others, 1, _MISSPELT) else instead(name)
            hint = (f" {advice}" if advice else closest(name, names)) or f" It takes {', '.join(names) or 'none'}."
            owner = "settings" in names and _OWNERS.get(name)
            if owner:
                hint = f" It is one of the settings: pass settings={owner}({name}=…)."
            raise CallError(f"{call}() got an unexpected keyword argument {name!r}.{hint}")


def check_choice(value: object, name: str, accepted: Collection[str]) -> str:
    """Return a value that is one of the accepted texts; raise `ParameterError` for others."""
    if not isinstance(value, str) or value not in accepted:
        raise ParameterError(
            f"{as_given(name, value)} is not known.{closest(value, accepted)} It takes "
            f"{', '.join(map(repr, accepted))}."
        )
    return value


def check_keys(
    owner: object, given: Iterable[Any], accepted: Iterable[str], error: type[BillframesError] = ParameterError
) -> None:
    """Raise `error` for a key of a table or file that it does not take."""
    names = list(accepted)
    for key in given:
        if key not in names:
            raise error(f"{owner} has an unknown key {key!r}.{closest(key, names)} It takes {', '.join(names)}.")


def bound_arguments(
    call: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    instead: Instead = _nothing,
    usual: str = "",
) -> inspect.BoundArguments:
    """
    Bind arguments to the signature of a function or method (with `self`); raise `CallError` if they don't fit it.

    `instead` gives advice for an unknown argument, and `usual` is a shorter call that does the same.
    """
    names = [_shown(each) for name, each in signature.parameters.items() if name not in _OWNER]
    if not any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values()):
        check_names(call, kwargs, names, instead)
    try:
        return signature.bind(*args, **kwargs)
    except TypeError:
        reason = _mistake(signature, args, kwargs)
    raise CallError(f"{call}(): {reason}. It takes {', '.join(names) or 'none'}{usual and f'; or call {usual}'}.")


def _shown(parameter: inspect.Parameter) -> str:
    """Return a parameter's name, which shows whether it takes arguments by place only."""
    return f"*{parameter.name}" if parameter.kind is parameter.VAR_POSITIONAL else parameter.name


def _mistake(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Say why the arguments don't fit; Python's own words differ from version to version."""
    by_place = [each for each in signature.parameters.values() if each.kind <= each.POSITIONAL_OR_KEYWORD]
    placed = [each.name for each in by_place[: len(args)]]
    by_name = [name for name, each in signature.parameters.items() if each.kind is each.KEYWORD_ONLY]
    if by_name and placed and len(args) > len(placed) and placed[-1] not in _OWNER:
        return f"too many positional arguments; after {placed[-1]!r}, pass all by name, such as {by_name[0]}=…"
    for name in placed:
        if name in kwargs:
            return f"multiple values for argument {name!r}"
    for name, each in signature.parameters.items():
        variable = each.kind in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
        if not variable and each.default is each.empty and name not in {*placed, *kwargs}:
            return f"missing a required argument: {name!r}"
    return "too many positional arguments"


def _checked(
    function: Callable[..., Any],
    name_of: Callable[[tuple[Any, ...]], str],
    instead_of: Callable[[tuple[Any, ...]], Instead] = lambda _: _nothing,
) -> Callable[..., Any]:
    """Wrap a function, so that it suggests a name for a wrong argument; `name_of` names the call by its arguments."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        bound_arguments(name_of(args), signature, args, kwargs, instead_of(args))
        return function(*args, **kwargs)

    return call


def suggest_arguments(
    function: FunctionType, module: str = "billframes", instead: Instead = _nothing
) -> Callable[..., Any]:
    """
    Wrap a public function of `module`, so that it suggests a name if an argument is wrong, and names a missing one.

    A function with `**kwargs` checks the names itself and is not wrapped. `connect` takes a token, which a traceback
    would show among the arguments of the wrapper.
    """
    if function.__code__.co_flags & inspect.CO_VARKEYWORDS:
        return function
    call = _checked(function, lambda _: function.__name__, lambda _: instead)
    # Users find it in `module`, and so must pickle.
    call.__module__, call.__qualname__ = module, function.__name__
    return call


def suggest_fields(cls: type[T]) -> type[T]:
    """Let a dataclass and its methods suggest a name if an argument is wrong, and name a missing argument."""
    cls.__init__ = _checked(cls.__init__, lambda _: cls.__name__)  # type: ignore[method-assign]
    for name, each in list(vars(cls).items()):
        if isinstance(each, FunctionType | classmethod) and not name.startswith("_"):
            function = each.__func__ if isinstance(each, classmethod) else each
            call = _checked(function, functools.partial(_name_of_method, cls, name))
            setattr(cls, name, classmethod(call) if isinstance(each, classmethod) else call)
    return cls


def _name_of_method(cls: type[Any], name: str, _args: tuple[Any, ...]) -> str:
    return f"{cls.__name__}.{name}"


def suggest_settings(cls: type[T]) -> type[T]:
    """Let calls that take `settings=` suggest this class if one of its fields is given to them as an argument."""
    _OWNERS.update((name, cls.__name__) for name in inspect.get_annotations(cls) if not name.startswith("_"))
    return cls


def suggest_method_arguments(method: FunctionType) -> Callable[..., Any]:
    """Wrap a method, so that it suggests a name if an argument is wrong, and names a missing argument."""
    ending = "" if method.__name__ == "__call__" else f".{method.__name__}"
    return _checked(
        method, lambda args: f"{args[0]._spoken_name}{ending}", lambda args: getattr(args[0], "_instead", _nothing)
    )


def _missing(owner: type, name: str, names: Iterable[str]) -> Exception:
    return missing_name(owner.__name__, name, {each: each for each in names if not each.startswith("_")})


class _SuggestsOwnNames(type):
    """Let a class suggest one of its names for a wrong one, such as `read` for `from_file`."""

    # Hidden from type checkers, which would accept any name.
    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            # Python itself looks up names with underscores.
            if name.startswith("_"):
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            raise _missing(cls, name, dir(cls))


class SuggestsAttributes(metaclass=_SuggestsOwnNames):
    """Base class that suggests a name if an attribute of a class or of its objects has a wrong name."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # If a property failed, its own error is raised again.
            if name.startswith("_") or name in dir(type(self)):
                return object.__getattribute__(self, name)
            raise _missing(type(self), name, dir(self))


class SuggestsNames(SuggestsAttributes):
    """
    Base class that suggests a name if an attribute, or an argument of a method, has a wrong name.

    This includes the methods of the other bases of a subclass.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        owners = {name: base for base in reversed(cls.__mro__) for name in vars(base)}
        for name, base in owners.items():
            is_wrapped = base is not cls and issubclass(base, SuggestsNames)
            method = vars(base)[name]
            if isinstance(method, FunctionType) and not is_wrapped and (name == "__call__" or not name.startswith("_")):
                setattr(cls, name, suggest_method_arguments(method))

    @property
    def _spoken_name(self) -> str:
        return type(self).__name__
