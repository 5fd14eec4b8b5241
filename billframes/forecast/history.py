"""The history of a firm as arrays by whole weeks.

Week `last` ends on the day of the forecast, the week before it 7 days earlier, and so on; week 0 is the first kept. The
balance at the end of an earlier week is today's balance and what fell since. So today's invoices and the falls are all
that is needed to know what was known then.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from billframes.forecast.curves import AGES, Floats, Ints, add_by

WORK_AGES = 104
DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Falls:
    """By how much the balances of invoices fell: the invoice's place, the week, the fall, and two parts of it."""

    invoice: Ints
    week: Ints
    fall: Floats
    cash: Floats
    adjusted: Floats


@dataclass(frozen=True)
class Drafts:
    """Work on invoices that were drafts after their date: its week, the invoice's, since when it was final; worth."""

    week: Ints
    invoice: Ints
    final: Ints
    worth: Floats


@dataclass(frozen=True)
class Work:
    """
    Worth of work by its week (rows) and the week of its invoice (columns; the last is not billed).

    `billed_amount` and `billed_worth` are, by week of the invoice, amounts of invoices with work and its value;
    `by_client` is unbilled value by client and age, and `left_out` that of contingency matters.
    """

    worth: Floats
    billed_amount: Floats
    billed_worth: Floats
    by_client: Floats
    left_out: float
    drafts: Drafts

    def at(self, week: int) -> Work:
        """Return the work as it was known at the end of a week: that on drafts was not billed yet."""
        drafts = self.drafts
        still = (drafts.invoice <= week) & (drafts.final > week)
        if not still.any():
            return self
        worth = self.worth.copy()
        np.subtract.at(worth, (drafts.week[still], drafts.invoice[still]), drafts.worth[still])
        np.add.at(worth[:, -1], drafts.week[still], drafts.worth[still])
        return dataclasses.replace(self, worth=worth)

    @functools.cached_property
    def billed(self) -> Floats:
        """Worth billed in each week (rows), by age of the work."""
        return _by_age(self.worth, len(self.worth), WORK_AGES)

    @functools.cached_property
    def unbilled(self) -> Floats:
        """Worth unbilled at the start of each week (rows), by age of the work; that of the week itself is age 0."""
        left = self.worth[:, ::-1].cumsum(axis=1)[:, ::-1]
        return _by_age(left, len(self.worth), WORK_AGES)

    def left(self, week: int) -> Floats:
        """Return the unbilled value of work at the end of a week, by age of the work."""
        left: Floats = self.unbilled[week] - self.billed[week]
        return left


@dataclass(frozen=True)
class Calendar:
    """The month of each week as a number, and the week's place in it, from 0 to 4."""

    month: Ints
    place: Ints


@dataclass(frozen=True)
class Known:
    """The final invoices at the end of a week: their places in the history, age in weeks, amount and balance then."""

    place: Ints
    age: Ints
    amount: Floats
    balance: Floats


@dataclass(frozen=True)
class History:
    """
    All that a forecast needs: final invoices above 0, by how much their balances fell, and the work.

    Week `last` ends on the day, the record of falls began in week `since` (`last` without one), and the curves use
    invoices from week `complete` on. `week` is that of an invoice's date, `final` that since which it is final, and
    `client` a number. `credits` are the negative balances of each client, as positive amounts; `unseen` tells whether a
    week is in a gap of the record. `work` is None if rates are hidden or no time entries were passed.
    """

    day: dt.date
    last: int
    since: int
    complete: int
    week: Ints
    final: Ints
    amount: Floats
    balance: Floats
    client: Ints
    credits: Floats
    falls: Falls
    unseen: npt.NDArray[np.bool_]
    work: Work | None

    def at(self, week: int) -> Known:
        """Return the invoices as they were at the end of a week."""
        falls, later = self.falls, self.falls.week > week
        since = add_by(falls.invoice, falls.fall * later, len(self.week))
        adjusted = add_by(falls.invoice, falls.adjusted * later, len(self.week))
        place = np.flatnonzero((self.week <= week) & (self.final <= week))
        amount, balance = (self.amount + adjusted)[place], np.maximum((self.balance + since)[place], 0.0)
        return Known(place, week - self.week[place], amount, np.where(balance < 0.005, 0.0, balance))

    def calendar(self, last: int) -> Calendar:
        """Return the months of the weeks up to one; a week belongs to the month of its fourth day."""
        days = np.datetime64(self.day) - (3 + 7 * (self.last - np.arange(last + 1))) * DAY
        months = days.astype("datetime64[M]")
        return Calendar(months.astype(np.int64), (days - months).astype(np.int64) // 7)

    @functools.cached_property
    def at_risk(self) -> Floats:
        """What was open at the start of weeks, added up from the first week to each (rows), by age (columns)."""
        open_now = add_by(self.week, self.balance * self._counted, self.last + 1)
        later = np.cumsum(self._by_cohort(self.falls.fall)[:, ::-1], axis=1)[:, ::-1]
        return self._added_up(open_now[:, None] + later)

    @functools.cached_property
    def fallen(self) -> Floats:
        """What fell in weeks, as `at_risk`."""
        return self._added_up(self._by_cohort(self.falls.fall))

    @functools.cached_property
    def cash(self) -> Floats:
        """What came in in weeks, as `at_risk`."""
        return self._added_up(self._by_cohort(self.falls.cash))

    @functools.cached_property
    def received(self) -> Floats:
        """All cash up to the start of each week, so that the last is all of it."""
        weeks = np.minimum(self.falls.week, self.last + 1)
        total: Floats = np.cumsum(np.r_[0.0, add_by(weeks, self.falls.cash, self.last + 2)[: self.last + 1]])
        return total

    @property
    def _counted(self) -> Floats:
        return (self.week >= self.complete).astype(float)

    def _by_cohort(self, amounts: Floats) -> Floats:
        """Add up amounts of falls by week of the invoice (rows) and of the fall; later falls are in the last column."""
        cohort = self.week[self.falls.invoice]
        columns = self.last + 2
        place = cohort * columns + np.minimum(self.falls.week, self.last + 1)
        counted = amounts * self._counted[self.falls.invoice]
        sums = add_by(place, counted, (self.last + 1) * columns)
        return sums.reshape(self.last + 1, columns)

    def _added_up(self, by_cohort: Floats) -> Floats:
        """Turn cohorts into ages, leave out weeks in gaps, and add up from the first week to each."""
        by_age = _by_age(by_cohort, self.last + 1, AGES)
        by_age[self.unseen] = 0.0
        added: Floats = np.cumsum(by_age, axis=0)
        return added


def _by_age(by_cohort: Floats, weeks: int, ages: int) -> Floats:
    """Turn rows of cohorts and columns of weeks into rows of weeks and columns of ages."""
    week, age = np.arange(weeks)[:, None], np.arange(ages)[None, :]
    cohort = week - age
    by_age: Floats = np.where(cohort >= 0, by_cohort[np.maximum(cohort, 0), week], 0.0)
    return by_age
