"""Calculate utilization: hours worked for clients, the roster, and the available hours of people."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.engine import collect, collect_counts, sum_by, to_dicts
from billframes.analysis.frames.expressions import as_float, in_period, map_values, null_column, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.capacity import DateRange, available_hours, prorated_targets, split_dates
from billframes.analysis.model.grouping import Grouping, sum_by_type
from billframes.analysis.model.keys import UNKNOWN
from billframes.analysis.model.recorded_time import RecordedTime
from billframes.analysis.rules.people import UNKNOWN_TYPE
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError
from billframes.periods import Period

C = nw.col

TIMEKEEPERS = ("principal", "attorney", "paralegal", "timekeeper")

HOURS = {
    "billable_hours": "billable",
    "fixed_fee_hours": "fixedFee",
    "non_billable_hours": "nonBillable",
}

_KINDS = (*HOURS, "unknown_hours")

_WORK = (*_KINDS, "total_hours", *(f"_rows_{name}" for name in _KINDS), "_rows")

_CAPACITY = ("capacity_hours", "idle_capacity_hours", "target_hours", "_has_target")

_MEASURES = (*_KINDS, "total_hours", "client_hours", "_targeted_hours", *_CAPACITY)

# With fewer days or fewer people, missing entries can be normal.
_A_WEEK, _SEVERAL = 7, 6

# This id replaces missing ids: a join on a missing id matches nothing on some engines, and other missing ids on others.
_NO_USER = ""


@dataclass(frozen=True, slots=True)
class UtilizationOptions:
    """The arguments of `utilization`, checked."""

    period: Period
    include_fixed_fee: bool
    include_probono: bool
    active_only: bool
    users_filtered: bool
    recorded: RecordedTime
    known_from: dt.date | None = None


def client_hours(frames: Frames, grouping: Grouping, options: UtilizationOptions) -> Frame:
    """Return the rows of `utilization`."""
    work = collect(_sum_hours(frames, grouping, options.period))
    listed = collect(_select_users(frames, grouping.settings)) if "users" in frames else None
    _note(work, grouping)
    work = _with_client_hours(work, options)
    if grouping.capacity_known:
        _note_other_people_and_days(work, frames, options)
    people = _roster(work, listed, active_only=options.active_only)
    rows = _hours_of_roster(work, people, grouping)
    first, last = cast("tuple[dt.date, dt.date]", (options.period.start, options.period.end))
    # Before the first day of the data, nobody's hours are known.
    first = max(first, options.known_from or first)
    ranges = split_dates(first, last, grouping.times, grouping.settings.fiscal_year)
    if ranges and grouping.capacity_known:
        rows = nw.concat([rows, _available(people, grouping, ranges)])
    return _result(grouping.add_up(_with_null_users(rows), _MEASURES), grouping)


def _sum_hours(frames: Frames, grouping: Grouping, period: Period) -> Frame:
    """Add up the period's hours by user, matter type and the grouping's `base`."""
    if grouping.type_key is None:
        raise MissingColumnError(
            "No frame has the matter types, so internal matters are unknown: pass matters= with 'matter_id' and "
            "'matter_type' (the loader matters() supplies them)."
        )
    by = list(dict.fromkeys(["user_id", "_type", *grouping.base]))
    columns = ("date", "hours", "billing_type", "user_id", *grouping.type_key.base, *grouping.row_columns)
    coded = ("billing_type", "matter_type")
    dated = in_period(frames.select("time_entries", columns, coded=coded, lazily=True), "date", period)
    rows = grouping.with_matter_type(grouping.with_periods(dated.with_columns(_rows=nw.lit(1.0)), "date"))
    hours = collect(sum_by_type(rows, [*by, "billing_type"], ("hours", "_rows")), frames["time_entries"])
    return _split_by_billing_type(hours, by)


def _split_by_billing_type(work: Frame, by: Sequence[str]) -> Frame:
    split = {}
    kinds = {name: C("billing_type") == kind for name, kind in HOURS.items()}
    kinds["unknown_hours"] = ~C("billing_type").is_in(list(HOURS.values())).fill_null(False)
    for name, is_kind in kinds.items():
        split[name] = value_if(is_kind, "hours")
        split[f"_rows_{name}"] = value_if(is_kind, "_rows")
    rows = work.with_columns(C("user_id").fill_null(_NO_USER), **split, total_hours=C("hours"))
    return sum_by(rows, by, _WORK)


def _note(work: Frame, grouping: Grouping) -> None:
    """Note time on matters of unknown type."""
    unknown = collect_counts((work, {"unknown": value_if(C("_type") == UNKNOWN, "_rows").sum()}))["unknown"]
    words = {"one": "time entry", "several": "time entries", "counted": "counted as client work"}
    grouping.notes.add(UNKNOWN_TYPE, unknown, **words)


def _note_other_people_and_days(work: Frame, frames: Frames, options: UtilizationOptions) -> None:
    """Note that hours and available hours are not of the same people and days."""
    recorded = options.recorded
    sums = to_dicts(sum_by(work, ["user_id"], ["client_hours"]))
    client = {row["user_id"]: row["client_hours"] for row in sums if row["user_id"] != _NO_USER}
    recorded.note_days_outside()
    recorded.note_later_joiners(client)
    if "users" not in frames and not options.active_only:
        recorded.note_no_users(len(sums))


def _with_client_hours(work: Frame, options: UtilizationOptions) -> Frame:
    """Add `client_hours`, and `_client_rows`, the number of entries that put a person on the roster."""
    added: dict[str, nw.Expr] = {}
    for name, prefix in (("client_hours", ""), ("_client_rows", "_rows_")):
        billable, fixed_fee = C(f"{prefix}billable_hours"), C(f"{prefix}fixed_fee_hours")
        client = billable + fixed_fee if options.include_fixed_fee else billable
        if options.include_probono:
            non_billable = C(f"{prefix}non_billable_hours")
            client = nw.when(C("_type") == "probono").then(client + non_billable).otherwise(client)
        if prefix:
            # People with time of unknown billing type may have worked for clients, so they are on the roster.
            client = client + C(f"{prefix}unknown_hours")
        added[name] = nw.when(C("_type") == "internal").then(nw.lit(0.0)).otherwise(client)
    return work.with_columns(**added)


def _roster(work: Frame, listed: Frame | None, *, active_only: bool) -> Frame:
    """Return the people on the roster: their ids, their names in the entries, and whether they are idle."""
    counts = ("_listed", "_client_rows", "_rows")
    name = C("user_name") if "user_name" in column_names(work) else null_column(nw.String)
    with_entries = work.with_columns(user_name=name, _listed=nw.lit(0.0))
    frames = [with_entries.select("user_id", "user_name", *counts)]
    if listed is not None:
        zeros = {"_client_rows": nw.lit(0.0), "_rows": nw.lit(0.0)}
        without_entries = listed.with_columns(user_name=null_column(nw.String), **zeros)
        frames.append(without_entries.select("user_id", "user_name", *counts))
    totals = [C(count).sum() for count in counts]
    people = nw.concat(frames).group_by("user_id").agg(C("user_name").max(), *totals)
    people = people.filter((C("_listed") > 0) | (C("_client_rows") > 0))
    people = people.filter(C("_rows") > 0) if active_only else people
    return people.select("user_id", "user_name", _idle=as_float(C("_rows") == 0))


def _select_users(frames: Frames, settings: FirmSettings) -> Frame:
    """Return the users, with `_listed` 1.0 for timekeepers; roles of the settings take precedence."""
    rows = frames.select("users", ("user_id", "role"))
    rows = rows.with_columns(_set_role=map_values("user_id", settings.roles, None, nw.String))
    return rows.with_columns(_listed=as_float(nw.coalesce("_set_role", "role").is_in(TIMEKEEPERS)))


def _hours_of_roster(work: Frame, people: Frame, grouping: Grouping) -> Frame:
    has_target = map_values("user_id", dict.fromkeys(grouping.settings.targets_of("hours"), 1.0), 0.0, nw.Float64)
    zeros = {name: nw.lit(0.0) for name in _CAPACITY}
    rows = work.join(people.select("user_id"), on="user_id", how="inner")
    return _select_measures(rows.with_columns(**zeros, _targeted_hours=C("client_hours") * has_target), grouping)


def _available(people: Frame, grouping: Grouping, ranges: Sequence[DateRange]) -> Frame:
    """Return the available hours and targets of everyone on the roster, without work, one row per person and range."""
    return _select_measures(
        nw.concat([_capacity_of_roster(people, days, grouping.settings) for days in ranges]), grouping
    )


def _select_measures(rows: Frame, grouping: Grouping) -> Frame:
    return rows.select(*dict.fromkeys(["user_id", *grouping.base]), *_MEASURES)


def _capacity_of_roster(people: Frame, days: DateRange, settings: FirmSettings) -> Frame:
    hours, exceptions = available_hours(settings, days.first, days.last)
    targets = prorated_targets(settings, "hours", days.first, days.last)
    own: dict[str, Any] = {
        "capacity_hours": map_values("user_id", {**exceptions, _NO_USER: 0.0}, hours, nw.Float64),
        "target_hours": map_values("user_id", targets, 0.0, nw.Float64),
        "_has_target": map_values("user_id", dict.fromkeys(targets, 1.0), 0.0, nw.Float64),
    }
    own |= {f"_{time}": nw.lit(number, nw.Int64) for time, number in days.numbers(settings.fiscal_year).items()}
    rows = people.with_columns(**{**dict.fromkeys(_MEASURES, nw.lit(0.0)), **own})
    return rows.with_columns(idle_capacity_hours=C("capacity_hours") * C("_idle"))


def _with_null_users(rows: Frame) -> Frame:
    return rows.with_columns(user_id=nw.when(C("user_id") != _NO_USER).then(C("user_id")))


def _result(totals: Frame, grouping: Grouping) -> Frame:
    if not grouping.capacity_known:
        unknown = ("capacity_hours", "idle_capacity_hours", "target_hours")
        totals = totals.with_columns(**dict.fromkeys(unknown, null_column(nw.Float64)))
    of_targets = ("target_hours", "pace") if grouping.settings.targets_of("hours") else ()
    totals = totals.with_columns(target_hours=nw.when(C("_has_target") > 0).then(C("target_hours")))
    capacity = ("capacity_hours", "utilization", *of_targets, "idle_capacity_hours", "unknown_hours")
    columns = (*HOURS, "total_hours", "client_hours", *capacity)
    return grouping.finish(totals, columns)
