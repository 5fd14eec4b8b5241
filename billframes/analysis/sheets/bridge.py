"""Bridge: split the change of a figure between two results of the same analysis into its causes.

A ratio of sums changes for two reasons: a group itself changes (a client's realization falls), or work moves between
groups (more work is for a client with a low realization). Fees billed change with hours, rates, realization and the
mix of the work. Each part is measured at the mean of before and after (the midpoint rule). So the parts add up to the
change exactly, in every row and in the total, and do not depend on the order of the calculation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes._shared.format import long_date
from billframes._shared.names import closest
from billframes._shared.notes import Notes
from billframes.analysis.data.call import finished
from billframes.analysis.data.data_span import CountedDays, both_spans, covers, read_counted_days
from billframes.analysis.data.engine import eager_from_arrow, to_arrow
from billframes.analysis.data.native import as_table, require_among, wrap_frames
from billframes.analysis.data.repeated_ids import refuse_unlike_ids
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.lookup import analyses, measure as measure_of
from billframes.analysis.declare.metrics import FIGURES, Measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.keys.by import By
from billframes.analysis.results.compared_results import (
    BILLED,
    ENDS,
    Matched,
    analysis_of,
    common_keys,
    refuse_wrong_rows,
)
from billframes.analysis.results.midpoint import split_columns, split_fees, split_ratio
from billframes.analysis.results.result_rows import MEASURE, key_columns
from billframes.analysis.rules.periods import UNDIVIDED_CHANGE, UNDIVIDED_FEES, UNDIVIDED_RATIO, UNEQUAL_LENGTHS
from billframes.errors import ParameterError
from billframes.periods import CALENDAR_YEAR, DateLike, Period, period_before

_OF_FEES = (BILLED, "billable_hours", "worked_amount")


def bridge(before: IntoFrameT, after: IntoFrameT, measure: str = "billing_realization", *, by: By = None) -> IntoFrameT:
    """
    Split the change of a ratio into own change and mix by group, or of fees billed into hours, rate and realization.

    The parts are measured at the mean of before and after, so in every row and in all rows together they add up to the
    change exactly; `bf.explain("bridge")` has the formulas. A group that is in only one of the results has no own
    change: its change is mix (and hours). A numerator without a denominator, such as a credit note, is own change; for
    fees billed it is a change of realization. Lazy frames are collected, because rows are sorted; the result is lazy
    again.

    Parameters
    ----------
    before, after : frame
        Results of one analysis for two periods, with the same keys and options, and with all their rows.
    measure : str
        A ratio of the results, such as "billing_realization", "utilization" or "effective_rate"; or "billed_amount",
        which also needs the columns `billable_hours` and `worked_amount`.
    by : str or list of str, optional
        Those of the results' keys by which rows are added up first; all keys by default. [] gives one row.

    Examples
    --------
    >>> before = pd.DataFrame({
    ...     "client_id": ["c1", "c2"], "client_name": ["Acme", "Bolt"],
    ...     "worked_amount": [800.0, 200.0], "billed_amount": [720.0, 120.0], "billing_realization": [0.9, 0.6],
    ... })
    >>> after = before.assign(worked_amount=[500.0, 500.0], billed_amount=[400.0, 300.0])
    >>> parts = bridge(before, after, "billing_realization")
    >>> parts[["client_name", "before_ratio", "after_ratio", "own_change_ratio", "mix_change_ratio"]].round(4)
      client_name  before_ratio  after_ratio  own_change_ratio  mix_change_ratio
    0        Acme           0.9          0.8            -0.065            -0.024
    1        Bolt           0.6          0.6             0.000            -0.051

    The firm's realization falls from 84% to 70%, by 14 points: 6.5 are Acme's own change, and 7.5 are mix.

    >>> parts[["own_change_ratio", "mix_change_ratio", "change_ratio"]].sum().round(4).tolist()
    [-0.065, -0.075, -0.14]
    >>> bridge(before, after, "billing_realization", by=[])[["before_ratio", "after_ratio", "change_ratio"]]
       before_ratio  after_ratio  change_ratio
    0          0.84          0.7         -0.14
    """
    named, notes = {"before": before, "after": after}, Notes(subject="bridge")
    frames = wrap_frames(named, whole=True)
    refuse_unlike_ids(frames)
    columns, unit = _columns_to_split(measure, {name: column_names(frame) for name, frame in frames.items()})
    keys = common_keys(frames, by)
    tables = {name: to_arrow(frame) for name, frame in frames.items()}
    for name, table in tables.items():
        refuse_wrong_rows(table, name, key_columns(table.column_names))
    table = _table(tables, keys, columns, unit, notes)
    return cast("IntoFrameT", _result(eager_from_arrow(frames["after"], table), named, measure, notes))


def _result(rows: Frame, named: Mapping[str, Any], measure: str, notes: Notes) -> Any:
    before, after = named.values()
    _note_lengths(measure, read_counted_days(before), read_counted_days(after), notes)
    result = finished(rows, after, notes, named, both_spans(before, after))
    if isinstance(result, pd.DataFrame) and (found := measure_of(measure)):
        result.attrs[MEASURE] = found.title
    return result


def _table(
    tables: Mapping[str, pa.Table], keys: Sequence[str], columns: Sequence[str], unit: str, notes: Notes
) -> pa.Table:
    """Split the changes of each group, the largest first."""
    matched = Matched.of({name: tables[name] for name in reversed(ENDS)}, keys, columns)
    figures = [np.array([matched.figures[end][name] for end in ENDS]) for name in columns]
    for name, each in zip(columns, figures, strict=True):
        of_worth = UNDIVIDED_FEES if columns == _OF_FEES else UNDIVIDED_RATIO
        rule = of_worth if name == "worked_amount" else UNDIVIDED_CHANGE
        missing = int(np.isnan(each).any(axis=0).sum())
        notes.add(rule, missing, about=name, column=f"`{name}`", all=each.shape[1])
    split = split_fees(*figures) if columns == _OF_FEES else split_ratio(figures[0], figures[1], unit)
    # Rounded, so that all engines sort alike; a missing change is the smallest.
    sizes = [-1.0 if math.isnan(each) else round(abs(each), 9) for each in split[f"change_{unit}"].tolist()]
    labels = matched.labels
    order = sorted(range(len(sizes)), key=lambda at: (-sizes[at], labels[at]))
    groups = {name: matched.keys[name] for name in matched.keys.column_names}
    return pa.table(groups | split).take(pa.array(order, pa.int64()))


def _columns_to_split(measure: str, there: Mapping[str, list[str]]) -> tuple[tuple[str, ...], str]:
    """Return the columns from which a measure is split, and the unit of its split; refuse results without them."""
    common = [name for name in there["after"] if name in there["before"]]
    found = measure_of(measure)
    if found is None or not (measure == BILLED or _is_ratio(found)):
        possible = [name for name in common if _is_ratio(measure_of(name))]
        possible += [BILLED] if set(_OF_FEES) <= set(common) else []
        raise ParameterError(
            f"measure={measure!r} can't be split.{closest(measure, possible)} It takes a ratio of sums, an hourly "
            "rate, or fees billed with their hours and value; of these, the results have "
            f"{', '.join(map(repr, possible)) or 'none'}."
        )
    pairs: Sequence[tuple[str, ...]] = [_OF_FEES] if measure == BILLED else found.ratios
    columns = next((each for each in pairs if {*each} <= {*common}), pairs[0])
    for name, own in there.items():
        require_among(own, name, [*columns])
    return columns, FIGURES[found.unit]


def _is_ratio(found: Measure | None) -> bool:
    return found is not None and bool(found.ratios) and found.unit in ("ratio", "rate")


def bridge_of_book(
    book: Any,
    *,
    measure: str = "billing_realization",
    by: By = "client",
    before: DateLike | tuple[DateLike, DateLike] | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
) -> pd.DataFrame:
    """
    Split the change of a ratio or of fees billed since an earlier period by group.

    Parameters
    ----------
    measure : str
        A ratio or hourly rate of an analysis with a period, such as "billing_realization", "settlement_ratio",
        "effective_rate" or "utilization"; or "billed_amount". If several analyses have it, `realization` is used.
    by : str or list of str, optional
        Keys to group by.
    before : date-like or (first, last), optional
        The earlier period, such as "2025-10"; by default the period of the same length that ends the day before. A
        period that is not over ends on the day of the load, and is by default compared with as many days: a month or
        quarter with the same days of the one before, a year with the same days of the year before.
    """
    analysis = analyses()[analysis_of(measure)]
    whole = Period(*book._days.span(start, end))
    now = book._days.until_load(whole, analysis.takes, "bridge")
    if before is None:
        fiscal = book.settings and book.settings.fiscal_year
        then = period_before(whole, None if now == whole else now.end, fiscal or CALENDAR_YEAR)
    else:
        then = Period(*book._days.span(*(before if isinstance(before, tuple) else (before, None))))
    if then.start is None or then.end is None or now.start is None or now.end is None:
        raise ParameterError("Both periods need a first and a last day: name months, quarters or years, or two dates.")
    if then.end >= now.start:
        how = "overlaps" if then.start <= now.end else "is after"
        raise ParameterError(f"before ({then.start} to {then.end}) {how} {now.start} to {now.end}.")
    if not covers(book.first_day, then.start):
        raise ParameterError(
            f"The period before begins on {long_date(then.start)}, before the first day of the data, "
            f"{long_date(book.first_day)}, so the change is not known. Choose a later period, or pass before=."
        )
    method, spans = getattr(book, analysis.name), dict(zip(ENDS, (then, now), strict=True))
    results = {name: method(by, start=each.start, end=each.end) for name, each in spans.items()}
    columns, unit = _columns_to_split(measure, {name: [*each.columns] for name, each in results.items()})
    keys, notes = key_columns([*results["after"].columns], analysis), Notes(subject="bridge")
    tables = {name: as_table(each, [*keys, *columns]) for name, each in results.items()}
    table = _table(tables, keys, columns, unit, notes)
    return cast("pd.DataFrame", _result(cast("Frame", nw.from_native(table)), results, measure, notes))


def _note_lengths(measure: str, before: CountedDays, after: CountedDays, notes: Notes) -> None:
    """Note fees of periods of different lengths; a tenth is normal for months."""
    days = [(each.until - each.start).days + 1 for each in (before, after) if each.until and each.start]
    if measure == BILLED and len(days) == len(ENDS) and max(days) > 1.15 * min(days):
        words = {"before": days[0], "after": days[1], "until": after.until}
        notes.add(UNEQUAL_LENGTHS, abs(days[0] - days[1]), **words)


_SHOWN = tuple(
    each.name for each in split_columns() if not each.name.endswith(("_part", "_whole", "_hours", "_worked_amount"))
)

_STEPS = (
    *("change_ratio", "change_rate", "hours_change_amount", "rate_change_amount", "realization_change_amount"),
    "mix_change_amount",
)

ANALYSIS = Analysis(
    function=bridge,
    question="Why did a ratio or the fees billed change, and which clients, matters or people caused the change?",
    summary=(
        "It splits the change of a ratio into the groups' own changes and the mix (work that moved between groups), "
        "and the change of fees billed into hours, rate, realization and mix. The parts add up to the change exactly."
    ),
    example=(
        "Acme's realization falls from 90% to 80%, and its share of the work from 80% to 50%. Bolt's realization stays "
        "at 60%. The firm's realization falls from 84% to 70%, by 14 points: 6.5 are Acme's own change, and 7.5 are "
        "mix, because more of the work is for Bolt."
    ),
    formula=(
        "for a ratio: own change = ½ (w before + w after) × (r after − r before); mix = ½ ((r − R) before + (r − R) "
        "after) × (w after − w before), with r the group's ratio, w its share of the denominator and R the ratio of "
        "the whole. For fees billed: hours = ½ (E before + E after) × change of hours, with E the effective rate of "
        "the whole; mix = ½ ((e − E) before + (e − E) after) × change of hours, with e the group's effective rate; "
        "rate = mean hours × mean realization × change of value per hour; realization = mean hours × mean value per "
        "hour × change of billed ÷ value"
    ),
    numerator="The numerator of the ratio; for an effective rate, the fees billed.",
    denominator="The denominator of the ratio; for an effective rate, the hours.",
    left_out=(
        "Nothing. A group that is in only one of the periods has no own change: its change is mix (and hours). A "
        "numerator without a denominator, such as a credit note, is own change; for fees billed it is realization.",
        "Rows that were not passed: pass whole results, not only the first ten rows.",
    ),
    cannot_tell=(
        "Why a group changed: the result only shows which group to look at.",
        "The value of a lawyer's hour if it had been worked in another matter: mix depends on the groups, so the "
        "results by client and by timekeeper differ.",
    ),
    own=("by",),
    rows="largest change first, then by label: the keys, then those for a ratio, an hourly rate or fees billed, of",
    columns=split_columns(),
    table=TableSpec(title="What changed", columns=_SHOWN, optional=_SHOWN),
    chart=ChartSpec(
        kind="waterfall",
        title="From before to after",
        columns=_STEPS,
        optional=_STEPS,
        ends=(
            ("before_ratio", "after_ratio"),
            ("before_rate", "after_rate"),
            ("before_amount", "after_amount"),
        ),
        words=(),
        shows="the steps from the figure before to the figure after.",
        more="For a ratio or a rate, a step is the change of a group (own change + mix); after 11 groups, all others "
        "are one step. For fees billed, the steps are hours, rate, realization and mix. Compare the lengths of the "
        "steps only: the axis may not begin at 0.",
    ),
    book=FromBook(first="measure", method=bridge_of_book),
)
