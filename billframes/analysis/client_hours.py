"""Calculate utilization: hours worked for clients, the roster, and the hours that people had available."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes._messages import warn
from billframes.analysis.capacity import DateRange, available_hours, split_dates, target_hours
from billframes.analysis.column_types import Frame, column_names
from billframes.analysis.engine import collect, collect_counts, lazy, sum_by
from billframes.analysis.expressions import as_float, in_period, map_values, null_column, ratio, value_if
from billframes.analysis.frames import select_columns
from billframes.analysis.grouping import Grouping, sum_by_type
from billframes.analysis.keys import UNKNOWN
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError
from billframes.periods import Period

__all__ = ["TIMEKEEPERS", "Options", "client_hours"]

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

# Fewer days, or fewer people, don't tell whether entries are missing.
_A_WEEK, _SEVERAL = 7, 6

# Joins on a missing id find nothing on some engines and each other on others.
_NOBODY = ""


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of `utilization`, checked."""

    period: Period
    include_fixed_fee: bool
    include_probono: bool
    active_only: bool


def client_hours(entries: Frame, users: Frame | None, grouping: Grouping, options: Options) -> Frame:
    """Return the rows of `utilization`."""
    work = collect(_work(entries, grouping, options.period))
    listed = None if users is None else collect(_listed(users, grouping.settings))
    _warn(work, listed, grouping, options)
    work = _with_client_hours(work, options)
    people = _roster(work, listed, active_only=options.active_only)
    rows = _hours(work, people, grouping)
    first, last = cast("tuple[dt.date, dt.date]", (options.period.start, options.period.end))
    parts = split_dates(first, last, grouping.times)
    if parts and grouping.capacity_known:
        rows = nw.concat([rows, _available(people, grouping, parts)])
    return _result(grouping.add_up(_nobody_missing(rows), _MEASURES), grouping)


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
    return _by_kind(collect(sum_by_type(rows, [*by, "billing_type"], ("hours", "_rows")), entries), by)


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


def _warn(work: Frame, listed: Frame | None, grouping: Grouping, options: Options) -> None:
    """Warn of unknown matters, and of hours or people that can't be right."""
    first, last = cast("tuple[dt.date, dt.date]", (options.period.start, options.period.end))
    settings, days = grouping.settings, (last - first).days + 1
    of_work = {
        "unknown": value_if(C("_type") == UNKNOWN, "_rows").sum(),
        "hours": C("total_hours").sum(),
        "people": C("user_id").n_unique(),
    }
    queries: list[tuple[Frame, dict[str, nw.Expr]]] = [(work, of_work)]
    if listed is not None and grouping.capacity_known and not options.active_only:
        gone = {user: 0.0 for user, end in settings.user_end.items() if cast("dt.date", end) < first}
        here = map_values("user_id", gone, 1.0, nw.Float64)
        queries.append((listed, {"listed": (C("_listed") * here).sum()}))
    counts = collect_counts(*queries)
    if counts["unknown"]:
        warn(
            f"{int(counts['unknown'])} time entries are on matters of unknown type (not among the matters given); they "
            "count as client work. Load all matters, archived ones too.",
            IncompleteDataWarning,
        )
    _warn_of_minutes(counts, days)
    _warn_of_idle(counts, days)


def _warn_of_minutes(counts: Mapping[str, float], days: int) -> None:
    """Warn of more hours than these days have for these people."""
    if counts["hours"] > 24.0 * days * counts["people"]:
        warn(
            f"{counts['hours']:,.0f} hours of {int(counts['people'])} people are more than the {days} days of the "
            "period have. Hours are decimal, such as 1.5: divide minutes by 60.",
            IncompleteDataWarning,
        )


def _warn_of_idle(counts: Mapping[str, float], days: int) -> None:
    """Warn if few of the people on the roster have any entry; in the first days of a month many have none yet."""
    people, listed = counts["people"], counts.get("listed", 0.0)
    if days >= _A_WEEK and listed >= _SEVERAL and 0 < people * 3 < listed:
        warn(
            f"Only {int(people)} of {int(listed)} timekeepers have entries in the period, so most of capacity_hours is "
            "that of people without any (idle_capacity_hours). Take everyone's entries, or only the users you ask "
            "about; for people who left, give user_end in the settings.",
            IncompleteDataWarning,
        )


def _with_client_hours(work: Frame, options: Options) -> Frame:
    added: dict[str, nw.Expr] = {}
    for name, prefix in (("client_hours", ""), ("_client_rows", "_rows_")):
        billable, fixed_fee = C(f"{prefix}billable_hours"), C(f"{prefix}fixed_fee_hours")
        plain = billable + fixed_fee if options.include_fixed_fee else billable
        free = C(f"{prefix}non_billable_hours")
        pro_bono = nw.when(C("_type") == "probono").then(plain + free).otherwise(plain)
        client = pro_bono if options.include_probono else plain
        if prefix:
            # Who has time of unknown billing type may have worked for clients, and belongs on the roster.
            client = client + C(f"{prefix}unknown_hours")
        added[name] = nw.when(C("_type") == "internal").then(nw.lit(0.0)).otherwise(client)
    return work.with_columns(**added)


def _roster(work: Frame, listed: Frame | None, *, active_only: bool) -> Frame:
    """List the people who count: their ids, and their names according to the entries."""
    counts = ("_listed", "_client_rows", "_rows")
    name = C("user_name") if "user_name" in column_names(work) else null_column(nw.String)
    seen = work.with_columns(user_name=name, _listed=nw.lit(0.0))
    frames = [seen.select("user_id", "user_name", *counts)]
    if listed is not None:
        zeros = {"_client_rows": nw.lit(0.0), "_rows": nw.lit(0.0)}
        idle = listed.with_columns(user_name=null_column(nw.String), **zeros)
        frames.append(idle.select("user_id", "user_name", *counts))
    totals = [C(count).sum() for count in counts]
    people = nw.concat(frames).group_by("user_id").agg(C("user_name").max(), *totals)
    people = people.filter((C("_listed") > 0) | (C("_client_rows") > 0))
    people = people.filter(C("_rows") > 0) if active_only else people
    return people.select("user_id", "user_name", _idle=as_float(C("_rows") == 0))


def _listed(users: Frame, settings: FirmSettings) -> Frame:
    """Return the users, with `_listed` 1.0 for timekeepers; roles of the settings take precedence."""
    rows = select_columns(users, "users", ("user_id", "role"))
    rows = rows.with_columns(_set_role=map_values("user_id", settings.roles, None, nw.String))
    return rows.with_columns(_listed=as_float(nw.coalesce("_set_role", "role").is_in(TIMEKEEPERS)))


def _hours(work: Frame, people: Frame, grouping: Grouping) -> Frame:
    """Return the hours of the people on the roster, with no capacity yet."""
    aims = map_values("user_id", dict.fromkeys(grouping.settings.targets_of("hours"), 1.0), 0.0, nw.Float64)
    zeros = {name: nw.lit(0.0) for name in _CAPACITY}
    rows = work.join(people.select("user_id"), on="user_id", how="inner")
    return _columns(rows.with_columns(**zeros, _aimed_hours=C("client_hours") * aims), grouping)


def _available(people: Frame, grouping: Grouping, parts: Sequence[DateRange]) -> Frame:
    """Give everyone on the roster their available hours and target, and no work, in each part of the period."""
    return _columns(nw.concat([_capacity(people, part, grouping.settings) for part in parts]), grouping)


def _columns(rows: Frame, grouping: Grouping) -> Frame:
    return rows.select(*dict.fromkeys(["user_id", *grouping.base]), *_MEASURES)


def _capacity(people: Frame, part: DateRange, settings: FirmSettings) -> Frame:
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
    if not grouping.capacity_known:
        unknown = ("capacity_hours", "idle_capacity_hours", "target_hours")
        totals = totals.with_columns(**dict.fromkeys(unknown, null_column(nw.Float64)))
    aimed = ("target_hours", "pace") if grouping.settings.targets_of("hours") else ()
    totals = totals.with_columns(target_hours=nw.when(C("_aims") > 0).then(C("target_hours"))).with_columns(
        utilization=ratio("client_hours", "capacity_hours"), pace=ratio("_aimed_hours", "target_hours")
    )
    capacity = ("capacity_hours", "utilization", *aimed, "idle_capacity_hours", "unknown_hours")
    columns = (*HOURS, "total_hours", "client_hours", *capacity)
    return grouping.finish(totals, columns)
