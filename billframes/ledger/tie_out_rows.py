"""The rows of a tie-out: invoices of both systems in pairs, and those that only one has, each with its reason.

They become a frame, which is added up by reason or client.

All sums are in cents. On every row, the difference of the balances is our amount less theirs, plus what they have
settled less what we have.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from billframes._shared.limits import checked_number
from billframes.errors import ParameterError
from billframes.ledger.invoice_matching import MATCHED_BY, ClientNames, Item, match_invoices, plain_number
from billframes.periods import Period

REASONS = {
    "agrees": "both balances are equal",
    "paid_in_ledger": "the books have settled more",
    "paid_here": "the billing system has settled more",
    "unapplied_in_ledger": "the books have a payment or credit on no invoice",
    "amount_differs": "the amounts differ",
    "not_final_here": "open in the books, and not final here",
    "voided_in_ledger": "voided in the books",
    "missing_in_ledger": "in no list of the books",
    "not_in_report": "paid, voided or never sent; `history` tells which",
    "missing_here": "only the books have it",
    "duplicate_number": "the books use the number twice",
    "credit_in_ledger": "a credit memo of the books",
    "journal_in_ledger": "a journal entry of the books",
    "other_in_ledger": "another entry of the books",
    "currency": "in another currency in the books",
    "not_in_any_customer": "the balance sheet has more or less than all customers",
}
"""The reasons with their meaning, in the order in which they are added up."""

UNEXPLAINED = ("not_in_report", "missing_here", "other_in_ledger", "currency", "not_in_any_customer")
"""The reasons that say where a difference is, but not what happened."""

# Other rows of the books are never the same thing as an invoice, whatever their number.
_INVOICES = ("invoice", "credit", "sales_receipt")
_OF_KIND = {"payment": "unapplied_in_ledger", "credit": "credit_in_ledger", "journal": "journal_in_ledger"}


@dataclass(slots=True)
class TieOutRow:
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


def _cents(value: float | None) -> int | None:
    return None if value is None or math.isnan(value) else round(value * 100)


def _item(row: Mapping[str, Any], client: str | None, *, ours: bool) -> Item:
    number, date = (row.get("invoice_number"), row["invoice_date"]) if ours else (row["number"], row["date"])
    return Item(number, client, _cents(row["amount"]), date)


def compare_rows(
    ours: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    history: Sequence[Mapping[str, Any]],
    names: ClientNames,
    currency: str,
    listed: Period | None,
) -> list[TieOutRow]:
    """Pair the rows of both sides, and give each its reason; `listed` are the days of the history, if there is one."""
    items = [_item(each, names.key(each["client_name"]), ours=True) for each in ours]
    comparable = [at for at, each in enumerate(theirs) if each["kind"] in _INVOICES]
    others = [_item(theirs[at], names.key(theirs[at]["customer"]), ours=False) for at in comparable]
    pairs = match_invoices(items, others)
    past: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for each in history:
        past[plain_number(each["number"])].append(each)
    rows: list[TieOutRow] = []
    for at, (invoice, item) in enumerate(zip(ours, items, strict=True)):
        if at in pairs:
            other, how = pairs[at]
            rows.append(_paired(invoice, item, theirs[comparable[other]], others[other], how, currency))
        elif invoice["invoice_state"] == "final" and _cents(invoice["balance"]):
            is_known = listed is not None and _is_within(item.date, listed)
            rows.append(_only_here(invoice, _in_history(item, past, names), known=is_known))
    used = {comparable[other] for other, _ in pairs.values()}
    known = {plain_number(item.number) for item in items} - {""}
    rows += [_only_there(each, known, names) for at, each in enumerate(theirs) if at not in used and _is_open(each)]
    return rows


def _is_within(date: dt.datetime | None, days: Period) -> bool:
    day = None if date is None else date.date()
    return day is None or (days.start or day) <= day <= (days.end or day)


def _is_open(row: Mapping[str, Any]) -> bool:
    return bool(_cents(row["open_balance"]))


def _paired(
    invoice: Mapping[str, Any], item: Item, other: Mapping[str, Any], their: Item, how: str, currency: str
) -> TieOutRow:
    final = invoice["invoice_state"] == "final"
    amount, balance = (item.amount or 0, _cents(invoice["balance"]) or 0) if final else (0, 0)
    row = TieOutRow(ours=invoice, theirs=other, amount=item.amount, ledger_amount=their.amount, matched_by=how)
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


def _set_parts(row: TieOutRow, amount: int, ledger_amount: int) -> None:
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


def _only_here(invoice: Mapping[str, Any], found: Mapping[str, Any] | None, *, known: bool) -> TieOutRow:
    """Return the row of an open invoice that the report does not have, with what became of it in the books."""
    amount, balance = _cents(invoice["amount"]) or 0, _cents(invoice["balance"]) or 0
    row = TieOutRow(ours=invoice, amount=amount, balance=balance)
    if found is None:
        row.reason, row.billed = ("missing_in_ledger" if known else "not_in_report"), balance
    elif found["voided"]:
        row.reason, row.ledger_amount, row.billed, row.settled = "voided_in_ledger", 0, amount, balance - amount
    else:
        row.ledger_amount = _cents(found["amount"])
        _set_parts(row, amount, amount if row.ledger_amount is None else row.ledger_amount)
    return row


def _in_history(
    item: Item, past: Mapping[str, list[Mapping[str, Any]]], names: ClientNames
) -> Mapping[str, Any] | None:
    """Find the most alike invoice of a number in the list of all invoices: client, amount or date must agree, too."""

    def alike(row: Mapping[str, Any]) -> tuple[bool, ...]:
        return names.key(row["customer"]) == item.client, _cents(row["amount"]) == item.amount, row["date"] == item.date

    found = max(past.get(plain_number(item.number), ()), key=alike, default=None)
    return found if found is not None and any(alike(found)) else None


def _only_there(row: Mapping[str, Any], known: set[str], names: ClientNames) -> TieOutRow:
    if row["kind"] == "invoice":
        reason = "duplicate_number" if plain_number(row["number"]) in known else "missing_here"
    else:
        reason = _OF_KIND.get(row["kind"], "other_in_ledger")
    balance = _cents(row["open_balance"]) or 0
    client = names.client(names.key(row["customer"]))
    return TieOutRow(
        reason, theirs=row, client=client, ledger_amount=_cents(row["amount"]), ledger_balance=balance, billed=-balance
    )


def group_unapplied(rows: Sequence[TieOutRow], names: ClientNames) -> None:
    """Give a payment or credit on no invoice, and the client's only invoice paid here by its amount, one group."""
    paid: dict[tuple[str | None, int], list[TieOutRow]] = defaultdict(list)
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


def refuse_missing_amounts(ours: Sequence[Mapping[str, Any]]) -> None:
    """Refuse final invoices without an amount or a balance: their difference is not known."""
    for row in ours:
        missing = [name for name in ("amount", "balance") if not math.isfinite(row[name])]
        if missing and row["invoice_state"] == "final":
            raise ParameterError(
                f"invoices: {missing[0]} of the final invoice {row['invoice_id']!r} is missing, so it can't be "
                "compared with the books. Fill it in, or remove the invoice."
            )


def add_control(rows: list[TieOutRow], control: float) -> None:
    """Add the row of what the general ledger has beside the customers' accounts."""
    try:
        checked_number(control)
    except ValueError:
        raise ParameterError(f"control={control!r:.40} is not an amount such as 8605.49.") from None
    gap = (_cents(control) or 0) - sum(row.ledger_balance for row in rows)
    if gap:
        rows.append(TieOutRow("not_in_any_customer", ledger_balance=gap, billed=-gap))


_DIFFERENCES = ("difference_amount", "billed_difference_amount", "settled_difference_amount")
_MONEY = ("amount", "ledger_amount", "balance", "ledger_balance", *_DIFFERENCES)
TOTALS = ("balance", "ledger_balance", "difference_amount")
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("invoice_number", "invoice_id", "client_id", "client_name", "customer"), "str"),
    "invoice_date": "datetime64[us]",
    "ledger_date": "datetime64[us]",
    "invoice_state": "str",
    "reason": pd.CategoricalDtype([*REASONS], ordered=True),
    "matched_by": pd.CategoricalDtype([*MATCHED_BY]),
    **dict.fromkeys(_MONEY, float),
    "also": "str",
    "group": "Int64",
    "ledger_rows": "Int64",
}


def tie_out_frame(rows: Sequence[TieOutRow]) -> pd.DataFrame:
    """Return the frame of the rows, in dollars."""
    return pd.DataFrame([_cells(row) for row in rows], columns=[*_TYPES], dtype=object).astype(_TYPES)


def _cells(row: TieOutRow) -> tuple[Any, ...]:
    ours, theirs = row.ours.get, row.theirs.get
    client_id, client_name = row.client or (None, None)
    money = (row.amount, row.ledger_amount, row.balance, row.ledger_balance, row.difference, row.billed, row.settled)
    return (
        *(ours("invoice_number") or theirs("number"), ours("invoice_id"), ours("client_id") or client_id),
        *(ours("client_name") or client_name, theirs("customer"), ours("invoice_date"), theirs("date")),
        *(ours("invoice_state"), row.reason, row.matched_by),
        *(None if each is None else each / 100 for each in money),
        *(", ".join(row.also) or None, row.group, theirs("row")),
    )


def add_up_reasons(frame: pd.DataFrame, by: str = "reason") -> pd.DataFrame:
    """Add up the rows of a tie-out by reason or client."""
    money = list(TOTALS)
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
    halves = frame[both].assign(reason=pd.Categorical(second[both], [*REASONS], ordered=True), balance=0.0)
    halves["ledger_balance"] = 0.0
    first = frame.assign(difference_amount=frame["difference_amount"].mask(both, _part_of(frame)))
    halves["difference_amount"] = _part_of(halves)
    return pd.concat([first, halves], ignore_index=True)


def _part_of(frame: pd.DataFrame) -> pd.Series[float]:
    is_amount = frame["reason"] == "amount_differs"
    return frame["billed_difference_amount"].where(is_amount, frame["settled_difference_amount"])
