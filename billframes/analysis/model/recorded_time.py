"""Note that the hours and the available hours of a period are not of the same people and days.

Available hours are calculated from the calendar, for everyone on the roster and for every working day. So a month whose
entries are missing, other people, or a day on which somebody joined or left make ratios of hours wrong.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes._names import first_few
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.engine import collect, collect_counts, to_dicts
from billframes.analysis.frames.expressions import in_period, midnight, quotient
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.capacity import available_hours
from billframes.analysis.rules.loads import has_removed_rows
from billframes.analysis.rules.people import (
    DAYS_OUTSIDE,
    LATER_JOINERS,
    NO_USERS,
)
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import load_day, load_info
from billframes.periods import Period

C = nw.col

# People can have no entry in their first days.
_DAYS = dt.timedelta(days=14)


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
        if (info and info.start and start - info.start < _DAYS) or has_removed_rows(self.native):
            return
        if last - start < 2 * _DAYS:
            return
        people = self.frames.select("time_entries", ("date", "user_id", "hours"), lazily=True)
        rows = to_dicts(collect(people.group_by("user_id").agg(C("date").min())))
        firsts = {row["user_id"]: row["date"].date() for row in rows if row["user_id"] and row["date"]}
        if info is None and start - min(firsts.values(), default=start) < 2 * _DAYS:
            return
        # Before the first of all entries, nobody could record any.
        begin = max(start, min(firsts.values(), default=start))
        known = client_hours.keys() - self.settings.user_start.keys()
        joined = {user: day for user, day in firsts.items() if day - begin > _DAYS and day <= last and user in known}
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
