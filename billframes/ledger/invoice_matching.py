"""Match the invoices of two systems, without guessing: each pair says by what it was matched.

First by the number, then by the number without signs and leading zeros; client, amount or date must agree, too. Then
the only rows of a client with one amount, at most five days apart. Rows are looked up by these values, so that the time
is in proportion to their number.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MATCHED_BY = ("number", "similar number", "client and amount")
"""What a pair can be matched by."""

# The values that agree, from the most alike pairs to the least.
_ALIKE = (
    ("client", "amount", "date"),
    ("client", "amount"),
    ("client", "date"),
    ("client",),
    ("amount", "date"),
    ("amount",),
    ("date",),
)
_DAYS = 5
# What accounting systems append to names.
_SUFFIX = re.compile(r"(\(deleted\)|\bclio \d+)$")


@dataclass(frozen=True, slots=True)
class Item:
    """An invoice of one system: its number, the plain name of its client, its amount in cents, and its date."""

    number: str | None
    client: str | None
    amount: int | None
    date: dt.datetime | None


def exact_number(number: str | None) -> str:
    """
    Return a number without spaces and in lower case.

    Examples
    --------
    >>> exact_number(" INV-0012 "), plain_number(" INV-0012 "), plain_number("#0012"), plain_number("000")
    ('inv-0012', 'inv0012', '12', '000')
    """
    return re.sub(r"\s+", "", number).casefold() if number else ""


def plain_number(number: str | None) -> str:
    """Return a number without signs and leading zeros, too."""
    exact = exact_number(number)
    return re.sub(r"[^0-9a-z]", "", exact).lstrip("0") or exact


class ClientNames:
    """
    The clients of the billing system (id, name and reference), and the customers of the books that are them.

    The settings have the id or reference of the client by the name of a customer.

    Examples
    --------
    >>> names = ClientNames([("c1", "Marlow & Finch", None)], {"M&F (old)": "c1"})
    >>> [names.key(each) for each in ("MARLOW  & Finch, (deleted)", "Marlow & Finch:Lease", "M&F (old)", "Tern")]
    ['marlow finch', 'marlow finch', 'marlow finch', 'tern']
    """

    def __init__(
        self, clients: Iterable[tuple[str | None, str | None, str | None]], customers: Mapping[str, str]
    ) -> None:
        self._ids: dict[str, set[tuple[str, str]]] = defaultdict(set)
        named: dict[str, str] = {}
        for client_id, name, reference in clients:
            key = plain_name(name)
            if client_id is not None and key:
                self._ids[key].add((client_id, name or ""))
                named |= {each: key for each in (client_id, reference) if each}
        self._customers = {name: named[client] for name, client in customers.items() if client in named}
        self._keys: dict[str | None, str | None] = {None: None}

    def key(self, customer: str | None) -> str | None:
        """Return the plain name of the client that a customer is; that of the customer if no client has it."""
        if customer not in self._keys:
            whole, client = plain_name(customer), plain_name((customer or "").partition(":")[0])
            self._keys[customer] = self._customers.get(customer or "") or (whole if whole in self._ids else client)
        return self._keys[customer]

    def client(self, key: str | None) -> tuple[str, str] | None:
        """Return the id and the name of the only client with a plain name."""
        found = self._ids.get(key or "", set())
        return next(iter(found)) if len(found) == 1 else None

    def __contains__(self, key: object) -> bool:
        return key in self._ids


def plain_name(name: str | None) -> str:
    """Return a name without case, punctuation, and what accounting systems append to it."""
    text = _SUFFIX.sub("", unicodedata.normalize("NFKC", name or "").casefold().strip())
    return re.sub(r"[^\w:]+", " ", text).strip()


def match_invoices(ours: Sequence[Item], theirs: Sequence[Item]) -> dict[int, tuple[int, str]]:
    """Match our invoices with theirs; return by position of ours the position of theirs and one of `MATCHED_BY`."""
    left, right = dict.fromkeys(range(len(ours))), dict.fromkeys(range(len(theirs)))
    pairs: dict[int, tuple[int, str]] = {}
    for how, key in zip(MATCHED_BY, (exact_number, plain_number), strict=False):
        pairs |= {i: (j, how) for i, j in _by_number(ours, theirs, left, right, key)}
    pairs |= {i: (j, MATCHED_BY[2]) for i, j in _by_amount(ours, theirs, left, right)}
    return pairs


def _by_number(
    ours: Sequence[Item],
    theirs: Sequence[Item],
    left: dict[int, None],
    right: dict[int, None],
    key: Callable[[str | None], str],
) -> list[tuple[int, int]]:
    """Match the rows of each number, the most alike first, and remove them from those that are left."""
    numbers = {i: number for i in left if (number := key(ours[i].number))}
    common = set(numbers.values())
    other_numbers = {j: number for j in right if (number := key(theirs[j].number)) in common}
    common = set(other_numbers.values())
    numbers = {i: number for i, number in numbers.items() if number in common}
    pairs = []
    for names in _ALIKE:
        waiting = _waiting(theirs, other_numbers, names)
        for i, number in list(numbers.items()):
            values = _values(ours[i], names)
            if values is not None and (found := waiting.get((number, *values))):
                j = found.popleft()
                pairs.append((i, j))
                del numbers[i], other_numbers[j], left[i], right[j]
    return pairs


def _waiting(items: Sequence[Item], keys: Mapping[int, str], names: Sequence[str]) -> dict[tuple[Any, ...], deque[int]]:
    """Return the positions of items by their key and the values of some fields, without items that lack one."""
    waiting: dict[tuple[Any, ...], deque[int]] = defaultdict(deque)
    for place, key in keys.items():
        if (values := _values(items[place], names)) is not None:
            waiting[key, *values].append(place)
    return waiting


def _values(item: Item, names: Sequence[str]) -> tuple[Any, ...] | None:
    values = tuple(getattr(item, name) for name in names)
    return None if None in values else values


def _by_amount(
    ours: Sequence[Item], theirs: Sequence[Item], left: Mapping[int, None], right: Mapping[int, None]
) -> list[tuple[int, int]]:
    """Match rows that are the only ones of their client with their amount, at most some days apart."""
    of_ours = _waiting(ours, dict.fromkeys(left, ""), ("client", "amount"))
    of_theirs = _waiting(theirs, dict.fromkeys(right, ""), ("client", "amount"))
    pairs = []
    for key, places in of_ours.items():
        others = of_theirs.get(key)
        if key[2] == 0 or len(places) != 1 or others is None or len(others) != 1:
            continue
        one, other = ours[places[0]].date, theirs[others[0]].date
        if one is not None and other is not None and abs((one - other).days) <= _DAYS:
            pairs.append((places[0], others[0]))
    return pairs
