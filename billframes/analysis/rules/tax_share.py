"""Note that tax is in the invoices or in the settings, but not in both.

Most invoices are then above their items by one and the same share, which may also be a surcharge; or, with taxes in the
settings, many have just the amount of their items.

Where many invoices are written down, a quarter of the invoices is enough, if fewer have just the amount of their items.
The share is looked for above all items, or above the fees or the time only, because a tax may not be charged on
expenses or fixed fees. Write-ups differ from invoice to invoice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes._shared.notes import Notes, Rule
from billframes.analysis.data.engine import sum_by, to_dicts
from billframes.analysis.data.expressions import RESIDUE, C, count_if, value_if
from billframes.analysis.declare.columns import Frame

# Two invoices of a small firm can have the same write-up.
_SEVERAL = 3
# With write-downs of any size, few invoices keep the share of the tax; then it is at least a percent.
_QUARTER, _MANY, _TAX = 4, 8, 0.01
# Shares of the same tax differ by rounding to cents, and by 0.2 points at most. They are counted in steps of 0.05.
_STEP, _STEPS_APART = 0.0005, 4
_LEAST, _MOST, _TWO_CENTS = 0.002, 0.5, 0.02
# The items that can be taxed, and the value of `on` in the settings.
_TAXED = {
    ("value", "fixed_fees", "expenses"): '["time", "fixed_fees", "expenses"]',
    ("value", "fixed_fees"): '["time", "fixed_fees"]',
    ("value",): '["time"]',
}


_STATE = (
    "Fees include it as long as the firm's settings don't state it: for a tax, add {state}. If the tax's own rate is "
    "higher, state that: the invoices are then written down, too."
)
_SAME_SHARE = Rule(
    name="same_share",
    seen="{n} of {itemized} invoices are above their items by the same {rate:.4g}%.",
    causes="{cause}.",
    remedy=_STATE,
    page="Fees include it. If it is a tax, ask whoever keeps the firm's settings to state it there.",
    book=_STATE,
    unit="invoices",
)
_CAUSES = "This may be a tax, a surcharge or another currency"
_CORRECT = "If these amounts are without tax, pass them with tax, or leave `taxes` out of the settings."
_NET_INVOICES = Rule(
    name="net_invoices",
    seen="{n} of {taxed} invoices that have a tax by the settings ({amount_of_tax:,.2f} in all) are exactly the sum of "
    "their items, as if there were none. Fees, which are counted without tax, may be too low.",
    remedy=_CORRECT,
    page="Compare a few invoices with their items, and ask whoever keeps the firm's settings to correct the taxes.",
    book="If these amounts are without tax, leave `taxes` out of the settings.",
    unit="invoices",
)
_KINDS = {"time": "value", "fixed_fees": "fixed_fees", "expenses": "expenses"}
_ALL = tuple(_KINDS.values())
_SUMS = ("billed", "taxed")


@dataclass(frozen=True, slots=True)
class _Share:
    """A share by which invoices are above their items."""

    invoices: int
    rate: float
    on: str


def above_items(*, taxed: bool) -> dict[str, nw.Expr]:
    """
    Return the conditions for invoices with known items, `is_itemized`, for those above them, and for those equal.

    `is_exact` are those equal to the cent, and `due_tax` is the tax on items by the settings, if it is at least a
    percent. Invoices are those of the fact, with `is_evident`, whether they count at all.
    """
    items = C("value") + C("expenses") + C("fixed_fees")
    due = sum((C(name) * C(f"tax_on_{kind}") for kind, name in _KINDS.items()), nw.lit(0.0))
    itemized = C("is_evident") & (C("hidden") == 0) & (items > RESIDUE) & (C("amount") > RESIDUE)
    of_all = {
        "is_itemized": itemized.fill_null(False),
        "is_above": (itemized & (C("amount") > items * (1 + _LEAST))).fill_null(False),
        "is_equal": (itemized & ((C("amount") - items).abs() <= items * _LEAST)).fill_null(False),
    }
    if not taxed:
        return of_all
    return of_all | {
        "is_exact": (itemized & ((C("amount") - items).abs() <= _TWO_CENTS)).fill_null(False),
        "due_tax": value_if((itemized & (due > items * _TAX)).fill_null(False), due),
    }


def count_above_items(*, taxed: bool) -> dict[str, nw.Expr]:
    """Count the invoices of `above_items`."""
    counts = {name: count_if(C(f"is_{name}")) for name in ("itemized", "above", "equal")}
    if not taxed:
        return counts
    return counts | {
        "taxed": count_if(C("due_tax") > 0),
        "net": count_if((C("due_tax") > 0) & C("is_exact")),
        "net_tax": value_if(C("is_exact"), "due_tax").sum(),
    }


def note_same_share(notes: Notes, counts: Mapping[str, float], invoices: Frame, *, taxed: bool, whole: bool) -> None:
    """
    Note that most invoices are above their items by one and the same share.

    With taxes in the settings, note instead that many of the invoices that have them are just the sum of their items.
    `counts` are from `count_above_items`, and the invoices have the columns of `above_items`. `whole` tells whether all
    items of the invoices were loaded.
    """
    net, of = counts.get("net", 0), counts.get("taxed", 0)
    if net * 2 > of >= _SEVERAL or (net >= _MANY and net * _QUARTER >= of):
        notes.add(_NET_INVOICES, net, "invoices", taxed=int(of), amount_of_tax=counts["net_tax"])
    several = counts["above"] >= _SEVERAL and counts["above"] * _QUARTER >= counts["itemized"]
    found = _same_share(invoices.filter(C("is_itemized"))) if several and not taxed else None
    if found is None or not _is_common(found, counts):
        return
    state = f'taxes=[{{"name": …, "rate": {round(found.rate / 100, 4):g}, "on": {found.on}}}]'
    cause = _CAUSES if whole else f"{_CAUSES}, or work on them may be missing"
    about = {"itemized": int(counts["itemized"]), "rate": found.rate, "cause": cause, "state": state}
    notes.add(_SAME_SHARE, found.invoices, "invoices", **about)


def _is_common(found: _Share, counts: Mapping[str, float]) -> bool:
    if found.invoices * 2 > counts["itemized"]:
        return counts["itemized"] >= _SEVERAL
    many = found.invoices >= _MANY and found.invoices * _QUARTER >= counts["itemized"]
    return many and found.invoices > counts["equal"] and found.rate >= _TAX * 100


def _same_share(invoices: Frame) -> _Share | None:
    """Find the commonest share; of several sets of taxed items, where most invoices are closest together."""
    found = []
    for columns, on in _TAXED.items():
        taxed = sum((C(name) for name in columns[1:]), C(columns[0]))
        billed = sum((C(name) * -1.0 for name in _ALL if name not in columns), C("amount"))
        rows = invoices.select(taxed=taxed, billed=billed).filter(C("taxed") > RESIDUE)
        share = C("billed") / C("taxed") - 1.0
        rows = rows.with_columns(step=(share / _STEP).round(0), count=nw.lit(1.0)).filter(share > _LEAST, share < _MOST)
        steps = {round(row["step"]): row for row in to_dicts(sum_by(rows, ["step"], ["count", "taxed", "billed"]))}
        for step in steps:
            near = [steps[each] for each in range(step - _STEPS_APART, step + _STEPS_APART + 1) if each in steps]
            count, sums = sum(row["count"] for row in near), [sum(row[name] for row in near) for name in _SUMS]
            found.append((count, -len(near), _Share(int(count), (sums[0] / sums[1] - 1.0) * 100, on)))
    return max(found, key=lambda each: each[:2], default=(0.0, 0, None))[2]
