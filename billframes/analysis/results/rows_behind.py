"""The rows behind a figure: the work or the invoices that it is a sum of, each with its part.

An analysis adds up rows of facts by `Keys.sum`. If its `Call` keeps what was added up, the rows are there without a
second calculation. Figures of an analysis that asks others are sums of their rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from billframes.analysis.data.call import Asked, Call, rows_of
from billframes.analysis.data.data import Data
from billframes.analysis.data.engine import collect, to_arrow
from billframes.analysis.data.expressions import C, map_values
from billframes.analysis.data.native import nan_to_null
from billframes.analysis.declare.columns import IDS, ITEMS, Frame, column_names
from billframes.analysis.declare.key_words import TIMES, columns_of, pass_where
from billframes.analysis.declare.lookup import analyses, qualified_name
from billframes.analysis.declare.metrics import bucket_measure
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.facts.items import items
from billframes.analysis.facts.labels import with_names
from billframes.analysis.facts.work import work
from billframes.analysis.keys.by import ITEM_IDS, By, names_in
from billframes.analysis.keys.formulas import terms_of, value_of
from billframes.analysis.keys.groupby import Added
from billframes.analysis.keys.key_columns import as_text
from billframes.analysis.results.figure_names import Figure, figure_names, find_figure
from billframes.analysis.results.figure_rows import FigureRows, KeyRecords
from billframes.analysis.results.figure_source import Source
from billframes.analysis.results.figures_side_by_side import FRAMES, call_on, data_of, listed_in, source_of
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike

_RECORDS = tuple(IDS[name] for name in ITEMS)
_DAYS = ("date", "invoice_date", "due_date", "payment_date")
_COLUMNS = ("kind", *_DAYS, *_RECORDS, "invoice_id", "client_id", "matter_id", "user_id")
_KINDS = {"fixed_fee": "fixed fee", "fees": "fees without time", "balance": "balance without items"}
_KINDS_BY_ID = dict(zip(_RECORDS, ("time", "expense", "fixed fee"), strict=True))
_KINDS_BY_ID |= {f"{each}_id": each for each in ("invoice", "matter", "client", "user")}
_CENT = 0.005
_TERM = re.compile(r"[a-z]\w*")


def rows(
    figure: str,
    *,
    by: By = None,
    where: Mapping[str, Any] | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    as_of: DateLike | None = None,
    payments: pd.DataFrame | None = None,
    settings: FirmSettings | None = None,
    **frames: Any,
) -> Any:
    """
    List the rows that a figure is the sum of: time entries, expenses, fixed fees, and parts of invoices.

    The parts of all rows add up to the figure, which is that of `figures` for the same days.

    Parameters
    ----------
    figure : str
        A sum, such as "billed_amount", "wip", "receivables" or "contribution.billed_amount".
    by : str or list of str, optional
        Keys to show with each row. By "originator", a row is listed once for each originator of its matter.
    where : mapping of str to object, optional
        Keys, each with a value or a list of values, as in `figures`: only their rows are listed.
    start, end : str or date, optional
        First and last day, inclusive, or a whole period such as "2026-Q3" as `start`.
    as_of : str or date, optional
        The day of balances, as in `figures`.
    payments : DataFrame, optional
        From `payments`, for figures that need it.
    settings : FirmSettings, optional
    **frames : frame
        The frames of the analyses by name, as in `figures`, and options of the figure's analysis, such as
        `basis="invoice_date"`.

    Returns
    -------
    frame
        Of the same kind as the frames, sorted by label: the keys, then `kind`, the dates and ids of the row, and the
        part of the figure, in a column with its name. `kind` is "time", "expense", "fixed fee", "invoice", "matter",
        "client" or "user" (available hours); "fees without time" are those of an invoice that bills no time, such as a
        credit note, and "balance without items" is the part of a balance that no item has. Rows whose part is 0 are
        left out; an unknown part is missing.

    Raises
    ------
    ParameterError
        The figure isn't a sum of rows; or a key, a value of `where` or an option is unknown.
    MissingColumnError
        The analysis lacks a frame or a column.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "time_entry_id": ["t1", "t2"], "date": pd.to_datetime(["2026-10-01"] * 2), "user_id": ["u1", "u2"],
    ...     "user_name": ["Ada", "Ben"], "matter_id": ["m1", "m1"], "hours": [2.0, 3.0],
    ...     "billing_type": ["billable"] * 2, "amount": [600.0, 400.0], "invoice_id": ["i1", "i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "invoice_state": ["final"], "amount": [800.0], "balance": [0.0],
    ... })
    >>> matters, none = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["hourly"]}), pd.DataFrame()
    >>> found = rows("billed_amount", by="user", start="2026-10", time_entries=entries, invoices=invoices,
    ...              expenses=none, fixed_fees=none, matters=matters)
    >>> found[["user_name", "kind", "time_entry_id", "invoice_id", "billed_amount"]]
      user_name  kind time_entry_id invoice_id  billed_amount
    0       Ada  time            t1         i1          480.0
    1       Ben  time            t2         i1          320.0
    """
    options = {name: frames.pop(name) for name in [*frames] if name not in FRAMES}
    data = data_of("rows", settings, frames)
    how: dict[str, Any] = {"by": by, "where": where, "listed": partial(listed_in, data.natives), "options": options}
    call = lambda run, analysis, given: call_on(data, analysis, given, run)  # noqa: E731
    return rows_from(figure, lambda _, run: source_of(data, start, end, as_of, payments, run), call, **how)


def rows_from(
    name: str,
    source: Callable[[Analysis, Callable[..., Any]], Source],
    call: Callable[..., Any],
    *,
    by: By,
    where: Mapping[str, Any] | None,
    listed: KeyRecords,
    options: Mapping[str, Any],
) -> Any:
    """
    List the rows behind a figure from any source, as `rows` does from frames.

    `source` takes the analysis and how it is called; `call` takes what runs an analysis of data, the analysis, and
    its arguments.
    """
    found, filters = _find_sum(name), {} if where is None else where
    if not isinstance(filters, Mapping):
        raise ParameterError(f"where takes keys with their values, such as {{'client': 'Acme'}}; it is {where!r}.")
    analysis = found.analysis
    if unknown := [each for each in options if each not in analysis.takes]:
        raise ParameterError(
            f"{analysis.name} takes no {unknown[0]!r}.{pass_where(unknown[0], {*analysis.takes, 'where'})}"
        )
    keys = list(dict.fromkeys([*names_in(by), *filters]))
    if "start" not in analysis.takes and (times := {*keys} & {*TIMES}):
        raise ParameterError(f"{min(times)!r}: {name} is known on one day, which as_of= chooses.")
    run = partial(_run, found, keys, filters, listed)
    of = source(analysis, partial(call, run))
    days = of.days(analysis) if analysis.takes & {"start", "as_of"} else {}
    days |= {} if of.payments is None else {"payments": of.payments}
    return of.result(analysis, keys, **days, **options)


def _find_sum(name: str) -> Figure:
    """Look up a figure, also of analyses whose figures don't stand beside others; refuse one that isn't a sum."""
    stem, _, last = str(name).rpartition(".")
    of = {each.name: each for each in analyses()[stem].columns} if stem in analyses() else {}
    own = of.get(last) or (bucket_measure(last) if of else None)
    if own is None or name in figure_names():
        found = find_figure(name)
    else:
        found = Figure(qualified_name(stem, last), analyses()[stem], own)
    measure = found.measure
    if not measure.adds_up or measure.unit in ("ratio", "rate", "points"):
        parts = [*measure.ratios[:1], tuple(_TERM.findall(measure.formula))[:1]]
        more = f" Ask for those of {' and '.join(map(repr, parts[0]))}." if parts[0] else ""
        raise ParameterError(f"{name!r} is not a sum, so rows don't add up to it.{more}")
    if found.analysis.rows_of is None or found.analysis.book.method:
        raise _not_known(found)
    return found


def _not_known(figure: Figure) -> ParameterError:
    analysis, name = figure.analysis, figure.measure.name
    own = figure_names().get(name)
    why = "it is an estimate" if analysis.is_forecast else f"{analysis.name} does not add it up from single rows"
    elsewhere = own is not None and own.analysis != analysis
    other = f"Ask for those of {name!r}." if elsewhere else f"Call {analysis.name}(), whose rows are more detailed."
    return ParameterError(f"The rows of {figure.column!r} are not known: {why}. {other}")


def _run(
    figure: Figure,
    keys: Sequence[str],
    where: Mapping[str, Any],
    listed: KeyRecords,
    analysis: Analysis,
    data: Data,
    **options: Any,
) -> Any:
    """Run the analysis, and return the rows that the figure is made of; refuse those that don't add up to it."""
    call = Call(data, analysis.name)
    name = figure.measure.name
    found = list_rows(call, analysis, [name], options, keys)
    if name not in found.there:
        raise ParameterError(f"{analysis.name} gives {name!r} only with other options or settings.")
    if name not in found.rows.column_names:
        raise _not_known(figure)
    for key in keys:
        if not columns_of(key, found.rows.column_names):
            raise ParameterError(f"The rows of {figure.column!r} are not known by {key!r}.")
    rows = _where(found.rows, where, listed)
    names = [figure.column if each == name else each for each in rows.column_names]
    return call.result(with_names(call, cast("Frame", nw.from_native(rows.rename_columns(names)))))


def run_rows(names: Sequence[str], analysis: Analysis, data: Data, *, by: By = None, **options: Any) -> Any:
    """Return the rows behind some sums of an analysis by keys; `call_analysis` calls it in place of the analysis."""
    call = Call(data, analysis.name)
    found = list_rows(call, analysis, names, {"by": by, **options}, names_in(by)).rows
    return call.result(cast("Frame", nw.from_native(found)))


@dataclass(frozen=True, slots=True)
class Listed:
    """The rows behind figures of one analysis, and the columns that its result has."""

    rows: pa.Table
    there: frozenset[str]


def list_rows(
    call: Call, analysis: Analysis, names: Sequence[str], options: Mapping[str, Any], keys: Sequence[str]
) -> Listed:
    """
    Run an analysis, and list the rows that some of its sums are made of, with the part of each in these sums.

    Sums that the rows do not add up to are left out.
    """
    call.added = []
    own = call.columns("time_entries")
    call.also = {
        work: [each for name, each in IDS.items() if name in ITEMS and each in call.columns(name)],
        items: [each for each in (*_RECORDS, *ITEM_IDS) if each in own],
    }
    whole = to_arrow(nan_to_null(rows_of(analysis, call, options)))
    there = frozenset(whole.column_names)
    parts = {name: found for name in names if name in there and (found := parts_of(name, analysis, call.added))}
    rows = _rows_of(parts, keys) if parts else whole.slice(0, 0).select([])
    kept = [name for name in parts if _agree(whole[name], rows[name])]
    if not kept and "by" not in analysis.takes:
        # A list has the records themselves.
        kept = [name for name in names if name in there]
        counts = [~(C(name) == 0).fill_null(False) for name in kept] or [nw.lit(True)]
        rows = nw.from_native(whole).filter(nw.any_horizontal(*counts, ignore_nulls=True)).to_native()
    texts = [name for name in rows.column_names if name not in {*names, *analysis.measure_names}]
    return Listed(rows.select([*texts, *kept]), there)


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that are a part of a figure: sums with their signs, and the figures that follow from these."""

    added: Added
    terms: Mapping[str, str]
    then: tuple[tuple[str, nw.Expr], ...] = ()


def parts_of(name: str, analysis: Analysis, added: Sequence[Added | Asked]) -> list[Part]:
    """Return what a figure is added up from, also by its formula; empty if that is not known."""
    found = [Part(each, {name: "+"}) for each in added if isinstance(each, Added) and name in each.sums]
    for each in added:
        if isinstance(each, Asked):
            asked = analyses()[each.analysis]
            of, value = (name, None) if each.figures is None else each.figures.get(name, ("", None))
            own = parts_of(of, asked, each.added) if of in asked.measure_names or bucket_measure(of) else ()
            found += own if value is None else [replace(part, then=(*part.then, (of, value))) for part in own]
    columns = {each.name: each for each in analysis.columns}
    if found or name not in columns:
        return found
    merged: dict[int, Part] = {}
    for term, sign in terms_of(columns[name].formula, columns).items():
        own = parts_of(term, analysis, added)
        if not own:
            return []
        for part in own:
            terms = {each: "+" if sign == its else "-" for each, its in part.terms.items()}
            if part.then and sign == "-":
                return []
            if not part.then and id(part.added) in merged:
                terms = {**merged[id(part.added)].terms, **terms}
            merged[id(part) if part.then else id(part.added)] = replace(part, terms=terms)
    return [*merged.values()]


def _rows_of(figures: Mapping[str, Sequence[Part]], keys: Sequence[str]) -> pa.Table:
    """Return the rows of figures, sorted by label, with one column for the parts in each figure."""
    of_rows: dict[int, list[tuple[str, Part]]] = {}
    for name, parts in figures.items():
        for part in parts:
            of_rows.setdefault(id(part.added), []).append((name, part))
    listed = [_listed(parts) for parts in of_rows.values()]
    rows = nw.concat(
        [
            each.with_columns(**{name: nw.lit(0.0) for name in figures if name not in column_names(each)})
            for each in listed
        ],
        how="diagonal",
    )
    table = to_arrow(nan_to_null(rows))
    columns = list(dict.fromkeys(each for key in keys for each in columns_of(key, table.column_names)))
    labels = [columns_of(key, table.column_names)[-1] for key in keys if columns_of(key, table.column_names)]
    shown = [name for name in _COLUMNS if name in table.column_names and name not in columns]
    table = table.select([*columns, *shown, *figures])
    return table.sort_by([(each, "ascending") for each in labels]) if len(listed) > 1 and labels else table


def _listed(parts: Sequence[tuple[str, Part]]) -> Frame:
    """Return rows that were added up, with their keys and their parts in some figures."""
    added = parts[0][1].added
    keys, rows = added.keys, added.rows
    there = [*column_names(rows)]
    values = {f"_{place}_": value_of(part.terms) for place, (_, part) in enumerate(parts)}
    counts = [~(value == 0).fill_null(True) for value in map(C, values)]
    shown = [name for name in _COLUMNS if name in there and name not in added.sums]
    rows = rows.with_columns(**values).filter(nw.any_horizontal(*counts, ignore_nulls=True))
    rows = as_text(collect(rows.select(*dict.fromkeys([*keys.base, *shown, *values]))))
    rows = rows.with_columns(kind=_kind(shown))
    others = [name for name in dict.fromkeys(("kind", *shown)) if name not in keys.columns]
    rows = keys.labelled(keys.with_keys(rows, [*values], others), [*others, *values])
    for value, (_, part) in zip(values, parts, strict=True):
        for of, then in part.then:
            rows = rows.with_columns(**{of: C(value)}).with_columns(**{value: then})
    sums: dict[str, nw.Expr] = {}
    for value, (name, _) in zip(values, parts, strict=True):
        sums[name] = sums[name] + C(value) if name in sums else C(value)
    rows = rows.select(*keys.columns, *others, *(value.alias(name) for name, value in sums.items()))
    counts = [~(C(name) == 0).fill_null(False) for name in sums]
    return rows.filter(nw.any_horizontal(*counts, ignore_nulls=True))


def _kind(columns: Collection[str]) -> nw.Expr:
    """Return what rows are: as their fact says, or else by the ids that they have."""
    if "kind" in columns:
        return map_values("kind", _KINDS, C("kind"), nw.String)
    kinds = [nw.when(~C(id_).is_null()).then(nw.lit(kind)) for id_, kind in _KINDS_BY_ID.items() if id_ in columns]
    return nw.coalesce(*kinds) if len(kinds) > 1 else nw.lit("")


def _agree(whole: pa.ChunkedArray, parts: pa.ChunkedArray) -> bool:
    """Tell whether parts add up to a figure to the cent; if it is missing somewhere, a part is."""
    if whole.null_count or parts.null_count:
        return bool(whole.null_count) == bool(parts.null_count)
    return abs(float(np.sum(whole.to_numpy())) - float(np.sum(parts.to_numpy()))) <= _CENT


def _where(found: pa.Table, where: Mapping[str, Any], listed: KeyRecords) -> pa.Table:
    keys = found.select([column for key in where for column in columns_of(key, found.column_names)]).to_pandas()
    rows = FigureRows((), ("",), keys, {("", ""): {"place": np.arange(len(keys))}})
    for key, values in where.items():
        rows = rows.where(key, values, listed)
    return found.take(rows.parts["", ""]["place"]) if where else found
