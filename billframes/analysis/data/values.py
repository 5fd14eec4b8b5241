"""Find values in users' frames that would silently give a wrong figure.

Every frame that is passed to an analysis is checked once, and a book's for all analyses. This is fast: an unchanged
frame of a loader has unique ids, columns in memory are asked first whether they can have such values, and one query
counts the rows of all lazy frames. Rows are only compared if ids repeat.

A note about a column is given when an analysis uses that column (`Reader.select`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw

from billframes._shared.names import first_few, join_names
from billframes._shared.notes import Amount, Count, Note, Notes, Rule
from billframes.analysis.data.engine import arrow_rows, collect_counts, collect_values, lazy, to_dicts
from billframes.analysis.data.expressions import C, as_day, count_if, midnight
from billframes.analysis.data.repeated_ids import drop_repeated, is_unique
from billframes.analysis.declare.columns import (
    DATE_OF,
    ENUMS,
    IDS,
    ITEMS,
    NUMBERS,
    PLAUSIBLE_DAYS,
    REQUIRED_NUMBERS,
    Frame,
    has_kind,
    is_categorical,
    refuse_odd_ids,
    typed_column,
)

_SEEN = 1_000
_LARGEST = 1e300
_UNKNOWN_INVOICE = "billed, but without invoice_id"
# An empty text stands for no id, as in a file or after `fillna("")`.
_OF_ITEMS = ("invoice_id", "fixed_fee_id", "matter_id", "user_id", "client_id")
_MAY_BE_EMPTY = dict.fromkeys(ITEMS, _OF_ITEMS) | {
    "invoices": ("client_id", "matter_id"),
    "matters": ("practice_area_id", "responsible_id", "client_id"),
}
# The enum that every row of a frame must have. Other enums can be missing, such as a role, or the invoice state of an
# item that is on no invoice.
_REQUIRED = {"time_entries": "billing_type", "invoices": "invoice_state"}
_DECLARED = {name: {value.casefold(): value for value in values} for name, values in ENUMS.items()}
# The number whose sum the note of an enum shows.
_SUMMED = {"billing_type": "hours", "invoice_state": "amount"}
_CONSEQUENCES = {
    "billing_type": "Such time is counted only in `unknown_hours` or `unknown_amount`, if the result has them.",
    "invoice_state": "Such invoices, and the work on them, are counted only in `unknown_amount`, if the result has it.",
    "matter_type": "Such matters have the type Unknown.",
    **dict.fromkeys(("role", "user_role"), "Such people have the role Unknown."),
}
_CORRECT = "Correct these records in the billing system."
_MISSING_NUMBERS = Rule(
    name="missing_numbers",
    seen="{subject}: {column} is missing in {n} {n:row|rows}{example}. A missing number is not counted as 0: every "
    "figure that it is part of is missing.",
    remedy="Fill in the numbers, or remove these rows.",
    page=_CORRECT,
    unit="rows",
)
_NO_DATE = Rule(
    name="no_date",
    seen="{subject}: {column} is missing in {n} {n:row|rows}{example}. They are in no period.",
    remedy="If dates were read from text, look for those that could not be read (errors='coerce' makes them missing).",
    page=_CORRECT,
    unit="rows",
)
_BILLED_WITHOUT_INVOICE = Rule(
    name="billed_without_invoice",
    seen="{subject}: billed is true but `invoice_id` is missing in {n} {n:row|rows}{example}. Their invoice is "
    "unknown, so they are not counted as unbilled.",
    remedy="Load them again with their invoices.",
    page=_CORRECT,
    unit="rows",
)
_IMPOSSIBLE_DATES = Rule(
    name="impossible_dates",
    seen="{subject}: {column} is before 1990 or after 2100 in {n} {n:row|rows}{example}; {consequence}.",
    remedy="Correct these dates.",
    page=_CORRECT,
    unit="rows",
)
_INFINITE = Rule(
    name="infinite_numbers",
    seen="{subject}: {column} is infinite in {n} {n:row|rows}{example}; {n:it counts|they count} as missing.",
    causes="A division by 0 may have made {n:it|them}.",
    remedy="Correct these numbers.",
    page=_CORRECT,
    unit="rows",
)
_UNKNOWN_VALUES = Rule(
    name="unknown_values",
    seen="{subject}: these values of {column} are unknown: {values}. {consequence}",
    remedy="Known values are {known}.",
    page=_CORRECT,
    unit="rows",
)


@dataclass(slots=True)
class Findings:
    """The notes and the unknown values of enums, by frame and column."""

    notes: dict[tuple[str, str], list[Note]] = field(default_factory=dict)
    unknown: dict[tuple[str, str], list[Any]] = field(default_factory=dict)

    def add(self, rule: Rule, amount: float, frame: str, column: str, /, **values: Any) -> None:
        """Add a note of a column; a column can have several."""
        note = Note(rule, frame, float(amount), column, values | {"column": f"`{column}`"})
        self.notes.setdefault((frame, column), []).append(note)


@dataclass(frozen=True, slots=True)
class _Check:
    """A check of a column: which rows are wrong, what notes them, and the column with other values in these rows."""

    column: str
    # Without it, rows repeat an id.
    is_wrong: nw.Expr | None
    rule: Rule | None = None
    corrected: nw.Expr | None = None

    @property
    def count(self) -> nw.Expr:
        return nw.len() - C(self.column).n_unique() if self.is_wrong is None else count_if(self.is_wrong)


def check_values(
    frames: Mapping[str, Frame], natives: Mapping[str, Any], notes: Notes, *, ids_only: bool = False
) -> tuple[dict[str, Frame], Findings]:
    """
    Check frames, and return them with unique ids and with enum values as declared, whichever case the frames have.

    Also return what was found in them. Equal rows of one id, which count once, are noted; different ones are refused.
    With `ids_only`, only ids are checked and all values stay unchanged, for analyses that return whole rows.
    """
    checks = {name: [*_checks_of(name, each, natives[name], ids_only=ids_only)] for name, each in frames.items()}
    counted = {name: {f"_{name}_{nth}": each.count for nth, each in enumerate(of)} for name, of in checks.items()}
    counts = collect_counts(*((frames[name], each) for name, each in counted.items()))
    findings, checked = Findings(), {}
    for name, frame in frames.items():
        found = zip(checks[name], map(counts.__getitem__, counted[name]), strict=True)
        checked[name] = _corrected(name, frame, [each for each in found if each[1]], notes, findings)
    return checked, findings


def _corrected(
    name: str, frame: Frame, found: Iterable[tuple[_Check, float]], notes: Notes, findings: Findings
) -> Frame:
    for check, count in found:
        column, rule = check.column, check.rule
        if check.is_wrong is None:
            frame = drop_repeated(frame, name, column, notes)
        elif rule is _UNKNOWN_VALUES:
            frame = _with_declared_values(name, frame, column, findings)
        elif rule is not None:
            consequence = "they are in no period, or age for decades"
            if column == "due_date":
                consequence, findings.unknown[name, column] = "the invoice date is used instead", ["impossible"]
            words = {"example": _examples(name, frame, check.is_wrong), "consequence": consequence}
            findings.add(rule, count, name, column, **words)
        if check.corrected is not None:
            frame = frame.with_columns(check.corrected.alias(column))
    return frame


def _examples(name: str, frame: Frame, is_wrong: nw.Expr) -> str:
    """Return the ids of one or two rows, in words."""
    id_ = IDS[name]
    if id_ not in frame.columns:
        return ""
    ends = collect_values((lazy(frame).filter(is_wrong), {"first": C(id_).min(), "last": C(id_).max()}))
    ids = sorted({str(each) for each in ends.values() if each is not None})
    return f" (for example `{id_}` {join_names(ids)})" if ids else ""


def _checks_of(name: str, frame: Frame, native: Any, *, ids_only: bool) -> Iterator[_Check]:
    """Yield the checks that the columns of a frame need."""
    schema, id_ = frame.collect_schema(), IDS.get(name, "")
    if id_ in schema:
        ids = arrow_rows(frame)
        if isinstance(ids, nw.DataFrame):
            refuse_odd_ids(name, native, id_)
            typed_column(ids, name, id_, ids.collect_schema()[id_], "")
        if not (isinstance(ids, nw.DataFrame) and is_unique(ids, native, id_)):
            yield _Check(id_, None)
    if not ids_only:
        yield from _empty_ids(name, frame, schema)
        yield from _wrong_values(name, frame, schema)
        yield from _wrong_words(name, frame, schema)


def _empty_ids(name: str, frame: Frame, schema: Mapping[str, Any]) -> Iterator[_Check]:
    for column in _MAY_BE_EMPTY.get(name, ()):
        if column != IDS[name] and _may_have_empty_ids(frame, column, schema.get(column)):
            text = C(column).cast(nw.String)
            is_empty = (text == "").fill_null(False)
            yield _Check(column, is_empty, corrected=nw.when(~is_empty).then(text))


def _wrong_values(name: str, frame: Frame, schema: Mapping[str, Any]) -> Iterator[_Check]:
    """Yield the checks of numbers and dates."""
    dates = (DATE_OF[name],) if name in (*ITEMS, "invoices") else ()
    due = ("due_date",) if name == "invoices" else ()
    for rule, columns, may_be, is_wrong in (
        (_NO_DATE, dates, _may_be_missing, _is_missing),
        (_MISSING_NUMBERS, REQUIRED_NUMBERS.get(name, ()), _may_be_missing, _is_missing),
        (_IMPOSSIBLE_DATES, (*dates, *due), _may_be_impossible, _is_impossible),
        (_INFINITE, sorted(NUMBERS), _may_be_infinite, _is_infinite),
    ):
        for column in columns:
            if column in schema and may_be(frame, column, schema[column]):
                wrong = is_wrong(column, schema[column])
                is_replaced = rule is _INFINITE or column in due
                yield _Check(column, wrong, rule, nw.when(~wrong).then(C(column)) if is_replaced else None)


def _wrong_words(name: str, frame: Frame, schema: Mapping[str, Any]) -> Iterator[_Check]:
    """Yield the checks of enums, and of items that are billed, but on no invoice."""
    for column in ENUMS:
        if _may_have_undeclared(name, frame, column, schema.get(column)):
            yield _Check(column, _is_undeclared(name, column, schema[column]), _UNKNOWN_VALUES)
    flag = schema.get("billed") if name in ITEMS and "invoice_id" in schema else None
    # SQLite and Excel store true and false as 1 and 0.
    if flag is not None and (flag == nw.Boolean or flag.is_integer()):
        wrong = C("billed").cast(nw.Boolean) & C("invoice_id").is_null()
        known = nw.when(wrong).then(nw.lit(_UNKNOWN_INVOICE)).otherwise(C("invoice_id").cast(nw.String))
        yield _Check("invoice_id", wrong, _BILLED_WITHOUT_INVOICE, known)


# Columns in memory are asked whether they can have wrong values; on lazy engines, all can.


def _may_have_empty_ids(frame: Frame, column: str, dtype: Any) -> bool:
    if dtype is None or not _is_text(dtype) or not isinstance(frame, nw.DataFrame):
        return dtype is not None and _is_text(dtype)
    ids = frame.get_column(column)
    return bool(ids.gather_every(len(ids) // _SEEN + 1).is_in([""]).any())


def _may_be_missing(frame: Frame, column: str, dtype: Any) -> bool:
    if not isinstance(frame, nw.DataFrame):
        return True
    values = frame.get_column(column)
    return values.null_count() > 0 or (dtype.is_float() and bool(values.is_nan().any()))


def _is_missing(column: str, dtype: Any) -> nw.Expr:
    value = C(column)
    return value.is_null() | value.is_nan().fill_null(True) if dtype.is_float() else value.is_null()


def _may_be_impossible(frame: Frame, column: str, dtype: Any) -> bool:
    if not has_kind(dtype, "date"):
        return False
    days = map(as_day, _ends(frame, column))
    first, last = PLAUSIBLE_DAYS
    return not isinstance(frame, nw.DataFrame) or any(day is not None and not first <= day <= last for day in days)


def _is_impossible(column: str, _dtype: Any) -> nw.Expr:
    low, high = map(midnight, PLAUSIBLE_DAYS)
    return (C(column).cast(nw.Datetime("us")) < low) | (C(column).cast(nw.Datetime("us")) > high)


def _may_be_infinite(frame: Frame, column: str, dtype: Any) -> bool:
    is_large = (abs(end) > _LARGEST for end in _ends(frame, column) if end is not None) if dtype.is_float() else ()
    return bool(dtype.is_float()) and (not isinstance(frame, nw.DataFrame) or any(is_large))


def _is_infinite(column: str, _dtype: Any) -> nw.Expr:
    # On Spark and databases, NaN is above every number.
    value = C(column).cast(nw.Float64)
    return (value.abs() > _LARGEST) & ~value.is_nan()


def _ends(frame: Frame, column: str) -> tuple[Any, Any]:
    """Return the least and the greatest value of a column in memory."""
    values = frame.get_column(column) if isinstance(frame, nw.DataFrame) else None
    return (None, None) if values is None else (values.min(), values.max())


def _may_have_undeclared(name: str, frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether an enum can have undeclared values, by its categories if it has any."""
    required = column == _REQUIRED.get(name)
    if dtype is None or not _is_text(dtype):
        # A column without values may have any type.
        return dtype is not None and required
    if not (is_categorical(dtype) and isinstance(frame, nw.DataFrame)):
        return required or not _is_declared(column, dtype)
    values = frame.get_column(column)
    categories = {*values.cat.get_categories().to_list()}
    return not categories <= {*ENUMS[column]} or (required and values.null_count() > 0)


def _is_undeclared(name: str, column: str, dtype: Any) -> nw.Expr:
    """Return whether a value is undeclared; if its type allows declared values only, whether it is missing."""
    if not _is_text(dtype) or _is_declared(column, dtype):
        return C(column).is_null()
    known = C(column).cast(nw.String).is_in(ENUMS[column])
    return ~known.fill_null(column != _REQUIRED.get(name))


def _is_declared(column: str, dtype: Any) -> bool:
    return bool(dtype == nw.Enum) and {*dtype.categories} <= {*ENUMS[column]}


def _is_text(dtype: Any) -> bool:
    return is_categorical(dtype) or dtype in (nw.String, nw.Object)


def _with_declared_values(name: str, frame: Frame, column: str, findings: Findings) -> Frame:
    """Replace an enum's values in another case by the declared values; unknown ones are findings."""
    dtype = frame.collect_schema().get(_SUMMED.get(column, ""))
    summed = _SUMMED[column] if dtype is not None and dtype.is_numeric() else ""
    values = _undeclared_values(name, frame, column, summed)
    declared = {row["_value"]: _DECLARED[column].get(str(row["_value"]).casefold()) for row in values}
    unknown = sorted((row for row in values if declared[row["_value"]] is None), key=lambda row: str(row["_value"]))
    if unknown:
        findings.unknown[name, column] = [row["_value"] for row in unknown]
        words = {"values": _in_words(unknown, summed), "known": ", ".join(ENUMS[column])}
        rows = sum(row["_rows"] for row in unknown)
        findings.add(_UNKNOWN_VALUES, rows, name, column, consequence=_CONSEQUENCES[column], **words)
    text: Any = C(column).cast(nw.String)
    known = {value: each for value, each in declared.items() if each is not None}
    value = functools.reduce(
        lambda rest, each: nw.when(text == each).then(nw.lit(known[each])).otherwise(rest), known, text
    )
    return frame.with_columns(value.alias(column)) if known else frame


def _undeclared_values(name: str, frame: Frame, column: str, summed: str) -> list[dict[str, Any]]:
    """Return the undeclared values, with the number of their rows and the sum of their hours or amounts."""
    rows = frame.filter(_is_undeclared(name, column, frame.collect_schema()[column]))
    number = C(summed).cast(nw.Float64) if summed else nw.lit(0.0)
    rows = rows.select(_value=C(column).cast(nw.String), _rows=nw.lit(1.0), _sum=number)
    return to_dicts(rows.group_by("_value").agg(C("_rows", "_sum").sum()))


def _in_words(values: Iterable[Mapping[str, Any]], summed: str) -> str:
    def describe(row: Mapping[str, Any]) -> str:
        value = "missing" if row["_value"] is None else repr(row["_value"])
        total = f", {summed} {Amount(row['_sum']):,.2f}" if summed else ""
        rows = Count(row["_rows"])
        return f"{value} ({rows} {rows:row|rows}{total})"

    return first_few(list(map(describe, values)))
