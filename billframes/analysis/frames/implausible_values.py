"""Rules of columns that were swapped, cut or changed, are in different units, or have values that can't be right.

Most rules need several rows, and more that are implausible than plausible. Values out of bounds are wrong if they
occur once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billframes._notes import Rule
from billframes.analysis.declare.columns import PLAUSIBLE_DAYS
from billframes.analysis.frames import row_conditions as rows
from billframes.analysis.frames.column_rules import ColumnRule, absolute

_CENT = 0.005
# Corrections take back hours of a day or a few; a timer that never stopped has many more.
_LEAST_HOURS = -24.0
# Firms enter some appointments and flat monthly entries more than a month in advance.
_OFTEN = 0.02
# A balance can be above the amount, because interest was added.
_INTEREST = 1.5


def _check(
    name: str,
    columns: Mapping[str, str] | tuple[str, ...],
    implausible: Any,
    plausible: Any,
    note: str = "",
    seen: str = "",
    remedy: str = "",
    page: str = "Correct these records in the billing system.",
    **more: Any,
) -> ColumnRule:
    """Return the rule of some columns, by default of numbers, with its note if it has one."""
    kinds = dict.fromkeys(columns, "number") if isinstance(columns, tuple) else columns
    rule = Rule(name=note, seen=f"{{subject}}: {seen}", remedy=remedy, page=page, unit="rows") if note else None
    return ColumnRule(name, kinds, implausible, plausible, rule, **more)


def _night_check(column: str, stake: str, unit: str) -> ColumnRule:
    return _check(
        f"night {column}",
        {column: "time"},
        rows.is_night,
        rows.is_not_night,
        "evening_dates",
        f"`{column}` has a time such as 22:00 or 23:00 in {{n}} {{n:row|rows}} ({unit}). These may be "
        f"midnights of the firm's time zone in UTC, which are on the day before.",
        "Convert them to the firm's time zone before their time is dropped.",
        stake=stake,
        unless=() if column != "due_date" else ("night invoice_date",),
        alike=True,
    )


def _order_check(column: str, stake: str, unit: str) -> ColumnRule:
    return _check(
        "order",
        {"created_at": "instant", column: "date"},
        rows.is_day_first,
        rows.is_not_day_first,
        "day_and_month",
        f"day and month of `{column}` may be swapped in {{n}} {{n:row|rows}} ({unit}), because with day and "
        f"month exchanged these dates fit `created_at`.",
        "Read the dates again with the order that the file has.",
        stake=stake,
        gate="ahead",
    )


def _dates_out_of_bounds(column: str, stake: str, unit: str) -> ColumnRule:
    return _check(
        f"bounds {column}",
        {column: "date"},
        None,
        None,
        "impossible_dates",
        f"`{column}` is before 1990 or after 2100 in {{n}} {{n:row|rows}}{{example}} ({unit}).",
        "Correct these dates: they are in no period, or age for decades.",
        stake=stake,
        bounds=PLAUSIBLE_DAYS,
    )


def _negative_amounts(words: str) -> ColumnRule:
    return _check(
        "negative",
        {"amount": "number"},
        lambda amount: amount < 0,
        lambda amount: amount > 0,
        "negative_items",
        f"amount is negative in most rows. Invoices bill {words} as positive amounts, which are subtracted "
        f"from the amounts of the invoices.",
        "Change the sign, unless these are corrections.",
    )


RULES: Mapping[str, tuple[ColumnRule, ...]] = {
    "expenses": (
        _negative_amounts("expenses"),
        _dates_out_of_bounds("date", "amount", "amounts of {stake}"),
    ),
    "fixed_fees": (
        _negative_amounts("fixed fees"),
        _dates_out_of_bounds("date", "amount", "amounts of {stake}"),
    ),
    "time_entries": (
        _check(
            "unequal",
            ("hours", "rate", "amount"),
            rows.is_unequal,
            rows.is_equal,
            "unequal_amounts",
            "amount is not hours times rate in {n} {n:row|rows} with amounts of {stake}, which are most of "
            "those with a rate. One of the three may be another column, or may have been changed.",
            stake="amount",
            unless=("scaled", "swapped", "minutes", "sixtieths", "days", "whole"),
        ),
        _check(
            "ahead",
            {"created_at": "instant", "date": "date"},
            rows.is_ahead,
            None,
            "dated_ahead",
            "client work is dated more than a month after `created_at` in {n} {n:row|rows}{example} ({stake} "
            "hours). It may have been entered in advance, or these dates may be wrong: the work counts in "
            "the period that they name.",
            page="Correct the dates in the billing system if they are wrong.",
            stake="hours",
            unless=("order", "bounds date"),
            among={"billing_type": ("billable", "fixedFee")},
            least=_OFTEN,
        ),
        _check(
            "scaled",
            ("hours", "rate", "amount"),
            rows.is_scaled,
            rows.is_not_scaled,
            "scaled_amounts",
            "amount is many times hours times rate. It may be in another unit, such as cents, or another column.",
            "Each entry's amount is its hours times its rate.",
            gate="unequal",
        ),
        _check(
            "swapped",
            ("hours", "rate", "amount"),
            rows.is_swapped,
            rows.is_not_swapped,
            "swapped_rates",
            "rate is hours times amount, so the two seem to be swapped.",
            "Each entry's amount is its hours times its rate.",
            gate="unequal",
        ),
        _check(
            "minutes",
            ("rate", "amount", "hours"),
            rows.is_in_minutes,
            rows.is_decimal,
            "hours_and_minutes",
            "hours seem to be hours and minutes, such as 1.30 for an hour and a half, because amount is rate "
            "times 1.5.",
            "Hours are decimal: add the minutes divided by 60 to the whole hours.",
            gate="unequal",
        ),
        _check("sixtieths", ("hours", "rate", "amount"), rows.is_in_sixtieths, rows.is_equal, gate="unequal"),
        _check(
            "days",
            ("rate", "amount", "hours"),
            rows.is_in_days,
            rows.is_in_hours,
            "hours_in_days",
            "hours seem to be days, because amount is 24 or 8 times hours times rate in most rows.",
            "Hours are decimal hours, such as 1.5: multiply days by 24, or working days by 8.",
            gate="unequal",
        ),
        _check(
            "whole",
            ("rate", "amount", "hours"),
            rows.is_whole,
            lambda _rate, _amount, hours: hours % 1 != 0,
            "whole_hours",
            "hours are whole numbers, but amount divided by rate is not in {n} {n:row|rows} with {stake} "
            "hours. Hours may have been rounded or cut.",
            "Read them again with their decimals.",
            stake="hours",
            unless=("scaled", "swapped", "minutes", "sixtieths", "days"),
            gate="unequal",
        ),
        _order_check("date", "hours", "{stake} hours"),
        _night_check("date", "hours", "{stake} hours"),
        _dates_out_of_bounds("date", "hours", "{stake} hours"),
        _check(
            "timer",
            {"hours": "number"},
            None,
            None,
            "endless_timer",
            "hours is below −24 in {n} {n:row|rows}{example} ({stake} hours). A timer may never have been stopped.",
            "Correct these hours: they are taken from those of other work.",
            stake="hours",
            bounds=(_LEAST_HOURS, None),
            unless=("sixtieths",),
        ),
    ),
    "invoices": (
        _check(
            "empty",
            ("balance", "amount"),
            lambda balance, amount: (absolute(amount) < 0.005) & (absolute(balance) < 0.005),
            lambda _balance, amount: absolute(amount) > 0.005,
            "empty_amounts",
            "amount is 0 on most invoices. It may be the balance or another column.",
            "The amount is that of the whole invoice, paid or not.",
        ),
        _check(
            "open",
            ("amount", "balance"),
            lambda amount, balance: absolute(balance) > absolute(amount) * _INTEREST + _CENT,
            lambda amount, balance: absolute(balance) < absolute(amount) - _CENT,
            "high_balances",
            "balance is far above amount on most invoices that are not fully open. The two may be swapped or "
            "in different units.",
            "The balance is the part of the amount that is still open.",
        ),
        _check(
            "due",
            dict.fromkeys(("due_date", "invoice_date"), "date"),
            lambda due, invoiced: due < invoiced,
            lambda due, invoiced: due >= invoiced,
            "early_due_dates",
            "`due_date` is before `invoice_date` on most invoices. The two may be swapped.",
            "Look at the dates of a few invoices.",
            unless=("bounds due_date",),
        ),
        _check(
            "negative",
            {"amount": "number"},
            lambda amount: amount < -_CENT,
            lambda amount: amount > _CENT,
            "negative_invoices",
            "amount is negative on {n} {n:row|rows} ({stake} in all), which are most invoices.",
            "Invoices are positive and credits negative: change the sign, unless these are credits.",
            stake="amount",
        ),
        _check(
            "sign",
            ("amount", "balance"),
            rows.has_other_sign,
            rows.has_same_sign,
            "other_sign",
            "balance and amount have different signs in {n} {n:row|rows} with balances of {stake}.",
            "The balance is the part of the amount that is still open, so both have one sign: change that of "
            "the balance.",
            stake="balance",
        ),
        _check(
            "credit",
            ("amount", "balance"),
            lambda amount, balance: (amount < -_CENT) & (balance > _CENT),
            None,
            "positive_credits",
            "balance is positive on credits, whose amount is negative, in {n} {n:row|rows}{example} with "
            "balances of {stake}. Receivables include them as owed by the client.",
            "The open part of a credit is negative: if these are open parts, change their sign.",
            page="The open part of a credit is negative: if these are open parts, correct them in the billing system.",
            stake="balance",
            unless=("sign", "negative"),
        ),
        _dates_out_of_bounds("invoice_date", "amount", "amounts of {stake}"),
        _check(
            "bounds due_date",
            {"due_date": "date"},
            None,
            None,
            "no_real_due_date",
            "`due_date` is before 1990 or after 2100 in {n} {n:row|rows}{example} with balances of {stake}. "
            "They may stand for no date.",
            "These due dates count as missing, so the invoice date is used instead.",
            page="These due dates count as missing, so the invoice date is used instead.",
            stake="balance",
            bounds=PLAUSIBLE_DAYS,
            clears=True,
        ),
        _order_check("invoice_date", "amount", "amounts of {stake}"),
        _night_check("invoice_date", "amount", "amounts of {stake}"),
        _night_check("due_date", "balance", "balances of {stake}"),
    ),
}
