"""The figures of `effective_rates` by year: growth since the year before, and the hourly rates in use.

The amounts are grouped by the hourly rate of the time entries, too, which shows the lowest and the highest rate in use.
"""

from __future__ import annotations

from collections.abc import Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.expressions import RESIDUE, as_float, null_column
from billframes.analysis.frames.native import nan_to_null
from billframes.analysis.keys.keys import Keys
from billframes.analysis.model.formulas import with_formulas
from billframes.analysis.model.keys import TIMES

C = nw.col

YEARLY_COLUMNS = (
    "effective_rate_growth",
    "worked_rate_growth",
    "standard_rate_growth",
    "lowest_rate",
    "highest_rate",
    "rates_in_use",
    "rate_spread",
)
"""The columns that only results by year have."""

_SUMS = (
    "billable_hours",
    "billed_amount",
    "worked_amount",
    "left_out_hours",
    "left_out_amount",
    "left_out_billed_amount",
)
_LOWEST_AND_HIGHEST = ("lowest_rate", "highest_rate")


def is_by_year(keys: Sequence[str]) -> bool:
    """
    Tell whether rows are those of whole years, so that a row can be compared with the year before.

    Examples
    --------
    >>> is_by_year(["user", "year"]), is_by_year(["user"]), is_by_year(["year", "month"])
    (True, False, False)
    """
    return [name for name in keys if name in TIMES] == ["year"]


def rates_by_year(realized: Frame, keys: Keys, columns: Sequence[str]) -> Frame:
    """
    Return the rows of `effective_rates` by year.

    Parameters
    ----------
    realized : Frame
        The result of `realization`, grouped by the keys and by `rate`. Without `rate`, the rates in use are missing.
    keys : Keys
        By the keys without `rate`.
    columns : sequence of str
        The columns of the result, without the keys.
    """
    if "rate" not in column_names(realized):
        realized = realized.with_columns(rate=null_column(nw.Float64))
    sums = (*_SUMS, *[name for name in ("standard_amount",) if name in columns])
    rows = nan_to_null(realized).select(*dict.fromkeys([*keys.columns, "rate"]), *sums)
    totals = keys.combine(
        [_mark_rates_in_use(rows)],
        (*sums, "rates_in_use", "_unrated"),
        least=_LOWEST_AND_HIGHEST[:1],
        greatest=_LOWEST_AND_HIGHEST[1:],
    )
    return _result(nan_to_null(totals), keys, columns)


def _mark_rates_in_use(rows: Frame) -> Frame:
    """Mark the rates that are in use, and rows with hours but without a rate."""
    used = (C("billable_hours") > RESIDUE) & ~C("rate").is_null()
    unrated = C("rate").is_null() & (C("billable_hours").abs() > RESIDUE)
    rate = nw.when(used).then(C("rate"))
    return rows.with_columns(
        lowest_rate=rate, highest_rate=rate, rates_in_use=as_float(used), _unrated=as_float(unrated)
    )


def _result(totals: Frame, keys: Keys, columns: Sequence[str]) -> Frame:
    known = {name: nw.when(C("_unrated") == 0).then(C(name)) for name in (*_LOWEST_AND_HIGHEST, "rates_in_use")}
    rates = [name for name in ("worked_rate", "effective_rate", "standard_rate") if name in columns]
    totals = with_formulas(totals.with_columns(**known), rates)
    totals = totals.with_columns(_width=C("highest_rate") - C("lowest_rate"))
    totals = _with_growth(totals, [key.columns[0] for key in keys.keys if key.time is None], rates)
    return keys.labelled(totals, columns, named=True)


def _with_growth(totals: Frame, ids: Sequence[str], rates: Sequence[str]) -> Frame:
    """Join the row of the year before; a missing id is a value like any other."""
    same = {f"_same_{name}": C(name).cast(nw.String).fill_null("") for name in ids}
    totals = totals.with_columns(**same)
    before = totals.select(*same, **{f"_before_{name}": C(name) for name in rates}, year=C("year") + 1)
    totals = totals.join(before, on=[*same, "year"], how="left")
    growth = {name: C(name) / C(f"_before_{name}") - 1.0 for name in rates}
    return totals.with_columns(
        **{f"{name}_growth": nw.when(C(f"_before_{name}") > RESIDUE).then(each) for name, each in growth.items()}
    )
