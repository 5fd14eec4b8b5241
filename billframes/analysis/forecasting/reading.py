"""Read frames into the history of a firm by weeks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from billframes._names import join_names, type_in_words
from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.forecasting.curves import WORK_AGES, Floats, Ints, add_by
from billframes.analysis.forecasting.history import Falls, History, Work
from billframes.analysis.frames.engine import collect, sum_by, to_arrow
from billframes.analysis.frames.expressions import as_float, midnight
from billframes.analysis.frames.frames import Frames
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.forecasts import GAPS, OVERPAID
from billframes.errors import MissingColumnError, ParameterError

__all__ = ["read_history", "read_invoices"]

C = nw.col

Days = npt.NDArray[np.datetime64]

_INVOICE = ("invoice_id", "invoice_date", "invoice_state", "amount", "balance", "client_id", "client_name")
_FALLS = ("invoice_id", "after", "until", "fall_amount", "adjusted_amount", "implied_receipt_amount")
_PAYMENTS = ("invoice_id", "payment_date", "amount")
# Falls between two refreshes this many days apart are dated to the later one; after a longer gap they aren't used.
_SOON, _LONG = 7, 35
# Weeks kept before the record of falls: two years of ages, and three of paces of the year before.
_BEFORE = 210
_CENT = 0.005


def read_invoices(frames: Frames, day: dt.date) -> pa.Table:
    """Return the final invoices dated up to a day, also those of 0 or less."""
    rows = frames.select("invoices", _INVOICE, ("invoice_number",), lazily=True)
    rows = rows.filter(C("invoice_state") == "final", C("invoice_date") <= midnight(day))
    return to_arrow(collect(rows, frames["invoices"]))


def read_history(
    frames: Frames,
    invoices: pa.Table,
    day: dt.date,
    *,
    receipts: Any,
    payments: Any,
    since: dt.date | None,
    complete_from: dt.date | None,
    not_cash: Collection[str],
    analysis: str,
) -> tuple[History, pa.Table]:
    """
    Return the history up to a day, and all invoices with `client` as a number, those of the history first.

    Parameters
    ----------
    frames : Frames
    invoices : Table
        From `read_invoices`.
    day : date
    receipts, payments : DataFrame, optional
    since, complete_from : date, optional
    not_cash : collection of str
    analysis : str
        The name of the analysis, for notes.
    """
    falls, first = _read_falls(receipts, payments, set(not_cash))
    since = min((each for each in (since, first) if each is not None), default=day)
    since = min(since, day) if len(falls) else day
    dates = _days(invoices["invoice_date"])
    today = np.datetime64(day)
    earliest = dates.min() if len(dates) else today
    weeks = int((today - max(earliest, np.datetime64(since) - 7 * _BEFORE)).astype(int)) // 7
    client = invoices["client_id"].combine_chunks().dictionary_encode()
    numbers = client.indices.fill_null(len(client.dictionary)).to_numpy().astype(np.int64)
    invoices = invoices.append_column("client", pa.array(numbers))
    # Older invoices are older than all that the curves use.
    kept = dates > today - 7 * (weeks + 1)
    old = invoices.filter(pa.array(~kept))
    invoices, dates, numbers = invoices.filter(pa.array(kept)), dates[kept], numbers[kept]
    place = pc.index_in(falls["invoice_id"], value_set=invoices["invoice_id"])
    falls = falls.append_column("place", place).filter(place.is_valid())
    week = weeks + _week(dates, today)
    spread, unseen = _spread(falls, dates, today, weeks)
    amount, balance = (invoices[name].to_numpy() for name in ("amount", "balance"))
    spread, overpaid = _within_amounts(spread, amount, balance)
    frames.notes.add(OVERPAID, overpaid, analysis)
    frames.notes.add(GAPS, int(unseen.sum()), analysis, days=_LONG)
    # As first billed: the falls hold by how much amounts were reduced.
    billed = amount + add_by(spread.invoice, spread.adjusted, len(amount))
    owed = billed > _CENT
    credit = add_by(numbers, np.maximum(-balance, 0.0), len(client.dictionary) + 1)
    new = np.cumsum(owed) - 1
    falls_of = owed[spread.invoice]
    history = History(
        day=day,
        last=weeks,
        since=weeks + _week_of(since, today),
        complete=0 if complete_from is None else weeks + _week_of(complete_from, today),
        week=week[owed],
        amount=amount[owed],
        balance=np.maximum(balance[owed], 0.0),
        client=numbers[owed],
        credits=credit,
        falls=Falls(
            new[spread.invoice[falls_of]],
            *(each[falls_of] for each in (spread.week, spread.fall, spread.cash, spread.adjusted)),
        ),
        unseen=unseen,
        work=_read_work(frames, invoices, old["invoice_id"], week, billed, len(credit), day, weeks, analysis),
    )
    return history, pa.concat_tables([invoices.filter(pa.array(owed)), invoices.filter(pa.array(~owed)), old])


def _days(column: Any) -> Days:
    days: Days = column.to_numpy().astype("datetime64[D]")
    return days


def _week(days: Days, today: np.datetime64) -> Ints:
    """Return the week of each day: 0 is the one that ends today, and earlier ones are below 0."""
    ago: Ints = (today - days).astype(np.int64)
    return -(ago // 7)


def _week_of(day: dt.date, today: np.datetime64) -> int:
    return int(_week(np.array([day], "datetime64[D]"), today)[0])


def _read_falls(receipts: Any, payments: Any, not_cash: set[str]) -> tuple[pa.Table, dt.date | None]:
    """Return the falls with their days, and the first day that they are about."""
    if payments is not None:
        rows = _table(payments, "payments", _PAYMENTS, ("kind",))
        rows = rows.filter(pc.is_valid(rows["invoice_id"]))
        kind = rows["kind"] if "kind" in rows.column_names else pa.array(["cash"] * len(rows))
        day, amount = _days(rows["payment_date"]), rows["amount"].to_numpy().astype(float)
        is_cash = np.array(pc.equal(kind, "cash"), bool)
        first, before, adjusted = day, day - 1, np.zeros(len(rows))
        cash = amount * is_cash
    elif receipts is not None:
        rows = _table(receipts, "receipts", _FALLS)
        before, day = _days(rows["after"]), _days(rows["until"])
        first, amount = before, rows["fall_amount"].to_numpy().astype(float)
        adjusted, cash = (rows[name].to_numpy().astype(float) for name in _FALLS[4:])
    else:
        none = pa.array([], pa.float64())
        days = {name: pa.array([], pa.date32()) for name in ("after", "until")}
        parts = dict.fromkeys(("fall", "adjusted", "cash"), none)
        return pa.table({"invoice_id": pa.array([], pa.string()), **days, **parts}), None
    ids = rows["invoice_id"].cast(pa.string())
    if not_cash:
        cash = np.where(np.array(pc.is_in(ids, pa.array(sorted(not_cash), pa.string())), bool), 0.0, cash)
    parts = {"fall": amount, "adjusted": adjusted, "cash": cash}
    table = pa.table({"invoice_id": ids, "after": before, "until": day, **parts})
    return table, cast("dt.date", first.min().item()) if len(table) else None


def _table(frame: Any, name: str, columns: Collection[str], optional: Collection[str] = ()) -> pa.Table:
    """Return columns of a frame of any kind, such as the one of `bf.receipts`."""
    try:
        rows = nw.from_native(frame, eager_only=True)
    except TypeError:
        source = "bf.payments" if name == "payments" else "bf.receipts"
        raise ParameterError(f"{name} is {type_in_words(frame)}; pass the frame that {source} returns.") from None
    absent = [each for each in columns if each not in rows.columns]
    if absent:
        raise MissingColumnError(f"{name} lacks {join_names(absent)}, which bf.{name} returns.")
    return rows.select(*columns, *(each for each in optional if each in rows.columns)).to_arrow()


def _spread(falls: pa.Table, dates: Days, today: np.datetime64, weeks: int) -> tuple[Falls, npt.NDArray[np.bool_]]:
    """Divide falls among the weeks in which they can have been; also return the weeks in gaps of the record."""
    place = falls["place"].to_numpy().astype(np.int64)
    until, after = _days(falls["until"]), _days(falls["after"])
    gap = (until - after).astype(int)
    unseen = np.zeros(weeks + 1, bool)
    for begin, end in {*zip(after[gap > _LONG].tolist(), until[gap > _LONG].tolist(), strict=True)}:
        low, high = _week(np.array([begin, end], "datetime64[D]"), today) + weeks
        unseen[max(low + 1, 0) : max(high + 1, 0)] = True
    # An invoice can't be paid before it is made.
    start = np.where(gap > _SOON, np.maximum(after, dates[place] - 1), until - 1)
    start = np.minimum(start, until - 1)
    first, last = _week(start + 1, today), _week(until, today)
    number = last - first + 1
    row = np.repeat(np.arange(len(place)), number)
    week = first[row] + np.arange(len(row)) - (np.cumsum(number) - number)[row]
    ends = today + 7 * week
    days = (np.minimum(ends, until[row]) - np.maximum(ends - 7, start[row])).astype(float)
    part = days / (until - start)[row].astype(float)
    fall, cash, adjusted = (falls[name].to_numpy()[row] * part for name in ("fall", "cash", "adjusted"))
    week = np.maximum(week, _week(dates, today)[place[row]]) + weeks
    return Falls(place[row], np.maximum(week, 0), fall, cash, adjusted), unseen


def _within_amounts(falls: Falls, amount: Floats, balance: Floats) -> tuple[Falls, int]:
    """Cut falls to what the invoices were: what was paid above it is a credit of the client."""
    number = len(amount)
    fallen = add_by(falls.invoice, falls.fall, number)
    room = amount + add_by(falls.invoice, falls.adjusted, number) - np.maximum(balance, 0.0)
    above = (fallen > room + _CENT) & (fallen > 0)
    part = np.where(above, np.maximum(room, 0.0) / np.where(above, fallen, 1.0), 1.0)[falls.invoice]
    kept = (falls.fall * part, falls.cash * part, falls.adjusted)
    return Falls(falls.invoice, falls.week, *kept), int((above & (amount > 0)).sum())


def _read_work(
    frames: Frames,
    invoices: pa.Table,
    older: Any,
    week: Ints,
    billed: Floats,
    clients: int,
    day: dt.date,
    weeks: int,
    analysis: str,
) -> Work | None:
    """Return the worth of work by week of the work and of its invoice; None without time entries or rates."""
    if "time_entries" not in frames:
        return None
    parts = [_items(frames, name, day) for name in ITEMS if name in frames]
    rows = pa.concat_tables(parts)
    hidden, priced = (pc.sum(rows[name]).as_py() or 0.0 for name in ("_hidden", "_priced"))
    consequence = "their cash is not in the forecast" if priced else "only the cash of open invoices can be forecast"
    frames.notes.add(HIDDEN_RATES, hidden, analysis, consequence=consequence, which="")
    if hidden and not priced:
        return None
    rows = rows.filter(pc.invert(pc.is_in(rows["invoice_id"], value_set=older)))
    place = pc.index_in(rows["invoice_id"], value_set=invoices["invoice_id"]).fill_null(-1).to_numpy()
    worth, contingent = (rows[name].to_numpy() for name in ("_worth", "_contingent"))
    today = np.datetime64(day)
    work_week = np.maximum(_week(_days(rows["date"]), today) + weeks, 0)
    billed_week = np.where(place >= 0, week[place] if len(week) else 0, weeks + 1)
    # Work is dated after its invoice by mistake only.
    work_week = np.minimum(work_week, billed_week)
    counted = worth * (contingent == 0)
    both = add_by(work_week * (weeks + 2) + billed_week, counted, (weeks + 1) * (weeks + 2))
    of_invoice = add_by(place[place >= 0], counted[place >= 0], len(week))
    has_work = (of_invoice > 0) & (billed > 0)
    left = place < 0
    age = weeks - work_week
    recent = left & (age < WORK_AGES)
    numbers = pc.index_in(rows["client_id"], value_set=pc.unique(invoices["client_id"].drop_null()))
    return Work(
        worth=both.reshape(weeks + 1, weeks + 2),
        billed_amount=add_by(week[has_work], billed[has_work], weeks + 1),
        billed_worth=add_by(week[has_work], of_invoice[has_work], weeks + 1),
        by_client=_by_client(numbers, counted, age, recent, clients),
        left_out=float((worth * (contingent > 0) * left).sum()),
    )


def _by_client(numbers: Any, worth: Floats, age: Ints, recent: npt.NDArray[np.bool_], clients: int) -> Floats:
    number = numbers.fill_null(clients - 1).to_numpy().astype(np.int64)
    place = (number * WORK_AGES + age)[recent]
    return add_by(place, worth[recent], clients * WORK_AGES).reshape(clients, WORK_AGES)


def _items(frames: Frames, name: str, day: dt.date) -> pa.Table:
    """Add up the items dated up to a day by day, invoice and client."""
    keys = ["date", "invoice_id", "client_id"]
    kinds = ["billing_type", "hours"] if name == "time_entries" else []
    matter = ["matter_id"] if "matters" in frames else []
    rows = frames.select(name, [*keys, *matter, "amount", *kinds], lazily=True).filter(C("date") <= midnight(day))
    hidden = priced = nw.lit(0.0)
    if kinds:
        rows = rows.filter(C("billing_type") == "billable")
        hidden, priced = as_float(C("amount").is_null() & (C("hours") != 0)), as_float(~C("amount").is_null())
    rows = rows.with_columns(_worth=C("amount").fill_null(0.0), _hidden=hidden, _priced=priced)
    measures = ["_worth", "_hidden", "_priced"]
    sums = to_arrow(collect(sum_by(rows, [*keys, *matter], measures), frames[name]))
    flag = _contingent(frames, sums["matter_id"]) if matter else pa.array(np.zeros(len(sums)))
    texts = {each: sums[each].cast(pa.string()) for each in keys[1:]}
    numbers = {each: sums[each].cast(pa.float64()) for each in measures}
    return pa.table({"date": sums["date"].cast(pa.date32()), **texts, **numbers, "_contingent": flag})


def _contingent(frames: Frames, matters: Any) -> Any:
    kinds = frames.select("matters", ("matter_id", "matter_type"))
    rows = to_arrow(collect(kinds.filter(C("matter_type") == "contingency"), frames["matters"]))
    return pc.is_in(matters.cast(pa.string()), value_set=rows["matter_id"].cast(pa.string())).cast(pa.float64())
