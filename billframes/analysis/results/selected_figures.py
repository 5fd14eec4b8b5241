"""Select figures of other analyses, for an analysis that is a list of them by the same keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import columns_or_null
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.keys.groupby import Keys
from billframes.errors import ParameterError


def selected(
    call: Call,
    keys: Keys,
    name: str,
    columns: Sequence[str],
    renamed: Mapping[str, str] | None = None,
    /,
    **options: Any,
) -> Frame:
    """
    Return figures of an analysis by the keys, and a column that marks its rows, such as `_wip`.

    The column `total` has the analysis's short name, and those in `renamed` have another name there. Figures that the
    result does not have are missing.
    """
    names = dict.fromkeys(analyses()[name].short, "total") | dict(renamed or {})
    figures = {each: (of := names.get(each, each), nw.col(of)) for each in columns}
    rows = call.ask(name, figures=figures, **options)
    found = columns_or_null(rows, columns, dict.fromkeys(columns, nw.Float64))
    return rows.select(*keys.columns, *found, **{f"_{name}": nw.lit(1.0)})


def refuse_periods(by: By, why: str) -> None:
    """Refuse months, quarters and years as keys of figures of one day; "{0}" in `why` is the key."""
    for name in names_in(by):
        if name in TIMES:
            raise ParameterError(f"by={name!r}: {why.format(name)}")
