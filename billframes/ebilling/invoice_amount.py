"""Make the lines of a bill add up to its invoice: taxes, write-downs, and what can't be explained.

If the invoice is below the sum of its items and their tax, it was written down. The API does not show on which items,
so the profile's `adjustments` decides. If it is above the sum, it is refused, because the reason can be tax, an
increase or items that were not passed. A tax is written only if the items and the tax make the invoice to the cent.
Tax is rounded on each line, so half a cent a line is added to the largest line's tax.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal

from billframes.ebilling.amounts import ZERO, money, spread, to_cents
from billframes.ebilling.bill_lines import Bill, Line
from billframes.ebilling.findings import Finding
from billframes.ebilling.ledes_formats import NOTE
from billframes.ebilling.line_taxes import LineTaxes
from billframes.ebilling.profile import LedesProfile

_CENT, _HALF_CENT = Decimal("0.01"), Decimal("0.005")
_ONE = Decimal("1.0000")
_ADJUSTMENT = "Adjustment of the invoice"
_ADJUST = "Set adjustments in the profile: 'invoice' for one adjustment, 'lines' to spread it over the fees."
_ALL_ITEMS = "Pass all items of the invoice."


def adjust_to_invoice(
    bill: Bill, profile: LedesProfile, incomplete: Sequence[str], taxes: LineTaxes
) -> Iterable[Finding]:
    """
    Write the taxes, and the difference between the invoice's amount and its lines; yield a finding if that can't be.

    `incomplete` are the reasons for which the frames may lack items, see `BillSource.incomplete_loads`.
    """
    assert bill.invoice is not None  # noqa: S101 - only invoices have an amount
    if bill.unpriced:
        # What the items add up to is unknown, and a finding says so.
        return
    amount = money(bill.invoice["amount"])
    if amount is None:
        yield bill.rejection(5, "the invoice's amount is missing or too large")
        return
    if amount < 0 and not profile.credit_notes:
        fix = "Set credit_notes = true in the profile if the client's portal takes credits as files."
        yield bill.rejection(5, "the invoice is a credit note", str(amount), fix)
    for line in bill.lines if profile.writes_taxes else ():
        line.tax_rate, line.tax_type = taxes.rate_of(line)
        line.set_tax()
    yield from _explain(bill, amount, profile, incomplete, taxes)
    if not profile.form.has_taxes:
        _write_tax_line(bill, profile)
    if not bill.lines:
        yield bill.rejection(9, "the invoice has no lines", "", "An invoice without items needs adjustments='invoice'.")


def _explain(
    bill: Bill, amount: Decimal, profile: LedesProfile, incomplete: Sequence[str], taxes: LineTaxes
) -> Iterable[Finding]:
    net, tax = bill.net, bill.tax
    difference = amount - net - tax
    if tax and abs(difference) <= _HALF_CENT * len(bill.lines):
        _add_to_largest_tax(bill, difference)
        return
    value = f"{amount}; its items add up to {net}{f' and their tax to {tax}' if tax else ''}"
    if difference and incomplete:
        fix = "Load items without dates and filters, or use bf.book, which loads all of them."
        problem = f"the items differ from the invoice, and {'; '.join(incomplete)}"
        yield bill.rejection(5, problem, value, fix)
    elif difference > 0 and not tax:
        bill.above_items = True
        cause = "Increases can't be written, because the API does not show them."
        if taxes.exist and not profile.writes_taxes:
            cause = "To write the tax, set tax_lines in the profile, or format = '98BI V2'."
        elif not taxes.exist:
            cause = "Tax needs a tax in the profile or the firm's settings. Increases can't be written."
        yield bill.rejection(5, "the invoice is above its items", value, f"{_ALL_ITEMS} {cause}")
    elif difference and tax and (difference > 0 or amount == net or profile.adjustments == "refuse"):
        bill.above_items = difference > 0
        fix = f"{_ALL_ITEMS} Correct the tax in the profile or the firm's settings."
        fix = fix if difference > 0 or amount == net else f"{fix} If the invoice was written down, s{_ADJUST[1:]}"
        yield bill.rejection(5, _sentence(bill, amount, net, tax), value, fix)
    elif difference and (reason := _write_down(bill, difference, profile, taxes)):
        yield bill.rejection(5, reason, value, _ADJUST)
    elif difference and tax:
        problem = "the invoice was written down, and the tax is on the rest"
        value = f"{net - bill.net:,} less than the items, without tax"
        fix = "Compare the tax with the invoice: the API does not show it."
        yield Finding(28, NOTE, problem, value, fix, bill.number)


def _sentence(bill: Bill, amount: Decimal, net: Decimal, tax: Decimal) -> str:
    types = {line.tax_type for line in bill.lines if line.tax}
    name = types.pop() if len(types) == 1 else "tax"
    return f"the invoice is {amount:,}; items {net:,} and {name} {tax:,} make {net + tax:,}"


def _add_to_largest_tax(bill: Bill, difference: Decimal) -> None:
    if difference:
        max((line for line in bill.lines if line.tax), key=lambda line: abs(line.tax)).tax += difference


def _write_down(bill: Bill, difference: Decimal, profile: LedesProfile, taxes: LineTaxes) -> str | None:
    """Add a write-down to the lines according to the profile; return the problem if that is impossible."""
    if profile.adjustments == "refuse":
        return "the invoice is below its items, and adjustments in the profile is 'refuse'"
    if profile.adjustments == "invoice":
        reason = _write_one(bill, difference, profile, taxes)
    else:
        reason = _write_spread(bill, difference)
    if reason is not None or not bill.tax:
        return reason
    assert bill.invoice is not None  # noqa: S101 - only invoices are written down
    rest = (money(bill.invoice["amount"]) or ZERO) - bill.net - bill.tax
    # The write-down without tax is rounded to the cent, too.
    if abs(rest) > _CENT + _HALF_CENT * len(bill.lines):
        return "the write-down and its tax do not make the invoice"
    _add_to_largest_tax(bill, rest)
    return None


def _write_one(bill: Bill, difference: Decimal, profile: LedesProfile, taxes: LineTaxes) -> str | None:
    assert bill.invoice is not None  # noqa: S101 - only invoices are written down
    matter = bill.invoice["matter_id"] or next((line.matter_id for line in bill.lines), None)
    line = Line("IF", None, matter, bill.invoice["day"], difference, None, None, difference, _ADJUSTMENT)
    if profile.writes_taxes:
        fees = {(each.tax_rate, each.tax_type) for each in bill.lines if each.type in {"F", "IF"}} or {
            taxes.rate_of(line)
        }
        if len(fees) > 1:
            return "the fees have several tax rates, so that the tax on the write-down is not known"
        line.tax_rate, line.tax_type = fees.pop()
        line.total = line.adjustment = to_cents(difference / (1 + line.tax_rate))
        line.set_tax()
    bill.lines.append(line)
    return None


def _write_spread(bill: Bill, difference: Decimal) -> str | None:
    """Spread a write-down over the fees in proportion to their amounts, with the tax on them."""
    fees = [line for line in bill.lines if line.type == "F" and line.total > 0]
    gross = sum((line.total * (1 + line.tax_rate) for line in fees), ZERO)
    if to_cents(gross) < -difference:
        return "the write-down is more than the fees it would be spread over"
    net = sum((line.total for line in fees), ZERO)
    share = max(to_cents(difference * net / gross), -net)
    for line, part in zip(fees, spread(share, [line.total for line in fees]), strict=True):
        line.total += part
        line.adjustment = ((line.adjustment or ZERO) + part) or None
        line.set_tax()
    return None


def _write_tax_line(bill: Bill, profile: LedesProfile) -> None:
    """Turn the tax of the lines into one line of tax, as 1998B has it."""
    assert bill.invoice is not None  # noqa: S101 - only invoices have tax
    tax = bill.tax
    if tax and profile.tax_lines:
        matter = bill.invoice["matter_id"] or bill.lines[0].matter_id
        types = "+".join(Counter(line.tax_type for line in bill.lines if line.tax))
        cost, adjustment = (tax, None) if tax > 0 else (None, tax)
        kind = "E" if tax > 0 else "IE"
        bill.lines.append(
            Line(kind, None, matter, bill.invoice["day"], tax, _ONE, cost, adjustment, types, profile.tax_lines)
        )
    for line in bill.lines:
        line.tax = ZERO
