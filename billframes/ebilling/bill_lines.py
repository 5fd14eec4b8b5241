"""Turn an invoice and its items into the lines of a bill, with exact amounts.

Billable time is a fee of hours × rate. An expense is one unit of its amount. A fixed fee is an adjustment of the
invoice's fees or a fee of one unit, according to the profile. A line's adjustment is the difference between the item's
amount and units × unit cost, so that field 11 × field 21 + field 12 is the amount on each line. A correction of time
(negative hours) and a negative expense can't be written as units, because portals refuse negative units. They are
adjustments of the invoice's fees and expenses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from billframes.ebilling.amounts import ZERO, money, number, product, to_cents
from billframes.ebilling.findings import Finding
from billframes.ebilling.ledes_formats import REJECTED
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.source import BillItem, Row

_ONE = Decimal("1.0000")
_FOURTH, _HALF_CENT = Decimal("0.0001"), Decimal("0.005")
_LEFT_OUT = {"nonbillable": "not billable", "fixedfee": "covered by a fixed fee"}


@dataclass(slots=True)
class Line:
    """
    A line of a bill. `item` is None for an adjustment of the whole invoice and for its tax, which have a `text`.

    `total` is without tax. `tax` is the tax on it, at `tax_rate`.
    """

    type: str
    item: BillItem | None
    matter_id: str | None
    day: str
    total: Decimal
    units: Decimal | None = None
    unit_cost: Decimal | None = None
    adjustment: Decimal | None = None
    text: str = ""
    code: str = ""
    tax_rate: Decimal = Decimal(0)
    tax_type: str = ""
    tax: Decimal = ZERO
    below_rate: str = ""

    def set_tax(self) -> None:
        """Set the tax to the rate of the total."""
        self.tax = product(self.total, self.tax_rate)


@dataclass(slots=True)
class Bill:
    """
    An invoice with its items, or the unbilled work of a matter, whose invoice is None; `key` is the id of either.

    `left_out` are items that are not lines, with the reason. `unpriced` are those whose rate or amount is unknown.
    Above its items and their tax, the invoice may lack items.
    """

    key: str
    invoice: Row | None
    items: list[BillItem]
    lines: list[Line] = field(default_factory=list)
    left_out: list[tuple[BillItem, str]] = field(default_factory=list)
    unpriced: list[BillItem] = field(default_factory=list)
    above_items: bool = False

    @property
    def number(self) -> str | None:
        """The invoice's number."""
        return None if self.invoice is None else str(self.invoice["invoice_number"])

    @property
    def net(self) -> Decimal:
        """The sum of the lines without tax."""
        return sum((line.total for line in self.lines), ZERO)

    @property
    def tax(self) -> Decimal:
        """The sum of the lines' tax."""
        return sum((line.tax for line in self.lines), ZERO)

    def rejection(
        self,
        field_number: int,
        problem: str,
        value: str = "",
        fix: str = "Correct it in the billing system.",
        item: BillItem | None = None,
    ) -> Finding:
        """Return a reason for rejection of the bill, or of one of its items."""
        if item is None:
            return Finding(field_number, REJECTED, problem, value, fix, self.number)
        number, place = self.number or item.invoice_number, item.place
        return Finding(field_number, REJECTED, problem, value, fix, number, item.id, place=place)


def add_item_lines(bill: Bill, profile: LedesProfile) -> Iterable[Finding]:
    """Add the lines of a bill's items, and yield a finding for each item that can't be a line."""
    unpriced: list[BillItem] = []
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


def _time_line(item: BillItem) -> Line | None:
    units, cost, total = number(item.hours), number(item.rate), money(item.amount)
    if units is None or cost is None or total is None:
        return None
    if units < 0 or cost < 0:
        return _adjustment("IF", item, total)
    line = _line("F", item, units, cost, total)
    if line.adjustment and to_cents(_exact(item.hours) * cost) == total:
        _round_up_units(line, _exact(item.hours), cost)
    return line


def _exact(hours: float | Decimal) -> Decimal:
    return Decimal(repr(hours)) if isinstance(hours, float) else Decimal(hours)


def _round_up_units(line: Line, hours: Decimal, rate: Decimal) -> None:
    """
    Write hours of more than four decimals without an adjustment of a cent: round them up, and the rate down.

    Units × rate is not the amount for a third of an hour. A rate just below the agreed one is never refused, and one
    above it is.
    """
    units = hours.quantize(_FOURTH, ROUND_CEILING)
    if not units:
        return
    highest = min((line.total + _HALF_CENT) / units, rate)
    for decimals in (2, 3, 4):
        step = Decimal(1).scaleb(-decimals)
        cost = highest.quantize(step, ROUND_FLOOR)
        cost -= step if product(units, cost) > line.total else 0
        if product(units, cost) == line.total:
            line.units, line.unit_cost, line.adjustment = units, cost, None
            line.below_rate = "" if cost == rate else f"{cost}, not {rate.normalize():f}"
            return


def _adjustment(kind: str, item: BillItem, total: Decimal) -> Line:
    return Line(kind, item, item.matter_id, item.day, total, _ONE, None, total)


def _amount_line(item: BillItem, profile: LedesProfile) -> Line | None:
    total = money(item.amount)
    if total is None:
        return None
    kind = "E" if item.kind == "expense" else "F"
    if total < 0 or (item.kind == "fixed_fee" and profile.fixed_fees == "IF"):
        return _adjustment(f"I{kind}", item, total)
    return _line(kind, item, _ONE, total, total)


def line_without_amount(item: BillItem) -> Line:
    """Return the line of an item whose rate or amount is unknown, to check its other fields."""
    kind = "E" if item.kind == "expense" else "F"
    return _line(kind, item, max(number(item.hours) or ZERO, ZERO) or _ONE, ZERO, ZERO)


def _line(kind: str, item: BillItem, units: Decimal, cost: Decimal, total: Decimal) -> Line:
    adjustment = total - product(units, cost)
    return Line(kind, item, item.matter_id, item.day, total, units, cost, adjustment or None)


def _unpriced_findings(bill: Bill, items: Sequence[BillItem]) -> Iterable[Finding]:
    """Yield findings for items without an amount: one for the bill if rates are hidden, else one for each item."""
    times = [item for item in items if item.kind == "time_entry"]
    fix = "Load with a credential that has the read.rates scope."
    if times and not any(line.item and line.item.kind == "time_entry" for line in bill.lines):
        yield bill.rejection(21, "rates are hidden", f"{len(times)} time entries", fix)
        items = [item for item in items if item.kind != "time_entry"]
    for item in items:
        problem = "the rate or amount is missing" if item.kind == "time_entry" else "the amount is missing"
        yield bill.rejection(21, f"{problem} or too large", "", "Correct the item in the billing system.", item)
