"""Group the rows of an analysis: by which keys, with which labels, and in which order.

A `Grouping` is made once, from `by=` and the frames that were passed. An analysis uses it in four steps:

1. It selects `row_columns` with its own columns. `with_periods` adds the numbers of months, quarters and years,
   `with_matter_type` the type of each row's matter.
2. It adds the rows up over `base` (`engine.sum_by`), which leaves few rows. Joining every time entry with its matter
   and its user would cost ten times as much.
3. `add_up` takes these few rows into memory, joins matters, users and clients to them, splits them among originators,
   and adds them up over the keys: people and matters by id, so that two clients with the same name stay two rows.
4. `finish` labels and sorts the rows and puts the columns in order.

`combine` adds up results of other analyses that were grouped in the same way, so that each figure is defined once:
leverage takes its hours from utilization, profitability its fees from realization.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.arguments import resolve_users
from billframes.analysis.column_types import ENUMS, Frame, column_names
from billframes.analysis.engine import collect, collect_counts, join_by_id, sum_by
from billframes.analysis.expressions import as_float, map_values, null_column
from billframes.analysis.frames import select_columns
from billframes.analysis.keys import UNKNOWN, By, Key, Sources, find_keys, matter_type_key
from billframes.config.firm import FirmSettings

__all__ = ["Grouping", "known_type", "sum_by_type"]

C = nw.col

_IDS = ("client_id", "matter_id", "user_id")


@dataclass(frozen=True, slots=True)
class Grouping:
    """
    How the rows of an analysis are grouped; see the module's text for how it is used.

    Parameters
    ----------
    keys : tuple of Key
        What `by=` names, in order.
    sources : Sources
        The frames that are joined for the keys, and the firm's settings.
    type_key : Key, optional
        How the matter type of a row is found; None if no frame has it.
    """

    keys: tuple[Key, ...]
    sources: Sources
    type_key: Key | None

    @classmethod
    def of(
        cls,
        by: By,
        frames: Mapping[str, Frame],
        settings: FirmSettings | None,
        rows: Iterable[str] | None = None,
        *,
        prefer_matters: bool = False,
    ) -> Grouping:
        """
        Find the keys that `by` names.

        Parameters
        ----------
        by : str or sequence of str, optional
        frames : mapping of str to Frame
            Those that were passed; `matters`, `users` and `clients` among them are joined.
        settings : FirmSettings, optional
            Users that they name by e-mail address are resolved.
        rows : iterable of str, optional
            Columns of the rows; those of the time entries by default.
        prefer_matters : bool
            Whether the matters frame tells matter types even if the rows do.
        """
        settings = resolve_users(settings, frames)
        rows = column_names(frames["time_entries"]) if rows is None else rows
        matters, users, clients = (frames.get(name) for name in ("matters", "users", "clients"))
        sources = Sources(frozenset(rows), matters, users, clients, settings)
        return cls(find_keys(by, sources), sources, matter_type_key(sources, prefer_matters=prefer_matters))

    @property
    def settings(self) -> FirmSettings:
        """The firm's settings, with all users named by id."""
        return self.sources.settings

    @property
    def base(self) -> list[str]:
        """Columns that the keys derive from, the numbers of months, quarters and years (`_month`, …) among them."""
        return list(dict.fromkeys(column for key in self.keys for column in key.base))

    @property
    def row_columns(self) -> list[str]:
        """Those columns of `base` that the rows themselves have."""
        return [name for name in self.base if not name.startswith("_")]

    @property
    def columns(self) -> list[str]:
        """Columns of the keys in the result: ids with their labels, and single values."""
        return [column for key in self.keys for column in key.columns]

    @property
    def order(self) -> list[str]:
        """Columns that rows of the result are sorted by: each label, then its id."""
        return [column for key in self.keys for column in reversed(key.columns)]

    @property
    def times(self) -> list[str]:
        """Month, quarter and year, if they are among the keys."""
        return [key.time for key in self.keys if key.time]

    @property
    def capacity_known(self) -> bool:
        """Whether all keys follow from who worked and when, so that available hours are known."""
        return all(key.capacity_known for key in self.keys)

    def with_key(self, key: Key) -> Grouping:
        """Return this grouping with one more key."""
        return replace(self, keys=(*self.keys, key))

    def with_periods(self, frame: Frame, date: str) -> Frame:
        """Add the numbers of the months, quarters or years of a date column."""
        numbers = {f"_{time}": _period_number(time, C(date)) for time in self.times}
        return frame.with_columns(**numbers) if numbers else frame

    def with_matter_type(self, frame: Frame) -> Frame:
        """Add `_type`, the type of each row's matter as its frame has it; `sum_by_type` makes it text."""
        key = self.type_key
        if key is None:
            return frame.with_columns(_type=nw.lit(UNKNOWN))
        joined = _join(frame, self.sources.matters, "matters", "matter_id", key.matter, coded=True)
        return joined.with_columns(_type=C(key.parts[0][0])).drop(*key.matter)

    def select_items(self, frame: Frame, name: str, columns: Iterable[str]) -> Frame:
        """
        Select columns of an item frame and those that the keys derive from.

        Client, matter and user must be there. What else keys of time entries derive from is missing if the items don't
        have it.
        """
        own = self.row_columns
        ids = [each for each in own if each in _IDS]
        items = select_columns(frame, name, (*columns, *ids), own)
        there = column_names(items)
        absent = {each: null_column(nw.String) for each in own if each not in there}
        return items.with_columns(**absent) if absent else items

    def concat(self, parts: Sequence[Frame], names: Sequence[str] | None = None) -> Frame:
        """Put frames one below the other; columns of `base` (or `names`) have the types of the first frame."""
        types = parts[0].collect_schema()
        keys = self.base if names is None else names
        return nw.concat([parts[0], *(_with_types(part, {name: types[name] for name in keys}) for part in parts[1:])])

    def add_up(
        self, frame: Frame, measures: Sequence[str], least: Sequence[str] = (), greatest: Sequence[str] = ()
    ) -> Frame:
        """
        Join what the keys need, and add up over the keys.

        Parameters
        ----------
        frame : Frame
            Sums over at least `base`. The rows of a lazy frame are added up over `base` first, and only sums collected.
        measures : sequence of str
            Columns that are added up; originators share them.
        least, greatest : sequence of str
            Columns of which the smallest or the largest value is taken, such as dates.

        Returns
        -------
        Frame
            The keys' columns and the others, in memory.
        """
        if isinstance(frame, nw.LazyFrame):
            frame = collect(_added_up(frame, self.base, measures, least, greatest))
        return self._totals(self._with_columns(frame, measures, (*least, *greatest)), measures, least, greatest)

    def combine(
        self,
        parts: Sequence[Frame],
        measures: Sequence[str],
        dates: Sequence[str] = (),
        *,
        least: Sequence[str] = (),
        greatest: Sequence[str] = (),
    ) -> Frame:
        """
        Add up finished results over the keys, in memory; a measure that a part does not have counts as 0.

        Of `dates`, the latest is taken; of `least` and `greatest`, which all parts have, the smallest and the largest.
        """
        rows = []
        for part in map(collect, parts):
            there = column_names(part)
            # A figure that is missing stays missing in every sum it is part of.
            known = [C(name).fill_null(float("nan")) for name in measures if name in there]
            zeros = [nw.lit(0.0).alias(name) for name in measures if name not in there]
            labels = [expr for key in self.keys for expr in _own_labels(key)]
            days = [C(name) if name in there else null_column(nw.Datetime("us")).alias(name) for name in dates]
            ends = [C(name) for name in (*least, *greatest)]
            columns = (*self.columns, *measures, *dates, *least, *greatest)
            rows.append(part.select(*labels, *known, *zeros, *days, *ends).select(*columns))
        return self._totals(self.concat(rows, self.columns), measures, least, (*dates, *greatest))

    def finish(self, frame: Frame, columns: Sequence[str], *, named: bool = False) -> Frame:
        """
        Label what has no name, name months and quarters, sort, and put the columns in order.

        `named` says that months and quarters have their names already, as in the results that `combine` adds up.
        """
        labels = [_label(key) for key in self.keys if len(key.columns) > 1]
        frame = frame.with_columns(*labels) if labels else frame
        frame = frame.sort(*self.order, nulls_last=True) if self.keys else frame
        names = [] if named else [_period_name(time).alias(time) for time in self.times]
        frame = frame.with_columns(*names) if names else frame
        return frame.select(*self.columns, *columns)

    def _with_columns(self, frame: Frame, measures: Sequence[str], kept: Sequence[str]) -> Frame:
        """Join what the keys need, and make the keys' columns."""
        for name, other in (("matter", self.sources.matters), ("user", self.sources.users),
                            ("client", self.sources.clients)):  # fmt: skip
            wanted = {alias: column for key in self.keys for alias, column in getattr(key, name).items()}
            frame = _join(frame, other, f"{name}s", f"{name}_id", wanted)
        if "user_id" in self.base:
            frame = frame.with_columns(_set_role=map_values("user_id", self.settings.roles, None, nw.String))
        if any(key.by_originator for key in self.keys):
            frame = _over_originators(frame, self.sources, measures)
        made = frame.select(*[expr for key in self.keys for expr in _key_columns(key)], *measures, *kept)
        schema = made.collect_schema()
        texts = [key for key in self.keys if len(key.columns) == 1 and schema[key.columns[0]] == nw.String]
        return made.with_columns(*[C(*key.columns).fill_null(key.missing) for key in texts]) if texts else made

    def _totals(
        self, frame: Frame, measures: Sequence[str], least: Sequence[str] = (), greatest: Sequence[str] = ()
    ) -> Frame:
        """Add up over ids and values; of an id's names, the last in the alphabet is its label."""
        names = [column for key in self.keys for column in key.columns[1:]]
        return _added_up(frame, [key.columns[0] for key in self.keys], measures, least, (*names, *greatest))


def _added_up(
    frame: Frame, by: Sequence[str], measures: Sequence[str], least: Sequence[str], greatest: Sequence[str]
) -> Frame:
    totals = [C(name).sum() for name in measures]
    totals += [C(name).min() for name in least] + [C(name).max() for name in greatest]
    return frame.group_by(*by).agg(*totals) if by else frame.select(*totals)


def sum_by_type(frame: Frame, by: Sequence[str], measures: Iterable[str]) -> Frame:
    """Add up over columns that include `_type`, and replace types that are missing or unknown by `Unknown`."""
    return sum_by(frame, by, list(measures)).with_columns(_type=known_type())


def known_type() -> nw.Expr:
    """Return the matter type `_type`, or `Unknown` if it is missing or the analyses don't know it."""
    return nw.when(C("_type").is_in(ENUMS["matter_type"])).then(C("_type")).otherwise(nw.lit(UNKNOWN))


def _join(
    frame: Frame, other: Frame | None, name: str, id_: str, wanted: Mapping[str, str], *, coded: bool = False
) -> Frame:
    if not wanted or other is None:
        return frame
    columns = select_columns(other, name, (id_, *wanted.values()), coded=wanted.values() if coded else ())
    return join_by_id(frame, columns.select(id_, **{alias: C(column) for alias, column in wanted.items()}), id_)


def _key_columns(key: Key) -> Iterable[nw.Expr]:
    """Return each result column of a key; only what has an id has a label."""
    for name, parts in zip(key.columns, key.parts, strict=True):
        value = nw.coalesce(*parts) if len(parts) > 1 else C(parts[0]) if parts else null_column(nw.String)
        labelled = nw.when(~C(key.parts[0][0]).is_null()).then(value)
        yield (value if name == key.columns[0] else labelled).alias(name)


def _own_labels(key: Key) -> Iterable[nw.Expr]:
    """Return a key's columns without labels that only repeat the id: another part may know the name."""
    id_ = C(key.columns[0])
    return [id_, *[nw.when(C(label) != id_).then(C(label)).alias(label) for label in key.columns[1:]]]


def _label(key: Key) -> nw.Expr:
    id_, label = key.columns
    return nw.coalesce(label, id_).fill_null(key.missing).alias(label)


def _period_number(time: str, date: nw.Expr) -> nw.Expr:
    """Return the month (202610), quarter (20264) or year (2026) of a date."""
    year, month = date.dt.year().cast(nw.Int64), date.dt.month().cast(nw.Int64)
    return {"month": year * 100 + month, "quarter": year * 10 + (month + 2) // 3, "year": year}[time]


def _period_name(time: str) -> nw.Expr:
    """Return the name of a month ("2026-10") or quarter ("2026-Q4"); a year stays a number."""
    if time == "year":
        return C("year")
    size, separator = (100, "-") if time == "month" else (10, "-Q")
    year = C(time) // size
    number = (C(time) - year * size).cast(nw.String)
    number = number.str.zfill(2) if time == "month" else number
    return nw.concat_str(year.cast(nw.String), nw.lit(separator), number)


def _with_types(part: Frame, types: Mapping[str, Any]) -> Frame:
    there = part.collect_schema()
    casts = [C(name).cast(dtype) for name, dtype in types.items() if there[name] != dtype]
    return part.with_columns(*casts) if casts else part


def _over_originators(frame: Frame, sources: Sources, measures: Sequence[str]) -> Frame:
    """Split each row among its matter's originators: by the weights in the settings, or equally."""
    weights = sources.settings.originator_weights
    frame = frame.with_columns(_weighted=as_float(C("matter_id").is_in(list(weights))) if weights else nw.lit(0.0))
    pieces = [frame.filter(C("_weighted") < 1).join(_originators(sources), on="matter_id", how="left")]
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
        raise TypeError("Keys by originator need a matters frame.")
    lists = select_columns(sources.matters, "matters", ("matter_id", "originator_ids"), ("originator_names",))
    lists = collect(lists).with_columns(_count=C("originator_ids").list.len().cast(nw.Float64))
    named = "originator_names" in column_names(lists)
    name = C("originator_names").list.get
    most = int(collect_counts((lists, {"most": C("_count").max()}))["most"])
    return nw.concat(
        [
            lists.filter(C("_count") > nth).select(
                "matter_id",
                _originator_id=C("originator_ids").list.get(nth).cast(nw.String),
                _originator_name=name(nth).cast(nw.String) if named else null_column(nw.String),
                _share=1.0 / C("_count"),
            )
            for nth in range(most or 1)
        ]
    )


def _with_names(frame: Frame, sources: Sources) -> Frame:
    """Take the originators' names from the users frame, if it has them."""
    if "name" not in sources.of_users or sources.users is None:
        return frame
    names = select_columns(sources.users, "users", ("user_id", "name"))
    names = names.select(_originator_id=C("user_id"), _name=C("name"))
    joined = frame.join(collect(names), on="_originator_id", how="left")
    return joined.with_columns(_originator_name=nw.coalesce("_name", "_originator_name"))
