"""Fixed-fee realization: fixed fees compared with the hours that are linked to them."""

from __future__ import annotations

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.metrics import money, ratio_measure, retitled, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.frames.engine import collect, collect_counts, join_by_id, sum_by
from billframes.analysis.frames.expressions import (
    as_float,
    in_period,
    is_in_period,
    null_column,
    value_at_rates,
    value_if,
)
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import is_nearly_cancelled
from billframes.analysis.model.arguments import note_missing_rates
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By
from billframes.analysis.model.missing_work import note_details_not_in_all
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.invoices import UNKNOWN_FEE
from billframes.analysis.rules.loads import need_all_dates, need_period
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike, Period

C = nw.col

_SUMS = (
    *(Sum(name, name) for name in ("fee_amount", "linked_hours", "unrated_hours")),
    *(Sum(name, name) for name in ("unlinked_fee_amount", "unlinked_hours")),
    Sum("standard_amount", "standard_amount", hides="_unrated"),
)


def fixed_fee_realization(
    time_entries: IntoFrameT,
    *,
    fixed_fees: IntoFrameT,
    matters: IntoFrameT | None = None,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    by: By = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
    """
    Fees ÷ the value of the linked hours at standard rates, and fees ÷ these hours.

    Each fee dated in the period is compared with all time entries that have its `fixed_fee_id`, of any date and any
    billing type, so pass all time entries. The fee is shared out over these entries in proportion to their hours. Each
    part counts for the entry's own matter, client and user.

    Parameters
    ----------
    time_entries : frame
        With `date`, `user_id`, `hours`, `billing_type` and `fixed_fee_id`, and the columns that `by` needs; of any
        period.
    fixed_fees : frame
        With `fixed_fee_id`, `date` and `amount`, and the client, matter or user id that `by` needs; of any period.
    matters, users, clients : frame, optional
        For the columns that `by` names, matter types and roles.
    by : str or list of str, optional
        Keys to group by; None gives one row. Months are those of the fee.
    start, end : str or date, optional
        First and last day, inclusive, or a period such as "2026-Q3" as `start`; None is open. By the fees' dates.
    settings : FirmSettings, optional
        The firm's settings. Without `standard_rates`, the columns that need them are missing.

    Returns
    -------
    frame
        Of the kind of the input, sorted by label: the keys, then `fee_amount`, `linked_hours`, `effective_rate`,
        `standard_amount`, `fixed_fee_realization`, `unrated_hours`, `unlinked_fee_amount`, `unlinked_hours`.
        `bf.explain("fixed_fee_realization")` says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    A fee of 3,000 for 10 hours with a standard rate of 400 is 300 per hour, three quarters of standard:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-09-30", "2026-10-02"]), "user_id": ["u1", "u1"], "hours": [6.0, 4.0],
    ...     "billing_type": ["fixedFee"] * 2, "fixed_fee_id": ["f1", "f1"],
    ... })
    >>> fees = pd.DataFrame({
    ...     "fixed_fee_id": ["f1", "f2"], "date": pd.to_datetime(["2026-10-01"] * 2), "amount": [3000.0, 500.0]})
    >>> result = fixed_fee_realization(
    ...     entries, fixed_fees=fees, start="2026-10", settings=FirmSettings(standard_rates={"u1": 400.0})
    ... )
    >>> result[["fee_amount", "effective_rate", "fixed_fee_realization", "unlinked_fee_amount"]]
       fee_amount  effective_rate  fixed_fee_realization  unlinked_fee_amount
    0      3000.0           300.0                   0.75                500.0
    """
    frames = Frames.of("fixed_fee_realization", locals())
    period = frames.period(start, end, settings)
    need_period(frames, ("fixed_fees",), period)
    need_all_dates(frames, ("time_entries",), {"fixed_fee_id": None})
    grouping = Grouping.of(by, frames, settings)
    fees = grouping.select_items("fixed_fees", ("fixed_fee_id", "date", "amount"))
    counted, unlinked_fees = _spread_fees(_fixed_fee_time(frames, grouping), fees, period)
    unlinked = {"fixed_fees": lambda: (unlinked_fees, "unlinked_fee_amount")}
    note_details_not_in_all(grouping, unlinked)
    parts = [_add_up(counted, "_period_date", grouping), _add_up(unlinked_fees, "date", grouping)]
    rows = collect(grouping.concat(parts))
    _note(rows, counted, grouping)
    unknown = {} if grouping.settings.standard_rates else {"standard_amount": null_column(nw.Float64)}
    rows = add_up(rows, _SUMS, grouping, ANALYSIS.measure_names, (), **unknown)
    return frames.to_native(rows, time_entries, period, settings)


def _fixed_fee_time(frames: Frames, grouping: Grouping) -> Frame:
    columns = ("date", "user_id", "hours", "billing_type", "fixed_fee_id", *grouping.row_columns)
    rows = frames.select("time_entries", columns)
    rows = rows.filter(~C("fixed_fee_id").is_null() | (C("billing_type") == "fixedFee"))
    return value_at_rates(rows, grouping.settings.standard_rates).rename({"_value": "_worth"})


def _spread_fees(time: Frame, fees: Frame, period: Period) -> tuple[Frame, Frame]:
    """Spread the fees of the period over their time; return the time that counts, and the fees without time."""
    rates = _rates(time, fees, period)
    terms = rates.select("fixed_fee_id", "_linked", "_per_hour", _fee_date=C("date"))
    counted = join_by_id(time, terms, "fixed_fee_id")
    linked = C("_linked") > 0
    # Time whose fee was not passed counts like time without a fee.
    unlinked = C("_linked").is_null() & is_in_period("date", period)
    counted = counted.filter(linked.fill_null(False) | unlinked).with_columns(
        fee_amount=value_if(linked, C("hours") * C("_per_hour")),
        linked_hours=value_if(linked, "hours"),
        standard_amount=value_if(linked, "_worth"),
        unrated_hours=value_if(linked & (C("_unrated") > 0), "hours"),
        unlinked_hours=value_if(C("_linked").is_null(), "hours"),
        _unrated=value_if(linked, "_unrated"),
        _not_passed=as_float(C("_linked").is_null() & ~C("fixed_fee_id").is_null()),
        _period_date=nw.when(linked).then(C("_fee_date")).otherwise(C("date")),
    )
    unlinked_fees = in_period(rates, "date", period).filter(C("_linked") < 1)
    return counted, unlinked_fees.with_columns(unlinked_fee_amount=C("amount"))


def _rates(time: Frame, fees: Frame, period: Period) -> Frame:
    """
    Calculate the part of each fee per hour of its time.

    `_linked` is 1.0 if the fee is of the period and has time.
    """
    rows = time.filter(~C("fixed_fee_id").is_null()).with_columns(_gross_hours=C("hours").abs())
    totals = sum_by(rows, ["fixed_fee_id"], ("hours", "_gross_hours")).rename({"hours": "_all_hours"})
    names = ("_all_hours", "_gross_hours")
    rates = join_by_id(fees, totals, "fixed_fee_id").with_columns(*[C(name).fill_null(0.0) for name in names])
    has_hours = ~(C("_gross_hours") <= 0) & ~is_nearly_cancelled("_all_hours", "_gross_hours")
    rates = rates.with_columns(_linked=as_float(has_hours & is_in_period("date", period)))
    return rates.with_columns(_per_hour=value_if(C("_linked") > 0, C("amount") / C("_all_hours"))).drop(*names)


def _add_up(rows: Frame, date: str, grouping: Grouping) -> Frame:
    """Add up the sums by the columns that the keys derive from; columns that rows do not have count as 0."""
    there = column_names(rows)
    names = [*(each.name for each in _SUMS), "_unrated", "_not_passed"]
    zeros = {name: nw.lit(0.0) for name in names if name not in there}
    return sum_by(grouping.with_periods(rows.with_columns(**zeros), date), grouping.base, names)


def _note(sums: Frame, work: Frame, grouping: Grouping) -> None:
    counts = collect_counts((sums, {"not_passed": C("_not_passed").sum(), "unrated": C("_unrated").sum()}))
    if grouping.settings.standard_rates and counts["unrated"]:
        so = "`standard_amount` and `fixed_fee_realization` are missing in their rows"
        note_missing_rates(grouping.notes, work.filter(C("_unrated") > 0), "standard", so)
    grouping.notes.add(UNKNOWN_FEE, counts["not_passed"])


ANALYSIS = Analysis(
    name="fixed_fee_realization",
    question="Are fixed fees as high as the hours under them at standard rates?",
    summary=(
        "It compares fixed fees with the value of the hours under them at the firm's standard rates. The effective "
        "rate, fees ÷ hours, is known even without standard rates."
    ),
    example="A fee of 3000 for 10 hours with a standard rate of 400 is 300 per hour, which is 75% of standard.",
    formula="fixed fees ÷ linked hours at standard rates; effective rate: fixed fees ÷ linked hours",
    numerator="fixed fees dated in the period that have linked time, billed or not",
    denominator="all hours linked to these fees, of any date, at the settings' standard rates; for the effective rate, "
    "the hours",
    left_out=(
        "fees without linked time: they are in `unlinked_fee_amount`",
        "fixed-fee time in the period without a fee: it is in `unlinked_hours`",
    ),
    cannot_tell=("standard rates: they are in the firm's settings", "hours that will still be worked for a fee"),
    arguments={
        "by": "Months are those of the fee.",
        "start": "By the fees' dates.",
        "settings": "Without `standard_rates`, the columns that need them are missing.",
    },
    columns=(
        money("fee_amount", "Fixed fees with hours", "Fixed fees that have linked time, invoiced or not."),
        sum_measure("linked_hours", "Linked hours", "hours", "Hours of the time linked to these fees, of any date."),
        retitled("effective_rate", "Effective rate of fixed fees", "Fixed fees with hours ÷ linked hours."),
        retitled(
            "standard_amount",
            "Linked hours at standard rates",
            "Linked hours × standard rates; missing if someone has none.",
        ),
        ratio_measure(
            "fixed_fee_realization",
            "Fixed-fee realization",
            "fee_amount / standard_amount",
            "Fixed fees with hours ÷ these hours at standard rates.",
        ),
        sum_measure("unrated_hours", "Hours without rate", "hours", "Linked hours of people without a standard rate."),
        money("unlinked_fee_amount", "Fixed fees without hours", "Fixed fees without linked time."),
        sum_measure("unlinked_hours", "Unlinked hours", "hours", "Fixed-fee time of the period without a fee."),
    ),
    table=TableSpec(title="Fixed-fee realization", without=("unrated_hours",)),
    chart=ChartSpec(
        kind="bars",
        title="Fixed fees and the value of their hours",
        columns=("standard_amount", "fee_amount"),
        words=["{fixed_fee_realization}", "{effective_rate} an hour"],
        shows="fees (dark) on the value of their hours at standard rates (pale).",
        more="The text beside a bar is fees ÷ standard or, if standard rates are missing, the effective rate.",
        example={
            "client_name": ["Acme", "Bolt"],
            "fee_amount": [800.0, 500.0],
            "standard_amount": [1000.0, None],
            "fixed_fee_realization": [0.8, None],
            "effective_rate": [320.0, 250.0],
        },
        gives=(["80.0%", "250 an hour"], "Fixed fees and the value of their hours by client"),
    ),
)
