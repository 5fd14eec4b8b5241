"""Divide an invoice's amount into fees, expenses and tax, and each part into what is settled and what is open.

The API's invoice has one amount A and no tax, and its items are without tax. Let E and F be the expenses and fixed fees
on it, and let r(time), r(fixed fees) and r(expenses) each be the sum of the rates of the taxes that the settings charge
on that kind of item, for the invoice's client and date. Items bear the difference between their value and A, and tax is
charged on what they are billed at:

    A = time × (1 + r(time)) + fixed fees × (1 + r(fixed fees)) + expenses × (1 + r(expenses))

Expenses are always billed at E. With `discounts="time"`, fixed fees are billed at F, so that only the time is unknown:

    time = (A − E × (1 + r(expenses)) − F × (1 + r(fixed fees))) ÷ (1 + r(time))

An invoice without time bears the difference with its fixed fees, and then `_net`, their difference to F, has their
rate. With `discounts="items"`, time of the value W and fixed fees are billed at the same share of W and F. Tax is the
rest of the amount. Without taxes, this is A − E − F. Tax is rounded to cents on invoices: if the items and their tax
differ from A by no more, there is no difference to bear.

A payment settles fees, expenses and tax in proportion, or one after the other: with the order tax, expenses, fees, the
settled fees are A − balance − tax − expenses, but at least 0 and at most the fees. Time and fixed fees share them in
proportion. An invoice below 0, or with a part below 0, is settled in proportion.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.expressions import RESIDUE, midnight, value_if
from billframes.config.firm import FirmSettings
from billframes.config.taxes import KINDS, Tax

C = nw.col

# The part of the invoice that each kind of item belongs to.
_PART_OF = {"time": "fees", "fixed_fees": "fees", "expenses": "expenses"}
# Smaller amounts are rests of floating-point sums, not fees.
_NO_FEE = 1e-6
# Two taxes are rounded to half a cent each.
_ROUNDING = 0.01 + _NO_FEE


def columns_for_taxes(settings: FirmSettings) -> tuple[str, ...]:
    """Return the columns of invoices that decide which taxes they have, besides the date."""
    taxes = [each for each in settings.taxes if isinstance(each, Tax)]
    return ("client_id",) if any(each.clients or each.except_clients for each in taxes) else ()


def with_tax_rates(invoices: Frame, settings: FirmSettings) -> Frame:
    """
    Add the sum of the rates on each kind of item: `_tax_on_time`, `_tax_on_fixed_fees` and `_tax_on_expenses`.

    Invoices have `_invoice_date` and the columns of `columns_for_taxes`.
    """
    return invoices.with_columns(**{f"_tax_on_{kind}": _rate_on(kind, settings.taxes) for kind in KINDS})


def _rate_on(kind: str, taxes: Sequence[object]) -> nw.Expr:
    rates = [value_if(_holds(tax), nw.lit(float(tax.rate))) for tax in taxes if isinstance(tax, Tax) and kind in tax.on]
    return functools.reduce(operator.add, rates) if rates else nw.lit(0.0)


def _holds(tax: Tax) -> nw.Expr:
    """Return whether an invoice has a tax. Without a date it has those without an end, because it is still to come."""
    conditions = []
    if tax.clients:
        conditions.append(C("client_id").is_in(list(tax.clients)).fill_null(False))
    if tax.except_clients:
        conditions.append(~C("client_id").is_in(list(tax.except_clients)).fill_null(False))
    if tax.start is not None:
        conditions.append((C("_invoice_date") >= midnight(tax.start)).fill_null(True))
    if tax.end is not None:
        conditions.append((C("_invoice_date") <= midnight(tax.end)).fill_null(False))
    return functools.reduce(operator.and_, conditions) if conditions else nw.lit(1) == nw.lit(1)


def with_net_fees(invoices: Frame, settings: FirmSettings, discounts: str = "time") -> Frame:
    """
    Add `_net`, the net billed time fees; `_fees`, these and the fixed fees as billed; and `_tax`.

    Invoices have `_total`, `_expenses`, `_fixed_fees`, the sums of `time_on_invoices` and the rates of
    `with_tax_rates`.
    """
    invoices = invoices.with_columns(_without_expenses=C("_total") - _taxed("expenses"))
    net, fees = _net_on_time(), C("_net") + C("_fixed_fees")
    if discounts == "items":
        taxed_worth = _taxed("time", "_worth") + _taxed("fixed_fees")
        gross = C("_gross_worth") + C("_fixed_fees").abs()
        spread = (C("_hidden") == 0) & (taxed_worth.abs() > RESIDUE * gross)
        invoices = invoices.with_columns(_part=nw.when(spread).then(C("_without_expenses") / taxed_worth))
        net = nw.when(spread).then(C("_part") * C("_worth")).otherwise(net)
        fees = nw.when(spread).then(C("_part") * (C("_worth") + C("_fixed_fees"))).otherwise(fees)
    if settings.taxes:
        items = _taxed("time", "_worth") + _taxed("fixed_fees") + _taxed("expenses")
        exact = (C("_hidden") == 0) & ((items - C("_total")).abs() <= _ROUNDING)
        net = nw.when(exact).then(C("_worth")).otherwise(net)
        fees = nw.when(exact).then(C("_worth") + C("_fixed_fees")).otherwise(fees)
    invoices = invoices.with_columns(_net=net).with_columns(_net=_or_zero(C("_net"))).with_columns(_fees=fees)
    return invoices.with_columns(_tax=_or_zero(C("_total") - C("_fees") - C("_expenses")))


def _net_on_time() -> nw.Expr:
    """Return the net fees if time bears the difference, or the fixed fees of an invoice without time."""
    on_time = (C("_without_expenses") - _taxed("fixed_fees")) / (1.0 + C("_tax_on_time"))
    on_fixed_fees = C("_without_expenses") / (1.0 + C("_tax_on_fixed_fees")) - C("_fixed_fees")
    only_fixed = ~has_time() & (C("_fixed_fees").abs() > RESIDUE)
    return nw.when(only_fixed).then(on_fixed_fees).otherwise(on_time)


def _or_zero(amount: nw.Expr) -> nw.Expr:
    return value_if(~(amount.abs() <= _NO_FEE), amount)


def has_time() -> nw.Expr:
    """Return whether an invoice has billable time, from the sums of `time_on_invoices`."""
    # Engines sort NaN differently, but on all of them `<=` is false if the left number is NaN.
    return ~(C("_gross_worth") <= 0) | ~(C("_gross_hours") <= 0) | (C("_hidden") > 0)


def _taxed(kind: str, amount: str = "") -> nw.Expr:
    return C(amount or f"_{kind}") * (1.0 + C(f"_tax_on_{kind}"))


def with_settled_fees(invoices: Frame, settings: FirmSettings) -> Frame:
    """Add `_settled`, the settled part of the fees as a ratio; invoices also have `_balance`."""
    in_proportion = _of_total(C("_total") - C("_balance"))
    if settings.payment_order == "proportional":
        return invoices.with_columns(_settled=in_proportion)
    ordered = nw.when(_in_order()).then(_settled_part("fees", settings.payment_order))
    return invoices.with_columns(_settled=ordered.otherwise(in_proportion))


def _of_total(part: nw.Expr) -> nw.Expr:
    return value_if(~(C("_total").abs() <= RESIDUE), part / C("_total"))


def _in_order() -> nw.Expr:
    parts = (C("_fees"), C("_expenses"), C("_tax"))
    return functools.reduce(operator.and_, [~(C("_total") <= RESIDUE), *(~(part < 0) for part in parts)])


def _settled_part(part: str, order: Sequence[str]) -> nw.Expr:
    """Return the settled part of fees, expenses or tax as a ratio: what is left after the parts before it."""
    before = functools.reduce(operator.add, [C(f"_{each}") for each in order[: order.index(part)]], nw.lit(0.0))
    left, whole = C("_total") - C("_balance") - before, C(f"_{part}")
    # On every engine, `<=` is false for a missing or undefined number, which then stays so.
    least = nw.when(left <= 0).then(nw.lit(0.0)).otherwise(left)
    paid = nw.when(least <= whole).then(least).otherwise(whole + least * 0.0)
    return value_if(~(whole <= RESIDUE), paid / whole)
