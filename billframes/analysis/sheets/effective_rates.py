"""Effective rates: fees billed per hour, beside the value of the work per hour, and their growth from year to year.

The amounts and hours are calculated by `realization`; they are divided here. By year, they
are grouped by the hourly rate of the time entries, too, which shows the lowest and the highest rate in use.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import RESIDUE, C, as_float, null_column
from billframes.analysis.data.native import nan_to_null
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.metrics import BILLED_HOURS, Measure, shared_measures
from billframes.analysis.declare.spec import Analysis, BookArgument, ChartSpec, FromBook, TableSpec
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.keys.formulas import with_formulas
from billframes.analysis.keys.groupby import Keys
from billframes.periods import DateLike

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

_STANDARD_COLUMNS = ("standard_amount", "standard_rate")


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
    # Only rows of whole years can be compared with the year before.
    if [name for name in names if name in TIMES] != ["year"]:
        return _rates(call.ask("realization", by=by, **options))
    by_rate = [*names, "rate"] if "rate" in call.columns("time_entries") else names
    rows = call.ask("realization", by=list(dict.fromkeys(by_rate)), **options)
    known = bool(call.settings.standard_rates)
    columns = [name for name in ANALYSIS.measure_names if known or not name.startswith("standard_")]
    return _by_year(rows, Keys.of(call, names), columns)


def _rates(realized: Frame) -> Frame:
    names = column_names(realized)
    keys = names[: names.index("worked_amount")]
    rates = ["worked_rate", *(["standard_rate"] if "standard_amount" in names else [])]
    columns = [name for name in ANALYSIS.measure_names if name in {*names, *rates}]
    return with_formulas(realized, rates).select(*keys, *columns)


def _by_year(rows: Frame, keys: Keys, columns: Sequence[str]) -> Frame:
    """Add up rows by the keys and by rate, with the rates in use; without rates, these are missing."""
    rate = C("rate") if "rate" in column_names(rows) else null_column(nw.Float64)
    rows = rows.with_columns(rate=rate)
    used = (C("billable_hours") > RESIDUE) & ~C("rate").is_null()
    unrated = C("rate").is_null() & (C("billable_hours").abs() > RESIDUE)
    in_use = nw.when(used).then(C("rate"))
    rows = rows.with_columns(
        lowest_rate=in_use, highest_rate=in_use, rates_in_use=as_float(used), _unrated=as_float(unrated)
    )
    sums = [name for name in columns if name.endswith(("_hours", "_amount"))]
    totals = keys.combine(
        [rows], (*sums, "rates_in_use", "_unrated"), least=("lowest_rate",), greatest=("highest_rate",)
    )
    in_use_columns = ("lowest_rate", "highest_rate", "rates_in_use")
    known = {name: nw.when(C("_unrated") == 0).then(C(name)) for name in in_use_columns}
    rates = [name for name in ("worked_rate", "effective_rate", "standard_rate") if name in columns]
    totals = with_formulas(nan_to_null(totals).with_columns(**known), rates)
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
        *shared_measures("left_out_hours", "left_out_amount", "left_out_billed_amount"),
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
