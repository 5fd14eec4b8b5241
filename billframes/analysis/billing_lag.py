"""Billing lag: the days from the date of the work to the date of its final invoice.

Work that is not on a final invoice yet has no lag. Work in progress shows its age.
"""

from __future__ import annotations

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import ratio_measure, retitled, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.frames.engine import collect, collect_counts, join_by_id, sum_by
from billframes.analysis.frames.expressions import as_float, day_number, is_in_period, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import allocation_rates, billable_time, time_on_invoices
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By
from billframes.analysis.model.missing_work import count_on_unknown_invoices, note_unknown_invoices
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.loads import need_work_on_invoices
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike, Period

C = nw.col

_SUMS = (
    *(Sum(name, name) for name in ("entries", "billable_hours", "total_lag_days", "hour_days", "postdated_entries")),
    *(Sum(name, name, hides="_hidden") for name in ("worked_amount", "amount_days")),
)
# The value of `_counted` for entries whose invoice was not passed; for others it is 1.0 or 0.0.
_NOT_PASSED = -1.0


def billing_lag(
    time_entries: IntoFrameT,
    *,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Days from the work to its invoice, for billable time on final invoices dated in the period.

    The work itself can be of any date.

    Parameters
    ----------
    time_entries : frame
        With `date`, `hours`, `billing_type`, `amount` and `invoice_id`, and the columns that `by` needs; of any period.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    matters, users, clients : frame, optional
        For the columns that `by` names, matter types and roles.
    by : str or list of str, optional
        Keys to group by; None gives one row. Months are those of the invoice.
    start, end : str or date, optional
        First and last day, inclusive, or a period such as "2026-Q3" as `start`; None is open. By invoice date.
    settings : FirmSettings, optional
        The firm's settings. `originator_weights` divide entries among originators.

    Returns
    -------
    frame
        Of the kind of the input, sorted by label: the keys, then `entries`, `total_lag_days`, `mean_lag_days`,
        `worked_amount`, `amount_days`, `amount_weighted_lag_days`, `billable_hours`, `hour_days`,
        `hours_weighted_lag_days`, `postdated_entries`. `bf.explain("billing_lag")` says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    Ten days of waiting for 900 and thirty for 100: 20 days for each, 12 by amount.

    >>> import pandas as pd
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
    frames = Frames.of("billing_lag", locals())
    period = frames.period(start, end, settings)
    need_work_on_invoices(frames, period)
    grouping = Grouping.of(by, frames, settings)
    entries, dated_invoices = frames["time_entries"], _dated_invoices(frames, period)
    time = billable_time(frames, ("date", *grouping.row_columns), ("invoice_date",), lazily=True)
    lags = _lags(time, dated_invoices, grouping)
    names = [*(each.name for each in _SUMS), "_hidden", "_not_passed"]
    sums = collect(collect(sum_by(lags, grouping.base, names), entries))
    _note(sums, time, frames, period)
    # A group may have only entries whose invoice was not passed.
    sums = sums.filter(C("entries") > 0) if grouping.base else sums
    rows = add_up(sums, _SUMS, grouping, ANALYSIS.measure_names)
    return frames.to_native(rows, time_entries, period, settings)


def _dated_invoices(frames: Frames, period: Period) -> Frame:
    columns = ("invoice_id", "invoice_state", "invoice_date", "amount", "balance")
    selected = frames.select("invoices", columns, lazily=True)
    final = C("invoice_state") == "final"
    return selected.select(
        "invoice_id",
        _invoice_date=C("invoice_date"),
        _day=day_number("invoice_date", selected),
        _final=final,
        _counted=as_float(final & is_in_period("invoice_date", period)),
        _total=C("amount"),
    )


def _lags(time: Frame, invoices: Frame, grouping: Grouping) -> Frame:
    """Calculate the lag of entries on invoices that count; mark entries whose invoice was not passed."""
    columns = dict.fromkeys(("invoice_id", "date", "hours", "worth", *grouping.row_columns))
    on_invoices = time.filter(~C("invoice_id").is_null()).select(*columns)
    rows = join_by_id(on_invoices, invoices.select("invoice_id", "_invoice_date", "_day", "_counted"), "invoice_id")
    rows = rows.with_columns(C("_counted").fill_null(_NOT_PASSED)).filter(C("_counted") != 0)
    counted = C("_counted") > 0
    rows = rows.with_columns(total_lag_days=C("_day") - day_number("date", rows)).with_columns(
        entries=as_float(counted),
        billable_hours=value_if(counted, "hours"),
        worked_amount=value_if(counted, C("worth").fill_null(0.0)),
        _hidden=as_float(counted & C("worth").is_null()),
        _not_passed=as_float(~counted),
        hour_days=C("total_lag_days") * C("hours"),
        amount_days=C("total_lag_days") * C("worth").fill_null(0.0),
        postdated_entries=as_float(C("total_lag_days") < 0),
    )
    return grouping.with_periods(rows, "_invoice_date")


def _note(sums: Frame, time: Frame, frames: Frames, period: Period) -> None:
    counts = collect_counts((sums, {"hidden": C("_hidden").sum(), "not_passed": C("_not_passed").sum()}))
    if counts["not_passed"] and (period.start or period.end):
        # An entry may have the date of its invoice, which shows whether the invoice is of the period.
        on_invoices = collect(time_on_invoices(time), frames["time_entries"])
        rates = allocation_rates(on_invoices, frames, FirmSettings(), unknown_invoices=True)
        counts |= collect_counts((rates, {"not_passed": count_on_unknown_invoices(rates, period)}))
    note_unknown_invoices(frames, counts["not_passed"])
    so = "the lag weighted by amount is missing in their rows. The lag weighted by hours is known"
    frames.notes.add(HIDDEN_RATES, counts["hidden"], which="", consequence=so)


ANALYSIS = Analysis(
    name="billing_lag",
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
        example={
            "client_name": ["Acme"],
            "mean_lag_days": [30.0],
            "amount_weighted_lag_days": [41.5],
            "hours_weighted_lag_days": [40.0],
        },
        gives=(["30.0 days"], "Days from work to invoice by client"),
    ),
)
