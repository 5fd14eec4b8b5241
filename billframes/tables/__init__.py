"""The analyses' results as tables for people: `bf.tables.realization(book.realization(by="client"))`.

One for each main analysis, made with great-tables (extra `billframes[report]`), with the title, the units, the total
and the definition of what is shown. Each is a declaration below; `TableOf` says how they are called.
"""

from __future__ import annotations

from billframes.tables._declaration import BUCKETS, TableOf

__all__ = [
    "TableOf",
    "aging",
    "billing_lag",
    "budget_burn",
    "contribution",
    "effective_rates",
    "fixed_fee_realization",
    "leverage",
    "lockup",
    "missing_time",
    "origination",
    "profitability",
    "realization",
    "reconcile",
    "timekeeping_lag",
    "utilization",
    "wip",
]

_OF_DUE = ("due_amount", "due_settled_amount", "due_settlement_ratio")
_OF_COHORT = ("unbilled_amount", "prebill_amount", "cohort_amount", "billed_to_worked")

utilization = TableOf(
    "utilization",
    "Utilization",
    (
        *("client_hours", "non_billable_hours", "total_hours", "capacity_hours", "idle_capacity_hours", "utilization"),
        *("target_hours", "pace"),
    ),
    where_there=("idle_capacity_hours", "target_hours", "pace"),
)
realization = TableOf(
    "realization",
    "Realization",
    (
        "billable_hours",
        "worked_amount",
        "write_down_amount",
        "billed_amount",
        "billing_realization",
        "effective_rate",
        "settled_amount",
        "settlement_ratio",
        *_OF_DUE,
        "mixed_amount",
        *_OF_COHORT,
    ),
    where_there=(*_OF_DUE, "mixed_amount", *_OF_COHORT),
)
reconcile = TableOf(
    "reconcile",
    "Invoices and their items",
    (
        "time_amount",
        "expense_amount",
        "fixed_fee_amount",
        "items_amount",
        "amount",
        "unexplained_amount",
        "balance",
        "matter_count",
    ),
    keys=("invoice_number", "client_name", "invoice_date", "invoice_state"),
    cents=True,
)
aging = TableOf(
    "aging",
    "Receivables by age",
    ("current", BUCKETS, "total", "overdue", "weighted_days_overdue"),
    where_there=("current", "weighted_days_overdue"),
)
wip = TableOf(
    "wip",
    "Work in progress by age",
    (
        *(BUCKETS, "total", "unbilled_amount", "prebill_amount", "unknown_amount", "contingent_amount", "hours"),
        *("unpriced_hours", "oldest_date"),
    ),
    where_there=("unknown_amount", "contingent_amount", "unpriced_hours"),
)
lockup = TableOf(
    "lockup",
    "Lock-up",
    (
        "as_of",
        "wip_amount",
        "receivable_amount",
        "fees_amount",
        "fees_start",
        "fees_end",
        "days",
        "wip_days",
        "receivable_days",
        "lockup_days",
        "left_out_wip_amount",
    ),
    where_there=("as_of", "fees_start", "fees_end", "left_out_wip_amount"),
    adds_up=False,
)
effective_rates = TableOf(
    "effective_rates",
    "Effective rates",
    (
        "billable_hours",
        "worked_amount",
        "worked_rate",
        "billed_amount",
        "effective_rate",
        "standard_amount",
        "standard_rate",
    ),
    where_there=("standard_amount", "standard_rate"),
)
leverage = TableOf(
    "leverage",
    "Leverage",
    (
        "principal_hours",
        "non_principal_hours",
        "hours_leverage",
        "principals",
        "non_principals",
        "heads_leverage",
        "unknown_role_hours",
        "unknown_role_people",
    ),
)
contribution = TableOf(
    "contribution", "Fees", ("billed_amount", "fixed_fee_amount", "fees_amount", "share", "running_share")
)
origination = TableOf(
    "origination", "Fees", ("worked_amount", "billed_amount", "settled_amount", "fixed_fee_amount", "fees_amount")
)
fixed_fee_realization = TableOf(
    "fixed_fee_realization",
    "Fixed-fee realization",
    (
        "fee_amount",
        "linked_hours",
        "effective_rate",
        "standard_amount",
        "fixed_fee_realization",
        "unlinked_fee_amount",
        "unlinked_hours",
    ),
)
profitability = TableOf(
    "profitability",
    "Profitability",
    (
        "billed_amount",
        "fixed_fee_amount",
        "fees_amount",
        "total_hours",
        "cost_amount",
        "profit_amount",
        "margin_ratio",
        "uncosted_hours",
        "unbilled_amount",
    ),
    where_there=("unbilled_amount",),
)
budget_burn = TableOf(
    "budget_burn",
    "Budgets",
    (
        "budget_amount",
        "billed_amount",
        "fixed_fee_amount",
        "prebill_amount",
        "unbilled_amount",
        "used_amount",
        "remaining_amount",
        "budget_burn",
    ),
)
billing_lag = TableOf(
    "billing_lag",
    "Days from work to invoice",
    (
        "entries",
        "mean_lag_days",
        "worked_amount",
        "amount_weighted_lag_days",
        "billable_hours",
        "hours_weighted_lag_days",
        "postdated_entries",
    ),
)
timekeeping_lag = TableOf(
    "timekeeping_lag",
    "Days from work to entry",
    (
        "entries",
        "median_lag_days",
        "p90_lag_days",
        "same_day_ratio",
        "next_day_ratio",
        "late_ratio",
        "future_dated_entries",
        "unknown_entries",
    ),
)
missing_time = TableOf(
    "missing_time",
    "Days with less time than expected",
    ("hours", "threshold_hours", "available_hours", "missing_hours"),
    keys=("date", "user_name"),
)
