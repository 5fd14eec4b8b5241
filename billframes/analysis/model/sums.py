"""Declare the columns of a result that are sums of rows, and calculate them and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.expressions import value_if
from billframes.analysis.model.formulas import with_formulas
from billframes.analysis.model.grouping import Grouping

C = nw.col


@dataclass(frozen=True, slots=True)
class Sum:
    """
    A column that is the sum of `of` over the rows in which `when` holds.

    It is missing if one of these rows has more than 0 of `hides`.
    """

    name: str
    of: str | nw.Expr
    when: nw.Expr | None = None
    hides: str | nw.Expr | None = None

    def counted(self, value: str | nw.Expr) -> nw.Expr:
        """Return a value in the rows that count, and 0 in the others."""
        if self.when is None:
            return C(value) if isinstance(value, str) else value
        return value_if(self.when, value)


def add_up(
    rows: Frame,
    sums: Sequence[Sum],
    grouping: Grouping,
    columns: Sequence[str],
    least: Sequence[str] = (),
    **others: nw.Expr,
) -> Frame:
    """
    Add up rows by the keys, and finish the result.

    Parameters
    ----------
    rows : Frame
    sums : sequence of Sum
    grouping : Grouping
    columns : sequence of str
        The columns of the analysis in order. A column that can't be calculated from the rows is left out.
    least : sequence of str
        The columns of which each group has the smallest value.
    **others
        Columns that are calculated from the sums.
    """
    hidden = {f"_hidden_{each.name}": each.counted(each.hides) for each in sums if each.hides is not None}
    counted = {each.name: each.counted(each.of) for each in sums}
    totals = grouping.add_up(rows.with_columns(**counted, **hidden), [*counted, *hidden], least)
    known = {name: nw.when(C(f"_hidden_{name}") == 0).then(C(name)) for name in counted if f"_hidden_{name}" in hidden}
    totals = with_formulas(totals.with_columns(**known).with_columns(**others), columns)
    there = set(column_names(totals))
    return grouping.finish(totals, [name for name in columns if name in there])
