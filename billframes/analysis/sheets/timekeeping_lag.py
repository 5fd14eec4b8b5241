"""Timekeeping lag: the days from the date of the work to the day on which its entry was created.

Days are whole days in the firm's time zone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, eager_from_arrow, to_arrow
from billframes.analysis.data.expressions import C, day_number, in_period
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, ratio_measure, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.facts.items import items
from billframes.analysis.keys.by import By, Key
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.loads import ITEM_FILTERS, need_period
from billframes.analysis.rules.periods import NO_TIME_ZONE, NOT_ENTERED
from billframes.periods import DateLike, Period

# Entries are counted by lag. This leaves few rows, so medians and percentiles are calculated in Python.
_LAG = Key(("_lag",), ("_lag",), (("_lag",),))
_ONE = nw.lit(1.0)
_SUMS = (
    Sum("entries", _ONE, ~C("_lag").is_null()),
    Sum("unknown_entries", _ONE, C("_lag").is_null()),
    Sum("same_day_entries", _ONE, C("_lag") <= 0),
    Sum("next_day_entries", _ONE, C("_lag") <= 1),
    Sum("late_entries", _ONE, C("_lag") > 7),
    Sum("future_dated_entries", _ONE, C("_lag") < 0),
)


@sheet("time_entries", "matters?", "users?", "clients?")
def timekeeping_lag(
    call: Call, *, start: DateLike | None = None, end: DateLike | None = None, by: By = "user"
) -> Frame:
    """
    Days from the date of the work to the day its entry was created, in the firm's time zone.

    Parameters
    ----------
    time_entries : frame
        With `date` and `created_at` (UTC; the loader's `select` "meta" supplies it), and the columns that `by` needs.

    Examples
    --------
    03:00 UTC on 2 October is still 1 October in New York:

    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-10-01", "2026-10-01"]), "user_id": ["u1"] * 3,
    ...     "created_at": pd.to_datetime(["2026-10-02T03:00Z", "2026-10-03T15:00Z", "2026-10-11T15:00Z"]),
    ... })
    >>> result = timekeeping_lag(entries, by=None, settings=bf.FirmSettings(time_zone="America/New_York"))
    >>> result[["entries", "median_lag_days", "p90_lag_days", "same_day_ratio", "late_ratio"]].round(3)
       entries  median_lag_days  p90_lag_days  same_day_ratio  late_ratio
    0      3.0              2.0           8.4           0.333       0.333
    """
    period, keys = call.period(start, end), Keys.of(call, by)
    need_period(call, ("time_entries",), period, ITEM_FILTERS)
    call.require("time_entries", "created_at")
    keys.require_ids("time_entries")
    histogram = _histogram(call, keys, period)
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {} if keys.keys else {(): []}
    for row in histogram.to_pylist():
        groups.setdefault(tuple(row[key.columns[0]] for key in keys.keys), []).append(row)
    rows = [_figures(each, keys.columns) for each in groups.values()]
    call.notes.add(NOT_ENTERED, sum(row["unknown_entries"] for row in rows))
    fields = {name: histogram.schema.field(name).type for name in keys.columns}
    fields |= {name: pa.float64() for name in ANALYSIS.measure_names if not name.endswith("_ratio")}
    table = pa.Table.from_pylist(rows, pa.schema(fields))
    return keys.labelled(eager_from_arrow(call["time_entries"], table), ANALYSIS.measure_names)


def _histogram(call: Call, keys: Keys, period: Period) -> pa.Table:
    rows = collect(in_period(call.fact(items, ("created_at", *keys.of_items)), "date", period))
    # Times without a time zone are in UTC.
    zone, own_zone = getattr(rows.collect_schema()["created_at"], "time_zone", ""), call.settings.time_zone
    if zone is None and own_zone != "UTC":
        call.notes.add(NO_TIME_ZONE, 1, "time_entries")
    rows = rows.with_columns(_created=C("created_at").dt.convert_time_zone(own_zone))
    rows = rows.with_columns(_lag=day_number("_created") - day_number("date"))
    wider = keys.with_key(_LAG)
    return to_arrow(wider.by_key(wider.sum(rows, _SUMS, date="date")))


def _figures(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """Return the row of one group, from its number of entries by lag."""
    labels = {name: next((row[name] for row in reversed(rows) if row[name] is not None), None) for name in names}
    sums = {each.name: sum((row[each.name] for row in rows), 0.0) for each in _SUMS}
    counts = sorted((row["_lag"], row["entries"]) for row in rows if row["_lag"] is not None)
    return {**labels, **sums, "median_lag_days": _quantile(counts, 0.5), "p90_lag_days": _quantile(counts, 0.9)}


def _quantile(counts: Sequence[tuple[float, float]], share: float) -> float | None:
    """Interpolate between the two nearest entries, as pandas does; by originator, an entry can be divided."""
    if not counts:
        return None
    ends = list(accumulate(count for _, count in counts))
    place, rest = divmod(max(share * (ends[-1] - 1.0), 0.0), 1.0)
    # The tolerance is for parts of entries, whose sum can be a little below a whole number.
    low, high = (counts[min(bisect_right(ends, nth + 1e-9), len(counts) - 1)][0] for nth in (place, place + 1.0))
    return low + rest * (high - low)


ANALYSIS = Analysis(
    function=timekeeping_lag,
    question="How many days after the work is time entered?",
    summary=(
        "It counts the days from the work to the day the entry was made, in the firm's time zone. Time that is entered "
        "late is often incomplete."
    ),
    example=(
        "Of 3 entries for 1 October, one was made on the same day, one 2 days later and one 10 days later. The median "
        "is 2 days, and a third of the entries was made more than a week late."
    ),
    formula="day of entry in the firm's time zone − work date; its median, 90th percentile and shares",
    numerator="entries at most 0, at most 1, and more than 7 days late",
    denominator="entries whose time of entry is known",
    left_out=("entries without `created_at`: they are in `unknown_entries`",),
    cannot_tell=(
        "later changes: only the creation of an entry counts",
        "time that was noted on paper before it was entered",
    ),
    arguments={
        "start": "By the date of the work.",
        "settings": "`time_zone`: in which the day of creation is calculated; UTC by default.",
    },
    columns=(
        *shared_measures("entries"),
        Measure("median_lag_days", "Median lag", "days", "Half of the entries were made within this number of days."),
        Measure(
            "p90_lag_days",
            "90th percentile of lag",
            "days",
            "Nine in ten entries were made within this number of days.",
        ),
        sum_measure("same_day_entries", "On the same day", "count", "Entered on the day of the work or before it."),
        ratio_measure("same_day_ratio", "Share on the same day", "same_day_entries / entries"),
        sum_measure("next_day_entries", "By the next day", "count", "Entered at most a day after the work."),
        ratio_measure("next_day_ratio", "Share by the next day", "next_day_entries / entries"),
        sum_measure("late_entries", "Entered late", "count", "Entered more than 7 days after the work."),
        ratio_measure("late_ratio", "Share entered late", "late_entries / entries"),
        sum_measure("future_dated_entries", "Future-dated", "count", "Entered before the day of the work."),
        sum_measure("unknown_entries", "Time of entry unknown", "count", "Entries whose time of entry is unknown."),
    ),
    table=TableSpec(
        title="Days from work to entry",
        without=("same_day_entries", "next_day_entries", "late_entries"),
    ),
    chart=ChartSpec(
        kind="points",
        title="Days from work to entry",
        columns=("median_lag_days", "p90_lag_days"),
        words=["{late_ratio} late"],
        order="p90_lag_days",
        shows="the median and the 90th percentile of the days.",
        more="The text beside a row is the share of late entries, made more than 7 days after the work.",
    ),
    book=FromBook(ends_with_load=False),
)
