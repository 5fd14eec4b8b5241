"""Fees on final invoices: what time and fixed fees were billed at, over any key.

Everything that an invoice bills beside its expenses is fees, of every type of matter: the net billed time fees of its
entries, its fixed fees at their amounts, and what no entry can take (a credit note, a fixed fee's reduction), which
stays with the client. So fees add up to the invoices' amounts less their expenses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes._warn import warn
from billframes.analysis.allocation import (
    allocated_fee,
    allocation_rates,
    billable_time,
    time_on_invoices,
    warn_of_absent_items,
    warn_of_unknown_invoices,
)
from billframes.analysis.arguments import resolve_users
from billframes.analysis.column_types import Frame
from billframes.analysis.coverage import need_work_on_invoices, warn_of_work_not_passed
from billframes.analysis.engine import collect_row
from billframes.analysis.expressions import as_float, in_period, null_column
from billframes.analysis.frames import from_native, select_columns
from billframes.analysis.grouping import add_up, attach, base_of, sums, with_times
from billframes.analysis.keys import By, Key, find_keys, sources_of
from billframes.config.firm import FirmSettings
from billframes.errors import RatesHiddenWarning
from billframes.periods import Period

__all__ = ["FEES", "fees_by"]

C = nw.col

FEES = ("worked_amount", "billed_amount", "settled_amount", "fixed_fee_amount", "fees_amount")
_MEASURES = (*FEES, "_hidden")
_IDS = frozenset({"user_id", "client_id", "matter_id"})


def fees_by(
    analysis: str, by: By, period: Period, settings: FirmSettings | None, **natives: Any
) -> tuple[Frame, tuple[Key, ...]]:
    """
    Add up the fees of final invoices dated in the period over keys.

    Parameters
    ----------
    analysis : str
        Whose fees, for the words of errors and warnings.
    by : str or list of str, optional
        Keys of the time entries, of matters and of users.
    period : Period
        Of invoice dates, both ends inclusive.
    settings : FirmSettings, optional
    **natives
        The frames `time_entries`, `invoices`, `expenses`, `fixed_fees`, `matters`, `users` and `clients`, those given.

    Returns
    -------
    Frame, tuple of Key
        The keys' columns and, by the names in `FEES`: worth of the billable time, missing where rates are hidden;
        its net billed fees, and what is settled of these; fixed fees; billed and fixed fees together. To be given
        its labels and order.
    """
    frames = from_native(**natives)
    need_work_on_invoices(analysis, natives, period)
    settings = resolve_users(settings, frames)
    rows = frozenset(frames["time_entries"].collect_schema().names())
    sources = sources_of(frames, rows, settings)
    keys = find_keys(by, sources)
    fees = _fees(analysis, frames, keys, period)
    warn_of_absent_items(expenses=frames.get("expenses"), fixed_fees=frames.get("fixed_fees"))
    _warn_of_hidden(fees)
    totals = add_up(attach(fees, keys, sources, _MEASURES), keys, _MEASURES)
    return totals.with_columns(worked_amount=nw.when(C("_hidden") == 0).then(C("worked_amount"))), keys


def _fees(analysis: str, frames: dict[str, Frame], keys: Sequence[Key], period: Period) -> Frame:
    base = base_of(keys)
    own = [name for name in base if not name.startswith("_")]
    time = billable_time(frames["time_entries"], own, ("invoice_date",))
    on_invoices = time_on_invoices(time)
    keep = [name for name in own if name.startswith("client_")]
    terms = allocation_rates(on_invoices, frames["invoices"], frames.get("expenses"), frames.get("fixed_fees"), keep)
    warn_of_unknown_invoices(on_invoices, terms, period)
    counted = in_period(terms.filter(C("_invoice_state") == "final"), "_invoice_date", period)
    warn_of_work_not_passed(analysis, counted, frames)
    final = with_times(counted, keys, "_invoice_date")
    times = [name for name in base if name.startswith("_")]
    work = _of_time(time.join(final.select("invoice_id", "_per_worth", "_per_hour", "_settled", *times),
                              on="invoice_id", how="inner"))  # fmt: skip
    parts = [sums(work, base, _MEASURES)]
    schema = time.select(*own).collect_schema() if own else {}
    if "fixed_fees" in frames:
        items = select_columns(
            frames["fixed_fees"], "fixed_fees", ("invoice_id", "amount", *_IDS.intersection(own)), own
        )
        fixed = items.join(final.select("invoice_id", *times), on="invoice_id", how="inner")
        parts.append(_like(fixed, base, schema, fixed_fee_amount=C("amount"), fees_amount=C("amount")))
    rest = final.filter(C("_by_worth") + C("_by_hours") < 1)
    parts.append(_like(rest, base, schema, **_billed(C("_unallocated"))))
    return nw.concat(parts)


def _of_time(rows: Frame) -> Frame:
    return rows.with_columns(
        **_billed(allocated_fee()),
        worked_amount=C("worth").fill_null(0.0),
        fixed_fee_amount=nw.lit(0.0),
        _hidden=as_float(C("worth").is_null()),
    )


def _billed(fees: nw.Expr) -> dict[str, nw.Expr]:
    return {"billed_amount": fees, "settled_amount": fees * C("_settled"), "fees_amount": fees}


def _like(rows: Frame, base: list[str], schema: Any, **measures: nw.Expr) -> Frame:
    """Give rows the columns of time; a key they do not have is missing."""
    there = rows.collect_schema()
    columns = [C(name) if name in there else null_column(schema[name]).alias(name) for name in base]
    return rows.select(*columns, **{name: measures.get(name, nw.lit(0.0)) for name in _MEASURES})


def _warn_of_hidden(fees: Frame) -> None:
    hidden = int(collect_row(fees, hidden=C("_hidden").sum())["hidden"])
    if hidden:
        warn(
            f"{hidden} billable time entries have no amount (the credential lacks read.rates); the fees of their "
            "invoices are spread over hours, and what the time is worth is missing.",
            RatesHiddenWarning,
        )
