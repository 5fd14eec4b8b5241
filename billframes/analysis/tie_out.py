"""Tie-out: each invoice's balance in the billing system beside the firm's books, and the reason for each difference.

All sums are in cents. On every row, the difference of the balances is our amount less theirs, plus what they have
settled less what we have.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import pandas as pd
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrame

from billframes._names import type_in_words
from billframes._notes import NOTES, Notes
from billframes.analysis.aging import note_later_balances
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, sum_measure
from billframes.analysis.declare.spec import Analysis, FromBook, TableSpec
from billframes.analysis.frames.engine import collect, eager_from_arrow, to_dicts
from billframes.analysis.frames.expressions import midnight
from billframes.analysis.frames.frames import Frames
from billframes.analysis.frames.native import to_native, without_attrs
from billframes.analysis.model.arguments import check_choice, read_date
from billframes.analysis.model.invoice_matching import MATCHED_BY, ClientNames, Item, match_invoices, plain_number
from billframes.analysis.rules.ledger import ABSENT_FROM_LEDGER, NO_LEDGER_DAY, OTHER_CURRENCY, UNKNOWN_CUSTOMERS
from billframes.analysis.rules.loads import need_open_on
from billframes.config.firm import FirmSettings, check_settings
from billframes.errors import LedgerError, ParameterError
from billframes.loading.load_info import attach
from billframes.periods import DateLike

__all__ = ["ANALYSIS", "REASONS", "add_up_reasons", "tie_out"]

REASONS = (
    "agrees",
    "paid_in_ledger",
    "paid_here",
    "unapplied_in_ledger",
    "amount_differs",
    "not_final_here",
    "voided_in_ledger",
    "missing_in_ledger",
    "not_in_report",
    "missing_here",
    "duplicate_number",
    "credit_in_ledger",
    "journal_in_ledger",
    "other_in_ledger",
    "currency",
    "not_in_any_customer",
)
"""The reasons, in the order in which they are added up."""

_OURS = ("invoice_id", "invoice_state", "invoice_date", "client_id", "client_name", "amount", "balance")
_OPTIONAL = ("invoice_number", "client_reference", "modified_at")
# Other rows of the books are never the same thing as an invoice, whatever their number.
_INVOICES = ("invoice", "credit", "sales_receipt")
_OF_KIND = {"payment": "unapplied_in_ledger", "credit": "credit_in_ledger", "journal": "journal_in_ledger"}
_DIFFERENCES = ("difference_amount", "billed_difference_amount", "settled_difference_amount")
_MONEY = ("amount", "ledger_amount", "balance", "ledger_balance", *_DIFFERENCES)
_TOTALS = ("balance", "ledger_balance", "difference_amount")
_ABSENT, _ABSENT_SHARE = 5, 0.25


@dataclass(slots=True)
class _Row:
    """A row of the result. Amounts are in cents; None is missing."""

    reason: str = "agrees"
    ours: Mapping[str, Any] = field(default_factory=dict)
    theirs: Mapping[str, Any] = field(default_factory=dict)
    client: tuple[str, str] | None = None
    amount: int | None = None
    ledger_amount: int | None = None
    balance: int = 0
    ledger_balance: int = 0
    billed: int = 0
    settled: int = 0
    matched_by: str | None = None
    also: list[str] = field(default_factory=list)
    group: int | None = None

    @property
    def difference(self) -> int:
        """Our balance less theirs."""
        return self.balance - self.ledger_balance


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
        From `read_ledger`: Invoice List by Date for all dates. It tells paid, voided and missing invoices apart.
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

    Raises
    ------
    LedgerError
        The report has no open balances, or is of another day.
    ParameterError
        An argument is wrong, or the invoices were loaded for too short a period.
    MissingColumnError
        A column is missing.

    Warns
    -----
    IncompleteDataWarning
        Balances were loaded after `as_of`, many of our open invoices are not in the report, rows are in another
        currency, or customers match no client.

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
    check_settings(settings)
    check_choice(by, "by", ("invoice", "reason", "client"))
    day, firm = read_date(as_of, "as_of"), settings or FirmSettings()
    frames = Frames.of(invoices=invoices)
    about = _check_ledger(ledger, day, frames.notes)
    need_open_on("tie_out", frames, ("invoices",), day)
    note_later_balances(frames, day, firm)
    selected = frames.select("invoices", _OURS, _OPTIONAL)
    ours = [each for each in to_dicts(collect(selected)) if _counts(each, midnight(day))]
    ours.sort(key=lambda each: (each["invoice_date"] or midnight(day), each["invoice_id"]))
    names = ClientNames(
        {(each["client_id"], each["client_name"], each.get("client_reference")) for each in ours},
        firm.books.customers,
    )
    theirs = _records(ledger)
    rows = _compare(ours, theirs, _records(history), names, firm.currency, has_history=history is not None)
    _group_unapplied(rows, names)
    if control is not None:
        _add_control(rows, control)
    _note(rows, [each["currency"] for each in theirs], about["file"], names, firm.currency, frames.notes)
    frame = _frame(rows)
    frame.attrs["tie_out"] = {
        "as_of": day.isoformat(),
        "file": about["file"],
        **{name: round(float(frame[name].sum()), 2) for name in _TOTALS},
    }
    result = frame if by == "invoice" else add_up_reasons(frame, by)
    result = result if isinstance(invoices, pd.DataFrame) else _as_kind_of(invoices, frames["invoices"], result)
    frames.notes.finish()
    return cast("IntoFrame", attach(result, NOTES, frames.notes.data()))


def _as_kind_of(invoices: IntoFrame, like: Frame, result: pd.DataFrame) -> Any:
    plain = result.assign(**{name: result[name].astype("str") for name in ("reason", "matched_by") if name in result})
    return to_native(eager_from_arrow(like, pa.Table.from_pandas(without_attrs(plain), preserve_index=False)), invoices)


def _check_ledger(ledger: pd.DataFrame | None, day: dt.date, notes: Notes) -> dict[str, Any]:
    """Refuse a frame that is not a report of what is open on the day; return what is known about the report."""
    if not isinstance(ledger, pd.DataFrame) or "ledger" not in ledger.attrs:
        given = "missing" if ledger is None else type_in_words(ledger)
        raise ParameterError(f"ledger is {given}; pass the frame that bf.read_ledger returns.")
    about = ledger.attrs["ledger"]
    file, known = about["file"], about["as_of"]
    if not about["open_items"]:
        raise LedgerError(
            f"{file} is {about['report']}, which does not list all open invoices; export A/R Aging Detail."
        )
    if known is None:
        notes.add(NO_LEDGER_DAY, 1, "tie_out", file=file, day=day)
    elif known != day.isoformat():
        raise LedgerError(
            f"{file} is as of {known}, not {day}; export it as of that day, with the aging method 'Report date'."
        )
    return dict(about)


def _counts(invoice: Mapping[str, Any], day: dt.datetime) -> bool:
    """Return whether an invoice is dated on or before the day, or is a draft without a date."""
    date = invoice["invoice_date"]
    return bool(date <= day if date is not None else invoice["invoice_state"] != "final")


def _records(ledger: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Return the rows of a ledger frame; None is missing."""
    if ledger is None:
        return []
    names = ["row", "kind", "date", "number", "customer", "amount", "open_balance", "currency", "voided"]
    rows: list[dict[str, Any]] = pa.Table.from_pandas(without_attrs(ledger)[names], preserve_index=False).to_pylist()
    return rows


def _cents(value: float | None) -> int | None:
    return None if value is None else round(value * 100)


def _item(row: Mapping[str, Any], client: str | None, *, ours: bool) -> Item:
    number, date = (row.get("invoice_number"), row["invoice_date"]) if ours else (row["number"], row["date"])
    return Item(number, client, _cents(row["amount"]), date)


def _compare(
    ours: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    history: Sequence[Mapping[str, Any]],
    names: ClientNames,
    currency: str,
    *,
    has_history: bool,
) -> list[_Row]:
    """Pair the rows of both sides, and give each its reason."""
    items = [_item(each, names.key(each["client_name"]), ours=True) for each in ours]
    comparable = [at for at, each in enumerate(theirs) if each["kind"] in _INVOICES]
    others = [_item(theirs[at], names.key(theirs[at]["customer"]), ours=False) for at in comparable]
    pairs = match_invoices(items, others)
    past: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for each in history:
        past[plain_number(each["number"])].append(each)
    rows: list[_Row] = []
    for at, (invoice, item) in enumerate(zip(ours, items, strict=True)):
        if at in pairs:
            other, how = pairs[at]
            rows.append(_paired(invoice, item, theirs[comparable[other]], others[other], how, currency))
        elif invoice["invoice_state"] == "final" and _cents(invoice["balance"]):
            found = _in_history(item, past, names) if has_history else None
            rows.append(_only_here(invoice, found, has_history=has_history))
    used = {comparable[other] for other, _ in pairs.values()}
    known = {plain_number(item.number) for item in items} - {""}
    rows += [_only_there(each, known, names) for at, each in enumerate(theirs) if at not in used and _is_open(each)]
    return rows


def _is_open(row: Mapping[str, Any]) -> bool:
    return bool(_cents(row["open_balance"]))


def _paired(
    invoice: Mapping[str, Any], item: Item, other: Mapping[str, Any], their: Item, how: str, currency: str
) -> _Row:
    final = invoice["invoice_state"] == "final"
    amount, balance = (item.amount or 0, _cents(invoice["balance"]) or 0) if final else (0, 0)
    row = _Row(ours=invoice, theirs=other, amount=item.amount, ledger_amount=their.amount, matched_by=how)
    row.balance, row.ledger_balance = balance, _cents(other["open_balance"]) or 0
    ledger_amount = amount if their.amount is None else their.amount
    row.also = [
        name
        for name, differs in (
            ("number", how != MATCHED_BY[0]),
            ("date", item.date != their.date),
            ("customer", item.client != their.client),
        )
        if differs
    ]
    foreign = bool(currency) and other["currency"] not in (None, currency)
    if final and not foreign:
        _set_parts(row, amount, ledger_amount)
    elif row.difference:
        row.reason, row.billed = "currency" if foreign else "not_final_here", row.difference
    return row


def _set_parts(row: _Row, amount: int, ledger_amount: int) -> None:
    """Set the two parts of the difference; the larger part is the reason, and the other is noted."""
    row.billed = amount - ledger_amount
    row.settled = row.difference - row.billed
    parts = {
        "amount_differs": abs(row.billed),
        "paid_in_ledger" if row.settled > 0 else "paid_here": abs(row.settled),
    }
    reasons = sorted((each for each in parts if parts[each]), key=lambda each: -parts[each])
    if reasons:
        row.reason, row.also = reasons[0], row.also + reasons[1:]


def _only_here(invoice: Mapping[str, Any], found: Mapping[str, Any] | None, *, has_history: bool) -> _Row:
    """Return the row of an open invoice that the report does not have, with what became of it in the books."""
    amount, balance = _cents(invoice["amount"]) or 0, _cents(invoice["balance"]) or 0
    row = _Row(ours=invoice, amount=amount, balance=balance)
    if found is None:
        row.reason, row.billed = ("missing_in_ledger" if has_history else "not_in_report"), balance
    elif found["voided"]:
        row.reason, row.ledger_amount, row.billed, row.settled = "voided_in_ledger", 0, amount, balance - amount
    else:
        row.ledger_amount = _cents(found["amount"])
        _set_parts(row, amount, amount if row.ledger_amount is None else row.ledger_amount)
    return row


def _in_history(
    item: Item, past: Mapping[str, list[Mapping[str, Any]]], names: ClientNames
) -> Mapping[str, Any] | None:
    """Find an invoice in the list of all invoices; client, amount or date must agree, too."""
    found = [
        each
        for each in past.get(plain_number(item.number), ())
        if names.key(each["customer"]) == item.client
        or _cents(each["amount"]) == item.amount
        or each["date"] == item.date
    ]
    return next((each for each in found if each["voided"]), found[0] if found else None)


def _only_there(row: Mapping[str, Any], known: set[str], names: ClientNames) -> _Row:
    """Return the row of what only the books have."""
    if row["kind"] == "invoice":
        reason = "duplicate_number" if plain_number(row["number"]) in known else "missing_here"
    else:
        reason = _OF_KIND.get(row["kind"], "other_in_ledger")
    balance = _cents(row["open_balance"]) or 0
    client = names.client(names.key(row["customer"]))
    return _Row(
        reason, theirs=row, client=client, ledger_amount=_cents(row["amount"]), ledger_balance=balance, billed=-balance
    )


def _group_unapplied(rows: Sequence[_Row], names: ClientNames) -> None:
    """Give a payment or credit on no invoice, and the client's only invoice paid here by its amount, one group."""
    paid: dict[tuple[str | None, int], list[_Row]] = defaultdict(list)
    for row in rows:
        if row.reason == "paid_here":
            paid[names.key(row.theirs["customer"]), row.difference].append(row)
    group = 0
    for row in rows:
        if row.reason not in ("unapplied_in_ledger", "credit_in_ledger"):
            continue
        fits = paid.get((names.key(row.theirs["customer"]), -row.difference), [])
        if len(fits) == 1 and fits[0].group is None:
            group += 1
            for each in (row, fits[0]):
                each.group, each.reason = group, "unapplied_in_ledger"


def _add_control(rows: list[_Row], control: float) -> None:
    """Add the row of what the general ledger has beside the customers' accounts."""
    if isinstance(control, bool) or not isinstance(control, int | float):
        raise ParameterError(f"control={control!r} is not an amount such as 8605.49.")
    gap = (_cents(control) or 0) - sum(row.ledger_balance for row in rows)
    if gap:
        rows.append(_Row("not_in_any_customer", ledger_balance=gap, billed=-gap))


def _note(
    rows: Sequence[_Row], currencies: Sequence[str | None], file: str, names: ClientNames, currency: str, notes: Notes
) -> None:
    absent = sum(row.reason in ("missing_in_ledger", "not_in_report") for row in rows)
    if absent >= _ABSENT and absent > _ABSENT_SHARE * sum(bool(row.balance) for row in rows):
        notes.add(ABSENT_FROM_LEDGER, absent, "tie_out", file=file)
    foreign = [each for each in currencies if currency and each not in (None, currency)]
    notes.add(OTHER_CURRENCY, len(foreign), "tie_out", currencies=", ".join(sorted({*filter(None, foreign)})))
    strangers = [row for row in rows if row.theirs and not row.ours and names.key(row.theirs["customer"]) not in names]
    customers = {row.theirs["customer"] for row in strangers}
    notes.add(
        UNKNOWN_CUSTOMERS, sum(row.ledger_balance for row in strangers) / 100, "tie_out", customers=len(customers)
    )


def _frame(rows: Sequence[_Row]) -> pd.DataFrame:
    cells: dict[str, list[Any]] = {
        "invoice_number": [row.ours.get("invoice_number") or row.theirs.get("number") for row in rows],
        "invoice_id": [row.ours.get("invoice_id") for row in rows],
        "client_id": [row.ours.get("client_id") or (row.client or (None,))[0] for row in rows],
        "client_name": [row.ours.get("client_name") or (row.client or (None, None))[1] for row in rows],
        "customer": [row.theirs.get("customer") for row in rows],
        "invoice_date": [row.ours.get("invoice_date") for row in rows],
        "ledger_date": [row.theirs.get("date") for row in rows],
        "invoice_state": [row.ours.get("invoice_state") for row in rows],
        "reason": [row.reason for row in rows],
        "matched_by": [row.matched_by for row in rows],
    }
    frame = pd.DataFrame({name: pd.Series(values, dtype=_DTYPES.get(name, "str")) for name, values in cells.items()})
    amounts = ("amount", "ledger_amount", "balance", "ledger_balance", "difference", "billed", "settled")
    for name, attribute in zip(_MONEY, amounts, strict=True):
        values = [getattr(row, attribute) for row in rows]
        frame[name] = pd.Series([None if each is None else each / 100 for each in values], dtype=float)
    frame["also"] = pd.Series([", ".join(row.also) or None for row in rows], dtype="str")
    frame["group"] = pd.Series([row.group for row in rows], dtype="Int64")
    frame["ledger_rows"] = pd.Series([row.theirs.get("row") for row in rows], dtype="Int64")
    return frame


_DTYPES: dict[str, Any] = {
    "invoice_date": "datetime64[us]",
    "ledger_date": "datetime64[us]",
    "reason": pd.CategoricalDtype([*REASONS], ordered=True),
    "matched_by": pd.CategoricalDtype([*MATCHED_BY]),
}


def add_up_reasons(frame: pd.DataFrame, by: str = "reason") -> pd.DataFrame:
    """Add up the rows of a tie-out by reason or client."""
    money = list(_TOTALS)
    keys = ["reason"]
    if by == "client":
        keys = ["client_id", "client_name"]
        # What belongs to no client is shown by its customer.
        frame = frame.assign(client_name=frame["client_name"].fillna(frame["customer"]))
    else:
        frame = _with_second_reasons(frame)
    frame = frame.assign(rows=1, **{name: (frame[name] * 100).round() for name in money})
    added = frame.groupby(keys, observed=True, dropna=False)[["rows", *money]].sum().reset_index()
    added = added.assign(**{name: added[name] / 100 for name in money})
    added.attrs = {"tie_out": frame.attrs.get("tie_out")}
    return added


def _with_second_reasons(frame: pd.DataFrame) -> pd.DataFrame:
    """Divide rows whose amount and payments both differ into a row for each reason."""
    second = frame["also"].str.extract(r"(amount_differs|paid_in_ledger|paid_here)", expand=False)
    both = second.notna()
    halves = frame[both].assign(reason=pd.Categorical(second[both], REASONS, ordered=True), balance=0.0)
    halves["ledger_balance"] = 0.0
    first = frame.assign(difference_amount=frame["difference_amount"].mask(both, _part_of(frame)))
    halves["difference_amount"] = _part_of(halves)
    return pd.concat([first, halves], ignore_index=True)


def _part_of(frame: pd.DataFrame) -> pd.Series[float]:
    is_amount = frame["reason"] == "amount_differs"
    return frame["billed_difference_amount"].where(is_amount, frame["settled_difference_amount"])


ANALYSIS = Analysis(
    name="tie_out",
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
        "by number, then by the number without signs, then by client and amount; each row says by which."
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
    own=("as_of", "by", "settings", "returns", "raises", "warns"),
    columns=(
        sum_measure("amount", "Amount of the invoice", "money", "Amount of the invoice in the billing system."),
        sum_measure("ledger_amount", "Amount in the books", "money", "Amount of the invoice in the firm’s books."),
        sum_measure("balance", "Balance here", "money", "The open balance in the billing system."),
        sum_measure("ledger_balance", "Balance in the books", "money", "The open balance in the books."),
        sum_measure("difference_amount", "Difference", "money", "Balance here less balance in the books."),
        sum_measure("billed_difference_amount", "Of that: amount", "money", "Amount here less amount in the books."),
        sum_measure(
            "settled_difference_amount", "Of that: payments", "money", "Settled in the books less settled here."
        ),
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
