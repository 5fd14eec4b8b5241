"""Turn a loader's arguments into a request, or raise `ParameterError` before any request is sent.

This module knows the declaration of the resources, and nothing of HTTP.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from billframes._shared.messages import warn
from billframes._shared.names import as_given, closest, snake_case
from billframes._shared.suggestions import check_choice
from billframes.errors import BillframesWarning, ParameterError
from billframes.loading.ids import identifier
from billframes.periods import Calendar, DateLike, Period, resolve
from billframes.schema.resources import Filter, Resource


@dataclass(frozen=True, slots=True)
class ListRequest:
    """
    A request for the records of a list.

    `queries` are the queries to send, without paging; one for each combination of ids that are given as lists.
    `expected_values` are the accepted values of properties, which each received row must have. `local_filters` are
    also accepted values, but the server may send other rows, which are then removed. `limit` is the number of rows
    in all. `select_given` tells whether the caller chose the details, which are all by default. `own_parameters`
    are the names in the caller's `params`. `arguments` are the caller's arguments that decide which records are
    loaded, by name and as JSON values.
    """

    resource: Resource
    queries: tuple[tuple[tuple[str, str], ...], ...]
    select: frozenset[str]
    sort: tuple[tuple[str, bool], ...]
    period: Period
    expected_values: Mapping[str, frozenset[Any]]
    limit: int | None
    select_given: bool = False
    own_parameters: frozenset[str] = frozenset()
    local_filters: Mapping[str, frozenset[Any]] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


def build_request(
    resource: Resource,
    filters: Mapping[str, Any],
    *,
    start: DateLike | None = None,
    end: DateLike | None = None,
    select: str | Iterable[str] | None = None,
    sort: str | Iterable[str] | None = None,
    modified_since: DateLike | None = None,
    limit: int | None = None,
    params: Mapping[str, Any] | None = None,
    calendar: Calendar | None = None,
) -> ListRequest:
    """Check a loader's arguments and translate them into query parameters."""
    period = resolve(start, end, calendar=calendar)
    chosen, excluded = _selected_names(resource, select)
    order = _sorted(resource, sort)
    declared = resource.filters_by_argument
    values = {name: _checked(name, declared[name], given) for name, given in filters.items() if given is not None}
    since, own, rows = _instant(modified_since), _own_parameters(params), _limit(limit)
    fixed = [
        *_date_query(period),
        *_select_query(chosen, excluded),
        *_sort_query(resource, order),
        *([("modifiedSince", since)] if since else []),
    ]
    queries = tuple(
        (
            *(pair for pair in fixed if pair[0] not in own),
            *((declared[name].name, _text(value)) for name, value in zip(values, combination, strict=True)),
            *own.items(),
        )
        for combination in product(*values.values())
    )
    arguments = {name: each if len(each) > 1 else each[0] for name, each in values.items() if each}
    others = {"modified_since": since, "params": own or None, "limit": rows}
    return ListRequest(
        resource=resource,
        queries=queries,
        select=frozenset(chosen),
        sort=order,
        period=period,
        expected_values=_accepted_values(values, declared, described=True),
        limit=rows,
        select_given=select is not None,
        own_parameters=frozenset(own),
        local_filters=_accepted_values(values, declared, described=False),
        arguments=arguments | {name: value for name, value in others.items() if value is not None},
    )


def _accepted_values(
    values: Mapping[str, list[Any]], declared: Mapping[str, Filter], *, described: bool
) -> dict[str, frozenset[Any]]:
    """Return the accepted values by property, for filters that are in the API's description or for the others."""
    filters = {name: declared[name] for name in values}
    return {
        each.field: frozenset(values[name])
        for name, each in filters.items()
        if each.field and each.described is described
    }


def _checked(name: str, declared: Filter, given: Any) -> list[Any]:
    match declared.kind:
        case "id":
            several = declared.many and isinstance(given, Collection) and not isinstance(given, str | bytes)
            try:
                return list(dict.fromkeys(identifier(each, name) for each in (given if several else [given])))
            except ParameterError as error:
                hint = f" {declared.name_argument}= takes names." if declared.named_in else ""
                raise ParameterError(f"{error}{hint}") from None
        case "enum":
            return [enum_value(name, given, declared.values)]
        case "flag":
            if not isinstance(given, bool | np.bool_):
                raise ParameterError(f"{as_given(name, given)} is neither True nor False.")
            return [bool(given)]
        case _:
            if not isinstance(given, str):
                raise ParameterError(f"{as_given(name, given)} is not text.")
            return [given]


def enum_value(name: str, given: Any, values: tuple[str, ...]) -> str:
    """Return the declared spelling of an enum's value; raise `ParameterError` if it is not declared."""
    if isinstance(given, str):
        given = next((each for each in values if each.casefold() == given.casefold()), given)
    return check_choice(given, name, values)


def _names(name: str, given: str | Iterable[str]) -> list[str]:
    parts = given.split(",") if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(part, str) for part in parts):
        raise ParameterError(f"{as_given(name, given)} is neither text nor a list of texts.")
    return [part.strip() for part in parts if part.strip()]


def _api_spelling(name: str, word: str, accepted: Iterable[str]) -> str:
    """Return the API's spelling of a name in any case, also in snake_case; an unknown name is returned unchanged."""
    spellings = {_plain(each): each for each in accepted}
    found = spellings.get(_plain(word))
    if found is None and (hint := closest(word, spellings.values())):
        warn(
            f"{name}={word!r} is not in the API's description; it is sent unchanged, for servers that accept it.{hint}",
            BillframesWarning,
        )
    return found or word


def _plain(name: str) -> str:
    """Return the name in lower case and without separators: the API has both "invoicenumber" and "client.name"."""
    return snake_case(name).replace("_", "")


def _selected_names(resource: Resource, select: str | Iterable[str] | None) -> tuple[tuple[str, ...], list[str]]:
    """Return the selected and the excluded names; if names are only excluded, all others are selected."""
    if select is None:
        return resource.select, []
    names = _names("select", select)
    known = (*resource.select, *(each.name for each in resource.alternates))
    excluded = [_api_spelling("select", name[1:], known) for name in names if name.startswith("-")]
    wanted = [_api_spelling("select", name, known) for name in names if not name.startswith("-")]
    chosen = wanted if wanted or not excluded else resource.select
    declared = [name for name in resource.select if name in chosen]
    others = dict.fromkeys(name for name in chosen if name not in resource.select)
    return tuple(name for name in (*declared, *others) if name not in excluded), excluded


def _sorted(resource: Resource, sort: str | Iterable[str] | None) -> tuple[tuple[str, bool], ...]:
    names = [] if sort is None else _names("sort", sort)
    return tuple((_api_spelling("sort", name.removeprefix("-"), resource.sort), name.startswith("-")) for name in names)


def _select_query(chosen: Sequence[str], excluded: Sequence[str]) -> list[tuple[str, str]]:
    words = [*chosen, *(f"-{name}" for name in excluded)]
    return [("select", ",".join(words))] if words else []


def _sort_query(resource: Resource, order: tuple[tuple[str, bool], ...]) -> list[tuple[str, str]]:
    words = [f"-{name}" if descending else name for name, descending in order]
    if not words:
        words = [name for each in resource.order for name, at in resource.sort.items() if at == each]
    return [("sort", ",".join(words))] if words else []


def _date_query(period: Period) -> list[tuple[str, str]]:
    ends = (("startDate", period.start), ("endDate", period.end))
    return [(name, day.isoformat()) for name, day in ends if day is not None]


def _instant(given: Any) -> str | None:
    """Return an instant in UTC as ISO text with `Z`; an instant without a time zone is in UTC."""
    if given is None:
        return None
    value = given
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            value = None
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)  # noqa: DTZ001 - given UTC below
    if not isinstance(value, dt.datetime) or value != value:
        raise ParameterError(
            f"{as_given('modified_since', given)} is not an instant; it takes a datetime, a Timestamp or ISO text such "
            "as '2026-10-31T17:00:00Z'."
        )
    utc = value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)
    return utc.replace(tzinfo=None).isoformat() + "Z"


def _limit(limit: Any) -> int | None:
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 0:
        raise ParameterError(
            f"{as_given('limit', limit)} is not a number of rows; it takes 0 or more, or None for all."
        )
    return int(limit)


def _own_parameters(params: Mapping[str, Any] | None) -> dict[str, str]:
    if params is not None and not isinstance(params, Mapping):
        raise ParameterError(f"{as_given('params', params)} is not a mapping of names to values.")
    return {name: _text(value) for name, value in (params or {}).items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
