"""Find the keys that `by=` names, and the columns from which each key is derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NoReturn

from billframes._shared.names import closest, type_in_words
from billframes.analysis.declare.columns import KEY_PREFIX, LISTS, UNASSIGNED, UNKNOWN, selects_for
from billframes.analysis.declare.key_words import (
    KEY_OF_COLUMN,
    OTHER_WORDS,
    OWN_PREFIXES,
    PEOPLE_AND_MATTERS,
    SHORT_NAMES,
    TIMES,
)
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError, ParameterError

By = str | Sequence[str] | None
"""The type of `by=`."""


def names_in(by: By) -> list[str]:
    """List the names in `by`."""
    if by is None or isinstance(by, str):
        return [by] if by else []
    names = list(by) if isinstance(by, Iterable) else [by]
    if not all(isinstance(name, str) for name in names):
        raise ParameterError(f"by takes a name such as 'client', a list of names, or None; it is {type_in_words(by)}.")
    return names


ITEM_IDS = ("client_id", "matter_id", "user_id")
"""The ids that all items have."""
JOINED = ("matter", "user", "client")
"""The records whose frames are joined to the rows, by their id."""
# The beginnings of the names that `enrich` gives to columns, and the frames that have these columns.
_SUPPLIERS = {
    "client_": "clients",
    "user_": "users",
    **dict.fromkeys(("matter_", "practice_area_", "responsible_", "originator_", "ledes_"), "matters"),
}
FIGURES = frozenset({"amount", "balance", "fixed_fee_amount", "hours"})
"""Columns of loaders that some analysis has as a figure; as keys, they have another name in results."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The frames from which keys can be derived."""

    # The columns of the rows to group.
    rows: frozenset[str]
    # The columns of each frame of `JOINED`, by "matter", "user" and "client"; empty for those that were not passed.
    columns: Mapping[str, frozenset[str]]
    settings: FirmSettings
    # The columns of the time entries, expenses, fixed fees and invoices that were passed, by frame. It is empty if the
    # rows are not items.
    kinds: Mapping[str, frozenset[str]]

    def kinds_without(self, column: str) -> list[str]:
        """Return the frames of items without a column; also the invoices, if it is a column of clients."""
        needed = {name for name in self.kinds if name != "invoices" or column.startswith("client_")}
        return [name for name, columns in self.kinds.items() if name in needed and column not in columns]

    def prefer(self, column: str, name: str) -> bool:
        """
        Tell whether a column of the rows is taken from a frame of `JOINED` instead.

        This is so if some frames lack the column, and all items have the id of the matter, user or client.
        """
        items = [columns for name, columns in self.kinds.items() if name != "invoices"]
        return bool(self.kinds_without(column)) and all(f"{name}_id" in columns for columns in items)


@dataclass(frozen=True, slots=True)
class Key:
    """One key to group by."""

    # The columns of the result: an id and its label, or a single value.
    columns: tuple[str, ...]
    # The columns of the rows from which the key is derived.
    base: tuple[str, ...]
    # For each of `columns`, the columns that it is made from: the first value that is not missing.
    parts: tuple[tuple[str, ...], ...]
    # By "matter", "user" or "client", the columns of that frame to join, by their temporary names.
    joined: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # The label of rows without the key.
    missing: str = UNASSIGNED

    @property
    def time(self) -> str | None:
        """The key's name if it is one of `TIMES`, else None."""
        return self.columns[0] if self.base == (f"_{self.columns[0]}",) else None

    @property
    def capacity_known(self) -> bool:
        """Whether the available hours of a group are known: the key depends only on the person and the date."""
        return self.time is not None or set(self.base) <= {"user_id", "user_name"}

    @property
    def details(self) -> dict[str, str]:
        """The key's columns that the rows have themselves, though a list has them, too: each with this list."""
        if not {*self.parts[0]}.isdisjoint(chain.from_iterable(self.joined.values())):
            return {}
        own = [column for column in self.base if column not in (*ITEM_IDS, *self.columns[1:])]
        named = {column: [name for start, name in _SUPPLIERS.items() if column.startswith(start)] for column in own}
        return {column: names[0] for column, names in named.items() if names}

    @property
    def only_from(self) -> str | None:
        """The frame that alone has the key's values: "matter", "user" or "client"."""
        if not set(self.parts[0]).isdisjoint(self.base):
            return None
        return next(
            (name for name, columns in self.joined.items() if not columns.keys().isdisjoint(self.parts[0])), None
        )

    @property
    def by_originator(self) -> bool:
        """Whether rows are split among the matter's originators."""
        return self.columns[0] == "originator_id"


def find_keys(by: By, sources: Sources) -> tuple[Key, ...]:
    """Find the keys that `by` names; refuse other names, and keys whose columns were not passed."""
    keys = [_find(KEY_OF_COLUMN.get(name, name), sources) for name in names_in(by)]
    # Two words of the trade can name the same key.
    return tuple({key.columns: key for key in keys}.values())


def _or_own(key: Key, sources: Sources) -> Key:
    """Let a joined key also use the rows' own columns, for matters, users and clients that the joined frame lacks."""
    own = [[column] if column in sources.rows else [] for column in key.columns]
    parts = tuple((*joined, *column) for joined, column in zip(key.parts, own, strict=True))
    return replace(key, base=(*key.base, *chain.from_iterable(own)), parts=parts)


def _find(name: str, sources: Sources) -> Key:
    if name == "originator":
        return _originator_key(sources)
    if name in PEOPLE_AND_MATTERS:
        return _id_and_label_key(name, sources)
    if name in TIMES:
        if name.startswith("fiscal_") and sources.settings.fiscal_year is None:
            raise ParameterError(
                f"by={name!r} needs the first day of the fiscal year: pass settings=FirmSettings(fiscal_year_start=…), "
                "such as '07' for July."
            )
        return Key((name,), (f"_{name}",), ((f"_{name}",),))
    if name == "matter_type":
        if name not in sources.rows | sources.columns["matter"]:
            _raise_missing(name, "matters", name)
        # Facts have the type of each row's matter.
        return Key((name,), (name,), ((name,),), missing=UNKNOWN)
    if name == "role":
        return _role_key(sources)
    return _column_key(name, sources)


def _id_and_label_key(name: str, sources: Sources) -> Key:
    id_, label = columns = PEOPLE_AND_MATTERS[name]
    of_matters = sources.columns["matter"]
    joinable = id_ not in ITEM_IDS and id_ in of_matters and sources.prefer(id_, "matter")
    if id_ in sources.rows and not joinable:
        base = tuple(column for column in columns if column in sources.rows)
        own_label = {f"_{name}_label": "name"} if "name" in sources.columns.get(name, ()) else {}
        return Key(columns, base, ((id_,), (*own_label, *base[1:])), {name: own_label})
    if id_ in of_matters:
        joined = {f"_joined_{column}": column for column in columns if column in of_matters}
        key = Key(columns, ("matter_id",), ((f"_joined_{id_}",), tuple(joined)[1:]), {"matter": joined})
        return _or_own(key, sources) if joinable else key
    return _raise_missing(name, "matters", id_, label)


def _originator_key(sources: Sources) -> Key:
    columns = PEOPLE_AND_MATTERS["originator"]
    if "originator_ids" not in sources.columns["matter"]:
        _raise_missing("originator", "matters", "originator_ids", "originator_names")
    return Key(columns, ("matter_id",), (("_originator_id",), ("_originator_name",)))


def _role_key(sources: Sources) -> Key:
    joined = {"_user_role": "role"} if "role" in sources.columns["user"] else {}
    own = ("user_role",) if "user_role" in sources.rows and not joined else ()
    if not (joined or own or sources.settings.roles):
        _raise_missing("role", "users", "role")
    return Key(("role",), ("user_id", *own), (("_set_role", *joined, *own),), {"user": joined}, missing=UNKNOWN)


def _column_key(name: str, sources: Sources) -> Key:
    """
    Return the key of a column of the rows, or of matters, users or clients.

    Columns of these frames are also found by the names that `enrich` gives them, such as `matter_reference`.
    """
    prefixed = {each: name.removeprefix(f"{each}_") for each in JOINED if name.startswith(f"{each}_")}
    for plain in (name, *prefixed.values()):
        if plain in LISTS:
            raise ParameterError(f"by={name!r} is a column of lists. Group by single values{_splitting_key(plain)}.")
    found = {each: short for each, short in prefixed.items() if short in sources.columns[each]}
    found = found or {each: name for each, there in sources.columns.items() if name in there}
    result = f"{KEY_PREFIX}{name}" if name in FIGURES else name
    if name in sources.rows and not (len(found) == 1 and sources.prefer(name, *found)):
        own = name if name in KEY_OF_COLUMN or name.startswith(OWN_PREFIXES) else f"{KEY_PREFIX}{name}"
        return Key((result,), (own,), ((own,),))
    if len(found) > 1:
        raise ParameterError(
            f"by={name!r} is a column of {' and of '.join(f'{each}s' for each in found)}; "
            f"use {' or '.join(f'{each}_{name}' for each in found)}."
        )
    for each, column in found.items():
        joined = {each: {f"_joined_{name}": column}}
        return _or_own(Key((result,), (f"{each}_id",), ((f"_joined_{name}",),), joined), sources)
    meant = OTHER_WORDS.get(name.lower())
    return _find(meant, sources) if meant else _raise_unknown(name, sources)


def _splitting_key(name: str) -> str:
    return ": by='originator' divides the figures among the originators" if name.startswith("originator_") else ""


def _raise_unknown(name: str, sources: Sources) -> NoReturn:
    columns = (each for each in sources.rows.union(*sources.columns.values()) if isinstance(each, str))
    known = [*SHORT_NAMES, *sorted(columns)]
    raise ParameterError(
        f"by={name!r} is neither a short name nor a column of the rows that are grouped.{closest(name, known)} "
        f"It takes {', '.join(SHORT_NAMES)}, or a column of these rows, or of matters=, users=, clients=."
    )


def _raise_missing(name: str, frame: str, *columns: str) -> NoReturn:
    selects = selects_for(columns)
    extra = f" with select={selects}" if selects else ""
    raise MissingColumnError(
        f"by={name!r} needs {columns[0]!r}, which none of the frames has; pass {frame}= (the loader {frame}(){extra})."
    )
