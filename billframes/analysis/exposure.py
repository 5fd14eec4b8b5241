"""Exposure: what the firm would lose with a client or a matter, in work not yet invoiced and in invoices not yet paid.

Work in progress and receivables are those of `wip` and `aging`, so no figure has a second definition. Beside them
stand the last day of work and of an invoice: an old balance of a client that is still served is another matter than
one of a client that nobody has worked for since spring.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.aging import aging
from billframes.analysis.arguments import read_date
from billframes.analysis.column_types import ITEMS, Frame, as_arrow, column_names
from billframes.analysis.engine import collect, join_by_id, lazy
from billframes.analysis.expressions import day_number, midnight
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.grouping import Grouping
from billframes.analysis.guards import skip_checks
from billframes.analysis.keys import TIMES, By, names_in
from billframes.analysis.metrics import Measure, bucket_measures, shared_measures, sum_measure
from billframes.analysis.open_balances import bucket_limits, invoice_grouping, needs_items
from billframes.analysis.partial_frames import warn_of_partial_frames
from billframes.analysis.spec import BUCKETS, Analysis, ChartSpec, FromBook, RecordsSpec, TableSpec, TabSpec
from billframes.analysis.wip import wip
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike

__all__ = ["ANALYSIS", "exposure"]

C = nw.col

_OF_WORK = {
    "unbilled_amount": "unbilled_amount",
    "prebill_amount": "prebill_amount",
    "unknown_amount": "unknown_amount",
    "total": "wip_amount",
    "contingent_amount": "contingent_amount",
}
_OF_BALANCES = {"total": "receivable_amount", "overdue": "overdue", "unknown_amount": "unknown_balance_amount"}
_DATES = ("last_work_date", "last_invoice_date")


def exposure(
    time_entries: IntoFrameT,
    expenses: IntoFrameT | None,
    fixed_fees: IntoFrameT | None,
    invoices: IntoFrameT,
    *,
    as_of: DateLike,
    by: By = "client",
    buckets: Sequence[int] = (30, 60, 90),
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Work in progress and receivables together, with the last day of work and of an invoice.

    Rows are those that have work in progress or a balance; their amounts are those of `wip` and `aging` with the same
    arguments. The last day of work is that of any time entry, non-billable ones too, and the last invoice a final one
    that bills something; both on or before `as_of`.

    Parameters
    ----------
    time_entries : frame
        With `date`, `billing_type`, `hours`, `amount` and `invoice_id`, and what `by` needs; all of them.
    expenses, fixed_fees : frame or None
        With `date`, `amount` and `invoice_id`, and the ids that `by` needs. None is taken as none at all, with a
        warning: pass an empty frame to say that there are none.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `due_date`, `amount`, `balance` and `client_id`.
    as_of : str or date
        The day to measure from; what is dated on it counts.
    by : str or list of str, optional
        What to group by, no months, quarters or years; None gives one row.
    buckets : sequence of int
        Upper bounds of the receivables' buckets in days past due, rising; the last bucket has none.
    matters, users : frame, optional
        With `matter_id` or `user_id` and what `by` names.
    clients : frame, optional
        With `client_id` and what `by` names, such as custom fields (`client_cf_…`).
    settings : FirmSettings, optional
        `originator_weights` and `roles`.

    Returns
    -------
    frame
        Of the kind passed in, sorted by label: the keys and, as float64 money,

        - `unbilled_amount`, `prebill_amount`: work in progress on no invoice, and on a prebill; `wip_amount`: all of
          it, with `unknown_amount`, which is on an invoice that was not passed
        - `current`, `1-30`, `31-60`, `61-90`, `91+`: open balances by days past due; `receivable_amount`: all of
          them; `overdue`: past due
        - `exposure_amount`: `wip_amount` + `receivable_amount`; missing if rates are hidden
        - `last_work_date`, `last_invoice_date`: datetime64; missing if there is none
        - `days_since_work`, `days_since_invoice`: days from these to `as_of`, float64
        - `contingent_amount`: the part of `wip_amount` on contingency matters, which waits for an outcome
        - `unknown_balance_amount`: balances of invoices whose state is unknown, which are in no other column

    Raises
    ------
    ParameterError
        `by` is unknown or a period, frames are of different engines, or were loaded for a part of the time.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning
        As in `wip` and `aging`: worth is missing, and receivables are known.
    IncompleteDataWarning
        As in `wip` and `aging`: among them, that `as_of` lies before the day of the load, so that later payments are
        already taken off; and rows were taken away from some of the frames after their load, or the invoices bill
        far more than the work passed.

    Notes
    -----
    On lazy frames this runs eight queries, and one more for each of `matters`, `users` and `clients` that `by`
    needs, for work, for balances and for last days. They add the rows up; the rest is done in memory, and the
    result is lazy again.

    Examples
    --------
    On 31 October, Acme has work worth 300 on no invoice, and owes 50 since 1 October; nobody has worked for Bolt since
    June, which owes 100:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-30", "2026-06-30", "2026-08-01"]), "client_id": ["c1", "c2", "c1"],
    ...     "client_name": ["Acme", "Bolt", "Acme"], "matter_id": ["m1", "m2", "m1"], "billing_type": ["billable"] * 3,
    ...     "hours": [1.0, 1.0, 0.2], "amount": [300.0, 100.0, 50.0], "invoice_id": [None, "i2", "i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_state": ["final"] * 2, "client_id": ["c1", "c2"],
    ...     "client_name": ["Acme", "Bolt"], "invoice_date": pd.to_datetime(["2026-09-01", "2026-07-01"]),
    ...     "due_date": pd.to_datetime(["2026-10-01", "2026-07-31"]), "amount": [50.0, 100.0],
    ...     "balance": [50.0, 100.0],
    ... })
    >>> none = pd.DataFrame({"date": pd.to_datetime([]), "client_id": [], "matter_id": [], "amount": [],
    ...                      "invoice_id": []})
    >>> result = exposure(entries, none, none, invoices, as_of="2026-10-31")
    >>> result[["client_name", "wip_amount", "overdue", "exposure_amount", "days_since_work"]]
      client_name  wip_amount  overdue  exposure_amount  days_since_work
    0        Acme       300.0     50.0            350.0              1.0
    1        Bolt         0.0    100.0            100.0            123.0
    """
    day, limits = read_date(as_of, "as_of"), bucket_limits(buckets, "due_date")
    _refuse_periods(by)
    natives: dict[str, Any] = {
        "time_entries": time_entries,
        "expenses": expenses,
        "fixed_fees": fixed_fees,
        "invoices": invoices,
        "matters": matters,
        "users": users,
        "clients": clients,
    }
    frames = from_native(**natives)
    rows = frozenset().union(*[column_names(frames[name]) for name in ITEMS if name in frames])
    grouping = Grouping.of(by, frames, settings, rows, prefer_matters=True)
    asked: dict[str, Any] = {"as_of": as_of, "by": by, "buckets": buckets, "settings": grouping.settings}
    with skip_checks(natives, frames):
        work = _open(wip(**natives, **asked), grouping, _OF_WORK)
        owed = _open(aging(**natives, **asked), grouping, _OF_BALANCES | {name: name for name in limits})
    warn_of_partial_frames("exposure", _of_both(natives), frames, "amounts and last days are those of a part only")
    parts = [work, owed, *_last_days(frames, grouping, invoice_grouping(by, frames, grouping.settings), day)]
    measures = (*_OF_WORK.values(), *_OF_BALANCES.values(), *limits, "_open")
    totals = grouping.combine(parts, measures, _DATES)
    totals = totals.filter(C("_open") > 0) if grouping.keys else totals
    return cast("IntoFrameT", to_native(_result(totals, grouping, [*limits], day), time_entries))


def _of_both(natives: dict[str, Any]) -> dict[str, Any]:
    return {name: natives[name] for name in (*ITEMS, "invoices")}


def _refuse_periods(by: By) -> None:
    names = names_in(by)
    for name in names:
        if name in TIMES:
            raise ParameterError(
                f"by={name!r}: exposure is that of one day, and work and invoices are of different {name}s. Give "
                "another as_of= for another day, or group wip() or aging() by it."
            )


def _open(result: Any, grouping: Grouping, renamed: dict[str, str]) -> Frame:
    """Take the columns of a finished result that count, under their names here."""
    rows = as_arrow(cast("Frame", nw.from_native(result)))
    columns = {name: C(old) for old, name in renamed.items()}
    return rows.select(*grouping.columns, **columns, _open=nw.lit(1.0))


def _last_days(frames: dict[str, Frame], grouping: Grouping, of_invoices: Grouping, day: dt.date) -> list[Frame]:
    """Return the last day of work by the keys, and the last day of an invoice."""
    final = _billing(frames["invoices"], of_invoices, day)
    itemized = needs_items(of_invoices)
    invoiced = {}
    worked = None
    for name in ITEMS:
        if name not in frames or not (itemized or name == "time_entries"):
            continue
        pairs = _pairs(frames[name], name, grouping, day, with_invoice=itemized)
        worked = pairs if name == "time_entries" else worked
        invoiced[name] = pairs
    parts = [] if worked is None else [_latest(worked, grouping, "last_work_date")]
    if not itemized:
        return [*parts, _latest(final, of_invoices, "last_invoice_date")]
    on_final = (join_by_id(each, final, "invoice_id", "inner") for each in invoiced.values())
    return [*parts, *(_latest(each, grouping, "last_invoice_date") for each in on_final)]


def _billing(invoices: Frame, grouping: Grouping, day: dt.date) -> Frame:
    """Select the final invoices up to the day that bill something."""
    columns = ("invoice_id", "invoice_state", "invoice_date", "amount")
    own = [] if needs_items(grouping) else grouping.row_columns
    rows = select_columns(invoices, "invoices", (*columns, *own))
    counted = (C("invoice_state") == "final") & (C("invoice_date") <= midnight(day)) & (C("amount") > 0)
    return rows.filter(counted).select("invoice_id", *own, last_invoice_date=C("invoice_date"))


def _pairs(items: Frame, name: str, grouping: Grouping, day: dt.date, *, with_invoice: bool) -> Frame:
    """Return the last day of items by what the keys derive from and, if asked for, their invoice."""
    own = ["invoice_id"] if with_invoice else []
    rows = grouping.select_items(lazy(items), name, ("date", *own))
    dated = nw.when(C("date") <= midnight(day)).then(C("date"))
    by = list(dict.fromkeys([*grouping.base, *own]))
    rows = rows.select(*by, last_work_date=dated)
    latest = rows.group_by(*by).agg(C("last_work_date").max()) if by else rows.select(C("last_work_date").max())
    return collect(latest, items)


def _latest(rows: Frame, grouping: Grouping, date: str) -> Frame:
    totals = grouping.add_up(rows.select(*grouping.base, date), (), greatest=(date,))
    return grouping.finish(totals, (date,))


def _result(totals: Frame, grouping: Grouping, limits: Sequence[str], day: dt.date) -> Frame:
    totals = totals.with_columns(
        exposure_amount=C("wip_amount") + C("receivable_amount"),
        **{
            f"days_since_{name}": float(day.toordinal()) - day_number(f"last_{name}_date")
            for name in ("work", "invoice")
        },
    )
    columns = (
        *("unbilled_amount", "prebill_amount", "wip_amount", *limits, "receivable_amount", "overdue"),
        *("exposure_amount", *_DATES, "days_since_work", "days_since_invoice"),
        *("contingent_amount", "unknown_amount", "unknown_balance_amount"),
    )
    return grouping.finish(totals, columns)


ANALYSIS = Analysis(
    name="exposure",
    question="What would we lose with this client, in work not invoiced and invoices not paid?",
    summary=(
        "It adds work in progress and receivables up for each client or matter. The days since the last work and the "
        "last invoice tell whether the firm still works for them."
    ),
    example=(
        "On 31 October, Acme has work worth 300 on no invoice and owes 50: 350. Bolt owes 100, and nobody has worked "
        "for it for 123 days."
    ),
    formula="`exposure_amount` = `wip_amount` + `receivable_amount`",
    numerator=(
        "The total of `wip` and the open balances of final invoices as in `aging`, both up to `as_of`. The last "
        "work is any time entry, the last invoice a final one of more than 0."
    ),
    left_out=(
        "Whoever has neither work in progress nor a balance.",
        "Balances of invoices whose state is unknown: `unknown_balance_amount`.",
        "Nothing else: work on contingency matters is in `wip_amount`, and `contingent_amount` tells how much; credits "
        "keep their sign.",
    ),
    cannot_tell=(
        "What the work will be billed at, and what of it will be paid: work counts at its worth at its rates.",
        "Past balances: they are as loaded. Money held in trust for the client.",
    ),
    columns=(
        *shared_measures("unbilled_amount", "prebill_amount", "wip_amount", "current"),
        *bucket_measures("1-30", "31-60", "61-90", "91+"),
        *shared_measures("receivable_amount", "overdue"),
        sum_measure("exposure_amount", "Exposure", "money", "Work in progress and receivables together."),
        *shared_measures("last_work_date", "last_invoice_date"),
        Measure("days_since_work", "Days since work", "count", "Days since the last time entry."),
        Measure("days_since_invoice", "Days since invoice", "count", "Days since the last invoice."),
        *shared_measures("contingent_amount", "unknown_amount"),
        sum_measure(
            "unknown_balance_amount",
            "Balances of unknown state",
            "money",
            "Balances of invoices whose state is missing or unknown; they are not in receivables.",
        ),
    ),
    table=TableSpec(
        title="Exposure",
        columns=(
            *("unbilled_amount", "prebill_amount", "wip_amount", "contingent_amount", "current", BUCKETS),
            *("receivable_amount", "exposure_amount", "days_since_work", "days_since_invoice"),
        ),
        brief=("wip_amount", "receivable_amount", "exposure_amount", "days_since_work", "days_since_invoice"),
    ),
    chart=ChartSpec(
        kind="stacks",
        title="Work in progress and receivables",
        columns=("unbilled_amount", "prebill_amount", "current", "overdue"),
        # Beside work in progress, "Current" alone would not say what is current.
        legend={"current": "Receivables, current"},
        words=["{exposure_amount}", "{receivable_amount} owed"],
        shows="unbilled work, prebills, current receivables and overdue ones.",
        more="The surer to be lost, the darker. A bar's words are the exposure; what is owed, if rates are hidden. "
        "Credits lie to the left of zero.",
        example={
            "client_name": ["Acme", "Bolt"],
            "unbilled_amount": [300.0, 0.0],
            "prebill_amount": [0.0, 0.0],
            "current": [0.0, 0.0],
            "overdue": [50.0, 100.0],
            "receivable_amount": [50.0, 100.0],
            "exposure_amount": [350.0, 100.0],
        },
        gives=(["350", "100"], "Work in progress and receivables by client"),
    ),
    book=FromBook(),
    records=RecordsSpec(
        frames=("matters",),
        counted="exposure_amount",
        date="last_work_date",
        shown=(
            *("name", "exposure_amount", "wip_amount", "receivable_amount", "overdue", "last_work_date"),
            *("last_invoice_date", "client_name", "responsible_name", "reference"),
        ),
    ),
    tab=TabSpec(
        place=5,
        title="Exposure",
        by=("client", "responsible", "practice_area", "matter"),
        tiles=("exposure_amount", "wip_amount", "receivable_amount", "overdue"),
        order="exposure_amount",
        filters="marked_matters",
        note="Filters on single entries, such as billing type, do not apply here.",
    ),
)
