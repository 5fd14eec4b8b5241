"""Profitability: fees billed, less the cost of the hours worked.

Work and its invoice are rarely of the same month. So the fees of the invoices dated in a period can be compared with
the work done in it, or the work done in a period with the fees that it was billed at.
"""

from __future__ import annotations

from typing import Literal

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

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
from billframes.analysis.frames.engine import collect, collect_counts, sum_by
from billframes.analysis.frames.expressions import as_float, in_period, value_at_rates, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.arguments import MATTER_TYPES, check_choice, note_missing_rates
from billframes.analysis.model.billed_work import FACT
from billframes.analysis.model.billed_work_choice import BilledWork
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.amounts import note_high_rates
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike, Period

C = nw.col

_COST = (
    *(Sum(name, name) for name in ("total_hours", "uncosted_hours")),
    Sum("cost_amount", "cost_amount", hides="_uncosted"),
    Sum("unbilled_amount", "unbilled_amount", hides="_hidden"),
)
_SUMS = ("billed_amount", "fixed_fee_amount", *(each.name for each in _COST))

FEES = (Sum("billed_amount", "_fees"), Sum("fixed_fee_amount", "_fixed"))


def profitability(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
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
    expenses, fixed_fees : frame, optional
        With None, no rows count, with a warning. If the firm has none, pass an empty frame.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    matters, users, clients : frame, optional
        For the columns that `by` names, matter types and roles.
    by : str or list of str, optional
        Keys to group by; None gives one row. A fixed fee counts for its own matter, client and user, not for the people
        who did the work under it.
    basis : {"invoice_date", "work_date"}
        "invoice_date": fees on final invoices dated in the period, and all hours worked in it. "work_date": these
        hours, their fees on final invoices of any date, without invoices without time, and fixed fees dated in the
        period.
    start, end : str or date, optional
        First and last day, inclusive, or a period such as "2026-Q3" as `start`; None is open.
    settings : FirmSettings, optional
        The firm's settings. `cost_rates`: money per hour by user.

    Returns
    -------
    frame
        Of the kind of the input, sorted by label: the keys, then `billed_amount`, `fixed_fee_amount`, `fees_amount`,
        `total_hours`, `cost_amount`, `profit_amount`, `margin_ratio`, `uncosted_hours`, `unbilled_amount`.
        `bf.explain("profitability")` says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    Time fees of 800 and a fixed fee of 200 are 1,000. The 5 hours worked cost 120 each, so 400 is left:

    >>> import pandas as pd
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
    ...     settings=FirmSettings(cost_rates={"u1": 120.0}),
    ... )
    >>> result[["fees_amount", "total_hours", "cost_amount", "profit_amount", "margin_ratio"]]
       fees_amount  total_hours  cost_amount  profit_amount  margin_ratio
    0       1000.0          5.0        600.0          400.0           0.4
    """
    check_choice(basis, "basis", ("invoice_date", "work_date"))
    frames = Frames.of("profitability", locals())
    period = frames.period(start, end, settings)
    grouping = Grouping.of(by, frames, settings)
    every = frozenset(MATTER_TYPES)
    work = BilledWork(grouping=grouping, periods=[period], basis=basis, typed=True, matter_types=every)
    fees = add_up(FACT.rows(frames, work), FEES, grouping, _SUMS[:2])
    totals = grouping.combine([fees, _cost(frames, grouping, period)], _SUMS)
    result = grouping.finish(totals, ANALYSIS.measure_names, named=True)
    return frames.to_native(result, time_entries, period, settings)


def _cost(frames: Frames, grouping: Grouping, period: Period) -> Frame:
    columns = ("date", "user_id", "hours", "billing_type", "amount", "invoice_id", *grouping.row_columns)
    dated = in_period(frames.select("time_entries", columns), "date", period)
    rows = value_at_rates(grouping.with_periods(dated, "date"), grouping.settings.cost_rates)
    unrated = C("_unrated") > 0
    billable = C("billing_type") == "billable"
    unbilled, priced = C("invoice_id").is_null() & billable, billable & (C("amount") != 0)
    rows = rows.with_columns(
        total_hours=C("hours"),
        cost_amount=C("_value"),
        uncosted_hours=value_if(unrated, "hours"),
        _uncosted=C("_unrated"),
        unbilled_amount=value_if(unbilled, C("amount").fill_null(0.0)),
        _hidden=as_float(unbilled & C("amount").is_null() & (C("hours") != 0)),
        _worth=value_if(priced, C("amount").fill_null(0.0)),
        _priced_hours=value_if(priced, "hours"),
    )
    sums = [*_SUMS[2:], "_uncosted", "_hidden", "_worth", "_priced_hours"]
    costs = collect(sum_by(rows, grouping.base, sums))
    _note_rates(costs, rows.filter(unrated), grouping)
    return add_up(costs, _COST, grouping, _SUMS[2:])


def _note_rates(sums: Frame, unrated: Frame, grouping: Grouping) -> None:
    """Note people without a cost rate, and of rates that are too high for an hour."""
    counts = collect_counts((sums, {name: C(f"_{name}").sum() for name in ("uncosted", "worth", "priced_hours")}))
    if counts["uncosted"]:
        note_missing_rates(grouping.notes, unrated, "cost", "cost, profit and margin are missing in their rows")
    if rates := grouping.settings.cost_rates:
        note_high_rates(grouping.notes, "cost", rates, counts["worth"], counts["priced_hours"])


ANALYSIS = Analysis(
    name="profitability",
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
        example={
            "client_name": ["Acme", "Bolt"],
            "fees_amount": [1000.0, 500.0],
            "profit_amount": [400.0, -50.0],
            "margin_ratio": [0.4, -0.1],
        },
        gives=(["40.0%", "−10.0%"], "All fees, profit and margin by client"),
    ),
)
