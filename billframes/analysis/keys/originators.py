"""Divide the rows of matters among their originators: by the weights in the settings, or equally."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, eager_from_arrow, to_arrow
from billframes.analysis.declare.columns import Frame

C = nw.col


def shares_of_originators(like: Frame, call: Call) -> Frame:
    """Return one row per matter and originator, with `_originator_id`, `_originator_name` and `_share`."""
    weights = call.settings.originator_weights
    lists = to_arrow(call.select("matters", ("matter_id", "originator_ids"), ("originator_names",)))
    every = pc.list_flatten(lists["originator_ids"].combine_chunks()).cast(pa.string()).to_pylist()
    known = dict(zip(every, _names_of(lists).to_pylist(), strict=True))
    lists = lists.filter(pc.invert(pc.is_in(lists["matter_id"], pa.array(list(weights), pa.string()))))
    ids, text = lists["originator_ids"].combine_chunks(), pa.string()
    at = pc.list_parent_indices(ids)
    split = [(matter, user, share) for matter, of in weights.items() for user, share in of.items()]
    matters, users, shares = ([each[nth] for each in split] for nth in range(3))
    equal = {
        "matter_id": lists["matter_id"].combine_chunks().take(at).cast(text),
        "_originator_id": pc.list_flatten(ids).cast(text),
        "_originator_name": _names_of(lists),
        "_share": pc.divide(1.0, pc.list_value_length(ids).take(at).cast(pa.float64())),
    }
    given = (
        pa.array(matters, text),
        pa.array(users, text),
        pa.array(list(map(known.get, users)), text),
        pa.array(shares, pa.float64()),
    )
    table = pa.concat_tables([pa.table(equal), pa.table(dict(zip(equal, given, strict=True)))])
    return _with_names(eager_from_arrow(like, table), call)


def _names_of(lists: pa.Table) -> pa.Array:
    """Return the originators' names in the order of their ids; missing names are null."""
    ids = lists["originator_ids"].to_pylist()
    names = lists["originator_names"].to_pylist() if "originator_names" in lists.column_names else [None] * len(ids)
    known = ([*(own or ()), *[None] * len(of)][: len(of)] for of, own in zip(ids, names, strict=True) if of is not None)
    return pa.array([name for own in known for name in own], pa.string())


def _with_names(shares: Frame, call: Call) -> Frame:
    if "name" not in call.columns("users"):
        return shares
    names = call.select("users", ("user_id", "name")).select(_originator_id=C("user_id"), _name=C("name"))
    joined = shares.join(collect(names), on="_originator_id", how="left")
    return joined.with_columns(_originator_name=nw.coalesce("_name", "_originator_name")).drop("_name")
