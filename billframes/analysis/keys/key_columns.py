"""Make the key columns of results: ids with their labels, originators, single values, and the names of periods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, eager_from_arrow, to_arrow
from billframes.analysis.data.expressions import C, null_column, period_numbers
from billframes.analysis.declare.columns import UNASSIGNED, UNKNOWN, Frame, is_categorical
from billframes.analysis.keys.by import Key
from billframes.periods import FiscalYear

_EPOCH, _DAY = dt.date(1970, 1, 1).toordinal(), 86_400_000_000  # in microseconds


def key_columns(key: Key, types: Mapping[str, Any]) -> Iterable[nw.Expr]:
    """Yield the result columns of a key; rows without an id have no label."""
    id_ = _first_known(key.parts[0], types)
    for name, parts in zip(key.columns, key.parts, strict=True):
        labelled = nw.when(~id_.is_null()).then(_first_known(parts, types))
        yield (id_ if name == key.columns[0] else labelled).alias(name)


def _first_known(columns: Sequence[str], types: Mapping[str, Any]) -> nw.Expr:
    """Return the first value that is neither missing nor an empty text, of the columns with the type of the first."""
    alike = [name for name in columns if types[name] == types[columns[0]]]
    # Readers of CSV files return empty texts for missing ones.
    known = [nw.when(C(name) != "").then(C(name)) if types[name] == nw.String else C(name) for name in alike]
    return nw.coalesce(*known) if len(known) > 1 else known[0] if known else null_column(nw.String)


def own_labels(key: Key, rows: pa.Table) -> Iterable[tuple[str, pa.ChunkedArray]]:
    """Yield a key's columns by name, without labels that are only the id: another part may have the name."""
    id_ = rows[key.columns[0]]
    yield key.columns[0], id_
    for label in key.columns[1:]:
        yield label, pc.if_else(pc.not_equal(rows[label], id_), rows[label], pa.scalar(None, rows[label].type))


def label_of_key(key: Key) -> nw.Expr:
    """Return the label of a key; rows without a label have their id, or the word for missing values."""
    id_, label = key.columns
    return nw.coalesce(label, id_).fill_null(key.missing).alias(label)


def period_number(time: str, date: nw.Expr, fiscal: FiscalYear) -> nw.Expr:
    """Return the number of a date's week, month, quarter or year."""
    year, month, day = (part.cast(nw.Int64) for part in (date.dt.year(), date.dt.month(), date.dt.day()))
    number: nw.Expr = period_numbers(year, month, day, fiscal)[time]
    return number


def period_name(time: str) -> nw.Expr:
    """Return the name of a period, such as "2026-W41", "2026-10", "2026-Q4" or "FY2026"; a year stays a number."""
    if time == "year":
        return C("year")
    if time == "week":
        # A week belongs to the year of its Thursday.
        thursday = ((C(time) * 7 + 4 - _EPOCH) * _DAY).cast(nw.Datetime("us")).dt
        number = ((thursday.ordinal_day().cast(nw.Int64) - 1) // 7 + 1).cast(nw.String).str.zfill(2)
        return nw.concat_str(thursday.year().cast(nw.String), nw.lit("-W"), number)
    if time == "fiscal_year":
        return nw.concat_str(nw.lit("FY"), C(time).cast(nw.String))
    size, separator = (100, "-") if time == "month" else (10, "-Q")
    year = C(time) // size
    number = (C(time) - year * size).cast(nw.String)
    number = number.str.zfill(2) if time == "month" else number
    start = [nw.lit("FY")] if time == "fiscal_quarter" else []
    return nw.concat_str(*start, year.cast(nw.String), nw.lit(separator), number)


def as_text(rows: Frame) -> Frame:
    """Return rows whose coded text is text."""
    coded = [name for name, dtype in rows.collect_schema().items() if is_categorical(dtype)]
    return rows.with_columns(C(*coded).cast(nw.String)) if coded else rows


def concat_keys(parts: Sequence[pa.Table], names: Sequence[str]) -> pa.Table:
    """Concatenate tables; columns of keys are cast to the types of the first table."""
    kinds = {name: parts[0].schema.field(name).type for name in names}
    return pa.concat_tables(
        [
            pa.table({name: _cast(part[name], kinds.get(name, part[name].type)) for name in part.column_names})
            for part in parts
        ]
    )


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Cast a key; a frame without a key that is a number or a date elsewhere has the label of missing keys as text."""
    if column.type == kind:
        return column
    if _is_text(column.type) and not _is_text(kind):
        is_label = pc.is_in(column, value_set=pa.array([UNASSIGNED, UNKNOWN], column.type))
        column = pc.if_else(is_label, pa.scalar(None, column.type), column)
    return column.cast(kind)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def shares_of_originators(like: Frame, call: Call) -> Frame:
    """Return one row per matter and originator, with `_originator_id`, `_originator_name` and `_share`."""
    weights = call.settings.originator_weights
    lists = to_arrow(call.select("matters", ("matter_id", "originator_ids"), ("originator_names",)))
    every = pc.list_flatten(lists["originator_ids"].combine_chunks()).cast(pa.string()).to_pylist()
    known = dict(zip(every, _originator_names(lists).to_pylist(), strict=True))
    lists = lists.filter(pc.invert(pc.is_in(lists["matter_id"], pa.array(list(weights), pa.string()))))
    ids, text = lists["originator_ids"].combine_chunks(), pa.string()
    at = pc.list_parent_indices(ids)
    split = [(matter, user, share) for matter, of in weights.items() for user, share in of.items()]
    matters, users, shares = ([each[nth] for each in split] for nth in range(3))
    equal = {
        "matter_id": lists["matter_id"].combine_chunks().take(at).cast(text),
        "_originator_id": pc.list_flatten(ids).cast(text),
        "_originator_name": _originator_names(lists),
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


def _originator_names(lists: pa.Table) -> pa.Array:
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
