"""Utilization: how much of people's available time went into work for clients.

Available hours belong to people and days, not to work, so they are known for keys that follow from who worked
and when (user, role, month), and missing for keys that follow from what was worked on (client, practice area).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Literal, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._warn import warn
from billframes.analysis.arguments import choice, read_date
from billframes.analysis.capacity import Part, available_hours, parts_of, target_hours
from billframes.analysis.column_types import Frame
from billframes.analysis.coverage import ITEM_FILTERS, need_period, people_loaded, was_cut
from billframes.analysis.engine import collect, collect_counts, lazy, sum_by
from billframes.analysis.expressions import as_float, in_period, map_values, null_column, ratio, value_if
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.grouping import Grouping, sum_by_type
from billframes.analysis.keys import UNKNOWN, By
from billframes.analysis.metrics import Measure, divided, shared, summed
from billframes.analysis.spec import Analysis, ChartSpec, TableSpec
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError
from billframes.periods import DateLike, Period, resolve

__all__ = ["ANALYSIS", "utilization"]

C = nw.col

TIMEKEEPERS = ("principal", "attorney", "paralegal", "timekeeper")
HOURS = {
    "billable_hours": "billable",
    "fixed_fee_hours": "fixedFee",
    "non_billable_hours": "nonBillable",
}
_KINDS = (*HOURS, "unknown_hours")
_WORK = (*_KINDS, "total_hours", *(f"_rows_{name}" for name in _KINDS), "_rows")
_CAPACITY = ("capacity_hours", "idle_capacity_hours", "target_hours", "_aims")
_MEASURES = (*_KINDS, "total_hours", "client_hours", "_aimed_hours", *_CAPACITY)
# Joins on a missing id find nothing on some engines and each other on others.
_NOBODY = ""


def utilization(
    time_entries: IntoFrameT,
    *,
    start: DateLike,
    end: DateLike | None = None,
    by: By = "user",
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    matters: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
    include_fixed_fee: bool = True,
    include_probono: bool = False,
    roster: Literal["timekeepers", "active"] = "timekeepers",
    as_of: DateLike | None = None,
) -> IntoFrameT:
    """
    Client hours ÷ available hours.

    Client hours are those of `billable` and `fixedFee` entries dated in the period, except on internal matters.
    Available hours are the working days of the period * hours a day, less leave and the days before a person's
    start and after their end (see `FirmSettings`). Weekend hours count, more than 100 % is possible, and
    negative corrections count.

    Parameters
    ----------
    time_entries : frame
        With `date`, `user_id`, `matter_id`, `hours` and `billing_type`; of any period, it is filtered here.
    start : str or date
        First day, inclusive; or a whole period such as "2026-10" or "2026-Q3".
    end : str or date, optional
        Last day, inclusive. Needed where `start` is a date.
    by : str or list of str, optional
        What to group by; None gives one row. Keys of what was worked on (client, matter, practice area) leave
        `capacity_hours`, `utilization` and targets missing: nobody's day is divided among them beforehand.
    users : frame, optional
        With `user_id`, `name` and `role`: who is on the roster, also without hours.
    matters : frame, optional
        With `matter_id` and `matter_type`; needed where the entries have no `matter_type`.
    clients : frame, optional
        With `client_id` and what `by` names, such as custom fields (`client_cf_…`).
    settings : FirmSettings, optional
        The calendar, people's hours, leave and targets.
    include_fixed_fee : bool
        Whether `fixedFee` entries are client hours.
    include_probono : bool
        Whether `nonBillable` entries on pro bono matters are client hours.
    roster : {"timekeepers", "active"}
        Users whose role is principal, attorney, paralegal or timekeeper, and anyone else with client hours; or
        only those of them with an entry in the period. Hours of others are left out.
    as_of : str or date, optional
        The last day that counts, inclusive, if it lies before the end of the period: hours, available hours and targets
        end there, so that a month that is not over can be read. The whole period by default.

    Returns
    -------
    frame
        Of the kind passed in, sorted by label, with the keys and, as float64 hours, `billable_hours`,
        `fixed_fee_hours`, `non_billable_hours`, `unknown_hours` (by billing type, internal matters included; unknown
        is any other type, and a missing one), `total_hours` (all of them), `client_hours`, `capacity_hours`, and
        `utilization` (client ÷ capacity; missing without
        capacity). With targets in the settings also `target_hours` (of the people who have one, prorated by
        working days; missing where nobody has) and `pace` (client hours of these people ÷ target). Last,
        `idle_capacity_hours`: the part of `capacity_hours` of people on the roster without any entry in the period;
        missing where `capacity_hours` is.

    Raises
    ------
    ParameterError
        The period has an open end, `by` or `roster` is unknown, or frames are of different engines.
    MissingColumnError
        A column is missing, or nothing tells which matters are internal.

    Warns
    -----
    IncompleteDataWarning
        Entries are on matters that the matters frame lacks: their matter type is unknown, and they count.
        On lazy frames this runs two small queries; the result stays lazy.

    Examples
    --------
    October 2026 has 22 working days, 176 hours. Ada worked 132 for clients, Ben none:

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
    first, last = _bounded(start, end)
    last = last if as_of is None else min(last, read_date(as_of, "as_of"))
    choice(roster, "roster", ("timekeepers", "active"))
    frames = from_native(time_entries=time_entries, users=users, matters=matters, clients=clients)
    grouping = Grouping.of(by, frames, settings)
    # Capacity is that of the people whose entries were loaded.
    if (loaded := people_loaded(time_entries)) is not None and "users" in frames:
        frames["users"] = frames["users"].filter(C("user_id").is_in(loaded))
    _check_load(time_entries, users, grouping, Period(first, last))
    work = _work(frames["time_entries"], grouping, Period(first, last))
    work = _client_hours(work, include_fixed_fee, include_probono)
    people = _roster(work, frames.get("users"), grouping.settings, active_only=roster == "active")
    rows = _hours(work, people, grouping)
    parts = parts_of(first, last, grouping.times)
    if parts and grouping.personal:
        rows = nw.concat([rows, _available(people, grouping, parts)])
    totals = grouping.add_up(_nobody_missing(rows), _MEASURES)
    return cast("IntoFrameT", to_native(_result(totals, grouping), time_entries))


def _bounded(start: DateLike, end: DateLike | None) -> tuple[dt.date, dt.date]:
    period = resolve(start, end)
    if period.start is None or period.end is None:
        raise ParameterError(
            f"start={start!r}, end={end!r} leaves an end open; available hours need both, or a period "
            "such as start='2026-10'."
        )
    return period.start, period.end


def _check_load(time_entries: Any, users: Any, grouping: Grouping, period: Period) -> None:
    """Refuse or warn if hours were left out that belong to the capacity that they are divided by."""
    divided = grouping.personal
    need_period("utilization", {"time_entries": time_entries}, period, ("user_id",) if divided else ITEM_FILTERS)
    if divided and was_cut(time_entries) and not was_cut(users):
        warn(
            "utilization: rows of time_entries were taken away after it was loaded, but the capacity is that of "
            "everyone on the roster, so the ratio can be too low. Load time_entries with user_id=, or pass as users= "
            "only the people you ask about; to filter by client or matter, group instead (by=).",
            IncompleteDataWarning,
        )


def _work(entries: Frame, grouping: Grouping, period: Period) -> Frame:
    """Add up the period's hours over user, matter type and what the keys derive from."""
    if grouping.type_key is None:
        raise MissingColumnError(
            "Nothing given tells which matters are internal: pass matters= with 'matter_id' and 'matter_type' "
            "(the loader matters() supplies them)."
        )
    by = list(dict.fromkeys(["user_id", "_type", *grouping.base]))
    columns = ("date", "hours", "billing_type", "user_id", *grouping.type_key.base, *grouping.row_columns)
    dated = in_period(
        select_columns(lazy(entries), "time_entries", columns, coded=("billing_type", "matter_type")), "date", period
    )
    rows = grouping.with_matter_type(grouping.with_periods(dated.with_columns(_rows=nw.lit(1.0)), "date"))
    work = _by_kind(collect(sum_by_type(rows, [*by, "billing_type"], ("hours", "_rows")), entries), by)
    _warn_of_unknown_matters(work)
    return work


def _by_kind(work: Frame, by: Sequence[str]) -> Frame:
    """Split hours and entries by billing type."""
    split = {}
    kinds = {name: C("billing_type") == kind for name, kind in HOURS.items()}
    kinds["unknown_hours"] = ~C("billing_type").is_in(list(HOURS.values())).fill_null(False)
    for name, is_kind in kinds.items():
        split[name] = value_if(is_kind, "hours")
        split[f"_rows_{name}"] = value_if(is_kind, "_rows")
    rows = work.with_columns(C("user_id").fill_null(_NOBODY), **split, total_hours=C("hours"))
    return sum_by(rows, by, _WORK)


def _warn_of_unknown_matters(work: Frame) -> None:
    unknown = {"unknown": value_if(C("_type") == UNKNOWN, "_rows").sum()}
    count = int(collect_counts((work, unknown))["unknown"])
    if count:
        warn(
            f"{count} time entries are on matters of unknown type (not among the matters given); they count as "
            "client work. Load all matters, archived ones too.",
            IncompleteDataWarning,
        )


def _client_hours(work: Frame, include_fixed_fee: bool, include_probono: bool) -> Frame:
    added: dict[str, nw.Expr] = {}
    for name, prefix in (("client_hours", ""), ("_client_rows", "_rows_")):
        billable, fixed_fee = C(f"{prefix}billable_hours"), C(f"{prefix}fixed_fee_hours")
        plain = billable + fixed_fee if include_fixed_fee else billable
        free = C(f"{prefix}non_billable_hours")
        pro_bono = nw.when(C("_type") == "probono").then(plain + free).otherwise(plain)
        client = pro_bono if include_probono else plain
        if prefix:
            # Who has time of unknown billing type may have worked for clients, and belongs on the roster.
            client = client + C(f"{prefix}unknown_hours")
        added[name] = nw.when(C("_type") == "internal").then(nw.lit(0.0)).otherwise(client)
    return work.with_columns(**added)


def _roster(work: Frame, users: Frame | None, settings: FirmSettings, *, active_only: bool) -> Frame:
    """List the people who count: their ids, and their names according to the entries."""
    counts = ("_listed", "_client_rows", "_rows")
    name = C("user_name") if "user_name" in work.collect_schema() else null_column(nw.String)
    seen = work.with_columns(user_name=name, _listed=nw.lit(0.0))
    frames = [seen.select("user_id", "user_name", *counts)]
    if users is not None:
        role = nw.coalesce("_set_role", "role")
        users = select_columns(users, "users", ("user_id", "role")).with_columns(
            _set_role=map_values("user_id", settings.roles, None, nw.String),
            _client_rows=nw.lit(0.0),
            _rows=nw.lit(0.0),
            user_name=null_column(nw.String),
        )
        listed = users.with_columns(_listed=as_float(role.is_in(TIMEKEEPERS)))
        frames.append(listed.select("user_id", "user_name", *counts))
    totals = [C(count).sum() for count in counts]
    people = nw.concat(frames).group_by("user_id").agg(C("user_name").max(), *totals)
    people = people.filter((C("_listed") > 0) | (C("_client_rows") > 0))
    people = people.filter(C("_rows") > 0) if active_only else people
    return people.select("user_id", "user_name", _idle=as_float(C("_rows") == 0))


def _hours(work: Frame, people: Frame, grouping: Grouping) -> Frame:
    """Return the hours of the people on the roster, with no capacity yet."""
    aims = map_values("user_id", dict.fromkeys(grouping.settings.targets, 1.0), 0.0, nw.Float64)
    zeros = {name: nw.lit(0.0) for name in _CAPACITY}
    rows = work.join(people.select("user_id"), on="user_id", how="inner")
    return _columns(rows.with_columns(**zeros, _aimed_hours=C("client_hours") * aims), grouping)


def _available(people: Frame, grouping: Grouping, parts: Sequence[Part]) -> Frame:
    """Give everyone on the roster their available hours and target, and no work, in each part of the period."""
    return _columns(nw.concat([_capacity(people, part, grouping.settings) for part in parts]), grouping)


def _columns(rows: Frame, grouping: Grouping) -> Frame:
    return rows.select(*dict.fromkeys(["user_id", *grouping.base]), *_MEASURES)


def _capacity(people: Frame, part: Part, settings: FirmSettings) -> Frame:
    hours, exceptions = available_hours(settings, part.first, part.last)
    targets = target_hours(settings, part.first, part.last)
    own: dict[str, Any] = {
        "capacity_hours": map_values("user_id", {**exceptions, _NOBODY: 0.0}, hours, nw.Float64),
        "target_hours": map_values("user_id", targets, 0.0, nw.Float64),
        "_aims": map_values("user_id", dict.fromkeys(targets, 1.0), 0.0, nw.Float64),
    }
    own |= {f"_{time}": nw.lit(number, nw.Int64) for time, number in part.numbers.items()}
    rows = people.with_columns(**{**dict.fromkeys(_MEASURES, nw.lit(0.0)), **own})
    return rows.with_columns(idle_capacity_hours=C("capacity_hours") * C("_idle"))


def _nobody_missing(rows: Frame) -> Frame:
    return rows.with_columns(user_id=nw.when(C("user_id") != _NOBODY).then(C("user_id")))


def _result(totals: Frame, grouping: Grouping) -> Frame:
    if not grouping.personal:
        unknown = ("capacity_hours", "idle_capacity_hours", "target_hours")
        totals = totals.with_columns(**dict.fromkeys(unknown, null_column(nw.Float64)))
    aimed = ("target_hours", "pace") if grouping.settings.targets else ()
    totals = totals.with_columns(target_hours=nw.when(C("_aims") > 0).then(C("target_hours"))).with_columns(
        utilization=ratio("client_hours", "capacity_hours"), pace=ratio("_aimed_hours", "target_hours")
    )
    capacity = ("capacity_hours", "utilization", *aimed, "idle_capacity_hours", "unknown_hours")
    columns = (*HOURS, "total_hours", "client_hours", *capacity)
    return grouping.finish(totals, columns)


ANALYSIS = Analysis(
    name="utilization",
    question="How much of the time people had for work went into work for clients?",
    summary=(
        "It divides the hours worked for clients by the hours people had available. Available hours follow "
        "from working days, hours a day, and leave in the firm's settings."
    ),
    example=(
        "October 2026 has 22 working days of 8 hours, which is 176 hours. Ada worked 132 hours for clients: "
        "75%. Ben worked 0: 0%."
    ),
    formula="`utilization` = `client_hours` ÷ `capacity_hours`",
    numerator=(
        "`client_hours`: hours of billable and fixed-fee entries dated in the period, except on internal matters. "
        "Weekend hours count, and so do negative corrections."
    ),
    denominator=(
        "`capacity_hours`: working days of the period × hours a day, less leave and the days before a person's start "
        "and after their end, for everyone on the roster: principals, attorneys, paralegals and timekeepers, and "
        "anyone else with client hours. Who has no hours shows 0; `idle_capacity_hours` is the part of the people "
        "without any entry, who may have left. With `as_of=`, the period ends on that day, hours and available hours "
        "alike."
    ),
    left_out=(
        "Time on internal matters, always; fixed-fee time with `include_fixed_fee=False`. `total_hours` shows all of "
        "it.",
        "Non-billable time (`non_billable_hours`), except that on pro bono matters with `include_probono=True`.",
        "Time whose billing type is missing or unknown (`unknown_hours`).",
        "By client, matter or practice area, available hours and utilization are missing: nobody's day is divided "
        "among clients beforehand.",
    ),
    cannot_tell=(
        "Holidays, leave, part time, targets, and when people joined or left: the firm's settings say so, nothing is "
        "guessed.",
        "Time that was never recorded, and entries that were deleted.",
    ),
    columns=(
        *shared("billable_hours", "fixed_fee_hours"),
        summed(
            "non_billable_hours",
            "Non-billable hours",
            "hours",
            "Hours of non-billable time, internal matters included.",
        ),
        summed(
            "unknown_hours",
            "Hours of unknown type",
            "hours",
            "Hours of entries whose billing type is missing or unknown.",
        ),
        *shared("total_hours"),
        summed("client_hours", "Client hours", "hours", "Billable and fixed-fee hours, except on internal matters."),
        summed(
            "capacity_hours",
            "Available hours",
            "hours",
            "Working days × hours a day, less leave and days not employed.",
        ),
        divided("utilization", "Utilization", "client_hours / capacity_hours", "Client hours ÷ available hours."),
        Measure(
            "target_hours",
            "Target hours",
            "hours",
            "The target, prorated by working days.",
            adds_up=True,
            missing_is_none=True,
        ),
        Measure("pace", "Pace", "ratio", "Client hours of those who have a target ÷ target.", weight="target_hours"),
        summed(
            "idle_capacity_hours",
            "Idle hours",
            "hours",
            "The available hours of people on the roster without any entry.",
        ),
    ),
    table=TableSpec(
        title="Utilization",
        columns=(
            *(
                "client_hours",
                "non_billable_hours",
                "total_hours",
                "capacity_hours",
                "idle_capacity_hours",
                "utilization",
            ),
            *("target_hours", "pace"),
        ),
        where_there=("idle_capacity_hours", "target_hours", "pace"),
    ),
    chart=ChartSpec(
        kind="bars",
        title="Client hours and available hours",
        columns={"capacity_hours": "Available hours", "client_hours": "Client hours"},
        words=["{utilization}"],
        hidden="capacity_hours",
        instead={"title": "Client hours", "words": ["{client_hours:axis}"]},
        shows="client hours (dark) on available hours (pale), and their ratio.",
        more="Months, quarters and years stand side by side; anything else is a row each, in the result's order. "
        "If available hours are missing, as by client, only client hours are drawn.",
        example={
            "user_name": ["Ada", "Ben"],
            "client_hours": [132.0, 0.0],
            "capacity_hours": [176.0, 176.0],
            "utilization": [0.75, 0.0],
        },
        gives=(["75.0%", "0.0%"], "Client hours and available hours by timekeeper"),
    ),
)
