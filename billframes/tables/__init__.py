"""The analyses' results as tables for people: `bf.tables.realization(book.realization(by="client"))`.

One for each main analysis, made with great-tables (extra `billframes[report]`), with the title, the units, the total
and the definition of what is shown. Each is a declaration below; `TableOf` says how they are called.
"""

from __future__ import annotations

from billframes.tables._declaration import BUCKETS, TableOf

__all__ = ["TableOf", "aging", "realization", "utilization"]

utilization = TableOf(
    "utilization",
    "Utilization",
    ("client_hours", "non_billable_hours", "total_hours", "capacity_hours", "utilization", "target_hours", "pace"),
    where_there=("target_hours", "pace"),
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
        "unbilled_amount",
        "prebill_amount",
        "cohort_amount",
        "billed_to_worked",
    ),
    where_there=("unbilled_amount", "prebill_amount", "cohort_amount", "billed_to_worked"),
)
aging = TableOf(
    "aging",
    "Receivables by age",
    ("current", BUCKETS, "total", "overdue", "weighted_days_overdue"),
    where_there=("current",),
)
