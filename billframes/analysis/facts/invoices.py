"""Invoices: each amount divided into time, fixed fees, expenses and tax, and what of each is settled and open.

The API's invoice has one amount A and no lines, and its items are without tax. Let E and F be the expenses and fixed
fees on it, and let r(time), r(fixed fees) and r(expenses) each be the sum of the rates of the taxes that the settings
charge on that kind of item, for the invoice's client and date. If A is less than the items are worth with their tax,
the difference is a discount; if it is more, a write-up. Time bears it, or else fixed fees; expenses never do. Tax is
charged on what items are billed at:

    A = time × (1 + r(time)) + fixed fees × (1 + r(fixed fees)) + expenses × (1 + r(expenses))

Expenses are always billed at E. With `discounts="time"`, fixed fees are billed at F, so that only the time is unknown:

    time = (A − E × (1 + r(expenses)) − F × (1 + r(fixed fees))) ÷ (1 + r(time))

This is `net`, the net billed time fees: without taxes, A − E − F. A discount larger than the value of the time makes it
negative. On an invoice of fixed fees without billable time, they bear the discount: `net` is then what they are billed
at less F. With `discounts="items"`, time of the value W and fixed fees are billed at the same share of W and F. Tax is
the rest of the amount. Invoices round it to cents: if the settings have taxes, and A is within 0.01 of what the items
are worth with their tax, there is no discount.

The net fees are spread over the invoice's billable entries in proportion to their value, or to their hours if a value
is hidden or all are 0. If entries below 0 nearly cancel the others (the sum is less than a tenth of the sum of absolute
values), the proportions would be arbitrary: then the fees are spread over no entry, like those of an invoice without
billable time. A credit note is an invoice below 0, usually without items. `work` says for whom these fees count.

What is not open is settled, by a payment, a credit or a write-off alike; an invoice of 0 has nothing to settle. A part
payment settles fees, expenses and tax in proportion, or in the settings' `payment_order`, one after the other: with
the order tax, expenses, fees, the settled fees are A − balance − tax − expenses, but at least 0 and at most the fees.
Time and fixed fees share them in proportion. An invoice below 0, or with a part below 0, is settled in proportion. A
balance below 0 is an unused credit, which is never overdue: more than the invoice is settled then, but in an order of
payment at most the fees.

For example, an invoice of 900 with an expense of 100 bills time worth 1,000 at 800, so each 1.00 of value is billed at
0.80. If 225 of it are open, a quarter of each part is: of the fees, 600 are settled.

One row is one invoice that was passed. A number that is not known, such as a missing amount, is NaN.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import join_by_id, sum_by
from billframes.analysis.data.expressions import RESIDUE, C, as_float, midnight, null_column, value_if
from billframes.analysis.declare.columns import Frame
from billframes.config.taxes import KINDS, Tax

COLUMNS = {
    "invoice_id, client_id, matter_id": "as loaded; an invoice of several matters names only one of them",
    "invoice_state, invoice_date, due_date": "as loaded",
    "amount, balance": "as loaded",
    "value, hours": "of the billable time on it: its amounts at its rates, and its hours",
    "gross_value, gross_hours": "the same of absolute numbers",
    "hidden": "how many billable entries on it have hours, but no amount",
    "expenses, fixed_fees": "the sums of these items on it",
    "net": "the net billed time fees",
    "fees": "the net fees and the fixed fees as billed",
    "tax": "the rest of the amount",
    "tax_on_time, tax_on_fixed_fees, tax_on_expenses": "the rates of tax",
    "per_value, per_hour": "the fee of an entry for each 1.00 of its value, and for each hour; one or both are 0",
    "is_spread": "whether its net fees are spread over entries",
    "is_cancelled": "whether entries below 0 nearly cancel the others",
    "is_mixed": "whether it has fixed fees",
    "settled": "the settled part of its fees, as a ratio",
    "open_time, open_fixed_fees, open_expenses": "what is open of each 1.00 billed for an item, with its tax",
}
"""What each column is; several can share a meaning."""
OF_TIME = ("value", "hours", "gross_value", "gross_hours", "hidden")
_NUMBERS = ("amount", "balance")
_TYPES = {
    **dict.fromkeys(("invoice_id", "client_id", "matter_id", "invoice_state"), nw.String()),
    **dict.fromkeys(("invoice_date", "due_date"), nw.Datetime("us")),
    **dict.fromkeys(_NUMBERS, nw.Float64()),
}
# If the sum of values, or of hours, is a smaller part of the sum of absolute ones, fees are not spread by it.
_NEARLY_CANCELLED = 0.1
# Smaller amounts are rests of floating-point sums, not fees.
_NO_FEE = 1e-6
# Two taxes are rounded to half a cent each.
_ROUNDING = 0.01 + _NO_FEE
# The part of the invoice that each kind of item belongs to.
_PART_OF = {"time": "fees", "fixed_fees": "fees", "expenses": "expenses"}


def invoices(of: Reader, *, own: Iterable[str] = (), discounts: str = "time") -> Frame:
    """Return one row per invoice; see the module's docstring."""
    rows = _as_loaded(of, own)
    rows = _with_fees(_with_tax_rates(_with_items(rows, of), of), of, discounts)
    return _with_open_parts(_with_shares(rows), of)


# 1. What is on each invoice


def _as_loaded(of: Reader, own: Iterable[str]) -> Frame:
    rows = of.select("invoices", ("invoice_id",), (*_TYPES, *own))
    there = {each: dtype for each, dtype in _TYPES.items() if each in of.columns("invoices")}
    absent = {each: null_column(dtype) for each, dtype in _TYPES.items() if each not in there}
    # An amount that was not passed is as unknown as a missing one.
    absent |= {each: nw.lit(float("nan")) for each in _NUMBERS if each in absent}
    return rows.with_columns(**absent) if absent else rows


def value_of_entry() -> nw.Expr:
    """Return the value of an entry at its rates: its amount; without one, 0 if it has 0 hours, or else missing."""
    return nw.when(~(C("amount").is_null() & (C("hours") == 0))).then(C("amount")).otherwise(nw.lit(0.0))


def _with_items(rows: Frame, of: Reader) -> Frame:
    if "time_entries" in of:
        time = of.select("time_entries", ("billing_type", "hours", "amount", "invoice_id"))
        time = time.filter((C("billing_type") == "billable") & ~C("invoice_id").is_null())
        time = time.with_columns(value=value_of_entry()).select(
            "invoice_id",
            "value",
            "hours",
            gross_value=C("value").abs(),
            gross_hours=C("hours").abs(),
            hidden=as_float(C("value").is_null()),
        )
        rows = join_by_id(rows, sum_by(time, ["invoice_id"], OF_TIME), "invoice_id")
    else:
        rows = rows.with_columns(**dict.fromkeys(OF_TIME, nw.lit(0.0)))
    for name in ("expenses", "fixed_fees"):
        if name in of:
            items = of.select(name, ("invoice_id", "amount")).filter(~C("invoice_id").is_null())
            items = sum_by(items.select("invoice_id", C("amount").alias(name)), ["invoice_id"], [name])
            rows = join_by_id(rows, items, "invoice_id")
        else:
            rows = rows.with_columns(nw.lit(0.0).alias(name))
    return rows.with_columns(C(*OF_TIME, "expenses", "fixed_fees").fill_null(0.0))


# 2. Its fees and its tax


def _with_tax_rates(rows: Frame, of: Reader) -> Frame:
    taxes = [each for each in of.settings.taxes if isinstance(each, Tax)]
    if any(each.clients or each.except_clients for each in taxes):
        of.require("invoices", "client_id")
    rates = {
        kind: _total([value_if(_holds(each), nw.lit(float(each.rate))) for each in taxes if kind in each.on])
        for kind in KINDS
    }
    return rows.with_columns(**{f"tax_on_{kind}": rate for kind, rate in rates.items()})


def _holds(tax: Tax) -> nw.Expr:
    """Return whether an invoice has a tax; a draft without a date has those without an end."""
    client, day, holds = C("client_id"), C("invoice_date"), [nw.lit(1) == nw.lit(1)]
    if tax.clients:
        holds.append(client.is_in(list(tax.clients)).fill_null(False))
    if tax.except_clients:
        holds.append(~client.is_in(list(tax.except_clients)).fill_null(False))
    if tax.start is not None:
        holds.append((day >= midnight(tax.start)).fill_null(True))
    if tax.end is not None:
        holds.append((day <= midnight(tax.end)).fill_null(False))
    return functools.reduce(operator.and_, holds)


def _with_fees(rows: Frame, of: Reader, discounts: str) -> Frame:
    rows = rows.with_columns(without_expenses=C("amount") - _with_tax("expenses"))
    net, fees = _net_on_time(), C("net") + C("fixed_fees")
    shown = C("hidden") == 0
    if discounts == "items":
        value = _with_tax("time", "value") + _with_tax("fixed_fees")
        is_shared = shown & (value.abs() > RESIDUE * (C("gross_value") + C("fixed_fees").abs()))
        rows = rows.with_columns(share=nw.when(is_shared).then(C("without_expenses") / value))
        net = nw.when(is_shared).then(C("share") * C("value")).otherwise(net)
        fees = nw.when(is_shared).then(C("share") * (C("value") + C("fixed_fees"))).otherwise(fees)
    if of.settings.taxes:
        items = _with_tax("time", "value") + _with_tax("fixed_fees") + _with_tax("expenses")
        exact = shown & ((items - C("amount")).abs() <= _ROUNDING)
        net = nw.when(exact).then(C("value")).otherwise(net)
        fees = nw.when(exact).then(C("value") + C("fixed_fees")).otherwise(fees)
    rows = rows.with_columns(net=net).with_columns(net=_or_zero(C("net"))).with_columns(fees=fees)
    rows = rows.with_columns(tax=_or_zero(C("amount") - C("fees") - C("expenses")))
    return rows.drop("without_expenses", *(["share"] if discounts == "items" else []))


def _net_on_time() -> nw.Expr:
    """Return the net fees if time bears the difference, or the fixed fees of an invoice without time."""
    on_time = (C("without_expenses") - _with_tax("fixed_fees")) / (1.0 + C("tax_on_time"))
    on_fixed_fees = C("without_expenses") / (1.0 + C("tax_on_fixed_fees")) - C("fixed_fees")
    return nw.when(~_has_time() & (C("fixed_fees").abs() > RESIDUE)).then(on_fixed_fees).otherwise(on_time)


def _has_time() -> nw.Expr:
    # Engines sort NaN differently, but on all of them `<=` is false if the left number is NaN.
    return ~(C("gross_value") <= 0) | ~(C("gross_hours") <= 0) | (C("hidden") > 0)


def _with_tax(kind: str, amount: str = "") -> nw.Expr:
    return C(amount or kind) * (1.0 + C(f"tax_on_{kind}"))


def _or_zero(amount: nw.Expr) -> nw.Expr:
    return value_if(~(amount.abs() <= _NO_FEE), amount)


def _total(parts: Sequence[nw.Expr]) -> nw.Expr:
    return functools.reduce(operator.add, parts, nw.lit(0.0))


# 3. How the fees are spread over the entries


def _with_shares(rows: Frame) -> Frame:
    no_value = (C("hidden") > 0) | (C("gross_value") <= 0)
    rows = rows.with_columns(
        by_value=~no_value & ~is_nearly_cancelled("value"),
        by_hours=no_value & ~is_nearly_cancelled("hours") & ~(C("gross_hours") <= 0),
    )
    return rows.with_columns(
        per_value=value_if(C("by_value"), C("net") / C("value")),
        per_hour=value_if(C("by_hours"), C("net") / C("hours")),
        is_spread=C("by_value") | C("by_hours"),
        is_cancelled=~(C("by_value") | C("by_hours")) & _has_time(),
        is_mixed=C("fixed_fees").abs() > RESIDUE,
    ).drop("by_value", "by_hours")


def is_nearly_cancelled(name: str) -> nw.Expr:
    """Return whether values below 0 nearly cancel the others, by their sum and the sum of their absolute values."""
    return C(name).abs() < C(f"gross_{name}") * _NEARLY_CANCELLED


# 4. What is settled, and what is open


def _with_open_parts(rows: Frame, of: Reader) -> Frame:
    order = of.settings.payment_order
    is_charged = ~(C("amount").abs() <= RESIDUE)
    settled = value_if(is_charged, (C("amount") - C("balance")) / C("amount"))
    open_parts = {
        kind: value_if(is_charged, (1.0 + C(f"tax_on_{kind}")) / C("amount") * C("balance")) for kind in KINDS
    }
    if isinstance(order, str):
        return rows.with_columns(settled=settled, **{f"open_{kind}": each for kind, each in open_parts.items()})
    in_order = functools.reduce(operator.and_, [~(C(each) < 0) for each in ("fees", "expenses", "tax")])
    in_order = in_order & ~(C("amount") <= RESIDUE)
    inside = in_order & ~(C("balance") <= 0) & (C("balance") <= C("amount"))
    part = {each: _settled_part(each, order) for each in ("fees", "expenses", "tax")}
    for kind in KINDS:
        # What is open of 1.00 of an item, and of the tax on it.
        own = (1.0 - part[_PART_OF[kind]]) + C(f"tax_on_{kind}") * (1.0 - part["tax"])
        open_parts[kind] = nw.when(inside).then(own).otherwise(open_parts[kind])
    settled = nw.when(in_order).then(part["fees"]).otherwise(settled)
    return rows.with_columns(settled=settled, **{f"open_{kind}": each for kind, each in open_parts.items()})


def _settled_part(part: str, order: Sequence[str]) -> nw.Expr:
    """Return the settled part of fees, expenses or tax as a ratio: what is left after the parts before it."""
    left = C("amount") - C("balance") - _total([C(each) for each in order[: order.index(part)]])
    whole = C(part)
    # On every engine, `<=` is false for a missing or undefined number, which then stays so.
    least = nw.when(left <= 0).then(nw.lit(0.0)).otherwise(left)
    paid = nw.when(least <= whole).then(least).otherwise(whole + least * 0.0)
    return value_if(~(whole <= RESIDUE), paid / whole)
