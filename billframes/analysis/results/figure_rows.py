"""The rows of figures side by side: joined by their keys, filtered, added up and ranked.

Each analysis has added up its own rows, and its groups are numbered as those of the others. If the records themselves
were joined, an invoice of two entries would count twice.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from billframes._shared.find_named import find_named
from billframes.analysis.declare.key_words import TIMES, columns_of
from billframes.analysis.declare.lookup import analyses, weight_of
from billframes.analysis.declare.metrics import title_of_key
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.figure_names import Figure
from billframes.analysis.results.figure_source import NOT_BY, Source
from billframes.analysis.results.result_rows import identifying_keys, key_columns, totals_of
from billframes.errors import MissingColumnError, ParameterError

_OTHERS = "Others ({})"
_NOT_ADDED = "That of several rows can't be calculated from theirs."
Values = NDArray[Any]
# Returns the id, the name and the reference of the records of a key, by its columns.
KeyRecords = Callable[[Sequence[str]], Iterable[tuple[str, str, str]]]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class FigureRows:
    """
    Figures by their keys.

    Parameters
    ----------
    figures : tuple of Figure
    ends : tuple of str
        The ends of the columns' names, by period: empty, and the one of the period to compare with; or those of spans.
    keys : DataFrame
        The keys of each group.
    parts : mapping of (str, str) to dict of str to array
        By end and analysis, the figures of each group, in the order of the keys: numbers, and days.
    missing : dict of str to str
        Why figures are missing, by column.
    """

    figures: tuple[Figure, ...]
    ends: tuple[str, ...]
    keys: pd.DataFrame
    parts: Mapping[tuple[str, str], dict[str, Values]]
    missing: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, figures: Sequence[Figure], sources: Mapping[str, Source], by: Sequence[str]) -> FigureRows:
        """Join the rows of the analyses by their ids; each has all its rows."""
        found: dict[tuple[str, str], tuple[pa.Table, dict[str, Any]]] = {}
        missing: dict[str, str] = {}
        sums: dict[tuple[str, str], list[str]] = {}
        errors: list[Exception] = []
        of_analyses = {each.analysis.name: each.analysis for each in figures}
        for (end, source), (name, analysis) in itertools.product(sources.items(), of_analyses.items()):
            own = {f"{each.column}{end}": each for each in figures if each.analysis is analysis}
            if said := source.unknown(analysis):
                missing |= dict.fromkeys(own, said)
                continue
            try:
                rows, reason = source.rows(analysis, by)
            except (ParameterError, MissingColumnError) as error:
                missing |= dict.fromkeys(own, _why_not(analysis, error, "" if source.is_earlier else end))
                errors.append(error)
                continue
            wanted = {name for each in own.values() for name in _parts(each)}
            used = [each for each in rows.column_names if each in wanted]
            unknown = [each for each in used if len(rows) and not _has_any(rows[each])]
            for column, each in own.items():
                if reason or each.measure.name in unknown or each.measure.name not in used:
                    missing[column] = reason or _why(each, rows, keyed=bool(by))
            # A figure of which some rows are unknown stays missing there.
            known = {*used} - {*unknown} if not reason else set()
            sums[end, name] = [each.name for each in analysis.columns if each.adds_up and each.name in known]
            keys = rows.select(key_columns(rows.column_names, analysis)).replace_schema_metadata()
            found[end, name] = keys, {each: rows[each] for each in used}
        if not any(end == next(iter(sources)) for end, _ in found):
            raise errors[0]
        return cls(tuple(figures), tuple(sources), *joined(found, sums), missing)

    @property
    def names(self) -> list[str]:
        """The names of the keys."""
        return [str(each) for each in self.keys]

    def column(self, figure: Figure, end: str | None = None) -> Values:
        """Return a figure of each group, by default that of the first period."""
        part = self.parts.get((self.ends[0] if end is None else end, figure.analysis.name), {})
        return part.get(figure.measure.name, np.full(len(self.keys), np.nan))

    def columns(self) -> dict[str, Values]:
        """Return the figures of each period, with the changes from the earlier period beside them."""
        columns: dict[str, Values] = {}
        for each, end in itertools.product(self.figures, self.ends):
            columns[f"{each.column}{end}"] = found = self.column(each, end)
            if end and not self.ends[0] and each.measure.unit != "date":
                columns[f"{each.column}_since{end}"] = self.column(each) - found
        return columns

    def where(self, key: str, wanted: Any, listed: KeyRecords) -> FigureRows:
        """
        Keep the rows with one of the values, which are ids, labels, or words of a label; None is a missing value.

        A value that no row has must fit one record that is `listed` for the key's columns, which may have no rows: its
        sums are then 0.
        """
        columns = columns_of(key, self.names)
        wanted = [*wanted] if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
        if not wanted:
            raise ParameterError(
                f"where={{{key!r}: []}} has no values, so every sum would be 0. Leave the key out for all."
            )
        if not columns:
            raise ParameterError(f"where={{{key!r}: …}}: none of the figures is known by {key!r}.")
        values = self.keys[columns]
        if pd.api.types.is_datetime64_any_dtype(values[columns[0]].dtype):
            values = values.map(text_of, na_action="ignore")
        found = np.zeros(len(values), dtype=bool)
        for value in wanted:
            if value is None:
                found |= values[columns[0]].isna().to_numpy()
                continue
            sought = text_of(value) if isinstance(value, dt.date) else value
            hits = (values.astype(object) == sought).any(axis="columns").to_numpy()
            if not hits.any():
                pairs = values.dropna()[[columns[0], columns[-1]]].astype(str).itertuples(index=False, name=None)
                known = {id_: (id_, name, "") for id_, name in pairs} | {each[0]: each for each in listed(columns)}
                id_, _ = find_named(str(text_of(value)), [*known.values()], title_of_key(key), where=key)
                hits = (values[columns[0]].astype(str) == id_).to_numpy()
            if len(ids := values.loc[hits, columns[0]].unique()) > 1:
                raise ParameterError(
                    f"where={{{key!r}: {value!r}}}: several have this name. Write an id: {', '.join(map(repr, ids))}."
                )
            found |= hits
        return self._rows(np.flatnonzero(found))

    def add_up(self, keys: Sequence[str]) -> FigureRows:
        """Add up by fewer keys. Ratios are those of the sums; a figure that can't be added up is missing."""
        groups, first = self._groups(keys)
        count = len(first) if keys else 1
        several = np.bincount(groups, minlength=count) != 1
        over_time = not {*TIMES}.isdisjoint({*self.names} - {*keys})
        parts, missing = {}, dict(self.missing)
        for (end, name), part in self.parts.items():
            is_known = not (over_time and "start" not in analyses()[name].takes)
            numbers = {each: values for each, values in part.items() if values.dtype.kind == "f"} if is_known else {}
            totals = totals_of(numbers, groups, count)
            unknown = {each: np.full(count, None, values.dtype) for each, values in part.items()}
            parts[end, name] = added = unknown | totals
            lost = {
                each
                for each, values in part.items()
                if pd.notna(values[several[groups]]).any() and pd.isna(added[each][several]).all()
            }
            for each, values in part.items() if len(first) else ():
                added[each] = np.where(several, added[each], values[first])
            for figure in self.figures:
                if figure.analysis.name == name and figure.measure.name in lost:
                    missing.setdefault(f"{figure.column}{end}", _NOT_ADDED)
        labels = self.keys[[*keys]].iloc[first] if keys else pd.DataFrame(index=[0])
        return replace(self, keys=labels.reset_index(drop=True), parts=parts, missing=missing)

    def sorted(self) -> FigureRows:
        """Sort by the labels, then by their ids, in the order of the keys."""
        labels = [each for each in self.names if not _label_of(each, self.names)]
        order = [name for each in labels for name in (each, f"{each.rpartition('_')[0]}_id") if name in self.names]
        if not order:
            return self
        return self._rows(self.keys.sort_values([*dict.fromkeys(order)], na_position="last").index.to_numpy())

    def top(self, most: int | Mapping[str, int], by: Sequence[str]) -> FigureRows:
        """
        Keep the groups with the largest first figure, and add up the others.

        A number is that of groups of the first key other than periods; a mapping has one for each key, whose groups are
        chosen within each group of the keys before it.
        """
        first = self.figures[0]
        if pd.isna(self.column(first)).all() and len(self.keys):
            reason = self.missing.get(f"{first.column}{self.ends[0]}", "Its denominators are 0.")
            raise ParameterError(f"top= chooses by the first figure, and {first.column!r} is missing: {reason}")
        if first.measure.unit == "date":
            raise ParameterError(
                f"top= chooses by the first figure, and {first.column!r} is a date. Name another first."
            )
        names = {key: columns for key in by if key not in TIMES and (columns := columns_of(key, self.names))}
        if not names:
            raise ParameterError("top= needs rows to choose from: pass by=, such as by='client'.")
        if not isinstance(most, Mapping):
            return self._top(most, [], next(iter(names.values())))
        rows = self
        for key in filter(most.__contains__, names):
            before = [name for each in by[: by.index(key)] for name in columns_of(each, self.names)]
            rows = rows._top(most[key], before, names[key])
        return rows

    def _top(self, most: int, before: list[str], columns: list[str]) -> FigureRows:
        """Keep the groups of a key's columns with the largest first figure, in each group of the columns before."""
        groups, first = self._groups([*before, *columns])
        sums = -self.add_up([*before, *columns]).column(self.figures[0])
        outer = self._groups(before)[0][first]
        # The place of each group in its group of the columns before, from the largest on.
        order = np.lexsort((sums, outer))
        places = np.empty(len(order), "int64")
        places[order] = np.arange(len(order)) - np.searchsorted(outer[order], outer[order])
        others = (np.bincount(outer) - most)[outer][groups]
        rest = (places[groups] >= most) & (others > 0)
        keys = self.keys.copy()
        if rest.any():
            labels = pd.Series([_OTHERS.format(each) for each in others], keys.index)
            keys[columns[-1]] = keys[columns[-1]].map(text_of, na_action="ignore")
            for name in columns:
                keys[name] = keys[name].astype(object).mask(rest, labels if name == columns[-1] else None)
        order = np.lexsort((np.minimum(places, most)[groups], outer[groups]))
        return replace(self, keys=keys)._rows(order).add_up(self.names)

    def _groups(self, keys: Sequence[str]) -> tuple[Values, Values]:
        """Return the number of each row's group, and the first row of each group."""
        if not keys:
            return np.zeros(len(self.keys), "int64"), np.arange(min(1, len(self.keys)))
        groups = self.keys.groupby([*keys], dropna=False, sort=False).ngroup().to_numpy("int64")
        return groups, np.unique(groups, return_index=True)[1]

    def _rows(self, places: Values) -> FigureRows:
        parts = {name: {each: of[places] for each, of in part.items()} for name, part in self.parts.items()}
        return replace(self, keys=self.keys.iloc[places].reset_index(drop=True), parts=parts)


def group_keys(keys: Sequence[pa.Table], sizes: Sequence[int]) -> tuple[pd.DataFrame, list[Values]]:
    """
    Return the keys of each group of several results, matched by ids, and the group of each row of each result.

    `sizes` are the numbers of rows, which tables without keys do not have.
    """
    ids = identifying_keys(keys[0].column_names)
    if not ids:
        return pd.DataFrame(index=[0]), [np.zeros(size, "int64") for size in sizes]
    filled = [each for each in keys if len(each)] or keys[:1]
    together = pa.concat_tables(filled, promote_options="permissive").to_pandas()
    numbers = together.groupby(ids, dropna=False, sort=False).ngroup()
    ends = np.cumsum(sizes)
    return together.groupby(numbers).first(), np.split(numbers.to_numpy("int64"), ends[:-1])


def joined(
    found: Mapping[Name, tuple[pa.Table, Mapping[str, Any]]], sums: Mapping[Name, Sequence[str]]
) -> tuple[pd.DataFrame, dict[Name, dict[str, Values]]]:
    """Return the keys of each group of all results, and its figures in each; without a row, `sums` are 0 there."""
    sizes = [max([len(keys), *map(len, rows.values())]) for keys, rows in found.values()]
    labels, groups = group_keys([each for each, _ in found.values()], sizes)
    parts: dict[Name, dict[str, Values]] = {}
    for (name, (_, rows)), own in zip(found.items(), groups, strict=True):
        parts[name] = {}
        for each, values in rows.items():
            numbers = np.asarray(values)
            dtype = "datetime64[us]" if numbers.dtype.kind == "M" else "float64"
            column: Values = np.full(len(labels), 0.0 if each in sums[name] else None, dtype)
            column[own] = numbers
            parts[name][each] = column
    return labels, parts


def _has_any(values: pa.ChunkedArray) -> bool:
    return bool(values.null_count < len(values))


def _label_of(name: str, keys: Collection[str]) -> str:
    """Return the column with the labels of an id; empty if there is none."""
    stem = name.removesuffix("_id")
    return next((each for each in (f"{stem}_name", f"{stem}_label") if stem != name and each in keys), "")


def text_of(value: Any) -> str:
    """Return a value of a key as text; a day in ISO form."""
    if isinstance(value, dt.date):
        return value.isoformat()[:10]
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _parts(figure: Figure) -> set[str]:
    """Return the columns of the analysis from which a total of the figure is calculated."""
    return {figure.measure.name, *itertools.chain(*figure.measure.ratios), weight_of(figure.measure)}


def _why_not(analysis: Analysis, error: Exception, span: str) -> str:
    """Say why an analysis is not known by the keys. A forecast is neither known of past periods nor of small firms."""
    text = str(error.args[0])
    if text.startswith("by="):
        return NOT_BY if analysis.is_forecast else f"It is not known by {text.split(chr(39))[1]}."
    if not analysis.is_forecast:
        raise type(error)(f"spans={{{span[1:]!r}: …}}: {text}") if span else error
    return text


def _why(figure: Figure, rows: pa.Table, *, keyed: bool) -> str:
    name, analysis, there = figure.measure.name, figure.analysis, {*rows.column_names}
    if name not in there:
        return f"It needs options: call {analysis.name}()."
    for part, whole in figure.measure.ratios:
        if {part, whole} <= there and _has_any(rows[whole]):
            return f"Its denominator, {whole}, is 0." if _has_any(rows[part]) else f"{part} is not known."
    starts = (f"`{name}`", *(["By "] if keyed else []))
    otherwise = f"It is missing in all rows of {analysis.name}; its warnings or bf.explain({figure.column!r}) say why."
    return next((text for text in analysis.left_out if text.startswith(starts)), otherwise)
