"""Turn an invoice and its items into the lines of a bill, with exact amounts.

Billable time is a fee of hours × rate. An expense is one unit of its amount. A fixed fee is an adjustment of the
invoice's fees or a fee of one unit, according to the profile. A line's adjustment is the difference between the item's
amount and units × unit cost, so that field 11 × field 21 + field 12 = field 13 on each line. A correction of time
(negative hours) and a negative expense can't be written as units, so their whole amount is an adjustment.

If the invoice is below the sum of its items, it was written down. The API does not show on which items, so the
profile's `adjustments` decides. If it is above the sum, it is refused, because the reason can be tax, an increase or
items that were not passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from billframes.ebilling.amounts import ZERO, money, number, product, spread
from billframes.ebilling.findings import REJECTED, Finding
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.source import Item, Row

__all__ = [
    "ABOVE_ITEMS",
    "Bill",
    "Line",
    "add_item_lines",
    "adjust_to_invoice",
    "line_without_amount",
]

ABOVE_ITEMS = "the invoice is above its items"
_ONE = Decimal("1.0000")
_LEFT_OUT = {
    "nonbillable": "not billable",
    "fixedfee": "covered by a fixed fee",
}


@dataclass(slots=True)
class Line:
    """A line of a bill; `item` is None for an adjustment of the whole invoice."""

    type: str
    item: Item | None
    matter_id: str | None
    day: str
    total: Decimal
    units: Decimal | None = None
    unit_cost: Decimal | None = None
    adjustment: Decimal | None = None


@dataclass(slots=True)
class Bill:
    """
    An invoice with its items, or the unbilled work of a matter.

    Parameters
    ----------
    key : str
        The id of the invoice or the matter.
    invoice : dict, optional
        The invoice; None for unbilled work.
    items : list of Item
    lines : list of Line
        Made by `add_item_lines`.
    left_out : list of (Item, str)
        Items that are not lines, with the reason.
    unpriced : list of Item
        Items that are not lines because their rate or amount is unknown. Their codes are known.
    """

    key: str
    invoice: Row | None
    items: list[Item]
    lines: list[Line] = field(default_factory=list)
    left_out: list[tuple[Item, str]] = field(default_factory=list)
    unpriced: list[Item] = field(default_factory=list)

    @property
    def number(self) -> str | None:
        """The invoice's number."""
        return None if self.invoice is None else str(self.invoice["invoice_number"])

    def rejection(
        self,
        field_number: int,
        problem: str,
        value: str = "",
        fix: str = "Correct it in the billing system.",
        item: Item | None = None,
    ) -> Finding:
        """Return a reason for rejection of the bill, or of one of its items."""
        if item is None:
            return Finding(field_number, REJECTED, problem, value, fix, self.number)
        number, place = self.number or item.invoice_number, item.place
        return Finding(field_number, REJECTED, problem, value, fix, number, item.id, place=place)


def add_item_lines(bill: Bill, profile: LedesProfile) -> Iterable[Finding]:
    """Add the lines of a bill's items, and yield a finding for each item that can't be a line."""
    unpriced: list[Item] = []
    for item in bill.items:
        if item.kind == "time_entry":
            kind = (item.billing_type or "").casefold()
            if kind != "billable":
                bill.left_out.append((item, _LEFT_OUT.get(kind, "of an unknown billing type")))
                if kind not in _LEFT_OUT:
                    yield bill.rejection(13, "the time's billing type is unknown", str(item.billing_type), item=item)
                continue
            line = _time_line(item)
        else:
            line = _amount_line(item, profile)
        if line is None:
            unpriced.append(item)
        else:
            bill.lines.append(line)
    bill.unpriced = unpriced
    yield from _unpriced_findings(bill, unpriced)


def _time_line(item: Item) -> Line | None:
    units, cost, total = number(item.hours), number(item.rate), money(item.amount)
    if units is None or cost is None or total is None:
        return None
    if units < 0 or cost < 0:
        units, cost = ZERO, max(cost, ZERO)
    return _line("F", item, units, cost, total)


def _amount_line(item: Item, profile: LedesProfile) -> Line | None:
    total = money(item.amount)
    if total is None:
        return None
    if item.kind == "fixed_fee" and profile.fixed_fees == "IF":
        return Line("IF", item, item.matter_id, item.day, total, _ONE, None, total)
    return _line("E" if item.kind == "expense" else "F", item, _ONE, max(total, ZERO), total)


def line_without_amount(item: Item) -> Line:
    """Return the line of an item whose rate or amount is unknown, to check its other fields."""
    kind = "E" if item.kind == "expense" else "F"
    return _line(kind, item, max(number(item.hours) or ZERO, ZERO) or _ONE, ZERO, ZERO)


def _line(kind: str, item: Item, units: Decimal, cost: Decimal, total: Decimal) -> Line:
    adjustment = total - product(units, cost)
    return Line(kind, item, item.matter_id, item.day, total, units, cost, adjustment or None)


def _unpriced_findings(bill: Bill, items: Sequence[Item]) -> Iterable[Finding]:
    """Yield findings for items without an amount: one for the bill if rates are hidden, else one for each item."""
    times = [item for item in items if item.kind == "time_entry"]
    fix = "Load with a credential that has the read.rates scope."
    if times and not any(line.type == "F" and line.item and line.item.kind == "time_entry" for line in bill.lines):
        yield bill.rejection(21, "rates are hidden", f"{len(times)} time entries", fix)
        items = [item for item in items if item.kind != "time_entry"]
    for item in items:
        problem = "the rate or amount is missing" if item.kind == "time_entry" else "the amount is missing"
        yield bill.rejection(21, f"{problem} or too large", "", "Correct the item in the billing system.", item)


def adjust_to_invoice(bill: Bill, profile: LedesProfile, incomplete: Sequence[str]) -> Iterable[Finding]:
    """
    Write the difference between the invoice's amount and its lines as adjustments; yield a finding if that can't be.

    Parameters
    ----------
    bill : Bill
        The bill of an invoice, with the lines of its items.
    profile : LedesProfile
    incomplete : sequence of str
        The reasons for which the frames may lack items, see `Source.incomplete_loads`.
    """
    assert bill.invoice is not None  # noqa: S101 - only invoices have an amount
    if bill.unpriced:
        # What the items add up to is unknown, and a finding says so.
        return
    amount, items_amount = money(bill.invoice["amount"]), sum((line.total for line in bill.lines), ZERO)
    if amount is None:
        yield bill.rejection(5, "the invoice's amount is missing or too large")
        return
    difference = amount - items_amount
    value = f"{amount}; its items add up to {items_amount}"
    if difference and incomplete:
        fix = "Load items without dates and filters, or use bf.book, which loads all of them."
        problem = f"the items differ from the invoice, and {'; '.join(incomplete)}"
        yield bill.rejection(5, problem, value, fix)
    elif difference > 0:
        fix = "Pass all items of the invoice. Tax and increases can't be written, because the API does not show them."
        yield bill.rejection(5, ABOVE_ITEMS, value, fix)
    elif difference and (reason := _write_down(bill, difference, profile)):
        fix = "Set adjustments in the profile: 'invoice' for one adjustment, 'lines' to spread it over the fees."
        yield bill.rejection(5, reason, value, fix)
    if not bill.lines:
        yield bill.rejection(9, "the invoice has no lines", "", "An invoice without items needs adjustments='invoice'.")


def _write_down(bill: Bill, difference: Decimal, profile: LedesProfile) -> str | None:
    """Add a write-down to the lines according to the profile; return the problem if that is impossible."""
    assert bill.invoice is not None  # noqa: S101 - only invoices have an amount
    if profile.adjustments == "invoice":
        matter = bill.invoice["matter_id"] or next((line.matter_id for line in bill.lines), None)
        bill.lines.append(Line("IF", None, matter, bill.invoice["day"], difference, None, None, difference))
        return None
    if profile.adjustments == "refuse":
        return "the invoice is below its items, and adjustments in the profile is 'refuse'"
    fees = [line for line in bill.lines if line.type == "F" and line.total > 0]
    if sum((line.total for line in fees), ZERO) < -difference:
        return "the write-down is more than the fees it would be spread over"
    for line, part in zip(fees, spread(difference, [line.total for line in fees]), strict=True):
        line.total += part
        line.adjustment = ((line.adjustment or ZERO) + part) or None
    return None
