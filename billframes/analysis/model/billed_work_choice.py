"""Choose the rows of billed work: the arguments that the analyses of fees share, and the marks of rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.expressions import is_in_period, rate_days
from billframes.analysis.model.grouping import Grouping
from billframes.periods import Period

C = nw.col

OF_TIME = ("worth", "hours", "_fees", "_paid", "_hidden", "_rows")
"""The amounts of time entries."""
# Facts about an invoice, as bits of one number: rows are summed by it, and one column is faster than four.
MIXED, DUE, UNDATED, UNSPREAD = 1, 2, 4, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledWork:
    """
    What rows of billed work are chosen by.

    Parameters
    ----------
    grouping : Grouping
    periods : sequence of Period
        Several can overlap: then a row has the mark `_periods` (`is_in_nth`).
    basis : {"invoice_date", "work_date", "payment_date"}
        "payment_date": all work on the invoices in `paid`, of any date and state.
    typed : bool
        Whether rows have the marks `_type` and `_class`, the person and the step of the standard rates. Then there are
        also rows of work whose state or billing type is unknown.
    fixed_fees : bool
        Whether there are rows of fixed fees.
    matter_types : frozenset of str, optional
        The types that count, for notes.
    discounts : {"time", "items"}
    as_of : date, optional
        The day on which invoices are due or not.
    paid : Frame, optional
        By `invoice_id`, sums of the fees that payments settled. Rows have the amounts with the same names: the parts
        of their fees that were settled.
    by_invoice : bool
        Whether rows have `invoice_id`.
    """

    grouping: Grouping
    periods: Sequence[Period]
    basis: str = "invoice_date"
    typed: bool = False
    fixed_fees: bool = True
    matter_types: frozenset[str] | None = None
    discounts: str = "time"
    as_of: dt.date | None = None
    paid: Frame | None = None
    by_invoice: bool = False

    @property
    def settled(self) -> list[str]:
        """The amounts of `paid`."""
        if self.paid is None or self.basis == "payment_date":
            return []
        return [name for name in column_names(self.paid) if name != "invoice_id"]

    @property
    def amounts(self) -> list[str]:
        """The amounts that the rows have."""
        return [*OF_TIME, *(["_fixed"] if self.fixed_fees else ()), *self.settled]

    @property
    def by(self) -> list[str]:
        """The columns by which rows are added up."""
        rates = self.grouping.settings.standard_rates if self.typed else {}
        marks = [
            *(["_type", "_class"] if self.typed else ()),
            *(["user_id"] if rates else ()),
            *(["_rate_step"] if rate_days(rates) else ()),
            # To group a million rows by one more column takes time, and with one period it is not needed.
            *(["_periods"] if len(self.periods) > 1 else ()),
            *(["invoice_id"] if self.by_invoice else ()),
        ]
        return list(dict.fromkeys([*marks, *self.grouping.base]))

    @property
    def of_invoice(self) -> list[str]:
        """The columns that rows by invoice date have from their invoice."""
        times = [f"_{time}" for time in self.grouping.times]
        return [*(name for name in ("_class", "_periods") if name in self.by), *times]

    @property
    def of_entry(self) -> list[str]:
        """The columns of time entries from which the others are derived."""
        key = self.grouping.type_key if self.typed else None
        more = ("date", *(key.base if key else ())) if self.typed else ()
        return [*more, *(name for name in self.by if not name.startswith("_"))]

    def counts(self, period: Period) -> nw.Expr:
        """Return whether an invoice counts: it is final and, if the basis is its date, in the period."""
        final = C("_invoice_state") == "final"
        if self.basis == "payment_date":
            return C("_is_paid") > 0
        if self.basis == "work_date":
            return final & (C("_gross_hours") > 0)
        return final & is_in_period("_invoice_date", period)


def has_mark(*bits: int) -> nw.Expr:
    """Return whether `_class` has any of these bits."""
    return C("_class").is_in([number for number in range(16) if any(number & bit for bit in bits)])


def is_in_nth(n: int, of: BilledWork) -> nw.Expr:
    """Return whether a row is in the nth period, counted from 0."""
    numbers = [each for each in range(2 ** len(of.periods)) if each >> n & 1]
    return C("_periods").is_in(numbers)
