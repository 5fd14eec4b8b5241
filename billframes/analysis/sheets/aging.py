"""Aging: open balances of final invoices by the days since they were due.

An invoice due today is current. One day later it is one day past due. A balance below 0 is an unused credit: it is in
the total, but in no bucket, and it is never overdue.

By client, the rows are invoices with their whole balances. By matter or user, they are the items of `work` with their
parts of the balances, and the parts that no item has: an invoice without items, such as a credit note, is on its own
matter.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Literal

import narwhals.stable.v2 as nw

from billframes._shared.names import join_names
from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import bucket_limits, read_date
from billframes.analysis.data.call import FIRM_FRAMES, Call
from billframes.analysis.data.engine import collect_counts, join_by_id
from billframes.analysis.data.expressions import C, count_if, day_number, midnight, value_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ENUMS, ITEMS, Frame
from billframes.analysis.declare.metrics import bucket_measures, retitled, shared_measures
from billframes.analysis.declare.spec import BUCKETS, Analysis, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.analysis.facts.invoices import invoices as invoices_fact
from billframes.analysis.facts.work import due, work
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import OF_MATTERS, Keys, Sum
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.invoices import ABSENT_FROM_INVOICES, JOINED_MATTERS, NO_DUE_DATE
from billframes.analysis.rules.loads import need_open_on, need_work_on_invoices, note_later_balances
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period


@sheet("invoices", "time_entries?", "expenses?", "fixed_fees?", "matters?", "users?", "clients?")
def aging(
    call: Call,
    *,
    as_of: DateLike,
    by: By = None,
    basis: Literal["due_date", "invoice_date"] = "due_date",
    buckets: Sequence[int] = (30, 60, 90),
) -> Frame:
    """
    Open balances of final invoices by how long they have been due.

    Counts final invoices dated on or before `as_of` whose balance is not 0. Balances below 0 are credits: they are in
    `credit_amount`, and in no bucket. `total` is the buckets and the credits together.
    Days overdue = `as_of` - due date, so an invoice due on that day is current. Without a due date, an invoice is due
    on its date. Balances are as loaded, not as they stood on `as_of`.

    By client, a balance belongs to the client of the invoice. By matter, user or a key that depends on them (such as
    practice area), a balance is spread over the invoice's items in proportion to the amount billed for each: for time
    its share of the net billed time fees (see `realization`), for expenses and fixed fees their amounts. What no item
    has is `Unassigned`; an invoice without any item, such as a credit note, is on the matter it names.

    Parameters
    ----------
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `due_date`, `balance`, and the columns that `by` needs.
    time_entries, expenses, fixed_fees : frame, optional
        All items of the invoices. Required to group by matter, user or a key that depends on them.
    basis : {"due_date", "invoice_date"}
        Whether buckets count days past due or days since the invoice's date. `overdue` counts days past due with both.

    Examples
    --------
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2", "i3"], "invoice_state": ["final", "final", "draft"],
    ...     "client_id": ["c1", "c1", "c1"], "client_name": ["Acme", "Acme", "Acme"],
    ...     "invoice_date": pd.to_datetime(["2026-10-01", "2026-09-01", "2026-10-01"]),
    ...     "due_date": pd.to_datetime(["2026-10-31", "2026-10-01", None]),
    ...     "amount": [100.0, 50.0, 70.0], "balance": [100.0, 50.0, 70.0],
    ... })
    >>> aging(invoices, as_of="2026-10-31", by="client")[["client_name", "current", "1-30", "total", "overdue"]]
      client_name  current  1-30  total  overdue
    0        Acme    100.0  50.0  150.0     50.0
    """
    day = call.day(read_date(as_of, "as_of"))
    check_choice(basis, "basis", ("due_date", "invoice_date"))
    limits = bucket_limits(buckets, basis)
    keys = Keys.of_invoices(call, by)
    of_invoices = {"client_id": None, "matter_id": None, "invoice_id": None, "invoice_state": "final"}
    need_open_on(call, ("invoices",), day, of_invoices)
    call.require("invoices", "invoice_id", "invoice_date", "invoice_state", "due_date", "balance")
    itemized = keys.need_items
    if itemized:
        _check_items(call, by)
        need_work_on_invoices(call, Period(None, day))
        for name in ITEMS:
            if name in call:
                call.require(name, *({*keys.base} & {"matter_id", "user_id"}))
    _note_joined_matters(call, keys)
    note_later_balances(call, day, call.settings)

    rows = _of_items(call, keys) if itemized else _of_invoices(call, keys)
    dated = (C("invoice_date") <= midnight(day)).fill_null(False)
    unknown = (C("state") == "unknown") & (dated | C("invoice_date").is_null())
    rows = rows.filter((C("balance") != 0) & ((C("state") == "final") & dated | unknown))
    rows = rows.with_columns(due=due())
    today = float(day.toordinal())
    rows = rows.with_columns(late=today - day_number("due", rows), age=today - day_number("invoice_date", rows))
    totals = keys.sum(rows, _sums(limits, "late" if basis == "due_date" else "age"), date="invoice_date")
    _note_open_invoices(call, day, itemized=itemized)
    return keys.finish(
        totals, (*limits, "credit_amount", "total", "overdue", "weighted_days_overdue", "unknown_amount")
    )


def _sums(limits: Mapping[str, float], days: str) -> list[Sum]:
    """Return the sums; a part of a balance is in the column of its invoice's whole balance, also one below 0."""
    final, debit = C("state") == "final", (C("state") == "final") & ~(C("balance") < 0)
    lows = [float("-inf"), *list(limits.values())[:-1]]
    buckets = [
        Sum(name, "open", debit & (C(days) > low) & (C(days) <= high))
        for (name, high), low in zip(limits.items(), lows, strict=True)
    ]
    return [
        *buckets,
        Sum("credit_amount", "open", final & (C("balance") < 0)),
        Sum("total", "open", final),
        Sum("overdue", "open", debit & (C("late") > 0)),
        Sum("unknown_amount", "open", ~final),
        Sum("_overdue_days", C("late") * C("open"), debit & (C("late") > 0)),
    ]


def _of_invoices(call: Call, keys: Keys) -> Frame:
    """Return one row per invoice with its whole balance, in the columns that rows of `work` have."""
    known = C("invoice_state").is_in(ENUMS["invoice_state"]).fill_null(False)
    state = nw.when(known).then(C("invoice_state").cast(nw.String)).otherwise(nw.lit("unknown"))
    return call.fact(invoices_fact, keys.own, among=("invoices",)).with_columns(state=state, open=C("balance"))


def _of_items(call: Call, keys: Keys) -> Frame:
    """Return each invoice's balance divided among its items, with its client and what else only the invoice has."""
    rows = call.fact(work, only=("time", "fixed_fee", "expense", "balance"))
    rows = rows.filter((C("kind") != "fees") & ((C("kind") != "time") | C("is_billable")))
    own = [*keys.own, *(["client_id"] if "client_id" in keys.base else [])]
    if not own:
        return rows
    of = call.fact(invoices_fact, keys.own).select(C("invoice_id").cast(nw.String), *own)
    return join_by_id(rows.drop("client_id").with_columns(C("invoice_id").cast(nw.String)), of, "invoice_id")


def _check_items(call: Call, by: By) -> None:
    absent = [f"`{name}`" for name in ITEMS if name not in call]
    if len(absent) == len(ITEMS):
        raise ParameterError(
            f"by={by!r} needs all items of the invoices: pass time_entries=, expenses= and fixed_fees= of every date, "
            "from the loaders of these names."
        )
    arguments = join_names([f"{each}=" for each in absent])
    call.notes.add(ABSENT_FROM_INVOICES, len(absent), absent=join_names(absent), arguments=arguments)


def _note_joined_matters(call: Call, keys: Keys) -> None:
    """Note keys that were joined to the invoices by their matter, which is only one of several."""
    joined = [name for name in keys.base if name.startswith(OF_MATTERS)]
    if joined:
        final = value_if(C("invoice_state") == "final", "balance")
        amount = collect_counts((call.fact(invoices_fact, among=("invoices",)), {"balance": final.sum()}))["balance"]
        call.notes.add(JOINED_MATTERS, amount, column=f"`{joined[0]}`")


def _note_open_invoices(call: Call, day: dt.date, *, itemized: bool) -> None:
    """Note open invoices without a due date and, if grouped by items, time on them without amounts."""
    is_open = (C("balance") != 0) & (C("invoice_state") == "final") & (C("invoice_date") <= midnight(day))
    counts = {"undated": count_if(is_open & C("due_date").is_null()), "hidden": value_if(is_open, "hidden").sum()}
    among = FIRM_FRAMES if itemized else ("invoices",)
    found = collect_counts((call.fact(invoices_fact, among=among), counts))
    # Due dates that stand for no date have their own note.
    if not call.unknown_values("invoices", "due_date"):
        call.notes.add(NO_DUE_DATE, found["undated"])
    so = "the balances of these invoices are allocated to their time by hours"
    call.notes.add(HIDDEN_RATES, found["hidden"] if itemized else 0.0, which=" on open invoices", consequence=so)


def _frames_for(by: By) -> tuple[str, ...]:
    """Return the names of the frames that a book passes: any key but the client needs the invoices' items."""
    return ("invoices",) if by in (None, "client") else ("invoices", *ITEMS, "matters", "users", "clients")


ANALYSIS = Analysis(
    function=aging,
    short=("receivable_amount", "receivables"),
    as_loaded=True,
    question="Who owes what, and for how long has it been due?",
    summary=(
        "It adds up the open balances of final invoices by the days since their due date. It shows which amounts are "
        "late, and how late, for the firm, each client or each matter."
    ),
    example=(
        "On 31 October, an invoice of 100 due that day is current, and one of 50 due on 1 October is in "
        "`1-30`. The total is 150, of which 50 is overdue."
    ),
    formula=(
        'days past due = `as_of` − due date (with `basis="invoice_date"`, days since the invoice\'s date); '
        "`overdue` = balances at least one day past due"
    ),
    numerator=(
        "Open balances of final invoices dated on or before `as_of`, each in the bucket of its days past due. An "
        "invoice due on the day itself is current."
    ),
    left_out=(
        "Draft, review and approved invoices, because clients do not owe them yet; invoices dated after `as_of`; "
        "balances of 0.",
        "Invoices whose state is missing or unknown: their balance is in `unknown_amount`, not in `total`.",
        "Unused credits, in the buckets, in `overdue` and in `weighted_days_overdue`: they are in `credit_amount`, and "
        "`total` is net of them.",
        "By matter or user, nothing: an amount billed without an item is in the row `Unassigned`; an invoice "
        "without any item is on the matter that it names (in figures of fees, it is on no matter).",
    ),
    cannot_tell=(
        "Past balances: balances are as loaded, and payments after `as_of` are already deducted. Only dated copies of "
        "the data show past balances.",
        "Which part of a balance is disputed, and when or how something was paid.",
        "Which of several matters a balance belongs to: it is spread in proportion to the amount billed for each, with "
        "tax, or in the firm's `payment_order`.",
    ),
    own=("expenses", "fixed_fees"),
    arguments={
        "by": "Months are those of the invoice's date.",
        "settings": (
            "Used are `originator_weights`, `roles`, the time zone, and by matter or user `taxes` and `payment_order`."
        ),
    },
    columns=(
        *shared_measures("current"),
        *bucket_measures("1-30", "31-60", "61-90", "91+", "0-30", of="receivables"),
        *shared_measures("credit_amount", "total", "overdue", "weighted_days_overdue"),
        retitled("unknown_amount", "Receivables of unknown state", "Balances of invoices whose state is unknown."),
    ),
    table=TableSpec(
        title="Receivables by age",
        columns=("current", BUCKETS, "credit_amount", "total", "overdue", "weighted_days_overdue"),
        optional=("current", "credit_amount", "weighted_days_overdue"),
        brief=("current", BUCKETS, "credit_amount", "total", "overdue"),
        if_any=("credit_amount",),
    ),
    chart=ChartSpec(
        kind="ages",
        title="Receivables",
        columns=(),
        words=["{total}"],
        age=("days past due", "days since the invoice date"),
        shows="one column per bucket; for several rows, one bar per row, divided into buckets.",
        more="Older amounts are darker. Unused credits are to the left of zero. The text beside a bar is the total "
        "less these credits.",
    ),
    book=FromBook(needs=_frames_for),
    records="invoice",
    tab=TabSpec(
        place=3,
        title="Receivables",
        by=("client", "practice_area", "responsible", "matter"),
        tiles=("total", "overdue", "91+", "credit_amount"),
        order="total",
        opens="total",
        filters="matters",
        note="The balance of an invoice for several matters is divided among them.",
    ),
)
