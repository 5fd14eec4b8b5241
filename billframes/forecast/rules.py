"""Rules of cash forecasts: what makes their sum or their range doubtful, in words for a partner."""

from __future__ import annotations

from billframes._shared.notes import Rule

UNCHECKED = Rule(
    name="unchecked_range",
    seen="The range has never been compared with what came in.",
    remedy="Refresh a mirror each night; from the third month on, the forecast shows its record.",
    page="A mirror that is refreshed each night shows, from the third month on, how good the forecasts were.",
    unit="forecasts",
)
OLD_BALANCES = Rule(
    name="old_balances",
    seen="{share:.0%} of what was billed over half a year ago is still open.",
    causes="It may never be paid, or the data may begin with balances taken over from another system.",
    remedy="If they were taken over, pass `complete_from`: the first invoice day since which the data are complete.",
    page="If they were taken over, ask whoever prepares these figures to leave them out of the curve.",
    unit="money",
)
WIDE_RANGE = Rule(
    name="wide_range",
    seen="The upper end of the range of {start} to {end} is over three times its lower end.",
    causes="There may be few invoices for these weeks, or a few large ones.",
    remedy="Look at the list of invoices (by='invoice'), not at the sum.",
    page="Look at the list of invoices, not at the sum.",
    unit="money",
)
LARGE_INVOICE = Rule(
    name="large_invoice",
    seen="{n} of the {cash:,.0f} expected by {end} {n:is|are} on one invoice, {invoice} of {client}, of which "
    "{balance:,.0f} is open. Without it, {rest:,.0f} are expected.",
    remedy="Ask the client when it is paid.",
    page="Ask the client when it is paid.",
    unit="money",
)
MISSED = Rule(
    name="missed_forecasts",
    seen="The last forecasts of {weeks} weeks were too {side}, so the range is too narrow now.",
    causes="Clients may pay {pace} than the record knows.",
    remedy="Look at the record (cash_forecast_record).",
    page="Look at the forecasts beside what came.",
    unit="forecasts",
)
RULE_IS_NEARER = Rule(
    name="rule_is_nearer",
    seen="For {weeks} weeks, 12 months’ billing was nearer to what came than the forecasts: off by {naive:.0%} on "
    "average, the forecasts by {error:.0%}.",
    remedy="Compare `cash_amount` with `naive_amount`.",
    page="Compare the forecast with 12 months’ billing.",
    unit="forecasts",
)
NO_WORK = Rule(
    name="no_work",
    seen="No time entries are passed, so only the cash of open invoices is forecast: `cash_amount` and its range are "
    "missing.",
    remedy="Pass `time_entries`, or use `open_cash_amount`.",
    unit="forecasts",
)
NO_SEASON = Rule(
    name="no_season",
    seen="{months} {n:was|were} not yet seen twice: no season is in the forecast.",
    remedy="From 24 months of mirror on, such months are in the record.",
    page="Compare with the same months of last year.",
    unit="months",
)
GAPS = Rule(
    name="gaps_of_mirror",
    seen="{n} {n:week is|weeks are} in gaps of more than {days} days between two refreshes: when balances fell in them "
    "is not known, so the curve leaves them out.",
    remedy="Refresh the mirror each night.",
    page="Refresh the mirror each night.",
    unit="weeks",
)
OVERPAID = Rule(
    name="paid_above_amount",
    seen="What was paid on {n} {n:invoice|invoices} is more than {n:its|their} amount; the rest counts as a credit of "
    "the client.",
    remedy='Compare payments and invoices with payments(…, by="invoice").',
    page="Compare payments and invoices.",
    unit="invoices",
)
WRITTEN_OFF = Rule(
    name="looks_like_write_off",
    seen="{n} invoices of over half a year ago fell to 0 on {day}: that looks like a write-off, and counts as cash.",
    remedy="Pass `not_cash`, or `payments` of the firm's books.",
    page="Name the invoices that were written off, or read the payments from the firm's books.",
    unit="invoices",
)
