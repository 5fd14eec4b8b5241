"""Find values of enums that are unknown, and write the others as declared, whichever case a frame has."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd

from billframes._shared.names import first_few
from billframes._shared.notes import Amount, Count, Rule
from billframes.analysis.data.engine import to_dicts
from billframes.analysis.data.expressions import count_if
from billframes.analysis.data.findings import Findings
from billframes.analysis.declare.columns import ENUMS, Frame, as_arrow, is_categorical

C = nw.col

# The enum that every row of a frame must have. Other enums can be missing, such as a role, or the invoice state of an
# item that is on no invoice.
_REQUIRED = {"time_entries": "billing_type", "invoices": "invoice_state"}
_DECLARED = {name: {value.casefold(): value for value in values} for name, values in ENUMS.items()}
# The number whose sum the note shows.
_SUMMED = {"billing_type": "hours", "invoice_state": "amount"}
_CONSEQUENCES = {
    "billing_type": "Such time is counted only in `unknown_hours` or `unknown_amount`, if the result has them.",
    "invoice_state": "Such invoices, and the work on them, are counted only in `unknown_amount`, if the result has it.",
    "matter_type": "Such matters have the type Unknown.",
    **dict.fromkeys(("role", "user_role"), "Such people have the role Unknown."),
}
_UNKNOWN_VALUES = Rule(
    name="unknown_values",
    seen="{subject}: these values of {column} are unknown: {values}. {consequence}",
    remedy="Known values are {known}.",
    page="Correct these records in the billing system.",
    unit="rows",
)


def undeclared_counts(name: str, frame: Frame, schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
    """Return the counts of rows with undeclared values, by enum; in memory, only of enums that have any categories."""
    columns = [each for each in ENUMS if _may_have_undeclared(name, frame, each, schema.get(each))]
    return {each: count_if(_is_undeclared(name, each, schema[each])) for each in columns}


def with_declared_values(name: str, frame: Frame, column: str, findings: Findings) -> Frame:
    """Replace an enum's values in another case by the declared values; unknown ones are findings."""
    values = _undeclared_values(name, frame, column)
    declared = {row["_value"]: _DECLARED[column].get(str(row["_value"]).casefold()) for row in values}
    unknown = sorted((row for row in values if declared[row["_value"]] is None), key=lambda row: str(row["_value"]))
    if unknown:
        findings.unknown[name, column] = [row["_value"] for row in unknown]
        words = {"column": f"`{column}`", "values": _in_words(unknown), "known": ", ".join(ENUMS[column])}
        rows = sum(row["_rows"] for row in unknown)
        findings.add(_UNKNOWN_VALUES, rows, name, column, consequence=_CONSEQUENCES[column], **words)
    text: Any = C(column).cast(nw.String)
    known = {value: each for value, each in declared.items() if each is not None}
    value = functools.reduce(
        lambda rest, each: nw.when(text == each).then(nw.lit(known[each])).otherwise(rest), known, text
    )
    return frame.with_columns(value.alias(column)) if known else frame


def _undeclared_values(name: str, frame: Frame, column: str) -> list[dict[str, Any]]:
    summed = _SUMMED.get(column, "")
    dtype = frame.collect_schema().get(summed)
    summed = summed if dtype is not None and dtype.is_numeric() else ""
    rows = as_arrow(frame, [column, *([summed] if summed else [])])
    undeclared = rows.filter(_is_undeclared(name, column, rows.collect_schema()[column])).select(
        _value=C(column).cast(nw.String), _rows=nw.lit(1.0), _sum=C(summed).cast(nw.Float64) if summed else nw.lit(0.0)
    )
    values = to_dicts(undeclared.group_by("_value").agg(C("_rows", "_sum").sum()))
    return [row | {"_summed": summed} for row in values]


def _in_words(values: Iterable[Mapping[str, Any]]) -> str:
    def describe(row: Mapping[str, Any]) -> str:
        value = "missing" if row["_value"] is None else repr(row["_value"])
        total = f", {row['_summed']} {Amount(row['_sum']):,.2f}" if row["_summed"] else ""
        rows = Count(row["_rows"])
        return f"{value} ({rows} {rows:row|rows}{total})"

    return first_few(list(map(describe, values)))


def _is_undeclared(name: str, column: str, dtype: Any) -> nw.Expr:
    """Return whether a value is undeclared; if its type allows declared values only, whether it is missing."""
    if not is_text(dtype) or _is_declared(column, dtype):
        return C(column).is_null()
    known = C(column).cast(nw.String).is_in(ENUMS[column])
    return ~known.fill_null(column != _REQUIRED.get(name))


def _may_have_undeclared(name: str, frame: Frame, column: str, dtype: Any) -> bool:
    """Tell whether an enum can have undeclared values, by its categories if it has any."""
    required = column == _REQUIRED.get(name)
    if not is_text(dtype):
        # A column without values may have any type.
        return dtype is not None and required
    if not (is_categorical(dtype) and isinstance(frame, nw.DataFrame)):
        return required or not _is_declared(column, dtype)
    # pandas does not show the categories of an Arrow column.
    native = frame.to_native()
    is_arrow = isinstance(native, pd.DataFrame) and isinstance(native.dtypes[column], pd.ArrowDtype)
    values = cast("nw.DataFrame[Any]", as_arrow(frame, [column]) if is_arrow else frame)[column]
    categories = set(values.cat.get_categories().to_list())
    return not categories <= set(ENUMS[column]) or (required and values.null_count() > 0)


def _is_declared(column: str, dtype: Any) -> bool:
    return bool(dtype == nw.Enum) and set(dtype.categories) <= set(ENUMS[column])


def is_text(dtype: Any) -> bool:
    """Tell whether a type is text, or a category."""
    return is_categorical(dtype) or dtype in (nw.String, nw.Object)
