"""Profitability: fees billed, less the cost of the hours worked.

Work and its invoice are rarely of the same month. So the fees of the invoices dated in a period can be compared with
the work done in it, or the work done in a period with the fees that it was billed at.
"""

from __future__ import annotations

from typing import Literal

from billframes._shared.suggestions import check_choice
from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import C, is_in_period
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import (
    money,
    of_all_types,
    ratio_measure,
    retitled,
    shared_measures,
    sum_measure,
)
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.facts.rates import at_rates, rate_of
from billframes.analysis.facts.work import work
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys, Sum, Totals
from billframes.analysis.rules.amounts import note_high_rates
from billframes.analysis.rules.fees import FEES, all_fees, fees_of_work
from billframes.analysis.rules.people import note_missing_rates
from billframes.periods import DateLike

_FEES = tuple(each.name for each in FEES)
_COSTS = ("total_hours", "cost_amount", "uncosted_hours", "unbilled_amount")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def profitability(
    call: Call,
    *,
    by: By = None,
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
) -> Frame:
    """
    Fees billed less the cost of the hours worked, and the margin.

    Fees are the net billed time fees of `realization`, for matters of every type, and the fixed fees on final invoices.
    Cost is all hours dated in the period, also non-billable and internal ones, times each person's cost rate. So by
    invoice date, fees and hours are of different work, while `basis="work_date"` compares work with its own fees.

    Parameters
    ----------
    time_entries : frame
        With `date`, `user_id`, `matter_id`, `hours`, `billing_type`, `amount` and `invoice_id`, and the columns that
        `by` needs; of any date, as for `realization`.
    basis : {"invoice_date", "work_date"}
        "invoice_date": fees on final invoices dated in the period, and all hours worked in it. "work_date": these
        hours, their fees on final invoices of any date, without invoices without time, and fixed fees dated in the
        period.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01", "2026-10-02"]), "user_id": ["u1", "u1"],
    ...     "matter_id": ["m1", "m1"], "matter_type": ["hourly", "hourly"], "hours": [4.0, 1.0],
    ...     "billing_type": ["billable", "nonBillable"], "amount": [1000.0, None], "invoice_id": ["i1", None],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-31"]), "invoice_state": ["final"],
    ...     "amount": [1000.0], "balance": [0.0],
    ... })
    >>> fees = pd.DataFrame({"invoice_id": ["i1"], "amount": [200.0]})
    >>> result = profitability(
    ...     entries, expenses=fees.head(0), fixed_fees=fees, invoices=invoices, start="2026-10",
    ...     settings=bf.FirmSettings(cost_rates={"u1": 120.0}),
    ... )
    >>> result[["fees_amount", "total_hours", "cost_amount", "profit_amount", "margin_ratio"]]
       fees_amount  total_hours  cost_amount  profit_amount  margin_ratio
    0       1000.0          5.0        600.0          400.0           0.4
    """
    check_choice(basis, "basis", ("invoice_date", "work_date"))
    period = call.period(start, end)
    keys = Keys.of(call, by)
    fees_in = all_fees if basis == "invoice_date" else fees_of_work
    fees = keys.finish(fees_in(call, keys, period), _FEES)

    call.require("time_entries", "date", "user_id", "hours", "billing_type", "amount", "invoice_id")
    rows = call.fact(work, keys.own, only=("time",)).filter((C("kind") == "time") & is_in_period("date", period))
    totals = keys.sum(rows, _costs(call), date="date")
    _note_rates(call, rows, totals)
    combined = keys.combine([fees, keys.finish(totals, _COSTS)], (*_FEES, *_COSTS))
    return keys.labelled(combined, ANALYSIS.measure_names, named=True)


def _costs(call: Call) -> list[Sum]:
    rates, priced = call.settings.cost_rates, C("is_billable") & ~C("value").is_nan() & (C("value") != 0)
    return [
        Sum("total_hours", "hours"),
        Sum("cost_amount", at_rates(rates), C("hours") != 0),
        Sum("uncosted_hours", "hours", rate_of(rates).is_nan()),
        Sum("unbilled_amount", "value", C("is_billable") & (C("state") == "unbilled")),
        Sum("_priced", "value", priced),
        Sum("_priced_hours", "hours", priced),
    ]


def _note_rates(call: Call, rows: Frame, totals: Totals) -> None:
    """Note people without a cost rate, and rates that are too high for an hour."""
    rates = call.settings.cost_rates
    if totals.total("uncosted_hours"):
        unrated = rows.filter(rate_of(rates).is_nan() & (C("hours") != 0))
        note_missing_rates(call.notes, unrated, "cost", "cost, profit and margin are missing in their rows")
    if rates:
        note_high_rates(call.notes, "cost", rates, totals.total("_priced"), totals.total("_priced_hours"))


ANALYSIS = Analysis(
    function=profitability,
    question="How much of the fees is left after the cost of the people who did the work?",
    summary=(
        "It subtracts the cost of the hours worked from the fees billed. By invoice date, fees and hours are of "
        'different work; `basis="work_date"` compares the fees of the period\'s work with its own cost.'
    ),
    example=(
        "Time fees of 800 and a fixed fee of 200 are 1000. The 5 hours worked cost 120 each, which is 600 in total. So "
        "400 is left: a margin of 40%."
    ),
    formula="(billed time fees + fixed fees − hours × cost rates) ÷ (billed time fees + fixed fees)",
    numerator="net billed time fees and fixed fees on final invoices, less all hours worked × cost rates",
    denominator="net billed time fees and fixed fees on final invoices",
    left_out=(
        "expenses: they are neither fees nor cost",
        "fees not on a final invoice: `unbilled_amount` is the value of the period's time that is on no invoice yet",
        "the cost of hours of people without a cost rate: the hours are in `uncosted_hours`, and cost, profit and "
        "margin are missing",
    ),
    cannot_tell=(
        "the cost of people: the firm's settings have it (`cost_rates`)",
        "earlier cost rates: each person has one rate",
        "by invoice date, whether the fees pay for the hours: the fees are those of the invoices dated in the period, "
        "and the hours those of the work done in it",
    ),
    arguments={
        "by": "A fixed fee counts for its own matter, client and user, not for the people who did the work under it.",
        "settings": "`cost_rates`: money per hour by user.",
    },
    columns=(
        *of_all_types("billed_amount"),
        *shared_measures("fixed_fee_amount", "fees_amount", "total_hours"),
        money("cost_amount", "Cost", "Hours × cost rates; missing if a person with hours has no cost rate."),
        money("profit_amount", "Profit", "All fees − cost.", formula="fees_amount - cost_amount"),
        ratio_measure("margin_ratio", "Margin", "profit_amount / fees_amount"),
        sum_measure("uncosted_hours", "Hours without cost", "hours", "Hours of people without a cost rate."),
        retitled(
            "unbilled_amount",
            "Unbilled time, all types",
            "Value of the period’s billable time on no invoice. Matters of every type count.",
        ),
    ),
    table=TableSpec(title="Profitability", optional=("unbilled_amount",)),
    chart=ChartSpec(
        kind="bars",
        title="All fees, profit and margin",
        columns=("fees_amount", "profit_amount"),
        words=["{margin_ratio}"],
        shows="profit (dark) on fees (pale), and the margin.",
        more="A loss is to the left of zero. Without cost rates, only fees are drawn.",
    ),
)
