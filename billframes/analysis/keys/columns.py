"""Make the key columns of results: ids with their labels, single values, and the names of periods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.data.expressions import null_column, period_numbers
from billframes.analysis.keys.by import Key
from billframes.periods import FiscalYear

C = nw.col


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


def own_labels(key: Key) -> Iterable[nw.Expr]:
    """Return a key's columns, without labels that are only the id: another part may have the name."""
    id_ = C(key.columns[0])
    return [id_, *[nw.when(C(label) != id_).then(C(label)).alias(label) for label in key.columns[1:]]]


def label_of_key(key: Key) -> nw.Expr:
    """Return the label of a key; rows without a label have their id, or the word for missing values."""
    id_, label = key.columns
    return nw.coalesce(label, id_).fill_null(key.missing).alias(label)


def period_number(time: str, date: nw.Expr, fiscal: FiscalYear) -> nw.Expr:
    """Return the number of a date's month, quarter or year."""
    year, month, day = (part.cast(nw.Int64) for part in (date.dt.year(), date.dt.month(), date.dt.day()))
    number: nw.Expr = period_numbers(year, month, day, fiscal)[time]
    return number


def period_name(time: str) -> nw.Expr:
    """Return the name of a month ("2026-10"), quarter ("2026-Q4") or fiscal year ("FY2026"); a year stays a number."""
    if time == "year":
        return C("year")
    if time == "fiscal_year":
        return nw.concat_str(nw.lit("FY"), C(time).cast(nw.String))
    size, separator = (100, "-") if time == "month" else (10, "-Q")
    year = C(time) // size
    number = (C(time) - year * size).cast(nw.String)
    number = number.str.zfill(2) if time == "month" else number
    start = [nw.lit("FY")] if time == "fiscal_quarter" else []
    return nw.concat_str(*start, year.cast(nw.String), nw.lit(separator), number)
