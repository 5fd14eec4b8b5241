"""The explorer's address: its tab, open row, period and filters as a page's query, `tab=receivables&row=…&client=…`.

A filter is named by its column without "_id", and a value by its id, because addresses are kept in histories and should
not have clients' names. `~` means rows without a value. `period=all` is all dates, and other days are
`period=2026-10-05..2026-10-14`. An address that has anything unknown is refused as a whole: figures under a part of the
filters would look like those that were asked for.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

import pandas as pd

from billframes._shared.names import join_names
from billframes.errors import ParameterError
from billframes.periods import Period, parse_period
from billframes.widgets.filter_fields import FilterField
from billframes.widgets.filters import Filters
from billframes.widgets.state import Criterion, FilterState, Range, read_state

_MISSING, _ALL = "~", "all"
_PLACE = ("tab", "by", "row")


@dataclass(frozen=True, slots=True)
class Place:
    """A tab, the key of its rows, the row whose records are shown, and the filters; None if there is none."""

    tab: str | None
    by: str | None
    row: str | None
    state: FilterState


def tab_name(title: str) -> str:
    """Return the name of a tab in an address, such as "work-in-progress"."""
    return title.lower().replace(" ", "-")


def write_address(place: Place, filters: Filters) -> str:
    """
    Write the address of a place.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"date": pd.to_datetime(["2026-10-01"]), "client_id": ["c1"], "client_name": ["Acme"]})
    >>> filters = Filters(frame)
    >>> state = read_state({"date": "2026-10", "client_id": ["c1", None]}, filters.fields)
    >>> write_address(Place("receivables", "matter", "m1", state), filters)
    'tab=receivables&by=matter&row=m1&period=2026-10&client=c1&client=~'
    """
    pairs = [(name, text) for name in _PLACE if (text := getattr(place, name)) is not None]
    for field in filters.fields:
        criterion = place.state.criteria.get(field.column)
        if criterion is not None:
            pairs += [(_name(field), text) for text in _texts(criterion)]
        elif field is filters.fields[0]:
            pairs.append((_name(field), _ALL))
    return urlencode(pairs)


def read_address(
    text: str, tabs: Mapping[str, Sequence[str]], filters: Filters, period: Criterion | None, today: dt.date
) -> Place:
    """
    Read an address, with or without "?" in front.

    `tabs` has for each tab the keys of its rows, and `period` is that of an address without one. An unknown name or
    value is a `ParameterError`.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"date": pd.to_datetime(["2026-10-01"]), "client_id": ["c1"], "client_name": ["Acme"]})
    >>> place = read_address("?period=2026-Q3&client=c1", {}, Filters(frame), None, dt.date(2026, 10, 31))
    >>> place.state.as_dict()
    {'date': {'from': '2026-07-01', 'to': '2026-09-30'}, 'client_id': ['c1']}
    """
    given = parse_qs(text.removeprefix("?"), keep_blank_values=True)
    tab, by, row = (_only(given, name) for name in _PLACE)
    if tab is not None and tab not in tabs:
        raise ParameterError(f"The address has tab={tab}, but the tabs are {join_names(list(tabs))}.")
    if by is not None and (tab is None or by not in tabs[tab]):
        raise ParameterError(f"The address has by={by}, but the rows of this tab can't be grouped by it.")
    if row is not None and tab is None:
        raise ParameterError(f"The address has row={row}, but no tab.")
    fields = {_name(field): field for field in filters.fields}
    state = FilterState().with_criterion(filters.fields[0].column, period)
    for name, values in given.items():
        if name not in fields:
            raise ParameterError(f"The address has {name}={values[0]}, but there is no filter of this name.")
        state = state.with_criterion(fields[name].column, _read(fields[name], values, filters, today))
    return Place(tab, by, row, state)


def _name(field: FilterField) -> str:
    return "period" if field.title == "Period" else field.column.removesuffix("_id")


def _only(given: dict[str, list[str]], name: str) -> str | None:
    """Take the one value of a name."""
    values = given.pop(name, [])
    if len(values) > 1:
        raise ParameterError(f"The address has {name}= more than once.")
    return values[0] if values else None


def _texts(criterion: Criterion) -> list[str]:
    if not isinstance(criterion, Range):
        return [value_text(value) for value in criterion]
    ends = [_end_text(end) for end in (criterion.first, criterion.last)]
    named = ""
    if isinstance(criterion.first, dt.date) and isinstance(criterion.last, dt.date):
        named = _period_text(criterion.first, criterion.last)
    return [named or "..".join(ends), *([_MISSING] if criterion.missing else [])]


def _period_text(first: dt.date, last: dt.date) -> str:
    """Return a whole month, quarter or year as a user writes it; empty for other days."""
    texts = (f"{first:%Y-%m}", f"{first.year}-Q{(first.month + 2) // 3}", f"{first.year}")
    return next((text for text in texts if parse_period(text) == Period(first, last)), "")


def value_text(value: Any) -> str:
    """Return a value as an address has it."""
    if pd.isna(value):
        return _MISSING
    if isinstance(value, bool):
        return str(value).lower()
    # So that no text is read as "no value".
    return f"{_MISSING}{value}" if str(value).startswith(_MISSING) else str(value)


def _end_text(end: Any) -> str:
    return "" if end is None else end.isoformat() if isinstance(end, dt.date) else f"{end:.15g}"


def _read(field: FilterField, values: list[str], filters: Filters, today: dt.date) -> Criterion | None:
    if field.kind == "choice":
        known = {value_text(value): value for value in filters.options(field.column).keys}
        for text in values:
            if text not in known:
                raise ParameterError(f"The address has {_name(field)}={text}, but no record here has this value.")
        return tuple(known[text] for text in values)
    spans = [text for text in values if text != _MISSING]
    if spans == [_ALL]:
        return None
    if len(spans) > 1:
        raise ParameterError(f"The address has {_name(field)}= more than once.")
    missing = {"missing": True} if _MISSING in values else {}
    first, dots, last = (spans or [""])[0].partition("..")
    try:
        if field.kind == "numbers":
            saved: Any = {"from": float(first) if first else None, "to": float(last) if last else None}
        else:
            saved = {"from": first or None, "to": (last or None) if dots else None}
        return read_state({field.column: {**saved, **missing}}, [field], today).criteria.get(field.column)
    except (ParameterError, ValueError):
        like = "2026-10 or 2026-10-05..2026-10-14" if field.kind == "dates" else "100..200"
        raise ParameterError(
            f"The address has {_name(field)}={spans[0] if spans else ''}, but it takes a span such as {like}."
        ) from None
