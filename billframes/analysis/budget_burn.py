"""Budget burn: the part of each matter's budget that is used.

Work uses a budget when it is done, not when it is billed. Work on final invoices counts at the fees billed, other work
at its value. A budget has no period, so all work on the matter counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes._names import first_few
from billframes.analysis.data.people import without_people
from billframes.analysis.declare.columns import ITEMS, Frame, column_names
from billframes.analysis.declare.metrics import Measure, money, ratio_measure, retitled, shared_measures
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.frames.engine import collect, collect_counts, eager_from_arrow, join_by_id, sum_by, to_arrow
from billframes.analysis.frames.expressions import RESIDUE, as_float, columns_or_null, map_values, null_column, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import (
    allocated_fee,
    allocation_rates,
    billable_time,
    billing_state,
    time_on_invoices,
    unknown_time,
)
from billframes.analysis.model.arguments import note_unknown_ids
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.missing_work import note_absent_items, unknown_state_reasons
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.cancelled_work import is_cancelled, note_cancelled
from billframes.analysis.rules.invoices import UNKNOWN_INVOICE
from billframes.analysis.rules.loads import need_all_dates
from billframes.analysis.rules.people import NO_BUDGETED_WORK
from billframes.config.firm import FirmSettings, check_settings
from billframes.errors import ParameterError

C = nw.col

_KEYS = ("matter_id", "matter_name")
_OF_ITEMS = ("worth", "_fee", "_hidden", "_rows", "_cancelled")


def _in_state(state: str, *, fixed: bool | None = None) -> nw.Expr:
    """Return whether an item has a billing state and, if `fixed` is not None, whether it is a fixed fee."""
    return (C("_state") == state) if fixed is None else (C("_state") == state) & (C("_fixed") == float(fixed))


_SUMS = (
    Sum("billed_amount", "_fee", _in_state("final", fixed=False)),
    Sum("fixed_fee_amount", "worth", _in_state("final", fixed=True)),
    Sum("prebill_amount", "worth", _in_state("prebill"), "_hidden"),
    Sum("unbilled_amount", "worth", _in_state("unbilled", fixed=False), "_hidden"),
    Sum("unknown_amount", "worth", _in_state("unknown"), "_hidden"),
    Sum("unbilled_fixed_fee_amount", "worth", _in_state("unbilled", fixed=True)),
)


def budget_burn(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Part of each matter's budget that is used: (fees billed + fixed fees + draft bills + unbilled time) ÷ budget.

    Counts all fees of the matter, of any date; expenses do not count. Pass all items and invoices.

    Parameters
    ----------
    time_entries : frame
        With `matter_id`, `hours`, `billing_type`, `amount` and `invoice_id`.
    expenses, fixed_fees : frame, optional
        With None, no rows count, with a warning. If the firm has none, pass an empty frame.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    matters : frame, optional
        With `matter_id` and `name`: the matters' names.
    settings : FirmSettings
        With `budgets`: money by matter id.

    Returns
    -------
    frame
        Of the kind of the input, one row per matter with a budget, sorted by label then id: `matter_id`, `matter_name`,
        `budget_amount`, `billed_amount`, `fixed_fee_amount`, `prebill_amount`, `unbilled_amount`, `unknown_amount`,
        `used_amount`, `remaining_amount`, `budget_burn`, `unbilled_fixed_fee_amount`, `unbudgeted_matters`,
        `unbudgeted_amount`. `bf.explain("budget_burn")` says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    Of a budget of 2,000, fees of 800 are billed, and work worth 300 is not billed yet:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "matter_id": ["m1", "m1"], "matter_name": ["Sale", "Sale"], "hours": [4.0, 1.0],
    ...     "billing_type": ["billable", "billable"], "amount": [1000.0, 300.0], "invoice_id": ["i1", None],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [800.0], "balance": [0.0],
    ... })
    >>> none = pd.DataFrame(columns=["invoice_id", "matter_id", "amount"])
    >>> firm = FirmSettings(budgets={"m1": 2000})
    >>> result = budget_burn(entries, expenses=none, fixed_fees=none, invoices=invoices, settings=firm)
    >>> result[["matter_name", "budget_amount", "used_amount", "remaining_amount", "budget_burn"]]
      matter_name  budget_amount  used_amount  remaining_amount  budget_burn
    0        Sale         2000.0       1100.0             900.0         0.55
    """
    check_settings(settings)
    if settings is None or not (budgets := dict(settings.budgets)):
        raise ParameterError("budget_burn needs budgets: pass settings=FirmSettings(budgets={matter_id: amount}).")
    frames = Frames.of("budget_burn", locals())
    need_all_dates(frames, ("invoices", *ITEMS), {"billing_type": "billable"})
    note_unknown_ids(settings, frames)
    items = _items_of_matters(frames, settings)
    note_absent_items(frames)
    counts = _counts(items, budgets)
    _note(counts, frames)
    budgeted = items.filter(C("matter_id").is_in(list(budgets)))
    if "matters" not in frames and not len(to_arrow(budgeted)):
        few = first_few(sorted(budgets))
        frames.notes.add(NO_BUDGETED_WORK, len(budgets), few=few)
    # A matter without work has a row, too.
    rows = nw.concat([budgeted, _without_work(budgets, items)])
    hidden = counts["unbudgeted_hidden"] or math.isnan(counts["unbudgeted_amount"])
    others = {
        "budget_amount": map_values("matter_id", budgets, None, nw.Float64),
        "unbudgeted_matters": nw.lit(int(counts["unbudgeted_matters"]), nw.Int64),
        "unbudgeted_amount": nw.lit(None if hidden else counts["unbudgeted_amount"]).cast(nw.Float64),
    }
    grouping = Grouping.of("matter", frames.only("matters"), without_people(settings), _KEYS)
    return frames.to_native(add_up(rows, _SUMS, grouping, ANALYSIS.measure_names, (), **others), time_entries)


def _items_of_matters(frames: Frames, settings: FirmSettings) -> Frame:
    """Add up time, fixed fees and credits by matter and billing state, whatever their date."""
    time = billable_time(frames, ("matter_id",), ("matter_name",))
    rates = allocation_rates(time_on_invoices(time), frames, settings)
    time = _columns(time, _hidden=as_float(C("worth").is_null()), worth=C("worth").fill_null(0.0), hours=C("hours"))
    # The fees of an invoice are allocated by one rule, so the entries of a matter on it can be added up first.
    time = sum_by(time, (*_KEYS, "invoice_id"), ("worth", "hours", "_hidden", "_rows"))
    parts = [_with_state(time, rates, _fee=allocated_fee(), _fixed=nw.lit(0.0))]
    if "fixed_fees" in frames:
        fixed = frames.select("fixed_fees", ("matter_id", "invoice_id", "amount"), ("matter_name",))
        fixed = _columns(fixed, _hidden=nw.lit(0.0), worth=C("amount"))
        parts.append(_with_state(fixed, rates, _fee=nw.lit(0.0), _fixed=nw.lit(1.0)))
    if (untyped := unknown_time(frames, ("matter_id",), ("matter_name",))) is not None:
        rows = _columns(untyped, _hidden=as_float(C("worth").is_null()), worth=C("worth").fill_null(0.0))
        none = dict.fromkeys(("_fee", "_fixed", "_cancelled", "_rows"), nw.lit(0.0))
        parts.append(rows.with_columns(_state=nw.lit("unknown"), **none))
    unallocated = rates.filter(C("_invoice_state") == "final", C("_by_worth") + C("_by_hours") < 1)
    none = dict.fromkeys(("worth", "_hidden", "_rows", "_fixed"), nw.lit(0.0)) | {"_state": nw.lit("final")}
    keys = dict.fromkeys(_KEYS, null_column(nw.String))
    parts.append(unallocated.select(**keys, **none, _fee=C("_unallocated"), _cancelled=as_float(is_cancelled())))
    names = [*_KEYS, "_state", "_fixed"]
    return collect(sum_by(nw.concat([each.select(*names, *_OF_ITEMS) for each in parts]), names, _OF_ITEMS))


def _columns(rows: Frame, **values: nw.Expr) -> Frame:
    """Select the matter, its name, which is missing if the rows have none, the invoice, and values."""
    keys = columns_or_null(rows, _KEYS, dict.fromkeys(_KEYS, nw.String))
    return rows.select(*keys, "invoice_id", _rows=nw.lit(1.0), **values)


def _with_state(rows: Frame, rates: Frame, **values: nw.Expr) -> Frame:
    rates = rates.select("invoice_id", "_invoice_state", "_per_worth", "_per_hour")
    return join_by_id(rows, rates, "invoice_id").with_columns(_state=billing_state(), _cancelled=nw.lit(0.0), **values)


def _without_work(budgets: Mapping[str, float], items: Frame) -> Frame:
    ids = eager_from_arrow(items, pa.table({"matter_id": pa.array(budgets, pa.string())}))
    zeros = dict.fromkeys(("_fixed", *_OF_ITEMS), nw.lit(0.0))
    rows = ids.with_columns(matter_name=null_column(nw.String), _state=nw.lit("final"), **zeros)
    return rows.select(*column_names(items))


def _counts(items: Frame, budgets: Mapping[str, float]) -> dict[str, float]:
    """Count the entries to note, and add up the fees of matters without a budget."""
    final, fixed = C("_state") == "final", C("_fixed") > 0
    used = nw.when(final & ~fixed).then(C("_fee")).otherwise(C("worth"))
    rows = items.with_columns(
        _used=value_if(~(fixed & (C("_state") == "unbilled")), used),
        _open=value_if(~final, "_hidden"),
        _fees=value_if(C("_cancelled") > 0, "_fee"),
    )
    other = C("matter_id").is_null() | ~C("matter_id").is_in(list(budgets))
    others = sum_by(rows.filter(other), ["matter_id"], ["_used", "_open"])
    has_fees = ~C("matter_id").is_null() & ~(C("_used").abs() <= RESIDUE)
    sums = {
        "unknown": value_if(C("_state") == "unknown", "_rows"),
        "hidden": C("_open"),
        "spread": value_if(final, "_hidden"),
        "cancelled": C("_cancelled"),
        "cancelled_fees": C("_fees"),
    }
    of_others = {
        "unbudgeted_amount": C("_used"),
        "unbudgeted_hidden": C("_open"),
        "unbudgeted_matters": as_float(has_fees),
    }
    return collect_counts(
        (rows, {name: column.sum() for name, column in sums.items()}),
        (others, {name: column.sum() for name, column in of_others.items()}),
    )


def _note(count: Mapping[str, float], frames: Frames) -> None:
    notes = frames.notes
    kinds = "time entry or fixed fee" if count["unknown"] == 1 else "time entries and fixed fees"
    items = {"items": f"{int(count['unknown'])} {kinds}", "reasons": unknown_state_reasons(frames)}
    notes.add(UNKNOWN_INVOICE, count["unknown"], consequence="counted in `unknown_amount`", **items)
    note_cancelled(notes, count, ["matter_id"])
    if not count["hidden"]:
        words = {
            "which": " on final invoices",
            "consequence": "the fees of these invoices are spread over the hours of their time",
        }
        notes.add(HIDDEN_RATES, count["spread"], **words)
        return
    so = "`used_amount` of their matters is missing"
    if count["spread"]:
        so += f", and the fees of {count['spread']:,.0f} entries on final invoices are spread over their hours"
    notes.add(HIDDEN_RATES, count["hidden"], which=" on no final invoice", consequence=so)


ANALYSIS = Analysis(
    name="budget_burn",
    question="How much of the budget of each matter is used up?",
    summary=(
        "It compares the fees of each matter, billed and not yet billed, with the matter's budget in the firm's "
        "settings. All work on the matter counts, of any date."
    ),
    example=(
        "Of a budget of 2000, fees of 800 are billed and work worth 300 is not billed yet: 1100 is used, which is 55%, "
        "and 900 remains."
    ),
    formula="(fees billed + fixed fees + draft bills + unbilled time) ÷ budget",
    numerator="net billed time fees and fixed fees on final invoices; time and fixed fees on draft bills or unknown "
    "invoices, and unbilled time, at their value",
    denominator="the matter's budget in the settings",
    left_out=(
        "Matters without a budget: `unbudgeted_matters` is their number, and `unbudgeted_amount` their fees.",
        "Expenses; non-billable time; fixed fees on no invoice yet (`unbilled_fixed_fee_amount`).",
        "Credit notes: they belong to no matter, and are in `unbudgeted_amount`.",
    ),
    cannot_tell=("Whether a budget was changed: the present budget in the settings counts.",),
    own=("matters", "settings"),
    rows="one row per matter with a budget, sorted by label then id:",
    keys=_KEYS,
    columns=(
        money("budget_amount", "Budget", "The matter’s budget in the firm’s settings."),
        retitled("billed_amount", "Fees billed to date", "Net billed time fees of the matter, whatever their date."),
        *shared_measures("fixed_fee_amount", "prebill_amount"),
        retitled("unbilled_amount", "Unbilled time", "Value of the time on no invoice."),
        *shared_measures("unknown_amount"),
        money(
            "used_amount",
            "Used",
            "Fees billed, fixed fees, draft bills, unbilled time and what is on unknown invoices, together.",
            formula="billed_amount + fixed_fee_amount + prebill_amount + unbilled_amount + unknown_amount or "
            "billed_amount + fixed_fee_amount + prebill_amount + unbilled_amount",
        ),
        money("remaining_amount", "Remaining", "Budget − used.", formula="budget_amount - used_amount"),
        ratio_measure(
            "budget_burn",
            "Budget used",
            "used_amount / budget_amount",
            below="credits exceed what is used",
            above="more used than budgeted",
        ),
        money(
            "unbilled_fixed_fee_amount", "Unbilled fixed fees", "Fixed fees on no invoice; they do not count as used."
        ),
        Measure("unbudgeted_matters", "Matters without budget", "count", "Number of matters with fees and no budget."),
        Measure(
            "unbudgeted_amount",
            "Fees without budget",
            "money",
            "Fees on matters without a budget and on no matter; the same in every row.",
        ),
    ),
    table=TableSpec(
        title="Budgets",
        without=("unknown_amount", "unbilled_fixed_fee_amount", "unbudgeted_matters", "unbudgeted_amount"),
        brief=("budget_amount", "used_amount", "remaining_amount", "budget_burn"),
    ),
    chart=ChartSpec(
        kind="stacks",
        title="Budget used",
        columns=("billed_amount", "fixed_fee_amount", "prebill_amount", "unbilled_amount", "unknown_amount"),
        words=["{budget_burn}"],
        unless_zero=("fixed_fee_amount", "unknown_amount"),
        mark="budget_amount",
        darkest_first=True,
        shows="billed, on draft bills and unbilled, and the budget as a black mark.",
        more="The text beside a bar is used ÷ budget. Fixed fees and unknown amounts are drawn only if there are any.",
        example={
            "matter_name": ["Acme v. Bolt"],
            "budget_amount": [1000.0],
            "billed_amount": [500.0],
            "fixed_fee_amount": [0.0],
            "prebill_amount": [200.0],
            "unbilled_amount": [100.0],
            "unknown_amount": [0.0],
            "budget_burn": [0.8],
        },
        gives=(["80.0%"], "Budget used by matter"),
    ),
)
