"""Exposure: the work in progress and the receivables of a client or matter, which the firm could lose.

Work in progress and receivables are calculated by `wip` and `aging`. The last day of work and of an invoice show
whether the firm still works for the client.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from billframes.analysis.data.arguments import bucket_limits, read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import C, day_number
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ITEMS, Frame
from billframes.analysis.declare.metrics import Measure, bucket_measures, money, shared_measures
from billframes.analysis.declare.spec import BUCKETS, Analysis, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.analysis.facts.invoices import invoices as invoices_fact
from billframes.analysis.facts.last_days import billed_until, with_last_days
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys
from billframes.analysis.results.selected_figures import refuse_periods, selected
from billframes.periods import DateLike

_WIP = ("unbilled_amount", "prebill_amount", "unknown_amount", "wip_amount", "contingent_amount")
_AGING = ("credit_amount", "overdue", "receivable_amount", "unknown_balance_amount")
_DATES = ("last_work_date", "last_invoice_date")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def exposure(call: Call, *, as_of: DateLike, by: By = "client", buckets: Sequence[int] = (30, 60, 90)) -> Frame:
    """
    Work in progress and receivables together, with the last day of work and of an invoice.

    The result has a row for each group with work in progress or a balance. Its amounts equal those of `wip` and
    `aging` with the same arguments. The last day of work is the date of the last time entry, non-billable ones
    included; the last invoice is the last final one with an amount above 0. Both are on or before `as_of`.

    Parameters
    ----------
    time_entries : frame
        With `date`, `billing_type`, `hours`, `amount` and `invoice_id`, and the columns that `by` needs; all of them.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `due_date`, `amount`, `balance` and `client_id`.

    Examples
    --------
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
    >>> result = exposure(entries, expenses=none, fixed_fees=none, invoices=invoices, as_of="2026-10-31")
    >>> result[["client_name", "wip_amount", "overdue", "exposure_amount", "days_since_work"]]
      client_name  wip_amount  overdue  exposure_amount  days_since_work
    0        Acme       300.0     50.0            350.0              1.0
    1        Bolt         0.0    100.0            100.0            123.0
    """
    day, limits = call.day(read_date(as_of, "as_of")), bucket_limits(buckets, "due_date")
    refuse_periods(
        by,
        "exposure is calculated for one day, so it has no {0}s. Pass as_of= for another day, or group wip() or aging() "
        "by it.",
    )
    keys = Keys.of(call, by, [name for name in ITEMS if name in call])
    options: dict[str, Any] = {"as_of": as_of, "by": by, "buckets": buckets}
    work = selected(call, keys, "wip", _WIP, **options)
    renamed = {"unknown_balance_amount": "unknown_amount"}
    balances = selected(call, keys, "aging", (*_AGING, *limits), renamed, **options)
    sums = (*_WIP, *_AGING, *limits, "_wip", "_aging")
    totals = keys.combine([work, balances, *_last_days(call, keys, by, day)], sums, _DATES)
    totals = totals.filter(C("_wip") + C("_aging") > 0) if keys.keys else totals
    today = float(day.toordinal())
    since = {f"days_since_{name}": today - day_number(f"last_{name}_date") for name in ("work", "invoice")}
    return keys.labelled(totals.with_columns(**since), ANALYSIS.columns_with([*limits]), named=True)


def _last_days(call: Call, keys: Keys, by: By, day: dt.date) -> list[Frame]:
    """Return the last days of work and of invoices by the keys; an invoice has the keys of its items, or its own."""
    rows, of_invoices = with_last_days(call, day, keys.own), Keys.of_invoices(call, by)
    if of_invoices.need_items:
        return [keys.finish(keys.sum(rows, (), greatest=_DATES), _DATES)]
    worked = keys.finish(keys.sum(rows, (), greatest=_DATES[:1]), _DATES[:1])
    billed = call.fact(invoices_fact, of_invoices.own).filter(billed_until(day))
    billed = billed.with_columns(last_invoice_date=C("invoice_date"))
    return [worked, of_invoices.finish(of_invoices.sum(billed, (), greatest=_DATES[1:]), _DATES[1:])]


ANALYSIS = Analysis(
    function=exposure,
    as_loaded=True,
    question="What would we lose with this client, in work not invoiced and invoices not paid?",
    summary=(
        "It adds work in progress and receivables for each client or matter. The days since the last work and since "
        "the last invoice show whether the firm still works for them."
    ),
    example=(
        "On 31 October, Acme has work worth 300 on no invoice and owes 50: its exposure is 350. Bolt owes 100, and the "
        "last work for Bolt was 123 days ago."
    ),
    formula="`exposure_amount` = `wip_amount` + `receivable_amount`; receivables are net of `credit_amount`",
    numerator=(
        "The total of `wip` and the open balances of final invoices as in `aging`, both up to `as_of`. The last work "
        "is the last time entry of any kind, and the last invoice the last final one of more than 0."
    ),
    left_out=(
        "Clients or matters without work in progress and without a balance.",
        "Balances of invoices whose state is unknown: they are in `unknown_balance_amount`.",
        "Work on contingency matters: it is in `contingent_amount`.",
        "Unused credits, in the buckets and in `overdue`: they are in `credit_amount`.",
    ),
    cannot_tell=(
        "The amount that will be billed for the work, and the part that will be paid: work counts at its value.",
        "Past balances: balances are as loaded.",
        "Money held in trust for the client.",
    ),
    arguments={
        "by": "Months, quarters and years are refused.",
        "buckets": "They are those of receivables, in days past due.",
        "settings": "Used are `originator_weights` and `roles`.",
    },
    columns=(
        *shared_measures("unbilled_amount", "prebill_amount", "wip_amount", "current"),
        *bucket_measures("1-30", "31-60", "61-90", "91+", of="receivables"),
        *shared_measures("credit_amount", "receivable_amount", "overdue"),
        money(
            "exposure_amount",
            "Exposure",
            "Work in progress and receivables together.",
            formula="wip_amount + receivable_amount",
        ),
        *shared_measures("last_work_date", "last_invoice_date"),
        Measure("days_since_work", "Days since work", "count", "Days since the last time entry."),
        Measure("days_since_invoice", "Days since invoice", "count", "Days since the last invoice."),
        *shared_measures("contingent_amount", "unknown_amount"),
        money(
            "unknown_balance_amount",
            "Balances of unknown state",
            "Balances of invoices whose state is missing or unknown; they are not in receivables.",
        ),
    ),
    table=TableSpec(
        title="Exposure",
        columns=(
            *("unbilled_amount", "prebill_amount", "wip_amount", "contingent_amount", "current", BUCKETS),
            *("credit_amount", "receivable_amount", "exposure_amount", "days_since_work", "days_since_invoice"),
        ),
        brief=(
            *("wip_amount", "receivable_amount", "exposure_amount", "contingent_amount", "days_since_work"),
            "days_since_invoice",
        ),
        if_any=("contingent_amount",),
    ),
    chart=ChartSpec(
        kind="stacks",
        title="Work in progress and receivables",
        columns=("unbilled_amount", "prebill_amount", "current", "overdue", "credit_amount"),
        unless_zero=("credit_amount",),
        # Beside work in progress, "Current" alone would be unclear.
        legend={"current": "Receivables, current"},
        words=["{exposure_amount}", "{receivable_amount} owed"],
        shows="unbilled work, draft bills, current receivables, overdue ones and unused credits.",
        more="From unbilled (pale) to overdue (dark). Unused credits are to the left of zero. The text beside a bar is "
        "the exposure, or the receivables if rates are hidden.",
    ),
    book=FromBook(),
    records="item",
    tab=TabSpec(
        place=5,
        title="Exposure",
        by=("client", "responsible", "practice_area", "matter"),
        tiles=("exposure_amount", "wip_amount", "receivable_amount", "overdue", "contingent_amount"),
        order="exposure_amount",
        opens="exposure_amount",
        filters="matters",
    ),
)
