"""Read and check the query parameters of a list.

All faults are reported in one response. Undeclared parameters are ignored, because clients and servers of different
versions must work together.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from billframes.sandbox.clock import instant_text
from billframes.sandbox.problems import Faults, quoted
from billframes.schema.resources import MAX_LIMIT, MAX_OFFSET, Filter, Resource

MODIFIED_SINCE = Filter("modifiedSince", "instant", "Only records modified after this instant.")

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class ListQuery:
    """
    A caller's request for part of a list.

    `filters` maps parameter names to values in the tables' format. `sort` has (name, descending) pairs. If `shuffled`,
    records that are equal under the sort are in random order instead of ordered by id.
    """

    filters: dict[str, Any] = field(default_factory=dict)
    select: frozenset[str] = frozenset()
    sort: tuple[tuple[str, bool], ...] = ()
    limit: int = MAX_LIMIT
    offset: int = 0
    shuffled: bool = False

    @property
    def sort_text(self) -> str | None:
        """The sort as a caller writes it; None if there is no sort."""
        return ",".join(("-" if descending else "") + name for name, descending in self.sort) or None


def read_list(resource: Resource, pairs: Iterable[tuple[str, str]]) -> ListQuery:
    """Read and check the query parameters of a list; raise 400 with all faults."""
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    filters = [each for each in resource.filters if each.described] + [MODIFIED_SINCE] * resource.paginated
    readers: dict[str, Callable[[str], Any]] = {each.name: partial(_read_filter, each) for each in filters}
    parts: dict[str, Callable[[str], Any]] = {"select": partial(_read_select, resource)}
    if resource.paginated:
        parts["sort"] = partial(_read_sort, resource)
        parts["limit"] = partial(_read_integer, minimum=1, maximum=MAX_LIMIT)
        parts["offset"] = partial(_read_integer, minimum=0, maximum=MAX_OFFSET)
    values, faults = {}, Faults()
    for name, read in {**readers, **parts}.items():
        try:
            if len(given.get(name, ())) > 1:
                raise ValueError("is given more than once")  # noqa: TRY301
            if name in given:
                values[name] = read(given[name][0])
        except ValueError as error:
            faults.add_parameter(name, str(error))
    faults.raise_if_any()
    own = {name: value for name, value in values.items() if name in readers}
    return ListQuery(own, **{name: value for name, value in values.items() if name in parts})


def read_id(text: str) -> str | None:
    """Return a UUID in the tables' format; None if `text` is not a UUID."""
    return text.lower() if _ID.fullmatch(text) else None


def _split_names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _read_select(resource: Resource, text: str) -> frozenset[str]:
    """Return the names to include: the given names, without those given with `-`."""
    names = _split_names(text)
    _check_known({name.removeprefix("-") for name in names}, resource.select)
    excluded = {name[1:] for name in names if name.startswith("-")}
    return frozenset(names) - excluded - {"-" + name for name in excluded}


def _read_sort(resource: Resource, text: str) -> tuple[tuple[str, bool], ...]:
    """Return the (name, descending) pairs. If a name is given twice, the first counts."""
    names = _split_names(text)
    _check_known({name.removeprefix("-") for name in names}, resource.sort)
    descending: dict[str, bool] = {}
    for name in names:
        descending.setdefault(name.removeprefix("-"), name.startswith("-"))
    return tuple(descending.items())


def _check_known(names: set[str], accepted: Iterable[str]) -> None:
    accepted = tuple(accepted)
    if unknown := sorted(names.difference(accepted)):
        listed = ", ".join(map(quoted, unknown[:10]))
        raise ValueError(f"has {listed}; expected {', '.join(accepted) or 'nothing'}")


def _read_integer(text: str, minimum: int, maximum: int) -> int:
    if not _INTEGER.fullmatch(text) or not minimum <= int(text) <= maximum:
        raise ValueError(f"is {quoted(text)}; expected an integer from {minimum} to {maximum}")
    return int(text)


def read_uuid(text: str) -> str:
    """Return a UUID in the tables' format; raise ValueError with the fault."""
    if (found := read_id(text)) is None:
        raise ValueError(f"is {quoted(text)}; expected a UUID")
    return found


def read_date(text: str) -> str:
    """Return a date in the tables' format; raise ValueError with the fault."""
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise ValueError(f"is {quoted(text)}; expected a date as yyyy-MM-dd")


def _read_instant(text: str) -> str:
    """Return an instant in the tables' format. Without an offset it is UTC; the description does not say."""
    try:
        if _DATE.fullmatch(text[:10]) and text[10:11] in {"T", "t", " "} and _TIME.fullmatch(text[11:]):
            instant = dt.datetime.fromisoformat(text.upper())
            return instant_text(instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC))
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"is {quoted(text)}; expected a date-time such as 2026-01-31T08:30:00Z")


def _read_flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(f"is {quoted(text)}; expected true or false")
    return text.lower() == "true"


_READERS: dict[str, Callable[[str], Any]] = {
    "id": read_uuid,
    "date": read_date,
    "instant": _read_instant,
    "flag": _read_flag,
    "text": str,
}


def _read_filter(declared: Filter, text: str) -> Any:
    if declared.kind != "enum":
        return _READERS[declared.kind](text)
    if text not in declared.values:
        raise ValueError(f"is {quoted(text)}; expected {', '.join(declared.values)}")
    return text
