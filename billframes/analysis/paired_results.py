"""Two results of the same analysis, side by side: the figures of each group before and after."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from billframes._names import closest
from billframes.analysis.column_types import Frame, as_arrow
from billframes.analysis.engine import from_arrow
from billframes.analysis.keys import PEOPLE_AND_MATTERS, TIMES, By, names_in
from billframes.analysis.spec import measure
from billframes.errors import ParameterError

__all__ = [
    "ENDS",
    "Group",
    "Pair",
    "common_keys",
    "identity",
    "key_types",
    "own_keys",
    "paired",
    "refuse_repeated",
    "result_frame",
]

ENDS = ("before", "after")

Pair = tuple[float, float]
"""A figure before and after."""


@dataclass(frozen=True, slots=True)
class Group:
    """One row of both results: its keys, and its figures before and after."""

    keys: dict[str, Any]
    figures: dict[str, Pair]


def common_keys(frames: Mapping[str, Frame], by: By) -> list[str]:
    """Return the columns to split by, and check that both results have the same."""
    keys = {name: own_keys(frame.collect_schema().names()) for name, frame in frames.items()}
    if keys["before"] != keys["after"]:
        had = {name: ", ".join(each) or "no keys" for name, each in keys.items()}
        raise ParameterError(
            f"before has rows by {had['before']} and after by {had['after']}: pass two results of the same analysis "
            "with the same by=."
        )
    if by is None:
        chosen = keys["after"]
    else:
        names = names_in(by)
        wanted = [column for name in names for column in PEOPLE_AND_MATTERS.get(name, (name,))]
        for column in wanted:
            if column not in keys["after"]:
                raise ParameterError(
                    f"by={by!r}: the results have no rows by {column}{closest(column, keys['after'])}; they have "
                    f"{', '.join(keys['after']) or 'no keys'}. Run the analysis with that by= for both periods."
                )
        chosen = list(dict.fromkeys(wanted))
    for time in TIMES:
        if time in chosen:
            raise ParameterError(
                f"The results have rows by {time}, and no {time} is in both. Run the analysis without {time!r}, once "
                "for each period."
            )
    return chosen


def own_keys(columns: Iterable[str]) -> list[str]:
    """Return the key columns of a result: those before its first measure."""
    return list(itertools.takewhile(lambda name: measure(name) is None, columns))


def paired(tables: Mapping[str, pa.Table], keys: Sequence[str], columns: Sequence[str]) -> list[Group]:
    """Add both results up over the keys, and put them side by side; people and matters are the same by id."""
    ids = identity(keys)
    found: dict[tuple[Any, ...], Group] = {}
    for end, name in enumerate(ENDS):
        rows = tables[name].to_pylist()
        refuse_repeated(rows, name, identity(own_keys(tables[name].column_names)))
        for row in rows:
            group = found.setdefault(tuple(row[key] for key in ids), Group({}, dict.fromkeys(columns, (0.0, 0.0))))
            # The later name, if one has changed.
            group.keys.update({key: row[key] for key in keys})
            for column in columns:
                value = math.nan if row[column] is None else float(row[column])
                pair = list(group.figures[column])
                pair[end] += value
                group.figures[column] = (pair[0], pair[1])
    return list(found.values())


def identity(keys: Sequence[str]) -> list[str]:
    """Leave out the names and labels of ids."""
    return [name for name in keys if not (name.endswith(("_name", "_label")) and _id_of(name) in keys)]


def _id_of(label: str) -> str:
    return f"{label.rpartition('_')[0]}_id"


def refuse_repeated(rows: Sequence[Mapping[str, Any]], name: str, ids: Sequence[str]) -> None:
    """Refuse a result that has the same keys twice."""
    seen = set()
    for row in rows:
        key = tuple(row[each] for each in ids)
        if key in seen:
            what = ", ".join(f"{each}={value!r}" for each, value in zip(ids, key, strict=True)) or "one row of all"
            raise ParameterError(f"{name} has {what} twice; pass the result of one analysis, not several together.")
        seen.add(key)


def result_frame(like: Frame, rows: Sequence[Mapping[str, Any]], types: Mapping[str, pa.DataType]) -> Frame:
    """Make a frame of rows, of the engine of `like`, with these columns in this order."""
    table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})
    return from_arrow(as_arrow(like), table)


def key_types(tables: Mapping[str, pa.Table], keys: Sequence[str]) -> dict[str, pa.DataType]:
    """Return the Arrow types of the keys' columns: those of the last result that has a value."""
    types = {}
    for key in keys:
        kinds = [table.schema.field(key).type for table in reversed(list(tables.values()))]
        known = [kind for kind in kinds if not pa.types.is_null(kind)]
        kind = known[0] if known else pa.string()
        types[key] = kind.value_type if pa.types.is_dictionary(kind) else kind
    return types
