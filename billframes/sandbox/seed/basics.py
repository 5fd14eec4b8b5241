"""Days, money, seeded random choices, and the dataclasses of rows.

Days are ordinals of `datetime.date`. Hours and money are the schema's ten-thousandths. All random choices are drawn
from one `SeededRandom`, so the seed alone decides the whole firm.
"""

from __future__ import annotations

import datetime as dt
import random
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from billframes.sandbox.clock import BEGINNING, instant_text
from billframes.sandbox.schema import CENT
from billframes.sandbox.seed.data_files import load_toml

T = TypeVar("T")


def day(text: str) -> int:
    """Return the ordinal of a yyyy-MM-dd date."""
    return dt.date.fromisoformat(text).toordinal()


_BASE = day("2004-01-01")
# The firm's history ends when the sandbox's clock starts.
END = BEGINNING.toordinal()
LAST_INSTANT = instant_text(BEGINNING)
_MINUTES = tuple(f"T{minute // 60:02d}:{minute % 60:02d}:" for minute in range(1440))
_ISO = tuple(dt.date.fromordinal(ordinal).isoformat() for ordinal in range(_BASE, END + 1_100))

# Months count from year 0, so the next month is one more.
FIRST_MONTH = 2024 * 12
LAST_MONTH = 2026 * 12 + 9

HOLIDAYS = frozenset(date.toordinal() for date in load_toml("../firm")["holidays"])


def iso(ordinal: int) -> str:
    """Return a day as yyyy-MM-dd."""
    return _ISO[ordinal - _BASE]


def instant(ordinal: int, seconds: int, microseconds: int = 0) -> str:
    """Return the instant that is so many seconds after the start of a day, in UTC, in the tables' format."""
    return f"{_ISO[ordinal - _BASE]}{_MINUTES[seconds // 60]}{seconds % 60:02d}.{microseconds:06d}Z"


def month_of(ordinal: int) -> int:
    """Return the month of a day."""
    date = dt.date.fromordinal(ordinal)
    return date.year * 12 + date.month - 1


@cache
def month_days(month: int) -> range:
    """Return the days of a month, up to the firm's last day."""
    first = dt.date(month // 12, month % 12 + 1, 1).toordinal()
    after = dt.date((month + 1) // 12, (month + 1) % 12 + 1, 1).toordinal()
    return range(first, min(after, END + 1))


@cache
def working_days(month: int) -> tuple[int, ...]:
    """Return a month's Mondays to Fridays, without holidays."""
    return tuple(each for each in month_days(month) if each % 7 not in (6, 0) and each not in HOLIDAYS)


def next_working_day(ordinal: int) -> int:
    """Return the day if it is a working day, else the next working day."""
    while ordinal % 7 in (6, 0) or ordinal in HOLIDAYS:
        ordinal += 1
    return ordinal


def money(amount: float) -> int:
    """Return dollars as ten-thousandths, rounded to the cent."""
    return round(amount * 100) * CENT


def to_cents(amount: int) -> int:
    """Round ten-thousandths to whole cents, halves away from zero."""
    return (amount + CENT // 2) // CENT * CENT if amount >= 0 else -to_cents(-amount)


def ascii_name(name: str) -> str:
    """Return a name in lower-case ASCII letters and dots, for an e-mail address."""
    letters = unicodedata.normalize("NFKD", name).lower()
    return "".join(each for each in letters if each in "abcdefghijklmnopqrstuvwxyz.")


class SeededRandom:
    """The random choices of a firm, all from one seed."""

    __slots__ = ("chance", "random")

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - protects no secret
        self.chance = self.random.random

    def uuid(self) -> str:
        """Return a new id in the form of a random UUID."""
        bits = f"{self.random.getrandbits(128):032x}"
        return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-a{bits[17:20]}-{bits[20:]}"

    def below(self, bound: int) -> int:
        """Return an int from 0 to `bound` - 1."""
        return int(self.chance() * bound)

    def between(self, low: int, high: int) -> int:
        """Return an int from `low` to `high`, both included."""
        return low + int(self.chance() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, all equally likely."""
        return options[int(self.chance() * len(options))]

    def weighted(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """Return one of the options by weight."""
        return self.random.choices(options, weights)[0]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return up to `count` different options."""
        return self.random.sample(options, min(count, len(options)))

    def office_instant(self, ordinal: int) -> str:
        """Return an instant of that day between 14:00 and 24:00 UTC, which are office hours in New York."""
        return instant(ordinal, 50_400 + int(self.chance() * 36_000), int(self.chance() * 1_000_000))


@dataclass(slots=True, eq=False)
class Item:
    """Something to bill. Its attributes are the columns of its table, `id` is the table's id column."""

    id: str
    matter_id: str
    user_id: str | None
    date: str
    description: str
    amount: int | None
    created_at: str
    modified_at: str
    invoice_id: str | None = field(default=None, kw_only=True)


@dataclass(slots=True, eq=False)
class TimeEntry(Item):
    """A row of the table `time_entry`."""

    time: str | None
    hours: int
    billing_type: str
    rate: int | None = None
    fixed_fee_id: str | None = None
    activity_code: str | None = None
    task_code: str | None = None


@dataclass(slots=True, eq=False)
class Expense(Item):
    """A row of the table `expense`."""

    expense_code: str | None
    check_number: str | None


@dataclass(slots=True, eq=False)
class FixedFee(Item):
    """A row of the table `fixed_fee`."""

    activity_code: str | None
    task_code: str | None
