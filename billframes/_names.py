"""Names: spelled in snake_case, with their article, and answered with the nearest right one if they are wrong."""

from __future__ import annotations

import functools
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from billframes.errors import CallError, UnknownNameError

__all__ = [
    "SuggestsNames",
    "bound_arguments",
    "check_names",
    "closest",
    "first_few",
    "joined",
    "names_apart",
    "snake_case",
    "suggesting",
    "suggesting_fields",
    "suggesting_method",
    "unknown_name",
    "with_article",
]

T = TypeVar("T")

_HUMP = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])")
_NOT_WORD = re.compile(r"[\W_]+")
# The class that has a field of this name, of those that `suggesting_fields` knows.
_OWNERS: dict[str, str] = {}


def snake_case(name: str) -> str:
    """
    Return `name` in snake_case; empty where it holds no letter or digit.

    Examples
    --------
    >>> snake_case("invoiceDate"), snake_case("overdue0To30"), snake_case("Client since (year)")
    ('invoice_date', 'overdue0_to30', 'client_since_year')
    """
    return _NOT_WORD.sub("_", _HUMP.sub("_", name)).strip("_").lower()


def with_article(noun: str) -> str:
    """
    Return a noun with "a" or "an".

    Examples
    --------
    >>> with_article("expense"), with_article("user"), with_article("client")
    ('an expense', 'a user', 'a client')
    """
    return f"{'an' if noun[0] in 'aeiou' and not noun.startswith('user') else 'a'} {noun}"


def closest(name: object, accepted: Iterable[str]) -> str:
    """
    Return a hint at the accepted name most like `name`, or nothing. A name that has it as a word is preferred.

    Examples
    --------
    >>> closest("billible", ["billable", "fixedFee"])
    " Did you mean 'billable'?"
    >>> closest("state", ["start", "invoice_state"])
    " Did you mean 'invoice_state'?"
    """
    lowered = {each.lower(): each for each in accepted}
    word = snake_case(str(name))
    holding = [each for each, spelled in lowered.items() if word in snake_case(spelled).split("_")]
    found = holding if len(holding) == 1 else get_close_matches(str(name).lower(), holding or lowered, n=1)
    return f" Did you mean {lowered[found[0]]!r}?" if found else ""


def first_few(names: Sequence[str], most: int = 5) -> str:
    """
    Name the first few, and count the others.

    Examples
    --------
    >>> first_few(["u1", "u2", "u3"], most=2), first_few(["u1"])
    ('u1, u2 and 1 more', 'u1')
    """
    others = len(names) - most
    return ", ".join(names[:most]) + (f" and {others} more" if others > 0 else "")


def joined(names: Sequence[str]) -> str:
    """
    Return names as a sentence has them.

    Examples
    --------
    >>> joined(["hours", "rate", "date"]), joined(["hours", "rate"]), joined(["hours"])
    ('hours, rate and date', 'hours and rate', 'hours')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def names_apart(names: Sequence[str], ids: Sequence[object], references: Sequence[str | None]) -> list[str]:
    """
    Add the reference to names that occur more than once, or the beginning of the id if there is none.

    Examples
    --------
    >>> names_apart(["Acme", "Acme", "Bolt"], ["c1", "c2", "c3"], ["A-1", None, "B-1"])
    ['Acme (A-1)', 'Acme (c2)', 'Bolt']
    """
    times = Counter(names)
    return [
        f"{name} ({reference or str(id_)[:8]})" if times[name] > 1 else name
        for name, id_, reference in zip(names, ids, references, strict=True)
    ]


def check_names(call: str, given: Iterable[str], accepted: Iterable[str]) -> None:
    """Raise `CallError` for a keyword argument that a call does not take."""
    names = list(accepted)
    for name in given:
        if name not in names:
            hint = closest(name, names) or f" It takes {', '.join(names) or 'none'}."
            owner = "settings" in names and _OWNERS.get(name)
            if owner:
                hint = f" It is one of the settings: pass settings={owner}({name}=…)."
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


def suggesting(function: FunctionType, module: str = "billframes") -> Callable[..., Any]:
    """
    Return a public function that answers a wrong argument with the nearest right one; it belongs to `module`.

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
    call.__module__, call.__qualname__ = module, function.__name__
    return call


def suggesting_fields(cls: type[T]) -> type[T]:
    """Let a dataclass answer a wrong argument with the nearest field."""
    init = cls.__init__
    _OWNERS.update((name, cls.__name__) for name in inspect.get_annotations(cls) if not name.startswith("_"))

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        check_names(cls.__name__, kwargs, [each.name for each in fields(cls)])  # type: ignore[arg-type]
        init(self, *args, **kwargs)

    cls.__init__ = checked  # type: ignore[method-assign]
    return cls


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


def suggesting_method(method: FunctionType) -> Callable[..., Any]:
    """Return a method that answers a wrong argument with the nearest right one, and a missing one with its name."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        spoken = [self._spoken_name, *([] if method.__name__ == "__call__" else [method.__name__])]
        bound_arguments(".".join(spoken), signature, (self, *args), kwargs)
        return method(self, *args, **kwargs)

    return call


class SuggestsNames:
    """A base class: a wrong attribute, or a wrong argument of a method, is answered with the nearest right one."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, each in list(vars(cls).items()):
            if isinstance(each, FunctionType) and (name == "__call__" or not name.startswith("_")):
                setattr(cls, name, suggesting_method(each))

    @property
    def _spoken_name(self) -> str:
        """What messages call the object."""
        return type(self).__name__

    # Hidden from type checkers, which would accept any name.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python asks for names with underscores by itself. A property that failed raises its own error again.
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise unknown_name(type(self).__name__, name, (each for each in dir(self) if not each.startswith("_")))
