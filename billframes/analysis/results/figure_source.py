"""The source of figures: the analyses, called for a period, for the day of balances, or for an earlier period.

`figures` takes several labelled spans of days, too: each has columns of its own, such as `client_hours_week`.

What an analysis does not know is missing with the reason: past balances, the time before the first record, and cash
outside the days of the payments, where a sum would be too small and look right.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes._shared.names import as_given
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call, rows_of
from billframes.analysis.data.data import Data
from billframes.analysis.data.data_span import check_begun, check_known, covers
from billframes.analysis.data.engine import to_arrow
from billframes.analysis.data.native import as_table, nan_to_null
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import measure
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.result_rows import key_columns
from billframes.analysis.rules.payments import short_payments
from billframes.config.firm import FirmSettings
from billframes.days import CALENDAR_YEAR, FiscalYear, period_before, year_before
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period

HORIZON = 13
"""The weeks of the forecast."""
NOT_BY = "A forecast of cash is known in total and by client only."
PAST = "Balances of earlier days are not known: they are as loaded. A mirror refreshed by then has them as of that day."
_ENDS = {
    "week": ("W-SUN", "{:%G-W%V}"),
    "month": ("ME", "{:%Y-%m}"),
    "quarter": ("QE", "{0:%Y}-Q{0.quarter}"),
    "year": ("YE", "{:%Y}"),
}

Spans = Mapping[str, DateLike | tuple[DateLike, DateLike]]
"""Spans of days by label: whole periods such as "2026-10", or first and last days."""

_EXAMPLE = "{'week': ('2026-10-19', '2026-10-23'), 'year': '2026'}"


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
        call: Callable[[Analysis, dict[str, Any]], Any],
        period: Period,
        as_of: DateLike | None,
        payments: pd.DataFrame | None,
        settings: FirmSettings | None,
        *,
        loaded: dt.date | None,
        first_day: dt.date | None,
    ) -> Source:
        """Return the source of figures of a call, with the day of balances and the year of the settings."""
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
        return (self._unpaid() if analysis.needs_payments else "") or (PAST if analysis.as_loaded else "")

    def rows(self, analysis: Analysis, by: Sequence[str]) -> tuple[pa.Table, str]:
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
            table = self._result(analysis, by, as_of=last, horizons=(HORIZON,)).drop_columns(
                ["horizon", "start", "end"]
            )
            if by:
                # Work not done yet has no client, and neither have some invoices.
                groups = table.to_pandas().groupby("client_id", dropna=False, sort=False)
                names = groups[["client_name"]].last()
                rows = names.join(groups.sum(numeric_only=True, min_count=1)).reset_index()
                table = pa.Table.from_pandas(rows, preserve_index=False)
            return table, ""
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

    def _result(self, analysis: Analysis, by: Sequence[str], **days: Any) -> pa.Table:
        result = self.result(analysis, by, **days)
        if isinstance(result, pd.DataFrame):
            return as_table(result, [*result.columns])
        return to_arrow(nw.from_native(result))

    def _at_ends(
        self, analysis: Analysis, by: Sequence[str], times: Sequence[str], last: dt.date
    ) -> tuple[pa.Table, str]:
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
            result = self._result(analysis, by, as_of=day.date())
            at = {time: day.year if time == "year" else _ENDS[time][1].format(day) for time in times}
            keys = {name: result[name] for name in key_columns(result.column_names, analysis)}
            keys |= {time: pa.repeat(name, len(result)) for time, name in at.items()}
            results.append(pa.table(keys | {name: result[name] for name in result.column_names}))
        rows = pa.concat_tables(results, promote_options="permissive")
        return rows, PAST if len(ends) > len(known) else ""


def run_in_arrow(analysis: Analysis, data: Data, **options: Any) -> pa.Table:
    """Return the result of an analysis of the data as an Arrow table, without its notes, which are given."""
    call = Call(data, analysis.name)
    rows = to_arrow(nan_to_null(rows_of(analysis, call, options)))
    call.notes.finish()
    return rows


def read_spans(
    spans: Spans | None, start: DateLike | None, end: DateLike | None, read: Callable[[Any, Any], Period]
) -> dict[str, Period]:
    """Return the days of each span, as `read` reads them; empty without spans."""
    if spans is None:
        return {}
    if not isinstance(spans, Mapping) or not spans or not all(isinstance(each, str) and each for each in spans):
        raise ParameterError(f"{as_given('spans', spans)} must have labels with their periods, such as {_EXAMPLE}.")
    if start is not None or end is not None:
        raise ParameterError("spans= takes the place of start= and end=: leave them out.")
    return {label: _in_span(label, _read, given, read) for label, given in spans.items()}


def sources_of(
    spans: Mapping[str, Period], source: Source, columns: Sequence[str], keys: Collection[str]
) -> dict[str, Source]:
    """Return the source of each span, by the end of its columns' names; refuse labels that make names of others."""
    for label, period in spans.items():
        for column in columns:
            if measure(name := f"{column}_{label}") or name in keys:
                raise ParameterError(
                    f"spans={{{label!r}: …}}: the column {name!r} has another meaning. Choose another label."
                )
        if source.loaded is not None:
            _in_span(label, check_begun, period.start, source.loaded)
        _in_span(label, check_known, period.end, source.first_day)
    return {f"_{label}": replace(source, period=period) for label, period in spans.items()}


def _read(given: Any, read: Callable[[Any, Any], Period]) -> Period:
    ends = (given, None) if given is None or not isinstance(given, (tuple, list)) else tuple(given)
    if len(ends) != 2 or ends[0] is None:
        raise ParameterError("it takes a period such as '2026-10', or a first and a last day.")
    return read(*ends)


def _in_span(label: str, check: Callable[..., Any], given: Any, *more: Any) -> Any:
    """Call a function; its errors name the span."""
    try:
        return check(given, *more)
    except ParameterError as error:
        raise type(error)(f"spans={{{label!r}: …}}: {error}") from None
