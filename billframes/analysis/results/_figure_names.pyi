# Written by `python -m tests.typing.make_analysis_stubs` from what the analyses declare; not edited by hand.
# ruff: noqa: PYI051
# fmt: off
from typing import Literal, TypeAlias

FigureName: TypeAlias = Literal[
    "aging", "aging.0-30", "aging.1-30", "aging.31-60", "aging.61-90", "aging.91+", "aging.unknown_amount",
    "amount_days", "amount_weighted_lag_days", "billed_amount", "billed_to_standard", "billed_to_worked",
    "billing_lag.billable_hours", "billing_lag.entries", "billing_lag.worked_amount", "billing_realization",
    "capacity_hours", "cash_forecast.cash_amount", "client_hours", "cohort_amount", "collected_amount",
    "collected_expense_amount", "collected_ratio", "collected_tax_amount", "contingent_amount",
    "contribution.billed_amount", "contribution.settled_amount", "contribution.share", "contribution.worked_amount",
    "cost_amount", "credit_amount", "credited_amount", "current", "days_since_invoice", "days_since_work", "due_amount",
    "due_settled_amount", "due_settlement_ratio", "effective_rate", "effective_rate_growth", "entries",
    "exposure_amount", "fee_amount", "fees_amount", "fees_collected.cash_amount", "fixed_fee_amount", "fixed_fee_hours",
    "fixed_fee_realization", "fixed_fee_realization.effective_rate", "fixed_fee_realization.standard_amount",
    "from_trust_amount", "future_cash_amount", "future_dated_entries", "heads_leverage", "high_amount", "highest_rate",
    "hour_days", "hours_leverage", "hours_weighted_lag_days", "idle_capacity_hours", "last_invoice_date",
    "last_work_date", "late_entries", "late_ratio", "left_out_amount", "left_out_billed_amount", "left_out_hours",
    "linked_hours", "low_amount", "lowest_rate", "margin_ratio", "mean_lag_days", "median_lag_days", "mixed_amount",
    "naive_amount", "never_amount", "next_day_entries", "next_day_ratio", "no_time_amount", "non_billable_hours",
    "non_principal_hours", "non_principals", "oldest_date", "open_cash_amount", "open_fees_amount",
    "overall_realization", "overdue", "p90_lag_days", "pace", "postdated_entries", "prebill_amount", "principal_hours",
    "principals", "profit_amount", "profitability.unbilled_amount", "rate_spread", "rates_in_use",
    "realization.billable_hours", "realization.collected_amount", "realization.credited_amount",
    "realization.prebill_amount", "realization.unbilled_amount", "realization.unknown_amount",
    "realization.written_off_amount", "receivable_amount", "receivables", "same_day_entries", "same_day_ratio",
    "settled_amount", "settlement_ratio", "speed", "standard_amount", "standard_rate", "standard_rate_growth",
    "target_hours", "total_hours", "total_lag_days", "unallocated_amount", "unbilled_amount", "unbilled_cash_amount",
    "uncosted_hours", "unknown_amount", "unknown_balance_amount", "unknown_entries", "unknown_hours",
    "unknown_role_hours", "unknown_role_people", "unlinked_fee_amount", "unlinked_hours", "unpriced_hours",
    "unrated_hours", "utilization", "utilization.billable_hours", "weighted_days_overdue", "wip", "wip.0-30",
    "wip.31-60", "wip.61-90", "wip.91+", "wip.expense_amount", "wip.fixed_fee_amount", "wip.fixed_fee_hours",
    "wip.hours", "wip.time_amount", "wip_amount", "work_in_progress", "worked_amount", "worked_rate",
    "worked_rate_growth", "worked_to_standard", "write_down_amount", "write_down_ratio", "write_downs.invoices",
    "write_downs.share", "write_downs.unknown_amount", "write_up_amount", "written_down_invoices", "written_off_amount"
] | str
