"""Charts of the analyses' results: one function an analysis, each drawing on an `Axes` and returning it.

A few drawings serve all: a pale bar for the whole and a dark one on it for the part, a bar cut into shades of one
blue, two points on a line. The figure that matters stands beside it in words, so that a chart reads the same in
colour, in grey and in print. Nothing here touches pyplot or its global state. Each chart is a declaration below;
`Chart` says what one holds.
"""

from __future__ import annotations

from billframes.plots._declaration import Chart
from billframes.plots._drawing import ages, bars, points, running_share, stacks

__all__ = [
    "aging",
    "billing_lag",
    "budget_burn",
    "contribution",
    "effective_rates",
    "fixed_fee_realization",
    "leverage",
    "lockup",
    "origination",
    "profitability",
    "realization",
    "timekeeping_lag",
    "utilization",
    "wip",
]

_BY_AGE = "a column a bucket, or for several rows a bar each, cut into buckets."
_MONTHS = "Months, quarters and years stand side by side; anything else is a row each, in the result's order."

utilization = Chart(
    "utilization",
    bars,
    "Client hours and available hours",
    {"capacity_hours": "Available hours", "client_hours": "Client hours"},
    ["{utilization}"],
    hidden="capacity_hours",
    instead={"title": "Client hours", "words": ["{client_hours:axis}"]},
    shows="client hours (dark) on available hours (pale), and their ratio.",
    more=f"{_MONTHS} If available hours are missing, as by client, only client hours are drawn.",
    example={
        "user_name": ["Ada", "Ben"],
        "client_hours": [132.0, 0.0],
        "capacity_hours": [176.0, 176.0],
        "utilization": [0.75, 0.0],
    },
    gives=(["75.0%", "0.0%"], "Client hours and available hours by timekeeper"),
).function
realization = Chart(
    "realization",
    bars,
    "Worth of billed work and fees billed",
    {"worked_amount": "Worth of billed work", "billed_amount": "Billed"},
    ["{billing_realization}"],
    hidden="worked_amount",
    instead={"title": "Fees billed", "words": ["{billed_amount:axis}"]},
    shows="billed fees (dark) on the worth of the same work (pale), and their ratio.",
    more=f"{_MONTHS} With rates hidden only billed fees are drawn.",
    example={
        "month": ["2026-09", "2026-10"],
        "worked_amount": [1000.0, 0.0],
        "billed_amount": [800.0, -50.0],
        "billing_realization": [0.8, None],
    },
    gives=(["80.0%", "–"], "Worth of billed work and fees billed by month"),
).function
effective_rates = Chart(
    "effective_rates",
    bars,
    "What an hour of billable time brought",
    {"worked_rate": "Worth of an hour at its rates", "effective_rate": "Billed an hour"},
    ["{effective_rate}"],
    shows="what an hour was billed at (dark) on its rate (pale).",
    more="A bar's words are what it was billed at. With rates hidden only that is drawn.",
    example={"user_name": ["Ada"], "effective_rate": [320.4], "worked_rate": [400.0]},
    gives=(["320"], "What an hour of billable time brought by timekeeper"),
).function
fixed_fee_realization = Chart(
    "fixed_fee_realization",
    bars,
    "Fixed fees and the worth of their hours",
    {"standard_amount": "Hours at standard rates", "fee_amount": "Fixed fees"},
    ["{fixed_fee_realization}", "{effective_rate} an hour"],
    shows="fees (dark) on their hours at standard rates (pale).",
    more="A bar's words are fees ÷ standard, or, if standard rates are missing, what an hour brought.",
    example={
        "client_name": ["Acme", "Bolt"],
        "fee_amount": [800.0, 500.0],
        "standard_amount": [1000.0, None],
        "fixed_fee_realization": [0.8, None],
        "effective_rate": [320.0, 250.0],
    },
    gives=(["80.0%", "250 an hour"], "Fixed fees and the worth of their hours by client"),
).function
profitability = Chart(
    "profitability",
    bars,
    "Fees, profit and margin",
    {"fees_amount": "Fees", "profit_amount": "Profit"},
    ["{margin_ratio}"],
    shows="profit (dark) on fees (pale), and the margin.",
    more="A loss lies to the left of zero. Without cost rates only fees are drawn.",
    example={
        "client_name": ["Acme", "Bolt"],
        "fees_amount": [1000.0, 500.0],
        "profit_amount": [400.0, -50.0],
        "margin_ratio": [0.4, -0.1],
    },
    gives=(["40.0%", "−10.0%"], "Fees, profit and margin by client"),
).function
leverage = Chart(
    "leverage",
    stacks,
    "Client hours of principals and others, and their ratio",
    {"principal_hours": "Principals", "non_principal_hours": "Others", "unknown_role_hours": "Unknown role"},
    ["{hours_leverage}"],
    shows="hours of principals (pale), of others, and of unknown role (dark).",
    more="A bar's words are the others' hours for each hour of a principal; people of unknown role are in neither.",
    example={
        "client_name": ["Acme"],
        "principal_hours": [10.0],
        "non_principal_hours": [25.0],
        "unknown_role_hours": [0.0],
        "hours_leverage": [2.5],
    },
    gives=(["2.50"], "Client hours of principals and others, and their ratio by client"),
).function
lockup = Chart(
    "lockup",
    stacks,
    "Days of fees tied up",
    {"wip_days": "Work in progress", "receivable_days": "Receivables"},
    ["{lockup_days} days"],
    shows="days of work in progress (pale) and of receivables (dark).",
    more="A bar's words are the days of both. Several results under each other, such as a row a month with `month` in "
    "front, are a bar each.",
    example={"wip_days": [50.0], "receivable_days": [30.0], "lockup_days": [80.0]},
    gives=(["80.0 days"], "Days of fees tied up"),
).function
origination = Chart(
    "origination",
    stacks,
    "Fees",
    {"billed_amount": "Billed time", "fixed_fee_amount": "Fixed fees"},
    ["{fees_amount}"],
    shows="billed time fees (pale) and fixed fees (dark), and their sum.",
    more="Credits lie to the left of zero.",
    example={
        "originator_name": ["Ada"],
        "billed_amount": [1000.0],
        "fixed_fee_amount": [500.0],
        "fees_amount": [1500.0],
    },
    gives=(["1,500"], "Fees by originator"),
).function
budget_burn = Chart(
    "budget_burn",
    stacks,
    "Budget used",
    {
        "billed_amount": "Billed time",
        "fixed_fee_amount": "Fixed fees",
        "prebill_amount": "On prebills",
        "unbilled_amount": "Unbilled",
        "unknown_amount": "Unknown invoices",
    },
    ["{budget_burn}"],
    where_any=("fixed_fee_amount", "unknown_amount"),
    mark=("budget_amount", "Budget"),
    darkest_first=True,
    shows="billed, on prebills and unbilled, and the budget as a black mark.",
    more="A bar's words are used ÷ budget. What is on invoices that were not passed is drawn if there is any.",
    example={
        "matter_name": ["Acme v. Bolt"],
        "budget_amount": [1000.0],
        "billed_amount": [500.0],
        "fixed_fee_amount": [0.0],
        "prebill_amount": [200.0],
        "unbilled_amount": [100.0],
        "unknown_amount": [0.0],
        "budget_burn": [0.8],
    },
    gives=(["80.0%"], "Budget used by matter"),
).function
billing_lag = Chart(
    "billing_lag",
    points,
    "Days from work to invoice",
    {"mean_lag_days": "Mean entry", "amount_weighted_lag_days": "Weighted by worth"},
    ["{mean_lag_days} days"],
    hidden="amount_weighted_lag_days",
    instead={"columns": {"mean_lag_days": "Mean entry", "hours_weighted_lag_days": "Weighted by hours"}},
    shows="the mean entry's days and, beside it, days weighted by worth.",
    more="If rates are hidden, the weights are hours. A row's words are its mean.",
    example={
        "client_name": ["Acme"],
        "mean_lag_days": [30.0],
        "amount_weighted_lag_days": [41.5],
        "hours_weighted_lag_days": [40.0],
    },
    gives=(["30.0 days"], "Days from work to invoice by client"),
).function
timekeeping_lag = Chart(
    "timekeeping_lag",
    points,
    "Days from work to entry",
    {"median_lag_days": "Median", "p90_lag_days": "90th percentile"},
    ["{late_ratio} late"],
    shows="the median entry's days and the 90th percentile's.",
    more="A row's words are its late share: entries made more than 7 days after the work.",
    example={"user_name": ["Ada"], "median_lag_days": [1.0], "p90_lag_days": [9.0], "late_ratio": [0.125]},
    gives=(["12.5% late"], "Days from work to entry by timekeeper"),
).function
aging = Chart(
    "aging",
    ages,
    "Receivables",
    {},
    ["{total}"],
    age=("days past due", "days since the invoice date"),
    shows=_BY_AGE,
    more="Older is darker. Credits lie to the left of zero. A bar's words are its total.",
    example={"client_name": ["Acme", "Bolt"], "current": [60.0, 0.0], "1-30": [40.0, -5.0], "total": [100.0, -5.0]},
    gives=(["100", "−5"], "Receivables by client, by days past due"),
).function
wip = Chart(
    "wip",
    ages,
    "Work in progress",
    {},
    ["{total}"],
    age=("days since the work",),
    shows=_BY_AGE,
    more="Older is darker, and what is negative lies to the left of zero. A bar's words are its total.",
    example={"0-30": [60.0], "31-60": [30.0], "61+": [10.0], "total": [100.0]},
    gives=(["60\n60.0%", "30\n30.0%", "10\n10.0%"], "Work in progress by days since the work"),
).function
contribution = Chart(
    "contribution",
    running_share,
    "Fees (bars) and running share (line)",
    {"fees_amount": "Fees", "running_share": "Running share"},
    ["{fees_amount} · {share}"],
    shows="fees (bars) and their running share (line, read at the top).",
    more="Rows are in the result's order, largest fees first. Words at the right are a row's fees and their share.",
    example={
        "client_name": ["Acme", "Bolt"],
        "fees_amount": [750.0, 250.0],
        "share": [0.75, 0.25],
        "running_share": [0.75, 1.0],
    },
    gives=(["750 · 75.0%", "250 · 25.0%"], "Fees (bars) and running share (line) by client"),
).function
