"""The words that `by=` and `where=` take for the keys of results, and those that lawyers use for them."""

from __future__ import annotations

from collections.abc import Collection

from billframes._shared.names import closest
from billframes.analysis.declare.columns import KEY_PREFIX
from billframes.analysis.declare.metrics import title_of_key

PEOPLE_AND_MATTERS = {
    "user": ("user_id", "user_name"),
    "client": ("client_id", "client_name"),
    "matter": ("matter_id", "matter_name"),
    "practice_area": ("practice_area_id", "practice_area_label"),
    "responsible": ("responsible_id", "responsible_name"),
    "originator": ("originator_id", "originator_name"),
}
TIMES = ("week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year")
SHORT_NAMES = (*PEOPLE_AND_MATTERS, "matter_type", "role", *TIMES)
KEY_OF_COLUMN = {column: name for name, pair in PEOPLE_AND_MATTERS.items() for column in pair}
"""A key by name is replaced by the pair of id and name: two clients with the same name stay two rows."""
OTHER_WORDS = {
    **dict.fromkeys(("timekeeper", "fee_earner", "attorney", "associate", "employee"), "user"),
    **dict.fromkeys(
        ("partner", "lawyer", "responsible_lawyer", "responsible_attorney", "responsible_partner"), "responsible"
    ),
    **dict.fromkeys(("department", "group", "team"), "practice_area"),
    **dict.fromkeys(("case", "file", "project"), "matter"),
    **dict.fromkeys(("customer", "company"), "client"),
}
"""Other words that lawyers use for short names; a column of that name takes precedence."""
OWN_PREFIXES = ("client_", "matter_", "user_", "cf_")
"""The beginnings of columns that no analysis uses itself."""


def key_of(argument: str, takes: Collection[str] = ()) -> str:
    """Return the key that an unknown argument of a call names, unless the call takes its plural; else nothing."""
    keys = {*SHORT_NAMES, *KEY_OF_COLUMN} - {*TIMES}
    name = OTHER_WORDS.get(argument, argument)
    # `users` are a frame, but `matter_types` an option.
    is_option = name not in PEOPLE_AND_MATTERS and f"{name}s" in takes
    return name if not is_option and (name in keys or name.startswith(OWN_PREFIXES)) else ""


def pass_where(argument: str, takes: Collection[str]) -> str:
    """Return a hint for an unknown argument of a call that takes `where`: the key to pass there, or a similar name."""
    key = key_of(argument, takes)
    return f" Pass where={{{key!r}: …}}." if key else closest(argument, takes)


def to_filter(argument: str, takes: Collection[str], figures: str) -> str:
    """
    Say how to keep one client or the like, if an unknown argument of a call names a key or a filter; else nothing.

    `figures` is the call that takes `where`, without its end.
    """
    if argument in ("where", "filter", "filters"):
        return f"Use {figures}, by=…, where=…)."
    key = key_of(argument, takes)
    return key and f"To keep one {title_of_key(key)}: {figures}, by=…, where={{{key!r}: …}})."


def columns_of(name: str, there: Collection[str]) -> list[str]:
    """Return those columns of a result that the key of this name made: an id and its label, or a single value."""
    other = name if name in there and name not in KEY_OF_COLUMN else OTHER_WORDS.get(name.lower(), name)
    key = KEY_OF_COLUMN.get(other, other)
    return [each for each in PEOPLE_AND_MATTERS.get(key, (key, f"{KEY_PREFIX}{key}")) if each in there]
