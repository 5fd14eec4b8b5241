"""Reconcile: the amount of each invoice beside the sum of its items.

The API's invoices have no lines. Items show the work, and the amount shows what was billed. The tax in the amount is
calculated by the firm's settings. The rest can be write-downs, write-ups, discounts and credits, which the API does not
distinguish.
"""

from __future__ import annotations

from collections.abc import Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import FIRM_FRAMES, Call
from billframes.analysis.data.engine import collect_counts, join_by_id, stack, sum_by
from billframes.analysis.data.expressions import C, as_float, in_period, is_in_period, value_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ITEMS, Frame, source_of
from billframes.analysis.declare.key_words import PEOPLE_AND_MATTERS
from billframes.analysis.declare.metrics import Measure, money, shared_measures
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec
from billframes.analysis.facts.invoices import invoices as invoices_fact, value_of_entry
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.keys.formulas import with_formulas
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.fees import note_absent_items
from billframes.analysis.rules.invoices import UNKNOWN_INVOICE
from billframes.analysis.rules.loads import is_whole, need_work_on_invoices
from billframes.analysis.rules.tax_share import above_items, count_above_items, note_same_share
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period

_ITEM_AMOUNTS = ("time_amount", "expense_amount", "fixed_fee_amount")
_OF_INVOICES = ("amount", "unexplained_amount", "balance")
_AMOUNTS = (*_ITEM_AMOUNTS, "items_amount", "tax_amount", *_OF_INVOICES)
_SHOWN = ("invoice_number", "client_id", "client_name")
_SUMS = (
    Sum("invoices", nw.lit(1.0)),
    Sum("time_amount", nw.when(C("hidden") == 0).then(C("value")).otherwise(nw.lit(float("nan")))),
    *(Sum(name, of) for name, of in (("expense_amount", "expenses"), ("fixed_fee_amount", "fixed_fees"))),
    *(Sum(name, of) for name, of in (("tax_amount", "tax"), ("amount", "amount"), ("balance", "balance"))),
)
# A millionth of the currency: adding the floats of thousands of invoices leaves such differences.
_RESIDUE = 1e-6
# Other keys that would divide an invoice.
_WORK_KEYS = ("matter_type", "role")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "clients?")
def reconcile(call: Call, *, by: By = "invoice", start: DateLike | None = None, end: DateLike | None = None) -> Frame:
    """
    Each invoice's amount beside the sum of its items, as a check of the other figures.

    Pass all items of the invoices, of any date. Invoices of every state count.

    Parameters
    ----------
    time_entries : frame
        With `invoice_id`, `matter_id`, `billing_type`, `hours` and `amount`.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`; optionally with `invoice_number`,
        `client_id` and `client_name`.
    by : str or list of str, optional
        "invoice" gives one row per invoice. Else the keys to add up invoices by: "client", "month", "quarter", "year"
        (of the invoice date), `invoice_state`, or another column of the invoices or clients. None gives one row.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "matter_id": ["m1", "m2"], "billing_type": ["billable", "billable"], "hours": [2.0, 2.0],
    ...     "amount": [600.0, 400.0], "invoice_id": ["i1", "i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [900.0], "balance": [225.0],
    ... })
    >>> expenses = pd.DataFrame({"invoice_id": ["i1"], "matter_id": ["m1"], "amount": [100.0]})
    >>> result = reconcile(entries, expenses=expenses, fixed_fees=expenses.head(0), invoices=invoices)
    >>> result[["invoice_id", "items_amount", "amount", "unexplained_amount", "matter_count"]]
      invoice_id  items_amount  amount  unexplained_amount  matter_count
    0         i1        1100.0   900.0              -200.0             2
    """
    call.leave_out_people()
    period, settings = call.period(start, end), call.settings
    keys = None if by == "invoice" else _keys(call, by)
    need_work_on_invoices(call, period)
    call.require("invoices", "invoice_id", "invoice_date", "invoice_state", "amount", "balance")
    there = call.columns("invoices")
    shown = [name for name in _SHOWN if source_of(name, there) in there]
    own = keys.own if keys else [name for name in shown if name != "client_id"]
    invoices = call.fact(invoices_fact, own, among=FIRM_FRAMES - {"matters"})
    invoices = invoices.with_columns(C("invoice_id").cast(nw.String))
    items = _items(call)
    note_absent_items(call)
    _note(call, items, invoices, period)
    tax = C("tax") if settings.taxes else nw.lit(0.0)
    rows = in_period(invoices, "invoice_date", period).with_columns(tax=tax)
    amounts = tuple(name for name in _AMOUNTS if name != "tax_amount" or settings.taxes)
    if keys is None:
        result = _by_invoice(join_by_id(rows, items, "invoice_id"), shown, amounts)
    else:
        result = keys.finish(keys.sum(rows, _SUMS, date="invoice_date"), ("invoices", *amounts))
    return _without_residue(result)


def _keys(call: Call, by: By) -> Keys:
    """Find the keys of whole invoices; raise if a key of matters or people would divide an invoice."""
    whole = [name for name in call.columns("invoices") if not name.startswith(("matter_", "user_"))]
    of_work = {*PEOPLE_AND_MATTERS, *(each for pair in PEOPLE_AND_MATTERS.values() for each in pair), *_WORK_KEYS}
    of_work -= {"client", *PEOPLE_AND_MATTERS["client"]}
    for name in names_in(by):
        if name in of_work:
            raise ParameterError(
                f"by={name!r} would divide invoices, and reconcile shows whole invoices. It takes 'invoice', 'client', "
                "'month', 'quarter', 'year' or another column of the invoices; write_downs(by=…) divides invoices."
            )
    return Keys.of(call, by, (), columns=whole)


def _items(call: Call) -> Frame:
    """Count the items, their matters, and the hidden values on each invoice, also of those that were not passed."""
    parts = []
    for name in (name for name in ITEMS if name in call):
        is_time = name == "time_entries"
        rows = call.select(name, ("invoice_id", "matter_id", "amount", *(("billing_type", "hours") if is_time else ())))
        # The matters of non-billable time on an invoice are counted, too.
        hidden = as_float((C("billing_type") == "billable") & value_of_entry().is_null()) if is_time else nw.lit(0.0)
        rows = rows.filter(~C("invoice_id").is_null())
        parts.append(rows.select("invoice_id", "matter_id", rows=nw.lit(1.0), hidden_rows=hidden.fill_null(0.0)))
    matters = sum_by(stack(parts), ["invoice_id", "matter_id"], ["rows", "hidden_rows"])
    matters = matters.with_columns(matter_count=as_float(~C("matter_id").is_null()))
    return sum_by(matters, ["invoice_id"], ["rows", "hidden_rows", "matter_count"])


def _without_residue(rows: Frame) -> Frame:
    """Round differences of float addition to 0, because users filter for amounts below 0."""
    difference = C("unexplained_amount")
    is_zero = difference.abs() <= _RESIDUE
    return rows.with_columns(unexplained_amount=nw.when(is_zero).then(nw.lit(0.0)).otherwise(difference))


def _by_invoice(rows: Frame, shown: Sequence[str], amounts: Sequence[str]) -> Frame:
    texts = ("invoice_id", *shown, "invoice_state")
    rows = rows.with_columns(
        C(*texts).cast(nw.String),
        **{each.name: each.value for each in _SUMS},
        matter_count=C("matter_count").fill_null(0.0).cast(nw.Int64),
    )
    rows = with_formulas(rows, amounts).sort("invoice_date", "invoice_id", nulls_last=True)
    return rows.select("invoice_id", *shown, "invoice_date", "invoice_state", *amounts, "matter_count")


def _note(call: Call, items: Frame, invoices: Frame, period: Period) -> None:
    taxed, is_counted = bool(call.settings.taxes), as_float(is_in_period("invoice_date", period))
    rows = join_by_id(items, invoices.select("invoice_id", counted=is_counted), "invoice_id")
    lost = C("counted").is_null()
    sums = {
        "rows": value_if(lost, "rows").sum(),
        "invoices": as_float(lost).sum(),
        "hidden": value_if(lost | (C("counted") > 0), "hidden_rows").sum(),
    }
    evidence = invoices.with_columns(is_evident=C("invoice_state") == "final").with_columns(**above_items(taxed=taxed))
    count = collect_counts((rows, sums), (evidence, count_above_items(taxed=taxed)))
    found, ids = int(count["rows"]), int(count["invoices"])
    words = {"items": f"{found:,} item{'' if found == 1 else 's'}", "consequence": "left out"}
    words["reasons"] = f" ({ids:,} invoice{'' if ids == 1 else 's'} in all)"
    call.notes.add(UNKNOWN_INVOICE, found, **words)
    so = "the items of their invoices can't be added up"
    call.notes.add(HIDDEN_RATES, count["hidden"], which=" on invoices", consequence=so)
    if not call.is_inner:
        note_same_share(call.notes, count, evidence, taxed=taxed, whole=is_whole(call.natives))


ANALYSIS = Analysis(
    function=reconcile,
    question="Do an invoice's items explain its amount?",
    summary=(
        "It compares the amount of each invoice with the sum of its items. The difference is a discount, a write-up or "
        "something else that the billing system does not show."
    ),
    example=(
        "Items of 1100 (time worth 1000 and an expense of 100) are billed at 900. The unexplained amount is -200: "
        "here, a discount."
    ),
    formula="amount − tax − (time + expenses + fixed fees)",
    left_out=(
        "Items on no invoice.",
        "Items on invoices that were not passed; a warning states how many.",
        "Non-billable and fixed-fee time, in the amounts only: its matters are counted.",
    ),
    cannot_tell=(
        "Tax: it is calculated by the `taxes` of the settings. Without them, it is part of the unexplained amount.",
        "Whether the unexplained amount is a write-down, write-up, discount or credit.",
    ),
    own=("by",),
    arguments={"start": "By invoice date.", "settings": "`taxes` are part of the amounts."},
    rows=(
        "by invoice sorted by date, with its id, number, client, date and state; else by label, with the keys and "
        "`invoices`; then"
    ),
    columns=(
        *shared_measures("time_amount", "expense_amount", "fixed_fee_amount", "items_amount"),
        money("tax_amount", "Tax", "The tax in the amount, by the firm’s settings."),
        money("amount", "Amount", "Amount of the invoice."),
        *shared_measures("unexplained_amount", "balance", "invoices"),
        Measure("matter_count", "Matters", "count", "Number of matters of the items."),
    ),
    table=TableSpec(
        title="Invoices and their items",
        columns=(*_AMOUNTS, "matter_count", "invoices"),
        optional=("tax_amount", "matter_count", "invoices"),
        keys=("invoice_number", "client_name", "invoice_date", "invoice_state"),
        cents=True,
    ),
    book=FromBook(note="Of invoices dated in the period."),
)
