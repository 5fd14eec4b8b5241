"""Reconcile: the amount of each invoice beside the sum of its items.

The API's invoices have no lines. Items show the work, and the amount shows what was billed. The tax in the amount is
calculated by the firm's settings. The rest can be write-downs, write-ups, discounts and credits, which the API does not
distinguish.
"""

from __future__ import annotations

from collections.abc import Sequence

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.data.people import without_people
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.metrics import Measure, money, shared_measures
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec
from billframes.analysis.frames.engine import collect_counts, join_by_id
from billframes.analysis.frames.expressions import as_float, in_period, is_in_period, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import billable_time
from billframes.analysis.model.arguments import note_unknown_ids
from billframes.analysis.model.formulas import with_formulas
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.invoice_parts import columns_for_taxes, with_net_fees, with_tax_rates
from billframes.analysis.model.keys import PEOPLE_AND_MATTERS, By, names_in
from billframes.analysis.model.missing_work import note_absent_items
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.invoices import UNKNOWN_INVOICE
from billframes.analysis.rules.loads import is_whole, need_work_on_invoices
from billframes.analysis.rules.tax_share import above_items, count_above_items, note_same_share
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period

C = nw.col

# The result column of each kind of item.
_ITEM_AMOUNTS = {"time_entries": "time_amount", "expenses": "expense_amount", "fixed_fees": "fixed_fee_amount"}
# The names of these sums in `allocation`.
_AS_ALLOCATED = {
    "_total": "amount",
    "_worth": "time_amount",
    "_expenses": "expense_amount",
    "_fixed_fees": "fixed_fee_amount",
}
# The sums that decide who bears the difference, as in `allocation`.
_SUMS = (*_ITEM_AMOUNTS.values(), "_hidden", "_gross_worth", "_gross_hours")
_OF_INVOICES = ("amount", "unexplained_amount", "balance")
_RESULT = (
    Sum("invoices", nw.lit(1.0)),
    Sum("time_amount", "time_amount", hides="_hidden"),
    *(Sum(name, name) for name in ("expense_amount", "fixed_fee_amount", "tax_amount", "amount", "balance")),
)
# A millionth of the currency: adding the floats of thousands of invoices leaves such differences.
_RESIDUE = 1e-6
# Other keys that would divide an invoice.
_WORK_KEYS = ("matter_type", "role")


def reconcile(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    clients: IntoFrameT | None = None,
    by: By = "invoice",
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Each invoice's amount beside the sum of its items, as a check of the other figures.

    Pass all items of the invoices, of any date. Invoices of every state count.

    Parameters
    ----------
    time_entries : frame
        With `invoice_id`, `matter_id`, `billing_type`, `hours` and `amount`.
    expenses, fixed_fees : frame, optional
        With None, no rows count, with a warning. If the firm has none, pass an empty frame.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`; optionally with `invoice_number`,
        `client_id` and `client_name`.
    clients : frame, optional
        For the columns that `by` names, matter types and roles.
    by : str or list of str, optional
        "invoice" gives one row per invoice. Else the keys to add up invoices by: "client", "month", "quarter", "year"
        (of the invoice date), `invoice_state`, or another column of the invoices or clients. None gives one row.
    start, end : str or date, optional
        First and last day, inclusive, or a period such as "2026-Q3" as `start`; None is open. By invoice date.
    settings : FirmSettings, optional
        The firm's settings. `taxes` are part of the amounts.

    Returns
    -------
    frame
        Of the kind of the input, by invoice sorted by date, with its id, number, client, date and state; else by label,
        with the keys and `invoices`; then `time_amount`, `expense_amount`, `fixed_fee_amount`, `items_amount`,
        `tax_amount`, `amount`, `unexplained_amount`, `balance`, `invoices`, `matter_count`. `bf.explain("reconcile")`
        says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    Time worth 1,000 and an expense of 100 on two matters, billed at 900:

    >>> import pandas as pd
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
    frames = Frames.of("reconcile", locals())
    period = frames.period(start, end, settings)
    settings = without_people(settings)
    grouping = None if by == "invoice" else _grouping(by, frames, settings)
    need_work_on_invoices(frames, period)
    if grouping is None:
        note_unknown_ids(settings, frames)
    keys = () if grouping is None else grouping.row_columns
    selected, optional = _invoices(frames, keys, columns_for_taxes(settings))
    rows = nw.concat([_items_on_invoices(frames, kind) for kind in _ITEM_AMOUNTS if kind in frames])
    matters = rows.group_by("invoice_id", "matter_id").agg(C(*_SUMS, "_rows").sum())
    matters = matters.with_columns(matter_count=as_float(~C("matter_id").is_null()))
    totals = matters.group_by("invoice_id").agg(C(*_SUMS, "_rows", "matter_count").sum())
    note_absent_items(frames)
    _note(totals, selected, period, settings, frames)
    counted = in_period(selected, "invoice_date", period).join(totals, on="invoice_id", how="left")
    rows = _with_tax(counted.with_columns(C(*_SUMS, "matter_count").fill_null(0.0)), settings)
    tax = ("tax_amount",) if settings.taxes else ()
    amounts = (*_ITEM_AMOUNTS.values(), "items_amount", *tax, *_OF_INVOICES)
    if grouping is None:
        result = _by_invoice(rows, optional, amounts)
    else:
        result = add_up(grouping.with_periods(rows, "invoice_date"), _RESULT, grouping, ("invoices", *amounts))
    return frames.to_native(_without_residue(result), time_entries, period, settings)


def _grouping(by: By, frames: Frames, settings: FirmSettings) -> Grouping:
    """Find the keys of whole invoices; raise if a key of matters or people would divide an invoice."""
    whole = [name for name in column_names(frames["invoices"]) if not name.startswith(("matter_", "user_"))]
    of_work = {*PEOPLE_AND_MATTERS, *(each for pair in PEOPLE_AND_MATTERS.values() for each in pair), *_WORK_KEYS}
    of_work -= {"client", *PEOPLE_AND_MATTERS["client"]}
    for name in names_in(by):
        if name in of_work:
            raise ParameterError(
                f"by={name!r} would divide invoices, and reconcile shows whole invoices. It takes 'invoice', 'client', "
                "'month', 'quarter', 'year' or another column of the invoices; write_downs(by=…) divides invoices."
            )
    return Grouping.of(by, frames.only("clients"), settings, whole)


def _invoices(frames: Frames, keys: Sequence[str], needed: Sequence[str]) -> tuple[Frame, list[str]]:
    columns = ("invoice_id", "invoice_date", "invoice_state", "amount", "balance")
    optional = ("invoice_number", "client_id", "client_name", *keys)
    selected = frames.select("invoices", (*columns, *needed), optional)
    return selected, [name for name in column_names(selected) if name not in columns]


def _items_on_invoices(frames: Frames, kind: str) -> Frame:
    if kind == "time_entries":
        # The matters of non-billable time on an invoice are counted, too.
        every = frames.select(kind, ("invoice_id", "matter_id")).with_columns(
            worth=nw.lit(0.0), hours=nw.lit(0.0), _rows=nw.lit(1.0)
        )
        worth = billable_time(frames, ("matter_id",)).with_columns(_rows=nw.lit(0.0))
        columns = ("invoice_id", "matter_id", "worth", "hours", "_rows")
        rows = nw.concat([every.select(*columns), worth.select(*columns)]).with_columns(_amount=C("worth"))
    else:
        rows = frames.select(kind, ("invoice_id", "matter_id", "amount")).with_columns(
            _amount=C("amount"), hours=nw.lit(0.0), _rows=nw.lit(1.0)
        )
    amounts = dict.fromkeys(_ITEM_AMOUNTS.values(), nw.lit(0.0)) | {_ITEM_AMOUNTS[kind]: C("_amount").fill_null(0.0)}
    is_time = kind == "time_entries"
    hidden = as_float(C("_amount").is_null()) if is_time else nw.lit(0.0)
    gross = {"_gross_worth": amounts["time_amount"].abs() if is_time else nw.lit(0.0), "_gross_hours": C("hours").abs()}
    on_invoices = rows.filter(~C("invoice_id").is_null())
    return on_invoices.select("invoice_id", "matter_id", "_rows", **amounts, _hidden=hidden, **gross)


def _with_tax(rows: Frame, settings: FirmSettings) -> Frame:
    if not settings.taxes:
        return rows.with_columns(tax_amount=nw.lit(0.0))
    return with_net_fees(_as_allocated(rows, settings), settings).with_columns(tax_amount=C("_tax"))


def _as_allocated(rows: Frame, settings: FirmSettings) -> Frame:
    """Add the columns that `allocation` gives invoices."""
    rows = rows.with_columns(**{new: C(old) for new, old in _AS_ALLOCATED.items()}, _invoice_date=C("invoice_date"))
    return with_tax_rates(rows, settings)


def _without_residue(rows: Frame) -> Frame:
    """Round differences of float addition to 0, because users filter for amounts below 0."""
    difference = C("unexplained_amount")
    is_zero = difference.abs() <= _RESIDUE
    return rows.with_columns(unexplained_amount=nw.when(is_zero).then(nw.lit(0.0)).otherwise(difference))


def _by_invoice(rows: Frame, optional: Sequence[str], amounts: Sequence[str]) -> Frame:
    known = nw.when(C("_hidden") == 0).then(C("time_amount"))
    rows = with_formulas(rows.with_columns(C("matter_count").cast(nw.Int64), time_amount=known), amounts)
    columns = ("invoice_id", *optional, "invoice_date", "invoice_state", *amounts, "matter_count")
    return rows.sort("invoice_date", "invoice_id", nulls_last=True).select(*columns)


def _note(totals: Frame, invoices: Frame, period: Period, settings: FirmSettings, frames: Frames) -> None:
    is_counted, whole, taxed = is_in_period("invoice_date", period), is_whole(frames.natives), bool(settings.taxes)
    rows = totals.join(invoices.select("invoice_id", _counted=as_float(is_counted)), on="invoice_id", how="left")
    not_passed, counted = C("_counted").is_null(), C("_counted") > 0
    sums = {
        "rows": value_if(not_passed, "_rows"),
        "invoices": as_float(not_passed),
        "hidden": value_if(not_passed | counted, "_hidden"),
    }
    evidence = join_by_id(invoices, totals, "invoice_id").with_columns(_evident=C("invoice_state") == "final")
    evidence = _as_allocated(evidence, settings).with_columns(**above_items(taxed=taxed))
    of_rows = {name: column.sum() for name, column in sums.items()}
    count = collect_counts((rows, of_rows), (evidence, count_above_items(taxed=taxed)))
    notes, items, ids = frames.notes, int(count["rows"]), int(count["invoices"])
    words = {"items": f"{items:,} item{'' if items == 1 else 's'}", "consequence": "left out"}
    words["reasons"] = f" ({ids:,} invoice{'' if ids == 1 else 's'} in all)"
    notes.add(UNKNOWN_INVOICE, items, **words)
    so = "the items of their invoices can't be added up"
    notes.add(HIDDEN_RATES, count["hidden"], which=" on invoices", consequence=so)
    if not frames.is_inner:
        note_same_share(notes, count, evidence, taxed=taxed, whole=whole)


ANALYSIS = Analysis(
    name="reconcile",
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
        columns=(*_ITEM_AMOUNTS.values(), "items_amount", "tax_amount", *_OF_INVOICES, "matter_count", "invoices"),
        optional=("tax_amount", "matter_count", "invoices"),
        keys=("invoice_number", "client_name", "invoice_date", "invoice_state"),
        cents=True,
    ),
    book=FromBook(note="Of invoices dated in the period."),
)
