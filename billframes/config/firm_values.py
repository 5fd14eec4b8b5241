"""Check the values of a firm's settings and convert them: one function for each kind of value."""

from __future__ import annotations

import datetime as dt
import math
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast

from billframes._shared.limits import checked_number
from billframes._shared.suggestions import check_choice, check_keys
from billframes.errors import ParameterError
from billframes.periods import FiscalYear, resolve

Reader = Callable[[Any, str], Any]
"""Returns a value of the settings as it is used, or raises a `ParameterError` that names the key."""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
ROLES = ("principal", "attorney", "paralegal", "timekeeper", "operator", "accountant")
MATTER_TYPES = ("hourly", "fixedFee", "contingency", "probono", "internal")
UNKNOWN_TYPE = "Unknown"
"""The type of a matter whose type is missing."""
_TARGET = {"hours", "fees", "period"}
FIRM = "firm"
"""The name under which `targets` has the target of the whole firm."""
_MOST_HOURS = {"month": 744.0, "year": 8784.0}


class Target(TypedDict):
    """The client hours, the fees billed or both that a person or the firm should reach each month or each year."""

    hours: NotRequired[float]
    fees: NotRequired[float]
    utilization: NotRequired[float]
    period: Literal["month", "year"]


def _currency(value: Any, key: str) -> str:
    if value == "" or (isinstance(value, str) and re.fullmatch("[A-Z]{3}", value)):
        return str(value)
    raise ParameterError(f"{key}={value!r} is not a currency code; it takes three capital letters such as 'USD'.")


def read_text(value: Any, key: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ParameterError(f"{key}={value!r} is not a text; put it in quotes.")
    return value


def choice_of(*accepted: str) -> Reader:
    """Return a reader of one of several texts."""
    return lambda value, key: check_choice(value, key, accepted)


def list_of(read: Reader) -> Reader:
    """Return a reader of lists, whose values are read one by one."""
    return lambda value, key: tuple(read(each, f"{key}[{nth}]") for nth, each in enumerate(read_list(value, key)))


def mapping_of(read: Reader, described: str = "a mapping from id or e-mail address to a value") -> Reader:
    """Return a reader of mappings, whose values are read one by one."""

    def read_all(value: Any, key: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ParameterError(f"{key}={value!r} is not {described}.")
        return {str(name): read(each, f"{key}[{str(name)!r}]") for name, each in value.items()}

    return read_all


def table_of(readers: Mapping[str, Reader], described: str) -> Reader:
    """Return a reader of tables with known keys, whose values are read one by one."""

    def read(value: Any, key: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ParameterError(f"{key}={value!r} is not {described}.")
        check_keys(key, value, readers)
        return {name: readers[name](each, f"{key}.{name}") for name, each in value.items()}

    return read


def _time_zone(value: Any, key: str) -> str:
    try:
        return zoneinfo.ZoneInfo(value).key
    except (ValueError, TypeError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise ParameterError(
            f"{key}={value!r} is not a time zone; it takes an IANA name such as 'Europe/Berlin'."
        ) from error


def read_number(value: Any, key: str) -> float:
    """Return a number as a float, if it is not larger than any amount."""
    try:
        return checked_number(value)
    except ValueError as error:
        raise ParameterError(f"{key}={error}; write a number such as 7.5.") from None


def _not_negative(value: Any, key: str) -> float:
    if read_number(value, key) < 0:
        raise ParameterError(f"{key}={value!r} is negative; it takes a number from 0 up.")
    return float(value)


def _dated_rate(value: Any, key: str) -> float | dict[dt.date, float]:
    if not isinstance(value, Mapping):
        return _not_negative(value, key)
    if not value:
        raise ParameterError(f"{key} has no rate; it takes a rate, or rates by the date from which they hold.")
    rates = {read_date(day, key): _not_negative(rate, f"{key}[{str(day)!r}]") for day, rate in value.items()}
    if len(rates) < len(value):
        raise ParameterError(f"{key} names one date twice; give each date one rate.")
    return dict(sorted(rates.items()))


def _hours_per_day(value: Any, key: str) -> float:
    if _not_negative(value, key) > 24:
        raise ParameterError(f"{key}={value!r} is more than the 24 hours a day has.")
    return float(value)


def read_date(value: Any, key: str) -> dt.date:
    """Return a value as a date."""
    day = resolve(None, value, names=("", key)).end
    if day is None:
        raise ParameterError(f"{key}={value!r} is not a date; it takes a date such as '2026-10-31'.")
    return day


def _leave(value: Any, key: str) -> list[tuple[dt.date, dt.date]]:
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(day, str | dt.date) for day in value):
        first, last = (str(day)[:10] for day in value)
        raise ParameterError(
            f"{key}={(first, last)!r} could be two days or all days from the first to the last. Write "
            f"[({first!r}, {last!r})] for all of them, or [{first!r}, {last!r}] for the two days."
        )
    return [_days_of_leave(each, key) for each in read_list(value, key)]


def _days_of_leave(value: Any, key: str) -> tuple[dt.date, dt.date]:
    ends = [value, value] if isinstance(value, str | dt.date) else list(read_list(value, key))
    if len(ends) != 2:
        raise ParameterError(f"{key} has {value!r}; it takes dates and pairs of a first and a last date.")
    first, last = read_date(ends[0], key), read_date(ends[1], key)
    if first > last:
        raise ParameterError(f"{key} has a leave from {first} to {last}, which ends before it begins.")
    return first, last


def _target(value: Any, key: str) -> Target:
    allowed = _TARGET | ({"utilization"} if key.endswith(f"[{FIRM!r}]") else set())
    if not isinstance(value, Mapping) or "period" not in value or not {"period"} < set(value) <= allowed:
        raise ParameterError(
            f"{key}={value!r} is not a target; it takes {{'hours': 1600, 'period': 'year'}}, and 'fees' too."
        )
    if value["period"] not in {"month", "year"}:
        raise ParameterError(f"{key} has the period {value['period']!r}; it takes 'month' or 'year'.")
    if "hours" in value and _not_negative(value["hours"], key) > _MOST_HOURS[value["period"]]:
        raise ParameterError(f"{key}={value!r} has more hours than a {value['period']}; check hours and period.")
    if "utilization" in value:
        _floor(value["utilization"], f"{key}['utilization']")
    return cast(
        "Target", {name: each if name == "period" else _not_negative(each, key) for name, each in value.items()}
    )


def _floor(value: Any, key: str) -> float | None:
    if value is not None and not 0 < read_number(value, key) <= 1:
        raise ParameterError(f"{key}={value!r} is not a ratio above 0 and up to 1; 0.9 is 90%.")
    return value if value is None else float(value)


def _weights(value: Any, key: str) -> dict[str, float]:
    weights: dict[str, float] = mapping_of(_not_negative)(value, key)
    if not math.isclose(sum(weights.values()), 1.0, abs_tol=1e-9):
        raise ParameterError(f"{key} adds up to {sum(weights.values())}; the weights of a matter add up to 1.")
    return weights


_LOGOS = (".png", ".jpg", ".jpeg", ".svg")


def _accent(value: Any, key: str) -> str:
    if not re.fullmatch("#[0-9a-fA-F]{6}", read_text(value, key)):
        raise ParameterError(f"{key}={value!r} is not a colour; write six digits such as '#1f4e79'.")
    return str(value)


def _logo(value: Any, key: str) -> str:
    if not read_text(value, key).lower().endswith(_LOGOS):
        raise ParameterError(f"{key}={value!r} is not a picture; it takes {', '.join(_LOGOS)}.")
    return str(value)


_REPORT: dict[str, Reader] = {
    "title": read_text,
    "logo": _logo,
    "accent": _accent,
    "paper": lambda value, key: check_choice(read_text(value, key).capitalize(), key, ("A4", "Letter")),
    "order": choice_of("name", "hours"),
}


def read_list(value: Any, key: str) -> Iterable[Any]:
    """Return a list, or another iterable that is neither a text nor a mapping."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ParameterError(f"{key}={value!r} is not a list; put the values in brackets, such as [{value!r}].")
    return value


DISCOUNTS = ("time", "items")
"""Which items bear an invoice's discount: time, or time and fixed fees."""

READERS: dict[str, Reader] = {
    "currency": _currency,
    "time_zone": _time_zone,
    "working_days": list_of(choice_of(*WEEKDAYS)),
    "holidays": list_of(read_date),
    "hours_per_day": _hours_per_day,
    "user_hours": mapping_of(_hours_per_day),
    "user_start": mapping_of(read_date),
    "user_end": mapping_of(read_date),
    "leave": mapping_of(_leave),
    "targets": mapping_of(_target),
    "fiscal_year_start": lambda value, key: None if value is None else FiscalYear.read(value, key=key).text,
    "fiscal_year_name": lambda value, _: FiscalYear.read(1, value).named,
    "realization_floor": _floor,
    "standard_rates": mapping_of(_dated_rate),
    "cost_rates": mapping_of(_not_negative),
    "budgets": mapping_of(read_number),
    "originator_weights": mapping_of(_weights),
    "roles": mapping_of(choice_of(*ROLES)),
    "discounts": choice_of(*DISCOUNTS),
    "matter_types": list_of(choice_of(*MATTER_TYPES, UNKNOWN_TYPE)),
    "report": table_of(_REPORT, "a table such as {'title': 'Harrow & Lindqvist LLP'}"),
    "guidelines": read_text,
    "guidelines_field": read_text,
}
"""The function for each key. It raises a `ParameterError` that names the key."""
