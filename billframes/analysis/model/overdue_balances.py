"""Calculate aging: the balances of open invoices in buckets, also by matter and user.

A credit is a balance below 0. It is in a column of its own, whatever its date, and in no bucket.

An invoice of several matters names only one of them. So by matter or user, its balance is allocated to its items: in
proportion to what they were billed at, with their tax, or as the firm's payment order leaves them open.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import ENUMS, Frame, column_names
from billframes.analysis.frames.engine import collect, collect_counts, join_by_id, sum_by
from billframes.analysis.frames.expressions import RESIDUE, columns_or_null, day_number, midnight, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import (
    ON_INVOICE,
    allocation_rates,
    billable_time,
    open_shares,
    time_on_invoices,
)
from billframes.analysis.model.arguments import bucket_names
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.invoice_parts import with_open_shares
from billframes.analysis.model.keys import By
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.invoices import JOINED_MATTERS, NO_DUE_DATE
from billframes.config.firm import FirmSettings

C = nw.col

# The beginnings of columns that belong to matters; those of matters' own names are excluded anyway.
_OF_MATTERS = ("responsible_", "practice_area_", "originator_")
_ITEM = ("matter_id", "user_id", "matter_name", "user_name")


def bucket_limits(buckets: Sequence[int], basis: str) -> dict[str, float]:
    """Return the highest number of days of each bucket, by its name."""
    due = basis == "due_date"
    names = bucket_names(buckets, 1 if due else 0)
    return ({"current": 0.0} if due else {}) | dict(zip(names, [*buckets, float("inf")], strict=True))


def invoice_grouping(by: By, frames: Frames, settings: FirmSettings | None) -> Grouping:
    """Return the grouping of invoices: matter and user are keys of the items, all other keys are of the invoice."""
    columns = column_names(frames["invoices"])
    own = [name for name in columns if not name.startswith(("matter_", "user_"))]
    # An invoice names only one of its matters, so columns of matters are taken from the items if these were passed.
    if "matters" in frames and "time_entries" in frames:
        own = [name for name in own if not name.startswith(_OF_MATTERS)]
    return Grouping.of(by, frames, settings, [*own, *_ITEM])


def note_joined_matters(frames: Frames, grouping: Grouping) -> None:
    """Note keys that were joined to the invoices by their matter, which is only one of several."""
    joined = [name for name in grouping.base if name.startswith(_OF_MATTERS)]
    if joined:
        rows = frames.select("invoices", ("invoice_state", "balance"))
        final = value_if(C("invoice_state") == "final", "balance")
        amount = collect_counts((rows, {"balance": final.sum()}))["balance"]
        grouping.notes.add(JOINED_MATTERS, amount, column=f"`{joined[0]}`")


def needs_items(grouping: Grouping) -> bool:
    """Tell whether the keys need the invoices' items, because they include matter or user."""
    return not set(grouping.base).isdisjoint(_ITEM)


def open_balances(frames: Frames, grouping: Grouping, limits: dict[str, float], basis: str, day: dt.date) -> Frame:
    """Return the rows of `aging`."""
    owed = collect(_open_invoices(frames, grouping, limits, basis, day), frames["invoices"])
    measures = (*limits, "credit_amount", "total", "overdue", "unknown_amount", "_overdue_days")
    if needs_items(grouping):
        items = _allocated_to_items(owed, frames, grouping, measures)
        return _result(sum_by(items, grouping.base, measures), grouping, measures)
    result = _result(owed, grouping, measures, ("_undated",))
    _note(result, frames)
    return result.drop("_undated")


def _result(rows: Frame, grouping: Grouping, measures: Sequence[str], counts: Sequence[str] = ()) -> Frame:
    totals = grouping.add_up(rows, (*measures, *counts))
    return grouping.finish(totals, (*measures[:-2], "weighted_days_overdue", "unknown_amount", *counts))


def _open_invoices(frames: Frames, grouping: Grouping, limits: dict[str, float], basis: str, day: dt.date) -> Frame:
    """Return one row per open invoice, with its balance in its bucket."""
    keys = [name for name in grouping.row_columns if name not in _ITEM]
    columns = ("invoice_id", "invoice_date", "invoice_state", "due_date", "balance", *keys)
    rows = (
        frames.select("invoices", columns, lazily=True)
        .filter(*_is_counted(frames, day), C("balance") != 0)
        .with_columns(_undated=C("due_date").is_null().cast(nw.Float64), _due=nw.coalesce("due_date", "invoice_date"))
    )
    rows = _with_unknown_amount(rows, frames)
    days = {"_late": "_due"} if basis == "due_date" else {"_late": "_due", "_age": "invoice_date"}
    today = float(day.toordinal())
    rows = rows.with_columns(**{name: today - day_number(column, rows) for name, column in days.items()})
    balance = C("balance")
    # On some engines, `clip` makes a missing number 0.
    rows = rows.with_columns(_debit=value_if(~(balance < 0), balance), credit_amount=value_if(balance < 0, balance))
    rows = rows.with_columns(
        *_bucket_columns(limits, [*days][-1]),
        total=balance,
        overdue=value_if(C("_late") > 0, "_debit"),
        _overdue_days=C("_late").clip(0.0) * C("_debit"),
    )
    return grouping.with_periods(rows, "invoice_date")


def _is_counted(frames: Frames, day: dt.date) -> list[nw.Expr]:
    """Return the conditions for final invoices dated up to a day, and for invoices of unknown state."""
    final, dated = C("invoice_state") == "final", C("invoice_date") <= midnight(day)
    if not frames.unknown_values("invoices", "invoice_state"):
        return [final, dated]
    unknown = ~C("invoice_state").is_in(ENUMS["invoice_state"]).fill_null(False)
    return [(final & dated) | (unknown & (dated | C("invoice_date").is_null()))]


def _with_unknown_amount(rows: Frame, frames: Frames) -> Frame:
    """Move the balances of invoices of unknown state from `balance` to `unknown_amount`."""
    if not frames.unknown_values("invoices", "invoice_state"):
        return rows.with_columns(unknown_amount=nw.lit(0.0))
    final = C("invoice_state") == "final"
    return rows.with_columns(
        balance=value_if(final, "balance"),
        unknown_amount=value_if(~final.fill_null(False), "balance"),
        _undated=value_if(final, "_undated"),
    )


def _bucket_columns(limits: dict[str, float], days: str) -> list[nw.Expr]:
    """Return one column per bucket, by comparison with its bounds, because not every engine can pivot."""
    bounds = [None, *list(limits.values())[:-1], None]
    return [
        value_if(_between(days, low, high), "_debit").alias(name)
        for name, low, high in zip(limits, bounds, bounds[1:], strict=False)
    ]


def _between(days: str, low: float | None, high: float | None) -> nw.Expr:
    if low is None or high is None:
        return C(days) > low if high is None else C(days) <= high
    return C(days).is_between(low, high, closed="right")


def _note(owed: Frame, frames: Frames, hidden: Frame | None = None) -> None:
    """Note open invoices without a due date and, if grouped by items, time on them without amounts."""
    rows = owed.with_columns(_hidden=nw.lit(0.0)) if hidden is None else owed.join(hidden, on="invoice_id", how="left")
    counts = collect_counts((rows, {"undated": C("_undated").sum(), "hidden": C("_hidden").sum()}))
    # Due dates that stand for no date have their own note.
    if not frames.unknown_values("invoices", "due_date"):
        frames.notes.add(NO_DUE_DATE, counts["undated"])
    so = "the balances of these invoices are allocated to their time by hours"
    frames.notes.add(HIDDEN_RATES, counts["hidden"], which=" on open invoices", consequence=so)


def _allocated_to_items(owed: Frame, frames: Frames, grouping: Grouping, measures: Sequence[str]) -> Frame:
    """
    Allocate each invoice to its items; the part of its balance that is of no item has no matter and no user.

    An invoice without items is on its own matter.
    """
    by = [name for name in _ITEM if name in grouping.base]
    of_invoice = [name for name in grouping.base if name not in by]
    shares, hidden = _shares(frames, by, owed.select("invoice_id"), grouping.settings)
    _note(owed, frames, hidden)
    totals = sum_by(shares, ["invoice_id"], ["_share"]).select("invoice_id", _of_items=C("_share"))
    rest = (
        join_by_id(owed, _own_matters(frames, by), "invoice_id")
        .join(totals, on="invoice_id", how="left")
        .with_columns(_share=1.0 - C("_of_items").fill_null(0.0))
        .filter(~(C("_share").abs() <= RESIDUE))
    )
    rest = rest.with_columns(**{name: nw.when(C("_of_items").is_null()).then(C(f"_own_{name}")) for name in by})
    parts = [*map(C, (*by, *of_invoice)), *(C(name) * C("_share") for name in measures)]
    items = owed.join(shares, on="invoice_id", how="inner")
    return nw.concat([items.select(*parts), rest.select(*parts)])


def _own_matters(frames: Frames, by: Sequence[str]) -> Frame:
    """Return the matter that each invoice names itself, with its name, as `_own_matter_id` and so on."""
    rows = frames.select("invoices", ("invoice_id",), [each for each in by if each.startswith("matter_")])
    own = columns_or_null(rows, by, dict.fromkeys(by, nw.String))
    return rows.select("invoice_id", *(each.alias(f"_own_{name}") for each, name in zip(own, by, strict=True)))


def _shares(frames: Frames, by: list[str], open_ids: Frame, settings: FirmSettings) -> tuple[Frame, Frame | None]:
    """
    Return the share of each matter or user in the balance of each open invoice.

    Also return the number of entries without an amount on each invoice; None if no time entries were passed.
    """
    ids = [name for name in by if name.endswith("_id")]
    time = on_invoices = None
    if "time_entries" in frames:
        entries = frames["time_entries"]
        # Most invoices are paid, and to add up their time takes longer than to leave it out.
        rows = join_by_id(billable_time(frames, ids, by, lazily=True), open_ids, "invoice_id", "inner")
        time = collect(time_on_invoices(rows, [name for name in by if name in column_names(rows)]), entries)
        on_invoices = sum_by(time, ["invoice_id"], ON_INVOICE)
    rates = allocation_rates(on_invoices, frames, settings)
    known = rates.filter(~(C("_total").abs() <= RESIDUE))
    shares = open_shares(time, with_open_shares(known, settings), frames, by)
    hidden = None if on_invoices is None else on_invoices.select("invoice_id", "_hidden")
    return shares, hidden
