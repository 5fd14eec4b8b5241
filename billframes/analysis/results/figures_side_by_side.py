"""Figures side by side: those of several analyses by the same keys, filtered, compared and ranked.

`figures_of` calculates them from any `Source`, `figures` from frames, and a book from its own frames.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes._shared.names import closest, join_names
from billframes._shared.notes import Notes, collect_notes
from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_whole_number
from billframes.analysis.data.call import run
from billframes.analysis.data.data import Data
from billframes.analysis.data.data_span import first_date, first_day, read_period
from billframes.analysis.data.engine import arrow_rows, to_dicts
from billframes.analysis.data.native import nan_to_null, to_native
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.key_words import TIMES, columns_of, pass_where
from billframes.analysis.declare.spec import Analysis, parameters
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.results.figure_names import FIGURES, find_figure, find_figures
from billframes.analysis.results.figure_rows import FigureRows, KeyRecords, text_of
from billframes.analysis.results.figure_source import PAST, Source, Spans, read_spans, run_in_arrow, sources_of
from billframes.analysis.rules.periods import PAST_BALANCES
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.loading.load_info import attach, attach_notes, load_day
from billframes.periods import DateLike, Period

if TYPE_CHECKING:
    from billframes.analysis.results._figure_names import FigureName

MISSING, TOTAL = "missing", "total"
"""The names under which a result keeps why columns are missing, and its total."""

Compare = Literal["previous", "year_ago"]
Top = int | Mapping[str, int]
FRAMES = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients")
_DATES = {"time_entries": "date", "invoices": "invoice_date"}


def figures(
    *names: FigureName,
    by: By = None,
    where: Mapping[str, Any] | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    as_of: DateLike | None = None,
    compare: Compare | None = None,
    top: Top | None = None,
    spans: Spans | None = None,
    payments: pd.DataFrame | None = None,
    settings: FirmSettings | None = None,
    **frames: Any,
) -> Any:
    """
    Calculate figures of several analyses side by side, by the same keys.

    Each figure is that of its own analysis: hours by the day of the work, fees by the day of the invoice.

    Parameters
    ----------
    *names : str
        Figures, such as "client_hours", "billed_amount", "billing_realization", "wip", "receivables".
        `bf.explain("figures")` lists them, and `bf.explain("billed_amount")` explains one. A name that several
        analyses have for different figures is written with the analysis, as "contribution.billed_amount".
    by : str or list of str, optional
        Keys to group by; None gives one row.
    where : mapping of str to object, optional
        Keys, each with a value or a list of values: ids, names, references, or a part of a name if it fits only one;
        None is a missing value. An invoice's fee is first spread over all the work on it, as without a filter. The
        filter then keeps the parts of the matching work, so all values of a key, with None, add up to the whole.
    start, end : str or date, optional
        First and last day, inclusive, or a whole period such as "2026-Q3" as `start`.
    as_of : str or date, optional
        The day of balances (work in progress, receivables). By default the last day of the period, or the day of the
        load if that is earlier.
    compare : {"previous", "year_ago"}, optional
        The period before, or the same period a year before, to compare with. A period that is not over is compared
        with as many days.
    top : int or mapping of str to int, optional
        The number of groups of the first key to keep: those with the largest first figure. The others are added up in
        a row "Others (37)", which has no id. With `{"matter": 5}`, the groups of this key are chosen within each group
        of the keys before it, such as five matters of each person with `by=["user", "matter"]`.
    spans : mapping of str to object, optional
        Several periods in place of `start` and `end`, by label: each a period such as "2026-10", or its first and last
        day. Each figure then has a column for each, such as `client_hours_week`. `top` chooses by the first.
    payments : DataFrame, optional
        From `payments`, for figures of cash, such as "collected_amount".
    settings : FirmSettings, optional
    **frames : frame
        The frames of the analyses by name: `time_entries`, `expenses`, `fixed_fees`, `invoices`, `matters`, `users`,
        `clients`; of any engine.

    Returns
    -------
    frame
        Of the same kind as the frames, sorted by label: the keys, and a column for each figure, float64 (dates are
        datetimes). With `compare`, each figure is followed by that of the other period and by the change, such as
        `billed_amount_previous` and `billed_amount_since_previous`. There are no rows of totals.

        Balances by week, month or year are those at the end of each, so they add up within a period only. A sum is
        0 in groups without records. `attrs["figures"]` has the analysis of each column, and `attrs["missing"]` the
        reason why a column or a part of it is missing.

    Raises
    ------
    ParameterError
        A figure, a key or a value of `where` is unknown, a name is of several figures, or no figure knows the keys;
        or a figure of cash has no payments, or none of a part of the period.
    MissingColumnError
        An analysis lacks a frame or a column.

    Warns
    -----
    BillframesWarning
        As the analyses warn, of each cause once.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-10-02"]), "user_id": ["u1", "u2"], "user_name": ["Ada", "Ben"],
    ...     "matter_id": ["m1", "m1"], "hours": [2.0, 3.0], "billing_type": ["billable"] * 2, "amount": [600.0, 600.0],
    ...     "invoice_id": ["i1", None],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "invoice_state": ["final"], "amount": [540.0], "balance": [0.0],
    ... })
    >>> matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["hourly"]})
    >>> none = pd.DataFrame()
    >>> figures("billed_amount", "billing_realization", "wip", by="user", start="2026-10", time_entries=entries,
    ...         invoices=invoices, expenses=none, fixed_fees=none, matters=matters)
      user_id user_name  billed_amount  billing_realization  wip_amount
    0      u1       Ada          540.0                  0.9         0.0
    1      u2       Ben            0.0                  NaN       600.0
    """
    data = data_of("figures", settings, frames)
    call = partial(call_on, data, run=run_in_arrow)
    source = source_of(data, start, end, as_of, payments, call, compare=compare)
    dated = [data.natives[name] for name in _DATES if name in data]
    given = read_spans(spans, start, end, lambda *ends: read_period(*ends, data.given_settings, *dated))
    options: dict[str, Any] = {"by": by, "where": where, "compare": compare, "top": top, "spans": given}
    return figures_of(names, source, data.first, listed=partial(listed_in, data.natives), **options)


def data_of(function: str, settings: FirmSettings | None, frames: Mapping[str, Any]) -> Data:
    """Return the frames that were passed to `figures` or `rows` by name; refuse other arguments."""
    given = {name: frame for name, frame in frames.items() if frame is not None}
    for name in given:
        if name not in FRAMES:
            raise ParameterError(
                f"{function} takes no argument {name!r}.{pass_where(name, [*FRAMES, 'where'])} Figures are named by "
                f"position, and frames are {', '.join(FRAMES)}."
            )
    if not given:
        raise ParameterError(
            f"{function} needs frames, such as time_entries= and invoices=; or call it on bf.book(...)."
        )
    return Data(settings, **given)


def source_of(
    data: Data,
    start: DateLike | None,
    end: DateLike | None,
    as_of: DateLike | None,
    payments: pd.DataFrame | None,
    call: Callable[[Analysis, dict[str, Any]], Any],
    *,
    compare: Compare | None = None,
) -> Source:
    """Return the source of figures of some frames."""
    settings = data.given_settings
    dated = {name: data.natives[name] for name in _DATES if name in data}
    period = read_period(start, end, settings, *dated.values())
    zone = (settings or FirmSettings()).time_zone
    loaded = min((day for each in dated.values() if (day := load_day(each, zone)) is not None), default=None)
    first = first_day(**dated)
    if first is None and (compare or period.start is None):
        # Before the first record nothing is known.
        days = (first_date(frame, _DATES[name]) for name, frame in dated.items())
        first = min((each for each in days if each is not None), default=None)
    return Source.of(call, period, as_of, payments, settings, loaded=loaded, first_day=first)


def call_on(data: Data, analysis: Analysis, how: Mapping[str, Any], run: Callable[..., Any] = run) -> Any:
    """Return the result of an analysis of those frames that it takes; refuse to leave out one that it needs."""
    takes = parameters(analysis.function)
    needed = [name for name in FRAMES if name in takes and takes[name].default is inspect.Parameter.empty]
    if lacking := [name for name in needed if name not in data]:
        raise ParameterError(f"{analysis.name} needs {' and '.join(f'{name}=' for name in lacking)}.")
    of = data.view(takes.keys(), data.given_settings)
    if analysis.rows_of is not None:
        return run(analysis, of, **how)
    settings = {"settings": data.given_settings} if "settings" in takes else {}
    return analysis.function(**of.natives, **settings, **how)


def listed_in(frames: Mapping[str, Any], columns: Sequence[str]) -> list[tuple[str, str, str]]:
    """
    Return the id, the name and the reference of a key's records in frames, such as clients without work in the period.

    Values of a key without names are both id and name; days are text.
    """
    found = []
    stem = columns[0].removesuffix("_id")
    for name, native in frames.items():
        frame = cast("Frame", nw.from_native(native))
        there, own = {*map(str, column_names(frame))}, f"{name.removesuffix('s')}_"
        # The list of clients has "name" in place of "client_name".
        sought = [[each, each.removeprefix(own)] for each in (columns[0], columns[-1], f"{stem}_reference")]
        sought[-1] += ["email"] if own == f"{stem}_" else []
        taken = [next((each for each in spellings if each in there), None) for spellings in sought]
        if taken[0] and taken[1]:
            used = list(dict.fromkeys(filter(None, taken)))
            for row in to_dicts(arrow_rows(frame).select(used).unique()):
                texts = ["" if each is None or row[each] is None else str(text_of(row[each])) for each in taken]
                found += [(texts[0], texts[1], texts[2])] if texts[0] else []
    return found


def figures_of(
    names: Sequence[str],
    source: Source,
    like: Any,
    *,
    by: By = None,
    where: Mapping[str, Any] | None = None,
    compare: Compare | None = None,
    top: Top | None = None,
    spans: Mapping[str, Period],
    listed: KeyRecords = lambda _columns: (),
) -> Any:
    """
    Calculate figures from any source, as `figures` does from frames; the result is of the kind of `like`.

    `listed` returns the records that the firm knows of a key's columns, also those without rows.
    """
    wanted, keys, filters = find_figures(names), names_in(by), {} if where is None else where
    _check(keys, filters, compare, source)
    _check_top(keys, top)
    if source.payments is None and (of_cash := [each for each in names if find_figure(each).analysis.needs_payments]):
        raise ParameterError(
            f"{of_cash[0]!r} needs payments, which the billing system does not have: pass "
            "payments=book.payments(bf.read_ledger(…))."
        )
    if spans and compare is not None:
        raise ParameterError("compare= is for one period: leave out spans=.")
    sources = sources_of(spans, source, [each.column for each in wanted], keys) or source.compared(compare)
    notes = Notes()
    with collect_notes(notes):
        rows = FigureRows.read(wanted, sources, list(dict.fromkeys([*keys, *filters])))
        for key, values in filters.items():
            rows = rows.where(key, values, listed)
    past = [column for column, why in rows.missing.items() if compare and why == PAST]
    notes.add(PAST_BALANCES, len(past), columns=join_names([f"`{each}`" for each in past]))
    notes.finish()
    shown = {column for key in keys for column in columns_of(key, rows.names)}
    left_out = {column for key in filters for column in columns_of(key, rows.names)} - shown
    rows = rows.add_up([each for each in rows.names if each not in left_out]) if left_out else rows
    rows = rows.sorted()
    rows = rows.top(top, keys) if top else rows
    table = pa.Table.from_pandas(rows.keys, preserve_index=False)
    table = pa.table(dict(zip(table.column_names, table.columns, strict=True)) | rows.columns())
    result = attach_notes(to_native(nan_to_null(cast("Frame", nw.from_native(table))), like), notes)
    ends = rows.ends[:1] if compare else rows.ends
    result = attach(result, FIGURES, {f"{each.column}{end}": each.analysis.name for each in wanted for end in ends})
    result = attach(result, MISSING, rows.missing)
    sums = {name: of[0] for name, of in rows.add_up([]).columns().items() if of.dtype.kind == "f"}
    return attach(result, TOTAL, {name: None if pd.isna(value) else float(value) for name, value in sums.items()})


def _check(keys: Sequence[str], where: Mapping[str, Any], compare: str | None, source: Source) -> None:
    if not isinstance(where, Mapping):
        raise ParameterError(f"where takes keys with their values, such as {{'client': 'Acme'}}; it is {where!r}.")
    if compare is not None:
        check_choice(compare, "compare", ("previous", "year_ago"))
        if {*keys} & {*TIMES}:
            raise ParameterError(
                "compare= is for rows without weeks, months, quarters or years, which are rows of their own already."
            )
        if source.as_of is not None:
            raise ParameterError("compare= takes the days of balances from the periods: leave out as_of=.")
    if times := {*where} & {*TIMES}:
        raise ParameterError(f"where={{{min(times)!r}: …}}: days are chosen by start= and end=.")


def _check_top(keys: Sequence[str], top: Top | None) -> None:
    if not isinstance(top, Mapping):
        if top is not None:
            read_whole_number(top, "top", "groups")
        return
    if not top:
        raise ParameterError("top={} has no keys; leave it out for all groups.")
    known = [each for each in keys if each not in TIMES]
    for key, most in top.items():
        if key not in known:
            raise ParameterError(
                f"top={{{key!r}: …}} is not one of the keys to choose from.{closest(key, known)} by= has "
                f"{join_names([repr(each) for each in known]) or 'none'}."
            )
        read_whole_number(most, f"top[{key!r}]", "groups")
