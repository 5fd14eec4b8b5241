"""The taxes of a client's profile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from billframes._shared.names import closest
from billframes._shared.suggestions import check_keys
from billframes.config.firm_values import read_date, read_list, read_number
from billframes.ebilling.plain_text import is_plain
from billframes.errors import ParameterError

_ON = {"fees": ("time_entry", "fixed_fee"), "expenses": ("expense",), "both": ("time_entry", "fixed_fee", "expense")}
_KEYS = ("type", "rate", "on", "codes", "matters", "from", "until")
_TYPE_WIDTH = 20


@dataclass(frozen=True, slots=True)
class LedesTax:
    """A tax of a profile: its kinds of items, prefixes of codes, matters, and first and last invoice date."""

    type: str
    rate: Decimal
    on: str = "both"
    codes: tuple[str, ...] = ()
    matters: tuple[str, ...] = ()
    start: dt.date | None = None
    end: dt.date | None = None

    def holds(self, kind: str, codes: Iterable[str | None], matter: Iterable[str], day: dt.date | None) -> bool:
        """Tell whether the tax is charged on a kind of item, with codes, on a matter with names, on an invoice."""
        return (
            kind in _ON[self.on]
            and (not self.codes or any(code and code.startswith(self.codes) for code in codes))
            and (not self.matters or not {each.casefold() for each in self.matters}.isdisjoint(matter))
            and is_between(day, self.start, self.end)
        )


def is_between(day: dt.date | None, start: dt.date | None, end: dt.date | None) -> bool:
    """Tell whether a day is between two days, which are inclusive; None is open, and a day that is later than all."""
    return end is None if day is None else (start is None or start <= day) and (end is None or day <= end)


def read_taxes(value: Any) -> tuple[LedesTax, ...]:
    """Read the taxes of a profile; raise `ParameterError` with the key of a value that is invalid."""
    if isinstance(value, Mapping):
        raise ParameterError("tax is one table; write each tax as [[tax]], or as a table in a list.")
    return tuple(
        each if isinstance(each, LedesTax) else _read_tax(each, f"tax[{nth}]")
        for nth, each in enumerate(read_list(value, "tax"))
    )


def _read_tax(value: Any, key: str) -> LedesTax:
    if not isinstance(value, Mapping):
        raise ParameterError(f"{key}={value!r} is not a tax; it takes {{'type': 'VAT', 'rate': 0.2}}.")
    check_keys(key, value, _KEYS)
    if missing := [name for name in ("type", "rate") if name not in value]:
        raise ParameterError(f"{key} has no {missing[0]}; a tax needs a type, such as 'VAT', and a rate.")
    kind, on = value["type"], value.get("on", "both")
    if not isinstance(kind, str) or not kind or not is_plain(kind) or len(kind) > _TYPE_WIDTH:
        raise ParameterError(f"{key} has the type {kind!r}; it takes at most {_TYPE_WIDTH} ASCII characters.")
    if on not in _ON:
        raise ParameterError(f"{key} has on={on!r}; it takes one of {(*_ON,)}.{closest(str(on), _ON)}")
    rate = read_number(value["rate"], f"{key}: rate")
    if not 0 <= rate <= 1:
        hint = f" Write {rate:g}% as {rate / 100:g}." if 1 < rate <= 100 else ""
        raise ParameterError(f"{key} has rate={value['rate']!r}, which is not a rate from 0 to 1.{hint}")
    codes, matters = (
        tuple(map(str, read_list(value.get(name, ()), f"{key}: {name}"))) for name in ("codes", "matters")
    )
    days = [read_date(value[name], f"{key}: {name}") if name in value else None for name in ("from", "until")]
    if days[0] and days[1] and days[0] > days[1]:
        raise ParameterError(f"{key} has from={days[0]}, which is after until={days[1]}.")
    return LedesTax(kind, Decimal(repr(value["rate"])), on, codes, matters, *days)
