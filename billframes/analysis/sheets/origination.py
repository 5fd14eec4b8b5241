"""Origination: the fees of matters by the people who brought them in. Each fee counts once."""

from __future__ import annotations

from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.data.call import Call
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import of_all_types, shared_measures
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.keys.keys import Keys, Sum
from billframes.analysis.rules.fees import FEES, all_fees
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike

_SUMS = (Sum("worked_amount", "value"), Sum("settled_amount", "settled_fees"), *FEES)


@sheet
def origination(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Fees by the originators of their matters.

    A matter's fees are split equally among its originators, or by the settings' `originator_weights`. Fees on final
    invoices dated in the period count, of matters of every type, so the rows add up to the invoices' amounts less
    their expenses. Pass items and invoices of any date, as for `realization`; the period is applied here.

    Parameters
    ----------
    time_entries : frame
        With `matter_id`, `hours`, `billing_type`, `amount` and `invoice_id`, and the columns that `by` needs.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    matters : frame
        With `matter_id` and `originator_ids`, and `originator_names` for labels.

    Examples
    --------
    Ada and Ben brought in a matter that is billed at 800. With weights, three quarters of it are Ada's:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "matter_id": ["m1"], "hours": [4.0], "billing_type": ["billable"], "amount": [1000.0],
    ...     "invoice_id": ["i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [800.0], "balance": [400.0],
    ... })
    >>> matters = pd.DataFrame({
    ...     "matter_id": ["m1"], "originator_ids": [["u1", "u2"]], "originator_names": [["Ada", "Ben"]]
    ... })
    >>> none = pd.DataFrame(columns=["invoice_id", "matter_id", "amount"])
    >>> columns = ["originator_name", "worked_amount", "billed_amount", "settled_amount"]
    >>> origination(entries, expenses=none, fixed_fees=none, invoices=invoices, matters=matters)[columns]
      originator_name  worked_amount  billed_amount  settled_amount
    0             Ada          500.0          400.0           200.0
    1             Ben          500.0          400.0           200.0
    >>> firm = FirmSettings(originator_weights={"m1": {"u1": 0.75, "u2": 0.25}})
    >>> result = origination(
    ...     entries, expenses=none, fixed_fees=none, invoices=invoices, matters=matters, settings=firm
    ... )
    >>> result["billed_amount"].tolist()
    [600.0, 200.0]
    """


def _rows(call: Call, by: By, start: DateLike | None, end: DateLike | None) -> Frame:
    keys = Keys.of(call, ["originator", *names_in(by)])
    totals = all_fees(call, keys, call.period(start, end), sums=_SUMS)
    return keys.finish(totals, ANALYSIS.measure_names)


ANALYSIS = Analysis(
    function=origination,
    rows_of=_rows,
    question="How high are the fees of the matters that each of us brought in?",
    summary=(
        "It credits the fees of each matter to the people who brought it in. Several originators share them equally, "
        "or by the weights in the firm's settings."
    ),
    example=(
        "Ada and Ben brought in a matter that is billed at 800, so each is credited with 400. With weights of 0.75 and "
        "0.25, they are credited with 600 and 200."
    ),
    formula="fees of each matter × its originator's part",
    numerator="billed time fees, the value of that work, the settled part of the fees, and fixed fees, on final "
    "invoices dated in the period",
    left_out=(
        "Expenses: they are not fees.",
        "Nothing else. Fees of matters without originators, and credit notes, are in the row `Unassigned`.",
    ),
    cannot_tell=(
        "Agreed parts that are not in the settings: without weights, originators share equally.",
        "Who was originator when the work was done: the matter's present originators count.",
    ),
    arguments={
        "by": 'They come after the originator, such as "client".',
        "start": "By invoice date.",
        "settings": "`originator_weights` add up to 1 for each matter.",
    },
    rows="sorted by label: `originator_id`, `originator_name`, the other keys, then",
    columns=(
        *of_all_types("worked_amount", "billed_amount", "settled_amount"),
        *shared_measures("fixed_fee_amount", "fees_amount"),
    ),
    table=TableSpec(title="All fees"),
    chart=ChartSpec(
        kind="stacks",
        title="All fees",
        columns=("billed_amount", "fixed_fee_amount"),
        words=["{fees_amount}"],
        shows="billed time fees (pale) and fixed fees (dark), and their sum.",
        more="Credits are to the left of zero.",
    ),
)
