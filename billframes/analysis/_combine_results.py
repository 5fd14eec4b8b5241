"""Results put together: figures that other analyses found, added up over the same keys.

What a figure means is then said in one place: leverage takes its hours from utilization, profitability its fees
from realization.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis._frames import Frame, nothing, take
from billframes.analysis._group import add_up, finish, result_columns
from billframes.analysis._keys import Key

__all__ = ["items_by", "ordered", "stacked", "together"]

C = nw.col

_IDS = ("client_id", "matter_id", "user_id")


def together(parts: Sequence[Frame], keys: Sequence[Key], measures: Sequence[str]) -> Frame:
    """Add up finished results over the keys; a measure that a part has not counts as 0 there."""
    names = result_columns(keys)
    rows = [
        part.select(
            *[expr for key in keys for expr in _own_labels(key)],
            # A figure that is missing stays so in every sum it is part of.
            *[
                C(name).fill_null(float("nan")) if name in part.collect_schema() else nw.lit(0.0).alias(name)
                for name in measures
            ],
        )
        for part in parts
    ]
    return add_up(stacked(rows, names), keys, measures)


def _own_labels(key: Key) -> Iterable[nw.Expr]:
    """Give a key's columns without labels that only stand in: an id must not win over another part's name."""
    id_ = C(key.columns[0])
    return [id_, *[nw.when(C(label) != id_).then(C(label)).alias(label) for label in key.columns[1:]]]


def stacked(parts: Sequence[Frame], names: Sequence[str]) -> Frame:
    """Put frames one below the other, the named columns with the types of the first."""
    if len(parts) == 1:
        return parts[0]
    types = parts[0].collect_schema()
    return nw.concat([parts[0], *(_typed(part, names, types) for part in parts[1:])])


def _typed(part: Frame, names: Sequence[str], types: Mapping[str, Any]) -> Frame:
    there = part.collect_schema()
    casts = [C(name).cast(types[name]) for name in names if there[name] != types[name]]
    return part.with_columns(*casts) if casts else part


def ordered(frame: Frame, keys: Sequence[Key], columns: Sequence[str]) -> Frame:
    """Finish rows whose months, quarters and years have their names already."""
    named = [Key(key.columns, key.columns, (key.columns,)) if key.time else key for key in keys]
    return finish(frame, named, columns)


def items_by(frame: Frame, name: str, columns: Iterable[str], by: Iterable[str]) -> Frame:
    """
    Take an item frame's columns and those that keys derive from.

    Client, matter and user must be there; what else keys of time entries derive from is missing where items don't
    have it.
    """
    own = [each for each in by if not each.startswith("_")]
    needed = (*columns, *(each for each in own if each in _IDS))
    items = take(frame, name, needed, own)
    there = items.collect_schema()
    absent = {each: nothing(nw.String) for each in own if each not in there}
    return items.with_columns(**absent) if absent else items
