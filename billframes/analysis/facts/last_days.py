"""The last day of work and of a final invoice above 0; of several items, a matter or client has the latest."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import join_by_id
from billframes.analysis.data.expressions import C, midnight
from billframes.analysis.declare.columns import Frame
from billframes.analysis.facts.invoices import invoices
from billframes.analysis.facts.work import work

_ITEMS = ("time", "fixed_fee", "expense")


def billed_until(day: dt.date) -> nw.Expr:
    """Return whether an invoice of the fact is a final one above 0, dated on or before a day."""
    return (C("invoice_state") == "final") & (C("invoice_date") <= midnight(day)) & (C("amount") > 0)


def with_last_days(of: Reader, day: dt.date, own: Iterable[str] = ()) -> Frame:
    """
    Return the items with `last_work_date` and `last_invoice_date`, on or before a day; else they are missing.

    Time entries of every billing type are work. An invoice is of all matters that it bills.
    """
    billed = of.fact(invoices).filter(billed_until(day))
    billed = billed.select(C("invoice_id").cast(nw.String), last_invoice_date=C("invoice_date"))
    rows = of.fact(work, own, only=_ITEMS).filter(C("kind").is_in(_ITEMS))
    worked = (C("kind") == "time") & (C("date") <= midnight(day))
    rows = rows.with_columns(C("invoice_id").cast(nw.String), last_work_date=nw.when(worked).then(C("date")))
    return join_by_id(rows, billed, "invoice_id")
