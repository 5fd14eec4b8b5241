# Written by `python -m tests.typing.make_analysis_stubs` from what the analyses declare; not edited by hand.
from .table import TableOf as TableOf

aging: TableOf
billing_lag: TableOf
bridge: TableOf
budget_burn: TableOf
cash_forecast: TableOf
cash_forecast_record: TableOf
compare: TableOf
contribution: TableOf
days_to_pay: TableOf
effective_rates: TableOf
exposure: TableOf
fees_collected: TableOf
fixed_fee_realization: TableOf
leverage: TableOf
lockup: TableOf
missing_time: TableOf
new_business: TableOf
overdue_invoices: TableOf
prebill_review: TableOf
profitability: TableOf
realization: TableOf
reconcile: TableOf
scorecard: TableOf
stale: TableOf
tie_out: TableOf
timekeeping_lag: TableOf
utilization: TableOf
wip: TableOf
write_downs: TableOf
figures: TableOf
