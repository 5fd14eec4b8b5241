"""Read the arguments of a forecast and its record, refuse data that can't carry one, and note doubts.

What both analyses declare alike is here, too: columns, and the arguments that a book fills in.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.format import long_date, short_date
from billframes._shared.names import as_given
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import midnight
from billframes.analysis.data.people import without_people
from billframes.analysis.declare.metrics import Measure, sum_measure
from billframes.analysis.declare.spec import BookArgument
from billframes.analysis.rules.loads import need_open_on, note_later_day
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.forecast.forecasts import FEWEST_INVOICES, FEWEST_WEEKS, Past, limits, past_forecasts, widening
from billframes.forecast.history import DAY, History
from billframes.forecast.horizons import Horizon, Horizons, read_horizons
from billframes.forecast.reading import Given, read_history, read_invoices
from billframes.forecast.rules import MISSED, NO_SEASON, NO_WORK, OLD_BALANCES, RULE_IS_NEARER, UNCHECKED, WRITTEN_OFF
from billframes.loading.load_info import load_day
from billframes.periods import DateLike

_FEW_INVOICES, _SHORT = 100, 8
_CHECKED_WEEKS, _LEAST_RECORD, _SEVERAL_CHECKED = 13, 13, 6
LEAST_WEEKS = 4
_OLD, _OLDEST, _YEAR = 26, 104, 52
_WARN_SETTLED, _LEAST_SETTLED = 0.9, 0.8
_NIGHTLY, _SEVERAL_OLD, _CENT = 7, 5, 0.005
_SEASONS, _SEEN_TWICE = (12, 1, 8), 730


def _day(book: Any, period: Any) -> Any:
    return book.loaded_on("invoices") or period.end


def _seen(place: int) -> Callable[[Any, Any], Any]:
    """Return what takes a part of what the versions of a book's mirror show; None without two versions."""

    def part(book: Any, _period: Any) -> Any:
        falls = getattr(getattr(book, "_client", None), "_falls", None)
        seen = falls() if falls else None
        return None if seen is None else seen[place]

    return part


RANGE = (
    Measure("end", "To", "date", "The last day on which cash counts."),
    sum_measure("cash_amount", "Expected cash", "money", "The cash expected in these days."),
    Measure("low_amount", "Low", "money", "In one of ten cases, less comes in."),
    Measure("high_amount", "High", "money", "In one of ten cases, more comes in."),
)
"""Columns of forecasts and of their record."""

SIMPLE_RULE = Measure(
    "naive_amount",
    "12 months’ billing",
    "money",
    "A simple rule, to compare with: 12 months’ billing × the share of it that is paid.",
)

OF_BOOK = {
    "as_of": BookArgument(_day, "By default the day of the load, whatever the period."),
    "since": BookArgument(_seen(0), "By default the first day of the mirror, else of the payments."),
    "receipts": BookArgument(_seen(1), "By default those of the book's mirror."),
    "became_final": BookArgument(_seen(2), "By default those of the book's mirror."),
}
"""The arguments of both analyses that a book fills in."""


@dataclass(frozen=True)
class Prepared:
    """The frames of a call, read; `invoices` are all final ones, those of the history first, in its order."""

    frames: Call
    history: History
    invoices: pa.Table
    horizons: list[Horizon]
    past: list[Past]
    level: float

    def widening(self, nth: int, week: int) -> float:
        """Return the factor of the variance of a horizon that the forecasts passed by the end of a week ask for."""
        end = self.horizons[nth].span[1]
        passed = [each for each in self.past if each.week + end <= week and each.variance[nth] > 0]
        squares = np.array([(each.received[nth] - each.cash[nth]) ** 2 / each.variance[nth] for each in passed])
        return widening(squares, (week - self.history.since) / end - 1)

    def checked(self, nth: int) -> list[dict[str, Any]]:
        """Return the past forecasts of a horizon whose days have passed, with the range that their own record gave."""
        horizon, found = self.horizons[nth], []
        for each in self.past:
            cash, variance, received, naive = (
                float(values[nth]) for values in (each.cash, each.variance, each.received, each.naive)
            )
            if math.isnan(received):
                continue
            factor = self.widening(nth, each.week)
            low, high = limits(cash, variance, factor, self.level)
            day = self.history.day - dt.timedelta(days=7 * (self.history.last - each.week))
            found.append(
                {
                    "forecast": f"{short_date(day)}, {round(horizon.weeks)} weeks",
                    "as_of": midnight(day),
                    "end": midnight(day + dt.timedelta(days=round(7 * horizon.span[1]))),
                    "weeks": horizon.weeks,
                    "cash_amount": cash,
                    "low_amount": low,
                    "high_amount": high,
                    "received_amount": received,
                    "outcome": "below" if received < low else "above" if received > high else "inside",
                    "error": received / cash - 1 if cash > 0 else None,
                    "naive_amount": naive,
                    "phi": factor,
                }
            )
        return found

    def record(self, nth: int) -> dict[str, Any]:
        """Return how the past forecasts of a horizon did, as JSON values."""
        checked = self.checked(nth)
        came = sum(each["received_amount"] for each in checked)
        error, naive = (
            sum(abs(each[name] - each["received_amount"]) for each in checked) / came if came > 0 else None
            for name in ("cash_amount", "naive_amount")
        )
        return {
            "horizon": self.horizons[nth].name,
            "weeks": self.horizons[nth].weeks,
            "forecasts": len(checked),
            "inside": sum(each["outcome"] == "inside" for each in checked),
            "error": error,
            "naive_error": naive,
            "phi": self.widening(nth, self.history.last),
        }


def _read_level(level: float) -> float:
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.5 <= level < 1:
        raise ParameterError(f"{as_given('level', level)} takes a share of cases from 0.5 to below 1, such as 0.8.")
    return float(level)


def prepare(frames: Call, given: Given, as_of: DateLike, horizons: Horizons, level: float, every: int = 4) -> Prepared:
    """Read the arguments and the frames of a forecast, refuse those that say too little, and note doubts."""
    day = read_date(as_of, "as_of")
    spans, level = read_horizons(horizons, day), _read_level(level)
    need_open_on(frames, ("invoices", "time_entries"), day)
    # The frames have no users to look up the names in the settings.
    settings = without_people(frames.data.given_settings)
    note_later_day(frames, day, settings, dt.timedelta(days=_NIGHTLY))
    _need_falls_since(frames, day, given.falls, settings)
    invoices = read_invoices(frames, day)
    history, listed = read_history(frames, invoices, day, given)
    _need_enough(history)
    _check_old_balances(frames, history)
    _need_enough_for(history, spans)
    frames.notes.add(NO_WORK, float("time_entries" not in frames))
    past = list(past_forecasts(history, [each.span for each in spans], every)) if history.work else []
    prepared = Prepared(frames, history, listed, spans, past, level)
    _note_record(prepared)
    _note_season(prepared, months=horizons == "months")
    _note_write_offs(prepared, given)
    return prepared


def _need_falls_since(frames: Call, day: dt.date, falls: Any, settings: FirmSettings) -> None:
    loaded = load_day(frames.natives["invoices"], settings.time_zone)
    if loaded is not None and loaded > day and falls is None:
        raise ParameterError(
            f"as_of={day} is before the load ({loaded}). The balances are those of the load; the forecast would know "
            f"the future. Pass as_of='{loaded}', or the receipts of a mirror up to that day."
        )


def _need_enough(history: History) -> None:
    """Refuse too few invoices and too short a past, whatever the horizons: the ranges were too narrow."""
    used, work = history.week[history.week >= history.complete], history.work
    number, became = _of_year(history)
    if number < FEWEST_INVOICES and work and work.left_out > 0 and not work.worth.any():
        raise ParameterError(
            "The firm works on contingency, and the billing system does not say when matters settle. Ask those who are "
            "responsible for them."
        )
    if not len(used):
        raise ParameterError("No invoice above 0 is final yet, so nothing shows how clients pay.")
    if number < FEWEST_INVOICES:
        raise ParameterError(
            f"{became}, and a forecast needs {FEWEST_INVOICES}. Look at overdue_invoices and ask the clients."
        )
    weeks, record = history.last - int(used.min()), history.last - history.since
    if weeks < FEWEST_WEEKS and record < _LEAST_RECORD:
        raise ParameterError(
            f"The invoices begin {weeks} weeks before {long_date(history.day)}; a forecast needs {FEWEST_WEEKS} weeks, "
            f"or {_LEAST_RECORD} weeks of a mirror."
        )


def _need_enough_for(history: History, horizons: Sequence[Horizon]) -> None:
    number, became = _of_year(history)
    if number < _FEW_INVOICES and any(each.weeks < _SHORT for each in horizons):
        raise ParameterError(f"{became}, and less than {_SHORT} weeks need {_FEW_INVOICES}. Pass horizons=(8, 13).")


def _of_year(history: History) -> tuple[int, str]:
    """Return how many invoices of a year are final, and a sentence's beginning about it."""
    number = int((history.week > history.last - _YEAR).sum())
    long = history.last - int(history.week.min(initial=history.last)) + 1
    span = "the last year" if long > _YEAR - 4 else f"{long} week{'s' * (long > 1)}"
    return number, f"Only {number} {'invoice' if number == 1 else 'invoices'} became final in {span}"


def _check_old_balances(frames: Call, history: History) -> None:
    """Refuse or note old invoices that are open: the data may begin with balances of another system."""
    known = history.at(history.last)
    old = (known.age >= _OLD) & (known.age < _OLDEST) & (history.week[known.place] >= history.complete)
    billed, left = float(known.amount[old].sum()), float(known.balance[old].sum())
    share = left / billed if billed > 0 else 0.0
    if share > 1 - _LEAST_SETTLED and history.since == history.last:
        raise ParameterError(
            f"{share:.0%} of what was billed over half a year ago is still open. It may never be paid, or the data may "
            "begin with balances taken over from another system: pass complete_from=, the first invoice day since "
            "which they are complete."
        )
    frames.notes.add(OLD_BALANCES, left if share > 1 - _WARN_SETTLED else 0.0, share=share)


def _note_record(prepared: Prepared) -> None:
    history, notes = prepared.history, prepared.frames.notes
    notes.add(UNCHECKED, float(history.last - history.since < _CHECKED_WEEKS))
    for nth, horizon in enumerate(prepared.horizons):
        _note_nearer_rule(prepared, nth)
        last = prepared.checked(nth)[-2:]
        for outcome, side, pace in (("below", "high", "more slowly"), ("above", "low", "faster")):
            words = {"weeks": round(horizon.weeks), "side": side, "pace": pace}
            missed = [each for each in last if each["outcome"] == outcome]
            notes.add(MISSED, 2 if len(missed) == 2 else 0, **words)


def _note_nearer_rule(prepared: Prepared, nth: int) -> None:
    record, (start, end) = prepared.record(nth), prepared.horizons[nth].span
    weeks = round(end)
    if not start and weeks >= LEAST_WEEKS and record["forecasts"] >= _SEVERAL_CHECKED:
        error, naive = record["error"] or 0.0, record["naive_error"] or 0.0
        prepared.frames.notes.add(RULE_IS_NEARER, float(naive < error), weeks=weeks, error=error, naive=naive)


def _note_season(prepared: Prepared, *, months: bool) -> None:
    known = (prepared.history.last - prepared.history.since) * 7
    named = [each.name for each in prepared.horizons if months and each.start.month in _SEASONS]
    if known < _SEEN_TWICE:
        prepared.frames.notes.add(NO_SEASON, len(named), months=", ".join(named))


def _note_write_offs(prepared: Prepared, given: Given) -> None:
    receipts = given.receipts
    if receipts is None or given.payments is not None or "balance_after" not in receipts.columns:
        return
    names = ("invoice_id", "after", "until", "balance_after", "implied_receipt_amount")
    rows = nw.from_native(receipts, eager_only=True).select(*names).to_arrow()
    ids = rows["invoice_id"].cast(pa.string())
    place = pc.index_in(ids, value_set=prepared.invoices["invoice_id"].cast(pa.string()))
    known = np.array(place.is_valid()) & ~given.written_off(ids)
    after, until, made = (
        each.to_numpy().astype("datetime64[D]")
        for each in (rows["after"], rows["until"], prepared.invoices["invoice_date"].take(place.fill_null(0)))
    )
    to_zero = (rows["balance_after"].to_numpy() < _CENT) & (rows["implied_receipt_amount"].to_numpy() > 0)
    old = (until - made > _OLD * 7 * DAY) & (until - after <= _NIGHTLY * DAY)
    days, counts = np.unique(until[known & to_zero & old], return_counts=True)
    if len(days) and counts.max() > _SEVERAL_OLD:
        words = {"day": days[counts.argmax()].item()}
        prepared.frames.notes.add(WRITTEN_OFF, int(counts.max()), **words)
