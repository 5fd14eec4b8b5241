"""Read frames into the history of a firm by weeks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import join_names, type_in_words
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, sum_by, to_arrow
from billframes.analysis.data.expressions import C, as_float, midnight
from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.errors import MissingColumnError, ParameterError
from billframes.forecast.curves import Floats, Ints, add_by
from billframes.forecast.history import DAY, WORK_AGES, Drafts, Falls, History, Work
from billframes.forecast.rules import GAPS, OVERPAID
from billframes.periods import DateLike

Days = npt.NDArray[np.datetime64]

_INVOICE = ("invoice_id", "invoice_date", "invoice_state", "amount", "balance", "client_id", "client_name")
_RECEIPTS = ("invoice_id", "after", "until", "fall_amount", "adjusted_amount", "implied_receipt_amount")
_FALLEN = {"invoice_id": pa.string(), "after": pa.date32(), "until": pa.date32()}
_FALLEN |= dict.fromkeys(("fall", "adjusted", "cash"), pa.float64())
_PAYMENTS = ("invoice_id", "payment_date", "amount")
# Falls between two refreshes this many days apart are dated to the later one; after a longer gap they aren't used.
_SOON, _LONG = 7, 35
# Weeks kept before the record of falls: two years of ages, and three of paces of the year before.
_BEFORE = 210
_CENT = 0.005
_SOURCES = {
    "receipts": "the frame that Mirror.implied_receipts returns",
    "payments": "the frame that bf.analysis.payments returns",
    "became_final": "a frame with invoice_id and final_since",
}


def read_invoices(frames: Call, day: dt.date) -> pa.Table:
    """Return the final invoices dated up to a day, also those of 0 or less."""
    rows = frames.select("invoices", _INVOICE, ("invoice_number",))
    rows = rows.filter(C("invoice_state") == "final", C("invoice_date") <= midnight(day))
    return to_arrow(collect(rows))


@dataclass(frozen=True)
class _Weeks:
    """The weeks of a history by number: the last one ends today."""

    day: dt.date
    last: int

    def of(self, days: Any) -> Ints:
        """Return the week of each day."""
        ago: Ints = (np.datetime64(self.day) - np.asarray(days, "datetime64[D]")).astype(np.int64)
        return self.last - ago // 7

    def end(self, weeks: Ints) -> Days:
        """Return the last day of each week."""
        days: Days = np.datetime64(self.day) + 7 * (weeks - self.last) * DAY
        return days


@dataclass(frozen=True)
class Given:
    """What is passed to a forecast beside invoices and work."""

    receipts: Any
    payments: Any
    became_final: Any
    since: DateLike | None
    complete_from: DateLike | None
    not_cash: Collection[str] | None

    @property
    def falls(self) -> Any:
        """What shows when balances fell, if anything does."""
        return self.receipts if self.payments is None else self.payments

    def written_off(self, ids: Any) -> npt.NDArray[np.bool_]:
        """Tell which invoices' falls are not cash."""
        if isinstance(self.not_cash, str):
            raise ParameterError(f"not_cash={self.not_cash!r} is one text; it takes a list of invoice ids.")
        return np.array(pc.is_in(ids.cast(pa.string()), pa.array([*(self.not_cash or ())], pa.string())), bool)


def read_history(frames: Call, invoices: pa.Table, day: dt.date, given: Given) -> tuple[History, pa.Table]:
    """Return the history up to a day, and all invoices with `client` as a number, those of the history first."""
    since, complete = (
        None if value is None else read_date(value, name)
        for value, name in ((given.since, "since"), (given.complete_from, "complete_from"))
    )
    if given.not_cash and not given.written_off(invoices["invoice_id"]).any():
        raise ParameterError("not_cash names none of the invoices; it takes values of their invoice_id.")
    fallen, first = _read_falls(given)
    since = min([day, *(each for each in (since, first) if each)]) if len(fallen) else day
    today, dates = np.datetime64(day), _days(invoices["invoice_date"])
    earliest = max(dates.min() if len(dates) else today, np.datetime64(since) - 7 * _BEFORE * DAY)
    weeks = _Weeks(day, int((today - earliest).astype(int)) // 7)
    invoices, clients = _with_numbers(invoices)
    # Older invoices are older than all that the curves use.
    kept = weeks.of(dates) >= 0
    old = invoices.filter(pa.array(~kept))
    invoices, dates = invoices.filter(pa.array(kept)), dates[kept]
    falls, unseen = _read_falls_of(invoices, fallen, dates, weeks, frames)
    amount, balance, client = (invoices[name].to_numpy() for name in ("amount", "balance", "client"))
    # As first billed: the falls hold by how much amounts were reduced.
    billed = amount + add_by(falls.invoice, falls.adjusted, len(amount))
    week = weeks.of(dates)
    final = _final_since(invoices, given.became_final, week, weeks)
    owed = billed > _CENT
    history = History(
        day=day,
        last=weeks.last,
        since=int(weeks.of(since)),
        complete=0 if complete is None else int(weeks.of(complete)),
        week=week[owed],
        final=final[owed],
        amount=amount[owed],
        balance=np.maximum(balance[owed], 0.0),
        client=client[owed],
        credits=add_by(client, np.maximum(-balance, 0.0), clients),
        falls=_of_owed(falls, owed),
        unseen=unseen,
        work=_read_work(frames, invoices, old["invoice_id"], week, final, billed, clients, weeks),
    )
    return history, pa.concat_tables([invoices.filter(pa.array(owed)), invoices.filter(pa.array(~owed)), old])


def _days(column: Any) -> Days:
    days: Days = column.to_numpy().astype("datetime64[D]")
    return days


def _with_numbers(invoices: pa.Table) -> tuple[pa.Table, int]:
    """Add `client` as a number, of which the last stands for none; also return how many there are."""
    client = invoices["client_id"].combine_chunks().dictionary_encode()
    none = len(client.dictionary)
    return invoices.append_column("client", client.indices.fill_null(none).cast(pa.int64())), none + 1


def _final_since(invoices: pa.Table, became_final: Any, week: Ints, weeks: _Weeks) -> Ints:
    """Return the week since which each invoice is final: that of its date, unless it was a draft after it."""
    if became_final is None:
        return week
    rows = _table(became_final, "became_final", ("invoice_id", "final_since"))
    place = pc.index_in(rows["invoice_id"].cast(pa.string()), value_set=invoices["invoice_id"])
    known = np.array(place.is_valid())
    final = week.copy()
    np.maximum.at(final, place.drop_null().to_numpy(), weeks.of(_days(rows["final_since"]))[known])
    return final


def _read_falls(given: Given) -> tuple[pa.Table, dt.date | None]:
    """Return the falls with their days, and the first day that they are about."""
    if given.falls is None:
        return pa.schema(_FALLEN).empty_table(), None
    if given.payments is not None:
        rows = _table(given.payments, "payments", _PAYMENTS, ("kind",))
        rows = rows.filter(pc.is_valid(rows["invoice_id"]))
        kind = rows["kind"] if "kind" in rows.column_names else pa.array(["cash"] * len(rows))
        first = day = _days(rows["payment_date"])
        before, amount, adjusted = day - DAY, rows["amount"].to_numpy().astype(float), np.zeros(len(rows))
        cash = amount * np.array(pc.equal(kind, "cash"), bool)
    else:
        rows = _table(given.receipts, "receipts", _RECEIPTS)
        first = before = _days(rows["after"])
        day = _days(rows["until"])
        amount, adjusted, cash = (rows[name].to_numpy().astype(float) for name in _RECEIPTS[3:])
    ids = rows["invoice_id"].cast(pa.string())
    cash = np.where(given.written_off(ids), 0.0, cash)
    table = pa.table([ids, before, day, amount, adjusted, cash], names=[*_FALLEN])
    return table, cast("dt.date", first.min().item()) if len(table) else None


def _table(frame: Any, name: str, columns: Sequence[str], optional: Collection[str] = ()) -> pa.Table:
    try:
        rows = nw.from_native(frame, eager_only=True)
    except TypeError:
        source = _SOURCES[name]
        raise ParameterError(f"{name} is {type_in_words(frame)}; pass {source}.") from None
    absent = [each for each in columns if each not in rows.columns]
    if absent:
        raise MissingColumnError(f"{name} lacks {join_names(absent)}; pass {_SOURCES[name]}.")
    table = rows.select(*columns, *(each for each in optional if each in rows.columns)).to_arrow()
    for each in columns[1:]:
        if pc.any(pc.is_null(table[each], nan_is_null=True)).as_py():
            raise ParameterError(f"{name}: {each} is missing in some rows; fill it in, or remove them.")
    return table


def _read_falls_of(
    invoices: pa.Table, falls: pa.Table, dates: Days, weeks: _Weeks, frames: Call
) -> tuple[Falls, npt.NDArray[np.bool_]]:
    """Return the falls of invoices by week, and the weeks in gaps of the record; note both doubts."""
    place = pc.index_in(falls["invoice_id"], value_set=invoices["invoice_id"])
    falls = falls.append_column("place", place).filter(place.is_valid())
    spread, unseen = _spread(falls, dates, weeks)
    amount, balance = (invoices[name].to_numpy() for name in ("amount", "balance"))
    spread, overpaid = _within_amounts(spread, amount, balance)
    frames.notes.add(OVERPAID, overpaid)
    frames.notes.add(GAPS, int(unseen.sum()), days=_LONG)
    return spread, unseen


def _of_owed(falls: Falls, owed: npt.NDArray[np.bool_]) -> Falls:
    """Return the falls of some invoices, with their places among these."""
    kept = owed[falls.invoice]
    place = (np.cumsum(owed) - 1)[falls.invoice[kept]]
    return Falls(place, falls.week[kept], falls.fall[kept], falls.cash[kept], falls.adjusted[kept])


def _spread(falls: pa.Table, dates: Days, weeks: _Weeks) -> tuple[Falls, npt.NDArray[np.bool_]]:
    """Divide falls among the weeks in which they can have been; also return the weeks in gaps of the record."""
    place = falls["place"].to_numpy().astype(np.int64)
    until, after = _days(falls["until"]), _days(falls["after"])
    gap = (until - after).astype(int)
    unseen = np.zeros(weeks.last + 1, bool)
    for begin, end in {*zip(after[gap > _LONG].tolist(), until[gap > _LONG].tolist(), strict=True)}:
        low, high = weeks.of([begin, end])
        unseen[max(low + 1, 0) : max(high + 1, 0)] = True
    # An invoice can't be paid before it is made.
    start = np.where(gap > _SOON, np.maximum(after, dates[place] - DAY), until - DAY)
    start = np.minimum(start, until - DAY)
    first = weeks.of(start + DAY)
    number = weeks.of(until) - first + 1
    row = np.repeat(np.arange(len(place)), number)
    week = first[row] + np.arange(len(row)) - (np.cumsum(number) - number)[row]
    ends = weeks.end(week)
    days = (np.minimum(ends, until[row]) - np.maximum(ends - 7 * DAY, start[row])).astype(float)
    part = days / (until - start)[row].astype(float)
    fall, cash, adjusted = (falls[name].to_numpy()[row] * part for name in ("fall", "cash", "adjusted"))
    return Falls(place[row], np.maximum(week, weeks.of(dates)[place[row]]), fall, cash, adjusted), unseen


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
    frames: Call,
    invoices: pa.Table,
    older: Any,
    week: Ints,
    final: Ints,
    billed: Floats,
    clients: int,
    weeks: _Weeks,
) -> Work | None:
    """Return the value of work by week of the work and of its invoice; None without time entries or rates."""
    rows = _read_items(frames, weeks.day)
    if rows is None:
        return None
    rows = rows.filter(pc.invert(pc.is_in(rows["invoice_id"], value_set=older)))
    place = pc.index_in(rows["invoice_id"], value_set=invoices["invoice_id"]).fill_null(-1).to_numpy()
    worth, contingent = (rows[name].to_numpy() for name in ("_worth", "_contingent"))
    counted, left, last = worth * (contingent == 0), place < 0, weeks.last
    # The week after the last stands for no invoice.
    of_invoice = np.r_[week, last + 1][place]
    # Work is dated after its invoice by mistake only.
    of_work = np.minimum(np.maximum(weeks.of(_days(rows["date"])), 0), of_invoice)
    by_weeks = add_by(of_work * (last + 2) + of_invoice, counted, (last + 1) * (last + 2))
    on_draft = ~left & np.r_[final > week, False][place]
    worth_of = add_by(place[~left], counted[~left], len(week))
    has_work = (worth_of > 0) & (billed > 0)
    numbers = pc.index_in(rows["client_id"], value_set=pc.unique(invoices["client_id"].drop_null()))
    return Work(
        worth=by_weeks.reshape(last + 1, last + 2),
        billed_amount=add_by(week[has_work], billed[has_work], last + 1),
        billed_worth=add_by(week[has_work], worth_of[has_work], last + 1),
        by_client=_by_client(numbers, counted, last - of_work, left, clients),
        left_out=float((worth * (contingent > 0) * left).sum()),
        drafts=Drafts(of_work[on_draft], of_invoice[on_draft], final[place[on_draft]], counted[on_draft]),
    )


def _by_client(numbers: Any, worth: Floats, age: Ints, left: npt.NDArray[np.bool_], clients: int) -> Floats:
    number = numbers.fill_null(clients - 1).to_numpy().astype(np.int64)
    recent = left & (age < WORK_AGES)
    place = (number * WORK_AGES + age)[recent]
    return add_by(place, worth[recent], clients * WORK_AGES).reshape(clients, WORK_AGES)


def _read_items(frames: Call, day: dt.date) -> pa.Table | None:
    """Return the items up to a day by day, invoice and client; None without time entries or rates."""
    if "time_entries" not in frames:
        return None
    rows = pa.concat_tables([_items(frames, name, day) for name in ITEMS if name in frames])
    hidden, priced = (pc.sum(rows[name]).as_py() or 0.0 for name in ("_hidden", "_priced"))
    consequence = "their cash is not in the forecast" if priced else "only the cash of open invoices can be forecast"
    frames.notes.add(HIDDEN_RATES, hidden, consequence=consequence, which="")
    return None if hidden and not priced else rows


def _items(frames: Call, name: str, day: dt.date) -> pa.Table:
    """Add up the items dated up to a day by day, invoice and client."""
    keys = ["date", "invoice_id", "client_id"]
    kinds = ["billing_type", "hours"] if name == "time_entries" else []
    matter = ["matter_id"] if "matters" in frames else []
    rows = frames.select(name, [*keys, *matter, "amount", *kinds]).filter(C("date") <= midnight(day))
    hidden = priced = nw.lit(0.0)
    if kinds:
        rows = rows.filter(C("billing_type") == "billable")
        hidden, priced = as_float(C("amount").is_null() & (C("hours") != 0)), as_float(~C("amount").is_null())
    rows = rows.with_columns(_worth=C("amount").fill_null(0.0), _hidden=hidden, _priced=priced)
    measures = ["_worth", "_hidden", "_priced"]
    sums = to_arrow(collect(sum_by(rows, [*keys, *matter], measures)))
    flag = _contingent(frames, sums["matter_id"]) if matter else pa.array(np.zeros(len(sums)))
    texts = {each: sums[each].cast(pa.string()) for each in keys[1:]}
    numbers = {each: sums[each].cast(pa.float64()) for each in measures}
    return pa.table({"date": sums["date"].cast(pa.date32()), **texts, **numbers, "_contingent": flag})


def _contingent(frames: Call, matters: Any) -> Any:
    kinds = frames.select("matters", ("matter_id", "matter_type"))
    rows = to_arrow(collect(kinds.filter(C("matter_type") == "contingency")))
    return pc.is_in(matters.cast(pa.string()), value_set=rows["matter_id"].cast(pa.string())).cast(pa.float64())
