"""Note that the hours and the available hours of a period are not of the same people and days.

Available hours are calculated from the calendar, for everyone on the roster and for every working day. So a month whose
entries are missing, other people, or a day on which somebody joined or left make ratios of hours wrong.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes._names import first_few, join_names
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.engine import collect, collect_counts, collect_values, sum_by, to_dicts
from billframes.analysis.frames.expressions import as_day, count_if, in_period, midnight, quotient
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.capacity import available_hours
from billframes.analysis.rules.loads import has_removed_rows
from billframes.analysis.rules.people import (
    CUT_DATES,
    DAYS_OUTSIDE,
    EMPTY_MONTHS,
    FILTERED_TIME,
    LATER_JOINERS,
    NO_USERS,
)
from billframes.config.firm import FirmSettings
from billframes.days import month_end, months_between
from billframes.loading.load_info import load_day, load_info
from billframes.periods import Period

C = nw.col

# People can have no entry in their first days; with fewer entries, all of them may be billable.
_DAYS, _MANY = dt.timedelta(days=14), 50
# A new firm can have work for one client, and a few matters for others.
_CLIENTS = 10
_KINDS = ("billable", "billable or under fixed fees", "billed", "for one client")


def note_empty_months(frames: Frames, period: Period, consequence: str, settings: FirmSettings | None = None) -> None:
    """
    Note calendar months of the period in which nobody recorded time, after the first month with entries.

    Of many entries that all begin after the period, all months are noted.

    Frames that remember their load are complete, so they give no note.

    Parameters
    ----------
    frames : Frames
        With time entries.
    period : Period
        Without both ends, there is no note.
    consequence : str
        The consequence for the figures: the end of a sentence after "so", with `{hours}` for the available hours of a
        person in these months.
    settings : FirmSettings, optional
        The calendar.
    """
    if period.start is None or period.end is None:
        return
    first, last = period.start, period.end
    months = [month for month in months_between(first, last) if month >= first and month_end(month) <= last]
    if load_info(frames.natives["time_entries"]) is not None or not months:
        return
    rows = frames.select("time_entries", ("date",), lazily=True).filter(~C("date").is_null())
    number = C("date").dt.year().cast(nw.Int64) * 100 + C("date").dt.month().cast(nw.Int64)
    by_month = rows.select("date", _month=number, _rows=nw.lit(1.0)).group_by("_month")
    found = to_dicts(collect(by_month.agg(C("date").min(), C("_rows").sum())))
    begin = as_day(min((row["date"] for row in found), default=None))
    recorded = {row["_month"] for row in found}
    later = [month for month in months if begin and (month > begin or begin > last)]
    empty = [month for month in later if month.year * 100 + month.month not in recorded]
    is_part = any(month.year * 100 + month.month in recorded for month in months_between(first, last))
    if empty and (is_part or sum(row["_rows"] for row in found) >= _MANY):
        hours = sum(available_hours(settings or FirmSettings(), month, month_end(month))[0] for month in empty)
        names = join_names([f"{month:%Y-%m}" for month in empty])
        so = consequence.format(hours=f"{hours:,.0f}")
        frames.notes.add(EMPTY_MONTHS, len(empty), "time_entries", months=names, consequence=so)


def note_filtered_time(frames: Frames, consequence: str, kinds: Collection[str] = _KINDS) -> None:
    """
    Note that all entries of a frame without memory are of one kind, though the firm has matters with other time.

    Time on internal matters is neither billable nor billed. `kinds` are those that make the analysis wrong.
    """
    matters = frames.get("matters")
    loaded = load_info(frames.natives["time_entries"]) is not None
    if matters is None or loaded or "matter_type" not in column_names(matters):
        return
    entries = frames.select("time_entries", ("billing_type",), ("billed", "client_id"), lazily=True)
    listed = frames.select("matters", ("matter_type",), ("client_id",))
    there, type_ = column_names(entries), C("billing_type")
    of_time = {"billable": count_if(type_ == "billable"), "fixed": count_if(type_ == "fixedFee"), "rows": nw.len()}
    of_time |= {"billed": count_if(C("billed").cast(nw.Boolean))} if "billed" in there else {}
    of_matters = {name: count_if(C("matter_type") == name) for name in ("internal", "fixedFee")}
    if "client_id" in there and "client_id" in column_names(listed):
        of_time |= {"first": C("client_id").min(), "last": C("client_id").max()}
    found = collect_values((entries, of_time), (listed, of_matters))
    rows, internal = found["rows"], int(found["internal"])
    if rows < _MANY:
        return
    all_matters = internal + int(found["fixedFee"])
    seen = [
        ("billed", found.get("billed") == rows, internal, "internal"),
        ("billable", found["billable"] == rows, all_matters, "internal or of fixed fees"),
        ("billable or under fixed fees", found["billable"] + found["fixed"] == rows, internal, "internal"),
    ]
    if found.get("first") is not None and found["first"] == found["last"]:
        others = collect_counts((listed, {"others": count_if(C("client_id") != found["first"])}))["others"]
        seen.insert(0, ("for one client", others >= _CLIENTS, int(others), "for other clients"))
    for kind, is_so, others, types in seen:
        if is_so and others and kind in kinds:
            about = {"kind": kind, "others": others, "types": types, "consequence": consequence}
            frames.notes.add(FILTERED_TIME, rows, "time_entries", **about)
            return


def note_cut_dates(frames: Frames, consequence: str) -> None:
    """Note that the many entries of a frame without memory are on one day of each of several months."""
    if load_info(frames.natives["time_entries"]) is not None:
        return
    days = frames.select("time_entries", ("date",), lazily=True).select("date", _rows=nw.lit(1.0))
    found = [row for row in to_dicts(collect(sum_by(days, ["date"], ["_rows"]))) if row["date"] is not None]
    months, rows = {(row["date"].year, row["date"].month) for row in found}, sum(row["_rows"] for row in found)
    if 1 < len(found) == len(months) and rows >= _MANY:
        frames.notes.add(CUT_DATES, rows, "time_entries", consequence=consequence)


@dataclasses.dataclass(frozen=True, slots=True)
class RecordedTime:
    """
    The time entries of a period, to be compared with available hours.

    Parameters
    ----------
    frames : Frames
    period : Period
        With both ends.
    settings : FirmSettings
    """

    frames: Frames
    period: Period
    settings: FirmSettings

    @property
    def native(self) -> Any:
        """The entries as the user passed them."""
        return self.frames.natives["time_entries"]

    def note_days_outside(self) -> None:
        """Note hours before `user_start` or after `user_end`: they have no available hours."""
        settings = self.settings
        if not (settings.user_start or settings.user_end):
            return
        start, last = cast("tuple[dt.date, dt.date]", (self.period.start, self.period.end))
        outside = {}
        for user in {*settings.user_start, *settings.user_end}:
            # The types of the settings allow texts, but their values are dates.
            begin = cast("dt.date", settings.user_start.get(user, dt.date.min))
            end = cast("dt.date", settings.user_end.get(user, dt.date.max))
            if begin > start or end < last:
                outside[user] = (C("date") < midnight(begin)) | (C("date") > midnight(end))
        if not outside:
            return
        rows = self._dated().filter(C("user_id").is_in(list(outside)))
        wrong = nw.any_horizontal(
            *[(C("user_id") == user) & condition for user, condition in outside.items()], ignore_nulls=True
        )
        found = to_dicts(rows.filter(wrong).group_by("user_id").agg(C("hours").sum()))
        hours = sum(row["hours"] for row in found)
        names = self._names(row["user_id"] for row in found)
        self.frames.notes.add(DAYS_OUTSIDE, hours, people=len(found), names=names)

    def note_later_joiners(self, client_hours: Mapping[str, float]) -> None:
        """
        Note people whose first entry is inside the period, with their ratio from that day on.

        The entries must be a whole load, or begin four weeks before the period if they remember no load.

        Parameters
        ----------
        client_hours : mapping of str to float
            The client hours of each person in the period.
        """
        info = load_info(self.native)
        start, last = cast("tuple[dt.date, dt.date]", (self.period.start, self.period.end))
        if (info and info.start and info.start > start - _DAYS) or has_removed_rows(self.native):
            return
        if last - start < 2 * _DAYS:
            return
        people = self.frames.select("time_entries", ("date", "user_id", "hours"), lazily=True)
        rows = to_dicts(collect(people.group_by("user_id").agg(C("date").min())))
        firsts = {row["user_id"]: row["date"].date() for row in rows if row["user_id"] and row["date"]}
        if info is None and min(firsts.values(), default=start) > start - 2 * _DAYS:
            return
        # Before the first of all entries, nobody could record any.
        begin = max(start, min(firsts.values(), default=start)) + _DAYS
        known = client_hours.keys() - self.settings.user_start.keys()
        joined = {user: day for user, day in firsts.items() if begin < day <= last and user in known}
        words = {"names": self._names(joined), "ratios": self._ratios(joined, client_hours)} if joined else {}
        self.frames.notes.add(LATER_JOINERS, len(joined), **words)

    def _ratios(self, joined: Mapping[str, dt.date], client_hours: Mapping[str, float]) -> str:
        starts = {**self.settings.user_start, **joined}
        settings = dataclasses.replace(self.settings, user_start=starts)
        last = cast("dt.date", self.period.end)
        last = min(last, load_day(self.native, settings.time_zone) or last)
        texts = []
        for user, day in sorted(joined.items(), key=lambda each: each[1]):
            capacity = available_hours(settings, day, last)[1][user]
            texts.append(f"{quotient(client_hours[user], capacity):.1%} ({self._names([user])}, {day})")
        return first_few(texts)

    def note_no_users(self, people: int) -> None:
        """Note that nobody without an entry in the period has available hours, because no users were passed."""
        rows = self.frames.select("time_entries", ("user_id",), lazily=True)
        others = int(collect_counts((rows, {"people": C("user_id").n_unique()}))["people"]) - people
        known = ""
        if others > 0:
            have = "1 person has" if others == 1 else f"{others} people have"
            known = f"; {have} entries in other periods only"
        self.frames.notes.add(NO_USERS, people, known=known)

    def _dated(self) -> Frame:
        rows = self.frames.select("time_entries", ("date", "user_id", "hours"), lazily=True)
        return in_period(rows, "date", self.period)

    def _names(self, users: Iterable[str]) -> str:
        """Return the names of people, or their ids if the entries have no names."""
        ids = sorted(users)
        if not ids or "user_name" not in column_names(self.frames["time_entries"]):
            return first_few(ids)
        rows = self.frames.select("time_entries", ("user_id", "user_name"), lazily=True)
        found = to_dicts(rows.filter(C("user_id").is_in(ids)).group_by("user_id").agg(C("user_name").max()))
        names = {row["user_id"]: row["user_name"] for row in found}
        return first_few([names.get(user) or user for user in ids])
