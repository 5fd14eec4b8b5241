"""Find values in users' frames that would silently give a wrong figure.

Every frame that is passed to an analysis is checked once (or once for several analyses, see `checked_frames`): for
repeated ids, missing numbers, enum values that are unknown or in another case, and billed items without an invoice.
This is fast: an unchanged frame of a loader has unique ids, a categorical column lists its values, and one query counts
the rows of all lazy frames. Rows are only compared if ids repeat.

A note about a column is given when an analysis uses that column (`Frames.select`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd

from billframes._names import first_few, join_names
from billframes._notes import Notes, Rule
from billframes.analysis.declare.columns import (
    ENUMS,
    IDS,
    ITEMS,
    REQUIRED_DATES,
    REQUIRED_NUMBERS,
    Frame,
    as_arrow,
    is_categorical,
)
from billframes.analysis.frames.checked_frames import Findings, current_checks
from billframes.analysis.frames.column_rules import broken_rules, implausible_counts
from billframes.analysis.frames.engine import collect_counts, collect_values, to_dicts
from billframes.analysis.frames.expressions import count_if
from billframes.analysis.frames.implausible_values import RULES
from billframes.analysis.frames.repeated_ids import (
    drop_repeated,
    is_unique,
    refuse_unlike_ids,
    repeated_span,
    row_count,
)
from billframes.loading.load_info import load_info

__all__ = [
    "check_values",
]

C = nw.col

# With fewer invoices, there may be no time yet.
_SEVERAL = 10
_ENDS = 500
_UNKNOWN_INVOICE = "billed, but without invoice_id"
# The enum that every row of a frame must have. Other enums can be missing, such as a role, or the invoice state of an
# item that is on no invoice.
_REQUIRED_ENUMS = {"time_entries": "billing_type", "invoices": "invoice_state"}
_DECLARED = {name: {value.casefold(): value for value in values} for name, values in ENUMS.items()}
_BILLED_WITHOUT_ID = C("billed").cast(nw.Boolean) & C("invoice_id").is_null()
# The number whose sum a warning of unknown values shows.
_SUMMED = {"billing_type": "hours", "invoice_state": "amount"}

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
_UNKNOWN_VALUES = Rule(
    name="unknown_values",
    seen="{subject}: these values of {column} are unknown: {values}. {consequence}",
    remedy="Known values are {known}.",
    page=_CORRECT,
    unit="rows",
)
_REPEATED_DAYS = Rule(
    name="repeated_days",
    seen="{subject} has no {id}, and every row of {span} is there twice or more ({n} too many).",
    causes="Two overlapping loads may have been concatenated, or a merge may have repeated rows.",
    remedy="Keep {id} in the frame: then each record counts once.",
    unit="rows",
)
_NO_TIME_ENTRIES = Rule(
    name="no_time_entries",
    seen="{subject} has no rows, but invoices has {n} rows, so no figure includes any time.",
    remedy="Did a filter match no row? Pass all time entries.",
    page="Ask whoever prepares these figures to load all time entries.",
    unit="invoices",
)


def check_values(
    frames: dict[str, Frame], natives: Mapping[str, Any], notes: Notes, *, ids_only: bool = False
) -> tuple[dict[str, Frame], Findings]:
    """
    Check frames, and return them with unique ids and with enum values as declared, whichever case the frames have.

    Also return what was found in them.

    Parameters
    ----------
    frames : dict of str to Frame
        The frames by the argument's name.
    natives : mapping of str to frame
        The same frames as the user passed them.
    notes : Notes
        The notes of the call. Equal rows of one id, which count once, are among them.
    ids_only : bool
        Whether to check ids only and leave all values unchanged, for analyses that return whole rows.

    Raises
    ------
    ParameterError
        Different rows have the same id, or two frames write ids differently.
    """
    refuse_unlike_ids(frames)
    _note_no_time_entries(frames, natives, notes)
    cache = current_checks()
    checked = cache.get(natives, ids_only=ids_only)
    checks_of = {
        name: _FrameChecks.of(name, frame, natives[name], notes, ids_only=ids_only)
        for name, frame in frames.items()
        if name not in checked
    }
    counts = _count({name: checks for name, checks in checks_of.items() if checks.counted})
    for name, checks in checks_of.items():
        checked[name] = checks.correct(counts.get(name, {}), notes)
        # Every analysis of a frame with repeated rows gives a note, so the frame is checked again.
        if not counts.get(name, {}).get("repeated"):
            cache.add(name, natives[name], checked[name], ids_only=ids_only)
    findings = Findings.of(found for _frame, found in checked.values())
    return {name: checked[name][0] for name in frames}, findings


@dataclass(frozen=True, slots=True)
class _FrameChecks:
    """
    The checks of one frame.

    Parameters
    ----------
    name : str
        The argument's name.
    frame : Frame
    id : str, optional
        The id column, if the frame has it.
    counted : dict of str to Expr
        Counts of rows, by the check and its column, such as "missing hours".
    """

    name: str
    frame: Frame
    id: str | None
    counted: dict[str, nw.Expr]

    @classmethod
    def of(cls, name: str, frame: Frame, native: Any, notes: Notes, *, ids_only: bool) -> _FrameChecks:
        """Choose the checks that the columns of a frame need."""
        schema = frame.collect_schema()
        id_ = IDS.get(name)
        id_ = id_ if id_ in schema else None
        counted: dict[str, nw.Expr] = {}
        if id_ is not None and not (isinstance(frame, nw.DataFrame) and is_unique(frame, native, id_)):
            counted["repeated"] = nw.len() - C(id_).n_unique()
        if id_ is None and name in ITEMS and "date" in schema and isinstance(frame, nw.DataFrame):
            _note_repeated_span(name, frame, notes)
        return cls(name, frame, id_, counted if ids_only else counted | _value_counts(name, frame, schema))

    def correct(self, counts: Mapping[str, int], notes: Notes) -> tuple[Frame, Findings]:
        """Return the frame without repeated rows and with declared enum values, and the findings."""
        frame, findings = self.frame, Findings()
        if counts.get("repeated") and self.id is not None:
            frame = drop_repeated(frame, self.name, self.id, notes)
        frame = self._without_implausible(frame, counts, findings)
        if counts.get("empty invoice_id"):
            known = nw.when(~_is_empty("invoice_id")).then(C("invoice_id").cast(nw.String))
            frame = frame.with_columns(invoice_id=known)
        for check, count in counts.items():
            kind, _, column = check.partition(" ")
            if count and kind == "missing":
                rows = self.select(frame, column)
                missing = _is_missing(C(column), rows.collect_schema()[column])
                words = {"column": f"`{column}`", "example": _examples(self, rows.filter(missing))}
                findings.add(_MISSING_NUMBERS, count, self.name, column, **words)
            elif count and kind == "undeclared":
                frame = _with_declared_values(self, frame, column, findings)
            elif count and kind == "undated":
                rows = self.select(frame, column).filter(C(column).is_null())
                words = {"column": f"`{column}`", "example": _examples(self, rows)}
                findings.add(_NO_DATE, count, self.name, column, **words)
            elif count and kind == "billed":
                rows = self.select(frame, "billed", "invoice_id").filter(_BILLED_WITHOUT_ID)
                example = _examples(self, rows)
                findings.add(_BILLED_WITHOUT_INVOICE, count, self.name, "invoice_id", example=example)
                id_ = C("invoice_id").cast(nw.String)
                unknown = nw.when(_BILLED_WITHOUT_ID).then(nw.lit(_UNKNOWN_INVOICE))
                frame = frame.with_columns(invoice_id=unknown.otherwise(id_))
        return frame, findings

    def _without_implausible(self, frame: Frame, counts: Mapping[str, int], findings: Findings) -> Frame:
        """Add the findings of broken rules, and replace the values that stand for a missing one."""
        for rule in broken_rules(RULES.get(self.name, ()), self.frame, _of_kind("implausible", counts)):
            if rule.note is None or not (seen := rule.seen(self.frame, self.id)):
                continue
            findings.add(rule.note, seen.pop("n"), self.name, rule.column, **seen)
            if rule.clears:
                findings.unknown[self.name, rule.column] = [rule.name]
                plausible = ~rule.broken_by(rule.implausible)
                frame = frame.with_columns(nw.when(plausible).then(C(rule.column)).alias(rule.column))
        return frame

    def select(self, frame: Frame, *columns: str) -> Frame:
        """Return columns and the id, of pandas frames as Arrow, which is faster for few rows."""
        return as_arrow(frame, list(dict.fromkeys([*columns, *([self.id] if self.id else [])])))


def _of_kind(kind: str, counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that are not 0 of one kind of check, by the rest of their names."""
    start = f"{kind} "
    return {name.removeprefix(start): count for name, count in counts.items() if count and name.startswith(start)}


def _value_counts(name: str, frame: Frame, schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
    """Return the counts of rows whose values are wrong or missing, by the check and its column."""
    counts = {
        f"implausible {check}": count for check, count in implausible_counts(RULES.get(name, ()), frame, schema).items()
    }
    if name in ITEMS and _may_have_empty_ids(frame, "invoice_id", schema.get("invoice_id")):
        counts["empty invoice_id"] = count_if(_is_empty("invoice_id"))
    for column in REQUIRED_DATES.get(name, ()):
        if _may_have_missing_dates(frame, column, schema.get(column)):
            counts[f"undated {column}"] = count_if(C(column).is_null())
    for column in REQUIRED_NUMBERS.get(name, ()):
        if _may_have_missing_numbers(frame, column, schema.get(column)):
            counts[f"missing {column}"] = count_if(_is_missing(C(column), schema[column]))
    for column in ENUMS:
        required = column == _REQUIRED_ENUMS.get(name)
        if _may_have_undeclared_values(frame, column, schema.get(column), required=required):
            counts[f"undeclared {column}"] = count_if(_is_undeclared(column, schema[column], required=required))
    if name in ITEMS and _is_flag(schema.get("billed")) and "invoice_id" in schema:
        counts["billed"] = count_if(_BILLED_WITHOUT_ID)
    return counts


def _note_repeated_span(name: str, frame: nw.DataFrame[Any], notes: Notes) -> None:
    """Note repeated items in a frame without ids."""
    if repeated := repeated_span(frame):
        span, rows = repeated
        notes.add(_REPEATED_DAYS, rows, name, about=name, id=f"`{IDS[name]}`", span=span)


def _note_no_time_entries(frames: Mapping[str, Frame], natives: Mapping[str, Any], notes: Notes) -> None:
    """Note a frame of time entries without rows, beside several invoices: a filter probably matched nothing."""
    entries, invoices = frames.get("time_entries"), frames.get("invoices")
    if not (isinstance(entries, nw.DataFrame) and isinstance(invoices, nw.DataFrame)) or len(entries):
        return
    if len(invoices) >= _SEVERAL and load_info(natives["time_entries"]) is None:
        notes.add(_NO_TIME_ENTRIES, len(invoices), "time_entries")


def _is_flag(dtype: Any) -> bool:
    """Tell whether a column can hold true and false, which SQLite and Excel store as 1 and 0."""
    return dtype is not None and bool(dtype == nw.Boolean or dtype.is_integer())


def _is_missing(value: nw.Expr, dtype: Any) -> nw.Expr:
    return value.is_null() | value.is_nan().fill_null(True) if dtype.is_float() else value.is_null()


def _may_have_missing_numbers(frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether a column of numbers has missing values; on lazy engines, whether it can have them."""
    if dtype is None or not dtype.is_numeric():
        return False
    if not isinstance(frame, nw.DataFrame):
        return True
    values = frame.get_column(column)
    return values.null_count() > 0 or (dtype.is_float() and bool(values.is_nan().any()))


def _may_have_missing_dates(frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether a column of dates has missing values; on lazy engines, whether it can have them."""
    if dtype not in (nw.Date, nw.Datetime, nw.Object):
        return False
    return not isinstance(frame, nw.DataFrame) or frame.get_column(column).null_count() > 0


def _is_empty(column: str) -> nw.Expr:
    """Return whether an id is an empty text, which stands for no id, as in a file or after `fillna("")`."""
    return (C(column).cast(nw.String) == "").fill_null(False)


def _may_have_empty_ids(frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether ids can be empty texts: in memory, some of the first or last ones then are."""
    if dtype is None or not _is_text(dtype):
        return False
    if not isinstance(frame, nw.DataFrame):
        return True
    ids = frame.get_column(column)
    # A comparison with pandas' missing value is neither true nor false.
    return any(
        isinstance(each, str) and not each for part in (ids.head(_ENDS), ids.tail(_ENDS)) for each in part.to_list()
    )


def _is_undeclared(column: str, dtype: Any, *, required: bool) -> nw.Expr:
    """Return whether an enum's value is undeclared; if its type allows declared values only, whether it is missing."""
    if not _is_text(dtype) or _is_declared(column, dtype):
        return C(column).is_null()
    known = C(column).cast(nw.String).is_in(ENUMS[column])
    return ~known.fill_null(not required)


def _may_have_undeclared_values(frame: Frame, column: str, dtype: Any, *, required: bool) -> bool:
    """Tell whether an enum can have undeclared values, by its categories if it has any."""
    if not _is_text(dtype):
        # A column without values may have any type.
        return dtype is not None and required
    if not (is_categorical(dtype) and isinstance(frame, nw.DataFrame)):
        return required or not _is_declared(column, dtype)
    # pandas does not show the categories of an Arrow column.
    values = cast("nw.DataFrame[Any]", as_arrow(frame, [column]) if _is_arrow(frame, column) else frame)[column]
    categories = set(values.cat.get_categories().to_list())
    return not categories <= set(ENUMS[column]) or (required and values.null_count() > 0)


def _is_declared(column: str, dtype: Any) -> bool:
    """Tell whether a column's type allows declared values only."""
    return bool(dtype == nw.Enum) and set(dtype.categories) <= set(ENUMS[column])


def _is_text(dtype: Any) -> bool:
    return is_categorical(dtype) or dtype in (nw.String, nw.Object)


def _is_arrow(frame: Frame, column: str) -> bool:
    native = frame.to_native()
    return isinstance(native, pd.DataFrame) and isinstance(native.dtypes[column], pd.ArrowDtype)


def _count(checks_of: Mapping[str, _FrameChecks]) -> dict[str, dict[str, int]]:
    """Compute the counts of each frame, in one query for all lazy frames."""
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


def _examples(checks: _FrameChecks, rows: Frame) -> str:
    """Return the ids of one or two rows, in words."""
    if checks.id is None:
        return ""
    ends = collect_values((rows, {"first": C(checks.id).min(), "last": C(checks.id).max()}))
    ids = sorted({str(each) for each in ends.values() if each is not None})
    return f" (for example `{checks.id}` {join_names(ids)})" if ids else ""


def _with_declared_values(checks: _FrameChecks, frame: Frame, column: str, findings: Findings) -> Frame:
    """Replace an enum's values in another case by the declared values, and add a warning of unknown values."""
    summed = _SUMMED.get(column, "")
    dtype = frame.collect_schema().get(summed)
    summed = summed if dtype is not None and dtype.is_numeric() else ""
    rows = checks.select(frame, column, *([summed] if summed else []))
    required = column == _REQUIRED_ENUMS.get(checks.name)
    undeclared = rows.filter(_is_undeclared(column, rows.collect_schema()[column], required=required)).with_columns(
        _value=C(column).cast(nw.String), _rows=nw.lit(1.0)
    )
    undeclared = undeclared.with_columns(_sum=C(summed).cast(nw.Float64) if summed else nw.lit(0.0))
    values = to_dicts(undeclared.group_by("_value").agg(C("_rows", "_sum").sum()))
    declared = {row["_value"]: _DECLARED[column].get(str(row["_value"]).casefold()) for row in values}
    unknown = sorted((row for row in values if declared[row["_value"]] is None), key=lambda row: str(row["_value"]))
    if unknown:
        findings.unknown[checks.name, column] = [row["_value"] for row in unknown]
        words = {"column": f"`{column}`", "values": _unknown_values(unknown, summed), "known": ", ".join(ENUMS[column])}
        rows_unknown = sum(row["_rows"] for row in unknown)
        findings.add(_UNKNOWN_VALUES, rows_unknown, checks.name, column, consequence=_CONSEQUENCES[column], **words)
    replacements = {value: name for value, name in declared.items() if name is not None}
    if not replacements:
        return frame
    text = C(column).cast(nw.String)
    value: Any = text
    for each, name in replacements.items():
        value = nw.when(text == each).then(nw.lit(name)).otherwise(value)
    return frame.with_columns(value.alias(column))


def _unknown_values(values: list[dict[str, Any]], summed: str) -> str:
    def describe(row: Mapping[str, Any]) -> str:
        value = "missing" if row["_value"] is None else repr(row["_value"])
        total = f", {summed} {row['_sum']:,.2f}" if summed else ""
        return f"{value} ({row_count(row['_rows'])}{total})"

    return first_few(list(map(describe, values)))


_CONSEQUENCES = {
    "billing_type": "Such time is counted only in `unknown_hours` or `unknown_amount`, if the result has them.",
    "invoice_state": "Such invoices, and the work on them, are counted only in `unknown_amount`, if the result has it.",
    "matter_type": "Such matters have the type Unknown.",
    "role": "Such people have the role Unknown.",
    "user_role": "Such people have the role Unknown.",
}
