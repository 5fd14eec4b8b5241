"""The rows behind a figure: the work or the invoices that it is a sum of, each with its part.

An analysis adds up rows of facts by `Keys.sum`. If its `Call` keeps what was added up, the rows are there without a
second calculation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from billframes.analysis.data.call import Call, rows_of
from billframes.analysis.data.data import Data
from billframes.analysis.data.engine import collect, to_arrow
from billframes.analysis.data.expressions import map_values
from billframes.analysis.data.native import nan_to_null
from billframes.analysis.declare.columns import IDS, ITEMS, Frame, column_names
from billframes.analysis.declare.lookup import analyses, qualified_name
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.facts.items import items
from billframes.analysis.facts.work import work
from billframes.analysis.keys.by import TIMES, By, columns_of, names_in
from billframes.analysis.keys.formulas import terms_of, value_of
from billframes.analysis.keys.keys import Added, as_text
from billframes.analysis.results.figure_names import Figure, figure_names, find_figure
from billframes.analysis.results.figure_rows import FigureRows
from billframes.analysis.results.figure_source import Source
from billframes.analysis.results.figures_side_by_side import call_on, data_of, listed_in, source_of
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike

C = nw.col

_RECORDS = tuple(IDS[name] for name in ITEMS)
_COLUMNS = ("kind", "date", "invoice_date", "due_date", *_RECORDS, "invoice_id", "client_id", "matter_id", "user_id")
_KINDS = {"fixed_fee": "fixed fee", "fees": "fees without time", "balance": "balance without items"}
_KINDS_BY_ID = {"time_entry_id": "time", "invoice_id": "invoice", "matter_id": "matter"}
_PART = "_part"
_CENT = 0.005


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
        A sum, such as "billed_amount", "wip", "receivables" or "origination.fees_amount".
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
        The frames of the analyses by name, as in `figures`.

    Returns
    -------
    frame
        Of the same kind as the frames, sorted by label: the keys, then `kind`, the dates and ids of the row, and the
        part of the figure, in a column with its name. `kind` is "time", "expense", "fixed fee" or "invoice"; "fees
        without time" are those of an invoice that bills no time, such as a credit note, and "balance without items" is
        the part of a balance that no item has. Rows whose part is 0 are left out; an unknown part is missing.

    Raises
    ------
    ParameterError
        The figure isn't a sum of rows; or a key or a value of `where` is unknown.
    MissingColumnError
        The analysis lacks a frame or a column.

    Examples
    --------
    >>> import pandas as pd
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
    data = data_of("rows", settings, frames)
    how: dict[str, Any] = {"by": by, "where": where, "listed": partial(listed_in, data.natives)}
    call = lambda run, analysis, given: call_on(data, analysis, given, run)  # noqa: E731
    return rows_from(figure, lambda _, run: source_of((), data, start, end, as_of, payments, run), call, **how)


def rows_from(
    name: str,
    source: Callable[[Analysis, Callable[..., Any]], Source],
    call: Callable[..., Any],
    *,
    by: By,
    where: Mapping[str, Any] | None,
    listed: Callable[..., Any],
) -> Any:
    """
    List the rows behind a figure from any source, as `rows` does from frames.

    `source` takes the analysis and how it is called; `call` takes what runs an analysis of data, the analysis, and
    its arguments.
    """
    found, filters = _find_sum(name), {} if where is None else where
    if not isinstance(filters, Mapping):
        raise ParameterError(f"where takes keys with their values, such as {{'client': 'Acme'}}; it is {where!r}.")
    keys = list(dict.fromkeys([*names_in(by), *filters]))
    if "start" not in found.analysis.takes and (times := {*keys} & {*TIMES}):
        raise ParameterError(f"{min(times)!r}: {name} is known on one day, which as_of= chooses.")
    run = partial(_run, found, keys, filters, listed)
    of = source(found.analysis, partial(call, run))
    return of.result(found.analysis, keys, **of.days(found.analysis))


def _find_sum(name: str) -> Figure:
    """Look up a figure, also of analyses whose figures don't stand beside others; refuse one that isn't a sum."""
    stem, _, last = str(name).rpartition(".")
    of = {each.name: each for each in analyses()[stem].columns} if stem in analyses() else {}
    known = name in figure_names() or last not in of
    found = find_figure(name) if known else Figure(qualified_name(stem, last), analyses()[stem], of[last])
    if not found.measure.adds_up:
        parts = [" and ".join(map(repr, pair)) for pair in found.measure.ratios[:1]]
        more = f" Ask for those of {parts[0]}." if parts else ""
        raise ParameterError(f"{name!r} is not a sum, so rows don't add up to it.{more}")
    analysis = found.analysis
    if analysis.rows_of is None or "by" not in analysis.takes or analysis.book.method:
        raise _not_known(found)
    return found


def _not_known(figure: Figure) -> ParameterError:
    return ParameterError(
        f"The rows of {figure.column!r} are not known: {figure.analysis.name} does not add it up from single rows. "
        f"Call {figure.analysis.name}() with more keys."
    )


def _run(
    figure: Figure,
    keys: Sequence[str],
    where: Mapping[str, Any],
    listed: Callable[..., Any],
    analysis: Analysis,
    data: Data,
    **options: Any,
) -> Any:
    """Run the analysis, and return the rows that the figure is made of; refuse those that don't add up to it."""
    call = Call(data, analysis.name)
    call.added = []
    there = call.columns("time_entries")
    call.also = {
        work: [each for name, each in IDS.items() if name in ITEMS and each in call.columns(name)],
        items: [each for each in _COLUMNS if each.endswith("_id") and each in there],
    }
    result = rows_of(analysis, call, options)
    whole = to_arrow(nan_to_null(result))
    if figure.measure.name not in whole.column_names:
        raise ParameterError(
            f"{analysis.name} gives {figure.measure.name!r} only with options that rows does not take."
        )
    found = to_arrow(nan_to_null(_rows_of(figure, call.added)))
    if not _agree(whole[figure.measure.name], found[_PART]):
        raise _not_known(figure)
    for key in keys:
        if not columns_of(key, found.column_names):
            raise ParameterError(f"The rows of {figure.column!r} are not known by {key!r}.")
    found = _where(found, where, listed)
    names = [figure.column if each == _PART else each for each in found.column_names]
    return call.result(cast("Frame", nw.from_native(found.rename_columns(names))))


def _rows_of(figure: Figure, added: Sequence[Added]) -> Frame:
    """Return the rows of the sums that the figure is, or follows from."""
    there = {each.name for part in added for each in part.sums}
    terms = _terms(figure.measure.name, figure.analysis, there)
    parts = [(part, {name: terms[name] for each in part.sums if (name := each.name) in terms}) for part in added]
    parts = [(part, own_terms) for part, own_terms in parts if own_terms]
    if not terms or sum(len(own_terms) for _, own_terms in parts) != len(terms):
        raise _not_known(figure)
    return nw.concat([_listed(part, own_terms) for part, own_terms in parts], how="diagonal")


def _terms(name: str, analysis: Analysis, there: Collection[str]) -> dict[str, str]:
    """Return the sums that a figure follows from, with their signs; empty if it does not."""
    if name in there:
        return {name: "+"}
    of = {each.name: each for each in analysis.columns}
    found: dict[str, str] = {}
    for term, sign in terms_of(of[name].formula, of).items() if name in of else ():
        if not (own := _terms(term, analysis, there)):
            return {}
        found |= {each: "+" if sign == its else "-" for each, its in own.items()}
    return found


def _listed(part: Added, terms: Mapping[str, str]) -> Frame:
    """Return rows that were added up, with their keys and their parts in the figure."""
    keys, there = part.keys, [*column_names(part.rows)]
    rows = part.rows.with_columns(**{f"_{each.name}_": each.value for each in part.sums if each.name in terms})
    rows = rows.with_columns(**{_PART: value_of({f"_{name}_": sign for name, sign in terms.items()})})
    shown = [name for name in _COLUMNS if name in there]
    rows = as_text(collect(rows.filter(C(_PART) != 0).select(*dict.fromkeys([*keys.base, *shown, _PART]))))
    kind = map_values("kind", _KINDS, C("kind"), nw.String) if "kind" in shown else nw.lit(_kind(shown))
    others = [name for name in dict.fromkeys(("kind", *shown)) if name not in keys.columns]
    rows = keys.with_keys(rows.with_columns(kind=kind), [_PART], others)
    return keys.labelled(rows, [*others, _PART])


def _kind(columns: Collection[str]) -> str:
    """Return what the rows of a fact without kinds are, by the ids that they have."""
    return next((kind for id_, kind in _KINDS_BY_ID.items() if id_ in columns), "")


def _agree(whole: pa.ChunkedArray, parts: pa.ChunkedArray) -> bool:
    """Tell whether parts add up to a figure to the cent; if it is missing somewhere, a part is."""
    if whole.null_count or parts.null_count:
        return bool(whole.null_count) == bool(parts.null_count)
    return abs(float(np.sum(whole.to_numpy())) - float(np.sum(parts.to_numpy()))) <= _CENT


def _where(found: pa.Table, where: Mapping[str, Any], listed: Callable[..., Any]) -> pa.Table:
    keys = found.select([column for key in where for column in columns_of(key, found.column_names)]).to_pandas()
    rows = FigureRows((), ("",), keys, {("", ""): pd.DataFrame({"place": np.arange(len(keys))})})
    for key, values in where.items():
        rows = rows.where(key, values, listed)
    return found.take(rows.parts["", ""]["place"].to_numpy()) if where else found
