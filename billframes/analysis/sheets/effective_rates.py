"""Effective rates: fees billed per hour, beside the value of the work per hour, and their growth from year to year.

The amounts and hours are calculated by `realization`; they are divided here. By year, they
are grouped by the hourly rate of the time entries, too, which shows the lowest and the highest rate in use.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import RESIDUE, as_float, null_column
from billframes.analysis.data.native import nan_to_null
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.metrics import BILLED_HOURS, Measure, shared_measures
from billframes.analysis.declare.spec import Analysis, BookArgument, ChartSpec, FromBook, TableSpec
from billframes.analysis.keys.by import TIMES, By, names_in
from billframes.analysis.keys.formulas import with_formulas
from billframes.analysis.keys.groupby import Keys
from billframes.periods import DateLike

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
_STANDARD_COLUMNS = ("standard_amount", "standard_rate")
_LEFT_OUT = ("left_out_hours", "left_out_amount", "left_out_billed_amount")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def effective_rates(
    call: Call,
    *,
    by: By = "user",
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
) -> Frame:
    """
    Money per hour: fees billed, value at the rates of the work, and, if the settings have them, standard rates.

    By year, the result also has the growth of each rate, and the hourly rates in use. Amounts, hours, errors and
    warnings are those of `realization`.

    Parameters
    ----------
    time_entries : frame
        As for `realization`. By year, the time entries also need `rate`; without it, the rates in use are missing.
    invoices : frame
        As for `realization`.
    basis : {"invoice_date", "work_date"}
        "invoice_date": final invoices dated in the period, with all the work on them. "work_date": time dated in the
        period that is now on a final invoice.

    Examples
    --------
    In 2025 Ada's hours cost 200. In 2026 she has four hours at 200 and four at 250, and the invoice is 1,620:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "user_id": ["u1"] * 3, "user_name": ["Ada"] * 3, "matter_type": ["hourly"] * 3, "hours": [2.0, 4.0, 4.0],
    ...     "rate": [200.0, 200.0, 250.0], "amount": [400.0, 800.0, 1000.0], "billing_type": ["billable"] * 3,
    ...     "date": pd.to_datetime(["2025-09-01", "2026-09-01", "2026-09-02"]), "invoice_id": ["i1", "i2", "i2"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_date": pd.to_datetime(["2025-10-05", "2026-10-05"]),
    ...     "invoice_state": ["final", "final"], "amount": [400.0, 1620.0], "balance": [0.0, 0.0],
    ... })
    >>> none = pd.DataFrame(columns=["invoice_id", "amount"])
    >>> result = effective_rates(entries, expenses=none, fixed_fees=none, invoices=invoices, by=["user", "year"])
    >>> result[["year", "worked_rate", "worked_rate_growth", "effective_rate", "effective_rate_growth"]]
       year  worked_rate  worked_rate_growth  effective_rate  effective_rate_growth
    0  2025        200.0                 NaN           200.0                    NaN
    1  2026        225.0               0.125           202.5                 0.0125
    >>> result[["year", "lowest_rate", "highest_rate", "rates_in_use"]]
       year  lowest_rate  highest_rate  rates_in_use
    0  2025        200.0         200.0           1.0
    1  2026        200.0         250.0           2.0
    """
    names = names_in(by)
    call.period(start, end)
    options: dict[str, Any] = {"basis": basis, "start": start, "end": end, "matter_types": matter_types}
    options["discounts"] = discounts
    if not is_by_year(names):
        return _rates(call.ask("realization", by=by, **options))
    keys = Keys.of(call, names)
    by_rate = [*names, "rate"] if "rate" in call.columns("time_entries") else names
    amounts = call.ask("realization", by=list(dict.fromkeys(by_rate)), **options)
    known = bool(call.settings.standard_rates)
    columns = [name for name in ANALYSIS.measure_names if known or not name.startswith("standard_")]
    return rates_by_year(amounts, keys, columns)


def _rates(realized: Frame) -> Frame:
    names = column_names(realized)
    keys = names[: names.index("worked_amount")]
    rates = ["worked_rate", *(["standard_rate"] if "standard_amount" in names else [])]
    columns = [name for name in ANALYSIS.measure_names if name in {*names, *rates}]
    return with_formulas(realized, rates).select(*keys, *columns)


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


def _growth(kind: str) -> Measure:
    rate = f"{kind} rate"
    meaning = f"{rate.capitalize()} ÷ {rate} of the year before − 1."
    return Measure(f"{kind}_rate_growth", f"Growth of the {rate}", "ratio", meaning)


ANALYSIS = Analysis(
    function=effective_rates,
    question="How much do we bill for an hour, compared with its rate, and does it grow from year to year?",
    summary=(
        "It divides fees billed by the hours they were billed for, and compares this effective rate with the rate at "
        "which the hours were recorded. By year, it compares both with the year before."
    ),
    example=(
        "Ada's hours are recorded and billed at 200 in 2025. In 2026 she has four hours at 200 and four at 250, so the "
        "worked rate is 225, 12.5% more. They are billed at 1620, which is 202.50 per hour, only 1.25% more."
    ),
    formula=(
        "effective rate = fees billed ÷ hours; worked rate = value of time billed ÷ hours; growth = rate ÷ rate of the "
        "year before − 1; spread of rates = (highest − lowest) ÷ worked rate"
    ),
    numerator="fees billed, and value of time billed, as in `realization`",
    denominator="hours of the billable time on the final invoices counted",
    left_out=(
        "Time on contingency, pro bono and internal matters: it is in `left_out_hours`, `left_out_amount` and "
        "`left_out_billed_amount`; `matter_types=` chooses other types.",
        "Fixed fees and the hours under them, and expenses.",
        "Rates whose hours add up to 0 or less, for example after a correction: they are not in use.",
    ),
    cannot_tell=(
        "Hours as billed: an invoice has only one amount, and the hours are those recorded.",
        "Why a rate grew: the average also changes if more of the work is done at other rates or by other people.",
        "The growth of a year that is not over: the part of the year so far is compared with the whole year before.",
    ),
    arguments={
        "by": 'With "year", and without "month" and "quarter", rows are compared with those of the year before.',
        "settings": "`standard_rates` add the standard columns, and may have dates from which they are valid.",
    },
    columns=(
        BILLED_HOURS,
        *shared_measures("billed_amount", "effective_rate"),
        _growth("effective"),
        *shared_measures("worked_amount", "worked_rate"),
        _growth("worked"),
        *shared_measures(*_STANDARD_COLUMNS),
        _growth("standard"),
        Measure("lowest_rate", "Lowest rate", "rate", "The lowest hourly rate with more than 0 hours."),
        Measure("highest_rate", "Highest rate", "rate", "The highest hourly rate with more than 0 hours."),
        Measure("rates_in_use", "Rates in use", "count", "Number of hourly rates with more than 0 hours."),
        Measure(
            "rate_spread",
            "Spread of rates",
            "ratio",
            "(Highest − lowest rate) ÷ worked rate.",
            parts=("_width", "worked_rate"),
            formula="(highest_rate - lowest_rate) / worked_rate",
        ),
        *shared_measures(*_LEFT_OUT),
    ),
    table=TableSpec(
        title="Effective rates",
        columns=(
            *("billable_hours", "worked_amount", "worked_rate", "worked_rate_growth", "billed_amount"),
            *("effective_rate", "effective_rate_growth", *_STANDARD_COLUMNS, "standard_rate_growth"),
            *YEARLY_COLUMNS[3:],
        ),
        optional=(*_STANDARD_COLUMNS, *YEARLY_COLUMNS),
    ),
    chart=ChartSpec(
        kind="bars",
        title="What an hour of billable time brought",
        columns=("worked_rate", "effective_rate"),
        words=["{effective_rate} · {effective_rate_growth}", "{effective_rate}"],
        optional=("effective_rate_growth",),
        shows="the effective rate (dark) on the worked rate (pale).",
        more=(
            "The text beside a bar is the effective rate and, by year, its growth from the year before. If rates are "
            "hidden, only the effective rate is drawn."
        ),
    ),
    book=FromBook(
        defaults={
            "start": BookArgument(
                lambda _book, _period: None,
                "Another first day than that of the book's period. By year, all years up to the end of the book's "
                "period count by default.",
                only_by="year",
            )
        }
    ),
)
