"""Work in progress: what is done and not yet on a final invoice, and how long it has been waiting.

States are those of a day: a final invoice dated after that day was not final then, so the work on it was prebill.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.arguments import bucket_names, read_date, read_matter_types
from billframes.analysis.column_types import ITEMS, column_names
from billframes.analysis.coverage import need_open_on, warn_of_later_day
from billframes.analysis.frames import from_native, to_native
from billframes.analysis.grouping import Grouping
from billframes.analysis.guards import called_by_another
from billframes.analysis.keys import By
from billframes.analysis.metrics import Measure, bucket_measures, shared_measures, sum_measure
from billframes.analysis.open_items import Options, open_items
from billframes.analysis.spec import BUCKETS, Analysis, ChartSpec, RecordsSpec, TableSpec, TabSpec
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError
from billframes.loading.load_info import load_info
from billframes.periods import DateLike

__all__ = ["ANALYSIS", "wip"]


def wip(
    time_entries: IntoFrameT,
    expenses: IntoFrameT | None,
    fixed_fees: IntoFrameT | None,
    invoices: IntoFrameT,
    *,
    as_of: DateLike,
    by: By = None,
    include_prebill: bool = True,
    buckets: Sequence[int] = (30, 60, 90),
    matter_types: Collection[str] | None = None,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Work in progress: time, expenses and fixed fees that are on no final invoice, by age.

    Counts items dated on or before `as_of` and not on a final invoice dated on or before `as_of`. An item on a
    final invoice dated later was prebill on that day. Billable time counts at its `amount`, expenses and fixed
    fees at theirs. Fixed-fee time has hours and no worth of its own, because its fee carries it; non-billable time
    has neither. Matters of every type count by default; `contingent_amount` is the part on contingency matters.

    Pass wide frames: work can wait for years, and only its invoice, of whatever date, shows that it was billed.

    Parameters
    ----------
    time_entries : frame
        With `date`, `billing_type`, `hours`, `amount` and `invoice_id`, and what `by` needs.
    expenses, fixed_fees : frame
        With `date`, `amount` and `invoice_id`, and the ids that `by` needs. None is taken as none at all, with a
        warning: pass an empty frame to say that there are none. Those without a user are `Unassigned`.
    invoices : frame
        With `invoice_id`, `invoice_state` and `invoice_date`.
    as_of : str or date
        The day to measure from; items dated on it count.
    by : str or list of str, optional
        What to group by; None gives one row. Months are those of the items' dates.
    include_prebill : bool
        Whether items on draft, review and approved invoices count; without, only items on no invoice at all.
    buckets : sequence of int
        Upper bounds of the buckets in days since the item's date, rising; the last bucket has none.
    matter_types : collection of str, optional
        Types of matter that count. "Unknown" is what has no type, and is implied if all five types are named. All
        types by default.
    matters, users : frame, optional
        With `matter_id` or `user_id` and what `by` names.
    clients : frame, optional
        With `client_id` and what `by` names, such as custom fields (`client_cf_…`).
    settings : FirmSettings, optional
        `originator_weights` and `roles`.

    Returns
    -------
    frame
        Of the kind passed in, sorted by label: the keys and, as float64 money and hours,

        - `0-30`, `31-60`, `61-90`, `91+`: worth of the items by days since their date; `total`: all of them
        - `unbilled_amount`: on no invoice; `prebill_amount`: on a draft, review or approved invoice, or on a final
          one dated after `as_of`; `unknown_amount`: on an invoice that is not among those passed. They add up to
          `total`
        - `time_amount`, `expense_amount`, `fixed_fee_amount`: the same total by kind
        - `hours`: of billable time; `fixed_fee_hours`: of fixed-fee time
        - `oldest_date`: datetime64, the date of the oldest item, fixed-fee time among them; missing if there is
          none
        - `unpriced_hours`: hours of billable time without an amount, which `hours` includes and no amount does
        - `contingent_amount`: the part of `total` on contingency matters; missing if no frame tells matter types

        If no time entry shows an amount, rates are hidden: amounts with such time in them are missing; the others are
        known. If some show one, amounts are the known sum, without the entries that have no amount.

    Raises
    ------
    ParameterError
        An argument is unknown, or frames are of different engines.
    MissingColumnError
        A column is missing, or `matter_types` is given and no frame tells matter types.

    Warns
    -----
    RatesHiddenWarning
        No billable entry shows an amount.
    IncompleteDataWarning
        Some billable entries have no amount while others show theirs (names them), items name an invoice that was not
        passed, matter types are unknown although `matter_types` chooses among them, or no expenses or fixed fees were
        passed.

    Notes
    -----
    On lazy frames this runs two queries, one more to name an invoice that was not passed, and one more for each of
    `matters`, `users` and `clients` that `by` needs. One of them adds the rows up; the rest is done in memory, and
    the result is lazy again.

    Examples
    --------
    On 31 October the entry of the 1st is 30 days old. That of September is on an invoice of November, which was not
    final then; that of August is billed:

    >>> import pandas as pd
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
    >>> result = wip(entries, costs, costs.head(0), invoices, as_of="2026-10-31")
    >>> result[["0-30", "31-60", "total", "unbilled_amount", "prebill_amount", "hours"]]
        0-30  31-60  total  unbilled_amount  prebill_amount  hours
    0  350.0  600.0  950.0            350.0           600.0    3.0
    """
    day, names, types = read_date(as_of, "as_of"), bucket_names(buckets, 0), read_matter_types(matter_types)
    frames = from_native(
        time_entries=time_entries,
        expenses=expenses,
        fixed_fees=fixed_fees,
        invoices=invoices,
        matters=matters,
        users=users,
        clients=clients,
    )
    subsets = dict.fromkeys(("user_id", "matter_id", "client_id"))
    given = {"time_entries": time_entries, "expenses": expenses, "fixed_fees": fixed_fees}
    need_open_on("wip", given, day, subsets if include_prebill else subsets | {"billed": False})
    need_open_on("wip", {"invoices": invoices}, day, dict.fromkeys(("client_id", "invoice_id")))
    rows = frozenset().union(*[column_names(frames[name]) for name in ITEMS if name in frames])
    grouping = Grouping.of(by, frames, settings, rows, prefer_matters=True)
    warn_of_later_day("wip", time_entries, day, grouping.settings)
    if types is not None and grouping.type_key is None:
        raise MissingColumnError("matter_types= needs matters= with 'matter_id' and 'matter_type' (loader matters()).")
    known = called_by_another() or load_info(time_entries) is not None
    options = Options(day, tuple(buckets), tuple(names), grouping, include_prebill, types, known)
    return cast("IntoFrameT", to_native(open_items(frames, options), time_entries))


ANALYSIS = Analysis(
    name="wip",
    question="How much work is done and not yet invoiced, and how old is it?",
    summary=(
        "It adds up the work that is not on a final invoice yet, at its worth, by the days since it was done. "
        "Work on drafts counts and is shown as prebill."
    ),
    example=(
        "On 31 October, work of 1 October worth 300 and expenses of 50 are on no invoice. Work of September "
        "worth 600 is on an invoice of November, which was a prebill on that day. The total is 950."
    ),
    formula="worth of time + expenses + fixed fees up to a day, less what is on final invoices up to that day",
    left_out=(
        "Non-billable time.",
        "Fixed-fee time has hours (`fixed_fee_hours`) and no worth: its fee carries it.",
        "What is dated after the day, and what is on a final invoice dated on or before it.",
        "With `include_prebill=False`, what is on any invoice; with `matter_types`, matters of other types.",
        "The worth of entries without an amount: their hours are in `unpriced_hours`.",
    ),
    cannot_tell=(
        "What the work will be billed at: it is shown at its worth, on contingency matters (`contingent_amount`) too.",
        "Work of a past day that was since changed or deleted, or entered later: it is as loaded.",
    ),
    columns=(
        *bucket_measures("0-30", "31-60", "61-90", "91+"),
        *shared_measures(
            "total",
            "unbilled_amount",
            "prebill_amount",
            "unknown_amount",
            "time_amount",
            "expense_amount",
            "fixed_fee_amount",
            "hours",
            "fixed_fee_hours",
        ),
        Measure("oldest_date", "Oldest", "date", "Date of the oldest item."),
        sum_measure(
            "unpriced_hours",
            "Hours without amount",
            "hours",
            "Billable hours whose worth no amount shows; no money has them.",
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
        brief=(BUCKETS, "total", "unbilled_amount", "prebill_amount"),
    ),
    chart=ChartSpec(
        kind="ages",
        title="Work in progress",
        columns=(),
        words=["{total}"],
        age=("days since the work",),
        shows="a column a bucket, or for several rows a bar each, cut into buckets.",
        more="Older is darker, and what is negative lies to the left of zero. A bar's words are its total.",
        example={"0-30": [60.0], "31-60": [30.0], "61+": [10.0], "total": [100.0]},
        gives=(["60\n60.0%", "30\n30.0%", "10\n10.0%"], "Work in progress by days since the work"),
    ),
    records=RecordsSpec(
        frames=ITEMS,
        counted="total",
        date="date",
        shown=(
            *("date", "kind", "total", "hours", "user_name", "client_name", "matter_name", "invoice_state"),
            "description",
        ),
    ),
    tab=TabSpec(
        place=4,
        in_overview=True,
        title="Work in progress",
        by=("client", "user", "practice_area", "matter"),
        tiles=("total", "unbilled_amount", "prebill_amount", "91+"),
        order="total",
        filters="items",
        note="Expenses and fixed fees are not shown under filters that they have no value for, such as billing type.",
    ),
)
