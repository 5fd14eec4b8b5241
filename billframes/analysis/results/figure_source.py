"""The source of figures: the analyses, called for a period, for the day of balances, or for an earlier period.

What an analysis does not know is missing with the reason: past balances, the time before the first record, and cash
outside the days of the payments, where a sum would be too small and look right.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd

from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.data_span import covers
from billframes.analysis.data.engine import to_arrow
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.keys.by import TIMES
from billframes.analysis.results.figure_names import find_figure
from billframes.analysis.results.result_rows import key_columns
from billframes.analysis.rules.payments import short_payments
from billframes.config.firm import FirmSettings
from billframes.days import CALENDAR_YEAR, FiscalYear, period_before, year_before
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period

HORIZON = 13
"""The weeks of the forecast."""
NOT_BY = "A forecast of cash is known in total and by client only."
_PAST = "Balances of earlier days are not known: they are as loaded. A mirror keeps those of earlier days."
_ENDS = {
    "week": ("W-SUN", "{:%G-W%V}"),
    "month": ("ME", "{:%Y-%m}"),
    "quarter": ("QE", "{0:%Y}-Q{0.quarter}"),
    "year": ("YE", "{:%Y}"),
}


@dataclass(frozen=True, slots=True)
class Source:
    """
    Where figures come from.

    Parameters
    ----------
    call : callable
        Takes an analysis and the arguments by name, and returns the result.
    period : Period
    as_of : date, optional
        The day of balances; by default the last day of the period, or the day of the load if that is earlier.
    loaded : date, optional
        The day of the load; None if unknown.
    first_day : date, optional
        The first day of the data; None if unknown.
    year : FiscalYear
        The year that periods from its beginning are compared by.
    payments : DataFrame, optional
    is_earlier : bool
        Whether the period is one to compare with.
    """

    call: Callable[[Analysis, dict[str, Any]], Any]
    period: Period
    as_of: dt.date | None
    loaded: dt.date | None
    first_day: dt.date | None
    year: FiscalYear
    payments: pd.DataFrame | None
    is_earlier: bool = False

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        call: Callable[[Analysis, dict[str, Any]], Any],
        period: Period,
        as_of: DateLike | None,
        payments: pd.DataFrame | None,
        settings: FirmSettings | None,
        *,
        loaded: dt.date | None,
        first_day: dt.date | None,
    ) -> Source:
        """Return the source of some figures; refuse figures of cash without payments."""
        of_cash = [name for name in names if find_figure(name).analysis.needs_payments]
        if of_cash and payments is None:
            raise ParameterError(
                f"{of_cash[0]!r} needs payments, which the billing system does not have: pass "
                "payments=book.payments(bf.read_ledger(…))."
            )
        day = None if as_of is None else read_date(as_of, "as_of")
        year = (settings and settings.fiscal_year) or CALENDAR_YEAR
        return cls(call, period, day, loaded, first_day, year, payments)

    def compared(self, compare: str | None) -> dict[str, Source]:
        """Return this source, and that of the period to compare with, by the end of their columns' names."""
        if compare is None:
            return {"": self}
        start, end = self.period.start, self._until(self.period.end)
        if start is None or end is None:
            raise ParameterError("compare= needs a period with a first and a last day: pass start= and end=.")
        before = period_before(self.period, end, self.year) if compare == "previous" else year_before(start, end)
        # Both periods then have the same number of days.
        now = replace(self, period=Period(start, end))
        return {"": now, f"_{compare}": replace(self, period=before, is_earlier=True)}

    def unknown(self, analysis: Analysis) -> str:
        """Say why the figures of an analysis are not known of an earlier period; empty if they are."""
        if not self.is_earlier:
            return ""
        if not covers(self.first_day, self.period.start):
            return f"The data begin on {self.first_day}."
        return (self._unpaid() if analysis.needs_payments else "") or (_PAST if analysis.as_loaded else "")

    def rows(self, analysis: Analysis, by: Sequence[str]) -> tuple[pd.DataFrame, str]:
        """
        Return the rows of an analysis, and why those of some periods are missing.

        A balance by week, month, quarter or year is the balance at the end of each.
        """
        if analysis.needs_payments and (said := self._unpaid()):
            raise ParameterError(f"{said} Choose a period within, or export more.")
        days = self.days(analysis)
        if "as_of" not in days:
            return self._result(analysis, by, **days), ""
        last = days["as_of"]
        times = [key for key in by if key in TIMES]
        if analysis.is_forecast:
            if unknown := [key for key in by if key != "client"]:
                raise ParameterError(f"by={unknown[0]!r}: {NOT_BY}")
            rows = self._result(analysis, by, as_of=last, horizons=(HORIZON,))
            rows = rows.drop(columns=["horizon", "start", "end"])
            if by and rows["client_id"].duplicated().any():
                # Work not done yet has no client, and neither have some invoices.
                groups = rows.groupby("client_id", dropna=False, sort=False)
                names = groups[["client_name"]].last()
                rows = names.join(groups.sum(numeric_only=True, min_count=1)).reset_index()
            return rows, ""
        if not times:
            return self._result(analysis, by, as_of=last), ""
        return self._at_ends(analysis, [key for key in by if key not in times], times, last)

    def days(self, analysis: Analysis) -> dict[str, Any]:
        """Return the days of an analysis: both ends of the period, or the day of balances."""
        if "start" in analysis.takes:
            return {"start": self.period.start, "end": self.period.end}
        last = self.as_of or self._until(self.period.end)
        if last is None:
            raise ParameterError("as_of is needed for balances: the period has no last day.")
        return {"as_of": last}

    def _until(self, day: dt.date | None) -> dt.date | None:
        return min((each for each in (day, self.loaded) if each is not None), default=None)

    def _unpaid(self) -> str:
        """Say that the payments don't cover the period; empty if they do, or if their days are not known."""
        span = short_payments(self.payments, self.period.start, self._until(self.period.end))
        return f"The payments are those of {span}." if span else ""

    def result(self, analysis: Analysis, by: Sequence[str], **days: Any) -> Any:
        """Call an analysis with its days, other options, and those arguments that it takes."""
        # Some analyses take one key only, and not as a list.
        keys = by[0] if len(by) == 1 else [*by] or None
        given: dict[str, Any] = {"by": keys, **days}
        given |= {"payments": self.payments} if analysis.needs_payments else {}
        return self.call(analysis, {name: each for name, each in given.items() if name in analysis.takes})

    def _result(self, analysis: Analysis, by: Sequence[str], **days: Any) -> pd.DataFrame:
        result = self.result(analysis, by, **days)
        return result if isinstance(result, pd.DataFrame) else to_arrow(nw.from_native(result)).to_pandas()

    def _at_ends(
        self, analysis: Analysis, by: Sequence[str], times: Sequence[str], last: dt.date
    ) -> tuple[pd.DataFrame, str]:
        """Return the balances at the ends of periods up to a day."""
        if unknown := {*times} - {*_ENDS}:
            raise ParameterError(f"by={min(unknown)!r}: balances are by week, month, quarter or year.")
        first = min(self.period.start or self.first_day or last, last)
        # A week can end after its month.
        ends = pd.DatetimeIndex([last])
        for time in times:
            ends = ends.union(pd.date_range(first, last, freq=_ENDS[time][0]))
        known = ends[-1:] if analysis.as_loaded else ends
        results = []
        for day in known:
            at = {time: _ENDS[time][1].format(day) for time in times}
            results.append(self._result(analysis, by, as_of=day.date()).assign(**at))
        rows = pd.concat(results, ignore_index=True)
        keys = [*key_columns([*results[0]], analysis), *times]
        rows = rows[[*dict.fromkeys([*keys, *rows])]]
        if "year" in times:
            rows["year"] = rows["year"].astype("int64")
        return rows, _PAST if len(ends) > len(known) else ""
