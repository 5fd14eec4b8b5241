"""Tie-out: each invoice's balance in the billing system beside the firm's books, and the reason for each difference.

All sums are in cents. On every row, the difference of the balances is our amount less theirs, plus what they have
settled less what we have.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import pandas as pd
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrame

from billframes._shared.notes import Notes
from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.data import Data
from billframes.analysis.data.engine import collect, eager_from_arrow, to_dicts
from billframes.analysis.data.expressions import midnight
from billframes.analysis.data.native import to_native, without_attrs
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, money
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec
from billframes.analysis.rules.loads import need_open_on, note_later_balances
from billframes.config.firm import FirmSettings
from billframes.errors import LedgerError
from billframes.ledger.frame import ledger_rows, same_company, stated_about
from billframes.ledger.invoice_matching import ClientNames
from billframes.ledger.rules import ABSENT_FROM_LEDGER, NO_LEDGER_DAY, OTHER_CURRENCY, UNKNOWN_CUSTOMERS
from billframes.ledger.tie_out_rows import (
    REASONS,
    TOTALS,
    TieOutRow,
    add_control,
    add_up_reasons,
    compare_rows,
    group_unapplied,
    refuse_missing_amounts,
    tie_out_frame,
)
from billframes.loading.load_info import attach_notes
from billframes.periods import DateLike, Period

_OURS = ("invoice_id", "invoice_state", "invoice_date", "client_id", "client_name", "amount", "balance")
_OPTIONAL = ("invoice_number", "client_reference", "modified_at")
_THEIRS = ("row", "kind", "date", "number", "customer", "account", "amount", "open_balance", "currency", "voided")
_ABSENT, _ABSENT_SHARE = 5, 0.25


def tie_out(
    invoices: IntoFrame,
    *,
    ledger: pd.DataFrame | None = None,
    as_of: DateLike,
    history: pd.DataFrame | None = None,
    control: float | None = None,
    by: Literal["invoice", "reason", "client"] = "invoice",
    settings: FirmSettings | None = None,
) -> Any:
    r"""
    Compare the receivables of the billing system with those of the firm's books, invoice by invoice.

    Parameters
    ----------
    invoices : frame
        All invoices, of every state and date, with `invoice_id`, `invoice_state`, `invoice_date`, `client_id`,
        `client_name`, `amount` and `balance`; optionally with `invoice_number`, `client_reference` and `modified_at`.
    ledger : DataFrame
        From `read_ledger`: a report of what is open on `as_of`, such as A/R Aging Detail.
    as_of : str or date
        The day of the comparison, inclusive. The report must be as of that day.
    history : DataFrame, optional
        From `read_ledger`: Invoice List by Date for all dates. It tells paid, voided and missing invoices apart, of the
        days that it covers.
    control : float, optional
        Accounts receivable in the balance sheet on that day. What is in no customer's account becomes a row.
    by : {"invoice", "reason", "client"}
        A row per invoice, or the rows added up by reason or client. An invoice whose amount and payments both differ
        counts under both reasons.
    settings : FirmSettings, optional
        `ledger` names customers that are named differently from their client; `currency` is that of the invoices.

    Returns
    -------
    frame
        Of the same kind as the invoices. By invoice, ours in the order of their date, then what only the
        books have: `invoice_number`, `invoice_id`, `client_id`, `client_name`, `customer`, `invoice_date`,
        `ledger_date`, `invoice_state`, `reason`, `matched_by` (number, similar number, client and amount; missing
        without a pair) and, as float64,

        - `amount`, `ledger_amount`: of the invoice, here and in the books
        - `balance`, `ledger_balance`: the open part. Only final invoices have a balance here
        - `difference_amount`: balance - ledger balance
        - `billed_difference_amount`: our amount - theirs; `settled_difference_amount`: settled there - settled here.
          They add up to the difference

        Then `also`, what differs without moving money (number, date, customer) and a second reason; `group`, the same
        number for a payment on no invoice and the invoice that it pays; and `ledger_rows`, the row of the report.
        The balances add up to those of `aging`, and the ledger balances to the report's total, or to `control`.

        By reason or client: the key, `rows`, `balance`, `ledger_balance` and `difference_amount`.
        `bf.explain("tie_out")` has the meaning of each reason.

    Raises
    ------
    LedgerError
        The report has no open balances, or is of another day; or the history is another report, or of another company.
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    The books have a payment that the billing system lacks:

    >>> from billframes import read_ledger
    >>> report = [
    ...     "Larkspur LLP,,,,,,", "Open Invoices,,,,,,", '"As of Oct 31, 2026",,,,,,', "",
    ...     ",Date,Transaction type,Num,Term,Due date,Open balance", "Osprey Ridge,,,,,,",
    ...     ",10/18/2026,Invoice,1002,Net 30,11/17/2026,900.00", "Total for Osprey Ridge,,,,,,$900.00",
    ...     "TOTAL,,,,,,$900.00",
    ... ]
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_number": ["1002"], "invoice_state": ["final"],
    ...     "invoice_date": pd.to_datetime(["2026-10-18"]), "client_id": ["c1"], "client_name": ["Osprey Ridge"],
    ...     "amount": [1400.0], "balance": [1400.0],
    ... })
    >>> ledger = read_ledger("\n".join(report).encode())
    >>> result = tie_out(invoices, ledger=ledger, as_of="2026-10-31")
    >>> result[["invoice_number", "balance", "ledger_balance", "difference_amount", "reason"]]
      invoice_number  balance  ledger_balance  difference_amount          reason
    0           1002   1400.0           900.0              500.0  paid_in_ledger
    """
    check_choice(by, "by", ("invoice", "reason", "client"))
    day, firm = read_date(as_of, "as_of"), settings or FirmSettings()
    call = Call(Data(settings, invoices=invoices), "tie_out")
    about, listed = _check_ledger(ledger, day, call.notes), None
    if history is not None:
        listed = _days_listed(history, about)
    need_open_on(call, ("invoices",), day)
    note_later_balances(call, day, firm)
    selected = call.select("invoices", _OURS, _OPTIONAL)
    ours = [each for each in to_dicts(collect(selected)) if _counts(each, midnight(day))]
    refuse_missing_amounts(ours)
    ours.sort(key=lambda each: (each["invoice_date"] or midnight(day), each["invoice_id"] or ""))
    names = ClientNames(
        {(each["client_id"], each["client_name"], each.get("client_reference")) for each in ours},
        firm.books.customers,
    )
    theirs, past = ([] if each is None else ledger_rows(each, _THEIRS) for each in (ledger, history))
    rows = compare_rows(ours, theirs, past, names, firm.currency, listed)
    group_unapplied(rows, names)
    if control is not None:
        add_control(rows, control)
    _note(rows, [each["currency"] for each in theirs], about["file"], names, firm.currency, call.notes)
    frame = tie_out_frame(rows)
    frame.attrs["tie_out"] = {
        "as_of": day.isoformat(),
        "file": about["file"],
        **{name: round(float(frame[name].sum()), 2) for name in TOTALS},
    }
    result = frame if by == "invoice" else add_up_reasons(frame, by)
    result = result if isinstance(invoices, pd.DataFrame) else _as_kind_of(invoices, call["invoices"], result)
    call.notes.finish()
    return cast("IntoFrame", attach_notes(result, call.notes))


def _as_kind_of(invoices: IntoFrame, like: Frame, result: pd.DataFrame) -> Any:
    plain = result.assign(**{name: result[name].astype("str") for name in ("reason", "matched_by") if name in result})
    return to_native(eager_from_arrow(like, pa.Table.from_pandas(without_attrs(plain), preserve_index=False)), invoices)


def _check_ledger(ledger: Any, day: dt.date, notes: Notes) -> dict[str, Any]:
    """Refuse a frame that is not a report of what is open on the day; return what is known about the report."""
    about = stated_about(ledger, "ledger")
    file, known = about["file"], about["as_of"]
    if not about["open_items"]:
        raise LedgerError(
            f"{file} is {about['report']}, which does not list all open invoices; export A/R Aging Detail."
        )
    if known is None:
        notes.add(NO_LEDGER_DAY, 1, file=file, day=day)
    elif known != day.isoformat():
        raise LedgerError(
            f"{file} is as of {known}, not {day}; export it as of that day, with the aging method 'Report date'."
        )
    return about


def _days_listed(history: Any, ledger: dict[str, Any]) -> Period:
    """Refuse a frame that does not list all invoices of the ledger's company; return the days of its invoices."""
    about = stated_about(history, "history")
    if not about["history"]:
        raise LedgerError(
            f"{about['file']} is {about['report']}, which does not list all invoices; export Invoice List by Date."
        )
    same_company(ledger, about)
    return Period.stated(about)


def _counts(invoice: Mapping[str, Any], day: dt.datetime) -> bool:
    """Return whether an invoice is dated on or before the day, or is a draft without a date."""
    date = invoice["invoice_date"]
    return bool(date <= day if date is not None else invoice["invoice_state"] != "final")


def _note(
    rows: Sequence[TieOutRow],
    currencies: Sequence[str | None],
    file: str,
    names: ClientNames,
    currency: str,
    notes: Notes,
) -> None:
    absent = sum(row.reason in ("missing_in_ledger", "not_in_report") for row in rows)
    if absent >= _ABSENT and absent > _ABSENT_SHARE * sum(bool(row.balance) for row in rows):
        notes.add(ABSENT_FROM_LEDGER, absent, file=file)
    foreign = [each for each in currencies if currency and each not in (None, currency)]
    notes.add(OTHER_CURRENCY, len(foreign), currencies=", ".join(sorted({*filter(None, foreign)})))
    strangers = [row for row in rows if row.theirs and not row.ours and names.key(row.theirs["customer"]) not in names]
    customers = {row.theirs["customer"] for row in strangers}
    notes.add(UNKNOWN_CUSTOMERS, sum(row.ledger_balance for row in strangers) / 100, customers=len(customers))


ANALYSIS = Analysis(
    function=tie_out,
    question="Why do the billing system and the books show different receivables?",
    summary=(
        "It compares the open balance of each invoice with the firm's books on one day, and gives each difference a "
        "reason. The reasons add up to the whole difference, to the cent."
    ),
    example=(
        "Invoice 1002 is open with 1400 here and with 900 in the books. The books have a payment of 500 that the "
        "billing system lacks: the reason says that the books have it."
    ),
    formula=(
        "`difference_amount` = `balance` - `ledger_balance` = `billed_difference_amount` + `settled_difference_amount`"
    ),
    numerator=(
        "the balances of final invoices dated on or before the day; drafts have a balance of 0. Invoices are matched "
        "by number, then by the number without signs, then by client and amount; each row says by which. "
        f"Reasons: {'; '.join(f'`{name}`: {meaning}' for name, meaning in REASONS.items())}"
    ),
    left_out=(
        "Invoices that are open in neither system.",
        "Names that are merely similar: a customer is a client only if the names are equal without case, spaces and "
        "punctuation, or if the firm's settings name it.",
    ),
    cannot_tell=(
        "Whether the report was filtered: the filter is not written in the file. `control=` shows it.",
        "What became of an invoice that is not in the report, without `history=`: it can be paid, voided or never "
        "sent.",
        "Deleted invoices of the books, which leave no trace.",
    ),
    own=("as_of", "by", "settings", "returns", "raises"),
    columns=(
        money("amount", "Amount of the invoice", "Amount of the invoice in the billing system."),
        money("ledger_amount", "Amount in the books", "Amount of the invoice in the firm’s books."),
        money("balance", "Balance here", "The open balance in the billing system."),
        money("ledger_balance", "Balance in the books", "The open balance in the books."),
        money("difference_amount", "Difference", "Balance here less balance in the books."),
        money("billed_difference_amount", "Of that: amount", "Amount here less amount in the books."),
        money("settled_difference_amount", "Of that: payments", "Settled in the books less settled here."),
        Measure("ledger_date", "Date in the books", "date", "Date of the invoice or payment in the books."),
        Measure("also", "Also", "text", "What else differs."),
        Measure("group", "Group of rows", "count", "One number for a payment on no invoice and its invoice."),
        Measure("ledger_rows", "Row of the report", "count", "The row in the report's file."),
    ),
    table=TableSpec(
        title="Tie-out",
        columns=("balance", "ledger_balance", "difference_amount"),
        keys=("invoice_number", "client_name", "customer", "reason"),
        cents=True,
    ),
    book=FromBook(first="ledger"),
)
