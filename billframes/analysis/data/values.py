"""Find values in users' frames that would silently give a wrong figure.

Every frame that is passed to an analysis is checked once, and a book's for all analyses: for
repeated ids, missing numbers, enum values that are unknown or in another case, and billed items without an invoice.
This is fast: an unchanged frame of a loader has unique ids, a categorical column lists its values, and one query counts
the rows of all lazy frames. Rows are only compared if ids repeat.

A note about a column is given when an analysis uses that column (`Reader.select`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw

from billframes._shared.names import join_names
from billframes._shared.notes import Notes, Rule
from billframes.analysis.data.engine import collect_counts, collect_values
from billframes.analysis.data.enum_values import is_text, undeclared_counts, with_declared_values
from billframes.analysis.data.expressions import as_day, count_if, midnight
from billframes.analysis.data.findings import Findings
from billframes.analysis.data.repeated_ids import (
    drop_repeated,
    is_unique,
    refuse_unlike_ids,
)
from billframes.analysis.declare.columns import (
    DATE_OF,
    IDS,
    ITEMS,
    NUMBERS,
    PLAUSIBLE_DAYS,
    REQUIRED_NUMBERS,
    Frame,
    as_arrow,
    refuse_odd_ids,
    typed_column,
)

C = nw.col

_SEEN = 1_000
_UNKNOWN_INVOICE = "billed, but without invoice_id"
# An empty text stands for no id, as in a file or after `fillna("")`.
_OF_ITEMS = ("invoice_id", "fixed_fee_id", "matter_id", "user_id", "client_id")
_MAY_BE_EMPTY = dict.fromkeys(ITEMS, _OF_ITEMS) | {
    "invoices": ("client_id", "matter_id"),
    "matters": ("practice_area_id", "responsible_id", "client_id"),
}
_BILLED_WITHOUT_ID = C("billed").cast(nw.Boolean) & C("invoice_id").is_null()
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
_NOTED = {
    "infinite": _INFINITE,
    "missing": _MISSING_NUMBERS,
    "undated": _NO_DATE,
    "billed": _BILLED_WITHOUT_INVOICE,
    "impossible": _IMPOSSIBLE_DATES,
}
"""The notes of rows with wrong values, by the kind of check."""
_OUT_OF_BOUNDS = {"due_date": "the invoice date is used instead"}
_LARGEST = 1e300


def check_values(
    frames: dict[str, Frame], natives: Mapping[str, Any], notes: Notes, *, ids_only: bool = False
) -> tuple[dict[str, Frame], Findings]:
    """
    Check frames, and return them with unique ids and with enum values as declared, whichever case the frames have.

    Also return what was found in them. Equal rows of one id, which count once, are noted. With `ids_only`, only ids
    are checked and all values stay unchanged, for analyses that return whole rows. Different rows with the same id,
    and ids that two frames write differently, are refused.
    """
    refuse_unlike_ids(frames)
    checks_of = {name: _FrameChecks.of(name, frame, natives[name], ids_only=ids_only) for name, frame in frames.items()}
    counts = _count({name: checks for name, checks in checks_of.items() if checks.counted})
    checked = {name: checks.correct(counts.get(name, {}), notes) for name, checks in checks_of.items()}
    findings = Findings.of(found for _frame, found in checked.values())
    return {name: checked[name][0] for name in frames}, findings


@dataclass(frozen=True, slots=True)
class _FrameChecks:
    """The checks of one frame: its id column, and counts of rows by check and column ("missing hours")."""

    name: str
    frame: Frame
    id: str | None
    counted: dict[str, nw.Expr]

    @classmethod
    def of(cls, name: str, frame: Frame, native: Any, *, ids_only: bool) -> _FrameChecks:
        """Choose the checks that the columns of a frame need."""
        schema = frame.collect_schema()
        id_ = IDS.get(name)
        id_ = id_ if id_ in schema else None
        counted: dict[str, nw.Expr] = {}
        if id_ is not None and isinstance(frame, nw.DataFrame):
            refuse_odd_ids(name, native, id_)
            ids = as_arrow(frame, [id_])
            typed_column(ids, name, id_, ids.collect_schema()[id_], frame.implementation.name)
        if id_ is not None and not (isinstance(frame, nw.DataFrame) and is_unique(frame, native, id_)):
            counted["repeated"] = nw.len() - C(id_).n_unique()
        return cls(name, frame, id_, counted if ids_only else counted | _value_counts(name, frame, schema))

    def correct(self, counts: Mapping[str, int], notes: Notes) -> tuple[Frame, Findings]:
        """Return the frame without repeated rows and with declared enum values, and the findings."""
        frame, findings = self.frame, Findings()
        if counts.get("repeated") and self.id is not None:
            frame = drop_repeated(frame, self.name, self.id, notes)
        empty = [check.partition(" ")[2] for check, count in counts.items() if count and check.startswith("empty ")]
        known = {column: nw.when(~_is_empty(column)).then(C(column).cast(nw.String)) for column in empty}
        frame = frame.with_columns(**known) if known else frame
        for check, count in counts.items():
            kind, _, column = check.partition(" ")
            if count and kind == "undeclared":
                frame = with_declared_values(self.name, frame, column, findings)
            elif count and kind in _NOTED:
                rows = self.select(frame, column, *(["billed"] if kind == "billed" else []))
                wrong = rows.filter(_is_wrong(kind, column, rows.collect_schema()[column]))
                words = {"column": f"`{column}`", "example": self.examples(wrong)}
                words["consequence"] = _OUT_OF_BOUNDS.get(column, "they are in no period, or age for decades")
                findings.add(_NOTED[kind], count, self.name, column, **words)
        if infinite := [check.partition(" ")[2] for check in counts if counts[check] and check.startswith("infinite ")]:
            frame = frame.with_columns(**{each: nw.when(~_is_infinite(each)).then(C(each)) for each in infinite})
        if counts.get("impossible due_date"):
            findings.unknown[self.name, "due_date"] = ["impossible"]
            frame = frame.with_columns(due_date=nw.when(~_is_impossible("due_date")).then(C("due_date")))
        if counts.get("billed invoice_id"):
            unknown = nw.when(_BILLED_WITHOUT_ID).then(nw.lit(_UNKNOWN_INVOICE))
            frame = frame.with_columns(invoice_id=unknown.otherwise(C("invoice_id").cast(nw.String)))
        return frame, findings

    def select(self, frame: Frame, *columns: str) -> Frame:
        """Return columns and the id, of pandas frames as Arrow, which is faster for few rows."""
        return as_arrow(frame, list(dict.fromkeys([*columns, *([self.id] if self.id else [])])))

    def examples(self, rows: Frame) -> str:
        """Return the ids of one or two rows, in words."""
        if self.id is None:
            return ""
        ends = collect_values((rows, {"first": C(self.id).min(), "last": C(self.id).max()}))
        ids = sorted({str(each) for each in ends.values() if each is not None})
        return f" (for example `{self.id}` {join_names(ids)})" if ids else ""


def _value_counts(name: str, frame: Frame, schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
    counts: dict[str, nw.Expr] = {}
    for column in _MAY_BE_EMPTY.get(name, ()):
        if column != IDS[name] and _may_have_empty_ids(frame, column, schema.get(column)):
            counts[f"empty {column}"] = count_if(_is_empty(column))
    counts |= _number_and_date_counts(name, frame, schema)
    counts |= {f"undeclared {column}": count for column, count in undeclared_counts(name, frame, schema).items()}
    if name in ITEMS and _is_flag(schema.get("billed")) and "invoice_id" in schema:
        counts["billed invoice_id"] = count_if(_BILLED_WITHOUT_ID)
    return counts


def _number_and_date_counts(name: str, frame: Frame, schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
    dates = (DATE_OF[name],) if name in (*ITEMS, "invoices") else ()
    checks = {
        "undated": (dates, _may_be_missing),
        "missing": (REQUIRED_NUMBERS.get(name, ()), _may_be_missing),
        "impossible": ((*dates, *(["due_date"] if name == "invoices" else [])), _may_be_impossible),
        "infinite": (sorted(NUMBERS), _may_be_infinite),
    }
    return {
        f"{kind} {column}": count_if(_is_wrong(kind, column, schema[column]))
        for kind, (columns, may_be) in checks.items()
        for column in columns
        if column in schema and may_be(frame, column, schema[column])
    }


def _is_flag(dtype: Any) -> bool:
    """Tell whether a column can hold true and false, which SQLite and Excel store as 1 and 0."""
    return dtype is not None and bool(dtype == nw.Boolean or dtype.is_integer())


def _is_wrong(kind: str, column: str, dtype: Any) -> nw.Expr:
    """Return whether a value is missing, a date is impossible, or an item is billed without an invoice."""
    if kind == "billed":
        return _BILLED_WITHOUT_ID
    if kind == "impossible":
        return _is_impossible(column)
    if kind == "infinite":
        return _is_infinite(column)
    value = C(column)
    return value.is_null() | value.is_nan().fill_null(True) if dtype.is_float() else value.is_null()


def _may_be_missing(frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether a column of dates or numbers has missing values; on lazy engines, whether it can have them."""
    if not isinstance(frame, nw.DataFrame):
        return True
    values = frame.get_column(column)
    return values.null_count() > 0 or (dtype.is_float() and bool(values.is_nan().any()))


def _is_infinite(column: str) -> nw.Expr:
    # On Spark and databases, NaN is above every number.
    value = C(column).cast(nw.Float64)
    return (value.abs() > _LARGEST) & ~value.is_nan()


def _may_be_infinite(frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether some numbers of a frame in memory are infinite; on lazy engines, whether they can be."""
    if not dtype.is_float():
        return False
    if not isinstance(frame, nw.DataFrame):
        return True
    values = frame.get_column(column).cast(nw.Float64)
    # The ends of no values are None or pandas' NA.
    return any(isinstance(end, float) and abs(end) > _LARGEST for end in (values.min(), values.max()))


def _is_impossible(column: str) -> nw.Expr:
    low, high = map(midnight, PLAUSIBLE_DAYS)
    return (C(column).cast(nw.Datetime("us")) < low) | (C(column).cast(nw.Datetime("us")) > high)


def _may_be_impossible(frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether some dates of a frame in memory are out of bounds; on lazy engines, whether they can be."""
    if dtype not in (nw.Date, nw.Datetime) or getattr(dtype, "time_zone", None) is not None:
        return False
    if not isinstance(frame, nw.DataFrame):
        return True
    values = frame.get_column(column)
    days = [as_day(each) for each in (values.min(), values.max())]
    return any(day is not None and not PLAUSIBLE_DAYS[0] <= day <= PLAUSIBLE_DAYS[1] for day in days)


def _is_empty(column: str) -> nw.Expr:
    return (C(column).cast(nw.String) == "").fill_null(False)


def _may_have_empty_ids(frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether ids can be empty texts: in memory, some of those that are looked at then are."""
    if dtype is None or not is_text(dtype):
        return False
    if not isinstance(frame, nw.DataFrame):
        return True
    ids = frame.get_column(column)
    return bool(ids.gather_every(len(ids) // _SEEN + 1).is_in([""]).any())


def _count(checks_of: Mapping[str, _FrameChecks]) -> dict[str, dict[str, int]]:
    names = {
        (name, check): f"_{name}_{nth}"
        for name, checks in checks_of.items()
        for nth, check in enumerate(checks.counted)
    }
    queries = [
        (checks.frame, {names[name, check]: each for check, each in checks.counted.items()})
        for name, checks in checks_of.items()
    ]
    counts = collect_counts(*queries)
    return {
        name: {check: int(counts[names[name, check]]) for check in checks.counted} for name, checks in checks_of.items()
    }
