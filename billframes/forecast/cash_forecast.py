"""Cash forecast: what may come in over the next weeks or months, from whom, with a range.

The method is in `forecasting`. It works from invoices alone, and then its range was never checked; with the receipts of
a mirror or the payments of the books it has a record.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import pyarrow as pa

from billframes._shared.suggestions import check_choice
from billframes.analysis.data.call import Call
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, money, shared_measures
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.errors import ParameterError
from billframes.forecast.forecasts import Forecast, forecast, limits
from billframes.forecast.horizons import Horizons
from billframes.forecast.preparing import LEAST_WEEKS, OF_BOOK, RANGE, SIMPLE_RULE, Prepared, prepare
from billframes.forecast.reading import Given
from billframes.forecast.rows import MONEY, of_clients, of_firm, of_invoices, schema
from billframes.forecast.rules import LARGE_INVOICE, WIDE_RANGE
from billframes.periods import DateLike

_LARGE, _WIDE = 0.25, 3.0


@sheet("invoices", "receipts", "time_entries?", "expenses?", "fixed_fees?", "*", "matters?")
def cash_forecast(
    call: Call,
    receipts: Any = None,
    *,
    as_of: DateLike,
    since: DateLike | None = None,
    horizons: Horizons = (4, 8, 13),
    by: Literal["client", "invoice"] | None = None,
    payments: Any = None,
    became_final: Any = None,
    complete_from: DateLike | None = None,
    not_cash: Collection[str] | None = None,
    level: float = 0.8,
) -> Frame:
    """
    Forecast the cash of the next weeks or months, with a range that holds in four of five cases.

    It needs 50 final invoices in the last year, and 100 for less than 8 weeks. The same frames give the same forecast.

    Parameters
    ----------
    invoices : frame
        All invoices, with `invoice_id`, `invoice_date`, `invoice_state`, `amount`, `balance`, `client_id` and
        `client_name`.
    receipts : frame, optional
        From `receipts`: by how much balances fell between refreshes of a mirror, since its first day.
    time_entries : frame, optional
        All of them, with `date`, `client_id`, `billing_type`, `hours`, `amount` and `invoice_id`. If omitted, only the
        cash of open invoices is forecast, and `cash_amount` is missing.
    expenses, fixed_fees : frame, optional
        With `date`, `client_id`, `amount` and `invoice_id`.
    as_of : str or date
        The day after which cash counts. A day before the load needs the receipts of a mirror, or `payments`.
    since : str or date, optional
        The first day that the receipts or payments cover. By default the day of the first of them.
    horizons : int, sequence of int, "weeks" or "months"
        Numbers of weeks, such as `8` or `[4, 8]`, from the day after `as_of`, added up; or the next 13 weeks or six
        calendar months, each by itself.
    by : {"client", "invoice"}, optional
        A row for each client, and one for work not done yet; or for each open invoice or credit, and for work not
        billed yet and not done yet.
    payments : frame, optional
        From `payments`, or with `invoice_id`, `payment_date`, `amount` and optionally `kind`: what left invoices by the
        firm's books, instead of receipts.
    became_final : frame, optional
        With `invoice_id` and `final_since`: until this day, invoices were drafts, and their work not billed.
    complete_from : str or date, optional
        The first invoice day since which the data are complete, for firms that moved from another system.
    not_cash : collection of str, optional
        Ids of invoices whose balance fell by a write-off.
    level : float
        The share of cases that the range is for.
    matters : frame, optional
        With `matter_id` and `matter_type`: unbilled work on contingency matters is left out.

    Examples
    --------
    Each week, Acme got an invoice of 1,000 and paid it after 30 days. The last four are open:

    >>> import warnings
    >>> import pandas as pd
    >>> days = pd.date_range("2025-11-07", "2026-10-30", freq="7D")
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": [f"i{nth}" for nth in range(len(days))], "invoice_date": days, "invoice_state": "final",
    ...     "amount": 1000.0, "balance": [0.0] * 48 + [1000.0] * 4, "client_id": "c1", "client_name": "Acme",
    ... })
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     result = cash_forecast(invoices, as_of="2026-10-31", horizons=(8,))
    >>> result[["horizon", "open_cash_amount", "receivable_amount", "never_amount"]].round()
              horizon  open_cash_amount  receivable_amount  never_amount
    0  by 26 Dec 2026            3919.0             4000.0          81.0
    """
    if by in ("week", "month"):
        raise ParameterError(f"by={by!r} is not known. Pass horizons='{by}s' for each {by} by itself.")
    if by is not None:
        check_choice(by, "by", ("client", "invoice"))
    given = Given(receipts, payments, became_final, since, complete_from, not_cash)
    prepared = prepare(call, given, as_of, horizons, level)
    found = forecast(prepared.history, prepared.history.last, [each.span for each in prepared.horizons])
    rows = {None: of_firm, "client": of_clients, "invoice": of_invoices}[by](prepared, found)
    _note_doubts(prepared, found)
    call.day(prepared.history.day)
    call.more["record"] = [prepared.record(nth) for nth in range(len(prepared.horizons))]
    return call.listed(rows, pa.schema(schema(by)))


def _note_doubts(prepared: Prepared, found: Forecast) -> None:
    notes = prepared.frames.notes
    if prepared.history.work is None:
        return
    for nth, horizon in enumerate(prepared.horizons):
        cash, factor = float(found.cash[nth]), prepared.widening(nth, prepared.history.last)
        low, high = limits(cash, float(found.variance[nth]), factor, prepared.level)
        # A week by itself is always uncertain; it is one step to the sum of several.
        wide = high if high > _WIDE * low > 0 and horizon.weeks >= LEAST_WEEKS else 0.0
        notes.add(WIDE_RANGE, wide, start=horizon.start, end=horizon.end)
    of_last = found.by_invoice[:, -1]
    if len(of_last) and of_last.max() > _LARGE * found.cash[-1]:
        largest = int(of_last.argmax())
        row = prepared.invoices.slice(int(found.place[largest]), 1).to_pylist()[0]
        words = {
            "cash": float(found.cash[-1]),
            "rest": float(found.cash[-1] - of_last.max()),
            "balance": row["balance"],
            "invoice": row.get("invoice_number") or row["invoice_id"],
            "client": row["client_name"] or "no client",
            "end": prepared.horizons[-1].end,
        }
        notes.add(LARGE_INVOICE, float(of_last.max()), **words)


ANALYSIS = Analysis(
    function=cash_forecast,
    as_loaded=True,
    question="How much may come in by Christmas, and from whom?",
    summary=(
        "It estimates the cash of the next weeks or months from how fast invoices were paid and work was billed. In "
        "four of five cases, what comes should be in the range; the record of earlier forecasts shows how often it was."
    ),
    example=(
        "Acme got an invoice of 1000 each week and paid it after 30 days. The last four are open, a balance of 4000: "
        "3919 of it is expected in 8 weeks, and 81 never."
    ),
    formula="`cash_amount` = `open_cash_amount` + `unbilled_cash_amount` + `future_cash_amount`",
    numerator=(
        "open invoices at the rate at which invoices of their age were paid, faster or slower by client; work not "
        "billed yet at the pace and realization of the last year, then paid as invoices are; and the same for work of "
        "the last year's pace. Tax is in it, because clients pay it."
    ),
    left_out=(
        "Unbilled work on contingency matters: it is in `contingent_amount`.",
        "Balances below 0: they settle the client's oldest invoices, and are not cash.",
        "Invoices older than two years: they are in `receivable_amount` and `never_amount`.",
    ),
    cannot_tell=(
        "Write-offs that look like payments",
        "Promises, disputes and payment plans",
        "Money on account, before it pays an invoice",
        "Work that is not recorded yet",
        "A change of pace before it shows",
        "Invoices that are voided later",
    ),
    arguments={"settings": "Only the time zone is used, for the day of the load."},
    own=("by", "as_of", "expenses", "fixed_fees", "matters"),
    rows=(
        "by horizon, then the largest amount first: `horizon`, `client_id` and `client_name` or `invoice_id`, "
        "`invoice_number`, `client_id`, `client_name` and `invoice_date`,"
    ),
    columns=(
        Measure("start", "From", "date", "The first day on which cash counts."),
        *RANGE,
        money("open_cash_amount", "On open invoices", "The part on invoices that are open."),
        money("unbilled_cash_amount", "On unbilled work", "The part from work done and not billed, or on drafts."),
        money("future_cash_amount", "On work to come", "The part from work not done, at the last year’s pace."),
        *shared_measures("receivable_amount"),
        money("never_amount", "Not expected", "The part of the open balance not expected within two years."),
        Measure("speed", "Speed", "multiple", "0.7 is a client that pays at 0.7 times the firm’s rate."),
        *shared_measures("contingent_amount"),
        SIMPLE_RULE,
    ),
    table=TableSpec(
        title="Cash forecast",
        optional=("speed", "contingent_amount", "naive_amount"),
        brief=MONEY,
        keys=("horizon", "invoice_number", "client_name"),
        adds_up=False,
    ),
    chart=ChartSpec(
        kind="stacks",
        title="Cash expected",
        columns=("open_cash_amount", "unbilled_cash_amount", "future_cash_amount"),
        words=["{cash_amount}", "{open_cash_amount} on open invoices"],
        span=("low_amount", "high_amount"),
        shows="open invoices, unbilled work and work to come, with the range.",
        more="From open invoices (dark) to work that is not done yet (pale). The line is the range.",
        darkest_first=True,
    ),
    book=FromBook(first="horizons", defaults=OF_BOOK, ends_with_load=False),
    tab=TabSpec(place=9, title="Cash forecast", tiles=(), order="", filters="forecast"),
)
