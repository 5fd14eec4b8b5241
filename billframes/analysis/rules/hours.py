"""Note that the hours and the available hours of a period are not of the same people and days.

Available hours are those of everyone on the roster on every working day. So a month whose entries are missing, other
people, or a day on which somebody joined or left make ratios of hours wrong.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import operator
from collections.abc import Iterable, Mapping
from typing import cast

import narwhals.stable.v2 as nw

from billframes._shared.names import first_few
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import sum_by, to_dicts
from billframes.analysis.data.expressions import C, midnight, quotient
from billframes.analysis.facts.capacity import available_hours
from billframes.analysis.facts.items import items
from billframes.analysis.facts.labels import labels
from billframes.analysis.keys.groupby import Sum, Totals
from billframes.analysis.rules.loads import has_removed_rows
from billframes.analysis.rules.people import DAYS_OUTSIDE, HOLIDAYS, LATER_JOINERS, NO_USERS
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import load_day, load_info
from billframes.periods import Period

# People can have no entry in their first days.
_DAYS = dt.timedelta(days=14)
# So many people are named.
_NAMED = 5


def note_missing_holidays(call: Call, first: dt.date, last: dt.date) -> None:
    """Note years without holidays in the settings, if the settings have holidays of other years."""
    known = {cast("dt.date", day).year for day in call.settings.holidays}
    years = [str(year) for year in range(first.year, last.year + 1) if year not in known]
    call.notes.add(HOLIDAYS, len(years) if known else 0, "settings", years=", ".join(years))


def hours_outside(settings: FirmSettings, period: Period) -> Sum:
    """Return the sum `_outside` of the known hours before `user_start` or after `user_end`."""
    outside = []
    for user in {*settings.user_start, *settings.user_end}:
        # The types of the settings allow texts, but their values are dates.
        begin = cast("dt.date", settings.user_start.get(user, dt.date.min))
        end = cast("dt.date", settings.user_end.get(user, dt.date.max))
        if begin > cast("dt.date", period.start) or end < cast("dt.date", period.end):
            days = (C("date") < midnight(begin)) | (C("date") > midnight(end))
            outside.append((C("user_id") == user) & days)
    is_outside = functools.reduce(operator.or_, outside, nw.lit(1) == nw.lit(0))
    return Sum("_outside", "hours", is_outside & ~C("hours").is_nan())


def note_other_people_and_days(call: Call, totals: Totals, period: Period, *, active_only: bool) -> None:
    """Note days outside of a person's time at the firm, later joiners, and that no users were passed."""
    sums = to_dicts(sum_by(totals.rows, ["user_id"], ["client_hours", "_outside"]))
    outside = {row["user_id"]: row["_outside"] for row in sums if row["_outside"] != 0}
    call.notes.add(DAYS_OUTSIDE, sum(outside.values()), people=len(outside), names=_names(call, outside))
    _note_later_joiners(call, {row["user_id"]: row["client_hours"] for row in sums if row["user_id"]}, period)
    if "users" not in call and not active_only:
        others = len(_first_dates(call)) - len(sums)
        have = "1 person has" if others == 1 else f"{others} people have"
        known = f"; {have} entries in other periods only" if others > 0 else ""
        call.notes.add(NO_USERS, len(sums), known=known)


def _note_later_joiners(call: Call, client_hours: Mapping[str, float], period: Period) -> None:
    """
    Note people whose first entry is inside the period, with their ratio from that day on.

    The entries must be a whole load, or begin four weeks before the period if they remember no load.
    """
    native = call.natives["time_entries"]
    info = load_info(native)
    start, last = cast("tuple[dt.date, dt.date]", (period.start, period.end))
    if (info and info.start and start - info.start < _DAYS) or has_removed_rows(native) or last - start < 2 * _DAYS:
        return
    firsts = {user: day for user, day in _first_dates(call).items() if user and day}
    first = min(firsts.values(), default=start)
    if info is None and start - first < 2 * _DAYS:
        return
    # Before the first of all entries, nobody could record any.
    begin = max(start, first)
    known = client_hours.keys() - call.settings.user_start.keys()
    joined = {user: day for user, day in firsts.items() if day - begin > _DAYS and day <= last and user in known}
    if joined:
        words = {"names": _names(call, joined), "ratios": _ratios(call, joined, client_hours, last)}
        call.notes.add(LATER_JOINERS, len(joined), **words)


def _first_dates(call: Call) -> dict[str | None, dt.date | None]:
    """Return the date of each person's first entry."""

    def find() -> dict[str | None, dt.date | None]:
        rows = call.fact(items, ("user_id",)).group_by("user_id").agg(C("date").min())
        return {row["user_id"]: row["date"] and row["date"].date() for row in to_dicts(rows)}

    return cast("dict[str | None, dt.date | None]", call.data.once("first dates", find))


def _ratios(call: Call, joined: Mapping[str, dt.date], client_hours: Mapping[str, float], last: dt.date) -> str:
    starts = {**call.settings.user_start, **joined}
    settings = dataclasses.replace(call.settings, user_start=starts)
    last = min(last, load_day(call.natives["time_entries"], settings.time_zone) or last)
    earliest = sorted(joined, key=lambda user: joined[user])
    # Each capacity takes as long as a call, so only those that are named are calculated.
    texts = dict.fromkeys(earliest, "")
    for user in earliest[:_NAMED]:
        capacity = available_hours(settings, joined[user], last)[1][user]
        texts[user] = f"{quotient(client_hours[user], capacity):.1%} ({_names(call, [user])}, {joined[user]})"
    return first_few([*texts.values()], _NAMED)


def _names(call: Call, users: Iterable[str]) -> str:
    """Return the names of people, or their ids if the records have no names."""
    ids = sorted(users)
    rows = to_dicts(call.fact(labels, kind="user")) if ids else []
    names = {row["user_id"]: row["user_name"] for row in rows}
    return first_few([names.get(user) or user for user in ids])
