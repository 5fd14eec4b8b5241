"""Budget burn: the part of each matter's budget that is used.

Work uses a budget when it is done, not when it is billed. Work on final invoices counts at the fees billed, other work
at its value. A budget has no period, so all work on the matter counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._names import first_few
from billframes.analysis.declare.columns import ITEMS, Frame, column_names
from billframes.analysis.declare.metrics import Measure, ratio_measure, retitled, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.frames.engine import collect, collect_counts, join_by_id, sum_by
from billframes.analysis.frames.expressions import RESIDUE, as_float, map_values, null_column, value_if
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
from billframes.analysis.model.declared_ratios import with_ratios
from billframes.analysis.model.missing_work import (
    note_absent_items,
    unknown_state_reasons,
)
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.cancelled_work import is_cancelled, note_cancelled
from billframes.analysis.rules.cut_frames import note_cut_frames
from billframes.analysis.rules.invoices import UNKNOWN_INVOICE
from billframes.analysis.rules.loads import need_all_dates, note_removed_rows
from billframes.analysis.rules.people import NO_BUDGETED_WORK
from billframes.config.firm import FirmSettings, check_settings
from billframes.errors import ParameterError

__all__ = ["ANALYSIS", "budget_burn"]

C = nw.col

_USED = ("billed_amount", "fixed_fee_amount", "prebill_amount", "unbilled_amount", "unknown_amount")
_HIDDEN = tuple(f"_hidden_{name}" for name in ("prebill_amount", "unbilled_amount", "unknown_amount"))
_COUNTS = ("_hidden_billed_amount", "_rows_unknown", "_cancelled", "_cancelled_fees")
_MEASURES = (*_USED, *_HIDDEN, "unbilled_fixed_fee_amount", *_COUNTS)


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
        A frame lacks a column, or an argument or a frame is not valid.

    Warns
    -----
    RatesHiddenWarning, IncompleteDataWarning
        The notes of the result say what was seen, how much, and what to do.

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
    frames = Frames.of(
        time_entries=time_entries, invoices=invoices, expenses=expenses, fixed_fees=fixed_fees, matters=matters
    )
    need_all_dates("budget_burn", frames, ("invoices", *ITEMS), {"billing_type": "billable"})
    consequence = "budgets can look less used than they are"
    note_cut_frames("budget_burn", frames, None, consequence)
    note_removed_rows("budget_burn", frames, consequence, "invoices", *ITEMS)
    note_unknown_ids(settings, frames)
    fees = _fees_of_matters(frames, settings)
    note_absent_items("budget_burn", frames)
    used = fees.group_by("matter_id").agg(C("matter_name").max(), *[C(name).sum() for name in _MEASURES])
    used = collect(used)
    counts = _counts(used, budgets)
    _note(counts, frames)
    rows, without_work = _with_all_budgets(_with_matters(used, frames), budgets)
    if "matters" not in frames and len(without_work) == len(budgets):
        frames.notes.add(NO_BUDGETED_WORK, len(without_work), "budget_burn", few=first_few(without_work))
    return frames.to_native(_result(rows, budgets, _unbudgeted_fees(counts)), time_entries)


def _fees_of_matters(frames: Frames, settings: FirmSettings) -> Frame:
    """Return rows of fees by matter, in one column per billing state, whatever their date."""
    time = _with_name(billable_time(frames, ("matter_id",), ("matter_name",)))
    rates = allocation_rates(time_on_invoices(time), frames, settings)
    time = time.with_columns(_hidden=as_float(C("worth").is_null()), worth=C("worth").fill_null(0.0), _rows=nw.lit(1.0))
    # The fees of an invoice are allocated by one rule, so the entries of a matter on it can be added up first.
    time = sum_by(time, ("matter_id", "invoice_id", "matter_name"), ("worth", "hours", "_hidden", "_rows"))
    parts = [_columns_by_state(time, rates, "billed_amount", allocated_fee())]
    if "fixed_fees" in frames:
        fixed = frames.select("fixed_fees", ("matter_id", "invoice_id", "amount"), ("matter_name",))
        fixed = _with_name(fixed).with_columns(worth=C("amount"), _hidden=nw.lit(0.0), _rows=nw.lit(1.0))
        parts.append(_columns_by_state(fixed, rates, "fixed_fee_amount", C("worth")))
    if (untyped := unknown_time(frames, ("matter_id",), ("matter_name",))) is not None:
        parts.append(_unknown_columns(_with_name(untyped)))
    credits_ = rates.filter(C("_invoice_state") == "final", C("_by_worth") + C("_by_hours") < 1)
    cancelled = as_float(is_cancelled())
    none = dict.fromkeys(_MEASURES, nw.lit(0.0)) | {
        "billed_amount": C("_unallocated"),
        "_cancelled": cancelled,
        "_cancelled_fees": cancelled * C("_unallocated"),
    }
    parts.append(credits_.select(matter_id=null_column(nw.String), matter_name=null_column(nw.String), **none))
    return nw.concat(parts)


def _unknown_columns(rows: Frame) -> Frame:
    """Return the value of time of unknown billing type as `unknown_amount`."""
    measures = dict.fromkeys(_MEASURES, nw.lit(0.0)) | {
        "unknown_amount": C("worth").fill_null(0.0),
        "_hidden_unknown_amount": as_float(C("worth").is_null()),
    }
    return rows.select("matter_id", "matter_name", **measures)


def _with_name(rows: Frame) -> Frame:
    """Add `matter_name`, which is missing, to rows without it."""
    there = "matter_name" in column_names(rows)
    return rows if there else rows.with_columns(matter_name=null_column(nw.String))


def _columns_by_state(rows: Frame, rates: Frame, final: str, billed: nw.Expr) -> Frame:
    """Return amounts in the column of their billing state; on final invoices, `billed` in the column `final`."""

    def in_state(state: str, value: nw.Expr) -> nw.Expr:
        return value_if(C("_state") == state, value)

    rates = rates.select("invoice_id", "_invoice_state", "_per_worth", "_per_hour")
    joined = join_by_id(rows, rates, "invoice_id").with_columns(_state=billing_state())
    fixed = final == "fixed_fee_amount"
    measures = dict.fromkeys(_MEASURES, nw.lit(0.0)) | {
        final: in_state("final", billed),
        "unbilled_fixed_fee_amount" if fixed else "unbilled_amount": in_state("unbilled", C("worth")),
        "prebill_amount": in_state("prebill", C("worth")),
        "unknown_amount": in_state("unknown", C("worth")),
        "_hidden_unbilled_amount": in_state("unbilled", C("_hidden")),
        "_hidden_prebill_amount": in_state("prebill", C("_hidden")),
        "_hidden_unknown_amount": in_state("unknown", C("_hidden")),
        "_hidden_billed_amount": in_state("final", C("_hidden")),
        "_rows_unknown": in_state("unknown", C("_rows")),
    }
    return joined.select("matter_id", "matter_name", **measures)


def _with_matters(used: Frame, frames: Frames) -> Frame:
    """Add the names of matters, and the matters without work, from the matters frame."""
    if "matters" not in frames:
        return used
    listed = frames.select("matters", ("matter_id", "name"))
    listed = listed.select("matter_id", matter_name=C("name"), **dict.fromkeys(_MEASURES, nw.lit(0.0)))
    return nw.concat([used.with_columns(matter_name=null_column(nw.String)), collect(listed)])


def _with_all_budgets(rows: Frame, budgets: dict[str, float]) -> tuple[Frame, list[str]]:
    """Keep the matters with a budget. Matters that no frame has get a row of zeros, and their ids are also returned."""
    rows = rows.filter(C("matter_id").is_in(list(budgets)))
    totals = rows.group_by("matter_id").agg(C("matter_name").max(), *[C(name).sum() for name in _MEASURES])
    absent = sorted(set(budgets) - _ids(totals))
    # A sum without keys is one row on every engine, also for an empty frame.
    zeros = totals.select(*[C(name).sum() * 0.0 for name in _MEASURES])
    extra = [
        zeros.select(
            matter_id=nw.lit(each), matter_name=null_column(nw.String), **{name: C(name) for name in _MEASURES}
        )
        for each in absent
    ]
    return (nw.concat([totals, *extra]) if extra else totals), absent


def _ids(frame: Frame) -> set[str]:
    return set(cast("nw.DataFrame[Any]", collect(frame.select("matter_id")))["matter_id"].to_list())


def _counts(used: Frame, budgets: dict[str, float]) -> dict[str, float]:
    """Count the entries to note, and add up the fees of matters without a budget."""
    unbudgeted = C("matter_id").is_null() | ~C("matter_id").is_in(list(budgets))
    rows = used.with_columns(
        _unbudgeted=as_float(unbudgeted), _amount=nw.sum_horizontal(*_USED), _hidden=nw.sum_horizontal(*_HIDDEN)
    )
    other = C("_unbudgeted") > 0
    sums = {
        "unknown": C("_rows_unknown"),
        "hidden": C("_hidden"),
        "spread": C("_hidden_billed_amount"),
        "cancelled": C("_cancelled"),
        "cancelled_fees": C("_cancelled_fees"),
        "unbudgeted_amount": value_if(other, "_amount"),
        "unbudgeted_hidden": value_if(other, "_hidden"),
        "unbudgeted_matters": value_if(other & ~C("matter_id").is_null(), as_float(~(C("_amount").abs() <= RESIDUE))),
    }
    return collect_counts((rows, {name: column.sum() for name, column in sums.items()}))


def _unbudgeted_fees(counts: Mapping[str, float]) -> dict[str, float | None]:
    """Return the number of matters with fees and no budget, and the sum of these fees (None if rates are hidden)."""
    amount = counts["unbudgeted_amount"]
    known = None if counts["unbudgeted_hidden"] or math.isnan(amount) else amount
    return {"unbudgeted_matters": counts["unbudgeted_matters"], "unbudgeted_amount": known}


def _result(rows: Frame, budgets: dict[str, float], unbudgeted: dict[str, float | None]) -> Frame:
    hidden = dict(zip(_HIDDEN, _USED[2:], strict=True))
    known = {name: nw.when(C(count) == 0).then(C(name)) for count, name in hidden.items()}
    used: nw.Expr = C("billed_amount")
    for name in _USED[1:]:
        used = used + C(name)
    rows = (
        rows.with_columns(**known, budget_amount=map_values("matter_id", budgets, None, nw.Float64))
        .with_columns(used_amount=used, matter_name=nw.coalesce("matter_name", "matter_id"))
        .with_columns(
            remaining_amount=C("budget_amount") - C("used_amount"),
            unbudgeted_matters=nw.lit(int(unbudgeted["unbudgeted_matters"] or 0), nw.Int64),
            unbudgeted_amount=nw.lit(unbudgeted["unbudgeted_amount"]).cast(nw.Float64),
        )
    )
    ordered = rows.sort("matter_name", "matter_id", nulls_last=True)
    columns = ANALYSIS.measure_names
    return with_ratios(ordered, columns).select("matter_id", "matter_name", *columns)


def _note(count: Mapping[str, float], frames: Frames) -> None:
    notes = frames.notes
    kinds = "time entry or fixed fee" if count["unknown"] == 1 else "time entries and fixed fees"
    items = {"items": f"{int(count['unknown'])} {kinds}", "reasons": unknown_state_reasons(frames)}
    notes.add(UNKNOWN_INVOICE, count["unknown"], "budget_burn", consequence="counted in `unknown_amount`", **items)
    note_cancelled(notes, "budget_burn", count, ["matter_id"])
    if not count["hidden"]:
        words = {
            "which": " on final invoices",
            "consequence": "the fees of these invoices are spread over the hours of their time",
        }
        notes.add(HIDDEN_RATES, count["spread"], "budget_burn", **words)
        return
    so = "`used_amount` of their matters is missing"
    if count["spread"]:
        so += f", and the fees of {count['spread']:,.0f} entries on final invoices are spread over their hours"
    notes.add(HIDDEN_RATES, count["hidden"], "budget_burn", which=" on no final invoice", consequence=so)


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
    rows="one row per matter with a budget, sorted by label then id: `matter_id`, `matter_name`,",
    columns=(
        sum_measure("budget_amount", "Budget", "money", "The matter’s budget in the firm’s settings."),
        retitled("billed_amount", "Fees billed to date", "Net billed time fees of the matter, whatever their date."),
        *shared_measures("fixed_fee_amount", "prebill_amount"),
        retitled("unbilled_amount", "Unbilled time", "Value of the time on no invoice."),
        *shared_measures("unknown_amount"),
        sum_measure(
            "used_amount",
            "Used",
            "money",
            "Fees billed, fixed fees, draft bills and unbilled time together.",
            formula="billed_amount + fixed_fee_amount + prebill_amount + unbilled_amount",
        ),
        sum_measure("remaining_amount", "Remaining", "money", "Budget − used.", formula="budget_amount - used_amount"),
        ratio_measure(
            "budget_burn",
            "Budget used",
            "used_amount / budget_amount",
            "Used ÷ budget.",
            below="credits exceed what is used",
            above="more used than budgeted",
        ),
        sum_measure(
            "unbilled_fixed_fee_amount",
            "Unbilled fixed fees",
            "money",
            "Fixed fees on no invoice; they do not count as used.",
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
