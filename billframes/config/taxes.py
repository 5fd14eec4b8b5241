"""The firm's taxes, and what a part payment of an invoice settles first.

The API's invoices have one amount, and items have no tax. A tax of the settings states which kinds of items it is
charged on, of which clients, and on invoices of which dates. Several taxes on one item add up. Two rates of one tax
can't hold at once.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from billframes._shared.names import closest, first_few
from billframes._shared.suggestions import check_keys
from billframes.config.firm_values import choice_of, list_of, read_date, read_list, read_number
from billframes.errors import ParameterError

KINDS = ("time", "fixed_fees", "expenses")
PARTS = ("tax", "expenses", "fees")

PaymentOrder = Literal["proportional"] | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Tax:
    """
    One tax, such as GST, or one of its rates.

    Parameters
    ----------
    name : str
        The name, such as "GST".
    rate : float
        The rate, from 0 to 1; 0.05 is 5%.
    on : sequence of {"time", "fixed_fees", "expenses"}
        The kinds of items that it is charged on; by default all three.
    clients : sequence of str
        The ids of the clients that are charged; by default all clients.
    except_clients : sequence of str
        The ids of the clients that are not charged, instead of `clients`.
    start, end : date, optional
        First and last invoice date, inclusive; None is open. An invoice without a date counts as later than all dates.

    Raises
    ------
    ParameterError
        A value is invalid.
    """

    name: str
    rate: float
    on: tuple[str, ...] = KINDS
    clients: tuple[str, ...] = field(default=())
    except_clients: tuple[str, ...] = field(default=())
    start: dt.date | None = None
    end: dt.date | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ParameterError(f"name={self.name!r} is not the name of a tax, such as 'GST'.")
        if not 0 <= read_number(self.rate, "rate") <= 1:
            hint = f" Write {self.rate:g}% as {self.rate / 100:g}." if 1 < self.rate <= 100 else ""
            raise ParameterError(f"rate={self.rate!r} is not a rate from 0 to 1.{hint}")
        object.__setattr__(self, "on", _kinds(self.on))
        for name in ("clients", "except_clients"):
            object.__setattr__(self, name, tuple(map(str, read_list(getattr(self, name), name))))
        if self.clients and self.except_clients:
            raise ParameterError("it has both clients and except_clients; keep one of them.")
        for name in ("start", "end"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_date(getattr(self, name), name))
        if self.start is not None and self.end is not None and self.start > self.end:
            raise ParameterError(f"start={self.start} is after end={self.end}.")


def _kinds(value: Any) -> tuple[str, ...]:
    kinds: tuple[str, ...] = list_of(choice_of(*KINDS))(value, "on")
    if not kinds:
        raise ParameterError(f"on is empty; it takes {KINDS}.")
    return tuple(kind for kind in KINDS if kind in kinds)


def read_taxes(value: Any, key: str) -> tuple[Tax, ...]:
    """Return the taxes in a list; refuse two rates of one tax that hold at once."""
    taxes: tuple[Tax, ...] = list_of(_tax)(value, key)
    for one, other in itertools.combinations(taxes, 2):
        _refuse_overlap(one, other, key)
    return taxes


def _tax(value: Any, key: str) -> Tax:
    if isinstance(value, Tax):
        return value
    if not isinstance(value, Mapping):
        raise ParameterError(f"{key}={value!r} is not a tax; it takes {{'name': 'GST', 'rate': 0.05, 'on': ['time']}}.")
    check_keys(key, value, (each.name for each in fields(Tax)))
    if missing := [name for name in ("name", "rate") if name not in value]:
        raise ParameterError(f"{key} has no {missing[0]}; a tax needs a name and a rate.")
    for name in ("clients", "except_clients"):
        if name in value and isinstance(value[name], Iterable) and not list(value[name]):
            raise ParameterError(f"{key}: {name} is empty; leave it out if the tax is charged to all clients.")
    try:
        return Tax(**value)
    except ParameterError as error:
        raise ParameterError(f"{key}: {error}") from error


def _refuse_overlap(one: Tax, other: Tax, key: str) -> None:
    """Refuse two rates of one tax on the same kind of item, for the same client and day."""
    kinds = [kind for kind in one.on if kind in other.on]
    if one.name.casefold().strip() != other.name.casefold().strip() or not kinds:
        return
    clients, (first, last) = _common_clients(one, other), _common_days(one, other)
    if clients and first <= last:
        days = (f" from {first}" if first > dt.date.min else "") + (f" up to {last}" if last < dt.date.max else "")
        raise ParameterError(
            f"{key} has {one.name!r} twice ({one.rate:g} and {other.rate:g}) for {clients} on {', '.join(kinds)}"
            f"{days}. End one before the other begins, or name them differently if both are charged."
        )


def _common_clients(one: Tax, other: Tax) -> str:
    """Return the clients that both taxes are charged to, in words; empty if there are none."""
    if not one.clients and not other.clients:
        return "the same clients"
    listed, rest = (one, other) if one.clients else (other, one)
    common = [each for each in listed.clients if each not in rest.except_clients]
    common = [each for each in common if not rest.clients or each in rest.clients]
    return f"the client{'' if len(common) == 1 else 's'} {first_few(common)}" if common else ""


def _common_days(one: Tax, other: Tax) -> tuple[dt.date, dt.date]:
    starts = [each.start for each in (one, other) if each.start is not None]
    ends = [each.end for each in (one, other) if each.end is not None]
    return max(starts, default=dt.date.min), min(ends, default=dt.date.max)


def read_payment_order(value: Any, key: str) -> PaymentOrder:
    """Return "proportional" or a tuple of all parts; refuse other values."""
    if value == "proportional":
        return "proportional"
    if isinstance(value, str):
        hint = closest(value, ("proportional",))
        raise ParameterError(f"{key}={value!r} is not known; it takes 'proportional' or {PARTS}.{hint}")
    order: tuple[str, ...] = list_of(choice_of(*PARTS))(value, key)
    if twice := [part for part in PARTS if order.count(part) > 1]:
        raise ParameterError(f"{key} names {twice[0]!r} twice; name each of {PARTS} once.")
    if missing := [part for part in PARTS if part not in order]:
        raise ParameterError(f"{key} lacks {missing[0]!r}; name each of {PARTS} once.")
    return order
