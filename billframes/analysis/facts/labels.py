"""Labels: one row per client, matter or user, with the name by which results show it.

A name is that in the firm's list, or else in the records that name it; of several, the last in the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterable

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import from_arrow, join_by_id, stack, to_arrow
from billframes.analysis.data.expressions import C
from billframes.analysis.declare.columns import ITEMS, Frame

_KINDS = ("client", "matter", "user")
_NAMED_IN = (*ITEMS, "invoices", "matters")


def labels(of: Reader, *, own: Iterable[str] = (), kind: str) -> Frame:
    """Return the id and the label of each client, matter or user of `kind`, such as `client_id` and `client_name`."""
    id_, name = f"{kind}_id", f"{kind}_name"
    parts = [_named(of, each, id_, name) for each in _NAMED_IN if {id_, name} <= of.columns(each)]
    if not parts:
        empty = pa.table({id_: pa.array([], pa.string()), name: pa.array([], pa.string())})
        return from_arrow(next(iter(of.values())), empty)
    return stack(parts).group_by(id_).agg(C(name).max())


def with_names(call: Reader, rows: Frame) -> Frame:
    """Add the name of each client, matter and user after its id, unless the rows have it."""
    columns, there = [], rows.collect_schema().names()
    for column in there:
        columns.append(column)
        kind = column.removesuffix("_id")
        if kind in _KINDS and column != kind and f"{kind}_name" not in there:
            names = call.fact(labels, kind=kind)
            names = nw.from_native(to_arrow(names)) if rows.implementation.is_pyarrow() else names
            rows = join_by_id(rows, names, column)
            columns.append(f"{kind}_name")
    return rows.select(*columns)


def _named(of: Reader, frame: str, id_: str, name: str) -> Frame:
    rows = of.select(frame, (id_, name)).filter(~C(id_).is_null() & ~C(name).is_null())
    # Of the records, only a few remain.
    return rows.group_by(id_).agg(C(name).max())
