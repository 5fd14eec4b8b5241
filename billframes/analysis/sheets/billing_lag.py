"""Billing lag: the days from the date of the work to the date of its final invoice.

Work that is not on a final invoice yet has no lag. Work in progress shows its age.
"""

from __future__ import annotations

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import C, day_number, is_in_period
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import ratio_measure, retitled, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.facts.work import work
from billframes.analysis.keys.by import By
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.fees import lost_in, note_unknown_invoices, with_lost
from billframes.analysis.rules.loads import need_work_on_invoices
from billframes.periods import DateLike

_ONE = nw.lit(1.0)
_SUMS = (
    Sum("entries", _ONE),
    Sum("total_lag_days", "lag"),
    Sum("worked_amount", "value"),
    Sum("amount_days", C("lag") * C("value")),
    Sum("billable_hours", "hours"),
    Sum("hour_days", C("lag") * C("hours")),
    Sum("postdated_entries", _ONE, C("lag") < 0),
    Sum("_hidden", _ONE, C("value").is_nan()),
)


@sheet("time_entries", "invoices", "matters?", "users?", "clients?")
def billing_lag(call: Call, *, by: By = None, start: DateLike | None = None, end: DateLike | None = None) -> Frame:
    """
    Days from the work to its invoice, for billable time on final invoices dated in the period.

    The work itself can be of any date.

    Parameters
    ----------
    time_entries : frame
        With `date`, `hours`, `billing_type`, `amount` and `invoice_id`, and the columns that `by` needs; of any period.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-09-21", "2026-09-01"]), "hours": [3.0, 1.0],
    ...     "billing_type": ["billable"] * 2, "amount": [900.0, 100.0], "invoice_id": ["i1", "i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-01"]), "invoice_state": ["final"],
    ...     "amount": [1000.0], "balance": [0.0],
    ... })
    >>> billing_lag(entries, invoices=invoices, start="2026-10")[
    ...     ["entries", "mean_lag_days", "amount_weighted_lag_days", "hours_weighted_lag_days"]]
       entries  mean_lag_days  amount_weighted_lag_days  hours_weighted_lag_days
    0      2.0           20.0                      12.0                     15.0
    """
    period = call.period(start, end)
    need_work_on_invoices(call, period)
    keys = Keys.of(call, by)
    keys.require_ids("time_entries")
    call.require("time_entries", "date")
    call.require("invoices", "invoice_date", "invoice_state", "amount", "balance")
    lost = lost_in(call, period)
    rows = call.fact(work, keys.own, only=("time",))
    counts = C("is_billable") & C("is_final") & is_in_period("invoice_date", period)
    rows = rows.filter(with_lost(counts, lost))
    rows = rows.with_columns(lag=day_number("invoice_date", rows) - day_number("date", rows))
    totals = keys.sum(rows, _SUMS, date="invoice_date", ungrouped=lost)
    note_unknown_invoices(call, totals.ungrouped, "left out")
    so = "the lag weighted by amount is missing in their rows. The lag weighted by hours is known"
    call.notes.add(HIDDEN_RATES, totals.total("_hidden"), which="", consequence=so)
    return keys.finish(totals, ANALYSIS.measure_names)


ANALYSIS = Analysis(
    function=billing_lag,
    question="How many days pass from doing the work to invoicing it?",
    summary=(
        "It counts the days from the date of the work to the date of its final invoice. In the weighted figures, large "
        "entries count more than small ones."
    ),
    example=(
        "Work worth 900 waited 10 days and work worth 100 waited 30 days: 20 days on average, and 12 days "
        "weighted by amount."
    ),
    formula="Σ (invoice date − work date) ÷ entries; weighted: Σ (days × amount) ÷ Σ amount",
    numerator="days from the work's date to the date of its final invoice, of billable entries",
    denominator="entries; their amount, or their hours, for the weighted figures",
    left_out=(
        "work not on a final invoice yet: `wip` shows its age",
        "fixed-fee and non-billable time",
        "entries on an invoice that was not passed; a warning states how many",
    ),
    cannot_tell=("when an invoice was sent: the invoice date counts",),
    arguments={
        "start": "By invoice date.",
        "by": "Months are those of the invoice.",
        "settings": "`originator_weights` divide entries among originators.",
    },
    columns=(
        retitled(
            "entries",
            "Entries billed",
            "Number of billable entries on final invoices of the period; fractions if rows are by originator.",
        ),
        sum_measure("total_lag_days", "Total days", "days", "Days from work to invoice, of all entries."),
        ratio_measure(
            "mean_lag_days",
            "Mean lag",
            "total_lag_days / entries",
            "Average days from work to invoice; each entry counts the same.",
            unit="days",
        ),
        retitled(
            "worked_amount", "Value of entries", "Value, at their rates, of these entries, on matters of every type."
        ),
        sum_measure("amount_days", "Days × value", "days", "Days from work to invoice × value."),
        ratio_measure(
            "amount_weighted_lag_days",
            "Lag weighted by value",
            "amount_days / worked_amount",
            "Days from work to invoice, weighted by value.",
            unit="days",
        ),
        retitled("billable_hours", "Hours of entries", "Hours of these entries, on matters of every type."),
        sum_measure("hour_days", "Days × hours", "days", "Days from work to invoice × hours."),
        ratio_measure(
            "hours_weighted_lag_days",
            "Lag weighted by hours",
            "hour_days / billable_hours",
            "Days from work to invoice, weighted by hours.",
            unit="days",
        ),
        sum_measure(
            "postdated_entries",
            "Entries after their invoice",
            "count",
            "Entries dated after their invoice; their days are negative.",
        ),
    ),
    table=TableSpec(
        title="Days from work to invoice",
        without=("total_lag_days", "amount_days", "hour_days"),
    ),
    chart=ChartSpec(
        kind="points",
        title="Days from work to invoice",
        columns=("mean_lag_days", "amount_weighted_lag_days"),
        words=["{mean_lag_days} days"],
        hidden="amount_weighted_lag_days",
        instead={"columns": ("mean_lag_days", "hours_weighted_lag_days")},
        shows="the average days and, beside them, the days weighted by value.",
        more="If rates are hidden, the weights are hours. The text beside a row is its average.",
    ),
)
