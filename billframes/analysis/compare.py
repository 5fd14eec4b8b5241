"""Compare: a figure over months, quarters or years, beside the period before, the year before and twelve months.

It takes the results of one analysis for several periods, so it has no definition of its own. Balances and work in
progress have no history in the billing system: what a past day looked like, only results of that day can tell.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

import pandas as pd
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes._messages import warn
from billframes._names import with_article
from billframes.analysis.arguments import check_choice, read_whole_number
from billframes.analysis.bridge import analysis_of
from billframes.analysis.checked_frames import share_checks
from billframes.analysis.column_types import column_names
from billframes.analysis.engine import to_arrow
from billframes.analysis.frames import from_native, require, to_native
from billframes.analysis.keys import TIMES, By
from billframes.analysis.metrics import FIGURES, Measure
from billframes.analysis.result_rows import MEASURE
from billframes.analysis.side_by_side import (
    COLUMNS,
    PERIODS_PER_YEAR,
    FiguresByPeriod,
    earlier_period,
    key_columns,
    key_types,
    periods_as_columns,
    result_frame,
)
from billframes.analysis.spec import (
    PERIODS,
    Analysis,
    ChartSpec,
    FromBook,
    TableSpec,
    analyses_of_period,
    measure as measure_of,
)
from billframes.errors import IncompleteDataWarning, ParameterError
from billframes.periods import parse_period, period_before

__all__ = ["ANALYSIS", "compare", "compare_of_book"]

_LABELS = {"month": r"\d{4}-\d{2}", "quarter": r"\d{4}-Q[1-4]", "year": r"\d{4}"}
# Beside the columns of the periods themselves.
_OF_LAST = ("since_previous", "since_year_ago", "twelve_months")


def compare(
    results: Mapping[str, IntoFrameT],
    measure: str = "billing_realization",
    *,
    periods: int | None = None,
    as_columns: bool = False,
    of_each_day: bool = False,
) -> IntoFrameT:
    """
    Compare a figure over months, quarters or years: with the period before, the year before, and twelve months.

    Parameters
    ----------
    results : mapping of str to frame
        Results of one analysis by their period: "2026-10" for months, "2026-Q3" for quarters, "2026" for years; each
        with the same keys and options, and the whole of each.
    measure : str
        A column of the results.
    periods : int, optional
        How many of the last periods are shown; all by default. Earlier ones are only compared with.
    as_columns : bool
        Whether each period is a column and not a row, with the changes of the last one beside them.
    of_each_day : bool
        Whether the results are of frames that were loaded on the days they tell of, such as versions of a mirror
        (`m.as_of("2026-09-30").book("2026-09").aging()`). Balances and work in progress are refused without, because
        today's frames tell today's.

    Returns
    -------
    frame
        Of the same kind as the input, sorted by key and period: the keys, `month`, `quarter` or `year`, and, as
        float64, six columns that end in the measure's unit, of these: `now_amount`, `previous_amount`,
        `since_previous_amount`, `year_ago_amount`, `since_year_ago_amount`, `twelve_months_amount`, `now_rate`,
        `previous_rate`, `since_previous_rate`, `year_ago_rate`, `since_year_ago_rate`, `twelve_months_rate`,
        `now_hours`, `previous_hours`, `since_previous_hours`, `year_ago_hours`, `since_year_ago_hours`,
        `twelve_months_hours`, `now_ratio`, `previous_ratio`, `since_previous_ratio`, `year_ago_ratio`,
        `since_year_ago_ratio`, `twelve_months_ratio`

        - `now_…`: the figure; `previous_…`: that of the period before; `since_previous_…`: now - before
        - `year_ago_…`: the figure of the same period a year before; `since_year_ago_…`: now - a year ago
        - `twelve_months_…`: of the twelve months that end with the period; a ratio is that of their sums

        With `as_columns`, a row a key: the keys, a column a period ("amount_2026-10" or "ratio_2026-Q3"), and the last
        period's `since_previous_…`, `since_year_ago_…` and `twelve_months_…`.

        A period that was not passed is missing, and so are twelve months that lack one. A sum of a key that a result
        does not have is 0, a ratio is missing. What is neither a sum nor a ratio of sums, such as a median, has no
        `twelve_months_…`.

    Raises
    ------
    ParameterError
        Periods can't be read or are of several kinds, results have different keys or periods among them, or the
        measure is a balance of one day.
    MissingColumnError
        A result lacks the measure or what it is computed from.

    Examples
    --------
    Fees of 100 in October 2025 and 120 and 90 in September and October 2026:

    >>> import pandas as pd
    >>> fees = {"2025-10": 100.0, "2026-09": 120.0, "2026-10": 90.0}
    >>> results = {month: pd.DataFrame({"billed_amount": [fee]}) for month, fee in fees.items()}
    >>> rows = compare(results, "billed_amount", periods=1)
    >>> rows[["month", "now_amount", "since_previous_amount", "since_year_ago_amount"]]
         month  now_amount  since_previous_amount  since_year_ago_amount
    0  2026-10        90.0                  -30.0                  -10.0

    The same with the months as columns:

    >>> rows = compare(results, "billed_amount", periods=2, as_columns=True)
    >>> rows[["amount_2026-09", "amount_2026-10", "since_previous_amount"]]
       amount_2026-09  amount_2026-10  since_previous_amount
    0           120.0            90.0                  -30.0
    """
    if not isinstance(results, Mapping):
        kind = with_article(type(results).__name__)
        raise ParameterError(f"results is {kind}; pass results by their period, or use book.compare().")
    time, found = _time_of(results), _measure_of(measure, of_each_day=of_each_day)
    if periods is not None:
        read_whole_number(periods, "periods", "periods")
    named = {f"results[{label!r}]": frame for label, frame in results.items()}
    frames = from_native(ids_only=True, **named)
    first = next(iter(frames.values()))
    keys = key_columns(column_names(first))
    pair = _pair_of(found, column_names(first))
    for name, frame in frames.items():
        require(frame, name, pair if found.ratios else (measure,))
        _check_keys(name, key_columns(column_names(frame)), keys)
    tables = {label: to_arrow(frame) for label, frame in zip(results, frames.values(), strict=True)}
    figures = FiguresByPeriod(found, pair, time, tables, keys)
    shown = sorted(results)[-periods:] if periods else sorted(results)
    rows = list(figures.rows(shown))
    unit = FIGURES[found.unit]
    columns: dict[str, Any] = key_types(tables, keys)
    if as_columns:
        rows = periods_as_columns(rows, shown, time, unit)
        numbers = [*(f"{unit}_{label}" for label in shown), *(f"{name}_{unit}" for name in _OF_LAST)]
    else:
        columns[time] = pa.int64() if time == "year" else pa.string()
        numbers = [f"{name}_{unit}" for name in COLUMNS]
    columns |= dict.fromkeys(numbers, pa.float64())
    made = to_native(result_frame(first, rows, columns), next(iter(results.values())))
    if isinstance(made, pd.DataFrame):
        # For the titles of its table and chart, because the columns are named alike for every measure.
        made.attrs[MEASURE] = found.title
    return cast("IntoFrameT", made)


def _time_of(results: Mapping[str, Any]) -> str:
    for time, pattern in _LABELS.items():
        if results and all(re.fullmatch(pattern, str(label)) for label in results):
            return time
    raise ParameterError(
        f"results has the periods {', '.join(map(repr, results)) or 'none'}; it takes months such as '2026-10', "
        "quarters such as '2026-Q3' or years such as '2026', of one kind."
    )


def _measure_of(name: str, *, of_each_day: bool) -> Measure:
    found = measure_of(name)
    if found is None or found.unit not in FIGURES:
        raise ParameterError(f"measure={name!r} is not a figure of an analysis; name a column of the results.")
    if not of_each_day and not analyses_of_period(name):
        raise ParameterError(
            f"measure={name!r} is that of one day, and the billing system keeps no history of it: frames loaded today "
            "give today's, whatever the period. A mirror keeps past versions: run the analysis on the version of each "
            "day (as_of=) and pass of_each_day=True."
        )
    return found


def _pair_of(found: Measure, there: Sequence[str]) -> tuple[str, ...]:
    if not found.ratios:
        return (found.name, found.name)
    return next((pair for pair in found.ratios if set(pair) <= set(there)), found.ratios[0])


def _check_keys(name: str, own: Sequence[str], keys: Sequence[str]) -> None:
    if list(own) != list(keys):
        raise ParameterError(
            f"{name} has rows by {', '.join(own) or 'no keys'} and the first by {', '.join(keys) or 'no keys'}: pass "
            "results of the same analysis with the same by=."
        )
    for time in TIMES:
        if time in keys:
            raise ParameterError(f"{name} has rows by {time}; run the analysis without it, once for each period.")


def compare_of_book(
    book: Any,
    *,
    measure: str = "billing_realization",
    every: Literal["month", "quarter", "year"] = "month",
    periods: int = 12,
    by: By = None,
    as_columns: bool = False,
) -> pd.DataFrame:
    """
    Compare a figure over the months, quarters or years up to the book's last day.

    Parameters
    ----------
    measure : str
        A figure of an analysis with a period, such as "billed_amount", "billing_realization" or "utilization". Of
        several analyses, it is that of `realization`. Balances and work in progress have no history.
    every : {"month", "quarter", "year"}
        The length of the periods. The last is the one that the book's last day is in.
    periods : int
        How many periods are shown.
    by : str or list of str, optional
        Keys to group by; None gives one row a period.
    as_columns : bool
        Whether each period is a column and not a row, with the changes of the last one beside them.

    Returns
    -------
    DataFrame
        The columns of `billframes.compare`: the keys, `month`, `quarter` or `year`, and those in the measure's unit of
        `now_amount`, `previous_amount`, `since_previous_amount`, `year_ago_amount`, `since_year_ago_amount`,
        `twelve_months_amount`, `now_rate`, `previous_rate`, `since_previous_rate`, `year_ago_rate`,
        `since_year_ago_rate`, `twelve_months_rate`, `now_hours`, `previous_hours`, `since_previous_hours`,
        `year_ago_hours`, `since_year_ago_hours`, `twelve_months_hours`, `now_ratio`, `previous_ratio`,
        `since_previous_ratio`, `year_ago_ratio`, `since_year_ago_ratio`, `twelve_months_ratio`.
    """
    check_choice(every, "every", tuple(PERIODS_PER_YEAR))
    read_whole_number(periods, "periods", "periods")
    analyse = getattr(book, analysis_of(measure))
    last = pd.Timestamp(book.day(None)).date()
    quarter = f"{last.year}-Q{(last.month + 2) // 3}"
    label = {"month": f"{last:%Y-%m}", "quarter": quarter, "year": f"{last.year}"}[every]
    period, results = parse_period(label), {}
    # The book's frames are the same for each period.
    with share_checks():
        for back in range(periods + PERIODS_PER_YEAR[every]):
            end = min(period.end or last, last)
            results[earlier_period(label, back)] = analyse(by, start=period.start, end=end)
            period = period_before(period)
    _warn_of_part(measure, label, parse_period(label).end, last)
    return cast("pd.DataFrame", compare(results, measure, periods=periods, as_columns=as_columns))


def _warn_of_part(measure: str, label: str, end: dt.date | None, last: dt.date) -> None:
    """Warn of a sum over a period that is not over beside those of whole ones."""
    found = measure_of(measure)
    if found is not None and found.adds_up and end is not None and last < end:
        warn(
            f"compare: {label} counts only up to {last}, and is compared with whole periods. Ask for shorter ones "
            "(every=), or a book that ends with the period.",
            IncompleteDataWarning,
        )


def _measures() -> Iterator[Measure]:
    titles = {"amount": "Amount", "rate": "Hourly rate", "hours": "Hours", "ratio": "Ratio"}
    said = {
        "now": ("in the period", "The figure of the period."),
        "previous": ("in the period before", "The figure of the period before."),
        "since_previous": ("changed", "The change on the period before."),
        "year_ago": ("a year before", "The figure of the same period a year before."),
        "since_year_ago": ("changed in a year", "The change on the same period a year before."),
        "twelve_months": ("of twelve months", "The figure of the twelve months that end with the period."),
    }
    for unit, short in FIGURES.items():
        for name, (words, meaning) in said.items():
            shown = "points" if unit == "ratio" and "since" in name else unit
            yield Measure(f"{name}_{short}", f"{titles[short]} {words}", cast("Any", shown), meaning)


_OWN = tuple(_measures())
_NAMES = tuple(each.name for each in _OWN)
_DRAWN = tuple(f"{name}_{short}" for short in FIGURES.values() for name in ("year_ago", "now"))

ANALYSIS = Analysis(
    name="compare",
    question="How did a figure develop, month by month and on last year?",
    summary=(
        "It puts a figure of several months, quarters or years side by side, with the change on the period before and "
        "on the year before. Beside them stands the figure of twelve months."
    ),
    example=(
        "September brings fees of 120 and October 90, a change of −30. The October before had 100, so the change in a "
        "year is −10."
    ),
    formula="change = now − before; change in a year = now − a year before; twelve months = the sum, or ratio of sums",
    numerator="The figures of an analysis with a period, each as the analysis itself tells it.",
    left_out=(
        "Periods that were not passed: what is compared with them is missing, and so are twelve months without one.",
        "Balances and work in progress, which are those of one day. Versions of a mirror tell past ones.",
        "Twelve months of a median, and of what is neither a sum nor a ratio of sums.",
    ),
    cannot_tell=(
        "How the figure stood when the period ended: entries and invoices are as they are today.",
        "What is not over yet: the last period can be shorter than those it is compared with.",
    ),
    columns=_OWN,
    table=TableSpec(title="Compared", columns=(PERIODS, *_NAMES), optional=_NAMES, adds_up=False),
    chart=ChartSpec(
        kind="bars",
        title="Beside the year before",
        columns=_DRAWN,
        optional=_DRAWN,
        words=[f"{{now_{short}:axis}}" for short in FIGURES.values()],
        shows="the figure (dark) on that of a year before (pale).",
        more="Of one key, months stand side by side. Words are the figure of the period.",
        example={"month": ["2026-09", "2026-10"], "year_ago_amount": [100.0, 100.0], "now_amount": [120.0, 90.0]},
        gives=(["120", "90"], "Beside the year before by month"),
    ),
    book=FromBook(first="measure", method=compare_of_book),
)
