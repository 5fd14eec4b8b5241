"""The figures of a month and of earlier months.

Earlier months are computed from the same frames, because a book has all work and invoices. Balances of earlier months
are known only from a mirror, because the API has only today's balances.
"""

from __future__ import annotations

import datetime as dt
import functools
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import pandas as pd

from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.data.compared_with_load import UNKNOWN_LOAD
from billframes.analysis.data.data_span import CountedDays
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.spec import parameters
from billframes.analysis.results.compared_periods import Comparison, aligned_parts
from billframes.analysis.results.result_rows import total_of
from billframes.analysis.rules.periods import LATER_BALANCES
from billframes.analysis.sheets.bridge import bridge
from billframes.analysis.sheets.compare import compare_results
from billframes.book.kept import KeptBook
from billframes.book.records import draft_items
from billframes.book.slices import SlicedBook, SliceKey, keep_rows
from billframes.config.firm import FirmSettings
from billframes.periods import Period, month_end, months_between
from billframes.report.history import Balances, balance_figures, earlier_balances, why_no_lockup
from billframes.report.month_days import YEAR, MonthDays
from billframes.report.scope import Scope, read_scope

# Smaller amounts are shown as 0.
A_UNIT = 0.5
# Fewer hours are shown as 0.0.
LEAST_HOURS = 0.05
OLDEST = "91+"
"""The column with the oldest part of work in progress and of receivables, by days."""
Result = TypeVar("Result")
_FEES = ["fixed_fee_amount", "fees_amount"]


def once(function: Callable[[Month], Result]) -> Callable[[Month], Result]:
    """Return a function of a month that is called once for all sections of its report."""

    @functools.wraps(function)
    def call(month: Month) -> Result:
        name = f"{function.__module__}.{function.__name__}"
        if name not in month._made:
            month._made[name] = function(month)
        found: Result = month._made[name]
        return found

    return call


@dataclass
class Month(MonthDays):
    """
    A month's book and the figures of the report.

    Created by `load`. `notes` collects the notes of the loads and analyses, each cause once. `scope` is the client,
    practice area or responsible lawyer; None is the whole firm. `parts` has what each wing found, by its name.
    """

    notes: Notes = field(default_factory=lambda: Notes("page"), repr=False, compare=False)
    scope: Scope | None = None
    parts: dict[str, Any] = field(default_factory=dict, repr=False)
    _firm: Month | None = field(default=None, repr=False)
    _sliced: dict[SliceKey, SlicedBook] = field(default_factory=dict, repr=False)

    @functools.cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    def only(self, code: str) -> Month:
        """
        Return the month of one client, practice area or responsible lawyer, from the same frames.

        `code` is "client:", "practice_area:" or "responsible:" and a name, reference or id. Nothing after the colon
        means unassigned, and an empty code the whole firm.
        """
        firm = self._firm or self
        if not code:
            return firm
        scope = read_scope(firm.firm_book, code)
        scope = replace(scope, name=firm._distinct_names.name(scope.key, scope.id, scope.name))
        part = firm._sliced.setdefault(scope.key, SlicedBook(firm.firm_book, scope.key)).slice(scope.id)
        matters = keep_rows(firm.firm_book.matters, {f"{scope.key}_id": scope.id})
        notes = Notes("page")
        notes.merge(firm.notes)
        parts = {name: each.for_matters(matters) for name, each in firm.parts.items()}
        return replace(firm, book=part, notes=notes, scope=scope, parts=parts, _firm=firm)

    @functools.cached_property
    def settings_by_id(self) -> FirmSettings:
        """The settings with people named by id."""
        users = self.firm_book.users
        return self.settings.by_id(dict(zip(users["email"].str.lower(), users["user_id"], strict=True)))

    @property
    def currency(self) -> str:
        """The currency's code; empty if the settings do not name it."""
        return self.settings.currency

    @property
    def loaded_at(self) -> dt.datetime | None:
        """When the invoices were loaded by the server's clock, in the firm's time zone."""
        load, zone = self.firm_book.invoices.attrs.get("load", {}), zoneinfo.ZoneInfo(self.settings.time_zone)
        return dt.datetime.fromisoformat(str(load["time"])).astimezone(zone) if load.get("time") else None

    @property
    def loaded_on(self) -> dt.date | None:
        """The day of `loaded_at` in the firm's time zone."""
        return self.firm_book.loaded_on("invoices")

    @property
    def balances_day(self) -> dt.date | None:
        """The day of the balances if it is after `as_of`, so that later payments are already deducted; else None."""
        loaded = self.loaded_on
        return loaded if loaded and loaded > self.as_of else None

    @property
    def is_empty(self) -> bool:
        """Whether no work and no final invoice is dated in the month."""
        days = (pd.Timestamp(self.first), pd.Timestamp(self.last))
        return not (self.has_invoices or self.book.time_entries["date"].between(*days).any())

    @property
    def has_invoices(self) -> bool:
        """Whether a final invoice is dated in the month."""
        invoices = self.book.invoices
        dated = invoices["invoice_date"].between(pd.Timestamp(self.first), pd.Timestamp(self.last))
        return bool((dated & (invoices["invoice_state"] == "final")).any())

    def figures(self, back: int = 0) -> dict[str, float]:
        """Return the figures of the period, or of an earlier one: 1 is the one before, 12 the same days a year ago."""
        span = self.same_days(back)
        found = self.figures_of(span)
        # People count once for all months of a period.
        return {**found, **self._hours_of(span)} if found and self.noun == "period" else found

    def figures_of(self, span: Period) -> dict[str, float]:
        """Return the figures of `by_month` of other days, added up month by month; empty if they are not known."""
        start, end = span.start, span.end
        if start is None or end is None or not self.is_known(span):
            return {}
        spans = [Period(max(start, each), min(end, month_end(each))) for each in months_between(start, end)]
        return total_of(pd.DataFrame([self._figures_of(each) for each in spans]))

    def to_date(self, years_back: int = 0) -> dict[str, float]:
        """Return the figures of the year to date, from the first day of the data on, or of the same days last year."""
        return self.figures_of(self._year_to_date(years_back))

    @functools.cached_property
    def by_month(self) -> pd.DataFrame:
        """
        Figures of this month and of the `months_back` before it: one row per month, indexed by month ("2026-10").

        Utilization is computed month by month, because each month's work decides who counts as a timekeeper.
        """
        billed = self._realization_by_month("invoice_date")
        cohort = self._realization_by_month("work_date")
        spans = [Period(each, min(month_end(each), self.last)) for each in self._months()]
        names = [f"{each.start:%Y-%m}" for each in spans]
        hours = pd.DataFrame(list(map(self._hours_of, spans)), index=pd.Index(names))
        work = cohort[["cohort_amount", "unbilled_amount", "prebill_amount"]]
        fees = self.result("contribution", by="month", start=self.earlier(self.months_back), end=self.last)
        fees = fees.set_index("month")[_FEES].reindex(names).fillna(0.0)
        return hours.join(billed).join(work).join(fees)

    def result(self, analysis: str, **options: Any) -> pd.DataFrame:
        """Return an analysis of the book. It is computed once for all sections and key points."""
        with self.collecting_notes():
            found: pd.DataFrame = getattr(self._kept_book, analysis)(**options)
        return found.copy()

    def of(self, analysis: str, by: str | Sequence[str] | None = None, **options: Any) -> pd.DataFrame:
        """Return an analysis of the month's days, or of the day of its balances, by keys or in one row."""
        return self.result(analysis, by=by, **self.days_for(analysis), **options)

    def days_for(self, analysis: str) -> dict[str, dt.date]:
        """Return the days of an analysis: the month's first and last day, or else the day of its balances."""
        declared = analyses()[analysis]
        takes = parameters(declared.book.method or declared.function)
        if "start" in takes:
            return {"start": self.first, "end": self.last}
        return {"as_of": self.as_of} if "as_of" in takes else {}

    @functools.cached_property
    def draft_items(self) -> pd.DataFrame:
        """The items on bills that are not final."""
        with self.collecting_notes():
            return draft_items(self.book)

    @functools.cached_property
    def _kept_book(self) -> KeptBook:
        return KeptBook(self.book)

    @property
    def other_fees(self) -> dict[str, float]:
        """The fees on the month's final invoices that are not fees billed, by what they are for; none below a unit."""
        fees = self.figures()
        kinds = {
            "in fixed fees": "fixed_fee_amount",
            "on contingency, pro bono or internal matters": "left_out_billed_amount",
        }
        return {words: fees[name] for words, name in kinds.items() if abs(fees[name]) >= A_UNIT}

    @property
    def fees_column(self) -> str:
        """The column of the page's figure of fees: all fees, if not all of the month's are fees billed."""
        return "fees_amount" if self.other_fees else "billed_amount"

    def month_by_month(self, measure: str) -> pd.DataFrame:
        """Return a figure of realization for twelve months, each beside the month before and the year before."""
        back = 2 * YEAR - 1
        rows = self._realization_by_month("invoice_date", back)
        names = [f"{each:%Y-%m}" for each in self._months(back)]
        days = {
            f"{first:%Y-%m}": CountedDays(first, end, min(end, self.last), self.first_day)
            for first in map(self.earlier, range(back, -1, -1))
            for end in (month_end(first),)
        }
        parts = aligned_parts(days[names[-1]], "month")
        results = {name: rows.loc[[name]] for name in names}
        results |= {
            f"{names[-1]} {back}": self.result("realization", by=None, start=span.start, end=span.end)
            for back, span in parts.items()
            if self.is_known(span)
        }
        named = {(names[-1], back): f"{names[-1]} {back}" for back in parts}
        with self.collecting_notes():
            found: pd.DataFrame = compare_results(
                results, measure, Comparison("month", days, align=True, parts=named), names[-YEAR:]
            )
        return found

    def grouping_key(self, key: str) -> str:
        """Return the key to group by: `key`, or another one if the report covers one value of `key`."""
        other = {"client": "matter", "practice_area": "responsible", "responsible": "client"}
        return other[key] if self.scope and self.scope.key == key else key

    @functools.cached_property
    def balances(self) -> dict[str, float]:
        """Receivables, work in progress and lock-up on the day to which receivables are aged."""
        with self.collecting_notes():
            return balance_figures(self._kept_book, self.as_of)

    @functools.cached_property
    def why_no_lockup(self) -> str:
        """Why lock-up is not shown; empty if it is."""
        with self.collecting_notes():
            return why_no_lockup(self._kept_book, self.of("lockup").iloc[0])

    @functools.cached_property
    def earlier_balances(self) -> tuple[Balances | None, Balances | None]:
        """The balances of last month's end and a year ago, if a mirror has them."""
        # The report states the day of these balances itself.
        with collect_notes(Notes("page")):
            found = [earlier_balances(self.firm_book, self.scope, day) for day in self.earlier_days]
            return found[0], found[1] if len(found) > 1 else None

    def changes(self, measure: str, by: str | list[str] = "client") -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the change of a figure since last month by a key, and the total in one row."""
        spans = (self.same_days(1), Period(self.first, self.last))
        then, now = (self.result("realization", by=by, start=each.start, end=each.end) for each in spans)
        with self.collecting_notes():
            rows = bridge(then, now, measure)
        return rows, pd.DataFrame([total_of(rows)])

    def with_distinct_names(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the reference to names that several clients, matters or people share."""
        return (self._firm or self)._distinct_names(rows)

    @functools.cached_property
    def _distinct_names(self) -> DistinctNames:
        return DistinctNames(self.firm_book.clients, self.firm_book.matters, self.firm_book.users)

    def collecting_notes(self) -> AbstractContextManager[object]:
        """Collect the notes of the analyses in the block, which check each frame only once."""
        return collect_notes(self.notes)

    @property
    def remarks(self) -> list[str]:
        """The notes as sentences, each advice once; sections with later balances say so themselves."""
        found, given = list[str](), set[str]()
        for each in self.notes:
            is_said = self.balances_day and each.rule is LATER_BALANCES
            # A book's frames are from loads; parts of them are checked, too.
            if not is_said and each.rule is not UNKNOWN_LOAD:
                advice = each.rule.remedy_for("page")
                found.append(each.text("page").removesuffix(advice if advice in given else "").rstrip())
                given.add(advice)
        return found

    def _realization_by_month(self, basis: Literal["invoice_date", "work_date"], back: int = 0) -> pd.DataFrame:
        back = back or self.months_back
        rows = self.result("realization", by="month", start=self.earlier(back), end=self.last, basis=basis)
        rows = rows.set_index("month")
        # A month without a row had no work or invoices, so its amounts are 0 and not missing.
        amounts = [name for name in rows.columns if name.endswith(("_amount", "_hours"))]
        names = [name for each in self._months(back) if (name := f"{each:%Y-%m}") not in rows.index]
        absent = pd.DataFrame(0.0, index=names, columns=amounts)
        return pd.concat([rows, absent]) if len(absent) else rows

    def _hours_of(self, span: Period) -> Mapping[Any, Any]:
        row: pd.Series[Any] = self.result("utilization", by=None, start=span.start, end=span.end).iloc[0]
        return row[["client_hours", "total_hours", "capacity_hours", "utilization"]].to_dict()

    def _figures_of(self, span: Period) -> Mapping[Any, Any]:
        if span.start and span.start.day == 1 and span.end in (month_end(span.start), self.last):
            return self.by_month.loc[[f"{span.start:%Y-%m}"]].iloc[0].to_dict()
        billed, cohort = (
            self.result("realization", by=None, basis=basis, start=span.start, end=span.end).iloc[0].to_dict()
            for basis in ("invoice_date", "work_date")
        )
        work = {name: cohort[name] for name in ("cohort_amount", "unbilled_amount", "prebill_amount")}
        fees = self.result("contribution", by=None, start=span.start, end=span.end).iloc[0][_FEES].to_dict()
        return {**self._hours_of(span), **billed, **work, **fees}
