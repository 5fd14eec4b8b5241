# Written by `python -m tests.typing.make_analysis_stubs` from what the analyses declare; not edited by hand.
# ruff: noqa: F401
from collections.abc import Collection, Sequence
from typing import Any, Literal

import pandas as pd
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.keys.by import By
from billframes.analysis.results.fact import fact as fact
from billframes.analysis.sheets.aging import aging as _aging
from billframes.analysis.sheets.billing_lag import billing_lag as _billing_lag
from billframes.analysis.sheets.bridge import bridge as bridge
from billframes.analysis.sheets.budget_burn import budget_burn as _budget_burn
from billframes.analysis.sheets.code_check import code_check as _code_check
from billframes.analysis.sheets.compare import compare as compare
from billframes.analysis.sheets.contribution import contribution as _contribution
from billframes.analysis.sheets.duplicates import duplicates as _duplicates
from billframes.analysis.sheets.effective_rates import effective_rates as _effective_rates
from billframes.analysis.sheets.exposure import exposure as _exposure
from billframes.analysis.sheets.fixed_fee_realization import fixed_fee_realization as _fixed_fee_realization
from billframes.analysis.sheets.leverage import leverage as _leverage
from billframes.analysis.sheets.lockup import lockup as lockup
from billframes.analysis.sheets.missing_time import missing_time as _missing_time
from billframes.analysis.sheets.new_business import new_business as _new_business
from billframes.analysis.sheets.overdue_invoices import overdue_invoices as _overdue_invoices
from billframes.analysis.sheets.prebill_review import prebill_review as _prebill_review
from billframes.analysis.sheets.profitability import profitability as _profitability
from billframes.analysis.sheets.realization import realization as _realization
from billframes.analysis.sheets.reconcile import reconcile as _reconcile
from billframes.analysis.sheets.scorecard import scorecard as _scorecard
from billframes.analysis.sheets.stale import stale as _stale
from billframes.analysis.sheets.timekeeping_lag import timekeeping_lag as _timekeeping_lag
from billframes.analysis.sheets.utilization import utilization as _utilization
from billframes.analysis.sheets.wip import wip as _wip
from billframes.analysis.sheets.write_downs import write_downs as _write_downs
from billframes.config.firm import FirmSettings
from billframes.forecast.cash_forecast import cash_forecast as _cash_forecast
from billframes.forecast.cash_forecast_record import cash_forecast_record as _cash_forecast_record
from billframes.forecast.horizons import Horizons
from billframes.ledger.days_to_pay import days_to_pay as _days_to_pay
from billframes.ledger.fees_collected import fees_collected as _fees_collected
from billframes.ledger.payments import payments as payments
from billframes.ledger.tie_out import tie_out as tie_out
from billframes.periods import DateLike

def aging(
    invoices: IntoFrameT,
    *,
    time_entries: IntoFrameT | None = None,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    as_of: DateLike,
    by: By = None,
    basis: Literal["due_date", "invoice_date"] = "due_date",
    buckets: Sequence[int] = (30, 60, 90),
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def billing_lag(
    time_entries: IntoFrameT,
    *,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def budget_burn(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def cash_forecast(
    invoices: IntoFrameT,
    receipts: Any = None,
    time_entries: IntoFrameT | None = None,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    *,
    matters: IntoFrameT | None = None,
    as_of: DateLike,
    since: DateLike | None = None,
    horizons: Horizons = (4, 8, 13),
    by: Literal["client", "invoice"] | None = None,
    payments: Any = None,
    became_final: Any = None,
    complete_from: DateLike | None = None,
    not_cash: Collection[str] | None = None,
    level: float = 0.8,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def cash_forecast_record(
    invoices: IntoFrameT,
    receipts: Any = None,
    time_entries: IntoFrameT | None = None,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    *,
    matters: IntoFrameT | None = None,
    as_of: DateLike,
    since: DateLike | None = None,
    horizons: Horizons = (4, 8, 13),
    every: int = 4,
    payments: Any = None,
    became_final: Any = None,
    complete_from: DateLike | None = None,
    not_cash: Collection[str] | None = None,
    level: float = 0.8,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def code_check(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    matters: IntoFrameT,
    codes: IntoFrameT,
    code_sets: IntoFrameT | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
) -> IntoFrameT: ...
def contribution(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = "client",
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def days_to_pay(
    payments: pd.DataFrame | None = None,
    *,
    invoices: IntoFrameT,
    clients: IntoFrameT | None = None,
    by: By = "client",
    start: DateLike | None = None,
    end: DateLike | None = None,
    as_of: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def duplicates(
    time_entries: IntoFrameT,
    *,
    by: str | Sequence[str] = ("user_id", "matter_id", "date", "hours", "description"),
    start: DateLike | None = None,
    end: DateLike | None = None,
) -> IntoFrameT: ...
def effective_rates(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = "user",
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def exposure(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    as_of: DateLike,
    by: By = "client",
    buckets: Sequence[int] = (30, 60, 90),
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def fees_collected(
    payments: pd.DataFrame | None = None,
    *,
    time_entries: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = "client",
    start: DateLike | None = None,
    end: DateLike | None = None,
    basis: Literal["payment_date", "invoice_date"] = "payment_date",
    as_of: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def fixed_fee_realization(
    time_entries: IntoFrameT,
    *,
    fixed_fees: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def leverage(
    time_entries: IntoFrameT,
    *,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    start: DateLike,
    end: DateLike | None = None,
    by: By = None,
    include_fixed_fee: bool = True,
    include_probono: bool = False,
    roster: Literal["timekeepers", "active"] = "timekeepers",
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def missing_time(
    time_entries: IntoFrameT,
    *,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    start: DateLike,
    end: DateLike | None = None,
    threshold: float | None = None,
    roster: Literal["timekeepers", "active"] = "timekeepers",
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def new_business(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    start: DateLike,
    end: DateLike | None = None,
    by: By = "practice_area",
    largest: int = 10,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def overdue_invoices(
    invoices: IntoFrameT,
    *,
    time_entries: IntoFrameT | None = None,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    matters: IntoFrameT | None = None,
    as_of: DateLike,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def prebill_review(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    codes: IntoFrameT | None = None,
    code_sets: IntoFrameT | None = None,
    invoice: str | Collection[str] | None = None,
    responsible: str | None = None,
    as_of: DateLike | None = None,
    hours_per_day: float = 12.0,
    guidelines: pd.DataFrame | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def profitability(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def realization(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
    as_of: DateLike | None = None,
    payments: pd.DataFrame | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def reconcile(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    clients: IntoFrameT | None = None,
    by: By = "invoice",
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def scorecard(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    start: DateLike,
    end: DateLike | None = None,
    as_of: DateLike | None = None,
    by: By = "user",
    beside: Literal["firm", "role"] = "firm",
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def stale(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT,
    users: IntoFrameT | None = None,
    as_of: DateLike,
    wip_days: int = 90,
    idle_days: int = 180,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def timekeeping_lag(
    time_entries: IntoFrameT,
    *,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    by: By = "user",
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def utilization(
    time_entries: IntoFrameT,
    *,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    start: DateLike,
    end: DateLike | None = None,
    by: By = "user",
    include_fixed_fee: bool = True,
    include_probono: bool = False,
    roster: Literal["timekeepers", "active"] = "timekeepers",
    as_of: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def wip(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    as_of: DateLike,
    by: By = None,
    include_prebill: bool = True,
    buckets: Sequence[int] = (30, 60, 90),
    matter_types: Collection[str] | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
def write_downs(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = "responsible",
    start: DateLike | None = None,
    end: DateLike | None = None,
    sizes: Sequence[float] = (1000, 5000, 20000),
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT: ...
