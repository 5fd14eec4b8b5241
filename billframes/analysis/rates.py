"""Rates by year: worth and fees billed per hour, their growth, and the rates in use.

The figures are calculated by `effective_rates`, grouped by the hourly rate of the time entries, too. This gives the
lowest and the highest rate in use.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.checks.values import skip_checks
from billframes.analysis.column_types import Frame
from billframes.analysis.effective_rates import effective_rates
from billframes.analysis.expressions import RESIDUE, as_float, ratio
from billframes.analysis.frames import from_native, from_result, nan_to_null, require, to_native
from billframes.analysis.grouping import Grouping
from billframes.analysis.keys import TIMES, By, names_in
from billframes.analysis.metrics import Measure, shared_measures
from billframes.analysis.spec import Analysis, BookArgument, ChartSpec, FromBook, TableSpec
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike

__all__ = ["ANALYSIS", "rates"]

C = nw.col

_LEFT_OUT = ("left_out_hours", "left_out_amount", "left_out_billed_amount")
_SUMS = ("billable_hours", "billed_amount", "worked_amount", *_LEFT_OUT)
_STANDARD_COLUMNS = ("standard_amount", "standard_rate", "standard_rate_growth")
_LOWEST_AND_HIGHEST = ("lowest_rate", "highest_rate")


def rates(
    time_entries: IntoFrameT,
    invoices: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    *,
    by: By = ("user", "year"),
    basis: Literal["invoice_date", "work_date"] = "invoice_date",
    start: DateLike | None = None,
    end: DateLike | None = None,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    settings: FirmSettings | None = None,
    matter_types: Collection[str] | None = None,
) -> IntoFrameT:
    """
    Worked and effective rates by year, their growth, and the lowest and highest rate in use.

    Hours, amounts, rates, errors and warnings are those of `effective_rates`.

    Parameters
    ----------
    time_entries : frame
        As for `realization`, with `rate`.
    invoices, expenses, fixed_fees : frame
        As for `realization`.
    by : str or list of str
        Keys to group by; "year" must be one of them.
    basis : {"invoice_date", "work_date"}
        "invoice_date": years are those of the final invoices, with all the work on them. "work_date": years are those
        of the work that is now on final invoices.
    start, end : str or date, optional
        First and last day, inclusive; None leaves an end open. `start` also takes a whole period such as "2026".
    matters, users : frame, optional
        With `matter_id` and `matter_type`, or `user_id` and `name`, and the columns that `by` names.
    clients : frame, optional
        With `client_id` and the columns that `by` names, such as custom fields (`client_cf_…`).
    settings : FirmSettings, optional
        `standard_rates` add the standard columns, and may have dates from which they are valid; `originator_weights`
        and `roles`.
    matter_types : collection of str, optional
        Types of matter that count; all but contingency, pro bono and internal by default.

    Returns
    -------
    frame
        Of the same kind as the input, sorted by label and year: the keys and, as float64,

        - `billable_hours`, `worked_amount`, `worked_rate`, `billed_amount`, `effective_rate`: as in `effective_rates`
        - `worked_rate_growth`, `effective_rate_growth`: the rate ÷ the rate of the year before − 1; 0.03 is 3 % more.
          Missing if the year before has no row or no rate above 0
        - with standard rates: `standard_amount` (hours at the standard rate of their day; missing if a person has no
          rate), `standard_rate` (÷ hours) and `standard_rate_growth`
        - `lowest_rate`, `highest_rate`: the lowest and highest rate in use; `rates_in_use`: the number of rates in use.
          A rate is in use if its entries have more than 0 hours in total. The number of hours does not matter here;
          `worked_rate` is the average weighted by hours
        - `rate_spread`: (highest − lowest) ÷ worked rate
        - `left_out_hours`, `left_out_amount`, `left_out_billed_amount`: time on matters whose type does not count

        If rates are hidden, even of a few entries only, the worked rate and the rates in use are missing.

    Raises
    ------
    ParameterError
        `by` does not include the year, or includes months or quarters; else as in `realization`.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning, IncompleteDataWarning
        As in `realization`.

    Examples
    --------
    Ada's rate is 200 in 2025. In 2026 she has four hours at 200 and four at 250, and the invoice is 1,620:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "user_id": ["u1"] * 3, "user_name": ["Ada"] * 3, "matter_id": ["m1"] * 3, "matter_type": ["hourly"] * 3,
    ...     "hours": [2.0, 4.0, 4.0], "rate": [200.0, 200.0, 250.0], "amount": [400.0, 800.0, 1000.0],
    ...     "billing_type": ["billable"] * 3, "invoice_id": ["i1", "i2", "i2"],
    ...     "date": pd.to_datetime(["2025-09-01", "2026-09-01", "2026-09-02"]),
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_date": pd.to_datetime(["2025-10-05", "2026-10-05"]),
    ...     "invoice_state": ["final", "final"], "amount": [400.0, 1620.0], "balance": [0.0, 0.0],
    ... })
    >>> none = pd.DataFrame({"invoice_id": [], "amount": []})
    >>> result = rates(entries, expenses=none, fixed_fees=none, invoices=invoices)
    >>> result[["year", "worked_rate", "worked_rate_growth", "effective_rate", "effective_rate_growth"]]
       year  worked_rate  worked_rate_growth  effective_rate  effective_rate_growth
    0  2025        200.0                 NaN           200.0                    NaN
    1  2026        225.0               0.125           202.5                 0.0125
    >>> result[["year", "lowest_rate", "highest_rate", "rates_in_use"]]
       year  lowest_rate  highest_rate  rates_in_use
    0  2025        200.0         200.0           1.0
    1  2026        200.0         250.0           2.0
    """
    keys = _keys(by)
    natives: dict[str, Any] = {
        "time_entries": time_entries,
        "invoices": invoices,
        "expenses": expenses,
        "fixed_fees": fixed_fees,
        "matters": matters,
        "users": users,
        "clients": clients,
    }
    frames = from_native(**natives)
    require(frames["time_entries"], "time_entries", ("rate",))
    grouping = Grouping.of(keys, frames, settings)
    options: dict[str, Any] = {"start": start, "end": end, "matter_types": matter_types, "settings": settings}
    with skip_checks(natives, frames):
        by_rate = effective_rates(**natives, **options, by=[*keys, "rate"], basis=basis)
    standard = bool(grouping.settings.standard_rates)
    sums = (*_SUMS, "standard_amount") if standard else _SUMS
    rows = nan_to_null(from_result(by_rate)).select(*dict.fromkeys([*grouping.columns, "rate"]), *sums)
    totals = grouping.combine(
        [_mark_rates_in_use(rows)],
        (*sums, "rates_in_use", "_unrated"),
        least=_LOWEST_AND_HIGHEST[:1],
        greatest=_LOWEST_AND_HIGHEST[1:],
    )
    columns = [name for name in ANALYSIS.measure_names if standard or name not in _STANDARD_COLUMNS]
    return to_native(_result(nan_to_null(totals), grouping, columns), time_entries)


def _keys(by: By) -> list[str]:
    names = names_in(by)
    for name in names:
        if name in TIMES and name != "year":
            raise ParameterError(
                f"by={by!r}: rates are compared by year, so it takes no {name}s. For {name}s call effective_rates()."
            )
    if "year" not in names:
        raise ParameterError(
            f"by={by!r} does not include 'year', and rates are compared with the year before: pass "
            f"by={[*names, 'year']!r}, or call effective_rates()."
        )
    return names


def _mark_rates_in_use(rows: Frame) -> Frame:
    """Mark the rates that are in use, and rows with hours but without a rate."""
    used = (C("billable_hours") > RESIDUE) & ~C("rate").is_null()
    unrated = C("rate").is_null() & (C("billable_hours").abs() > RESIDUE)
    rate = nw.when(used).then(C("rate"))
    return rows.with_columns(
        lowest_rate=rate, highest_rate=rate, rates_in_use=as_float(used), _unrated=as_float(unrated)
    )


def _result(totals: Frame, grouping: Grouping, columns: Sequence[str]) -> Frame:
    known = {name: nw.when(C("_unrated") == 0).then(C(name)) for name in (*_LOWEST_AND_HIGHEST, "rates_in_use")}
    amounts = {"worked_rate": "worked_amount", "effective_rate": "billed_amount", "standard_rate": "standard_amount"}
    rates = {name: ratio(amount, "billable_hours") for name, amount in amounts.items() if name in columns}
    totals = totals.with_columns(**known, **rates)
    totals = totals.with_columns(_width=C("highest_rate") - C("lowest_rate"))
    totals = _with_growth(totals, [key.columns[0] for key in grouping.keys if key.time is None], list(rates))
    return grouping.finish(totals.with_columns(rate_spread=ratio("_width", "worked_rate")), columns, named=True)


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


ANALYSIS = Analysis(
    name="rates",
    question="How did our rates develop from year to year, and do we really bill more for an hour?",
    summary=(
        "It shows the worked rate and the effective rate for each year, with the growth from the year before. The "
        "lowest and the highest rate in use show how much agreed rates differ."
    ),
    example=(
        "Ada's rate is 200 in 2025. In 2026 she has four hours at 200 and four at 250, so the worked rate is 225, "
        "12.5% more. The hours are billed at 1620, which is 202.50 per hour, only 1.25% more."
    ),
    formula="growth = rate ÷ rate of the year before − 1; spread = (highest − lowest) ÷ worked rate",
    numerator="The rates of `effective_rates`: worth of billed work ÷ hours, and fees billed ÷ hours.",
    denominator="The same rate of the year before, for the same person or other key.",
    left_out=(
        "Rates whose hours add up to 0 or less, for example after a correction: they are not in use.",
        "Time on contingency, pro bono and internal matters: it is in `left_out_hours`, `left_out_amount` and "
        "`left_out_billed_amount`; `matter_types=` chooses other types.",
        "Time on no final invoice, fixed fees and the hours under them, and expenses.",
    ),
    cannot_tell=(
        "Why a rate grew: the average also changes if more of the work is done at other rates or by other people.",
        "The growth of a year that is not over: the part of the year so far is compared with the whole year before.",
        "Standard rates: they are in the firm's settings, with the dates from which they are valid.",
    ),
    columns=(
        *shared_measures("billable_hours", "worked_amount", "worked_rate"),
        Measure(
            "worked_rate_growth",
            "Growth of the worked rate",
            "ratio",
            "Worked rate ÷ worked rate of the year before − 1.",
        ),
        *shared_measures("billed_amount", "effective_rate"),
        Measure(
            "effective_rate_growth",
            "Growth of the effective rate",
            "ratio",
            "Effective rate ÷ effective rate of the year before − 1.",
        ),
        *shared_measures("standard_amount", "standard_rate"),
        Measure(
            "standard_rate_growth",
            "Growth of the standard rate",
            "ratio",
            "Standard rate ÷ standard rate of the year before − 1.",
        ),
        Measure("lowest_rate", "Lowest rate", "rate", "The lowest hourly rate with more than 0 hours."),
        Measure("highest_rate", "Highest rate", "rate", "The highest hourly rate with more than 0 hours."),
        Measure("rates_in_use", "Rates in use", "count", "Number of hourly rates with more than 0 hours."),
        Measure("rate_spread", "Spread of rates", "ratio", "(Highest − lowest rate) ÷ worked rate."),
        *shared_measures(*_LEFT_OUT),
    ),
    table=TableSpec(
        title="Rates",
        without=_LEFT_OUT,
        optional=_STANDARD_COLUMNS,
        brief=("worked_rate", "worked_rate_growth", "effective_rate", "effective_rate_growth"),
        adds_up=False,
    ),
    chart=ChartSpec(
        kind="bars",
        title="What an hour brought each year",
        columns=("worked_rate", "effective_rate"),
        words=["{effective_rate} · {effective_rate_growth}", "{effective_rate}"],
        hidden="worked_rate",
        instead={"title": "Effective rate each year", "words": ["{effective_rate}"]},
        shows="the effective rate (dark) on the worked rate (pale), year by year.",
        more="The text beside a bar is the effective rate and its growth from the year before.",
        example={
            "user_name": ["Ada", "Ada"],
            "year": [2025, 2026],
            "effective_rate": [200.0, 202.5],
            "effective_rate_growth": [None, 0.0125],
            "worked_rate": [200.0, 225.0],
        },
        gives=(["200 · –", "203 · 1.3%"], "What an hour brought each year by timekeeper and year"),
    ),
    book=FromBook(
        defaults={
            "start": BookArgument(
                lambda _book, _period: None,
                "By default all years up to the end of the book's period count.",
            )
        }
    ),
)
