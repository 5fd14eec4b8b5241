"""Utilization: the part of people's available hours that they worked for clients.

Available hours belong to people and days. So they are known by keys of people and time (user, role, month), and missing
by keys of the work (client, practice area).
"""

from __future__ import annotations

from typing import Literal

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._names import join_names
from billframes.analysis.declare.metrics import Measure, ratio_measure, retitled, shared_measures, sum_measure
from billframes.analysis.declare.spec import (
    Analysis,
    BookArgument,
    ChartSpec,
    FromBook,
    RecordsSpec,
    TableSpec,
    TabSpec,
)
from billframes.analysis.frames.data_span import first_day
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.arguments import check_choice, read_date
from billframes.analysis.model.capacity import PARTIAL_HOURS, note_missing_holidays
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By
from billframes.analysis.model.recorded_time import RecordedTime
from billframes.analysis.model.worked_time import UtilizationOptions, client_hours
from billframes.analysis.rules.loads import (
    ITEM_FILTERS,
    need_period,
    note_unfinished_period,
    people_loaded,
)
from billframes.analysis.rules.people import SOME_USERS
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import load_info
from billframes.periods import DateLike, Period

C = nw.col

LATER_DAYS = ("available hours of later days count, and utilization is too low", "Pass as_of='{day}'.")
"""The consequence of available hours after the load, and the advice, for `note_unfinished_period`."""


def utilization(
    time_entries: IntoFrameT,
    *,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    start: DateLike,
    end: DateLike | None = None,
    by: By = "user",
    settings: FirmSettings | None = None,
    include_fixed_fee: bool = True,
    include_probono: bool = False,
    roster: Literal["timekeepers", "active"] = "timekeepers",
    as_of: DateLike | None = None,
) -> IntoFrameT:
    """
    Client hours ÷ available hours.

    Client hours are the hours of `billable` and `fixedFee` entries dated in the period, except on internal matters.
    Available hours are the working days of the period * hours a day, less leave and the days before a person's start
    and after their end (see `FirmSettings`). If the entries are a whole load, they count from its first day. Hours on
    weekends and negative corrections count. More than 100 % is possible.

    Parameters
    ----------
    time_entries : frame
        With `date`, `user_id`, `matter_id`, `hours` and `billing_type`; of any period, it is filtered here.
    matters, users, clients : frame, optional
        For the columns that `by` names, matter types and roles.
    start, end : str or date
        First and last day, inclusive, or a period such as "2026-Q3" as `start`.
    by : str or list of str, optional
        Keys to group by; None gives one row. By keys of the work (client, matter, practice area), `capacity_hours`,
        `utilization` and targets are missing, because a person's day is not divided among them.
    settings : FirmSettings, optional
        The firm's settings. Used are the calendar, people's hours, leave and targets.
    include_fixed_fee : bool
        Whether `fixedFee` entries are client hours.
    include_probono : bool
        Whether `nonBillable` entries on pro bono matters are client hours.
    roster : {"timekeepers", "active"}
        "timekeepers": everyone whose role is principal, attorney, paralegal or timekeeper, and others with client
        hours. "active": only those of them with an entry in the period.
    as_of : str or date, optional
        The last day that counts, inclusive, if it is before the end of the period. Hours, available hours and targets
        end on this day, which is useful for a month that is not over. The whole period by default.

    Returns
    -------
    frame
        Of the kind of the input, sorted by label: the keys, then `billable_hours`, `fixed_fee_hours`,
        `non_billable_hours`, `unknown_hours`, `total_hours`, `client_hours`, `capacity_hours`, `utilization`,
        `target_hours`, `pace`, `idle_capacity_hours`. `bf.explain("utilization")` says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    October 2026 has 22 working days of 8 hours, which is 176 hours. Ada worked 132 hours for clients, Ben 0:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-10-02", "2026-10-03"]),
    ...     "user_id": ["u1", "u1", "u1"], "user_name": ["Ada", "Ada", "Ada"],
    ...     "matter_id": ["m1", "m1", "m2"], "hours": [100.0, 32.0, 6.0],
    ...     "billing_type": ["billable", "fixedFee", "nonBillable"],
    ... })
    >>> matters = pd.DataFrame({"matter_id": ["m1", "m2"], "matter_type": ["hourly", "internal"]})
    >>> users = pd.DataFrame(
    ...     {"user_id": ["u1", "u2"], "name": ["Ada", "Ben"], "role": ["principal", "attorney"]}
    ... )
    >>> result = utilization(entries, start="2026-10", users=users, matters=matters)
    >>> result[["user_name", "total_hours", "client_hours", "capacity_hours", "utilization"]]
      user_name  total_hours  client_hours  capacity_hours  utilization
    0       Ada        138.0         132.0           176.0         0.75
    1       Ben          0.0           0.0           176.0         0.00
    """
    check_choice(roster, "roster", ("timekeepers", "active"))
    frames = Frames.of("utilization", locals())
    first, last = frames.bounded_period(start, end, settings)
    last = last if as_of is None else min(last, read_date(as_of, "as_of"))
    grouping = Grouping.of(by, frames, settings)
    period = Period(first, last)
    _check_load(frames, grouping, period)
    if as_of is None and grouping.capacity_known:
        note_unfinished_period(frames, last, grouping.settings, *LATER_DAYS)
    note_missing_holidays(frames.notes, grouping.settings, first, last)
    filtered = bool(getattr(load_info(frames.natives.get("users")), "arguments", {}))
    recorded = RecordedTime(frames, period, grouping.settings)
    known_from = first_day(**frames.passed("time_entries"))
    options = UtilizationOptions(
        period, include_fixed_fee, include_probono, roster == "active", filtered, recorded, known_from
    )
    # Only people whose entries were loaded have capacity.
    if (loaded := people_loaded(frames.natives["time_entries"])) is not None and "users" in frames:
        frames = frames.with_rows(users=frames["users"].filter(C("user_id").is_in(loaded)))
    rows = client_hours(frames, grouping, options)
    return frames.to_native(rows, time_entries, period, settings)


def _check_load(frames: Frames, grouping: Grouping, period: Period) -> None:
    """Refuse loads that lack entries, and note loads that lack users: capacity is then not of the same people."""
    filters = getattr(load_info(frames.natives.get("users")), "arguments", {}) if grouping.capacity_known else {}
    words = {"filters": join_names([f"`{name}`=" for name in filters]), "about": "users"}
    frames.notes.add(SOME_USERS, len(filters), **words)
    filters_allowed = ("user_id",) if grouping.capacity_known else ITEM_FILTERS
    need_period(frames, ("time_entries",), period, filters_allowed)


_HOURS = ("client_hours", "non_billable_hours", "total_hours", "capacity_hours")
_RATIOS = ("utilization", "target_hours", "pace")

ANALYSIS = Analysis(
    name="utilization",
    question="How much of their available hours did people work for clients?",
    summary=(
        "It divides the hours worked for clients by the hours that people had available. Available hours are "
        "calculated from the working days, the hours a day and the leave in the firm's settings."
    ),
    example=(
        "October 2026 has 22 working days of 8 hours, which is 176 hours. Ada worked 132 hours for clients: 75%. Ben "
        "worked 0 hours: 0%."
    ),
    formula="`utilization` = `client_hours` ÷ `capacity_hours`",
    numerator=(
        "`client_hours`: hours of billable and fixed-fee entries dated in the period, except on internal matters. "
        "Hours on weekends and negative corrections count."
    ),
    denominator=(
        "`capacity_hours`: working days of the period × hours a day, less leave and the days before a person's start "
        "and after their end. It is added up for everyone on the roster: principals, attorneys, paralegals and "
        "timekeepers, and anyone else with client hours. People without hours have a utilization of 0; "
        "`idle_capacity_hours` is the part of people without entries, who may have left. With `as_of=`, hours and "
        "available hours end on that day."
    ),
    left_out=(
        "Time on internal matters, always; fixed-fee time with `include_fixed_fee=False`. `total_hours` includes all "
        "time.",
        "Non-billable time (`non_billable_hours`), except on pro bono matters with `include_probono=True`.",
        "Time whose billing type is missing or unknown (`unknown_hours`).",
        "By client, matter or practice area: available hours and utilization, because a person's day is not divided "
        "among clients.",
    ),
    cannot_tell=(
        "Holidays, leave, part time, targets, and when people joined or left: these are in the firm's settings, and "
        "are not guessed.",
        "Time that was never recorded, and entries that were deleted.",
    ),
    own=("as_of",),
    arguments={
        "by": (
            "By keys of the work (client, matter, practice area), `capacity_hours`, `utilization` and targets are "
            "missing, because a person's day is not divided among them."
        ),
        "settings": "Used are the calendar, people's hours, leave and targets.",
    },
    columns=(
        retitled("billable_hours", "Billable hours", "Hours of billable time, by the day of the work."),
        *shared_measures("fixed_fee_hours"),
        sum_measure(
            "non_billable_hours",
            "Non-billable hours",
            "hours",
            "Hours of non-billable time, internal matters included.",
        ),
        sum_measure(
            "unknown_hours",
            "Hours of unknown type",
            "hours",
            "Hours of entries whose billing type is missing or unknown.",
        ),
        *shared_measures("total_hours"),
        sum_measure(
            "client_hours", "Client hours", "hours", "Billable and fixed-fee hours, except on internal matters."
        ),
        sum_measure(
            "capacity_hours",
            "Available hours",
            "hours",
            "Working days × hours a day, less leave and days not employed.",
        ),
        ratio_measure(
            "utilization",
            "Utilization",
            "client_hours / capacity_hours",
            "Client hours ÷ available hours.",
            below="corrections exceed the client hours",
            above="more client hours than available hours",
        ),
        Measure(
            "target_hours",
            "Target hours",
            "hours",
            "The target, prorated by working days.",
            adds_up=True,
            missing_is_none=True,
        ),
        Measure(
            "pace",
            "Target attainment",
            "ratio",
            "Client hours of people with a target ÷ target.",
            parts=("_targeted_hours", "target_hours"),
            formula="client_hours / target_hours",
            below="corrections exceed the client hours",
        ),
        sum_measure(
            "idle_capacity_hours",
            "Idle hours",
            "hours",
            "The available hours of people on the roster without any entry.",
        ),
    ),
    table=TableSpec(
        title="Utilization",
        columns=(*_HOURS, "idle_capacity_hours", *_RATIOS),
        optional=("idle_capacity_hours", "target_hours", "pace"),
        brief=(*_HOURS, *_RATIOS),
    ),
    chart=ChartSpec(
        kind="bars",
        title="Client hours and available hours",
        columns=("capacity_hours", "client_hours"),
        words=["{utilization}"],
        hidden="capacity_hours",
        instead={"title": "Client hours", "words": ["{client_hours}"]},
        shows="client hours (dark) on available hours (pale), and their ratio.",
        more="Months, quarters and years are side by side; by other keys, there is one bar per row, in the order of "
        "the result. If available hours are missing, for example by client, only client hours are drawn.",
        example={
            "user_name": ["Ada", "Ben"],
            "client_hours": [132.0, 0.0],
            "capacity_hours": [176.0, 176.0],
            "utilization": [0.75, 0.0],
        },
        gives=(["75.0%", "0.0%"], "Client hours and available hours by timekeeper"),
    ),
    book=FromBook(
        ends_with_load=False,
        defaults={
            "as_of": BookArgument(
                lambda book, period: (
                    book._days.until_load(period, ["time_entries"], "utilization", argument="as_of").end
                ),
                "By default, a book passes the last day of the period, or the day the time entries were loaded if the "
                "period is not over on that day, because later days have no work yet. Entries of the period that are "
                "dated later do not count, with a warning.",
            )
        },
    ),
    records=RecordsSpec(
        frames=("time_entries",),
        counted="client_hours",
        date="date",
        shown=("date", "client_hours", "user_name", "client_name", "matter_name", "billing_type", "description"),
    ),
    tab=TabSpec(
        place=1,
        in_overview=True,
        title="Utilization",
        by=("user", "month", "role", "practice_area", "responsible", "client"),
        tiles=("client_hours", "capacity_hours", "utilization"),
        compared=("client_hours", "capacity_hours", "utilization"),
        order="client_hours",
        filters="items",
        note=PARTIAL_HOURS,
    ),
)
