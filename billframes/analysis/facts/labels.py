"""Labels: one row per client, matter or user, with the name by which results show it.

A name is that in the firm's list, or else in the records that name it; of several, the last in the alphabet.
"""

from __future__ import annotations

from collections.abc import Iterable

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import from_arrow, stack
from billframes.analysis.declare.columns import ITEMS, Frame

C = nw.col

_NAMED_IN = (*ITEMS, "invoices", "matters")


def labels(of: Reader, *, own: Iterable[str] = (), kind: str) -> Frame:
    """Return the id and the label of each client, matter or user of `kind`, such as `client_id` and `client_name`."""
    id_, name = f"{kind}_id", f"{kind}_name"
    parts = [_named(of, each, id_, name) for each in _NAMED_IN if {id_, name} <= of.columns(each)]
    if not parts:
        empty = pa.table({id_: pa.array([], pa.string()), name: pa.array([], pa.string())})
        return from_arrow(next(iter(of.values())), empty)
    # Of the records, only a few different names remain.
    return stack(parts).group_by(id_).agg(C(name).max())


def _named(of: Reader, frame: str, id_: str, name: str) -> Frame:
    rows = of.select(frame, (id_, name)).filter(~C(id_).is_null() & ~C(name).is_null())
    return rows.unique(subset=[id_, name])
