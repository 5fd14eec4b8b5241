"""Stale: old work in progress, archived matters with open amounts, idle matters, and open fixed fees.

Amounts are calculated by `wip` and `aging`, grouped by matter. A finding shows which of them need attention. Work on
contingency matters is beside the other amounts: it waits for the outcome.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.activity import Activity, activity_of_matters, as_midnight
from billframes.analysis.aging import aging
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.metrics import Measure, shared_measures
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec
from billframes.analysis.frames.engine import eager_from_arrow, ids_frame, join_by_id, sum_by, to_dicts
from billframes.analysis.frames.expressions import RESIDUE, midnight, or_nan, value_at_rates
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.arguments import MATTER_TYPES, read_date, read_whole_number, resolve_users
from billframes.analysis.model.keys import UNASSIGNED
from billframes.analysis.model.missing_work import note_matters_not_passed, note_partial_frames
from billframes.analysis.rules.cut_frames import note_cut_frames
from billframes.analysis.wip import wip
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import load_info
from billframes.periods import DateLike

__all__ = ["ANALYSIS", "FINDINGS", "stale"]

C = nw.col

OLD, ARCHIVED_WORK, ARCHIVED_DEBT, IDLE, OPEN_FEE = FINDINGS = (
    "old work in progress",
    "archived with work in progress",
    "archived with receivables",
    "no work or invoice",
    "open fixed fee",
)
"""The kinds of finding, in the order of the rows."""

_Row = dict[str, Any]

_SCHEMA = {
    "finding": pa.string(),
    "matter_id": pa.string(),
    "matter_name": pa.string(),
    **dict.fromkeys(("client_id", "client_name", "responsible_id", "responsible_name"), pa.string()),
    "fixed_fee_id": pa.string(),
    "since": pa.timestamp("us"),
    "days_since": pa.float64(),
    "open_amount": pa.float64(),
    "contingent_amount": pa.float64(),
    "hours": pa.float64(),
    "effort_amount": pa.float64(),
    "last_work_date": pa.timestamp("us"),
    "last_invoice_date": pa.timestamp("us"),
}


def stale(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT,
    users: IntoFrameT | None = None,
    as_of: DateLike,
    wip_days: int = 90,
    idle_days: int = 180,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Old work in progress, archived matters with open amounts, idle matters, and open fixed fees.

    The result has one row per finding, so a matter can have several rows. Rows of different findings don't add up: the
    same work can be old and on an archived matter. Rows of one finding do.

    Parameters
    ----------
    time_entries : frame
        All of them, with the columns that `wip` needs and `matter_id`; time entries and fixed fees also with
        `fixed_fee_id`. None for expenses or fees counts as no rows, with a warning.
    expenses, fixed_fees : frame, optional
        With None, no rows count, with a warning. If the firm has none, pass an empty frame.
    invoices : frame
        All of them, with the columns that `aging` needs.
    matters : frame
        All of them, archived ones included, with `matter_id`, `name`, `archived`, `client_id`, `client_name`,
        `responsible_id` and `responsible_name`; optionally with `opened`, and with `matter_type`, without which
        contingency matters are unknown and all work is in `open_amount`.
    users : frame, optional
        With `user_id` and `email`, for settings that name people by their e-mail address.
    as_of : str or date
        The day to measure from; what is dated on it counts.
    wip_days : int
        Work in progress is old if it is older than this number of days.
    idle_days : int
        A matter is idle if it was opened, worked on and invoiced for the last time more than this number of days ago.
    settings : FirmSettings, optional
        The firm's settings. `standard_rates`: for the effort on fixed fees.

    Returns
    -------
    frame
        Of the same kind as the input, by finding, largest amount first, then by name: `finding`, `matter_id`,
        `matter_name`, `client_id`, `client_name`, `responsible_id`, `responsible_name`, `fixed_fee_id`, `since`
        (datetime64), and as float64 `days_since` (`as_of` - `since`), `open_amount`, `contingent_amount`, `hours`,
        `effort_amount`; then `last_work_date` and `last_invoice_date` of the matter, datetime64. Work on contingency
        matters is in `contingent_amount`, all other amounts in `open_amount`. The findings are

        - "old work in progress": the amount is the matter's work in progress older than `wip_days`, as in `wip`;
          `since` is the date of its oldest item
        - "archived with work in progress": the amount is all work in progress of an archived matter, `hours` its
          billable hours; `since` is the date of its oldest item
        - "archived with receivables": `open_amount` is an archived matter's part of the open balances, as in `aging`,
          unused credits included; `since` is the date of its last invoice
        - "no work or invoice": the matter is not archived, and its last day is more than `idle_days` ago. `since` is
          this day: the latest of the day it was opened, its last work and its last final invoice of more than 0.
          The amounts are its work in progress and receivables. A matter without any of these days is left out
        - "open fixed fee": a fee dated up to `as_of` and not on a final invoice by then. The amount is the fee,
          `since` its date, `hours` all hours linked to it up to `as_of`, and `effort_amount` these hours at standard
          rates, which is missing without standard rates or if a person has no rate

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid.

    Warns
    -----
    RatesHiddenWarning, IncompleteDataWarning
        The notes of the result say what was seen, how much, and what to do.

    Examples
    --------
    The matter "Sale" is archived, and its work of June worth 600 is on no invoice. The matter "Lease" has had no work
    and no invoice since March:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-06-01", "2026-03-01"]), "user_id": ["u1", "u1"], "client_id": ["c1", "c1"],
    ...     "matter_id": ["m1", "m2"], "hours": [2.0, 1.0], "billing_type": ["billable", "billable"],
    ...     "amount": [600.0, 300.0], "invoice_id": [None, "i1"], "fixed_fee_id": [None, None],
    ... })
    >>> none = pd.DataFrame({"date": pd.to_datetime([]), "matter_id": [], "amount": [], "invoice_id": []})
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-03-15"]), "invoice_state": ["final"],
    ...     "due_date": pd.to_datetime(["2026-04-15"]), "amount": [300.0], "balance": [0.0],
    ... })
    >>> matters = pd.DataFrame({
    ...     "matter_id": ["m1", "m2"], "name": ["Sale", "Lease"], "archived": [True, False], "client_id": ["c1", "c1"],
    ...     "client_name": ["Acme", "Acme"], "responsible_id": ["u1", "u1"], "responsible_name": ["Ada", "Ada"],
    ... })
    >>> result = stale(
    ...     entries, expenses=none, fixed_fees=none.assign(fixed_fee_id=[]), invoices=invoices, matters=matters,
    ...     as_of="2026-10-31",
    ... )
    >>> result[["finding", "matter_name", "since", "open_amount"]]
                              finding matter_name      since  open_amount
    0            old work in progress        Sale 2026-06-01        600.0
    1  archived with work in progress        Sale 2026-06-01        600.0
    2              no work or invoice       Lease 2026-03-15          0.0
    """
    day = read_date(as_of, "as_of")
    for name, value in (("wip_days", wip_days), ("idle_days", idle_days)):
        read_whole_number(value, name, "days")
    frames = Frames.of(
        time_entries=time_entries,
        expenses=expenses,
        fixed_fees=fixed_fees,
        invoices=invoices,
        matters=matters,
        users=users,
    )
    resolved = resolve_users(settings, frames)
    findings, open_work = _findings(frames, day, wip_days, resolved)
    note_cut_frames("stale", frames, day, "their open amounts and their days are not counted")
    note_partial_frames(
        "stale", frames, "matters can wrongly look idle, and amounts are incomplete", settings, "matters"
    )
    if load_info(frames.natives["matters"]) is None:
        consequence = "it is unknown whether they are archived or idle"
        note_matters_not_passed("stale", frames, findings.activity, findings.matters, consequence)
    rows = [*findings.old_work(), *findings.archived(), *findings.idle(idle_days)]
    rows += [findings.row(OPEN_FEE, **fee) for fee in _open_fees(frames, open_work, day, resolved)]
    table = pa.Table.from_pylist(sorted(rows, key=_sort_key), pa.schema(_SCHEMA))
    return frames.to_native(eager_from_arrow(frames["time_entries"], table), time_entries, as_of=day)


_NO_WORK: _Row = {"total": 0.0, "old": 0.0, "hours": 0.0, "oldest_date": None}


@dataclass(frozen=True, slots=True)
class _Findings:
    """
    The open amounts and the last activity of each matter, by its id, and the findings they lead to.

    Unknown amounts are NaN.
    """

    day: dt.date
    matters: Mapping[str, _Row]
    work: Mapping[str | None, _Row]
    receivables: Mapping[str | None, float]
    activity: Mapping[str, Activity]

    def row(
        self,
        finding: str,
        matter_id: str | None,
        since: dt.datetime | None,
        work: float = 0.0,
        receivables: float = 0.0,
        **more: Any,
    ) -> _Row:
        """Return a row of the result."""
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

    def old_work(self) -> Iterator[_Row]:
        for matter_id, work in self.work.items():
            if _is_open(work["old"]):
                yield self.row(OLD, matter_id, work["oldest_date"], work["old"])

    def archived(self) -> Iterator[_Row]:
        for matter_id, matter in self.matters.items():
            if matter["archived"] is not True:
                continue
            work, receivables = self.work.get(matter_id, _NO_WORK), self.receivables.get(matter_id, 0.0)
            if _is_open(work["total"]):
                yield self.row(ARCHIVED_WORK, matter_id, work["oldest_date"], work["total"], hours=work["hours"])
            if _is_open(receivables):
                last_invoice = self.activity.get(matter_id, Activity()).invoice
                yield self.row(ARCHIVED_DEBT, matter_id, last_invoice, receivables=receivables)

    def idle(self, limit: int) -> Iterator[_Row]:
        for matter_id, matter in self.matters.items():
            days = [self.activity.get(matter_id, Activity()).last, as_midnight(matter.get("opened"))]
            since = max((each for each in days if each is not None), default=None)
            # A matter without any day is not idle: nothing is known of it.
            is_idle = since is not None and (midnight(self.day) - since).days > limit
            if matter["archived"] is not True and is_idle:
                work = self.work.get(matter_id, _NO_WORK)["total"]
                yield self.row(IDLE, matter_id, since, work, self.receivables.get(matter_id, 0.0))


def _findings(frames: Frames, day: dt.date, limit: int, settings: FirmSettings) -> tuple[_Findings, Frame]:
    """Collect the open amounts and the activity of matters; also return the work in progress by fixed fee."""
    by_fee = _work_by_fee(frames, day, limit, settings)
    balances = frames.call(aging, as_of=day, by="matter", buckets=(1,), settings=settings)
    work = by_fee.group_by("matter_id").agg(C("total", "old", "hours").sum(), C("oldest_date").min())
    findings = _Findings(
        day=day,
        matters=_matters(frames),
        work={row["matter_id"]: row for row in to_dicts(work)},
        receivables={row["matter_id"]: or_nan(row["total"]) for row in to_dicts(balances)},
        activity=activity_of_matters(frames, day),
    )
    return findings, by_fee


def _work_by_fee(frames: Frames, day: dt.date, limit: int, settings: FirmSettings) -> Frame:
    """Return the work in progress by matter and fixed fee, that of contingency matters included."""
    types = MATTER_TYPES if "matter_type" in column_names(frames["matters"]) else None
    by, buckets = ["matter", "fixed_fee_id"], (limit,)
    rows = frames.call(wip, as_of=day, by=by, buckets=buckets, matter_types=types, settings=settings)
    names = ("total", "hours", "fixed_fee_amount")
    work = rows.select("matter_id", "fixed_fee_id", *names, "oldest_date", old=C(f"{limit + 1}+"))
    return work.filter(~C("oldest_date").is_null()).with_columns(C(*names, "old").fill_null(math.nan))


def _matters(frames: Frames) -> dict[str, dict[str, Any]]:
    columns = ("matter_id", "name", "archived", "client_id", "client_name", "responsible_id", "responsible_name")
    return {row["matter_id"]: row for row in to_dicts(frames.select("matters", columns, ("opened", "matter_type")))}


def _open_fees(frames: Frames, work: Frame, day: dt.date, settings: FirmSettings) -> Iterator[_Row]:
    """List the open fees, with their amounts in `wip` and the time linked to each."""
    rows = to_dicts(work.select("matter_id", "fixed_fee_id", "fixed_fee_amount"))
    open_ = {row["fixed_fee_id"]: row for row in rows if _is_open(row["fixed_fee_amount"])}
    if not open_ or "fixed_fees" not in frames:
        return
    ids = ids_frame(frames["fixed_fees"], "fixed_fee_id", open_)
    fees = frames.select("fixed_fees", ("fixed_fee_id", "date"))
    linked = frames.select("time_entries", ("date", "user_id", "hours", "fixed_fee_id"))
    linked = join_by_id(linked, ids, "fixed_fee_id", "inner").filter(C("date") <= midnight(day))
    totals = sum_by(value_at_rates(linked, settings.standard_rates), ["fixed_fee_id"], ["hours", "_value", "_unrated"])
    efforts = {row["fixed_fee_id"]: row for row in to_dicts(totals)}
    for fee in to_dicts(join_by_id(fees, ids, "fixed_fee_id", "inner")):
        id_ = fee["fixed_fee_id"]
        done = efforts.get(id_, {"hours": 0.0, "_value": 0.0, "_unrated": 0.0})
        yield {
            "fixed_fee_id": id_,
            "matter_id": open_[id_]["matter_id"],
            "since": fee["date"],
            "work": open_[id_]["fixed_fee_amount"],
            "hours": done["hours"],
            "effort_amount": done["_value"] if settings.standard_rates and not done["_unrated"] else None,
        }


def _is_open(amount: float) -> bool:
    """Return whether an amount is not 0; an unknown amount (NaN) is open."""
    return not abs(amount) <= RESIDUE


def _sort_key(row: _Row) -> tuple[Any, ...]:
    amount = row["open_amount"]
    return (
        FINDINGS.index(row["finding"]),
        amount is None,
        -(amount or 0.0),
        -(row["contingent_amount"] or 0.0),
        row["matter_name"],
        row["matter_id"] or "",
        row.get("fixed_fee_id", ""),
    )


ANALYSIS = Analysis(
    name="stale",
    question="Which work waits too long, and which matters should be billed, closed or resumed?",
    summary=(
        "It lists old work in progress, and archived matters with work in progress or receivables. It also lists "
        "matters without recent work or invoices, and fixed fees that are not invoiced yet."
    ),
    example=(
        'The matter "Sale" is archived, and its work of June worth 600 is on no invoice. This gives two findings: old '
        'work, and work on an archived matter. The matter "Lease" had its last work and invoice in March: it is idle.'
    ),
    formula=("one row per finding and matter or fixed fee; amounts as in work in progress and receivables by matter"),
    left_out=(
        "Archived matters are not listed as idle. Neither are matters that were opened, worked on or invoiced within "
        "the limit, nor matters without any date, work or invoice.",
        "Work and fees dated after the day, and items on a final invoice dated on or before the day.",
    ),
    cannot_tell=(
        "Whether work waits for a reason, such as a fee due at the end.",
        "Whether a matter was already archived on the day: the status is as loaded.",
        "The hours planned for a fixed fee: they are not in the billing system.",
    ),
    own=("users", "returns"),
    arguments={"settings": "`standard_rates`: for the effort on fixed fees."},
    columns=(
        Measure("finding", "Finding", "text", "The reason for the row, such as old work in progress."),
        Measure("since", "Waiting since", "date", "The day from which the days count."),
        Measure("days_since", "Days waiting", "count", "Days from that day to the day of the report."),
        Measure(
            "open_amount",
            "Open amount",
            "money",
            "The work in progress, the receivables or the fixed fee of the finding, without work on contingency.",
        ),
        *shared_measures("contingent_amount", "hours"),
        Measure("effort_amount", "Value of hours", "money", "Hours linked to the fixed fee, at standard rates."),
        *shared_measures("last_work_date", "last_invoice_date"),
    ),
    table=TableSpec(
        title="Stale work and matters",
        without=("finding",),
        optional=("effort_amount",),
        brief=("days_since", "open_amount", "contingent_amount", "hours", "last_work_date"),
        if_any=("contingent_amount",),
        keys=("finding", "matter_name", "client_name", "responsible_name"),
        adds_up=False,
    ),
    book=FromBook(first=""),
)
