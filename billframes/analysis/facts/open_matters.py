"""The open amounts and the last activity of matters, and the findings of `stale` that they lead to."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import ids_frame, join_by_id, sum_by, to_dicts
from billframes.analysis.data.expressions import RESIDUE, C, as_midnight, midnight, or_nan, value_if
from billframes.analysis.declare.columns import MATTER_TYPES, UNASSIGNED, Frame
from billframes.analysis.facts.last_days import with_last_days
from billframes.analysis.facts.rates import at_rates

OLD, ARCHIVED_WORK, ARCHIVED_DEBT, IDLE, OPEN_FEE = _FINDINGS = (
    "old work in progress",
    "archived with work in progress",
    "archived with receivables",
    "no work or invoice",
    "open fixed fee",
)
"""The kinds of finding, in the order of the rows."""

_Row = dict[str, Any]

_NO_WORK: _Row = {"total": 0.0, "old": 0.0, "hours": 0.0, "oldest_date": None}


@dataclass(frozen=True, slots=True)
class Activity:
    """The days of the last work and the last invoice of a matter; None if there are none."""

    work: dt.datetime | None = None
    invoice: dt.datetime | None = None

    @property
    def last(self) -> dt.datetime | None:
        """The later of the two days."""
        return max((each for each in (self.work, self.invoice) if each is not None), default=None)


@dataclass(frozen=True, slots=True)
class OpenMatters:
    """
    The open amounts and the last activity of each matter, by its id, and the findings they lead to.

    Unknown amounts are NaN. `by_fee` is the work in progress by matter and fixed fee.
    """

    day: dt.date
    matters: Mapping[str, _Row]
    work: Mapping[str | None, _Row]
    receivables: Mapping[str | None, float]
    activity: Mapping[str, Activity]
    by_fee: Frame

    @classmethod
    def of(cls, call: Call, day: dt.date, limit: int) -> OpenMatters:
        """Collect the amounts and the activity; work is old if it is older than `limit` days."""
        by_fee = _work_by_fee(call, day, limit)
        balances = call.ask("aging", as_of=day, by="matter", buckets=(1,))
        work = by_fee.group_by("matter_id").agg(C("total", "old", "hours").sum(), C("oldest_date").min())
        columns = ("matter_id", "name", "archived", "client_id", "client_name", "responsible_id", "responsible_name")
        matters = call.select("matters", columns, ("opened", "matter_type"))
        return cls(
            day=day,
            matters={row["matter_id"]: row for row in to_dicts(matters)},
            work={row["matter_id"]: row for row in to_dicts(work)},
            receivables={row["matter_id"]: or_nan(row["total"]) for row in to_dicts(balances)},
            activity=_activity_of_matters(call, day),
            by_fee=by_fee,
        )

    def findings(self, call: Call, idle_days: int) -> list[_Row]:
        """Return the rows of `stale`."""
        rows = [*self._old_work(), *self._archived(), *self._idle(idle_days)]
        rows += [self._row(OPEN_FEE, **fee) for fee in _open_fees(call, self.by_fee, self.day)]
        return sorted(rows, key=_sort_key)

    def _row(
        self,
        finding: str,
        matter_id: str | None,
        since: dt.datetime | None,
        work: float = 0.0,
        receivables: float = 0.0,
        **more: Any,
    ) -> _Row:
        matter = self.matters.get(matter_id or "", {})
        is_contingent = matter.get("matter_type") == "contingency"
        amount, contingent = (receivables, work) if is_contingent else (work + receivables, 0.0)
        activity = self.activity.get(matter_id or "", Activity())
        return {
            "finding": finding,
            "matter_id": matter_id,
            "matter_name": matter.get("name") or matter_id or UNASSIGNED,
            **{name: matter.get(name) for name in ("client_id", "responsible_id")},
            **{name: matter.get(name) or UNASSIGNED for name in ("client_name", "responsible_name")},
            "since": since,
            "days_since": None if since is None else float((midnight(self.day) - since).days),
            "open_amount": None if math.isnan(amount) else amount,
            "contingent_amount": None if math.isnan(contingent) else contingent,
            "last_work_date": activity.work,
            "last_invoice_date": activity.invoice,
            **more,
        }

    def _old_work(self) -> Iterator[_Row]:
        for matter_id, work in self.work.items():
            if _is_open(work["old"]):
                yield self._row(OLD, matter_id, work["oldest_date"], work["old"])

    def _archived(self) -> Iterator[_Row]:
        for matter_id, matter in self.matters.items():
            if matter["archived"] is not True:
                continue
            work, receivables = self.work.get(matter_id, _NO_WORK), self.receivables.get(matter_id, 0.0)
            if _is_open(work["total"]):
                yield self._row(ARCHIVED_WORK, matter_id, work["oldest_date"], work["total"], hours=work["hours"])
            if _is_open(receivables):
                last_invoice = self.activity.get(matter_id, Activity()).invoice
                yield self._row(ARCHIVED_DEBT, matter_id, last_invoice, receivables=receivables)

    def _idle(self, limit: int) -> Iterator[_Row]:
        for matter_id, matter in self.matters.items():
            days = [self.activity.get(matter_id, Activity()).last, as_midnight(matter.get("opened"))]
            since = max((each for each in days if each is not None), default=None)
            # A matter without any day is not idle: nothing is known of it.
            is_idle = since is not None and (midnight(self.day) - since).days > limit
            if matter["archived"] is not True and is_idle:
                work = self.work.get(matter_id, _NO_WORK)["total"]
                yield self._row(IDLE, matter_id, since, work, self.receivables.get(matter_id, 0.0))


def _work_by_fee(call: Call, day: dt.date, limit: int) -> Frame:
    """Return the work in progress by matter and fixed fee, that of contingency matters included."""
    types = MATTER_TYPES if "matter_type" in call.columns("matters") else None
    rows = call.ask("wip", as_of=day, by=["matter", "fixed_fee_id"], buckets=(limit,), matter_types=types)
    names = ("total", "hours", "fixed_fee_amount")
    work = rows.select("matter_id", "fixed_fee_id", *names, "oldest_date", old=C(f"{limit + 1}+"))
    return work.filter(~C("oldest_date").is_null()).with_columns(C(*names, "old").fill_null(math.nan))


def _activity_of_matters(call: Call, day: dt.date) -> dict[str, Activity]:
    """Find the last work and the last final invoice of each matter, dated on or before a day, by the matter's id."""
    rows = with_last_days(call, day).group_by("matter_id")
    last = to_dicts(rows.agg(C("last_work_date", "last_invoice_date").max()))
    days = {row["matter_id"]: (row["last_work_date"], row["last_invoice_date"]) for row in last}
    return {id_: Activity(*each) for id_, each in days.items() if id_ is not None}


def _open_fees(call: Call, work: Frame, day: dt.date) -> Iterator[_Row]:
    rows = to_dicts(work.select("matter_id", "fixed_fee_id", "fixed_fee_amount"))
    open_ = {row["fixed_fee_id"]: row for row in rows if _is_open(row["fixed_fee_amount"])}
    if not open_ or "fixed_fees" not in call:
        return
    rates = call.settings.standard_rates
    ids = ids_frame(call["fixed_fees"], "fixed_fee_id", open_)
    fees = call.select("fixed_fees", ("fixed_fee_id", "date"))
    linked = call.select("time_entries", ("date", "user_id", "hours", "fixed_fee_id"))
    linked = join_by_id(linked, ids, "fixed_fee_id", "inner").filter(C("date") <= midnight(day))
    linked = linked.with_columns(value=value_if(C("hours") != 0, at_rates(rates)))
    totals = sum_by(linked, ["fixed_fee_id"], ["hours", "value"])
    efforts = {row["fixed_fee_id"]: row for row in to_dicts(totals)}
    for fee in to_dicts(join_by_id(fees, ids, "fixed_fee_id", "inner")):
        id_ = fee["fixed_fee_id"]
        done = efforts.get(id_, {"hours": 0.0, "value": 0.0})
        yield {
            "fixed_fee_id": id_,
            "matter_id": open_[id_]["matter_id"],
            "since": fee["date"],
            "work": open_[id_]["fixed_fee_amount"],
            "hours": done["hours"],
            "effort_amount": done["value"] if rates else None,
        }


def _is_open(amount: float) -> bool:
    """Return whether an amount is not 0; an unknown amount (NaN) is open."""
    return not abs(amount) <= RESIDUE


def _sort_key(row: _Row) -> tuple[Any, ...]:
    amount = row["open_amount"]
    return (
        _FINDINGS.index(row["finding"]),
        amount is None,
        -(amount or 0.0),
        -(row["contingent_amount"] or 0.0),
        row["matter_name"],
        row["matter_id"] or "",
        row.get("fixed_fee_id", ""),
    )
