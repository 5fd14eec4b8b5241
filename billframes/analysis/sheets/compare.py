"""Compare: a figure over months, quarters or years, with its changes and the figure of twelve months.

It takes the results of one analysis for several periods; `compared_periods` says which are compared with which.
Balances and work in progress have no history in the billing system, so they can be compared only if the data was loaded
on each of the days.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from narwhals.stable.v2.typing import IntoFrameT

from billframes._shared.notes import Notes
from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_whole_number
from billframes.analysis.data.call import finished
from billframes.analysis.data.data_span import CountedDays, is_known, read_counted_days
from billframes.analysis.data.engine import eager_from_arrow, to_arrow
from billframes.analysis.data.expressions import as_midnight
from billframes.analysis.data.native import as_table, require, wrap_frames
from billframes.analysis.data.repeated_ids import refuse_unlike_ids
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import analyses, measure as measure_of
from billframes.analysis.declare.metrics import FIGURES, UNITS, Measure
from billframes.analysis.declare.spec import PERIODS, Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.results.compared_periods import (
    Comparison,
    aligned_parts,
    fiscal_year_of,
    known_days,
    label_of,
    time_of,
)
from billframes.analysis.results.compared_results import (
    PERIODS_PER_YEAR,
    FiguresByPeriod,
    Matched,
    analyses_of_period,
    analysis_of,
    earlier_period,
    refuse_wrong_rows,
)
from billframes.analysis.results.result_rows import MEASURE, key_columns
from billframes.errors import ParameterError
from billframes.periods import FixedCalendar, Period, parse_period

_ALL = "all periods"
# The columns of the last period that are shown if periods are columns.
_LAST_PERIOD_COLUMNS = ("since_previous", "since_year_ago", "twelve_months")


def compare(
    results: Mapping[str, IntoFrameT],
    measure: str = "billing_realization",
    *,
    periods: int | None = None,
    as_columns: bool = False,
    of_each_day: bool = False,
    align: bool = True,
) -> IntoFrameT:
    """
    Compare a figure over months, quarters or years with the period before and the same period a year before.

    Earlier figures and changes are missing for a period that is not over if no result counts the same days, and for one
    whose earlier period begins before the first day of the data (except for a weekend or a holiday). If a result does
    not have a key, a sum is 0 and a ratio is missing. With `as_columns`, each key is one row, with a column for each
    period, such as "amount_2026-10" or "ratio_2026-Q3", and `since_previous_…`, `since_year_ago_…` and
    `twelve_months_…` of the last one.

    Parameters
    ----------
    results : mapping of str to frame
        Results of one analysis by their period: "2026-10" for months, "2026-Q3" for quarters, "2026" for years,
        "FY2026-Q1" and "FY2026" for fiscal ones. All must have the same keys and options, and all their rows.
    measure : str
        A column of the results.
    periods : int, optional
        Number of periods to show, counted from the last; all by default. Earlier periods are only used to compare.
    as_columns : bool
        Whether each period is a column instead of a row, followed by the changes of the last period.
    of_each_day : bool
        Whether each result was calculated from frames that were loaded on its day, such as versions of a mirror
        (`m.as_of("2026-09-30").book("2026-09").aging()`). Required for balances and work in progress, because frames
        loaded today have only today's.
    align : bool
        Whether a period that is not over is only compared with the same days of earlier periods. Results remember the
        days that they count, until they are changed. With False, they are compared as they are.

    Examples
    --------
    >>> fees = {"2025-10": 100.0, "2026-09": 120.0, "2026-10": 90.0}
    >>> results = {month: pd.DataFrame({"billed_amount": [fee]}) for month, fee in fees.items()}
    >>> rows = compare(results, "billed_amount", periods=1)
    >>> rows[["month", "now_amount", "since_previous_amount", "since_year_ago_amount"]]
         month  now_amount  since_previous_amount  since_year_ago_amount
    0  2026-10        90.0                  -30.0                  -10.0

    The same with months as columns:

    >>> rows = compare(results, "billed_amount", periods=2, as_columns=True)
    >>> rows[["amount_2026-09", "amount_2026-10", "since_previous_amount"]]
       amount_2026-09  amount_2026-10  since_previous_amount
    0           120.0            90.0                  -30.0
    """
    time = time_of(results)
    _measure_of(measure, of_each_day=of_each_day)
    if periods is not None:
        read_whole_number(periods, "periods", "periods")
    days = {} if of_each_day else {label: known_days(label, read_counted_days(each)) for label, each in results.items()}
    comparison = Comparison(time, days, align=align)
    shown = sorted(results)[-periods:] if periods else sorted(results)
    notes = Notes(subject="compare")
    comparison.note(shown, notes)
    compared: IntoFrameT = compare_results(
        results, measure, comparison, shown, as_columns=as_columns, of_each_day=of_each_day, notes=notes
    )
    return compared


def compare_results(
    results: Mapping[str, Any],
    measure: str,
    comparison: Comparison,
    shown: Sequence[str],
    *,
    as_columns: bool = False,
    of_each_day: bool = False,
    notes: Notes | None = None,
) -> Any:
    """
    Compare results by period, and those of `comparison.parts`, as `compare` does.

    The caller knows which are compared with which, and which are `shown`; `notes` are those of the comparison.
    """
    found = _measure_of(measure, of_each_day=of_each_day)
    named = {f"results[{label!r}]": frame for label, frame in results.items()}
    frames = wrap_frames(named, whole=True)
    refuse_unlike_ids(frames)
    first = next(iter(frames.values()))
    keys = key_columns(column_names(first))
    pair = _ratio_columns(found, column_names(first))
    for name, frame in frames.items():
        require(frame, name, pair)
        _check_keys(name, key_columns(column_names(frame)), keys)
    tables = {label: to_arrow(frame) for label, frame in zip(results, frames.values(), strict=True)}
    for name, table in zip(named, tables.values(), strict=True):
        refuse_wrong_rows(table, name, keys)
    table = _table(tables, keys, found, comparison, shown, as_columns=as_columns)
    notes = Notes(subject="compare") if notes is None else notes
    like = next(iter(results.values()))
    return _titled(finished(eager_from_arrow(first, table), like, notes, named), found)


def _table(
    tables: Mapping[str, pa.Table],
    keys: Sequence[str],
    found: Measure,
    comparison: Comparison,
    shown: Sequence[str],
    *,
    as_columns: bool,
) -> pa.Table:
    """Compare results in Arrow tables."""
    time, unit = comparison.time, FIGURES[found.unit]
    pair = _ratio_columns(found, next(iter(tables.values())).column_names)
    latest_first = {label: tables[label] for label in sorted(tables, reverse=True)}
    matched = Matched.of(latest_first, keys, pair, sums=bool(found.adds_up or found.ratios))
    figures = FiguresByPeriod(found, pair, time, matched, comparison.instead())
    of_periods, labels = {label: figures.of_period(label) for label in shown}, matched.labels
    order = np.array(sorted(range(len(labels)), key=labels.__getitem__), "int64")
    ends = pa.array([as_midnight(comparison.until(each)) for each in shown], pa.timestamp("us"))
    if as_columns:
        last, groups = of_periods[shown[-1]], order
        columns = {"until": ends.take(np.full(len(order), len(shown) - 1))}
        columns |= {f"{unit}_{label}": each[f"now_{unit}"][order] for label, each in of_periods.items()}
        columns |= {f"{name}_{unit}": last[f"{name}_{unit}"][order] for name in _LAST_PERIOD_COLUMNS}
    else:
        groups, places = np.repeat(order, len(shown)), np.tile(np.arange(len(shown)), len(order))
        periods = pa.array([int(each) for each in shown] if time == "year" else shown)
        columns = {time: periods.take(places), "until": ends.take(places)}
        for name in of_periods[shown[-1]]:
            columns[name] = np.array([each[name][order] for each in of_periods.values()]).T.ravel()
    return pa.table({name: matched.keys[name].take(groups) for name in keys} | columns)


def _titled(result: Any, found: Measure) -> Any:
    if isinstance(result, pd.DataFrame):
        # The columns have the same names for every measure, so tables and charts take their title from here.
        result.attrs[MEASURE] = found.title
    return result


def _measure_of(name: str, *, of_each_day: bool) -> Measure:
    found = measure_of(name)
    if found is None:
        raise ParameterError(f"measure={name!r} is not a figure of an analysis; pass the name of a result's column.")
    if found.unit not in FIGURES:
        raise ParameterError(
            f"measure={name!r} (unit: {UNITS[found.unit]}) can't be compared. compare takes money, hourly rates, hours "
            "and percentages."
        )
    if not of_each_day and not analyses_of_period(name):
        raise ParameterError(
            f"measure={name!r} is a figure of one day, and the billing system keeps no history of it: frames loaded "
            "today have only today's figure. A mirror keeps past versions: run the analysis on the version of each day "
            "(as_of=) and pass of_each_day=True."
        )
    return found


def _ratio_columns(found: Measure, there: Sequence[str]) -> tuple[str, str]:
    """Return the numerator and denominator of a measure; if it is not a ratio, twice the measure."""
    if not found.ratios:
        return (found.name, found.name)
    return next((pair for pair in found.ratios if set(pair) <= set(there)), found.ratios[0])


def _check_keys(name: str, own: Sequence[str], keys: Sequence[str]) -> None:
    if list(own) != list(keys):
        raise ParameterError(
            f"{name} is grouped by {', '.join(own) or 'no keys'}, and the first result by "
            f"{', '.join(keys) or 'no keys'}: pass results of the same analysis with the same by=."
        )
    for time in TIMES:
        if time in keys:
            raise ParameterError(f"{name} is grouped by {time}; run the analysis without it, once for each period.")


def compare_of_book(
    book: Any,
    *,
    measure: str = "billing_realization",
    every: Literal["month", "quarter", "year", "fiscal_quarter", "fiscal_year"] = "month",
    periods: int = 12,
    by: By = None,
    as_columns: bool = False,
    align: bool = True,
) -> pd.DataFrame:
    """
    Compare a figure over the months, quarters or years up to the book's last day, or up to the load if that is earlier.

    Parameters
    ----------
    measure : str
        A figure of an analysis with a period, such as "billed_amount", "billing_realization" or "utilization". If
        several analyses have it, `realization` is used. Balances and work in progress have no history.
    every : {"month", "quarter", "year", "fiscal_quarter", "fiscal_year"}
        The length of the periods. The last period contains the book's last day, or the day of the load if the book's
        period is not over on that day.
    periods : int
        Number of periods to show.
    by : str or list of str, optional
        Keys to group by; None gives one row per period.
    align : bool
        Whether the last period, if it is not over on `until`, is compared with the same days of the period before and
        of the year before, and its twelve months end on that day. With False, it is compared with whole periods.
    """
    check_choice(every, "every", tuple(PERIODS_PER_YEAR))
    read_whole_number(periods, "periods", "periods")
    analysis, found = analyses()[analysis_of(measure)], _measure_of(measure, of_each_day=False)
    names = names_in(by)
    if times := set(TIMES).intersection(names):
        raise ParameterError(f"compare has a row for each {every}, and can't be by {min(times)}.")
    last = pd.Timestamp(book._days.as_of(None, analysis.takes, "compare")).date()
    fiscal = (book.settings and book.settings.fiscal_year) or fiscal_year_of(every)
    label = label_of(last, every, fiscal)
    wanted = [earlier_period(label, back) for back in range(periods + PERIODS_PER_YEAR[every])]
    spans = {each: parse_period(each, calendar=FixedCalendar(fiscal=fiscal)) for each in wanted}
    days = {
        each: CountedDays(span.start, span.end, min(span.end or last, last), book.first_day)
        for each, span in spans.items()
    }
    parts = aligned_parts(days[label], every) if align else {}
    named = {(label, back): f"{label} {back}" for back in parts}
    known = [each for each, of in days.items() if is_known(book.first_day, of.until)]
    spans = {named[label, back]: span for back, span in parts.items()}
    # Sums of months are found by one call, with the period as a key. A share is one of its own period.
    is_key = analysis.by_period and bool(found.ratios or (found.adds_up and found.unit != "ratio"))
    of_periods = {each: Period(days[each].start, days[each].until) for each in known}
    spans |= {_ALL: Period(days[min(known)].start, last)} if is_key else of_periods
    results = {
        each: getattr(book, analysis.name)(by=[*names, every] if each == _ALL else by, start=of.start, end=of.end)
        for each, of in spans.items()
        if is_known(book.first_day, of.end)
    }
    like = next(reversed(results.values()))
    pair = _ratio_columns(found, [*like.columns])
    require(cast("Frame", nw.from_native(like)), f"results[{label!r}]", dict.fromkeys(pair))
    keys = [key for key in key_columns([*like.columns], analysis) if key != every]
    of_key = {each: [every] if each == _ALL else [] for each in results}
    tables = {each: as_table(of, [*keys, *pair, *of_key[each]]) for each, of in results.items()}
    if is_key:
        every_period = tables.pop(_ALL)
        of_period, rest = every_period[every].cast(pa.string()), every_period.drop_columns(every)
        tables |= {each: rest.filter(pc.equal(of_period, each)) for each in known}
    comparison = Comparison(every, days, align=align, parts=named)
    table = _table(tables, keys, found, comparison, sorted(wanted[:periods]), as_columns=as_columns)
    result = finished(cast("Frame", nw.from_native(table)), like, Notes(subject="compare"), results)
    return cast("pd.DataFrame", _titled(result, found))


def _measures() -> Iterator[Measure]:
    texts = {
        "now": ("{} in the period", "The figure of the period."),
        "previous": ("{} in the period before", "The figure of the period before."),
        "since_previous": ("Change of {} from the period before", "The change from the period before."),
        "year_ago": ("{} a year before", "The figure of the same period a year before."),
        "since_year_ago": ("Change of {} from a year before", "The change from the same period a year before."),
        "twelve_months": ("{} in twelve months", "The figure of the twelve months that end with the period."),
    }
    for unit, short in FIGURES.items():
        figure = {"rate": "hourly rate"}.get(short, short)
        for name, (words, meaning) in texts.items():
            shown = "points" if unit == "ratio" and "since" in name else unit
            title = words.format(figure)
            formula = f"now_{short} - {name.removeprefix('since_')}_{short}" if name.startswith("since_") else ""
            yield Measure(
                f"{name}_{short}", f"{title[0].upper()}{title[1:]}", cast("Any", shown), meaning, formula=formula
            )


_COLUMNS = (Measure("until", "Counted to", "date", "The last day that the period counts."), *_measures())
_NAMES = tuple(each.name for each in _COLUMNS)
_CHART_COLUMNS = tuple(f"{name}_{short}" for short in FIGURES.values() for name in ("year_ago", "now"))

ANALYSIS = Analysis(
    function=compare,
    question="How did a figure develop, from month to month and compared with last year?",
    summary=(
        "It shows a figure for several months, quarters or years, with the change from the period before and from the "
        "same period a year before. It also shows the figure of the last twelve months."
    ),
    example=(
        "Fees are 120 in September and 90 in October, a change of −30. In October of the year before they were 100, so "
        "the change in a year is −10."
    ),
    formula="change = now − before; change in a year = now − a year before; twelve months = the sum, or ratio of sums",
    numerator="The figures of an analysis with a period, as that analysis calculates them.",
    left_out=(
        "Periods that were not passed: changes from them are missing, and so are twelve months that include them.",
        "Balances and work in progress, because they are figures of one day. Versions of a mirror have past ones.",
        "Twelve months of a figure that is neither a sum nor a ratio of sums, such as a median.",
    ),
    cannot_tell=(
        "The figure as it was when the period ended: entries and invoices are as they are today.",
        "The full figure of a period that is not over yet: it counts up to the day in `until`.",
    ),
    rows="sorted by key and period: the keys, the period (`month`, `quarter`, `year`, `fiscal_quarter` or "
    "`fiscal_year`), the last day counted, and the figures that end in the unit of the measure, of",
    columns=_COLUMNS,
    table=TableSpec(title="Compared", columns=("until", PERIODS, *_NAMES[1:]), optional=_NAMES, adds_up=False),
    chart=ChartSpec(
        kind="bars",
        title="Beside the year before",
        columns=_CHART_COLUMNS,
        optional=_CHART_COLUMNS,
        words=[f"{{now_{short}:axis}}" for short in FIGURES.values()],
        shows="the figure (dark) on the figure of a year before (pale).",
        more="For one key, months are side by side. The text beside a bar is the figure of the period.",
    ),
    book=FromBook(first="measure", method=compare_of_book),
)
