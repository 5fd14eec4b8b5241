"""Work in progress: work that is not yet on a final invoice, by its age.

An invoice dated after the day counts as a draft bill on that day. Amounts and drafts are as loaded.
Time, expenses and fixed fees on contingency matters are beside it, in a column of their own: the fee depends on the
outcome, not on the value. Those on pro bono and internal matters count. Non-billable time does not, and of fixed-fee
time only the hours do, in a column of their own.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from itertools import pairwise

import narwhals.stable.v2 as nw

from billframes.analysis.data.arguments import bucket_names, read_date, read_matter_types
from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import C, midnight, null_column, value_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ITEMS, UNKNOWN, Frame
from billframes.analysis.declare.metrics import Measure, bucket_measures, retitled, shared_measures, sum_measure
from billframes.analysis.declare.spec import BUCKETS, Analysis, ChartSpec, TableSpec, TabSpec
from billframes.analysis.facts.work import is_of_types, is_of_unknown_matter_type, work
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.loads import need_open_on, note_later_day
from billframes.analysis.rules.open_work import has_any_amount, note_open_work, open_marks
from billframes.errors import MissingColumnError
from billframes.periods import DateLike

_BILLING = ("unbilled", "prebill", "unknown")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def wip(
    call: Call,
    *,
    as_of: DateLike,
    by: By = None,
    include_prebill: bool = True,
    buckets: Sequence[int] = (30, 60, 90),
    matter_types: Collection[str] | None = None,
) -> Frame:
    """
    Work in progress: time, expenses and fixed fees that are not on a final invoice, by age.

    Counts items dated on or before `as_of` and not on a final invoice dated on or before `as_of`. An item on a
    final invoice dated later was on a draft bill on that day. Billable time, expenses and fixed fees count at their
    `amount`. Of fixed-fee time only the hours count, in `fixed_fee_hours`, because the fee already has its value;
    non-billable time does not count. Nor does work on contingency matters, unless `matter_types` has them:
    `contingent_amount` is beside `total`. If neither the items nor `matters` have types, all work counts. Time of
    unknown billing type, and items on an invoice that was not passed or whose state is unknown, are also in
    `unknown_amount`. An entry without an amount is left out, and its hours are in `unpriced_hours`; if no entry has
    an amount, the amounts are missing.

    Pass all items and invoices, of any date: work can wait for years, and only its invoice shows that it was billed.

    Parameters
    ----------
    time_entries : frame
        With `date`, `billing_type`, `hours`, `amount` and `invoice_id`, and the columns that `by` needs.
    invoices : frame
        With `invoice_id`, `invoice_state` and `invoice_date`.
    include_prebill : bool
        Whether items on draft, review and approved invoices count. If False, only items on no invoice count.
    matter_types : collection of str, optional
        Types of matter that count; by default all except contingency. "Unknown" selects items on matters without a
        known type, and is included if all five types are given.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-09-30", "2026-08-01"]), "matter_id": ["m1", "m1", "m1"],
    ...     "billing_type": ["billable"] * 3, "hours": [1.0, 2.0, 3.0], "amount": [300.0, 600.0, 900.0],
    ...     "invoice_id": [None, "i2", "i1"],
    ... })
    >>> costs = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-31"]), "matter_id": ["m1"], "amount": [50.0], "invoice_id": [None]
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_state": ["final", "final"],
    ...     "invoice_date": pd.to_datetime(["2026-09-05", "2026-11-05"]),
    ... })
    >>> result = wip(entries, expenses=costs, fixed_fees=costs.head(0), invoices=invoices, as_of="2026-10-31")
    >>> result[["0-30", "31-60", "total", "unbilled_amount", "prebill_amount", "hours"]]
        0-30  31-60  total  unbilled_amount  prebill_amount  hours
    0  350.0  600.0  950.0            350.0           600.0    3.0
    """
    day, names, types = (
        call.day(read_date(as_of, "as_of")),
        bucket_names(buckets, 0),
        read_matter_types(matter_types),
    )
    subsets = dict.fromkeys(("user_id", "matter_id", "client_id"))
    need_open_on(call, ITEMS, day, subsets if include_prebill else subsets | {"billed": False})
    need_open_on(call, ("invoices",), day, dict.fromkeys(("client_id", "invoice_id")))
    note_later_day(call, day, call.settings)
    keys = Keys.of(call, by, [name for name in ITEMS if name in call])
    keys.require_ids(*ITEMS)
    for name in ITEMS:
        if name in call:
            call.require(name, "date")
    call.require("invoices", "invoice_state", "invoice_date")
    typed = _has_types(call)
    if types is not None and not typed:
        raise MissingColumnError("matter_types= needs matters= with 'matter_id' and 'matter_type' (loader matters()).")

    counted, contingent = is_of_types(types, ("contingency",)), C("matter_type") == "contingency"
    shown = counted | contingent
    # If only some types count, work of unknown type is noted.
    others = None if types is None or UNKNOWN in types else is_of_unknown_matter_type() & ~shown

    def select(*own: str, which: nw.Expr = shown) -> Frame:
        rows = call.fact(work, (*keys.own, *own), only=("time", "fixed_fee", "expense"))
        rows = rows.filter(_is_open(day, include_prebill) & which)
        rows = rows.with_columns(counted=counted, **_of_item(call))
        return rows.with_columns(oldest_date=nw.when(C("counted")).then(C("date")))

    rows = select() if others is None else select(which=shown | others)
    sums = [*_sums(names, day, buckets), *open_marks()]
    totals = keys.sum(rows, sums, date="date", least=("oldest_date",), ungrouped=others)
    note_open_work(call, keys, select, totals, types)
    unknown = {} if typed else {"contingent_amount": null_column(nw.Float64)}
    return keys.finish(totals, ANALYSIS.columns_with(names), **unknown)


def _has_types(call: Call) -> bool:
    """Tell whether types of matters are known."""
    of_items = any("matter_type" in call.columns(name) for name in ITEMS)
    return of_items or {"matter_id", "matter_type"} <= call.columns("matters")


def _is_open(day: dt.date, include_prebill: bool) -> nw.Expr:
    """
    Return whether an item was done by a day, can be charged, and was on no final invoice on that day.

    Without `include_prebill`, it must be on no invoice at all.
    """
    is_item = (C("kind") == "time") | (C("kind") == "expense") | (C("kind") == "fixed_fee")
    charged = ~(C("type") == "nonBillable").fill_null(False)
    if not include_prebill:
        return is_item & charged & (C("date") <= midnight(day)) & (C("state") == "unbilled")
    billed = C("is_final") & (C("invoice_date") <= midnight(day)).fill_null(False)
    return is_item & charged & (C("date") <= midnight(day)) & ~billed


def _of_item(call: Call) -> dict[str, nw.Expr]:
    """
    Return what an item counts with: time at its value, fixed-fee time at none, because its fee counts.

    The value of an entry without an amount is unknown if rates are hidden; if others show theirs, it is left out.
    """
    billable = C("is_billable") | C("is_untyped")
    unpriced = billable & ~C("is_priced") & (C("hours") != 0)
    no_amount = 0.0 if has_any_amount(call) else float("nan")
    of_time = nw.when(unpriced).then(nw.lit(no_amount)).otherwise(value_if(C("is_priced") & billable, "value"))
    unknown = C("is_untyped") | (C("state") == "unknown") | (C("state") == "lost")
    known = nw.when(C("state") == "unbilled").then(nw.lit("unbilled")).otherwise(nw.lit("prebill"))
    return {
        "charged": nw.when(C("kind") == "time").then(of_time).otherwise(C("amount")),
        "unpriced": unpriced,
        "billing": nw.when(unknown).then(nw.lit("unknown")).otherwise(known),
        "chargeable": billable,
    }


def _sums(names: Sequence[str], day: dt.date, bounds: Sequence[int]) -> list[Sum]:
    counted, time = C("counted"), C("kind") == "time"
    first = dt.date.min.toordinal()
    cuts = [midnight(dt.date.fromordinal(max(first, day.toordinal() - bound))) for bound in bounds]
    older = [C("date") < cut for cut in cuts]
    ages = [~older[0], *(low & ~high for low, high in pairwise(older)), older[-1]]
    return [
        *(Sum(name, "charged", counted & age) for name, age in zip(names, ages, strict=True)),
        Sum("total", "charged", counted),
        *(Sum(f"{each}_amount", "charged", counted & (C("billing") == each)) for each in _BILLING),
        Sum("time_amount", "charged", counted & time),
        Sum("expense_amount", "charged", counted & (C("kind") == "expense")),
        Sum("fixed_fee_amount", "charged", counted & (C("kind") == "fixed_fee")),
        Sum("hours", "hours", counted & C("chargeable")),
        Sum("fixed_fee_hours", "hours", counted & time & ~C("chargeable")),
        Sum("unpriced_hours", "hours", C("unpriced")),
        Sum("contingent_amount", "charged", ~counted),
    ]


ANALYSIS = Analysis(
    function=wip,
    short=("wip_amount", "wip", "work_in_progress"),
    question="How much work is done and not yet invoiced, and how old is it?",
    summary=(
        "It adds up the value of the work that is not on a final invoice yet, by the days since it was done. Work on "
        "draft, review and approved invoices counts, and is shown as “on draft bills”."
    ),
    example=(
        "On 31 October, work of 1 October worth 300 and expenses of 50 are on no invoice. Work of September "
        "worth 600 is on an invoice of November, which was a draft bill on that day. The total is 950."
    ),
    formula="value of time + expenses + fixed fees up to a day, less the items on final invoices up to that day",
    left_out=(
        "Work on contingency matters, whose fee does not depend on its value: it is in `contingent_amount`, "
        "unless `matter_types=` counts it.",
        "Non-billable time.",
        "The value of fixed-fee time, because the fixed fee counts. Its hours are in `fixed_fee_hours`.",
        "Items dated after the day, and items on a final invoice dated on or before the day.",
        "With `include_prebill=False`, items on any invoice; with `matter_types`, matters of other types.",
        "The value of entries without an amount: their hours are in `unpriced_hours`.",
        "Unused credits of clients, which are deducted from receivables in `aging`.",
    ),
    cannot_tell=(
        "The amount that will be billed: work is shown at its value.",
        "Which work is on contingency, without `matters`: all of it counts, and `contingent_amount` is missing.",
        "How the work looked on a past day: entries may have been changed, deleted or added since then.",
    ),
    own=("matter_types",),
    arguments={"by": "Months are those of the items' dates.", "settings": "Used are `originator_weights` and `roles`."},
    columns=(
        *bucket_measures("0-30", "31-60", "61-90", "91+", of="work in progress"),
        *shared_measures("total", "unbilled_amount", "prebill_amount", "unknown_amount"),
        retitled("time_amount", "Time in progress", "The part of work in progress that is time."),
        retitled("expense_amount", "Expenses in progress", "The part of work in progress that is expenses."),
        retitled("fixed_fee_amount", "Fixed fees in progress", "The part of work in progress that is fixed fees."),
        retitled("hours", "Hours in progress", "Hours of the billable time in progress."),
        retitled("fixed_fee_hours", "Fixed-fee hours in progress", "Hours of the time under fixed fees in progress."),
        Measure("oldest_date", "Oldest", "date", "Date of the oldest item."),
        sum_measure(
            "unpriced_hours",
            "Hours without amount",
            "hours",
            "Billable hours of entries without an amount; no amount includes them.",
        ),
        *shared_measures("contingent_amount"),
    ),
    table=TableSpec(
        title="Work in progress by age",
        columns=(
            *(BUCKETS, "total", "unbilled_amount", "prebill_amount", "unknown_amount", "contingent_amount", "hours"),
            *("unpriced_hours", "oldest_date"),
        ),
        optional=("unknown_amount", "contingent_amount", "unpriced_hours"),
        brief=(BUCKETS, "total", "unbilled_amount", "prebill_amount", "contingent_amount"),
        if_any=("contingent_amount",),
    ),
    chart=ChartSpec(
        kind="ages",
        title="Work in progress",
        columns=(),
        words=["{total}"],
        age=("days since the work",),
        shows="one column per bucket; for several rows, one bar per row, divided into buckets.",
        more="Older amounts are darker. Negative amounts are to the left of zero. The text beside a bar is its total.",
    ),
    records="item",
    tab=TabSpec(
        place=4,
        title="Work in progress",
        by=("client", "user", "practice_area", "responsible", "matter"),
        tiles=("total", "unbilled_amount", "prebill_amount", "91+", "contingent_amount"),
        order="total",
        opens="total",
        filters="items",
        note="A filter on a field that expenses and fixed fees do not have, such as billing type, leaves them out.",
    ),
)
