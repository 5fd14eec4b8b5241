"""Collected: the cash that came in, by any key, with its part in fees, expenses and tax."""

from __future__ import annotations

from typing import Literal

import pandas as pd
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.declare.metrics import money, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.arguments import check_choice, read_date
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By
from billframes.analysis.model.missing_work import note_absent_items
from billframes.analysis.model.paid_fees import spread_payments
from billframes.analysis.model.payment_days import note_payments, payments_in
from billframes.analysis.payments import check_payments
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike

_CASH = ("collected_amount", "collected_expense_amount", "collected_tax_amount", "unallocated_amount")
_OTHERS = ("credited_amount", "written_off_amount", "from_trust_amount")


def collected(
    payments: pd.DataFrame | None = None,
    *,
    time_entries: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = "client",
    start: DateLike | None = None,
    end: DateLike | None = None,
    basis: Literal["payment_date", "invoice_date"] = "payment_date",
    as_of: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Add up the cash that came in, and spread it over the work that it pays.

    Parameters
    ----------
    payments : DataFrame
        From `payments`.
    time_entries : frame
        All of them, with `billing_type`, `hours`, `amount`, `invoice_id` and the columns that `by` needs.
    expenses, fixed_fees : frame, optional
        With None, no rows count, with a warning. If the firm has none, pass an empty frame.
    invoices : frame
        All invoices, with `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`.
    matters, users, clients : frame, optional
        For the columns that `by` names, matter types and roles.
    by : str or list of str, optional
        Keys to group by; None gives one row.
    start, end : str or date, optional
        First and last day, inclusive, or a period such as "2026-Q3" as `start`; None is open.
    basis : {"payment_date", "invoice_date"}
        Cash dated in the period, on invoices of any date; or all cash on the invoices dated in the period.
    as_of : str or date, optional
        The day to measure from; what is dated on it counts.
    settings : FirmSettings, optional
        The firm's settings.

    Returns
    -------
    frame
        Of the kind of the input, sorted by label: the keys, then `collected_amount`, `collected_expense_amount`,
        `collected_tax_amount`, `unallocated_amount`, `cash_amount`, `credited_amount`, `written_off_amount`,
        `from_trust_amount`. `bf.explain("collected")` says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    Acme paid 600 of an invoice of 1,000, which has an expense of 200. Ada did three quarters of the work:

    >>> entries = pd.DataFrame({
    ...     "user_id": ["u1", "u2"], "user_name": ["Ada", "Ben"], "billing_type": ["billable"] * 2,
    ...     "hours": [3.0, 1.0], "amount": [600.0, 200.0], "invoice_id": ["i1", "i1"],
    ... })
    >>> costs = pd.DataFrame({"user_id": ["u1"], "user_name": ["Ada"], "amount": [200.0], "invoice_id": ["i1"]})
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [1000.0], "balance": [400.0],
    ... })
    >>> paid = pd.DataFrame({
    ...     "payment_date": pd.to_datetime(["2026-10-25"]), "kind": ["cash"], "invoice_id": ["i1"],
    ...     "invoice_number": ["1001"], "invoice_date": pd.to_datetime(["2026-10-05"]), "client_id": ["c1"],
    ...     "client_name": ["Acme"], "customer": ["Acme"], "amount": [600.0], "fee_amount": [480.0],
    ...     "expense_amount": [120.0], "tax_amount": [0.0], "matched_by": ["only"], "reference": [None],
    ...     "account": [None], "from_trust": [False], "ledger_row": [7],
    ... })
    >>> result = collected(
    ...     paid, time_entries=entries, expenses=costs, fixed_fees=costs.head(0), invoices=invoices, by="user",
    ... )
    >>> result[["user_name", "collected_amount", "collected_expense_amount", "cash_amount"]]
      user_name  collected_amount  collected_expense_amount  cash_amount
    0       Ada             360.0                     120.0        480.0
    1       Ben             120.0                       0.0        120.0
    """
    day = None if as_of is None else read_date(as_of, "as_of")
    check_choice(basis, "basis", ("payment_date", "invoice_date"))
    frames = Frames.of("collected", locals())
    period = frames.period(start, end, settings)
    paid = check_payments(payments)
    grouping = Grouping.of(by, frames, settings)
    note_absent_items(frames)
    note_payments(frames, paid, period, day, settings or FirmSettings())
    counted = payments_in(paid, period, basis, day)
    rows = spread_payments(counted, frames, grouping, (*_CASH, *_OTHERS))
    totals = grouping.finish(grouping.add_up(rows, (*_CASH, *_OTHERS)), ANALYSIS.measure_names)
    return frames.to_native(totals, time_entries, period, settings)


ANALYSIS = Analysis(
    name="collected",
    question="What came in, and who earned it?",
    summary=(
        "It adds up the cash that clients paid, by the day of the payment, and spreads the fees in it over the work. "
        "Credits and write-offs are settled, too, but they are not cash, so they stand in columns of their own."
    ),
    example=(
        "Acme paid 600 of an invoice of 1000 that has an expense of 200: 480 of fees and 120 of expenses. Ada did "
        "three quarters of the work, so 360 of the fees are hers."
    ),
    formula="`cash_amount` = fees + expenses + tax + cash on no invoice",
    numerator=(
        "payments from the firm's books. What a part payment pays follows the firm's `payment_order`. The fees in it "
        "are spread over the invoice's work as in realization, in proportion to its value, and over fixed fees."
    ),
    left_out=(
        "Credits and write-offs, which are in `credited_amount` and `written_off_amount`.",
        "Money that the books have on no invoice: it is in `unallocated_amount`, for the client only.",
    ),
    cannot_tell=(
        "Which invoice a payment paid if the books did not link them; the payments say how each was found.",
        "Trust balances; `from_trust_amount` needs the trust accounts in the firm's settings.",
    ),
    columns=(
        *shared_measures("collected_amount"),
        money("collected_expense_amount", "Expenses collected", "Expenses paid in cash."),
        money("collected_tax_amount", "Tax collected", "Tax paid in cash."),
        money("unallocated_amount", "Cash on no invoice", "Cash that the books have on no invoice."),
        sum_measure(
            *("cash_amount", "Cash", "money", "All cash: fees, expenses, tax and cash on no invoice."),
            formula=" + ".join(_CASH),
        ),
        *shared_measures("credited_amount", "written_off_amount"),
        money("from_trust_amount", "Cash from trust", "The part of the cash from trust accounts."),
    ),
    table=TableSpec(
        title="Collected",
        brief=("collected_amount", "collected_expense_amount", "cash_amount"),
    ),
    chart=ChartSpec(
        kind="bars",
        title="Fees collected",
        columns=("collected_amount",),
        words=["{collected_amount:axis}"],
        shows="the fees paid in cash.",
        example={"client_name": ["Acme", "Zenith"], "collected_amount": [900.0, 100.0]},
        gives=(["900", "100"], "Fees collected by client"),
    ),
    book=FromBook(first="payments", ends_with_load=False),
    tab=TabSpec(
        place=8,
        title="What came in",
        by=("responsible", "client", "month"),
        tiles=("cash_amount", "collected_amount", "credited_amount", "written_off_amount"),
        order="cash_amount",
        filters="payments",
        note="A payment belongs to its client, whoever did the work. The tab needs payments from the firm’s books.",
    ),
)
