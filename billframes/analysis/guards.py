"""Find values in users' frames that would silently give a wrong figure.

Every frame that is passed to an analysis is checked once (or once for several analyses, see `checked_frames`): for ids
that occur twice, missing numbers, enum values in another case or unknown, and billed items without an invoice. This is
cheap: a frame as loaded has unique ids, a categorical column lists its values, and one query counts for all lazy
frames. Rows are only compared if ids repeat.

A warning about one column is kept until an analysis uses that column (`warn_of_columns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd

from billframes._messages import warn
from billframes._names import first_few, join_names
from billframes.analysis.checked_frames import Findings, checked_frames
from billframes.analysis.column_types import (
    ENUMS,
    IDS,
    ITEMS,
    REQUIRED_DATES,
    REQUIRED_NUMBERS,
    Frame,
    as_arrow,
    is_categorical,
)
from billframes.analysis.engine import collect_counts, to_dicts
from billframes.analysis.expressions import count_if
from billframes.analysis.misplaced import message_of, odd_counts
from billframes.analysis.unique_ids import drop_repeated, is_unique, repeated_span, row_count
from billframes.errors import IncompleteDataWarning

__all__ = ["called_by_another", "check_values", "skip_checks", "unknown_values", "warn_of_columns"]

C = nw.col

BILLED_ELSEWHERE = "billed, but without invoice_id"
"""The invoice id of an item that is billed and has none, so that its state is unknown."""

# Every time entry needs the one and every invoice the other; a matter or user may have no type, and an item that is on
# no invoice has no invoice state.
_REQUIRED = {"time_entries": "billing_type", "invoices": "invoice_state"}
_MEANT = {name: {value.casefold(): value for value in values} for name, values in ENUMS.items()}
_BILLED = C("billed").cast(nw.Boolean) & C("invoice_id").is_null()
_WEIGHED = {"billing_type": "hours", "invoice_state": "amount"}


_FOUND: ContextVar[Findings] = ContextVar("found")
_CHECKED: ContextVar[tuple[Mapping[str, Any], Mapping[str, Frame]] | None] = ContextVar("checked", default=None)


def check_values(frames: dict[str, Frame], natives: Mapping[str, Any], *, ids_only: bool = False) -> dict[str, Frame]:
    """
    Return frames whose ids are unique and whose enums have their declared values, also if they came in another case.

    Parameters
    ----------
    frames : dict of str to Frame
        By the argument's name.
    natives : mapping of str to frame
        The same frames as they were passed in.
    ids_only : bool
        Whether values stay as they are, so that only ids are checked: for analyses that return whole rows.

    Raises
    ------
    ParameterError
        Different rows have the same id.

    Warns
    -----
    IncompleteDataWarning
        Equal rows have the same id; they count once.
    """
    before = _CHECKED.get()
    if before is not None and all(before[0].get(name) is native for name, native in natives.items()):
        return {name: before[1][name] for name in frames}
    memory = checked_frames()
    known = memory.known(natives, ids_only=ids_only)
    checks_of = {
        name: _Checks.at(name, frame, natives[name], ids_only=ids_only)
        for name, frame in frames.items()
        if name not in known
    }
    counts = _counts({name: checks for name, checks in checks_of.items() if checks.counted})
    for name, checks in checks_of.items():
        known[name] = checks.mended(counts.get(name, {}))
        # That rows are repeated is said at once, and each time.
        if not counts.get(name, {}).get("repeated"):
            memory.keep(name, natives[name], known[name], ids_only=ids_only)
    _FOUND.set(Findings.of(found for _frame, found in known.values()))
    return {name: known[name][0] for name in frames}


@contextmanager
def skip_checks(natives: Mapping[str, Any], frames: Mapping[str, Frame]) -> Iterator[None]:
    """Let an analysis called here use frames that are checked already, without a second check or warning."""
    token = _CHECKED.set((natives, frames))
    try:
        yield
    finally:
        _CHECKED.reset(token)


def called_by_another() -> bool:
    """Tell whether an analysis was called by another, which warns of the frames as a whole itself."""
    return _CHECKED.get() is not None


def warn_of_columns(name: str, columns: Iterable[str]) -> None:
    """Warn of what was found in these columns of a frame, once."""
    found = _FOUND.get(None)
    for column in columns if found is not None and found.messages else ():
        if found is not None and (message := found.messages.pop((name, column), None)):
            warn(message, IncompleteDataWarning)


def unknown_values(name: str, column: str) -> list[Any]:
    """List the unknown values of an enum of a frame; None among them stands for missing."""
    found = _FOUND.get(None)
    return found.unknown.get((name, column), []) if found is not None else []


@dataclass(frozen=True, slots=True)
class _Checks:
    """What to check in one frame, each as an expression that counts rows."""

    name: str
    frame: Frame
    id: str | None
    counted: dict[str, nw.Expr]

    @classmethod
    def at(cls, name: str, frame: Frame, native: Any, *, ids_only: bool) -> _Checks:
        """Find out what to check."""
        schema = frame.collect_schema()
        id_ = IDS.get(name)
        id_ = id_ if id_ in schema else None
        counted: dict[str, nw.Expr] = {}
        if id_ is not None and not (isinstance(frame, nw.DataFrame) and is_unique(frame, native, id_)):
            counted["repeated"] = nw.len() - C(id_).n_unique()
        if id_ is None and name in ITEMS and "date" in schema and isinstance(frame, nw.DataFrame):
            _warn_of_repeated_span(name, frame)
        if not ids_only:
            counted |= {f"misplaced {each}": count for each, count in odd_counts(name, frame, schema).items()}
            undated = [
                column for column in REQUIRED_DATES.get(name, ()) if _may_lack(frame, column, schema.get(column))
            ]
            counted |= {f"undated {column}": count_if(C(column).is_null()) for column in undated}
            figures = [
                column for column in REQUIRED_NUMBERS.get(name, ()) if _may_miss(frame, column, schema.get(column))
            ]
            counted |= {f"missing {column}": count_if(_missing(C(column), schema[column])) for column in figures}
            for each in ENUMS:
                required = each == _REQUIRED.get(name)
                if _may_be_odd(frame, each, schema.get(each), required=required):
                    counted[f"odd {each}"] = count_if(_odd(each, schema[each], required=required))
            if name in ITEMS and _is_flag(schema.get("billed")) and "invoice_id" in schema:
                counted["billed"] = count_if(_BILLED)
        return cls(name, frame, id_, counted)

    def mended(self, counts: Mapping[str, int]) -> tuple[Frame, Findings]:
        """Return the frame without repeated rows and with the values that are meant, and the warnings."""
        frame, found = self.frame, Findings()
        if counts.get("repeated") and self.id is not None:
            frame = drop_repeated(frame, self.name, self.id)
        for check, count in counts.items():
            what, _, column = check.partition(" ")
            if count and what == "missing":
                rows = self.few(frame, column)
                missing = _missing(C(column), rows.collect_schema()[column])
                found.add(self.name, column, _of_missing(self, rows.filter(missing), column, count))
            elif count and what == "odd":
                frame = _meant(self, frame, column, found)
            elif count and what == "misplaced":
                if told := message_of(self.name, self.frame, column, count):
                    found.add(self.name, *told)
            elif count and what == "undated":
                rows = self.few(frame, column).filter(C(column).is_null())
                found.add(self.name, column, _of_undated(self, rows, column, count))
            elif count and what == "billed":
                rows = self.few(frame, "billed", "invoice_id").filter(_BILLED)
                found.messages[self.name, "invoice_id"] = _of_billed(self, rows, count)
                other = nw.when(_BILLED).then(nw.lit(BILLED_ELSEWHERE)).otherwise(C("invoice_id").cast(nw.String))
                frame = frame.with_columns(invoice_id=other)
        return frame, found

    def few(self, frame: Frame, *columns: str) -> Frame:
        """Return columns and the id; those of pandas as Arrow, in which steps on few rows are quicker."""
        return as_arrow(frame, list(dict.fromkeys([*columns, *([self.id] if self.id else [])])))


def _warn_of_repeated_span(name: str, frame: nw.DataFrame[Any]) -> None:
    """Warn of items that are there twice and have no id that tells."""
    found = repeated_span(frame)
    if found:
        span, rows = found
        warn(
            f"{name} has no {IDS[name]}, and every row of {span} is there twice or more ({row_count(rows)} too many). "
            f"Two loads that overlap were probably put together. Keep {IDS[name]} in the frame: then each record "
            "counts once.",
            IncompleteDataWarning,
        )


def _is_flag(dtype: Any) -> bool:
    """Return whether a column can be true and false; SQLite and Excel make 1 and 0 of these."""
    return dtype is not None and bool(dtype == nw.Boolean or dtype.is_integer())


def _missing(value: nw.Expr, dtype: Any) -> nw.Expr:
    return value.is_null() | value.is_nan().fill_null(True) if dtype.is_float() else value.is_null()


def _may_miss(frame: Frame, column: str, dtype: Any) -> bool:
    """Return whether a column may have missing numbers; eager engines know it at once."""
    if dtype is None or not dtype.is_numeric():
        return False
    if not isinstance(frame, nw.DataFrame):
        return True
    values = frame.get_column(column)
    return values.null_count() > 0 or (dtype.is_float() and bool(values.is_nan().any()))


def _may_lack(frame: Frame, column: str, dtype: Any) -> bool:
    """Return whether a column of dates may have missing ones; one that holds nothing at all may be of any type."""
    if dtype not in (nw.Date, nw.Datetime, nw.Object):
        return False
    return not isinstance(frame, nw.DataFrame) or frame.get_column(column).null_count() > 0


def _odd(column: str, dtype: Any, *, required: bool) -> nw.Expr:
    """Return which values of an enum are not as declared; in a column that can hold no others, which are missing."""
    if not _is_text(dtype) or _is_declared(column, dtype):
        return C(column).is_null()
    known = C(column).cast(nw.String).is_in(ENUMS[column])
    return ~known.fill_null(not required)


def _may_be_odd(frame: Frame, column: str, dtype: Any, *, required: bool) -> bool:
    """Return whether an enum may have other values than those declared, from its categories if it has any."""
    if not _is_text(dtype):
        # A column without a single value may be of any type.
        return dtype is not None and required
    if not (is_categorical(dtype) and isinstance(frame, nw.DataFrame)):
        return required or not _is_declared(column, dtype)
    # pandas has the categories of Arrow only inside.
    values = cast("nw.DataFrame[Any]", as_arrow(frame, [column]) if _is_arrow(frame, column) else frame)[column]
    categories = set(values.cat.get_categories().to_list())
    return not categories <= set(ENUMS[column]) or (required and values.null_count() > 0)


def _is_declared(column: str, dtype: Any) -> bool:
    """Return whether a column's type has no values but those declared."""
    return bool(dtype == nw.Enum) and set(dtype.categories) <= set(ENUMS[column])


def _is_text(dtype: Any) -> bool:
    return is_categorical(dtype) or dtype in (nw.String, nw.Object)


def _is_arrow(frame: Frame, column: str) -> bool:
    native = frame.to_native()
    return isinstance(native, pd.DataFrame) and isinstance(native.dtypes[column], pd.ArrowDtype)


def _counts(checks_of: Mapping[str, _Checks]) -> dict[str, dict[str, int]]:
    """Count what is asked of each frame, of all lazy frames in one query."""
    names = {
        (name, check): f"_{name}_{nth}"
        for name, checks in checks_of.items()
        for nth, check in enumerate(checks.counted)
    }
    queries = [
        (checks.frame, {names[name, check]: each for check, each in checks.counted.items()})
        for name, checks in checks_of.items()
    ]
    found = collect_counts(*queries)
    return {
        name: {check: int(found[names[name, check]]) for check in checks.counted} for name, checks in checks_of.items()
    }


def _of_missing(checks: _Checks, rows: Frame, column: str, count: int) -> str:
    return (
        f"{checks.name}: {column} is missing in {row_count(count)}{_examples(checks, rows)}. A missing number is not "
        "counted as 0: every figure that it is part of is missing. Fill in the numbers, or leave these rows out."
    )


def _of_undated(checks: _Checks, rows: Frame, column: str, count: int) -> str:
    return (
        f"{checks.name}: {column} is missing in {row_count(count)}{_examples(checks, rows)}. They are in no period. "
        "If dates were read from text, look for those that could not be read (errors='coerce' makes them missing)."
    )


def _of_billed(checks: _Checks, rows: Frame, count: int) -> str:
    return (
        f"{checks.name}: billed is true but invoice_id is missing in {row_count(count)}{_examples(checks, rows)}. "
        "Their invoice is unknown: they are not counted as unbilled."
    )


def _examples(checks: _Checks, rows: Frame) -> str:
    """Name one or two rows by their id."""
    if checks.id is None:
        return ""
    ends = to_dicts(rows.select(first=C(checks.id).min(), last=C(checks.id).max()))[0]
    ids = sorted({str(each) for each in ends.values() if each is not None})
    return f" (for example {checks.id} {join_names(ids)})" if ids else ""


def _meant(checks: _Checks, frame: Frame, column: str, found: Findings) -> Frame:
    """Replace an enum's values in another case by those declared, and keep a warning of unknown ones."""
    other = _WEIGHED.get(column, "")
    dtype = frame.collect_schema().get(other)
    weighed = other if dtype is not None and dtype.is_numeric() else None
    rows = checks.few(frame, column, *([weighed] if weighed else []))
    required = column == _REQUIRED.get(checks.name)
    odd = rows.filter(_odd(column, rows.collect_schema()[column], required=required)).with_columns(
        _value=C(column).cast(nw.String), _rows=nw.lit(1.0)
    )
    odd = odd.with_columns(_weight=C(weighed).cast(nw.Float64) if weighed else nw.lit(0.0))
    values = to_dicts(odd.group_by("_value").agg(C("_rows", "_weight").sum()))
    meant = {row["_value"]: _MEANT[column].get(str(row["_value"]).casefold()) for row in values}
    unknown = sorted((row for row in values if meant[row["_value"]] is None), key=lambda row: str(row["_value"]))
    if unknown:
        found.unknown[checks.name, column] = [row["_value"] for row in unknown]
        found.messages[checks.name, column] = _of_unknown(checks.name, column, unknown, weighed)
    renamed = {value: name for value, name in meant.items() if name is not None}
    if not renamed:
        return frame
    text = C(column).cast(nw.String)
    value: Any = text
    for each, name in renamed.items():
        value = nw.when(text == each).then(nw.lit(name)).otherwise(value)
    return frame.with_columns(value.alias(column))


def _of_unknown(name: str, column: str, values: list[dict[str, Any]], weighed: str | None) -> str:
    def told(row: Mapping[str, Any]) -> str:
        value = "missing" if row["_value"] is None else repr(row["_value"])
        weight = f", {weighed} {row['_weight']:,.2f}" if weighed else ""
        return f"{value} ({row_count(row['_rows'])}{weight})"

    return (
        f"{name}: these values of {column} are unknown: {first_few(list(map(told, values)))}. "
        f"{_CONSEQUENCES[column]} The values that count are {', '.join(ENUMS[column])}."
    )


_CONSEQUENCES = {
    "billing_type": "Such time is in unknown_hours or unknown_amount, if the result has them, and nowhere else.",
    "invoice_state": "Such invoices, and the work on them, are in unknown_amount, if the result has it, and are "
    "neither final nor prebill.",
    "matter_type": "Such matters are of the type Unknown.",
    "role": "Such people are of the role Unknown.",
    "user_role": "Such people are of the role Unknown.",
}
