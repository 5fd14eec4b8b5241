"""The record of cash forecasts: what earlier ones said, beside what came in."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from billframes.analysis.data.arguments import read_whole_number
from billframes.analysis.data.call import Call
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.errors import ParameterError
from billframes.forecast.horizons import Horizons
from billframes.forecast.preparing import OF_BOOK, RANGE, SIMPLE_RULE, prepare
from billframes.forecast.reading import Given
from billframes.periods import DateLike


@sheet("invoices", "receipts", "time_entries?", "expenses?", "fixed_fees?", "*", "matters?")
def cash_forecast_record(
    call: Call,
    receipts: Any = None,
    *,
    as_of: DateLike,
    since: DateLike | None = None,
    horizons: Horizons = (4, 8, 13),
    every: int = 4,
    payments: Any = None,
    became_final: Any = None,
    complete_from: DateLike | None = None,
    not_cash: Collection[str] | None = None,
    level: float = 0.8,
) -> Frame:
    """
    Show what forecasts of earlier days said, beside what came in since.

    Each is made from what was known on its day: invoices dated by then, with their balances then, and the receipts and
    the work up to then. Invoices that a mirror still saw as drafts on that day count as drafts. Other changes of
    invoices and entries that were made later, such as a voided invoice, count as if they had been made from the start.

    Parameters
    ----------
    invoices
        As for `cash_forecast`.
    receipts
        As for `cash_forecast`. It needs `receipts` or `payments`.
    time_entries, expenses, fixed_fees
        As for `cash_forecast`.
    as_of : str or date
        The last day on which cash counts.
    since
        As for `cash_forecast`.
    horizons : int or sequence of int
        Weeks from the day after a forecast, added up.
    every : int
        The weeks from one forecast to the next.
    payments, became_final, complete_from, not_cash, level, matters
        As for `cash_forecast`.

    Examples
    --------
    Acme gets an invoice of 1,000 each week, and pays it after 30 days:

    >>> import warnings
    >>> import pandas as pd
    >>> days = pd.date_range("2024-11-07", "2026-10-29", freq="7D")
    >>> ids, paid = [f"i{nth}" for nth in range(len(days))], days + pd.Timedelta(days=30)
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ids, "invoice_date": days, "invoice_state": "final", "amount": 1000.0,
    ...     "balance": [0.0 if day <= pd.Timestamp("2026-10-31") else 1000.0 for day in paid], "client_id": "c1",
    ...     "client_name": "Acme",
    ... })
    >>> entries = pd.DataFrame({
    ...     "date": days, "client_id": "c1", "billing_type": "billable", "hours": 4.0, "amount": 1000.0,
    ...     "invoice_id": ids,
    ... })
    >>> fell = pd.DataFrame({
    ...     "invoice_id": ids, "after": paid - pd.Timedelta(days=1), "until": paid, "fall_amount": 1000.0,
    ...     "adjusted_amount": 0.0, "implied_receipt_amount": 1000.0,
    ... })[invoices["balance"] == 0]
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     result = cash_forecast_record(invoices, fell, entries, as_of="2026-10-31", horizons=(8,))
    >>> last = result.set_index("as_of").loc["2026-09-05"]
    >>> last[["cash_amount", "low_amount", "high_amount", "received_amount"]].astype(int).tolist(), last["outcome"]
    ([7764, 5436, 10400, 8000], 'inside')
    """
    every = read_whole_number(every, "every", "weeks")
    if receipts is None and payments is None:
        raise ParameterError(
            "The record needs receipts of a mirror, or payments of the books: today's invoices don't show what came "
            "in. Refresh a mirror each night; from the third month on, it has a record."
        )
    if isinstance(horizons, str):
        raise ParameterError(f"horizons={horizons!r}: the record takes whole numbers of weeks, such as (4, 8, 13).")
    given = Given(receipts, payments, became_final, since, complete_from, not_cash)
    prepared = prepare(call, given, as_of, horizons, level, every)
    if prepared.history.work is None:
        raise ParameterError(
            "The record needs time entries with rates: without them, only the cash of open invoices can be forecast."
        )
    rows = [each for nth in range(len(prepared.horizons)) for each in prepared.checked(nth)]
    rows.sort(key=lambda row: (row["as_of"], row["weeks"]))
    call.day(prepared.history.day)
    return call.listed(rows, ANALYSIS.schema)


ANALYSIS = Analysis(
    function=cash_forecast_record,
    as_loaded=True,
    question="How good were we at saying what would come in?",
    summary=(
        "It makes the forecasts of earlier days again, from what was known then, and sets what came in beside them. A "
        "good record has four of five inside the range, not all: a range that is never missed is too wide."
    ),
    example=(
        "The forecast of 5 September said 7764 by 31 October, in four of five cases 5436 to 10400. What came was 8000: "
        "inside."
    ),
    formula="`error` = `received_amount` ÷ `cash_amount` − 1",
    numerator="the forecasts whose days have passed, one every four weeks since the first day of the mirror",
    left_out=("Days on which fewer than 50 invoices of a year, or 26 weeks of invoices, were known.",),
    cannot_tell=(
        "Write-offs that look like payments: they count as received, unless the books tell them apart",
        "Entries that were changed or deleted later, and invoices that were voided later: they count as they are now",
    ),
    own=("as_of", "invoices", "matters", "expenses", "fixed_fees"),
    arguments={"settings": "Only the time zone is used, for the day of the load."},
    rows="by day and weeks, which `forecast` names:",
    keys=("forecast",),
    columns=(
        Measure("as_of", "Forecast of", "date", "The day of the forecast."),
        RANGE[0],
        Measure("weeks", "Weeks", "count", "How many weeks the forecast is for."),
        *RANGE[1:],
        Measure("received_amount", "Came in", "money", "What came in, as far as balances or payments show."),
        Measure("outcome", "Outcome", "text", "What came is inside the range, above it or below it."),
        Measure("error", "Off by", "ratio", "What came ÷ forecast − 1."),
        SIMPLE_RULE,
        Measure("phi", "Widening", "multiple", "By how much the record had widened the range: 1 is not at all."),
    ),
    table=TableSpec(
        title="Forecasts beside what came",
        brief=("cash_amount", "low_amount", "high_amount", "received_amount", "error", "outcome"),
        keys=("forecast",),
        adds_up=False,
    ),
    chart=ChartSpec(
        kind="ranges",
        title="Forecasts beside what came",
        columns=("cash_amount", "received_amount"),
        span=("low_amount", "high_amount"),
        words=["{received_amount} came, {error} off"],
        shows="what was expected with its range, and what came in.",
        more="A ring marks what came outside the range. Pass the rows of one horizon, such as "
        '`record[record["weeks"] == 13]`.',
    ),
    book=FromBook(first="horizons", defaults=OF_BOOK, ends_with_load=False),
)
