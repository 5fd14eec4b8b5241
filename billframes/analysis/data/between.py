"""Compare frames with each other, and the columns of a row: what must agree in records of one billing system.

Each check is a condition on the rows of a frame, such as "its client is not that of its invoice", and the rows that it
can be asked of. Both are counted as they arrive, before anything is cleaned, in one query for all frames. Rows that
disagree are counted exactly and named; nothing is inferred from how many or how large they are. Of the ids that another
frame lacks, the rules of the analyses tell, because it depends on the period whether they matter.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from billframes._shared.notes import Note, Rule
from billframes.analysis.data.engine import arrow_rows, collect_counts, join_by_id, to_dicts
from billframes.analysis.data.expressions import C, count_if
from billframes.analysis.declare.columns import IDS, ITEMS, Frame, column_names, has_kind

_CENT = 0.005
# An amount can be of unrounded hours, and the hours be rounded to a hundredth.
_ROUNDED = 0.0051
# Interest can raise a balance above the amount.
_INTEREST = 1.5
# So many rows are named.
_NAMED = 3
_OF_INVOICE = "_of_invoice_"
_CORRECT = "Look at these records in the billing system."

UNLIKE_INVOICE = Rule(
    name="unlike_invoice",
    seen="{subject}: {column} is not that of the invoice in {n} of {all} rows that are on an invoice passed{few}.",
    causes="They may have been loaded on different days, or one of the two was changed.",
    remedy="Load them again, one after the other.",
    page=_CORRECT,
    unit="rows",
)
UNLIKE_AMOUNT = Rule(
    name="unlike_amount",
    seen="{subject}: amount is not hours times rate in {n} of {all} rows that have all three{few}.",
    causes="Hours, rates or amounts may have been changed after the load.",
    remedy="Load them again, or leave out `rate` if the amounts are meant.",
    page=_CORRECT,
    unit="rows",
)
UNLIKE_BALANCE = Rule(
    name="unlike_balance",
    seen="{subject}: balance is above 0 on a credit, or above amount by more than half, in {n} of {all} rows{few}.",
    causes="The columns may have been exchanged or changed.",
    remedy="The balance is the part of the amount that is still open, with its sign: correct it if it is not.",
    page=_CORRECT,
    unit="rows",
)
UNBILLED_ON_INVOICE = Rule(
    name="unbilled_on_invoice",
    seen="{subject}: billed is false, but `invoice_id` is there in {n} of {all} rows{few}.",
    causes="One of the two may have been changed after the load.",
    remedy="Load them again: an item on an invoice is billed.",
    page=_CORRECT,
    unit="rows",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A note of rows that disagree, for calls that have all of `frames` and use one of `columns` of a frame."""

    note: Note
    columns: frozenset[tuple[str, str]]
    frames: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Check:
    """
    What must agree in a row.

    `needs` are columns of the frame with their kind, and `invoice` is a column of its invoice, which is `_of_invoice_…`
    in the condition.
    """

    rule: Rule
    about: str
    needs: Mapping[str, str]
    is_wrong: nw.Expr
    invoice: str = ""

    def fits(self, schema: Mapping[str, Any], of_invoices: Mapping[str, Any]) -> bool:
        kinds = [(schema.get(column), kind) for column, kind in self.needs.items()]
        if self.invoice:
            kinds += [(of_invoices.get(self.invoice), self.needs[self.about]), (of_invoices.get("invoice_id"), "text")]
        return all(has_kind(dtype, kind) for dtype, kind in kinds)

    def can_be_asked(self) -> nw.Expr:
        """Return whether a row has all values."""
        values = [*self.needs, *([f"{_OF_INVOICE}{self.invoice}"] if self.invoice else [])]
        return functools.reduce(operator.and_, [~C(each).is_null() for each in values])


def _same_as_invoice(column: str, kind: str) -> _Check:
    other = C(f"{_OF_INVOICE}{column}")
    return _Check(UNLIKE_INVOICE, column, {column: kind, "invoice_id": "text"}, C(column) != other, column)


_OF_ITEMS = (
    _same_as_invoice("client_id", "text"),
    _same_as_invoice("invoice_state", "text"),
    _same_as_invoice("invoice_date", "date"),
    _Check(UNBILLED_ON_INVOICE, "billed", {"billed": "flag", "invoice_id": "text"}, ~C("billed")),
)
_H, _R, _A, _B = C("hours"), C("rate"), C("amount"), C("balance")
CHECKS: Mapping[str, Sequence[_Check]] = {
    **dict.fromkeys(ITEMS, _OF_ITEMS),
    "time_entries": (
        *_OF_ITEMS,
        _Check(
            UNLIKE_AMOUNT,
            "hours",
            dict.fromkeys(("hours", "rate", "amount"), "number"),
            (_A - _H * _R).abs() > _R.abs() * _ROUNDED + 2 * _CENT,
        ),
    ),
    "invoices": (
        _Check(
            UNLIKE_BALANCE,
            "balance",
            dict.fromkeys(("amount", "balance"), "number"),
            # Clients who paid too much have a negative balance on an invoice.
            ((_A < -_CENT) & (_B > _CENT)) | (_B.abs() > _A.abs() * _INTEREST + _CENT),
        ),
    ),
}
"""What must agree in the rows of each frame."""


def disagreements(frames: Mapping[str, Frame], done: set[tuple[str, str]]) -> list[Finding]:
    """
    Find the rows of frames that disagree, from raw values.

    Checks of frames and columns that are not there are left out, and so are those of columns with another type, which
    the analyses refuse. `done` are the checks that were made before, by frame and column; those made now are added.
    """
    asked = [(name, check) for name in CHECKS if name in frames for check in _new(name, frames, done)]
    if not asked:
        return []
    schemas = {name: frames[name].collect_schema() for name in CHECKS if name in frames}
    of_invoices: Mapping[str, Any] = schemas.get("invoices", {})
    asked = [(name, check) for name, check in asked if check.fits(schemas[name], of_invoices)]
    invoices = _values_of_invoices(frames, [check for _, check in asked if check.invoice])
    checks = {name: [check for of, check in asked if of == name] for name, _ in asked}
    rows = {name: _rows(name, frames[name], of, invoices) for name, of in checks.items()}
    counts: dict[str, dict[str, nw.Expr]] = {name: {} for name in rows}
    for nth, (name, check) in enumerate(asked):
        can = check.can_be_asked()
        counts[name] |= {f"wrong {nth}": count_if(can & check.is_wrong), f"all {nth}": count_if(can)}
    found = collect_counts(*((rows[name], values) for name, values in counts.items()))
    return [
        _finding(name, check, rows[name], wrong, found[f"all {nth}"])
        for nth, (name, check) in enumerate(asked)
        if (wrong := found[f"wrong {nth}"])
    ]


def _new(name: str, frames: Mapping[str, Frame], done: set[tuple[str, str]]) -> Iterator[_Check]:
    """Yield the checks of a frame that are not done, and count them as done."""
    for check in CHECKS[name]:
        if (name, check.about) not in done and ("invoices" in frames or not check.invoice):
            done.add((name, check.about))
            yield check


def _values_of_invoices(frames: Mapping[str, Frame], checks: Sequence[_Check]) -> Frame | None:
    """Return what items are compared with, of each invoice; None if nothing is."""
    if not checks:
        return None
    kinds = {check.invoice: check.needs[check.about] for check in checks}
    invoices = _alike(frames["invoices"], {"invoice_id": "text"} | kinds).filter(~C("invoice_id").is_null())
    # Equal rows of one invoice count once.
    return invoices.group_by("invoice_id").agg(**{f"{_OF_INVOICE}{column}": C(column).max() for column in kinds})


def _rows(name: str, frame: Frame, checks: Sequence[_Check], invoices: Frame | None) -> Frame:
    """Return the columns that the checks of a frame need, alike on all engines, with those of the invoices."""
    kinds = {column: kind for check in checks for column, kind in check.needs.items()}
    rows = _alike(frame, kinds, [IDS[name]] if IDS[name] in column_names(frame) else ())
    if invoices is not None and any(check.invoice for check in checks):
        return join_by_id(rows, invoices, "invoice_id")
    return rows


def _alike(frame: Frame, kinds: Mapping[str, str], ids: Sequence[str] = ()) -> Frame:
    return arrow_rows(frame).select(
        **{each: C(each) for each in ids} | {each: _value(each, kind) for each, kind in kinds.items()}
    )


def _value(column: str, kind: str) -> nw.Expr:
    value = C(column)
    if kind == "number":
        number = value.cast(nw.Float64)
        return nw.when(~number.is_nan()).then(number)
    if kind == "flag":
        return value.cast(nw.Boolean)
    if kind == "date":
        return value.cast(nw.Date)
    text = value.cast(nw.String)
    return text.str.to_lowercase() if column == "invoice_state" else nw.when(text != "").then(text)


def _finding(name: str, check: _Check, rows: Frame, wrong: float, all_: float) -> Finding:
    named = ""
    if IDS[name] in rows.columns:
        ids = (
            rows.filter(check.can_be_asked() & check.is_wrong)
            .select(id=C(IDS[name]).cast(nw.String))
            .sort("id")
            .head(_NAMED)
        )
        named = f" (for example `{IDS[name]}` {', '.join(str(row['id']) for row in to_dicts(ids))})"
    values = {"all": int(all_), "few": named, "column": f"`{check.about}`"}
    columns = {(name, column) for column in check.needs if not (check.invoice and column == "invoice_id")}
    others = {("invoices", check.invoice)} if check.invoice else set()
    frames = frozenset(frame for frame, _ in columns | others)
    return Finding(Note(check.rule, name, wrong, f"{name} {check.about}", values), frozenset(columns | others), frames)
