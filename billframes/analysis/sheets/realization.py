"""Realization: the part of the work's value that was billed, and the part of the fees billed that is settled.

The rows are the billable time of `work`, and the fees that are spread over no entry. An entry has the fees that its
invoice bills for it, so a discount of the invoice is shared among its entries (`facts/invoices.py` says how). Rows on
matters of `LEFT_OUT` are added up beside the others. Expenses and fixed fees are not, but the discount of an invoice of
fixed fees without billable time is in the fees that are spread over no entry.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from typing import Literal

import pandas as pd

from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_date, read_matter_types
from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import C, is_in_period, midnight
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import BILLED_HOURS, money, ratio_measure, retitled, shared_measures
from billframes.analysis.declare.spec import Analysis, BookArgument, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.analysis.facts.rates import at_rates
from billframes.analysis.facts.settled_parts import FEE_KINDS, settled_parts, with_settled_parts
from billframes.analysis.facts.work import due, is_of_types, work
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.details import note_details
from billframes.analysis.rules.fees import lost_in, note_spread_fees, note_typed_fees, typed_marks, with_lost
from billframes.analysis.rules.loads import need_work_on_invoices
from billframes.analysis.rules.payments import check_payments, note_payments
from billframes.config.firm_values import DISCOUNTS
from billframes.periods import DateLike

LEFT_OUT = ("contingency", "probono", "internal")
"""The types of matter whose work the firm does not expect to bill at hourly rates."""


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def realization(
    call: Call,
    *,
    by: By = None,
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
    as_of: DateLike | None = None,
    payments: pd.DataFrame | None = None,
) -> Frame:
    """
    Billed time fees on final invoices ÷ value of the billed work at its rates.

    An invoice's net billed time fees are its amount less its expenses, fixed fees and tax. They are spread over its
    billable entries in proportion to `amount` (or to hours if an amount is hidden or all are 0), and count for each
    entry's matter, client and user. Fees that are spread over no entry, such as those of a credit note without
    entries, count for the client only. Pass items and invoices of any date.

    Parameters
    ----------
    time_entries : frame
        With `date`, `matter_id`, `hours`, `billing_type`, `amount` and `invoice_id`, and the columns that `by` needs.
    basis : {"invoice_date", "work_date"}
        "invoice_date": final invoices dated in the period, with all the work on them. "work_date": billable time dated
        in the period, on invoices of any date or on none; fees that are spread over no entry are left out.
    as_of : str or date, optional
        Adds the fees on invoices due by this day (`due_amount`), and their settled part. Pass the day of the load.
    payments : DataFrame, optional
        From `payments`: adds the fees that were collected, credited and written off (`collected_amount` …).

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-09-01"] * 2), "user_id": ["u1", "u2"], "user_name": ["Ada", "Ben"],
    ...     "matter_id": ["m1"] * 2, "matter_type": ["hourly"] * 2, "client_id": ["c1"] * 2, "hours": [2.0, 2.0],
    ...     "billing_type": ["billable"] * 2, "amount": [600.0, 400.0], "invoice_id": ["i1"] * 2,
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "invoice_state": ["final"], "amount": [900.0], "balance": [225.0],
    ... })
    >>> costs = pd.DataFrame({"invoice_id": ["i1"], "amount": [100.0]})
    >>> result = realization(entries, expenses=costs, fixed_fees=costs.head(0), invoices=invoices, by="user")
    >>> result[["user_name", "worked_amount", "billed_amount", "billing_realization", "settled_amount"]]
      user_name  worked_amount  billed_amount  billing_realization  settled_amount
    0       Ada          600.0          480.0                  0.8           360.0
    1       Ben          400.0          320.0                  0.8           240.0
    """
    check_choice(basis, "basis", ("invoice_date", "work_date"))
    discounts = call.settings.discounts if discounts is None else discounts
    check_choice(discounts, "discounts", DISCOUNTS)
    day = None if as_of is None else read_date(as_of, "as_of")
    matter_types = call.settings.matter_types or None if matter_types is None else matter_types
    types, by_work = read_matter_types(matter_types), basis == "work_date"
    period = call.period(start, end)
    need_work_on_invoices(call, period, dated=basis)
    keys = Keys.of(call, by)
    keys.require_ids("time_entries")
    call.require("time_entries", "date", *([] if "matter_type" in call.columns("time_entries") else ["matter_id"]))
    call.require("invoices", "invoice_state", "invoice_date", "amount", "balance", *(["due_date"] if day else []))

    time, of_types = C("is_billable") | C("is_untyped"), is_of_types(types, LEFT_OUT)
    if by_work:
        rows, lost = call.fact(work, keys.own, only=("time",), discounts=discounts), None
        rows = rows.filter(time & is_in_period("date", period))
    else:
        rows, lost = call.fact(work, keys.own, only=("time", "fees"), discounts=discounts), lost_in(call, period)
        on_invoices = C("is_final") | (C("state") == "unknown")
        counts = (time | (C("kind") == "fees")) & on_invoices & is_in_period("invoice_date", period)
        rows = rows.filter(with_lost(counts, lost))
    rows = rows.with_columns(counted=of_types, worked=of_types & C("is_billable") & C("is_final"))
    if payments is not None:
        note_payments(call, check_payments(payments), period, day, call.settings)
        rows = with_settled_parts(rows, settled_parts(call, payments, discounts))

    sums = [*_sums(call, day, by_work, payments), *typed_marks(call, day)]
    totals = keys.sum(rows, sums, date="date" if by_work else "invoice_date", ungrouped=lost)
    note_typed_fees(call, totals, types)
    note_details(keys, rows, {} if by_work else {"invoices": "fees"})
    note_spread_fees(call, keys, totals)
    return keys.finish(totals, ANALYSIS.measure_names)


def _sums(call: Call, day: dt.date | None, by_work: bool, payments: object) -> list[Sum]:
    counted, left_out, worked = C("counted"), ~C("counted"), C("worked")
    unknown = C("is_untyped") | (C("state") == "unknown") | (C("state") == "lost")
    # Fees that are spread over no entry are billed, but no value stands for them.
    sums = [
        Sum("worked_amount", "value", worked),
        Sum("billed_amount", "fees", counted),
        Sum("settled_amount", "settled_fees", counted),
        Sum("billable_hours", "hours", worked),
        Sum("unknown_amount", "value", counted & unknown),
        Sum("left_out_hours", "hours", left_out),
        Sum("left_out_amount", "value", left_out),
        Sum("left_out_billed_amount", "fees", left_out),
        Sum("mixed_amount", "value", worked & C("is_mixed")),
    ]
    if payments is not None:
        sums += [Sum(name, C("fees") * C(name), counted) for name in FEE_KINDS]
    if by_work:
        billable = counted & C("is_billable")
        sums += [Sum(f"{state}_amount", "value", billable & (C("state") == state)) for state in ("unbilled", "prebill")]
        sums.append(Sum("cohort_amount", "value", counted))
    if day is not None:
        is_due = counted & (due() <= midnight(day))
        sums += [Sum("due_amount", "fees", is_due), Sum("due_settled_amount", "settled_fees", is_due)]
    if rates := call.settings.standard_rates:
        sums.append(Sum("standard_amount", at_rates(rates), worked))
    return sums


_ALWAYS_SHOWN = (
    *("billable_hours", "worked_amount", "write_down_amount", "billed_amount", "billing_realization"),
    *("effective_rate", "settled_amount", "settlement_ratio"),
)
_SHOWN_IF_KNOWN = (
    *("collected_amount", "credited_amount", "written_off_amount", "open_fees_amount", "collected_ratio"),
    *("due_amount", "due_settled_amount", "due_settlement_ratio", "mixed_amount", "unbilled_amount"),
    *("prebill_amount", "cohort_amount", "billed_to_worked"),
)

ANALYSIS = Analysis(
    function=realization,
    question="How much of the value of the work was billed, and how much of that is settled?",
    summary=(
        "It compares the fees billed for time with the value of that time at its rates; the difference was written "
        "down. The settled share is the part of the fees billed that is no longer open."
    ),
    example=(
        "An invoice of 900 has expenses of 100, so its time is billed at 800. The time is worth 1000: a realization of "
        "80%. A quarter of the invoice, 225, is open, so the settled share is 75%."
    ),
    formula=(
        "`billing_realization` = `billed_amount` ÷ `worked_amount`; "
        "`overall_realization` = `settled_amount` ÷ `worked_amount`"
    ),
    numerator=(
        "`billed_amount`: net billed time fees, which are the invoice's amount less its expenses and fixed fees, and "
        "less tax, if the firm's settings have taxes (with "
        '`discounts="items"`, a discount is split between time and fixed fees; `mixed_amount` shows the work '
        "concerned). They are spread over the invoice's billable entries in proportion to `amount` (or to hours if "
        "amounts are hidden). Each part counts for the entry's own matter, client and user. A credit note counts for "
        "the client, not for a matter; in balances (`aging`), it counts for the matter that it names."
    ),
    denominator=(
        "`worked_amount`: value, at its rates, of the billable time on final invoices dated in the period. With "
        '`basis="work_date"`, the value of the billable time dated in the period that is on a final invoice.'
    ),
    left_out=(
        "Time on contingency, pro bono and internal matters, because the firm does not expect to bill its value at "
        "hourly rates: it is in `left_out_hours`, `left_out_amount` and `left_out_billed_amount`; `matter_types=` "
        "chooses other types.",
        "Fixed fees and their time, expenses, and non-billable time. An invoice with only fixed fees has no "
        "realization; the cell is empty. A discount on it is in `billed_amount`.",
        'With `basis="work_date"`, fees that are spread over no entry. Work that is not on a final invoice yet is in '
        "`unbilled_amount`, `prebill_amount` and `unknown_amount`, not in `worked_amount`.",
    ),
    cannot_tell=(
        "Without `payments=`, the difference between payments, credits and write-offs: `settled_amount` is the part "
        "that is no longer open, for any of these reasons, so it is not called collected. Recent invoices are mostly "
        "still open: with `as_of=`, `due_settlement_ratio` is the settled share of invoices due by that day.",
        "What a part payment was for: it settles all parts of an invoice in proportion, or in the firm's "
        "`payment_order`.",
        "Hours as billed, and the entry that a write-down was for: it is spread over the whole invoice.",
        "Standard rates: the firm's settings can have them (`standard_amount`).",
    ),
    own=("as_of",),
    arguments={
        "by": "Months are those of the basis.",
        "matter_types": (
            '"Unknown", which all five types together include, is work without a known type, and credit notes.'
        ),
        "settings": "Used are `standard_rates`, `originator_weights`, `roles`, `taxes` and `payment_order`.",
    },
    columns=(
        *shared_measures("worked_amount", "billed_amount", "write_down_amount"),
        ratio_measure(
            "billing_realization",
            "Billing realization",
            "billed_amount / worked_amount",
            below="credits exceed the bills",
            above="billed at more than the work is worth",
        ),
        *shared_measures("settled_amount"),
        ratio_measure(
            "settlement_ratio",
            "Settled share",
            "settled_amount / billed_amount",
            below="only credits are settled",
            above="credits are still open",
        ),
        ratio_measure(
            "overall_realization",
            "Overall realization",
            "settled_amount / worked_amount",
            "Settled ÷ value of time billed: billing realization × settled share.",
        ),
        BILLED_HOURS,
        *shared_measures("effective_rate"),
        retitled("unbilled_amount", "Unbilled time", "Value of the period’s billable time on no invoice."),
        retitled(
            "prebill_amount",
            "Time on draft bills",
            "Value of the period’s billable time on a draft, review or approved invoice.",
        ),
        retitled(
            "unknown_amount",
            "Time of unknown state",
            "Value of time on invoices whose state is unknown, or of unknown billing type. By work date, also of time "
            "on invoices that were not passed.",
        ),
        money(
            "cohort_amount", "Value of time worked", "Value of all billable time dated in the period, invoiced or not."
        ),
        ratio_measure("billed_to_worked", "Fees billed to value of time worked", "billed_amount / cohort_amount"),
        *shared_measures("standard_amount"),
        ratio_measure("worked_to_standard", "Value to value at standard rates", "worked_amount / standard_amount"),
        ratio_measure(
            "billed_to_standard", "Fees billed to value at standard rates", "billed_amount / standard_amount"
        ),
        *shared_measures("left_out_hours", "left_out_amount", "left_out_billed_amount"),
        money("mixed_amount", "Value on mixed invoices", "Value of the work on invoices that also bill fixed fees."),
        retitled("collected_amount", "Time fees collected", "Fees billed for time that were paid in cash."),
        retitled("credited_amount", "Time fees credited", "Fees billed for time that were credited."),
        retitled("written_off_amount", "Time fees written off", "Fees billed for time that were written off later."),
        money(
            "open_fees_amount",
            "Open fees",
            "Fees billed that are not settled by the payments.",
            formula="billed_amount - collected_amount - credited_amount - written_off_amount",
        ),
        ratio_measure(
            "collected_ratio",
            "Collected realization",
            "collected_amount / worked_amount",
            "Fees collected ÷ value of time billed.",
        ),
        money("due_amount", "Fees billed and due", "Fees billed on invoices due on or before the requested day."),
        money(
            "due_settled_amount", "Settled part of fees due", "The part of fees billed and due that is no longer open."
        ),
        ratio_measure("due_settlement_ratio", "Settled share of fees due", "due_settled_amount / due_amount"),
    ),
    table=TableSpec(
        title="Realization",
        columns=(*_ALWAYS_SHOWN, *_SHOWN_IF_KNOWN),
        optional=_SHOWN_IF_KNOWN,
        brief=_ALWAYS_SHOWN,
    ),
    chart=ChartSpec(
        kind="bars",
        title="Value of time billed and fees billed",
        columns=("worked_amount", "billed_amount"),
        words=["{billing_realization}"],
        hidden="worked_amount",
        instead={"title": "Fees billed", "words": ["{billed_amount:axis}"]},
        shows="fees billed (dark) on the value of the same work (pale), and their ratio.",
        more="Months, quarters and years are side by side; by other keys, there is one bar per row. "
        "If rates are hidden, only fees billed are drawn.",
    ),
    book=FromBook(
        defaults={
            "as_of": BookArgument(
                lambda book, _period: book.loaded_on("invoices"),
                "By default, a book passes the day the invoices were loaded.",
            )
        }
    ),
    records="entry",
    tab=TabSpec(
        place=2,
        title="Realization",
        by=("client", "user", "practice_area", "responsible", "month"),
        tiles=("worked_amount", "billed_amount", "billing_realization", "settlement_ratio"),
        compared=("worked_amount", "billed_amount", "billing_realization"),
        order="billed_amount",
        opens="worked_amount",
        filters="time_entries",
        note="The period’s final invoices count, with all their work of any date. Credits and fees without time "
        "entries belong to a client, but to no matter or person: filters on these exclude them.",
    ),
)
