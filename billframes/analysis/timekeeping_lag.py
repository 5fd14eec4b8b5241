"""Timekeeping lag: how late time is entered.

Counted in whole days from the work's date to the day, in the firm's time zone, on which the entry was created.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes._messages import warn
from billframes.analysis.column_types import Frame
from billframes.analysis.coverage import ITEM_FILTERS, need_period
from billframes.analysis.engine import collect, eager_from_arrow, sum_by, to_arrow
from billframes.analysis.expressions import day_number, in_period, null_column
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.grouping import Grouping
from billframes.analysis.keys import By, Key
from billframes.analysis.metrics import Measure, ratio_measure, shared_measures, sum_measure
from billframes.analysis.spec import Analysis, ChartSpec, TableSpec
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning
from billframes.periods import DateLike, Period, resolve

__all__ = ["ANALYSIS", "timekeeping_lag"]

C = nw.col


# Grouping by the lag itself leaves few rows; medians and percentiles of these are computed in Python.
_LAG = Key(("_lag",), ("_lag",), (("_lag",),))
_ROW = ("_entries",)
_COLUMNS = (
    "entries",
    "median_lag_days",
    "p90_lag_days",
    "same_day_entries",
    "same_day_ratio",
    "next_day_entries",
    "next_day_ratio",
    "late_entries",
    "late_ratio",
    "future_dated_entries",
    "unknown_entries",
)


@dataclass(slots=True)
class _Lags:
    """How many entries of one group have which lag; parts of entries if originators share them."""

    labels: dict[str, Any] = field(default_factory=dict)
    counts: dict[float, float] = field(default_factory=dict)
    unknown: float = 0.0

    def add(self, row: dict[str, Any], names: Sequence[str]) -> None:
        self.labels |= {name: row[name] for name in names if row[name] is not None or name not in self.labels}
        if row["_lag"] is None:
            self.unknown += row["_entries"]
        else:
            self.counts[row["_lag"]] = self.counts.get(row["_lag"], 0.0) + row["_entries"]

    @property
    def figures(self) -> dict[str, float | None]:
        """The result's columns, by name."""
        lags = self.counts.items()
        entries = float(sum(self.counts.values()))
        counts = {
            "same_day": float(sum(count for lag, count in lags if lag <= 0)),
            "next_day": float(sum(count for lag, count in lags if lag <= 1)),
            "late": float(sum(count for lag, count in lags if lag > 7)),
            "future_dated": float(sum(count for lag, count in lags if lag < 0)),
        }
        return {
            "entries": entries,
            "unknown_entries": self.unknown,
            "median_lag_days": self._quantile(0.5),
            "p90_lag_days": self._quantile(0.9),
            **{f"{name}_entries": count for name, count in counts.items()},
            **{f"{name}_ratio": count / entries if entries else None for name, count in counts.items()},
        }

    def _quantile(self, share: float) -> float | None:
        """Interpolate between the two entries nearest to the place, as pandas does."""
        if not self.counts:
            return None
        place = max(share * (sum(self.counts.values()) - 1.0), 0.0)
        low = self._nth(math.floor(place))
        return low + (place - math.floor(place)) * (self._nth(math.floor(place) + 1) - low)

    def _nth(self, place: float) -> float:
        passed = 0.0
        for lag in sorted(self.counts):
            passed += self.counts[lag]
            # Parts of entries add up to a whole one but for a residue.
            if passed > place + 1e-9:
                return lag
        return max(self.counts)


def timekeeping_lag(
    time_entries: IntoFrameT,
    *,
    start: DateLike | None = None,
    end: DateLike | None = None,
    by: By = "user",
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    matters: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Days from the work's date to the day its entry was created, in the firm's time zone.

    Parameters
    ----------
    time_entries : frame
        With `date` and `created_at` (UTC; the loader's `select` "meta" supplies it), and the columns that `by` needs.
    start, end : str or date, optional
        First and last day of the work, inclusive; None leaves an end open. `start` also takes a whole period such
        as "2026-Q3".
    by : str or list of str, optional
        Keys to group by; None gives one row.
    users, matters : frame, optional
        With `matter_id` or `user_id` and the columns that `by` names.
    clients : frame, optional
        With `client_id` and the columns that `by` names, such as custom fields (`client_cf_…`).
    settings : FirmSettings, optional
        `time_zone` tells on which day an instant falls; UTC without them.

    Returns
    -------
    frame
        Of the same kind as the input, sorted by label: the keys and, as float64,

        - `entries`: entries whose time of entry is known (parts of them by originator)
        - `median_lag_days`, `p90_lag_days`: interpolated between neighbours, as pandas does
        - `same_day_entries`, `same_day_ratio`: entered at most 0 days after the work
        - `next_day_entries`, `next_day_ratio`: at most 1 day
        - `late_entries`, `late_ratio`: more than 7 days
        - `future_dated_entries`: created before the work's date (a negative lag; among the same-day ones, too)
        - `unknown_entries`: without `created_at`; in no other column

        Ratios and percentiles are missing if there are no entries.

    Raises
    ------
    ParameterError
        `by` is unknown, the period can't be read, or frames are of different engines.
    MissingColumnError
        A column is missing.

    Warns
    -----
    IncompleteDataWarning
        Entries have no `created_at`, or it has no time zone and the firm's is not UTC (it is taken for UTC).

    Notes ----- Time zones and percentiles differ from engine to engine, so on lazy frames the columns needed are
    collected. The result is of the same kind as the input, also if that is lazy.

    Examples
    --------
    Three in the morning in UTC is the evening before in New York:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-10-01", "2026-10-01"]), "user_id": ["u1"] * 3,
    ...     "created_at": pd.to_datetime(["2026-10-02T03:00Z", "2026-10-03T15:00Z", "2026-10-11T15:00Z"]),
    ... })
    >>> result = timekeeping_lag(entries, by=None, settings=FirmSettings(time_zone="America/New_York"))
    >>> result[["entries", "median_lag_days", "p90_lag_days", "same_day_ratio", "late_ratio"]].round(3)
       entries  median_lag_days  p90_lag_days  same_day_ratio  late_ratio
    0      3.0              2.0           8.4           0.333       0.333
    """
    period = resolve(start, end)
    frames = from_native(time_entries=time_entries, users=users, matters=matters, clients=clients)
    need_period("timekeeping_lag", {"time_entries": time_entries}, period, ITEM_FILTERS)
    grouping = Grouping.of(by, frames, settings)
    groups, types = _groups(_histogram(frames["time_entries"], grouping, period), grouping)
    _warn_of_unknown(groups)
    made = eager_from_arrow(frames["time_entries"], _table(groups, types))
    return cast("IntoFrameT", to_native(grouping.finish(made, _COLUMNS), time_entries))


def _histogram(entries: Frame, grouping: Grouping, period: Period) -> pa.Table:
    """Count the entries of each group and lag."""
    columns = ("date", "created_at", *grouping.row_columns)
    work = collect(in_period(select_columns(entries, "time_entries", columns), "date", period))
    _warn_of_no_zone(work, grouping.settings.time_zone)
    known = work.filter(~C("created_at").is_null())
    local = known.with_columns(_created=C("created_at").dt.convert_time_zone(grouping.settings.time_zone))
    lagged = local.with_columns(_lag=day_number("_created") - day_number("date"))
    unknown = work.filter(C("created_at").is_null()).with_columns(_lag=null_column(nw.Float64))
    wider = grouping.with_key(_LAG)
    counts = [
        sum_by(wider.with_periods(part, "date").with_columns(_entries=nw.lit(1.0)), wider.base, _ROW)
        for part in (lagged, unknown)
    ]
    return to_arrow(wider.add_up(nw.concat(counts), _ROW))


def _groups(histogram: pa.Table, grouping: Grouping) -> tuple[list[_Lags], dict[str, pa.DataType]]:
    """Collect the lags of each group, and the types of the keys' columns; without keys there is one group."""
    names = grouping.columns
    groups: dict[tuple[Any, ...], _Lags] = {} if grouping.keys else {(): _Lags()}
    for row in histogram.to_pylist():
        groups.setdefault(tuple(row[key.columns[0]] for key in grouping.keys), _Lags()).add(row, names)
    return list(groups.values()), {name: histogram.schema.field(name).type for name in names}


def _table(groups: Sequence[_Lags], types: dict[str, pa.DataType]) -> pa.Table:
    rows = [group.labels | group.figures for group in groups]
    fields = types | dict.fromkeys(_COLUMNS, pa.float64())
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in fields.items()})


def _warn_of_no_zone(work: Frame, firm_zone: str) -> None:
    """Warn of times that have lost their zone, if the firm's is another than UTC: else the day is the same."""
    zone = getattr(work.collect_schema()["created_at"], "time_zone", "")
    if zone is None and firm_zone != "UTC":
        warn(
            "time_entries: created_at has no time zone, so it is taken for UTC. If it is the firm's own time, entries "
            "made near midnight are counted a day off. Give the zone, for example with "
            "frame['created_at'].dt.tz_localize('UTC') in pandas.",
            IncompleteDataWarning,
        )


def _warn_of_unknown(groups: Sequence[_Lags]) -> None:
    count = round(sum(group.unknown for group in groups))
    if count:
        warn(
            f"{count} time entries have no created_at; they are in unknown_entries and in no lag. "
            "Load time entries with select='meta'.",
            IncompleteDataWarning,
        )


ANALYSIS = Analysis(
    name="timekeeping_lag",
    question="How many days after the work is time entered?",
    summary=(
        "It counts the days from the work to the day the entry was made, in the firm's time zone. Late "
        "entries are often incomplete ones."
    ),
    example=(
        "Of 3 entries for 1 October, one was made on the same day, one 2 days later and one 10 days later: "
        "the median is 2 days, and a third came more than a week late."
    ),
    formula="day of entry in the firm's time zone − work date; its median, 90th percentile and shares",
    numerator="entries at most 0, at most 1, and more than 7 days late",
    denominator="entries whose time of entry is known",
    left_out=("entries without `created_at`: in `unknown_entries`",),
    cannot_tell=("later changes: only the first entry of the time counts", "time noted on paper before"),
    columns=(
        *shared_measures("entries"),
        Measure(
            "median_lag_days", "Median lag", "days", "Half of the entries came at most so many days after the work."
        ),
        Measure(
            "p90_lag_days", "90th percentile", "days", "Nine in ten entries came at most so many days after the work."
        ),
        sum_measure("same_day_entries", "Same day", "count", "Entered on the day of the work or before it."),
        ratio_measure("same_day_ratio", "Same day share", "same_day_entries / entries", "Same day ÷ entries."),
        sum_measure("next_day_entries", "By the next day", "count", "Entered at most a day after the work."),
        ratio_measure("next_day_ratio", "Next day share", "next_day_entries / entries", "By the next day ÷ entries."),
        sum_measure("late_entries", "Late", "count", "Entered more than 7 days after the work."),
        ratio_measure("late_ratio", "Late share", "late_entries / entries", "Late ÷ entries."),
        sum_measure("future_dated_entries", "Future-dated", "count", "Entered before the day of the work."),
        sum_measure("unknown_entries", "Of unknown time", "count", "Entries whose time of entry is not known."),
    ),
    table=TableSpec(
        title="Days from work to entry",
        without=(
            "same_day_entries",
            "next_day_entries",
            "late_entries",
        ),
    ),
    chart=ChartSpec(
        kind="points",
        title="Days from work to entry",
        columns=("median_lag_days", "p90_lag_days"),
        words=["{late_ratio} late"],
        shows="the median entry's days and the 90th percentile's.",
        more="A row's words are its late share: entries made more than 7 days after the work.",
        example={"user_name": ["Ada"], "median_lag_days": [1.0], "p90_lag_days": [9.0], "late_ratio": [0.125]},
        gives=(["12.5% late"], "Days from work to entry by timekeeper"),
    ),
)
