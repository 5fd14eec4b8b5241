"""Billing of work by calendar months: what is billed in the coming weeks, and how sure that is.

Firms bill by months, so the share of unbilled work that is billed in a week depends on the months since the work and on
the week of the month.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from billframes.forecast.curves import Floats, Ints, add_by
from billframes.forecast.history import WORK_AGES, Calendar, History, Work

_MONTHS, _PLACES = 25, 5
YEAR = 52
_TWO_YEARS, _EVERY = 104, 4
_UNKNOWN = 0.25


@dataclass(frozen=True)
class Billing:
    """
    The work known at the end of a week, and its shares billed by months since the work and week of the month.

    `began` is the first week with work.
    """

    work: Work
    calendar: Calendar
    week: int
    began: int
    shares: Floats

    def pace(self, week: int, weeks: int) -> Floats:
        """Return the value of work to expect in each of the weeks after one, from a year's weeks of the same place."""
        year = np.arange(max(week - YEAR + 1, self.began), week + 1)
        places, worth = self.calendar.place[year], self.work.worth[year].sum(1)
        seen = np.bincount(places, minlength=_PLACES)
        mean = np.where(seen > 0, add_by(places, worth, _PLACES) / np.maximum(seen, 1), worth.mean())
        paces: Floats = mean[self.calendar.place[week + 1 : week + weeks + 1]]
        return paces

    def expected(self, week: int, weeks: int) -> Floats:
        """
        Return what is billed of a unit of work (rows) in each of the weeks after one (columns).

        Rows are the work of two years by age, and then that of the coming weeks.
        """
        ahead = np.arange(week + 1, week + weeks + 1)
        done = np.r_[week - np.arange(WORK_AGES), ahead][:, None]
        shares = self.shares[_months(self.calendar, done, ahead), self.calendar.place[ahead]]
        now = np.where(done <= ahead, shares, 0.0)
        billed: Floats = now * np.c_[np.ones(len(done)), np.cumprod(1 - now, axis=1)[:, :-1]]
        return billed

    def errors(self, ends: Sequence[int]) -> Floats:
        """Return how far what was billed in some weeks was from what was to be expected, in the last two years."""
        found: list[list[float]] = [[] for _ in ends]
        first = max(self.week - _TWO_YEARS, self.began + YEAR)
        for week in range(first, self.week - min(ends) + 1, _EVERY):
            weeks = min(max(ends), self.week - week)
            by_work = self.expected(week, weeks)
            units = np.r_[self.work.left(week), self.pace(week, weeks)]
            expected = np.cumsum(units @ by_work)
            billed = np.cumsum(self.work.billed[week + 1 : week + weeks + 1].sum(1))
            for each, end in zip(found, ends, strict=True):
                if end <= weeks and expected[end - 1] > 0:
                    each.append(billed[end - 1] / expected[end - 1] - 1)
        return np.array([np.sqrt(np.mean(np.square(each))) if each else _UNKNOWN for each in found])


def billing(history: History, week: int, weeks: int) -> Billing | None:
    """Return the billing at the end of a week, with the calendar of the weeks after it; None without work."""
    if history.work is None:
        return None
    there = np.flatnonzero(history.work.worth.sum(1)[: week + 1])
    if not len(there):
        return None
    work, calendar = history.work.at(week), history.calendar(week + weeks)
    year = np.arange(max(week - YEAR + 1, there[0]), week + 1)
    place = _months(calendar, year[:, None] - np.arange(WORK_AGES), year[:, None]) * _PLACES
    place = (place + calendar.place[year][:, None]).ravel()
    billed, unbilled = (add_by(place, each[year].ravel(), _MONTHS * _PLACES) for each in (work.billed, work.unbilled))
    shares: Floats = np.divide(billed, unbilled, out=np.zeros(len(billed)), where=unbilled > 0).clip(0.0, 1.0)
    return Billing(work, calendar, week, int(there[0]), shares.reshape(_MONTHS, _PLACES))


def _months(calendar: Calendar, done: Ints, billed: Ints) -> Ints:
    """Return the months from weeks of work to weeks of bills; all before the first week are as old as the oldest."""
    months: Ints = np.clip(calendar.month[billed] - calendar.month[np.maximum(done, 0)], 0, _MONTHS - 1)
    return months
