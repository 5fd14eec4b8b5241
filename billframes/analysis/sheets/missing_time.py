"""Missing time: working days on which a timekeeper has entered less time than expected."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import to_dicts
from billframes.analysis.data.expressions import RESIDUE, in_period, midnight
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec
from billframes.analysis.facts.capacity import days_at_firm, working_days
from billframes.analysis.facts.items import items
from billframes.analysis.rules.loads import need_period
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.loading.load_info import load_day, load_info
from billframes.periods import DateLike, Period


@sheet("time_entries", "matters?", "users?")
def missing_time(
    call: Call,
    *,
    start: DateLike,
    end: DateLike | None = None,
    threshold: float | None = None,
    roster: Literal["timekeepers", "active"] = "timekeepers",
) -> Frame:
    """
    Working days on which a timekeeper has entered fewer hours than a threshold, one row per person and day.

    All hours count, also non-billable and internal ones. Working days follow the settings: the working days of the
    week, less holidays, the person's leave, and the days before the person's start and after their end.

    Parameters
    ----------
    time_entries : frame
        With `date`, `user_id`, `matter_id`, `hours` and `billing_type`; of any period, it is filtered here.
    threshold : float, optional
        A day with fewer hours is listed; above 0 and at most 24. By default half of the person's hours a day, so that a
        day which is only a little short is not listed.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01"]), "user_id": ["u1"], "matter_id": ["m1"], "hours": [3.0],
    ...     "billing_type": ["billable"], "matter_type": ["hourly"],
    ... })
    >>> users = pd.DataFrame({"user_id": ["u1"], "name": ["Ada"], "role": ["principal"]})
    >>> missing_time(entries, start="2026-10-01", end="2026-10-04", users=users)[
    ...     ["date", "user_name", "hours", "threshold_hours", "missing_hours"]]
            date user_name  hours  threshold_hours  missing_hours
    0 2026-10-01       Ada    3.0              4.0            5.0
    1 2026-10-02       Ada    0.0              4.0            8.0
    """
    _check_threshold(threshold)
    first, last = call.bounded_period(start, end)
    need_period(call, ("time_entries",), Period(first, last), ("user_id",))
    if _nobody_records_time(call.natives["time_entries"]):
        return call.listed([], ANALYSIS.schema)
    people = call.ask("utilization", by="user", start=start, end=end, roster=roster)
    # After the load, nobody has entered time yet; before the first day of the data, nothing is known.
    last = min(last, load_day(call.natives["time_entries"], call.settings.time_zone) or last)
    first = max(first, call.first_day("time_entries") or first)
    hours = _hours_entered(call, Period(first, last))
    days = sorted(working_days(call.settings, first, last))
    rows = _missing_days(to_dicts(people.select("user_id", "user_name")), hours, days, threshold, call.settings)
    return call.listed(rows, ANALYSIS.schema)


def _nobody_records_time(entries: Any) -> bool:
    """Tell whether the whole load has no entry: a firm of flat fees records none, and so nobody's time is missing."""
    info = load_info(entries)
    return info is not None and info.rows == 0 and not (info.start or info.end or info.arguments)


def _check_threshold(threshold: float | None) -> None:
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if threshold is not None and not (number and 0 < threshold <= 24):
        raise ParameterError(f"threshold={threshold!r} takes hours a day, above 0 and at most 24.")


def _hours_entered(call: Call, period: Period) -> dict[tuple[str, dt.date], float]:
    rows = in_period(call.fact(items, ("user_id", "hours")), "date", period)
    sums = to_dicts(rows.group_by("user_id", "date").agg(nw.col("hours").sum()))
    return {(row["user_id"], row["date"].date()): row["hours"] for row in sums}


def _missing_days(
    people: Sequence[dict[str, Any]],
    hours_entered: dict[tuple[str, dt.date], float],
    days: Sequence[dt.date],
    threshold: float | None,
    settings: FirmSettings,
) -> Iterator[dict[str, Any]]:
    for person in people:
        user = person["user_id"]
        available = settings.user_hours.get(user, settings.hours_per_day)
        limit = available / 2 if threshold is None else float(threshold)
        for day in days_at_firm(user, days, settings) if user is not None and available else ():
            hours = hours_entered.get((user, day), 0.0)
            # If the hours are NaN, the day is listed, with its hours missing.
            if not hours >= limit - RESIDUE:
                yield {
                    **person,
                    "date": midnight(day),
                    "hours": hours,
                    "threshold_hours": limit,
                    "available_hours": available,
                    "missing_hours": available - hours,
                }


ANALYSIS = Analysis(
    function=missing_time,
    question="On which working days have people entered less time than expected?",
    summary=(
        "It lists working days on which a timekeeper entered less time than a threshold. By default the "
        "threshold is half of the person's hours a day."
    ),
    example=(
        "Ada has 3 of 8 hours on Thursday and 0 on Friday. Both are below the threshold of 4 hours: 5 and 8 "
        "hours are missing."
    ),
    formula="hours entered on a working day < threshold",
    left_out=(
        "weekends, holidays, leave, days before a person's start or after their end",
        "everyone, if a load without dates and filters has no entry: the firm records no time",
    ),
    cannot_tell=(
        "whether time was worked and not entered, or not worked",
        "leave: it is in the firm's settings",
    ),
    arguments={
        "start": (
            "Days after the load of the entries are left out; if the day of the load is unknown, end the period today."
        ),
        "settings": "Used are the calendar, people's hours, start, end and leave.",
    },
    rows="one row per person and day, sorted by name, id and day:",
    keys=("date", "user_id", "user_name"),
    columns=(
        *shared_measures("hours"),
        Measure("threshold_hours", "Threshold", "hours", "A day with fewer hours is listed."),
        sum_measure("available_hours", "Hours a day", "hours", "The person’s available hours on that day."),
        sum_measure("missing_hours", "Missing hours", "hours", "Hours a day less those entered."),
    ),
    table=TableSpec(title="Days with less time than expected", keys=("date", "user_name")),
    book=FromBook(first="threshold", ends_with_load=False),
)
