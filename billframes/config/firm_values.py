"""Check the values of a firm's settings and convert them: one function for each kind of value."""

from __future__ import annotations

import datetime as dt
import math
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast

from billframes._shared.limits import checked_number
from billframes._shared.names import closest
from billframes.errors import ParameterError
from billframes.periods import FiscalYear, resolve

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
ROLES = ("principal", "attorney", "paralegal", "timekeeper", "operator", "accountant")
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


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{key}={value!r} is not a text; put it in quotes.")
    return value


def _time_zone(value: Any, key: str) -> str:
    try:
        return zoneinfo.ZoneInfo(value).key
    except (ValueError, TypeError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise ParameterError(
            f"{key}={value!r} is not a time zone; it takes an IANA name such as 'Europe/Berlin'."
        ) from error


def _working_days(value: Any, key: str) -> tuple[str, ...]:
    for day in read_list(value, key):
        if day not in WEEKDAYS:
            raise ParameterError(f"{key} has {day!r}; it takes {WEEKDAYS}.{closest(day, WEEKDAYS)}")
    return tuple(value)


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


def _dates(value: Any, key: str) -> tuple[dt.date, ...]:
    return tuple(read_date(day, key) for day in read_list(value, key))


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
    weights = _mapping(_not_negative)(value, key)
    if not math.isclose(sum(weights.values()), 1.0, abs_tol=1e-9):
        raise ParameterError(f"{key} adds up to {sum(weights.values())}; the weights of a matter add up to 1.")
    return weights


def _role(value: Any, key: str) -> str:
    if value not in ROLES:
        raise ParameterError(f"{key}={value!r} is not a role; it takes {ROLES}.{closest(value, ROLES)}")
    return str(value)


_REPORT = ("title", "logo", "accent", "paper", "order")
_LOGOS = (".png", ".jpg", ".jpeg", ".svg")


def _report(value: Any, key: str) -> dict[str, str]:
    looks = _mapping(_text)(value, key)
    for name, text in looks.items():
        if name not in _REPORT:
            raise ParameterError(f"{key} has no {name!r}; it takes {', '.join(_REPORT)}.{closest(name, _REPORT)}")
        if name == "accent" and not re.fullmatch("#[0-9a-fA-F]{6}", text):
            raise ParameterError(f"{key}['accent']={text!r} is not a colour; write six digits such as '#1f4e79'.")
        if name == "logo" and not text.lower().endswith(_LOGOS):
            raise ParameterError(f"{key}['logo']={text!r} is not a picture; it takes {', '.join(_LOGOS)}.")
        if name == "paper" and text.lower() not in {"a4", "letter"}:
            raise ParameterError(f"{key}['paper']={text!r} is not a size of paper; it takes 'A4' or 'Letter'.")
        if name == "order" and text not in {"name", "hours"}:
            raise ParameterError(f"{key}['order']={text!r} is not known; it takes 'name' or 'hours'.")
    return {**looks, **({"paper": looks["paper"].capitalize()} if "paper" in looks else {})}


def read_list(value: Any, key: str) -> Iterable[Any]:
    """Return a list, or another iterable that is neither a text nor a mapping."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ParameterError(f"{key}={value!r} is not a list; put the values in brackets, such as [{value!r}].")
    return value


def _mapping(read: Callable[[Any, str], Any]) -> Callable[[Any, str], dict[str, Any]]:
    def read_all(value: Any, key: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ParameterError(f"{key}={value!r} is not a mapping from id or e-mail address to a value.")
        return {str(name): read(each, f"{key}[{str(name)!r}]") for name, each in value.items()}

    return read_all


# The function for each key. It raises a ParameterError that names the key.
DISCOUNTS = ("time", "items")
"""Which items bear an invoice's discount: time, or time and fixed fees."""


def _discounts(value: Any, key: str) -> str:
    if value not in DISCOUNTS:
        raise ParameterError(f"{key}={value!r} is neither 'time' nor 'items'.")
    return str(value)


def _matter_types(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(each, str) for each in value):
        raise ParameterError(f"{key}={value!r} is not a list of types of matter, such as ['hourly', 'contingency'].")
    return tuple(value)


READERS: dict[str, Callable[[Any, str], Any]] = {
    "currency": _currency,
    "time_zone": _time_zone,
    "working_days": _working_days,
    "holidays": _dates,
    "hours_per_day": _hours_per_day,
    "user_hours": _mapping(_hours_per_day),
    "user_start": _mapping(read_date),
    "user_end": _mapping(read_date),
    "leave": _mapping(_leave),
    "targets": _mapping(_target),
    "fiscal_year_start": lambda value, key: None if value is None else FiscalYear.read(value, key=key).text,
    "fiscal_year_name": lambda value, _: FiscalYear.read(1, value).named,
    "realization_floor": _floor,
    "standard_rates": _mapping(_dated_rate),
    "cost_rates": _mapping(_not_negative),
    "budgets": _mapping(read_number),
    "originator_weights": _mapping(_weights),
    "roles": _mapping(_role),
    "discounts": _discounts,
    "matter_types": _matter_types,
    "report": _report,
    "guidelines": _text,
    "guidelines_field": _text,
}
