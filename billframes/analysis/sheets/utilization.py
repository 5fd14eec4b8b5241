"""Utilization: the part of people's available hours that they worked for clients.

Available hours belong to people and days. So they are known by keys of people and time (user, role, month), and missing
by keys of the work (client, practice area).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes._shared.names import join_names
from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import eager_from_arrow, sum_by, to_arrow, to_dicts
from billframes.analysis.data.expressions import C, in_period, midnight, null_column
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ENUMS, Frame
from billframes.analysis.declare.metrics import Measure, ratio_measure, retitled, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, BookArgument, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.analysis.facts.capacity import PARTIAL_HOURS, DateRange, available_hours, prorated_targets, split_dates
from billframes.analysis.facts.items import items
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys, Sum, Totals
from billframes.analysis.rules.hours import hours_outside, note_missing_holidays, note_other_people_and_days
from billframes.analysis.rules.loads import ITEM_FILTERS, LATER_DAYS, need_period, note_unfinished_period, people_loaded
from billframes.analysis.rules.people import SOME_USERS, UNKNOWN_TYPE
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError
from billframes.loading.load_info import load_info
from billframes.periods import DateLike, Period

TIMEKEEPERS = ("principal", "attorney", "paralegal", "timekeeper")
HOURS = {"billable_hours": "billable", "fixed_fee_hours": "fixedFee", "non_billable_hours": "nonBillable"}
_CAPACITY = ("capacity_hours", "idle_capacity_hours", "target_hours", "_has_target")
_ONE, _NO_USER, _NOBODY = nw.lit(1.0), "", " "


@sheet("time_entries", "matters?", "users?", "clients?")
def utilization(
    call: Call,
    *,
    start: DateLike,
    end: DateLike | None = None,
    by: By = "user",
    include_fixed_fee: bool = True,
    include_probono: bool = False,
    roster: Literal["timekeepers", "active"] = "timekeepers",
    as_of: DateLike | None = None,
) -> Frame:
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
    as_of : str or date, optional
        The last day that counts, inclusive, if it is before the end of the period. Hours, available hours and targets
        end on this day, which is useful for a month that is not over. The whole period by default.

    Examples
    --------
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
    first, last = call.bounded_period(start, end)
    last = last if as_of is None else min(last, read_date(as_of, "as_of"))
    keys, period, active_only = Keys.of(call, by), call.count(Period(first, last)), roster == "active"
    _check_load(call, keys, period)
    if as_of is None and keys.capacity_known:
        note_unfinished_period(call, last, call.settings, *LATER_DAYS)
    needed = ("user_id", "hours", "billing_type")
    call.require("time_entries", *needed)
    keys.require_ids("time_entries")
    rows = in_period(call.fact(items, (*needed, "matter_type", *keys.of_items)), "date", period)
    client = _is_client_work(include_fixed_fee, include_probono)
    totals = keys.sum(rows, _sums(call.settings, client, period), date="date", more=("user_id",))
    words = {"one": "time entry", "several": "time entries", "counted": "counted as client work"}
    call.notes.add(UNKNOWN_TYPE, totals.total("_unknown_type"), **words)
    if keys.capacity_known:
        note_other_people_and_days(call, totals, period, active_only=active_only)
    people = _roster(call, totals, active_only=active_only)
    # Before the first day of the data, nobody's hours are known.
    first = max(first, call.first_day("time_entries") or first)
    note_missing_holidays(call, first, last)
    totals = _with_capacity(call, keys, totals, people, split_dates(first, last, keys.times, call.settings.fiscal_year))
    known = {"target_hours": nw.when(C("_has_target") > 0).then(C("target_hours"))}
    unknown = dict.fromkeys(("capacity_hours", "idle_capacity_hours", "target_hours"), null_column(nw.Float64))
    of_targets = ("target_hours", "pace") if call.settings.targets_of("hours") else ()
    columns = (*HOURS, "total_hours", "client_hours", "capacity_hours", "utilization", *of_targets)
    columns = (*columns, "idle_capacity_hours", "unknown_hours")
    return keys.finish(totals, columns, **(known if keys.capacity_known else unknown))


def _check_load(call: Call, keys: Keys, period: Period) -> None:
    """Refuse loads that lack entries, and note loads that lack users: capacity is then not of the same people."""
    filters = getattr(load_info(call.natives.get("users")), "arguments", {}) if keys.capacity_known else {}
    words = {"filters": join_names([f"`{name}`=" for name in filters]), "about": "users"}
    call.notes.add(SOME_USERS, len(filters), **words)
    need_period(call, ("time_entries",), period, ("user_id",) if keys.capacity_known else ITEM_FILTERS)
    if "matter_type" in call.columns("time_entries"):
        return
    if "matter_type" not in call.columns("matters"):
        raise MissingColumnError(
            "No frame has the matter types, so internal matters are unknown: pass matters= with 'matter_id' and "
            "'matter_type' (the loader matters() supplies them)."
        )
    call.require("time_entries", "matter_id")
    call.require("matters", "matter_id")


def _is_client_work(include_fixed_fee: bool, include_probono: bool) -> nw.Expr:
    """Return whether an entry is work for a client."""
    kind = C("billing_type")
    counted = (kind == "billable") | (kind == "fixedFee") if include_fixed_fee else kind == "billable"
    if include_probono:
        counted = counted | ((kind == "nonBillable") & (C("matter_type") == "probono"))
    return counted.fill_null(False) & (C("matter_type") != "internal")


def _sums(settings: FirmSettings, client: nw.Expr, period: Period) -> list[Sum]:
    unknown = ~C("billing_type").is_in(list(HOURS.values())).fill_null(False)
    # People with time of unknown billing type may have worked for clients, so they are on the roster.
    on_roster = client | (unknown & (C("matter_type") != "internal"))
    return [
        *(Sum(name, "hours", C("billing_type") == kind) for name, kind in HOURS.items()),
        Sum("unknown_hours", "hours", unknown),
        Sum("total_hours", "hours"),
        Sum("client_hours", "hours", client),
        Sum("_targeted_hours", "hours", client & C("user_id").is_in([*settings.targets_of("hours"), _NO_USER])),
        Sum("_unknown_type", _ONE, ~C("matter_type").is_in(ENUMS["matter_type"])),
        Sum("_on_roster", _ONE, on_roster),
        Sum("_rows", _ONE),
        hours_outside(settings, period),
    ]


def _roster(call: Call, totals: Totals, *, active_only: bool) -> dict[str | None, bool]:
    """Return the people on the roster, and whether they have no entry in the period."""
    loaded, roles = people_loaded(call.natives["time_entries"]), call.settings.roles
    users = to_dicts(call.select("users", ("user_id", "role"))) if "users" in call else []
    listed = {row["user_id"] for row in users if roles.get(row["user_id"], row["role"]) in TIMEKEEPERS} - {None}
    # Only people whose entries were loaded have capacity.
    listed = listed if loaded is None else listed.intersection(loaded)
    entries = to_dicts(sum_by(totals.rows, ["user_id"], ["_on_roster", "_rows"]))
    working = {row["user_id"] for row in entries if row["_on_roster"] > 0 or row["user_id"] in listed}
    idle = set() if active_only else listed - {row["user_id"] for row in entries}
    return {**dict.fromkeys(working, False), **dict.fromkeys(idle, True)}


def _with_capacity(
    call: Call, keys: Keys, totals: Totals, people: Mapping[str | None, bool], ranges: Sequence[DateRange]
) -> Totals:
    """Leave out people who are not on the roster, and add rows of the available hours and targets of those who are."""
    on_roster = [user or _NO_USER for user in people] or [_NOBODY]
    totals = totals.where(C("user_id").fill_null(_NO_USER).is_in(on_roster))
    fields = [each for each in to_arrow(totals.rows).schema if each.name not in totals.sums]
    numbers = [("date", pa.timestamp("us")), *((name, pa.float64()) for name in _CAPACITY)]
    known = [each for days in ranges for each in _capacity(call.settings, people, days)] if keys.capacity_known else []
    rows = eager_from_arrow(totals.rows, pa.Table.from_pylist(known, pa.schema([*fields, *numbers])))
    return totals + keys.listed(rows, _CAPACITY)


def _capacity(settings: FirmSettings, people: Mapping[str | None, bool], days: DateRange) -> Iterator[dict[str, Any]]:
    hours, others = available_hours(settings, days.first, days.last)
    targets = prorated_targets(settings, "hours", days.first, days.last)
    numbers = {f"_{time}": number for time, number in days.numbers(settings.fiscal_year).items()}
    for user, is_idle in people.items():
        available = others.get(user, hours) if user else 0.0
        yield {
            **numbers,
            "date": midnight(days.first),
            "user_id": user,
            "capacity_hours": available,
            "idle_capacity_hours": available if is_idle else 0.0,
            "target_hours": targets.get(user, 0.0) if user else 0.0,
            "_has_target": float(user in targets),
        }


_HOURS = ("client_hours", "non_billable_hours", "total_hours", "capacity_hours")
_RATIOS = ("utilization", "target_hours", "pace")

ANALYSIS = Analysis(
    function=utilization,
    by_period=False,
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
        "`idle_capacity_hours` is the part of people for whom nobody recorded time. With `as_of=`, hours and available "
        "hours end on that day."
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
        order="client_hours",
        hidden="capacity_hours",
        instead={"title": "Client hours", "words": ["{client_hours}"]},
        shows="client hours (dark) on available hours (pale), and their ratio.",
        more="Months, quarters and years are side by side; by other keys, there is one bar per row, by client hours. "
        "If available hours are missing, for example by client, only client hours are drawn.",
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
    records="entry",
    tab=TabSpec(
        place=1,
        title="Utilization",
        by=("user", "month", "role", "practice_area", "responsible", "client"),
        tiles=("client_hours", "capacity_hours", "utilization"),
        compared=("client_hours", "capacity_hours", "utilization"),
        order="client_hours",
        opens="client_hours",
        filters="items",
        note=PARTIAL_HOURS,
    ),
)
