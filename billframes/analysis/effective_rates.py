"""Effective rates: fees billed per hour, beside the worth of the work per hour.

The amounts and hours are calculated by `realization`; they are divided here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.column_types import Frame, column_names
from billframes.analysis.expressions import ratio
from billframes.analysis.frames import from_result, to_native
from billframes.analysis.keys import By
from billframes.analysis.metrics import shared_measures
from billframes.analysis.realization import realization
from billframes.analysis.spec import Analysis, ChartSpec, TableSpec
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike

__all__ = ["ANALYSIS", "effective_rates"]

_STANDARD_COLUMNS = ("standard_amount", "standard_rate")


def effective_rates(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = "user",
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
    matter_types: Collection[str] | None = None,
) -> IntoFrameT:
    """
    Money per hour: fees billed, worth at the rates of the work, and, if the settings have them, standard rates.

    Amounts, hours, errors and warnings are those of `realization`.

    Parameters
    ----------
    time_entries, expenses, fixed_fees, invoices : frame
        As for `realization`.
    matters, users : frame, optional
        With `matter_id` and `matter_type`, or `user_id` and `name`, and the columns that `by` names.
    clients : frame, optional
        With `client_id` and the columns that `by` names, such as custom fields (`client_cf_…`).
    by : str or list of str, optional
        Keys to group by; None gives one row.
    basis : {"invoice_date", "work_date"}
        "invoice_date": final invoices dated in the period, with all the work on them. "work_date": time dated in the
        period that is now on a final invoice.
    start, end : str or date, optional
        First and last day, inclusive; None leaves an end open. `start` also takes a whole period such as "2026-Q3".
    settings : FirmSettings, optional
        `standard_rates` add the standard columns.
    matter_types : collection of str, optional
        Types of matter that count; all but contingency, pro bono and internal by default.

    Returns
    -------
    frame
        Of the same kind as the input, sorted by label: the keys and, as float64,

        - `billable_hours`: hours of the billable time on the final invoices counted
        - `billed_amount`: net billed time fees of this time; `effective_rate`: billed ÷ hours, known even if rates are
          hidden
        - `worked_amount`: worth of this time at its rates; `worked_rate`: worth ÷ hours; both missing if rates are
          hidden
        - with standard rates: `standard_amount`, `standard_rate` (÷ hours)
        - `left_out_hours`, `left_out_amount`, `left_out_billed_amount`: time on matters whose type does not count

        Rates are missing if there are no hours.

    Examples
    --------
    Four hours with a rate of 250 are billed at 800:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-09-01"]), "user_id": ["u1"], "user_name": ["Ada"], "matter_id": ["m1"],
    ...     "hours": [4.0], "billing_type": ["billable"], "amount": [1000.0], "invoice_id": ["i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [800.0], "balance": [0.0],
    ... })
    >>> none = pd.DataFrame(columns=["invoice_id", "amount"])
    >>> matters = pd.DataFrame({"matter_id": ["m1"], "matter_type": ["hourly"]})
    >>> result = effective_rates(entries, expenses=none, fixed_fees=none, invoices=invoices, matters=matters)
    >>> result[["user_name", "billable_hours", "effective_rate", "worked_rate"]]
      user_name  billable_hours  effective_rate  worked_rate
    0       Ada             4.0           200.0        250.0
    """
    amounts_by_key = realization(
        time_entries,
        expenses=expenses,
        fixed_fees=fixed_fees,
        invoices=invoices,
        matters=matters,
        users=users,
        clients=clients,
        by=by,
        basis=basis,
        start=start,
        end=end,
        settings=settings,
        matter_types=matter_types,
    )
    return to_native(_rates(from_result(amounts_by_key)), time_entries)


def _rates(realized: Frame) -> Frame:
    names = column_names(realized)
    keys = names[: names.index("worked_amount")]
    standard = [name for name in _STANDARD_COLUMNS if "standard_amount" in names]
    rates = {"worked_rate": ratio("worked_amount", "billable_hours")}
    if standard:
        rates["standard_rate"] = ratio("standard_amount", "billable_hours")
    amounts = ("billable_hours", "billed_amount", "effective_rate", "worked_amount", "worked_rate", *standard)
    left_out = [name for name in names if name.startswith("left_out_")]
    return realized.with_columns(**rates).select(*keys, *amounts, *left_out)


ANALYSIS = Analysis(
    name="effective_rates",
    question="How much do we bill for an hour, compared with its rate?",
    summary=(
        "It divides fees billed by the hours they were billed for. It compares this effective rate with the rate at "
        "which the hours were recorded."
    ),
    example="Four hours recorded at a rate of 250 are worth 1000. They are billed at 800, which is 200 per hour.",
    formula="effective rate = fees billed ÷ hours; worked rate = worth of billed work ÷ hours",
    numerator="fees billed, and worth of billed work, as in `realization`",
    denominator="hours of the billable time on the final invoices counted",
    left_out=(
        "Time on contingency, pro bono and internal matters: it is in `left_out_hours`, `left_out_amount` and "
        "`left_out_billed_amount`; `matter_types=` chooses other types.",
        "Fixed fees and the hours under them, and expenses.",
    ),
    cannot_tell=("Hours as billed: an invoice has only one amount, and the hours are those recorded.",),
    columns=(
        *shared_measures("billable_hours", "billed_amount", "effective_rate", "worked_amount", "worked_rate"),
        *shared_measures(*_STANDARD_COLUMNS, "left_out_hours", "left_out_amount", "left_out_billed_amount"),
    ),
    table=TableSpec(
        title="Effective rates",
        columns=(
            "billable_hours",
            "worked_amount",
            "worked_rate",
            "billed_amount",
            "effective_rate",
            *_STANDARD_COLUMNS,
        ),
        optional=_STANDARD_COLUMNS,
    ),
    chart=ChartSpec(
        kind="bars",
        title="What an hour of billable time brought",
        columns=("worked_rate", "effective_rate"),
        words=["{effective_rate}"],
        shows="the effective rate (dark) on the worked rate (pale).",
        more="The text beside a bar is the effective rate. If rates are hidden, only that is drawn.",
        example={"user_name": ["Ada"], "effective_rate": [320.4], "worked_rate": [400.0]},
        gives=(["320"], "What an hour of billable time brought by timekeeper"),
    ),
)
