"""Stale: work that should have been billed, matters that should be closed or billed, and fixed fees that wait.

Amounts are those of `wip` and `aging` by matter; a finding only says which of them to look at.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.activity import Activity, activity_of_matters, as_midnight
from billframes.analysis.aging import aging
from billframes.analysis.arguments import read_date, read_whole_number, resolve_users
from billframes.analysis.column_types import Frame
from billframes.analysis.engine import eager_from_arrow, from_arrow, join_by_id, sum_by, to_dicts
from billframes.analysis.expressions import RESIDUE, midnight, or_nan, value_at_rates
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.guards import skip_checks
from billframes.analysis.keys import UNASSIGNED
from billframes.analysis.metrics import Measure, shared_measures
from billframes.analysis.partial_frames import warn_of_partial_frames
from billframes.analysis.spec import Analysis, FromBook, TableSpec
from billframes.analysis.wip import wip
from billframes.config.firm import FirmSettings
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
"""What a row can be about, in the order of the rows."""

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
    "hours": pa.float64(),
    "effort_amount": pa.float64(),
    "last_work_date": pa.timestamp("us"),
    "last_invoice_date": pa.timestamp("us"),
}


def stale(
    time_entries: IntoFrameT,
    expenses: IntoFrameT | None,
    fixed_fees: IntoFrameT | None,
    invoices: IntoFrameT,
    matters: IntoFrameT,
    *,
    as_of: DateLike,
    wip_days: int = 90,
    idle_days: int = 180,
    users: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Old work in progress, archived matters with money open, matters where nothing happens, and open fixed fees.

    A row a finding, so a matter can have several, and rows of different findings don't add up: the same work can be
    old and on an archived matter. Within one finding they do.

    Parameters
    ----------
    time_entries, expenses, fixed_fees : frame
        All of them, as `wip` takes them, with `matter_id`; time with `fixed_fee_id`, and fees with theirs. None for
        expenses or fees is taken as none at all, with a warning.
    invoices : frame
        All of them, as `aging` takes them.
    matters : frame
        All of them, archived ones too, with `matter_id`, `name`, `archived`, `client_id`, `client_name`,
        `responsible_id` and `responsible_name`; `opened` is used if it is there.
    as_of : str or date
        The day to measure from.
    wip_days : int
        Work in progress older than so many days is old.
    idle_days : int
        A matter with neither work nor a final invoice for more than so many days is idle.
    users : frame, optional
        With `user_id` and `email`, for settings that name people by their e-mail address.
    settings : FirmSettings, optional
        `standard_rates`, for the effort on fixed fees.

    Returns
    -------
    frame
        Of the same kind as the input, by finding, largest amount first, then by name: `finding`, `matter_id`,
        `matter_name`, `client_id`, `client_name`, `responsible_id`, `responsible_name`, `fixed_fee_id`, `since`
        (datetime64), and as float64 `days_since` (`as_of` - `since`), `open_amount`, `hours`, `effort_amount`; then
        `last_work_date` and `last_invoice_date` of the matter, datetime64. The findings are

        - "old work in progress": `open_amount` is the matter's work in progress older than `wip_days`, as in `wip`;
          `since` is the date of the oldest
        - "archived with work in progress": `open_amount` is all of the archived matter's, `hours` its billable hours;
          `since` is the date of the oldest
        - "archived with receivables": `open_amount` is the matter's part of the open balances, as in `aging`; `since`
          is its last invoice
        - "no work or invoice": an open matter whose last work and last final invoice of more than 0 (if there is none,
          the day it was opened) are more than `idle_days` ago, which is `since`; `open_amount` is its work in progress
          and receivables
        - "open fixed fee": a fee dated up to `as_of` and not on a final invoice by then; `open_amount` is the fee,
          `since` its date, `hours` all time linked to it up to `as_of`, and `effort_amount` these hours at standard
          rates, missing without settings or if someone has none

    Raises
    ------
    ParameterError
        A limit is not a whole number above 0, a frame was loaded for too short a period, or frames are of different
        engines.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning, IncompleteDataWarning
        As in `wip` and `aging`; and rows were taken away from some of the frames after their load, or the invoices
        bill far more than the work passed.

    Notes ----- On lazy frames the sums by matter and fee, and the matters, are collected. The result is of the same
    kind as the input, also if that is lazy.

    Examples
    --------
    The Sale is archived with 600 of work since June on no invoice; nobody has touched the Lease since March:

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
    >>> result = stale(entries, none, none.assign(fixed_fee_id=[]), invoices, matters, as_of="2026-10-31")
    >>> result[["finding", "matter_name", "since", "open_amount"]]
                              finding matter_name      since  open_amount
    0            old work in progress        Sale 2026-06-01        600.0
    1  archived with work in progress        Sale 2026-06-01        600.0
    2              no work or invoice       Lease 2026-03-15          0.0
    """
    day = read_date(as_of, "as_of")
    for name, value in (("wip_days", wip_days), ("idle_days", idle_days)):
        read_whole_number(value, name, "days")
    natives: dict[str, Any] = {
        "time_entries": time_entries,
        "expenses": expenses,
        "fixed_fees": fixed_fees,
        "invoices": invoices,
        "matters": matters,
        "users": users,
    }
    frames = from_native(**natives)
    resolved = resolve_users(settings, frames)
    with skip_checks(natives, frames):
        firm, fees = _asked(natives, frames, day, wip_days, resolved)
    given = {name: native for name, native in natives.items() if name != "users"}
    warn_of_partial_frames("stale", given, frames, "matters can look idle that are not, and amounts are of a part only")
    rows = [*firm.old_work(), *firm.archived(), *firm.idle(idle_days), *firm.open_fees(fees)]
    table = pa.Table.from_pylist(sorted(rows, key=_place), pa.schema(_SCHEMA))
    return cast("IntoFrameT", to_native(eager_from_arrow(frames["time_entries"], table), time_entries))


@dataclass(slots=True)
class _Open:
    """What is open on a matter; an amount that is not known is NaN."""

    total: float = 0.0
    old: float = 0.0
    hours: float = 0.0
    oldest: dt.datetime | None = None

    def add(self, row: Mapping[str, Any], old: str) -> None:
        """Add a row of `wip`."""
        self.total += or_nan(row["total"])
        self.old += or_nan(row[old])
        self.hours += or_nan(row["hours"])
        self.oldest = min([each for each in (self.oldest, row["oldest_date"]) if each is not None], default=None)


_NOTHING = _Open()


@dataclass(frozen=True, slots=True)
class _Fee:
    """An open fixed fee."""

    id: str
    matter: str | None
    amount: float
    date: dt.datetime | None
    effort: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class _Firm:
    """What is open and when it last moved, by the matter's id."""

    day: dt.date
    matters: Mapping[str, Mapping[str, Any]]
    work: Mapping[str | None, _Open]
    debts: Mapping[str | None, float]
    activity: Mapping[str, Activity]

    def row(self, finding: str, matter: str | None, since: dt.datetime | None, amount: float, **more: Any) -> _Row:
        """Return a row of the result."""
        known = self.matters.get(matter or "", {})
        active = self.activity.get(matter or "", Activity())
        return {
            "finding": finding,
            "matter_id": matter,
            "matter_name": known.get("name") or matter or UNASSIGNED,
            **{name: known.get(name) for name in ("client_id", "responsible_id")},
            **{name: known.get(name) or UNASSIGNED for name in ("client_name", "responsible_name")},
            "since": since,
            "days_since": None if since is None else float((midnight(self.day) - since).days),
            "open_amount": None if math.isnan(amount) else amount,
            "last_work_date": active.work,
            "last_invoice_date": active.invoice,
            **more,
        }

    def old_work(self) -> Iterator[_Row]:
        for matter, work in self.work.items():
            if _is_open(work.old):
                yield self.row(OLD, matter, work.oldest, work.old)

    def archived(self) -> Iterator[_Row]:
        for matter, known in self.matters.items():
            if known["archived"] is not True:
                continue
            work, debt = self.work.get(matter, _NOTHING), self.debts.get(matter, 0.0)
            if _is_open(work.total):
                yield self.row(ARCHIVED_WORK, matter, work.oldest, work.total, hours=work.hours)
            if _is_open(debt):
                yield self.row(ARCHIVED_DEBT, matter, self.activity.get(matter, Activity()).invoice, debt)

    def idle(self, limit: int) -> Iterator[_Row]:
        for matter, known in self.matters.items():
            since = self.activity.get(matter, Activity()).last or as_midnight(known.get("opened"))
            moved = since is not None and (midnight(self.day) - since).days <= limit
            if known["archived"] is not True and not moved:
                amount = self.work.get(matter, _NOTHING).total + self.debts.get(matter, 0.0)
                yield self.row(IDLE, matter, since, amount)

    def open_fees(self, fees: Iterable[_Fee]) -> Iterator[_Row]:
        for fee in fees:
            yield self.row(OPEN_FEE, fee.matter, fee.date, fee.amount, fixed_fee_id=fee.id, **fee.effort)


def _asked(natives: Mapping[str, Any], frames: Mapping[str, Frame], day: dt.date, limit: int,
           settings: FirmSettings) -> tuple[_Firm, list[_Fee]]:  # fmt: skip
    """Ask the other analyses, once each."""
    of_work = {name: natives[name] for name in ("time_entries", "expenses", "fixed_fees", "invoices", "matters")}
    waiting = wip(**of_work, as_of=day, by=["matter", "fixed_fee_id"], buckets=(limit,), settings=settings)
    owed = aging(**of_work, as_of=day, by="matter", buckets=(1,), settings=settings)
    old = f"{limit + 1}+"
    columns = ("matter_id", "fixed_fee_id", "total", old, "hours", "oldest_date", "fixed_fee_amount")
    parts = to_dicts(cast("Frame", nw.from_native(waiting)).select(*columns))
    debts = to_dicts(cast("Frame", nw.from_native(owed)).select("matter_id", "total"))
    work: dict[str | None, _Open] = {}
    for row in parts:
        work.setdefault(row["matter_id"], _Open()).add(row, old)
    firm = _Firm(
        day=day,
        matters=_matters(frames["matters"]),
        work=work,
        debts={row["matter_id"]: or_nan(row["total"]) for row in debts},
        activity=activity_of_matters(frames, day),
    )
    return firm, list(_fees(frames, parts, day, settings))


def _matters(matters: Frame) -> dict[str, dict[str, Any]]:
    columns = ("matter_id", "name", "archived", "client_id", "client_name", "responsible_id", "responsible_name")
    return {row["matter_id"]: row for row in to_dicts(select_columns(matters, "matters", columns, ("opened",)))}


def _fees(
    frames: Mapping[str, Frame], parts: Iterable[Mapping[str, Any]], day: dt.date, settings: FirmSettings
) -> Iterator[_Fee]:
    """List the open fees with the time linked to each; their amounts are those in `wip`."""
    open_ = {row["fixed_fee_id"]: row for row in parts if _is_open(or_nan(row["fixed_fee_amount"]))}
    if not open_ or "fixed_fees" not in frames:
        return
    ids = from_arrow(frames["fixed_fees"], pa.table({"fixed_fee_id": pa.array(list(open_), pa.string())}))
    fees = select_columns(frames["fixed_fees"], "fixed_fees", ("fixed_fee_id", "date"))
    linked = select_columns(frames["time_entries"], "time_entries", ("date", "user_id", "hours", "fixed_fee_id"))
    linked = join_by_id(linked, ids, "fixed_fee_id", "inner").filter(C("date") <= midnight(day))
    totals = sum_by(value_at_rates(linked, settings.standard_rates), ["fixed_fee_id"], ["hours", "_value", "_unrated"])
    efforts = {row["fixed_fee_id"]: row for row in to_dicts(totals)}
    for fee in to_dicts(join_by_id(fees, ids, "fixed_fee_id", "inner")):
        row = open_[fee["fixed_fee_id"]]
        done = efforts.get(fee["fixed_fee_id"], {"hours": 0.0, "_value": 0.0, "_unrated": 0.0})
        worth = done["_value"] if settings.standard_rates and not done["_unrated"] else None
        effort = {"hours": _known(done["hours"]), "effort_amount": worth}
        yield _Fee(fee["fixed_fee_id"], row["matter_id"], or_nan(row["fixed_fee_amount"]), fee["date"], effort)


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _is_open(amount: float) -> bool:
    """Return whether there is an amount, be it unknown."""
    return not abs(amount) <= RESIDUE


def _place(row: _Row) -> tuple[Any, ...]:
    amount = row["open_amount"]
    known = (amount is None, -(amount or 0.0))
    return (
        FINDINGS.index(row["finding"]),
        *known,
        row["matter_name"],
        row["matter_id"] or "",
        row.get("fixed_fee_id", ""),
    )


ANALYSIS = Analysis(
    name="stale",
    question="Which work waits too long, and which matters should be billed, closed or woken up?",
    summary=(
        "It lists old work in progress, and archived matters on which work or receivables are open. It also lists open "
        "matters where nothing happens, and fixed fees that are not invoiced, with the effort so far."
    ),
    example=(
        "The Sale is archived, and its 600 of work since June are on no invoice: that is old work, and work on an "
        "archived matter. The Lease had its last invoice in March and no work since, so it is idle."
    ),
    formula="a row a matter or fixed fee and finding; amounts as in work in progress and receivables by matter",
    left_out=(
        "Idle matters that are archived; open ones that were opened, worked on or invoiced within the limit.",
        "Work and fees dated after the day, and what is on a final invoice by then.",
    ),
    cannot_tell=(
        "Whether work waits for a reason, such as a contingency or a fee due at the end.",
        "Whether a matter was archived on the day: it is as loaded.",
        "What a fixed fee was planned to take: the billing system has no hours for it.",
    ),
    columns=(
        Measure("finding", "Finding", "text", "What the row is about."),
        Measure("since", "Since", "date", "The day from which the days count."),
        Measure("days_since", "Days since", "count", "Days from then on."),
        Measure("open_amount", "Open", "money", "What is open: work in progress, receivables or the fee."),
        *shared_measures("hours"),
        Measure("effort_amount", "Effort", "money", "Hours linked to the fixed fee at standard rates."),
        *shared_measures("last_work_date", "last_invoice_date"),
    ),
    table=TableSpec(
        title="Stale work and matters",
        without=("finding",),
        optional=("effort_amount",),
        brief=("days_since", "open_amount", "hours", "last_work_date"),
        keys=("finding", "matter_name", "client_name", "responsible_name"),
        adds_up=False,
    ),
    book=FromBook(first=""),
)
