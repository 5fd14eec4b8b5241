"""Work in progress: what is done and not yet on a final invoice, and how long it has been waiting.

Its states are those of a day: a final invoice dated after that day was no final invoice then, so what is on it was
prebill. Items are told apart by state and age first, and only these few sums are joined with matters and users.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._warn import warn
from billframes.analysis._billing import PREBILL
from billframes.analysis._checks import bucket_names, read_date, stamp
from billframes.analysis._explanation import Explanation
from billframes.analysis._frames import Frame, close, collect_row, flag, nothing, open_frames, take
from billframes.analysis._group import add_up, attach, base_of, finish, with_times
from billframes.analysis._keys import By, Key, Sources, find_keys
from billframes.analysis._people import settle
from billframes.errors import IncompleteDataWarning, RatesHiddenWarning
from billframes.periods import DateLike
from billframes.settings.firm import FirmSettings

__all__ = ["EXPLANATION", "wip"]

EXPLANATION = Explanation(
    name="wip",
    question="How much work is done and not yet invoiced, and how old is it?",
    formula="worth of time + expenses + fixed fees up to a day, less what is on final invoices up to that day",
    left_out=(
        "Non-billable time.",
        "Fixed-fee time has hours (`fixed_fee_hours`) and no worth: its fee carries it.",
        "What is dated after the day, and what is on a final invoice dated on or before it.",
        "With `include_prebill=False`, what is on any invoice.",
    ),
    cannot_tell=(
        "What the work will be billed at: it is shown at its worth.",
        "Work of a past day that was since changed or deleted, or entered later: it is as loaded.",
    ),
)

C = nw.col

_KINDS = ("time_entries", "expenses", "fixed_fees")
_IDS = frozenset({"user_id", "client_id", "matter_id"})
_ITEM = ("_time", "_expense", "_fee", "hours", "fixed_fee_hours", "_hidden", "_rows")
# Result columns that add up what is in one state.
_BY_STATE = {"unbilled_amount": "unbilled", "prebill_amount": "prebill", "unknown_amount": "unknown"}


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked, once the arguments are checked."""

    day: dt.date
    bounds: tuple[int, ...]
    buckets: tuple[str, ...]
    keys: tuple[Key, ...]
    include_prebill: bool

    @property
    def own(self) -> list[str]:
        """Columns of the items that the keys derive from."""
        return [name for name in base_of(self.keys) if not name.startswith("_")]

    @property
    def worths(self) -> tuple[str, ...]:
        """Result columns that time of unknown worth leaves missing."""
        return (*self.buckets, "total", *_BY_STATE, "time_amount")

    @property
    def measures(self) -> tuple[str, ...]:
        """All that is added up."""
        others = ("expense_amount", "fixed_fee_amount", "hours", "fixed_fee_hours")
        return (*self.worths, *others, *(f"_hidden_{name}" for name in self.worths))


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
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Work in progress: time, expenses and fixed fees that are on no final invoice, by age.

    Counts items dated on or before `as_of` and not on a final invoice dated on or before `as_of`. An item on a
    final invoice dated later was prebill on that day. Billable time counts at its `amount`, expenses and fixed
    fees at theirs. Fixed-fee time has hours and no worth of its own, because its fee carries it; non-billable time
    has neither. Matters of every type count.

    Pass wide frames: work waits for years, and is told from billed work by its invoice, whatever that one's date.

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
    matters, users : frame, optional
        With `matter_id` or `user_id` and what `by` names.
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
        - `oldest_date`: datetime64, the date of the oldest item, fixed-fee time among them; missing where there is
          none

        Where rates are hidden, amounts with such time in them are missing; the others are known.

    Raises
    ------
    ParameterError
        An argument is unknown, or frames are of different engines.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning
        Billable entries have no amount.
    IncompleteDataWarning
        Items name an invoice that was not passed, or no expenses or fixed fees were passed.
        On lazy frames this runs a small query (by originator two); the result stays lazy.

    Examples
    --------
    On 31 October the entry of the 1st is 30 days old. That of September is on an invoice of November, which was no
    final invoice then; that of August is billed:

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
    day, names = read_date(as_of, "as_of"), bucket_names(buckets, 0)
    frames = open_frames(
        time_entries=time_entries,
        expenses=expenses,
        fixed_fees=fixed_fees,
        invoices=invoices,
        matters=matters,
        users=users,
    )
    sources = _sources(frames, settle(settings, frames.get("users")))
    asked = _Question(day, tuple(buckets), tuple(names), find_keys(by, sources), include_prebill)
    items = _items(frames, asked)
    _warn_of_absent(frames)
    _warn(items)
    totals = attach(_measured(items, asked), asked.keys, sources, asked.measures, kept=("oldest_date",))
    return cast(
        "IntoFrameT", close(_result(add_up(totals, asked.keys, asked.measures, ("oldest_date",)), asked), time_entries)
    )


def _sources(frames: dict[str, Frame], settings: FirmSettings) -> Sources:
    columns = [frames[name].collect_schema().names() for name in _KINDS if name in frames]
    return Sources(frozenset().union(*columns), frames.get("matters"), frames.get("users"), settings)


def _items(frames: dict[str, Frame], asked: _Question) -> Frame:
    """Add up the open items of all kinds over what the keys derive from, their state, their bucket and their kind."""
    states = _states(frames["invoices"], asked.day)
    taken = {kind: _with_state(_dated(frames[kind], kind, asked), states, asked) for kind in _KINDS if kind in frames}
    schema = {name: dtype for rows in taken.values() for name, dtype in rows.collect_schema().items()}
    schema |= {"_fixed": nw.Float64(), "hours": nw.Float64()}
    columns = list(dict.fromkeys(["date", "amount", "_fixed", "hours", "_state", *asked.own]))
    parts = []
    for kind, rows in taken.items():
        there = rows.collect_schema()
        filled = [C(name) if name in there else nothing(schema[name]).alias(name) for name in columns]
        parts.append(rows.select(*filled, _kind=nw.lit(kind)))
    items = with_times(_in_buckets(_worth(nw.concat(parts)), asked), asked.keys, "date")
    by = [*base_of(asked.keys), "_state", "_bucket", "_kind"]
    return items.group_by(*by).agg(*[C(name).sum() for name in _ITEM], oldest_date=C("date").min())


def _dated(frame: Frame, kind: str, asked: _Question) -> Frame:
    """Take the items dated on or before the day; of time only what can be billed, by the hour or as a fixed fee."""
    columns = ["date", "amount", "invoice_id", *(name for name in asked.own if name in _IDS)]
    if kind == "time_entries":
        rows = _chargeable(take(frame, kind, [*columns, "hours", "billing_type"], asked.own))
    else:
        rows = take(frame, kind, columns, asked.own)
    return rows.filter(C("date") <= stamp(asked.day))


def _chargeable(entries: Frame) -> Frame:
    """Keep billable and fixed-fee time, and say which is which."""
    kind = C("billing_type")
    return entries.filter(kind.is_in(["billable", "fixedFee"])).with_columns(_fixed=flag(kind == "fixedFee"))


def _worth(items: Frame) -> Frame:
    """Put each item's amount and hours into the columns of its kind."""

    def only(condition: nw.Expr, value: nw.Expr) -> nw.Expr:
        return nw.when(condition).then(value).otherwise(nw.lit(0.0))

    time, amount = C("_kind") == "time_entries", C("amount").fill_null(0.0)
    billable, fixed = time & (C("_fixed") < 1), time & (C("_fixed") > 0)
    return items.with_columns(
        _time=only(billable, amount),
        _expense=only(C("_kind") == "expenses", amount),
        _fee=only(C("_kind") == "fixed_fees", amount),
        _hidden=flag(billable & C("amount").is_null() & (C("hours") != 0)),
        _rows=nw.lit(1.0),
        fixed_fee_hours=only(fixed, C("hours")),
        hours=only(billable, C("hours")),
    )


def _states(invoices: Frame, day: dt.date) -> Frame:
    """Tell what each invoice was on the day: 2 for final, 1 for prebill, 0 for a state that is not known."""
    heads = take(invoices, "invoices", ("invoice_id", "invoice_state", "invoice_date"))
    prebill = flag(C("invoice_state").is_in([*PREBILL, "final"]))
    final = flag((C("invoice_state") == "final") & (C("invoice_date") <= stamp(day)))
    return heads.unique(subset=["invoice_id"], keep="any").select("invoice_id", _then=prebill + final)


def _with_state(rows: Frame, states: Frame, asked: _Question) -> Frame:
    """Keep the items that were open on the day, and tell their state then."""
    if not asked.include_prebill:
        return rows.filter(C("invoice_id").is_null()).with_columns(_state=nw.lit("unbilled"))
    # Numbers until only few rows are left: a text for each of a million entries costs as much as the join.
    rows = rows.join(states, on="invoice_id", how="left").with_columns(C("_then").fill_null(0.0))
    invoiced = nw.when(C("_then") > 0).then(nw.lit("prebill")).otherwise(nw.lit("unknown"))
    state = nw.when(C("invoice_id").is_null()).then(nw.lit("unbilled")).otherwise(invoiced)
    return rows.filter(C("_then") < 2).with_columns(_state=state)


def _in_buckets(rows: Frame, asked: _Question) -> Frame:
    """Find the number of the bucket of each item's age: how many bounds it has passed."""
    first = dt.date.min.toordinal()
    cuts = [dt.date.fromordinal(max(first, asked.day.toordinal() - bound)) for bound in asked.bounds]
    return rows.with_columns(_bucket=nw.sum_horizontal(*[flag(C("date") < stamp(cut)) for cut in cuts]))


def _measured(items: Frame, asked: _Question) -> Frame:
    """Tell buckets and states apart, and how many entries of unknown worth are in each."""
    where = {name: C("_bucket") == number for number, name in enumerate(asked.buckets)}
    where |= {name: C("_state") == state for name, state in _BY_STATE.items()}
    worth = C("_time") + C("_expense") + C("_fee")
    return items.with_columns(
        **{name: nw.when(condition).then(worth).otherwise(nw.lit(0.0)) for name, condition in where.items()},
        **{
            f"_hidden_{name}": nw.when(condition).then(C("_hidden")).otherwise(nw.lit(0.0))
            for name, condition in where.items()
        },
        total=worth,
        time_amount=C("_time"),
        expense_amount=C("_expense"),
        fixed_fee_amount=C("_fee"),
        _hidden_total=C("_hidden"),
        _hidden_time_amount=C("_hidden"),
    )


def _result(totals: Frame, asked: _Question) -> Frame:
    known = {name: nw.when(C(f"_hidden_{name}") == 0).then(C(name)) for name in asked.worths}
    columns = [name for name in asked.measures if not name.startswith("_")]
    return finish(totals.with_columns(**known), asked.keys, (*columns, "oldest_date"))


def _warn_of_absent(frames: dict[str, Frame]) -> None:
    absent = [kind for kind in _KINDS if kind not in frames]
    if absent:
        warn(
            f"No {' and '.join(absent)} were passed, so there are taken to be none. Pass an empty frame to say so.",
            IncompleteDataWarning,
        )


def _warn(items: Frame) -> None:
    """Say what could be counted and not placed, or not be known."""
    unknown = {
        kind: nw.when((C("_state") == "unknown") & (C("_kind") == kind)).then(C("_rows")).otherwise(nw.lit(0.0)).sum()
        for kind in _KINDS
    }
    count = collect_row(items, hidden=C("_hidden").sum(), **unknown)
    lost = [f"{int(count[kind])} {kind}" for kind in _KINDS if count[kind]]
    if lost:
        warn(
            f"{', '.join(lost)} name an invoice that is not among those passed; they count, in unknown_amount. "
            "Load invoices over a wider window, by the ids that the work refers to.",
            IncompleteDataWarning,
        )
    if count["hidden"]:
        warn(
            f"{int(count['hidden'])} billable time entries in progress have no amount (the credential lacks "
            "read.rates); amounts they are part of are missing.",
            RatesHiddenWarning,
        )
