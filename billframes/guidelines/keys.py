"""Read the values of a guideline file: one function for each kind of value, which says what it takes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from billframes._shared.limits import checked_number
from billframes._shared.names import closest
from billframes._shared.suggestions import check_keys
from billframes.errors import ConfigError
from billframes.guidelines.words import Phrases, word_list

Reader = Callable[[Any], Any]
"""Returns the value, or raises ValueError with the words for what the key takes."""


def number(value: Any) -> float:
    """Read hours or an amount."""
    try:
        found = checked_number(value)
    except ValueError as error:
        raise ValueError(f"it takes a number of 0 or more, and {error}") from None
    if found < 0:
        raise ValueError("it takes a number of 0 or more")
    return found


def share(value: Any) -> float:
    """Read a share."""
    if number(value) > 1:
        raise ValueError("it takes a share from 0 to 1, such as 0.5")
    return float(value)


def _reader(takes: str, fits: Callable[[Any], bool]) -> Reader:
    def read(value: Any) -> Any:
        if not fits(value):
            raise ValueError(f"it takes {takes}")
        return value

    return read


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


whole = _reader("a whole number from 0 to 100,000", lambda each: type(each) is int and 0 <= each <= 100_000)
flag = _reader("true or false", lambda each: isinstance(each, bool))
text = _reader("a text in quotes", _is_text)
texts = _reader(
    'a list of texts, such as ["one", "two"]',
    lambda each: isinstance(each, list) and bool(each) and all(map(_is_text, each)),
)
day = _reader("a date without quotes, such as 2026-01-31", lambda each: type(each) is dt.date)


def shares(value: Any) -> list[float]:
    """Read a list of shares of a budget, which can be above 1."""
    if not isinstance(value, list) or not value:
        raise ValueError("it takes a list of numbers, such as [0.75, 0.9]")
    return sorted(map(number, value))


def phrases(value: Any) -> list[str]:
    """Read phrases, and check that they can be found in texts."""
    Phrases(texts(value))
    return list(value)


def lists(value: Any) -> list[str]:
    """Read the names of word lists."""
    for name in texts(value):
        if name not in word_list():
            hint = closest(name, word_list()) or f" The lists are {', '.join(word_list())}."
            raise ValueError(f"there is no word list {name!r}.{hint}".rstrip("."))
    return list(value)


def choice(*accepted: str) -> Reader:
    """Return the reader of one of some words."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in accepted:
            raise ValueError(f"it takes {' or '.join(map(repr, accepted))}.{closest(value, accepted)}".rstrip("."))
        return value

    return read


def each_of(*accepted: str) -> Reader:
    """Return the reader of a list of some words."""
    read = choice(*accepted)
    return lambda value: [read(word) for word in texts(value)]


def role_numbers(value: Any) -> dict[str, int]:
    """Read a number of people for each role."""
    if not isinstance(value, dict) or not value:
        raise ValueError("it takes a table such as {attorney = 2}")
    return {role: whole(number) for role, number in value.items()}


def rows(readers: Mapping[str, Reader], needed: Sequence[str], one_of: Sequence[str] = ()) -> Reader:
    """Return the reader of an array of tables with these keys; each has exactly one of `one_of`."""

    def read(value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
            raise ValueError(f"it takes a list of tables with {', '.join(readers)}")
        found = [read_table(row, readers, needed, "a row") for row in value]
        for row in found:
            if one_of and len(row.keys() & set(one_of)) != 1:
                raise ConfigError(f"a row {dict(row)} needs {' or '.join(one_of)}, and only one of them.")
        return found

    return read


ON: dict[str, Reader] = {"on": choice("time", "expenses", "both")}
DATES: dict[str, Reader] = {"from": day, "until": day}
WORDS: dict[str, Reader] = {"words": lists, "own_words": phrases}
SELECT: dict[str, Reader] = {**WORDS, "except": phrases, "codes": texts, **ON}
"""The keys that select items by words, codes and kind."""


def read_table(
    table: Mapping[str, Any], readers: Mapping[str, Reader], needed: Sequence[str], where: str
) -> dict[str, Any]:
    """Read the values of a table; raise `ConfigError` if a key is unknown or lacking, or a value can't be read."""
    check_keys(where, table, readers, ConfigError)
    for key in needed:
        if key not in table:
            raise ConfigError(f"{where} has no {key}.")
    found = {}
    for key, value in table.items():
        try:
            found[key] = readers[key](value)
        except ValueError as error:
            raise ConfigError(f"{where} has {key} = {value!r}; {error}.") from error
    for first in {"from", "effective"} & found.keys() if "until" in found else ():
        if found[first] > found["until"]:
            raise ConfigError(f"{where} has {first} = {found[first]}, which is after until = {found['until']}.")
    return found
