"""Effective rates: what an hour was billed at, and what it was worked at.

The figures are realization's; here they are read as money an hour.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.column_types import Frame, as_arrow, column_names
from billframes.analysis.expressions import ratio
from billframes.analysis.frames import to_native
from billframes.analysis.keys import By
from billframes.analysis.metrics import shared_measures
from billframes.analysis.realization import realization
from billframes.analysis.spec import Analysis, ChartSpec, TableSpec
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike

__all__ = ["ANALYSIS", "effective_rates"]


_OF_STANDARD = ("standard_amount", "standard_rate")


def effective_rates(
    time_entries: IntoFrameT,
    invoices: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    *,
    by: By = "user",
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
    matter_types: Collection[str] | None = None,
) -> IntoFrameT:
    """
    Money an hour: billed, worked and, where the settings say, standard.

    The arguments, what is counted, errors and warnings are those of `realization`, whose amounts and hours these are.

    Parameters
    ----------
    time_entries, invoices, expenses, fixed_fees : frame
        As for `realization`.
    by : str or list of str, optional
        Keys to group by; None gives one row.
    basis : {"invoice_date", "work_date"}
        Final invoices dated in the period with all the work on them; or time dated in the period that is on final
        invoices by now.
    start, end : str or date, optional
        First and last day, inclusive; None leaves an end open. `start` also takes a whole period such as "2026-Q3".
    matters, users : frame, optional
        With `matter_id` and `matter_type`, or `user_id` and `name`, and the columns that `by` names.
    clients : frame, optional
        With `client_id` and the columns that `by` names, such as custom fields (`client_cf_…`).
    settings : FirmSettings, optional
        `standard_rates` add the standard columns.
    matter_types : collection of str, optional
        Types of matter that count; all but contingency, pro bono and internal by default.

    Returns
    -------
    frame
        Of the same kind as the input, sorted by label: the keys and, as float64,

        - `billable_hours`: hours of the billable time on the final invoices counted
        - `billed_amount`: its net billed fees; `effective_rate`: billed ÷ hours, known with rates hidden, too
        - `worked_amount`: what it is worth at its rates; `worked_rate`: worked ÷ hours; both missing where rates are
          hidden
        - with standard rates: `standard_amount`, `standard_rate` (÷ hours)
        - `left_out_hours`, `left_out_amount`, `left_out_billed_amount`: time on matters whose type does not count

        Rates are missing if there are no hours.

    Examples
    --------
    Four hours at 250, billed at 800:

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
    >>> result = effective_rates(entries, invoices, none, none, matters=matters)
    >>> result[["user_name", "billable_hours", "effective_rate", "worked_rate"]]
      user_name  billable_hours  effective_rate  worked_rate
    0       Ada             4.0           200.0        250.0
    """
    found: Any = realization(
        time_entries,
        invoices,
        expenses,
        fixed_fees,
        by=by,
        basis=basis,
        start=start,
        end=end,
        matters=matters,
        users=users,
        clients=clients,
        settings=settings,
        matter_types=matter_types,
    )
    return cast("IntoFrameT", to_native(_rates(as_arrow(nw.from_native(found))), time_entries))


def _rates(realized: Frame) -> Frame:
    names = column_names(realized)
    keys = names[: names.index("worked_amount")]
    standard = [name for name in _OF_STANDARD if "standard_amount" in names]
    rates = {"worked_rate": ratio("worked_amount", "billable_hours")}
    if standard:
        rates["standard_rate"] = ratio("standard_amount", "billable_hours")
    amounts = ("billable_hours", "billed_amount", "effective_rate", "worked_amount", "worked_rate", *standard)
    left_out = [name for name in names if name.startswith("left_out_")]
    return realized.with_columns(**rates).select(*keys, *amounts, *left_out)


ANALYSIS = Analysis(
    name="effective_rates",
    question="What do we really get billed for an hour, and what was its rate?",
    summary=(
        "It divides billed fees by the hours they were billed for: what an hour really brought. Beside it "
        "stands the rate at which that hour was recorded."
    ),
    example=("Four hours recorded at 250 an hour are worth 1000. Billed at 800, they bring 200 an hour."),
    formula="billed ÷ hours, beside worth of billed work ÷ hours",
    numerator="net billed time fees (billed), and worth of billed work, as in `realization`",
    denominator="hours of the billable time on the final invoices counted",
    left_out=(
        "Time on contingency, pro bono and internal matters, in `left_out_hours`, `left_out_amount` and "
        "`left_out_billed_amount`; `matter_types=` chooses.",
        "Fixed fees and the hours behind them, and expenses.",
    ),
    cannot_tell=("Hours as billed: the invoice has one amount, and the hours are those recorded.",),
    columns=(
        *shared_measures("billable_hours", "billed_amount", "effective_rate", "worked_amount", "worked_rate"),
        *shared_measures("standard_amount", "standard_rate"),
        *shared_measures("left_out_hours", "left_out_amount", "left_out_billed_amount"),
    ),
    table=TableSpec(
        title="Effective rates",
        columns=(
            "billable_hours",
            "worked_amount",
            "worked_rate",
            "billed_amount",
            "effective_rate",
            "standard_amount",
            "standard_rate",
        ),
        optional=("standard_amount", "standard_rate"),
    ),
    chart=ChartSpec(
        kind="bars",
        title="What an hour of billable time brought",
        columns=("worked_rate", "effective_rate"),
        words=["{effective_rate}"],
        shows="what an hour was billed at (dark) on its rate (pale).",
        more="A bar's words are what it was billed at. With rates hidden only that is drawn.",
        example={"user_name": ["Ada"], "effective_rate": [320.4], "worked_rate": [400.0]},
        gives=(["320"], "What an hour of billable time brought by timekeeper"),
    ),
)
