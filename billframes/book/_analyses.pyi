# Written by `python -m tests.typing.make_analysis_stubs` from what the analyses declare; not edited by hand.
from collections.abc import Collection, Sequence
from typing import Any, Literal

import pandas as pd

from billframes.analysis.keys.by import By
from billframes.forecast.horizons import Horizons
from billframes.periods import DateLike

class BookAnalyses:
    def aging(
        self,
        by: By = None,
        *,
        as_of: DateLike | None = None,
        basis: Literal["due_date", "invoice_date"] = "due_date",
        buckets: Sequence[int] = (30, 60, 90),
    ) -> pd.DataFrame: ...
    def billing_lag(
        self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame: ...
    def bridge(
        self,
        measure: str = "billing_realization",
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        by: By = "client",
        before: DateLike | tuple[DateLike, DateLike] | None = None,
    ) -> pd.DataFrame: ...
    def budget_burn(self) -> pd.DataFrame: ...
    def cash_forecast(
        self,
        horizons: Horizons = (4, 8, 13),
        *,
        as_of: DateLike | None = None,
        since: DateLike | None = None,
        by: Literal["client", "invoice"] | None = None,
        payments: Any = None,
        became_final: Any = None,
        complete_from: DateLike | None = None,
        not_cash: Collection[str] | None = None,
        level: float = 0.8,
    ) -> pd.DataFrame: ...
    def cash_forecast_record(
        self,
        horizons: Horizons = (4, 8, 13),
        *,
        as_of: DateLike | None = None,
        since: DateLike | None = None,
        every: int = 4,
        payments: Any = None,
        became_final: Any = None,
        complete_from: DateLike | None = None,
        not_cash: Collection[str] | None = None,
        level: float = 0.8,
    ) -> pd.DataFrame: ...
    def code_check(
        self,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        expenses: pd.DataFrame | None = None,
        fixed_fees: pd.DataFrame | None = None,
    ) -> pd.DataFrame: ...
    def compare(
        self,
        measure: str = "billing_realization",
        *,
        every: Literal["month", "quarter", "year", "fiscal_quarter", "fiscal_year"] = "month",
        periods: int = 12,
        by: By = None,
        as_columns: bool = False,
        align: bool = True,
    ) -> pd.DataFrame: ...
    def contribution(
        self, by: By = "client", *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame: ...
    def days_to_pay(
        self,
        payments: pd.DataFrame | None = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        by: By = "client",
        as_of: DateLike | None = None,
    ) -> pd.DataFrame: ...
    def duplicates(
        self,
        by: str | Sequence[str] = ("user_id", "matter_id", "date", "hours", "description"),
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
    ) -> pd.DataFrame: ...
    def effective_rates(
        self,
        by: By = "user",
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        basis: Literal["invoice_date", "work_date"] = "invoice_date",
        matter_types: Collection[str] | None = None,
    ) -> pd.DataFrame: ...
    def exposure(
        self, by: By = "client", *, as_of: DateLike | None = None, buckets: Sequence[int] = (30, 60, 90)
    ) -> pd.DataFrame: ...
    def fees_collected(
        self,
        payments: pd.DataFrame | None = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        by: By = "client",
        basis: Literal["payment_date", "invoice_date"] = "payment_date",
        as_of: DateLike | None = None,
    ) -> pd.DataFrame: ...
    def fixed_fee_realization(
        self, by: By = None, *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame: ...
    def leverage(
        self,
        by: By = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        include_fixed_fee: bool = True,
        include_probono: bool = False,
        roster: Literal["timekeepers", "active"] = "timekeepers",
    ) -> pd.DataFrame: ...
    def lockup(self, by: By = None, *, as_of: DateLike | None = None, days: int = 365) -> pd.DataFrame: ...
    def missing_time(
        self,
        threshold: float | None = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        roster: Literal["timekeepers", "active"] = "timekeepers",
    ) -> pd.DataFrame: ...
    def new_business(
        self, by: By = "practice_area", *, start: DateLike | None = None, end: DateLike | None = None, largest: int = 10
    ) -> pd.DataFrame: ...
    def overdue_invoices(self, *, as_of: DateLike | None = None) -> pd.DataFrame: ...
    def prebill_review(
        self,
        responsible: str | None = None,
        *,
        invoice: str | Collection[str] | None = None,
        as_of: DateLike | None = None,
        hours_per_day: float = 12.0,
        guidelines: pd.DataFrame | None = None,
    ) -> pd.DataFrame: ...
    def profitability(
        self,
        by: By = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        basis: Literal["invoice_date", "work_date"] = "invoice_date",
    ) -> pd.DataFrame: ...
    def realization(
        self,
        by: By = None,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        basis: Literal["invoice_date", "work_date"] = "invoice_date",
        matter_types: Collection[str] | None = None,
        as_of: DateLike | None = None,
        payments: pd.DataFrame | None = None,
    ) -> pd.DataFrame: ...
    def reconcile(
        self, by: By = "invoice", *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame: ...
    def scorecard(
        self,
        by: By = "user",
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        as_of: DateLike | None = None,
        beside: Literal["firm", "role"] = "firm",
        matter_types: Collection[str] | None = None,
    ) -> pd.DataFrame: ...
    def stale(self, *, as_of: DateLike | None = None, wip_days: int = 90, idle_days: int = 180) -> pd.DataFrame: ...
    def tie_out(
        self,
        ledger: pd.DataFrame | None = None,
        *,
        as_of: DateLike | None = None,
        history: pd.DataFrame | None = None,
        control: float | None = None,
        by: Literal["invoice", "reason", "client"] = "invoice",
    ) -> pd.DataFrame: ...
    def timekeeping_lag(
        self, by: By = "user", *, start: DateLike | None = None, end: DateLike | None = None
    ) -> pd.DataFrame: ...
    def utilization(
        self,
        by: By = "user",
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        include_fixed_fee: bool = True,
        include_probono: bool = False,
        roster: Literal["timekeepers", "active"] = "timekeepers",
        as_of: DateLike | None = None,
    ) -> pd.DataFrame: ...
    def wip(
        self,
        by: By = None,
        *,
        as_of: DateLike | None = None,
        include_prebill: bool = True,
        buckets: Sequence[int] = (30, 60, 90),
        matter_types: Collection[str] | None = None,
    ) -> pd.DataFrame: ...
    def write_downs(
        self,
        by: By = "responsible",
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        sizes: Sequence[float] = (1000, 5000, 20000),
        matter_types: Collection[str] | None = None,
    ) -> pd.DataFrame: ...
