"""Calculate the columns that follow from others, from their declarations: `Measure.formula`, and ratios.

The same declarations give the totals of `result_rows` and the cells of a workbook.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.data.expressions import C, ratio
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.lookup import measure
from billframes.analysis.declare.metrics import Measure
from billframes.analysis.declare.spec import Analysis

_SUM = re.compile(r"\w+(?: [+-] \w+)+")


def with_formulas(frame: Frame, columns: Sequence[str], analysis: Analysis | None = None) -> Frame:
    """
    Add the sums, differences and ratios among these columns of an analysis that a frame lacks.

    A ratio is missing if its denominator is 0 or missing. Other columns that the frame lacks are not added.
    """
    there = set(column_names(frame))
    for name in columns:
        found = measure(name, analysis) if name not in there else None
        if found and (terms := terms_of(found.formula, there)):
            frame = frame.with_columns(**{name: value_of(terms)})
            there.add(name)
    pairs = {name: pair for name in columns if name not in there and (pair := _pair_of(measure(name, analysis), there))}
    return frame.with_columns(**{name: ratio(*pair) for name, pair in pairs.items()}) if pairs else frame


def _pair_of(found: Measure | None, there: Collection[str]) -> tuple[str, str] | None:
    """Return the numerator and denominator of a ratio, of the declared ones the first that is there; else None."""
    pairs = (*found.ratios, *([found.parts] if found.parts else [])) if found else ()
    return next((pair for pair in pairs if set(pair) <= set(there)), None)


def terms_of(formula: str, there: Collection[str]) -> dict[str, str]:
    """
    Return the terms of the first sum in a formula whose columns are there, each with its sign.

    Examples
    --------
    >>> terms_of("buckets + c or a - b", ["a", "b"])
    {'a': '+', 'b': '-'}
    """
    for each in filter(_SUM.fullmatch, formula.split(" or ")):
        words = ["+", *each.split()]
        if {*words[1::2]} <= {*there}:
            return dict(zip(words[1::2], words[::2], strict=True))
    return {}


def value_of(terms: Mapping[str, str]) -> nw.Expr:
    """Return the sum of terms with their signs."""
    (first, sign), *rest = terms.items()
    value = C(first) if sign == "+" else -C(first)
    for name, sign in rest:
        value = value + C(name) if sign == "+" else value - C(name)
    return value
