"""Calculate the columns that follow from others, from their declarations: `Measure.formula`, and ratios.

The same declarations give the totals of `result_rows` and the cells of a workbook.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.lookup import measure
from billframes.analysis.frames.expressions import ratio

C = nw.col

_SUM = re.compile(r"\w+(?: [+-] \w+)+")


def with_formulas(frame: Frame, columns: Sequence[str]) -> Frame:
    """
    Add the sums, differences and ratios among these columns that a frame lacks.

    A ratio is missing if its denominator is 0 or missing. Other columns that the frame lacks are not added.
    """
    there = set(column_names(frame))
    for name in columns:
        if name not in there and (formula := _formula_of(name, there)):
            frame = frame.with_columns(**{name: _value(formula)})
            there.add(name)
    pairs = {name: pair for name in columns if name not in there and (pair := _pair_of(name, there))}
    return frame.with_columns(**{name: ratio(*pair) for name, pair in pairs.items()}) if pairs else frame


def _pair_of(name: str, there: Collection[str]) -> tuple[str, str] | None:
    """Return the numerator and denominator of a ratio, of the declared ones the first that is there; else None."""
    found = measure(name)
    pairs = (*found.ratios, *([found.parts] if found.parts else [])) if found else ()
    return next((pair for pair in pairs if set(pair) <= set(there)), None)


def _formula_of(name: str, there: Collection[str]) -> str:
    """Return the first declared sum of columns that are there, such as "a + b - c"; empty if there is none."""
    found = measure(name)
    sums = filter(_SUM.fullmatch, found.formula.split(" or ")) if found else ()
    return next((each for each in sums if set(each.split()) - {"+", "-"} <= set(there)), "")


def _value(formula: str) -> nw.Expr:
    first, *rest = formula.split()
    value = C(first)
    for sign, name in zip(rest[::2], rest[1::2], strict=True):
        value = value + C(name) if sign == "+" else value - C(name)
    return value
