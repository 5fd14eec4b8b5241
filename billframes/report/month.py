"""The figures of a month and of earlier months.

Earlier months are computed from the same frames, because a book has all work and invoices. Balances of earlier months
are known only from a mirror, because the API has only today's balances.
"""

from __future__ import annotations

import datetime as dt
import functools
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from billframes._format import enum_label, month_name
from billframes.analysis.aging import LaterBalancesWarning
from billframes.analysis.bridge import bridge
from billframes.analysis.checked_frames import CheckedFrames, collect_warnings
from billframes.analysis.compare import compare
from billframes.analysis.result_rows import total_of
from billframes.book import Book
from billframes.book.kept import KeptBook
from billframes.book.slices import BookSlice, SlicedBook, SliceKey, keep_rows
from billframes.config.firm import FirmSettings
from billframes.errors import BillframesWarning
from billframes.periods import month_end
from billframes.report.distinct_names import DistinctNames
from billframes.report.e_billing import EBilling
from billframes.report.history import Balances, balance_figures, earlier_balances
from billframes.report.scope import Scope, read_scope

__all__ = ["LEAST_HOURS", "YEAR", "Month"]

# In months.
YEAR = 12
# Fewer hours are shown as 0.0.
LEAST_HOURS = 0.05


@dataclass
class Month:
    """
    A month's book and the figures of the report.

    Created by `load`. `first` and `last` are the first and last day counted. `as_of` is the day to which receivables
    are aged; while the month is not over, it is also the last day counted. `notes` collects the warnings of the
    analyses. `scope` is the client, practice area or responsible lawyer; None is the whole firm. `e_billing` has the
    items of the month's work that clients' portals would reject.
    """

    first: dt.date
    last: dt.date
    as_of: dt.date
    book: Book | BookSlice
    notes: list[str] = field(default_factory=list)
    scope: Scope | None = None
    e_billing: EBilling = field(default_factory=EBilling, repr=False)
    _firm: Month | None = field(default=None, repr=False)
    _sliced: dict[SliceKey, SlicedBook] = field(default_factory=dict, repr=False)
    _checked: CheckedFrames = field(default_factory=CheckedFrames, repr=False, compare=False)

    def only(self, code: str) -> Month:
        """
        Return the month of one client, practice area or responsible lawyer, from the same frames.

        Parameters
        ----------
        code : str
            "client:", "practice_area:" or "responsible:" and a name, reference or id; nothing after the colon means
            unassigned. Empty means the whole firm.
        """
        firm = self._firm or self
        if not code:
            return firm
        scope = read_scope(firm.firm_book, code)
        scope = replace(scope, name=firm._distinct_names.name(scope.key, scope.id, scope.name))
        part = firm._sliced.setdefault(scope.key, SlicedBook(firm.firm_book, scope.key)).slice(scope.id)
        matters = keep_rows(firm.firm_book.matters, {f"{scope.key}_id": scope.id})
        findings = firm.e_billing.for_matters(set(matters.loc[matters["ledes_enabled"].fillna(False), "matter_id"]))
        return Month(
            self.first,
            self.last,
            self.as_of,
            part,
            notes=[*firm.notes],
            scope=scope,
            e_billing=findings,
            _firm=firm,
            _checked=firm._checked,
        )

    @property
    def firm_book(self) -> Book:
        """The firm's book."""
        return self.book.sliced.book if isinstance(self.book, BookSlice) else self.book

    @property
    def name(self) -> str:
        """The month in words, such as "October 2026"."""
        return month_name(self.first)

    @property
    def is_over(self) -> bool:
        """Whether the figures cover the whole month."""
        return self.as_of >= month_end(self.first)

    @property
    def settings(self) -> FirmSettings:
        """The firm's settings, or the defaults if none were given."""
        return self.book.settings or FirmSettings()

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
        """When the invoices were loaded, by the server's clock."""
        load = self.firm_book.invoices.attrs.get("load", {})
        return dt.datetime.fromisoformat(str(load["time"])) if load.get("time") else None

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
        invoices = self.book.invoices
        final = invoices["invoice_date"].between(*days) & (invoices["invoice_state"] == "final")
        return not (final.any() or self.book.time_entries["date"].between(*days).any())

    def earlier(self, months: int) -> dt.date:
        """Return the first day of the month that many months earlier."""
        index = self.first.year * 12 + self.first.month - 1 - months
        return dt.date(index // 12, index % 12 + 1, 1)

    @property
    def months_back(self) -> int:
        """The number of earlier months: back to January of last year, so that both years to date are known."""
        return YEAR + self.first.month - 1

    def to_date(self, years_back: int = 0) -> dict[str, float]:
        """Return the sum of `by_month` from January to this month, or to the same month of an earlier year."""
        ends = (dt.date(self.first.year - years_back, month, 1).strftime("%Y-%m") for month in (1, self.first.month))
        return total_of(self.by_month.loc[slice(*ends)])

    def to_date_name(self, years_back: int = 0) -> str:
        """Return the year to date in words, such as "Jan–Oct 2026"."""
        name = month_name(dt.date(self.first.year - years_back, self.first.month, 1), short=True)
        return name if self.first.month == 1 else f"Jan–{name}"

    @functools.cached_property
    def by_month(self) -> pd.DataFrame:
        """
        Figures of this month and of the `months_back` before it: one row per month, indexed by month ("2026-10").

        Utilization is computed month by month, because each month's work decides who counts as a timekeeper.
        """
        billed = self._realization_by_month("invoice_date")
        cohort = self._realization_by_month("work_date")
        hours = pd.DataFrame([self._utilization_of(back) for back in range(self.months_back, -1, -1)])
        hours.index = pd.Index(self._month_names())
        left_out = {name: f"{name}_of_work" for name in ("left_out_hours", "left_out_amount")}
        work = cohort[["cohort_amount", "unbilled_amount", "prebill_amount", *left_out]].rename(columns=left_out)
        return hours.join(billed).join(work)

    def result(self, analysis: str, **options: Any) -> pd.DataFrame:
        """Return an analysis of the book. It is computed once for all sections and key points."""
        with self.collecting_warnings():
            found: pd.DataFrame = getattr(self._kept_book, analysis)(**options)
        return found.copy()

    @functools.cached_property
    def _kept_book(self) -> KeptBook:
        return KeptBook(self.book)

    @property
    def utilization(self) -> pd.DataFrame:
        """Utilization by timekeeper."""
        return self.result("utilization", by="user", start=self.first, end=self.last)

    @property
    def utilization_total(self) -> pd.DataFrame:
        """Utilization of everyone, one row."""
        return self.result("utilization", by=None, start=self.first, end=self.last)

    def realization(self, by: str | None) -> pd.DataFrame:
        """Realization of the invoices dated in the month, by a key or in one row."""
        return self.result("realization", by=by, start=self.first, end=self.last)

    def receivables(self, by: str | None) -> pd.DataFrame:
        """Receivables by days past due, by a key or in one row."""
        return self.result("aging", by=by, as_of=self.as_of)

    def wip(self, by: str | None) -> pd.DataFrame:
        """Work in progress by days since the work, by a key or in one row."""
        return self.result("wip", by=by, as_of=self.as_of)

    def lockup(self, by: str | None = None) -> pd.DataFrame:
        """Lock-up with the fees of a year, by a key or in one row."""
        return self.result("lockup", by=by, as_of=self.as_of)

    def month_by_month(self, measure: str) -> pd.DataFrame:
        """Return a figure of realization for twelve months, each beside the month before and the year before."""
        back = 2 * YEAR - 1
        rows = self._realization_by_month("invoice_date", back)
        with self.collecting_warnings():
            return compare({name: rows.loc[[name]] for name in self._month_names(back)}, measure, periods=YEAR)

    def grouping_key(self, key: str) -> str:
        """Return the key to group by: `key`, or another one if the report covers one value of `key`."""
        other = {"client": "matter", "practice_area": "responsible", "responsible": "client"}
        return other[key] if self.scope and self.scope.key == key else key

    @functools.cached_property
    def balances(self) -> dict[str, float]:
        """Receivables, work in progress and lock-up on the day to which receivables are aged."""
        with self.collecting_warnings():
            return balance_figures(self._kept_book, self.as_of)

    @functools.cached_property
    def earlier_balances(self) -> tuple[Balances | None, Balances | None]:
        """The balances of last month's end and a year ago, if a mirror has them."""
        # The report states the day of these balances itself.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BillframesWarning)
            last_month, year_ago = (
                earlier_balances(self.firm_book, self.scope, month_end(self.earlier(back))) for back in (1, YEAR)
            )
            return last_month, year_ago

    def changes(self, measure: str, by: str = "client") -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the change of a figure since last month by a key, and the total in one row."""
        before, after = ((self.earlier(1), month_end(self.earlier(1))), (self.first, self.last))
        then, now = (self.result("realization", by=by, start=first, end=last) for first, last in (before, after))
        with self.collecting_warnings():
            rows = bridge(then, now, measure)
        return rows, pd.DataFrame([total_of(rows)])

    def reconcile(self) -> pd.DataFrame:
        """Invoices dated in the month beside the sums of their items."""
        return self.result("reconcile", start=self.first, end=self.last)

    def narratives(self) -> pd.DataFrame:
        """Time entries of the month with their descriptions, sorted by day, person and matter."""
        entries = self.book.time_entries
        entries = entries[entries["date"].between(pd.Timestamp(self.first), pd.Timestamp(self.last))]
        entries = entries.assign(billing_type=[enum_label(str(each)) for each in entries["billing_type"]])
        order = ["date", "user_name", "matter_name", "time_entry_id"]
        return self.with_distinct_names(entries.sort_values(order, kind="stable", ignore_index=True))

    def with_distinct_names(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the reference to names that several clients, matters or people share."""
        return (self._firm or self)._distinct_names(rows)

    @functools.cached_property
    def _distinct_names(self) -> DistinctNames:
        return DistinctNames(self.firm_book.clients, self.firm_book.matters, self.firm_book.users)

    def collecting_warnings(self) -> AbstractContextManager[None]:
        """
        Collect the warnings of the analyses in the block as notes. They check each frame only once.

        The warning of later balances is dropped if `footnotes.balances` says the same in plain words.
        """
        return collect_warnings(self.notes, self._checked, without=(LaterBalancesWarning,) if self.balances_day else ())

    def _realization_by_month(self, basis: Literal["invoice_date", "work_date"], back: int = 0) -> pd.DataFrame:
        back = back or self.months_back
        rows = self.result("realization", by="month", start=self.earlier(back), end=self.last, basis=basis)
        rows = rows.set_index("month")
        # A month without a row had no work or invoices, so its amounts are 0 and not missing.
        amounts = [name for name in rows.columns if name.endswith(("_amount", "_hours"))]
        names = [name for name in self._month_names(back) if name not in rows.index]
        absent = pd.DataFrame(0.0, index=names, columns=amounts)
        return pd.concat([rows, absent]) if len(absent) else rows

    def _month_names(self, back: int = 0) -> list[str]:
        return [self.earlier(each).strftime("%Y-%m") for each in range(back or self.months_back, -1, -1)]

    def _utilization_of(self, back: int) -> Mapping[Any, Any]:
        first = self.earlier(back)
        last = min(month_end(first), self.last)
        row: pd.Series[Any] = self.result("utilization", by=None, start=first, end=last).iloc[0]
        return row[["client_hours", "total_hours", "capacity_hours", "utilization"]].to_dict()
