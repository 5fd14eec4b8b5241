"""Budget burn: the part of each matter's budget that is used.

Work uses a budget when it is done, not when it is billed. Work on final invoices counts at the fees billed, other work
at its value. A budget has no period, so all work on the matter counts.
"""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes._shared.names import first_few
from billframes._shared.notes import Count
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, collect_counts, eager_from_arrow
from billframes.analysis.data.expressions import RESIDUE, C, columns_or_null, count_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import ITEMS, Frame
from billframes.analysis.declare.metrics import Measure, money, ratio_measure, retitled, shared_measures
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.facts.work import work
from billframes.analysis.keys.formulas import with_formulas
from billframes.analysis.keys.groupby import Keys, Sum, Totals
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.fees import fee_marks, note_spread_fees, note_unknown_invoices
from billframes.analysis.rules.loads import need_all_dates
from billframes.analysis.rules.people import NO_BUDGETED_WORK
from billframes.errors import ParameterError

_KEYS = ("matter_id", "matter_name")
_FIXED, _UNTYPED = C("kind") == "fixed_fee", C("is_untyped")
_LOST = (C("state") == "unknown") | (C("state") == "lost")
_WORTH = C("value") + C("amount")
_SUMS = (
    Sum("billed_amount", "fees"),
    Sum("fixed_fee_amount", "amount", C("state") == "final"),
    Sum("prebill_amount", _WORTH, (C("state") == "prebill") & ~_UNTYPED),
    Sum("unbilled_amount", "value", (C("state") == "unbilled") & ~_UNTYPED),
    Sum("unknown_amount", _WORTH, _LOST | _UNTYPED),
    Sum("unbilled_fixed_fee_amount", "amount", C("state") == "unbilled"),
)
_MARKS = (
    Sum("_unknown", nw.lit(1.0), _LOST & ~_UNTYPED),
    Sum("_open", nw.lit(1.0), C("value").is_nan() & (~C("is_final") | _UNTYPED)),
)


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?")
def budget_burn(call: Call) -> Frame:
    """
    Part of each matter's budget that is used: (fees billed + fixed fees + draft bills + unbilled time) ÷ budget.

    Counts all fees of the matter, of any date; expenses do not count. Pass all items and invoices.

    Parameters
    ----------
    time_entries : frame
        With `matter_id`, `hours`, `billing_type`, `amount` and `invoice_id`.
    matters : frame, optional
        With `matter_id` and `name`: the matters' names.
    settings : FirmSettings
        With `budgets`: money by matter id.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "matter_id": ["m1", "m1"], "matter_name": ["Sale", "Sale"], "hours": [4.0, 1.0],
    ...     "billing_type": ["billable", "billable"], "amount": [1000.0, 300.0], "invoice_id": ["i1", None],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [800.0], "balance": [0.0],
    ... })
    >>> none = pd.DataFrame(columns=["invoice_id", "matter_id", "amount"])
    >>> firm = bf.FirmSettings(budgets={"m1": 2000})
    >>> result = budget_burn(entries, expenses=none, fixed_fees=none, invoices=invoices, settings=firm)
    >>> result[["matter_name", "budget_amount", "used_amount", "remaining_amount", "budget_burn"]]
      matter_name  budget_amount  used_amount  remaining_amount  budget_burn
    0        Sale         2000.0       1100.0             900.0         0.55
    """
    budgets = dict(call.settings.budgets)
    if not budgets:
        raise ParameterError("The firm's settings don't have budgets: bf.FirmSettings(budgets={matter_id: amount}).")
    need_all_dates(call, ("invoices", *ITEMS), {"billing_type": "billable"})
    keys = Keys.of(call, "matter", (), columns=_KEYS)
    keys.require_ids("time_entries", "fixed_fees")
    call.require("invoices", "invoice_state", "invoice_date", "amount", "balance")
    rows = call.fact(work, only=("time", "fixed_fee", "fees"), discounts=call.settings.discounts)
    rows = rows.filter(C("is_billable") | _UNTYPED | _FIXED | (C("kind") == "fees"))
    totals = keys.sum(rows, [*_SUMS, *_MARKS, *fee_marks()])
    _note(call, keys, totals)

    used = with_formulas(totals.rows, ("used_amount",))
    of_budget = C("matter_id").is_in(list(budgets)).fill_null(False)
    others = _others(used.filter(~of_budget))
    budgeted = totals.where(of_budget)
    if "matters" not in call and not len(collect(budgeted.rows).to_native()):
        call.notes.add(NO_BUDGETED_WORK, len(budgets), few=first_few(sorted(budgets)))
    # A matter without work has a row, too.
    columns = {"matter_id": pa.array(budgets, pa.string()), "budget_amount": pa.array(budgets.values(), pa.float64())}
    listed = eager_from_arrow(totals.rows, pa.table(columns))
    listed = listed.with_columns(*columns_or_null(listed, keys.base, dict.fromkeys(keys.base, nw.String())))
    return keys.finish(keys.listed(listed, ("budget_amount",)) + budgeted, ANALYSIS.measure_names, **others)


def _others(rows: Frame) -> dict[str, nw.Expr]:
    """Return the number of matters without a budget, and their fees with those of no matter."""
    has_fees = ~C("matter_id").is_null() & ~(C("used_amount").abs() <= RESIDUE)
    found = collect_counts((rows, {"matters": count_if(has_fees), "amount": C("used_amount").sum()}))
    return {
        "unbudgeted_matters": nw.lit(int(found["matters"]), nw.Int64),
        "unbudgeted_amount": nw.lit(found["amount"]).cast(nw.Float64),
    }


def _note(call: Call, keys: Keys, totals: Totals) -> None:
    kinds = ("time entry or fixed fee", "time entries and fixed fees")
    note_unknown_invoices(call, totals.total("_unknown"), "counted in `unknown_amount`", kinds)
    note_spread_fees(call, keys, totals)
    is_open, hidden = totals.total("_open"), totals.total("_hidden")
    if not is_open:
        so = "the fees of these invoices are spread over the hours of their time"
        call.notes.add(HIDDEN_RATES, hidden, which=" on final invoices", consequence=so)
        return
    so = "`used_amount` of their matters is missing"
    if hidden > is_open:
        so += f", and the fees of {Count.of(hidden - is_open)} entries on final invoices are spread over their hours"
    call.notes.add(HIDDEN_RATES, is_open, which=" on no final invoice", consequence=so)


ANALYSIS = Analysis(
    function=budget_burn,
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
    ),
)
