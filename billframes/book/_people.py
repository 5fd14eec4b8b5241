"""Analyses of people and their time, as methods of a book."""

from __future__ import annotations

from typing import Any

import pandas as pd

from billframes.analysis import utilization
from billframes.book._frames import BookFrames, By
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
            Any other argument of `billframes.utilization`.
        """
        first, last = self._span(start, end)
        result: pd.DataFrame = utilization(
            self.time_entries,
            start=first,
            end=last,
            by=by,
            users=self.users,
            matters=self.matters,
            settings=self.settings,
            **options,
        )
        return result
