# Written by `python -m tests.typing.make_analysis_stubs` from what the analyses declare; not edited by hand.
from .chart import Plot

aging: Plot
billing_lag: Plot
bridge: Plot
budget_burn: Plot
cash_forecast: Plot
cash_forecast_record: Plot
compare: Plot
contribution: Plot
days_to_pay: Plot
effective_rates: Plot
exposure: Plot
fees_collected: Plot
fixed_fee_realization: Plot
leverage: Plot
lockup: Plot
new_business: Plot
profitability: Plot
realization: Plot
scorecard: Plot
timekeeping_lag: Plot
utilization: Plot
wip: Plot
write_downs: Plot
figures: Plot
