"""Work: one row per item, and per remainder of an invoice that no item explains.

An item is a time entry, an expense or a fixed fee. Its value is its amount at its rates, and it has earned the fees
that its invoice bills for it (see `invoices`): an entry of 600 on an invoice that bills a value of 1,000 at 800 has
earned 480. Expenses and fixed fees have their amounts, and no `fees`.

What no item explains of an invoice has rows of its own, so that fees and balances add up to those of the invoices:

- `kind` "fees": the net fees of a final invoice whose fees are spread over no entry. They count for the client, not for
  a matter.
- `kind` "balance": the part of a balance that no item has. That of an invoice without any item is on the invoice's own
  matter; otherwise the part has no matter. It is below 0 for the discount of an invoice of fixed fees without
  billable time.

So the fees of a credit note without items count for its client, and its open balance for the matter that it names.
Entries on a credit note share its fees as those of any invoice.

The fact leaves out no item: an analysis selects rows by `kind`, `type`, `state` and `matter_type`. An item has the type
of its matter, also an expense: so work in progress leaves out the expenses on contingency matters with their time, but
not those on pro bono and internal matters. Fees without a matter are of the type "Unknown", which counts by default.

An unknown number is NaN, such as the value of an entry whose amount is hidden: so a sum is missing exactly if an
unknown number counts. A sum selects rows by `when`; multiplying by a mark fails, because 0 × NaN is NaN.

No column depends on a day or a period: an analysis compares dates with its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Reader
from billframes.analysis.data.engine import join_by_id, stack, sum_by
from billframes.analysis.data.expressions import RESIDUE, C, columns_or_null, null_column, value_if
from billframes.analysis.declare.columns import ENUMS, UNKNOWN, Frame, has_kind, source_of
from billframes.analysis.facts.invoices import invoices, value_of_entry

KINDS = ("time", "fixed_fee", "expense", "fees", "balance")
_IDS = ("invoice_id", "client_id", "matter_id", "user_id")
_FLAGS = ("is_billable", "is_untyped", "is_final", "is_priced", "is_mixed", "is_unspread", "is_cancelled")
COLUMNS = {
    "kind": '"time", "fixed_fee", "expense", "fees" or "balance"',
    "invoice_id, client_id, matter_id, user_id": "the ids; a client's fees have neither matter nor user",
    "matter_type": 'as loaded with the item, or else of its matter; "Unknown" if both are missing',
    "date": "the date of the item; missing for the remainder of an invoice",
    "invoice_date, due_date": "of its invoice; if that was not passed, time has the `invoice_date` it was loaded with",
    "state": '"unbilled" on no invoice, "prebill" on a draft, "final", "unknown", or "lost" if it was not passed',
    "type": 'of time: "billable", "fixedFee", "nonBillable" or "unknown"; of others missing',
    "hours": "of time, else 0",
    "value": "of billable time and of time of unknown type: its amount, which can be hidden; 0 for other rows",
    "is_billable, is_untyped": "whether it is billable time, or time of unknown billing type",
    "is_final": 'whether its state is "final"',
    "is_priced": "whether billable or untyped time has an amount",
    "amount": 'of expenses and fixed fees (with `discounts="items"`, as billed), else 0',
    "fees, settled_fees": 'on final invoices: net fees of a billable entry or a row "fees", and the settled part',
    "open": "its part of the balance of its invoice, with its tax",
    "balance": "the balance of its whole invoice",
    "is_mixed": "whether its invoice has fixed fees",
    "is_unspread": "whether its fees are unknown, because they depend on a hidden value",
    "is_cancelled": "whether these are the fees of an invoice on which entries below 0 nearly cancel the others",
}
"""What each column is; several can share a meaning."""
_TEXT, _DAY, _NUMBER = nw.String(), nw.Datetime("us"), nw.Float64()
_TYPES: Mapping[str, Any] = {
    "kind": _TEXT,
    **dict.fromkeys((*_IDS, "matter_type"), _TEXT),
    **dict.fromkeys(("date", "invoice_date", "due_date"), _DAY),
    **dict.fromkeys(("state", "type"), _TEXT),
    **dict.fromkeys(("hours", "value", "amount", "fees", "settled_fees", "open", "balance"), _NUMBER),
    **dict.fromkeys(_FLAGS, nw.Boolean()),
}
_OF_INVOICE = (
    *("invoice_state", "invoice_date", "due_date", "balance", "settled", "is_mixed", "hidden"),
    *("per_value", "per_hour", "open_time", "open_fixed_fees", "open_expenses"),
)
_TEXTS = ("invoice_id", "client_id", "matter_id", "invoice_state")
_UNKNOWN_NUMBER = float("nan")
_ITEMS = {"fixed_fees": "fixed_fee", "expenses": "expense"}


def work(of: Reader, *, own: Iterable[str] = (), discounts: str = "time", only: Collection[str] = KINDS) -> Frame:
    """
    Return the rows; see the module's docstring.

    An item that lacks a column of `own` has no value in it. With `only`, rows of other kinds are left out, but
    not those of the fees if there are no items.
    """
    own = tuple(own)
    billed = _billed(of, own, discounts)
    joined = billed.select("invoice_id", *_OF_INVOICE, *(["fixed_fee_share"] if discounts == "items" else []))
    # What no item has of a balance is known only with all items.
    needed = KINDS if "balance" in only else only
    parts = [_time(of, joined, own, discounts)] if "time_entries" in of and "time" in needed else []
    others = [name for name, kind in _ITEMS.items() if name in of and kind in needed]
    parts += [_items(of, joined, name, own, discounts) for name in others]
    parts += [billed]
    types = {**_types_of(parts, own), **_TYPES}
    *items, rest = [_in_columns(each, types) for each in parts]
    fees = [rest.filter((C("kind") == "fees") & C("is_final"))] if "fees" in only or not items else []
    balances = [_balances(items, billed, types)] if "balance" in only else []
    rows = stack([*items, *fees, *balances]).with_columns(*(C(name).fill_null(False) for name in _FLAGS))
    return with_matter_type(rows, of)


def _billed(of: Reader, own: tuple[str, ...], discounts: str) -> Frame:
    """Return the invoices with what their items need; those whose fees are spread over no entry are rows "fees"."""
    there = of.columns("invoices")
    known = [each for each in own if source_of(each, there) in there]
    rows = of.fact(invoices, known, discounts=discounts)
    rows = rows.with_columns(C(*_TEXTS).cast(nw.String)).with_columns(invoice_state=_state_of_invoice())
    rows = rows.with_columns(state=_state()).with_columns(is_final=C("state") == "final")
    rows = rows.with_columns(kind=nw.when(C("is_spread")).then(nw.lit("")).otherwise(nw.lit("fees")))
    rows = rows.rename({"fees": "all_fees", "net": "fees", "matter_id": "own_matter_id"})
    number = dict.fromkeys(("hours", "value", "amount", "open"), nw.lit(0.0))
    if discounts == "items":
        share = nw.when(C("hidden") > 0).then(nw.lit(_UNKNOWN_NUMBER)).otherwise(C("all_fees") - C("fees"))
        number["fixed_fee_share"] = nw.when(C("is_mixed")).then(share / C("fixed_fees")).otherwise(nw.lit(1.0))
    return rows.with_columns(**number, settled_fees=C("fees") * C("settled").fill_null(0.0))


def _time(of: Reader, joined: Frame, own: tuple[str, ...], discounts: str) -> Frame:
    dated = ("invoice_date",) if _has_dates(of, "invoice_date") else ()
    needed = ("billing_type", "hours", "amount", "invoice_id")
    rows = of.select("time_entries", needed, (*_IDS, "date", "matter_type", *dated, *own))
    rows = rows.rename({"invoice_date": "named_date"}) if dated else rows
    kind = C("billing_type")
    billable, known = kind == "billable", kind.is_in(ENUMS["billing_type"]).fill_null(False)
    rows = join_by_id(rows, joined, "invoice_id").with_columns(
        kind=nw.lit("time"),
        is_billable=billable,
        is_untyped=~known,
        type=nw.when(known).then(kind).otherwise(nw.lit("unknown")),
        state=_state(),
        is_priced=~C("amount").is_null() & (billable | ~known).fill_null(True),
        value=nw.when(billable).then(value_of_entry()).otherwise(value_if(~known, "amount")).fill_null(_UNKNOWN_NUMBER),
    )
    # Fees are unknown because of missing hours only if they are spread by hours.
    by_hours = value_if(C("per_hour") != 0, C("hours") * C("per_hour"))
    by_value = value_if(C("per_value") != 0, C("value") * C("per_value"))
    rows = rows.with_columns(share=value_if(billable, by_value + by_hours))
    rows = rows.with_columns(
        is_unspread=(C("is_mixed") & (C("hidden") > 0)).fill_null(False) & nw.lit(discounts == "items"),
        open=(C("share") * C("open_time")).fill_null(0.0),
    )
    fees = nw.when(C("is_unspread") & billable).then(nw.lit(_UNKNOWN_NUMBER)).otherwise(C("share"))
    rows = rows.with_columns(is_final=C("state") == "final", amount=nw.lit(0.0))
    rows = rows.with_columns(fees=value_if(C("is_final"), fees))
    day = {"invoice_date": nw.coalesce("invoice_date", "named_date")} if dated else {}
    return rows.with_columns(settled_fees=C("fees") * C("settled").fill_null(0.0), **day)


def _has_dates(of: Reader, column: str) -> bool:
    """Tell whether entries have a column of dates that is not needed: in a file read by hand, it can be text."""
    return has_kind(of["time_entries"].collect_schema().get(column), "date")


def _items(of: Reader, joined: Frame, name: str, own: tuple[str, ...], discounts: str) -> Frame:
    rows = of.select(name, ("invoice_id", "amount"), (*_IDS, "date", "matter_type", *own))
    rows = join_by_id(rows, joined, "invoice_id").with_columns(kind=nw.lit(_ITEMS[name]), state=_state())
    if discounts == "items" and name == "fixed_fees":
        billed = C("amount") * C("fixed_fee_share")
        rows = rows.with_columns(amount=nw.when(C("state") == "final").then(billed).otherwise(C("amount")))
    number = dict.fromkeys(("hours", "value", "fees", "settled_fees"), nw.lit(0.0))
    return rows.with_columns(
        is_final=C("state") == "final", open=C("amount") * C(f"open_{name}").fill_null(0.0), **number
    )


def _state_of_invoice() -> nw.Expr:
    invoice = C("invoice_state")
    known = nw.when(invoice.is_in(ENUMS["invoice_state"])).then(nw.lit("prebill")).otherwise(nw.lit("unknown"))
    return nw.when(invoice == "final").then(nw.lit("final")).otherwise(known)


def _state() -> nw.Expr:
    """Return the billing state of a row, which is that of its invoice."""
    passed = nw.coalesce(C("invoice_state"), nw.lit("lost"))
    return nw.when(C("invoice_id").is_null()).then(nw.lit("unbilled")).otherwise(passed)


def _balances(items: Sequence[Frame], billed: Frame, types: Mapping[str, Any]) -> Frame:
    """Return the parts of balances that no item has; those of an invoice without items are on its own matter."""
    rows = billed.with_columns(kind=nw.lit("balance"), fees=nw.lit(0.0), settled_fees=nw.lit(0.0))
    if items:
        given = stack([each.select("invoice_id", given=C("open")) for each in items])
        given = sum_by(given.filter(~C("invoice_id").is_null()), ["invoice_id"], ["given"])
        rows = join_by_id(rows, given, "invoice_id")
    else:
        rows = rows.with_columns(given=null_column(_NUMBER))
    rows = rows.with_columns(
        open=C("balance") - C("given").fill_null(0.0),
        matter_id=nw.when(C("given").is_null()).then(C("own_matter_id")),
    )
    explained = (C("open") / C("balance")).abs() <= RESIDUE
    return _in_columns(rows.filter((C("balance") != 0) & ~explained), types)


def _in_columns(rows: Frame, types: Mapping[str, Any]) -> Frame:
    """Select the columns of the fact in order; what the rows lack is missing."""
    columns = columns_or_null(rows, types, types)
    return rows.select(*(each.cast(types[name]) for name, each in zip(types, columns, strict=True)))


def _types_of(parts: Sequence[Frame], own: Iterable[str]) -> dict[str, Any]:
    schemas = [each.collect_schema() for each in parts]
    return {name: next((each[name] for each in schemas if name in each), _TEXT) for name in own}


def with_matter_type(rows: Frame, of: Reader) -> Frame:
    """Fill in the type of each row's matter where `matter_type` is missing; it is "Unknown" if nothing has it."""
    own = ["matter_type"]
    if {"matter_id", "matter_type"} <= of.columns("matters"):
        types = of.select("matters", ("matter_id", "matter_type")).rename({"matter_type": "of_matter"})
        rows, own = join_by_id(rows, types, "matter_id"), ["matter_type", "of_matter"]
    known = rows.with_columns(matter_type=nw.coalesce(*own).fill_null(UNKNOWN))
    return known.drop("of_matter") if len(own) > 1 else known


# Expressions over the rows


def is_of_types(types: Collection[str] | None, usually_not: Collection[str]) -> nw.Expr:
    """Return whether a row's type of matter is among `types`, or by default, not among `usually_not`."""
    if types is None:
        return ~C("matter_type").is_in(list(usually_not))
    declared = C("matter_type").is_in(ENUMS["matter_type"])
    return nw.when(declared).then(C("matter_type").cast(nw.String)).otherwise(nw.lit(UNKNOWN)).is_in(sorted(types))


def is_of_unknown_matter_type() -> nw.Expr:
    """Return whether a row is on a matter whose type is not known."""
    return ~C("matter_type").is_in(ENUMS["matter_type"]) & ~C("matter_id").is_null()


def is_fee() -> nw.Expr:
    """Return whether a row is of the fees of final invoices: of billable time, of a fixed fee, or of no item."""
    return C("is_final") & (C("is_billable") | (C("kind") == "fees") | (C("kind") == "fixed_fee"))


def due() -> nw.Expr:
    """Return the day on which the invoice is due: by default, its date."""
    return nw.coalesce("due_date", "invoice_date")
