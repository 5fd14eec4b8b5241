"""Analyses of people and their time, as methods of a book."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd

from billframes._warn import warn
from billframes.analysis.code_check import code_check
from billframes.analysis.duplicates import duplicates
from billframes.analysis.leverage import leverage
from billframes.analysis.missing_time import missing_time
from billframes.analysis.timekeeping_lag import timekeeping_lag
from billframes.analysis.utilization import utilization
from billframes.book._frames import BookFrames, By
from billframes.errors import IncompleteDataWarning
from billframes.periods import DateLike

__all__ = ["PeopleAnalyses"]


class PeopleAnalyses(BookFrames):
    """What a book tells of people and their time."""

    def utilization(
        self, by: By = "user", *, start: DateLike | None = None, end: DateLike | None = None, **options: Any
    ) -> pd.DataFrame:
        """
        Client hours ÷ available hours; see `billframes.utilization`.

        Parameters
        ----------
        by : str or list of str, default "user"
        start, end : date-like, optional
            Another period than the book's.
        **options
            Any other argument of `billframes.utilization`. `as_of` is the day the time entries were loaded if it is not
            given: nobody has worked the days after it.

        Warns
        -----
        IncompleteDataWarning
            `as_of` is not given, and entries of the period are dated after that day: they do not count.
        """
        first, last = self._span(start, end)
        if "as_of" not in options:
            options = {**options, "as_of": self._last_worked(last)}
        result: pd.DataFrame = utilization(
            self.time_entries,
            start=first,
            end=last,
            by=by,
            **{**self._details(by), **options},
        )
        return result

    def _last_worked(self, last: dt.date | None) -> dt.date | None:
        """Return the day the time entries were loaded, and warn of work of the period that is dated later."""
        day = self.loaded_on("time_entries")
        if day is None or last is None or day >= last:
            return day
        later = self.time_entries["date"].between(pd.Timestamp(day), pd.Timestamp(last), inclusive="right")
        if later.any():
            warn(
                f"{int(later.sum())} time entries of the period are dated after {day}, the day they were loaded; "
                "utilization is without them. Give as_of= to count them.",
                IncompleteDataWarning,
            )
        return day

    def leverage(
        self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None, **options: Any
    ) -> pd.DataFrame:
        """
        Client hours, and heads, of non-principals ÷ principals; see `billframes.leverage`.

        Parameters
        ----------
        by : str or list of str, optional
        start, end : date-like, optional
            Another period than the book's.
        **options
            Any other argument of `billframes.leverage`.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = leverage(
            self.time_entries,
            start=first,
            end=last,
            by=by,
            **{**self._details(by), **options},
        )
        return result

    def timekeeping_lag(
        self, by: By = "user", *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame:
        """
        Days from work to its entry; see `billframes.timekeeping_lag`.

        Parameters
        ----------
        by : str or list of str, default "user"
        start, end : date-like, optional
            Another period than the book's.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = timekeeping_lag(
            self.time_entries,
            start=first,
            end=last,
            by=by,
            **self._details(by),
        )
        return result

    def missing_time(
        self,
        threshold: float | None = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        **options: Any,
    ) -> pd.DataFrame:
        """
        Working days with too little time; see `billframes.missing_time`.

        Parameters
        ----------
        threshold : float, optional
            Hours a day; half of each person's hours by default.
        start, end : date-like, optional
            Another period than the book's.
        **options
            Any other argument of `billframes.missing_time`.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = missing_time(
            self.time_entries,
            start=first,
            end=last,
            threshold=threshold,
            **{**self._details(None), **options},
        )
        return result

    def duplicates(self, *, start: DateLike | None = None, end: DateLike | None = None, **options: Any) -> pd.DataFrame:
        """
        Find time that looks entered twice; see `billframes.duplicates`.

        Parameters
        ----------
        start, end : date-like, optional
            Another period than the book's.
        **options
            `by`, the columns in which entries agree.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = duplicates(self.time_entries, start=first, end=last, **options)
        return result

    def code_check(self, *, start: DateLike | None = None, end: DateLike | None = None) -> pd.DataFrame:
        """
        Check the LEDES codes of time entries; see `billframes.code_check`.

        The API's lists of expenses and fixed fees have no codes, so these are not checked here.

        Parameters
        ----------
        start, end : date-like, optional
            Another period than the book's.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = code_check(
            self.time_entries, self.matters, self.codes, self.code_sets, start=first, end=last
        )
        return result
