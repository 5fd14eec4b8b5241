"""Read and check the query parameters of a list.

All faults are reported at once, so a caller can correct a request in one go. Undeclared parameters are ignored, because
servers and clients of different versions must work together.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from billframes.sandbox.clock import instant_text
from billframes.sandbox.problems import Faults, shown
from billframes.schema.resources import MAX_LIMIT, MAX_OFFSET, Filter, Resource

__all__ = ["MODIFIED_SINCE", "ListQuery", "read_date", "read_id", "read_list", "read_uuid"]

MODIFIED_SINCE = Filter("modifiedSince", "instant", "Only records modified after this instant.")

_T = TypeVar("_T")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class ListQuery:
    """
    A caller's request for part of a list.

    `filters` maps parameter names to values in the tables' format; `sort` has (name, descending) pairs;
    `shuffled` orders equal rows at random instead of by id.
    """

    filters: dict[str, Any] = field(default_factory=dict)
    select: frozenset[str] = frozenset()
    sort: tuple[tuple[str, bool], ...] = ()
    limit: int = MAX_LIMIT
    offset: int = 0
    shuffled: bool = False

    @property
    def sort_text(self) -> str | None:
        """The sort in the form a caller writes it; None if there is none."""
        return ",".join(("-" if descending else "") + name for name, descending in self.sort) or None


def read_list(resource: Resource, pairs: Iterable[tuple[str, str]]) -> ListQuery:
    """
    Read and check the query parameters of a list.

    Parameters
    ----------
    resource : Resource
        Declares which parameters there are.
    pairs : iterable of (name, value)
        The query string's, decoded, in its order.

    Raises
    ------
    Problem
        400, with everything that is wrong.
    """
    reader = _Reader(pairs)
    filters = {each.name: reader.read(each.name, _READERS[each.kind](each), None) for each in _filters(resource)}
    select: frozenset[str] = reader.read("select", lambda text: _select(resource, text), frozenset())
    request = ListQuery({name: value for name, value in filters.items() if value is not None}, select)
    if resource.paginated:
        request = ListQuery(
            request.filters,
            select,
            sort=reader.read("sort", lambda text: _sort(resource, text), ()),
            limit=reader.read("limit", lambda text: _integer(text, 1, MAX_LIMIT), MAX_LIMIT),
            offset=reader.read("offset", lambda text: _integer(text, 0, MAX_OFFSET), 0),
        )
    reader.faults.check()
    return request


def read_id(text: str) -> str | None:
    """Return a UUID in the tables' format; None if `text` is not a UUID."""
    return text.lower() if _ID.fullmatch(text) else None


class _Reader:
    """The values of a query string, and their faults."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        self.faults = Faults()
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def read(self, name: str, convert: Callable[[str], _T], default: _T) -> _T:
        """Return a parameter's value, or `default` if it is missing or wrong."""
        values = self._values.get(name)
        if not values:
            return default
        try:
            if len(values) > 1:
                raise ValueError("is given more than once")  # noqa: TRY301
            return convert(values[0])
        except ValueError as error:
            self.faults.parameter(name, str(error))
            return default


def _filters(resource: Resource) -> tuple[Filter, ...]:
    filters = tuple(each for each in resource.filters if each.described)
    return (*filters, MODIFIED_SINCE) if resource.paginated else filters


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _select(resource: Resource, text: str) -> frozenset[str]:
    """Return the names to include: the given names, without those given with `-`."""
    names = _names(text)
    _known({name.removeprefix("-") for name in names}, resource.select)
    excluded = {name[1:] for name in names if name.startswith("-")}
    return frozenset(names) - excluded - {"-" + name for name in excluded}


def _sort(resource: Resource, text: str) -> tuple[tuple[str, bool], ...]:
    """Return the sort; if a field is given twice, the first counts."""
    names = _names(text)
    _known({name.removeprefix("-") for name in names}, resource.sort)
    decided: dict[str, bool] = {}
    for name in names:
        decided.setdefault(name.removeprefix("-"), name.startswith("-"))
    return tuple(decided.items())


def _known(names: set[str], accepted: Iterable[str]) -> None:
    accepted = tuple(accepted)
    if unknown := sorted(names.difference(accepted)):
        listed = ", ".join(map(shown, unknown[:10]))
        raise ValueError(f"has {listed}; expected {', '.join(accepted) or 'nothing'}")


def _integer(text: str, least: int, most: int) -> int:
    if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
        raise ValueError(f"is {shown(text)}; expected an integer from {least} to {most}")
    return int(text)


def read_uuid(text: str) -> str:
    """Return a UUID in the tables' format; raise ValueError with the fault."""
    if (found := read_id(text)) is None:
        raise ValueError(f"is {shown(text)}; expected a UUID")
    return found


def read_date(text: str) -> str:
    """Return a date in the tables' format; raise ValueError with the fault."""
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise ValueError(f"is {shown(text)}; expected a date as yyyy-MM-dd")


def _read_instant(text: str) -> str:
    """Return an instant in the tables' format. Without an offset it is UTC; the description does not say."""
    try:
        if _DATE.fullmatch(text[:10]) and text[10:11] in {"T", "t", " "} and _TIME.fullmatch(text[11:]):
            instant = dt.datetime.fromisoformat(text.upper())
            return instant_text(instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC))
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"is {shown(text)}; expected a date-time such as 2026-01-31T08:30:00Z")


def _read_flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(f"is {shown(text)}; expected true or false")
    return text.lower() == "true"


def _read_enum(declared: Filter, text: str) -> str:
    if text not in declared.values:
        raise ValueError(f"is {shown(text)}; expected {', '.join(declared.values)}")
    return text


_READERS: dict[str, Callable[[Filter], Callable[[str], Any]]] = {
    "id": lambda _: read_uuid,
    "date": lambda _: read_date,
    "instant": lambda _: _read_instant,
    "flag": lambda _: _read_flag,
    "text": lambda _: str,
    "enum": lambda declared: lambda text: _read_enum(declared, text),
}
