"""Work in progress: work that is not yet on a final invoice, by its age.

Billing states are those on a day: an invoice dated after that day was not final then, so its work was on a draft bill.
Work on contingency matters is beside it, in a column of its own: its fee depends on the outcome, not on its value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.declare.metrics import Measure, bucket_measures, retitled, shared_measures, sum_measure
from billframes.analysis.declare.spec import BUCKETS, Analysis, ChartSpec, RecordsSpec, TableSpec, TabSpec
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.arguments import bucket_names, read_date, read_matter_types
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By
from billframes.analysis.model.open_work import WipOptions, open_items
from billframes.analysis.rules.cut_frames import note_cut_frames
from billframes.analysis.rules.loads import need_open_on, note_later_day
from billframes.config.firm import FirmSettings
from billframes.errors import MissingColumnError
from billframes.loading.load_info import load_info
from billframes.periods import DateLike


def wip(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    as_of: DateLike,
    by: By = None,
    include_prebill: bool = True,
    buckets: Sequence[int] = (30, 60, 90),
    matter_types: Collection[str] | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Work in progress: time, expenses and fixed fees that are not on a final invoice, by age.

    Counts items dated on or before `as_of` and not on a final invoice dated on or before `as_of`. An item on a
    final invoice dated later was on a draft bill on that day. Billable time, expenses and fixed fees count at their
    `amount`. Of fixed-fee time only the hours count, because the fee already has its value; non-billable time does not
    count. Nor does work on contingency matters, unless `matter_types` has them: `contingent_amount` is beside `total`.
    Without `matters`, types are unknown and all work counts.

    Pass all items and invoices, of any date: work can wait for years, and only its invoice shows that it was billed.

    Parameters
    ----------
    time_entries : frame
        With `date`, `billing_type`, `hours`, `amount` and `invoice_id`, and the columns that `by` needs.
    expenses, fixed_fees : frame, optional
        With None, no rows count, with a warning. If the firm has none, pass an empty frame.
    invoices : frame
        With `invoice_id`, `invoice_state` and `invoice_date`.
    matters, users, clients : frame, optional
        For the columns that `by` names, matter types and roles.
    as_of : str or date
        The day to measure from; what is dated on it counts.
    by : str or list of str, optional
        Keys to group by; None gives one row. Months are those of the items' dates.
    include_prebill : bool
        Whether items on draft, review and approved invoices count. If False, only items on no invoice count.
    buckets : sequence of int
        Upper bounds of the buckets in days, rising; the last bucket has no upper bound.
    matter_types : collection of str, optional
        Types of matter that count; by default all except contingency. "Unknown" selects items on matters without a
        known type, and is included if all five types are given.
    settings : FirmSettings, optional
        The firm's settings. Used are `originator_weights` and `roles`.

    Returns
    -------
    frame
        Of the kind of the input, sorted by label: the keys, then `0-30`, `31-60`, `61-90`, `91+`, `total`,
        `unbilled_amount`, `prebill_amount`, `unknown_amount`, `time_amount`, `expense_amount`, `fixed_fee_amount`,
        `hours`, `fixed_fee_hours`, `oldest_date`, `unpriced_hours`, `contingent_amount`. `bf.explain("wip")` says what
        each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    On 31 October the entry of 1 October is 30 days old. The entry of September is on an invoice of November, which
    was not final on that day. The entry of August is billed:

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
    >>> result = wip(entries, expenses=costs, fixed_fees=costs.head(0), invoices=invoices, as_of="2026-10-31")
    >>> result[["0-30", "31-60", "total", "unbilled_amount", "prebill_amount", "hours"]]
        0-30  31-60  total  unbilled_amount  prebill_amount  hours
    0  350.0  600.0  950.0            350.0           600.0    3.0
    """
    day, names, types = read_date(as_of, "as_of"), bucket_names(buckets, 0), read_matter_types(matter_types)
    frames = Frames.of("wip", locals())
    subsets = dict.fromkeys(("user_id", "matter_id", "client_id"))
    need_open_on(frames, ITEMS, day, subsets if include_prebill else subsets | {"billed": False})
    need_open_on(frames, ("invoices",), day, dict.fromkeys(("client_id", "invoice_id")))
    grouping = Grouping.of_items(by, frames, settings)
    note_later_day(frames, day, grouping.settings)
    if types is not None and grouping.type_key is None:
        raise MissingColumnError("matter_types= needs matters= with 'matter_id' and 'matter_type' (loader matters()).")
    note_cut_frames(frames, day, "their open amounts are not counted")
    load_known = frames.is_inner or load_info(frames.natives["time_entries"]) is not None
    columns = ANALYSIS.columns_with(names)
    options = WipOptions(day, tuple(buckets), tuple(names), grouping, include_prebill, types, load_known, columns)
    return frames.to_native(open_items(frames, options), time_entries, as_of=day)


ANALYSIS = Analysis(
    name="wip",
    short=("wip_amount", "work_in_progress"),
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
        "Work on contingency matters, whose fee does not depend on its value: it is in `contingent_amount`; "
        "`matter_types=` chooses which types count.",
        "Non-billable time.",
        "The value of fixed-fee time, because the fixed fee counts. Its hours are in `fixed_fee_hours`.",
        "Items dated after the day, and items on a final invoice dated on or before the day.",
        "With `include_prebill=False`, items on any invoice; with `matter_types`, matters of other types.",
        "The value of entries without an amount: their hours are in `unpriced_hours`.",
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
        by=("client", "user", "practice_area", "responsible", "matter"),
        tiles=("total", "unbilled_amount", "prebill_amount", "91+", "contingent_amount"),
        order="total",
        filters="items",
        note="A filter on a field that expenses and fixed fees do not have, such as billing type, leaves them out.",
    ),
)
