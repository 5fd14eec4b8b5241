"""How rows are added up over keys.

Rows are first added up over what the keys derive from (a matter's id, a user's id, a month), and only these few
sums are joined with matters and users: joining every time entry would cost ten times as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.column_types import ENUMS, Frame
from billframes.analysis.engine import collect_row, join_by_id, sum_by
from billframes.analysis.expressions import as_float, map_values, null_column
from billframes.analysis.frames import select_columns
from billframes.analysis.keys import UNKNOWN, Key, Sources

__all__ = [
    "add_up",
    "attach",
    "base_of",
    "combine_results",
    "concat_as_first",
    "finish",
    "finish_named",
    "known_type",
    "result_columns",
    "select_items",
    "sums",
    "sums_by_type",
    "with_matter_type",
    "with_times",
]

C = nw.col


def base_of(keys: Iterable[Key]) -> list[str]:
    """Columns of the rows that the keys derive from."""
    return list(dict.fromkeys(column for key in keys for column in key.base))


def result_columns(keys: Iterable[Key]) -> list[str]:
    """Columns of the keys in the result."""
    return [column for key in keys for column in key.columns]


def with_times(frame: Frame, keys: Iterable[Key], date: str) -> Frame:
    """Add the whole numbers that stand for the months, quarters or years of a date column."""
    numbers = {f"_{key.time}": _number(key.time, C(date)) for key in keys if key.time}
    return frame.with_columns(**numbers) if numbers else frame


def sums(frame: Frame, by: Sequence[str], measures: Iterable[str]) -> Frame:
    """Add up measures over columns; over everything, to one row, where there are none."""
    measures = list(measures)
    return sum_by(frame, by, measures) if by else frame.select(C(*measures).sum())


def attach(
    frame: Frame, keys: Sequence[Key], sources: Sources, measures: Sequence[str], kept: Sequence[str] = ()
) -> Frame:
    """
    Join what the keys need and put their columns together.

    Parameters
    ----------
    frame : Frame
        Sums over at least `base_of(keys)`.
    keys : sequence of Key
    sources : Sources
    measures : sequence of str
        Columns kept; where rows are split over originators, these are what is split.
    kept : sequence of str
        Columns kept as they are, such as dates.

    Returns
    -------
    Frame
        The keys' columns, the measures and what is kept.
    """
    frame = _join(frame, sources.matters, "matters", "matter_id", _wanted(keys, "matter"))
    frame = _join(frame, sources.users, "users", "user_id", _wanted(keys, "user"))
    frame = _join(frame, sources.clients, "clients", "client_id", _wanted(keys, "client"))
    if "user_id" in base_of(keys):
        frame = frame.with_columns(_set_role=map_values("user_id", sources.settings.roles, None, nw.String))
    if any(key.by_originator for key in keys):
        frame = _over_originators(frame, sources, measures)
    made = frame.select(*[expr.alias(name) for key in keys for name, expr in _made(key)], *measures, *kept)
    schema = made.collect_schema()
    values = [key.columns[0] for key in keys if len(key.columns) == 1]
    texts = [name for name in values if schema[name] == nw.String]
    missing = {key.columns[0]: key.missing for key in keys}
    return made.with_columns(*[C(name).fill_null(missing[name]) for name in texts]) if texts else made


def with_matter_type(frame: Frame, key: Key | None, sources: Sources) -> Frame:
    """Add `_type`: the matter's type, which `sums_by_type` names."""
    if key is None:
        return frame.with_columns(_type=nw.lit(UNKNOWN))
    joined = _join(frame, sources.matters, "matters", "matter_id", _wanted([key], "matter"), coded=True)
    return joined.with_columns(_type=C(key.parts[0][0])).drop(*key.matter)


def sums_by_type(frame: Frame, by: Sequence[str], measures: Iterable[str]) -> Frame:
    """Add up over columns, `_type` among them, `Unknown` where nothing tells it: named when few rows are left."""
    return sums(frame, by, measures).with_columns(_type=known_type())


def known_type() -> nw.Expr:
    """Return the matter type `_type`, `Unknown` if it is missing or none that analyses know."""
    return nw.when(C("_type").is_in(ENUMS["matter_type"])).then(C("_type")).otherwise(nw.lit(UNKNOWN))


def add_up(frame: Frame, keys: Sequence[Key], measures: Sequence[str], least: Sequence[str] = ()) -> Frame:
    """
    Add up over the keys: people and matters by id, labelled by the last of their names in the alphabet.

    Of the columns in `least`, such as dates, the least is taken.
    """
    totals = [C(*measures).sum(), *([C(*least).min()] if least else [])]
    if not keys:
        return frame.select(*totals)
    names = [column for key in keys for column in key.columns[1:]]
    labels = [C(*names).max()] if names else []
    return frame.group_by(*[key.columns[0] for key in keys]).agg(*labels, *totals)


def finish(frame: Frame, keys: Sequence[Key], columns: Sequence[str]) -> Frame:
    """Label what has no name, name months and quarters, sort by label then id, and put columns in order."""
    labels = [_label(key) for key in keys if len(key.columns) > 1]
    frame = frame.with_columns(*labels) if labels else frame
    order = [column for key in keys for column in reversed(key.columns)]
    frame = frame.sort(*order, nulls_last=True) if order else frame
    names = [_named(key.time).alias(key.time) for key in keys if key.time]
    frame = frame.with_columns(*names) if names else frame
    return frame.select(*result_columns(keys), *columns)


def _label(key: Key) -> nw.Expr:
    id_, label = key.columns
    return nw.coalesce(label, id_).fill_null(key.missing).alias(label)


def _number(time: str, date: nw.Expr) -> nw.Expr:
    year, month = date.dt.year().cast(nw.Int64), date.dt.month().cast(nw.Int64)
    return {"month": year * 100 + month, "quarter": year * 10 + (month + 2) // 3, "year": year}[time]


def _named(time: str) -> nw.Expr:
    if time == "year":
        return C("year")
    size, sep = (100, "-") if time == "month" else (10, "-Q")
    year = C(time) // size
    within = (C(time) - year * size).cast(nw.String)
    return nw.concat_str(year.cast(nw.String), nw.lit(sep), within.str.zfill(2) if time == "month" else within)


def _wanted(keys: Iterable[Key], frame: str) -> dict[str, str]:
    return {name: column for key in keys for name, column in getattr(key, frame).items()}


def _join(
    frame: Frame, other: Frame | None, name: str, id_: str, wanted: dict[str, str], *, coded: bool = False
) -> Frame:
    if not wanted or other is None:
        return frame
    columns = select_columns(other, name, (id_, *wanted.values()), coded=wanted.values() if coded else ())
    return join_by_id(frame, columns.select(id_, **{alias: C(column) for alias, column in wanted.items()}), id_)


def _made(key: Key) -> Iterable[tuple[str, nw.Expr]]:
    """Give each result column of a key; a label is only for what has an id."""
    for name, parts in zip(key.columns, key.parts, strict=True):
        value = nw.coalesce(*parts) if len(parts) > 1 else C(parts[0]) if parts else null_column(nw.String)
        if name == key.columns[0]:
            yield name, value
        else:
            yield name, nw.when(~C(key.parts[0][0]).is_null()).then(value)


def _over_originators(frame: Frame, sources: Sources, measures: Sequence[str]) -> Frame:
    weights = sources.settings.originator_weights
    frame = frame.with_columns(_weighted=as_float(C("matter_id").is_in(list(weights))) if weights else nw.lit(0.0))
    equal = frame.filter(C("_weighted") < 1).join(_originators(sources), on="matter_id", how="left")
    pieces = [equal]
    for nth in range(max(map(len, weights.values()), default=0)):
        pairs = {matter: list(split.items())[nth] for matter, split in weights.items() if len(split) > nth}
        users = {matter: user for matter, (user, _) in pairs.items()}
        shares = {matter: share for matter, (_, share) in pairs.items()}
        pieces.append(
            frame.filter(C("matter_id").is_in(list(pairs))).with_columns(
                _originator_id=map_values("matter_id", users, None, nw.String),
                _originator_name=null_column(nw.String),
                _share=map_values("matter_id", shares, None, nw.Float64),
            )
        )
    split = _with_names(nw.concat(pieces), sources)
    return split.with_columns(*[C(measure) * C("_share").fill_null(1.0) for measure in measures])


def _originators(sources: Sources) -> Frame:
    """List each matter's originators with an equal share: a row a matter and originator."""
    if sources.matters is None:
        raise TypeError("Keys by originator are only found where there are matters.")
    lists = select_columns(sources.matters, "matters", ("matter_id", "originator_ids"), ("originator_names",))
    lists = lists.with_columns(_count=C("originator_ids").list.len().cast(nw.Float64))
    named = "originator_names" in lists.collect_schema()
    most = int(collect_row(lists, most=C("_count").max())["most"])
    return nw.concat(
        [
            lists.filter(C("_count") > nth).select(
                "matter_id",
                _originator_id=C("originator_ids").list.get(nth).cast(nw.String),
                _originator_name=C("originator_names").list.get(nth).cast(nw.String)
                if named
                else null_column(nw.String),
                _share=1.0 / C("_count"),
            )
            for nth in range(most or 1)
        ]
    )


def _with_names(frame: Frame, sources: Sources) -> Frame:
    if "name" not in sources.of_users or sources.users is None:
        return frame
    names = select_columns(sources.users, "users", ("user_id", "name"))
    names = names.select(_originator_id=C("user_id"), _name=C("name"))
    joined = frame.join(names, on="_originator_id", how="left")
    return joined.with_columns(_originator_name=nw.coalesce("_name", "_originator_name"))


_IDS = ("client_id", "matter_id", "user_id")


def combine_results(parts: Sequence[Frame], keys: Sequence[Key], measures: Sequence[str]) -> Frame:
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
    return add_up(concat_as_first(rows, names), keys, measures)


def _own_labels(key: Key) -> Iterable[nw.Expr]:
    """Give a key's columns without labels that only stand in: an id must not win over another part's name."""
    id_ = C(key.columns[0])
    return [id_, *[nw.when(C(label) != id_).then(C(label)).alias(label) for label in key.columns[1:]]]


def concat_as_first(parts: Sequence[Frame], names: Sequence[str]) -> Frame:
    """Put frames one below the other, the named columns with the types of the first."""
    if len(parts) == 1:
        return parts[0]
    types = parts[0].collect_schema()
    return nw.concat([parts[0], *(_typed(part, names, types) for part in parts[1:])])


def _typed(part: Frame, names: Sequence[str], types: Mapping[str, Any]) -> Frame:
    there = part.collect_schema()
    casts = [C(name).cast(types[name]) for name in names if there[name] != types[name]]
    return part.with_columns(*casts) if casts else part


def finish_named(frame: Frame, keys: Sequence[Key], columns: Sequence[str]) -> Frame:
    """Finish rows whose months, quarters and years have their names already."""
    named = [Key(key.columns, key.columns, (key.columns,)) if key.time else key for key in keys]
    return finish(frame, named, columns)


def select_items(frame: Frame, name: str, columns: Iterable[str], by: Iterable[str]) -> Frame:
    """
    Take an item frame's columns and those that keys derive from.

    Client, matter and user must be there; what else keys of time entries derive from is missing where items don't
    have it.
    """
    own = [each for each in by if not each.startswith("_")]
    needed = (*columns, *(each for each in own if each in _IDS))
    items = select_columns(frame, name, needed, own)
    there = items.collect_schema()
    absent = {each: null_column(nw.String) for each in own if each not in there}
    return items.with_columns(**absent) if absent else items
