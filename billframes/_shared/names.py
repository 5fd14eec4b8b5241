"""Names in messages: convert them to snake_case, suggest the nearest one, and list several in a sentence."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType

_HUMP = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])")
_MOST_SHOWN = 10
_NOT_WORD = re.compile(r"[\W_]+")
# Names that people mistake for each other: those of billframes first, then words of other libraries and of law firms.
_SAME = (
    ("start", "from", "since", "begin", "first", "start_date", "date_from", "from_date"),
    ("end", "until", "stop", "through", "last", "end_date", "date_to", "to_date"),
    ("select", "columns", "fields", "usecols"),
    ("by", "group", "group_by", "groupby"),
    ("sort", "order", "order_by", "sort_by"),
    ("aging", "receivables", "accounts_receivable", "ar", "debtors"),
    ("wip", "work_in_progress", "unbilled"),
    ("overdue_invoices", "collections"),
    ("horizons", "weeks", "months"),
    ("hours_per_day", "hours_a_day"),
    ("client_balances", "normalize_balances"),
    ("effective_rates", "rates"),
    ("read", "load", "open", "from_file", "from_toml", "from_path"),
    ("reverse", "undo", "revert", "rollback"),
    ("as_of", "at", "as_at", "version_of"),
    ("refresh", "sync", "pull"),
    ("savefig", "save", "to_png", "write"),
)


# Names of the API are few, and each load needs the same ones.
@functools.lru_cache(maxsize=1024)
def snake_case(name: str) -> str:
    """Return `name` in snake_case; empty if it has no letter or digit."""
    return _NOT_WORD.sub("_", _HUMP.sub("_", name)).strip("_").lower()


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an" before it."""
    return f"{'an' if noun[0] in 'aeiou' and not noun.startswith('user') else 'a'} {noun}"


def type_in_words(value: object) -> str:
    """Return a value's type for a message, such as "a str"."""
    return "None" if value is None else with_article(type(value).__name__)


def holds_several(value: object) -> bool:
    """Tell whether a value is a frame, a list or the like, and not one value."""
    return not isinstance(value, str | bytes) and (hasattr(value, "__len__") or hasattr(value, "columns"))


def as_given(name: str, value: object) -> str:
    """Return an argument for a message: with its value, or with the type of a frame, an array or a long list."""
    many = isinstance(value, Collection) and not isinstance(value, str | bytes) and len(value) > _MOST_SHOWN
    is_frame = holds_several(value) and (hasattr(value, "columns") or hasattr(value, "dtype"))
    return f"{name} ({type_in_words(value)})" if many or is_frame else f"{name}={value!r}"


def same_word(name: object, accepted: Collection[str]) -> str:
    """Return the accepted name that other libraries or law firms call so; empty if there is none."""
    word = snake_case(str(name))
    return next((each for group in _SAME if word in group for each in group if each in accepted), "")


def closest(
    name: object, accepted: Iterable[str], places: Mapping[str, str] = MappingProxyType({}), *, many: bool = False
) -> str:
    """
    Return a hint with the accepted name that means the same, contains `name` as a word, or is the most similar.

    It is empty if there is none; else it is a sentence with a space before it, such as " Did you mean 'end'?". A
    name among `places` is shown with its namespace. Among `many` names, a distant one is similar to any word, so a long
    word must be more similar.
    """
    lowered = {each.lower(): each for each in accepted}
    if same := same_word(name, lowered):
        return f" Did you mean {places.get(lowered[same], lowered[same])!r}?"
    word = snake_case(str(name))
    containing = [each for each, spelled in lowered.items() if word in snake_case(spelled).split("_")]
    least = 0.8 if many and len(word) > 4 and not containing else 0.6
    similar = get_close_matches(str(name).lower(), containing or lowered, 1, least)
    found = containing if len(containing) == 1 else similar
    return f" Did you mean {places.get(right := lowered[found[0]], right)!r}?" if found else ""


def first_few(names: Sequence[str], most: int = 5) -> str:
    """List the first few names, and count the others: "u1, u2 and 1 more"."""
    others = len(names) - most
    return ", ".join(names[:most]) + (f" and {others:,} more" if others > 0 else "")


def join_names(names: Sequence[str]) -> str:
    """List names for a sentence: "hours, rate and date"."""
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last


def distinct_names(names: Sequence[str], ids: Sequence[object], references: Sequence[str | None]) -> list[str]:
    """Add the reference to names that occur more than once; if that is not unique, add the beginning of the id."""
    times, pairs = Counter(names), Counter(zip(names, references, strict=True))
    return [
        f"{name} ({reference if reference and pairs[name, reference] == 1 else str(id_)[:8]})"
        if times[name] > 1
        else name
        for name, id_, reference in zip(names, ids, references, strict=True)
    ]
