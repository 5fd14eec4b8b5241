"""Fixed-fee realization: fixed fees compared with the hours that are linked to them."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import join_by_id, sum_by
from billframes.analysis.data.expressions import C, is_in_period, null_column, value_if
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import money, ratio_measure, retitled, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, TableSpec
from billframes.analysis.facts.invoices import is_nearly_cancelled
from billframes.analysis.facts.items import items
from billframes.analysis.facts.rates import Rates, at_rates, rate_of
from billframes.analysis.keys.by import ITEM_IDS, By
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.rules.details import note_details
from billframes.analysis.rules.invoices import UNKNOWN_FEE
from billframes.analysis.rules.loads import need_all_dates, need_period
from billframes.analysis.rules.people import note_missing_rates
from billframes.periods import DateLike, Period

_OF_TIME = ("date", "user_id", "hours", "billing_type", "fixed_fee_id")
_OF_FEES = ("date", "fixed_fee_id", "amount")
_ZERO = nw.lit(0.0)


@sheet("time_entries", "fixed_fees", "matters?", "users?", "clients?")
def fixed_fee_realization(
    call: Call, *, by: By = None, start: DateLike | None = None, end: DateLike | None = None
) -> Frame:
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

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-09-30", "2026-10-02"]), "user_id": ["u1", "u1"], "hours": [6.0, 4.0],
    ...     "billing_type": ["fixedFee"] * 2, "fixed_fee_id": ["f1", "f1"],
    ... })
    >>> fees = pd.DataFrame({
    ...     "fixed_fee_id": ["f1", "f2"], "date": pd.to_datetime(["2026-10-01"] * 2), "amount": [3000.0, 500.0]})
    >>> result = fixed_fee_realization(
    ...     entries, fixed_fees=fees, start="2026-10", settings=bf.FirmSettings(standard_rates={"u1": 400.0})
    ... )
    >>> result[["fee_amount", "effective_rate", "fixed_fee_realization", "unlinked_fee_amount"]]
       fee_amount  effective_rate  fixed_fee_realization  unlinked_fee_amount
    0      3000.0           300.0                   0.75                500.0
    """
    period, keys = call.period(start, end), Keys.of(call, by)
    need_period(call, ("fixed_fees",), period)
    need_all_dates(call, ("time_entries",), {"fixed_fee_id": None})
    call.require("time_entries", *_OF_TIME)
    call.require("fixed_fees", *_OF_FEES)
    keys.require_ids("time_entries", "fixed_fees")
    time = call.fact(items, (*_OF_TIME[1:], *keys.of_items), among=("time_entries", "matters"))
    time = time.filter(~C("fixed_fee_id").is_null() | (C("billing_type") == "fixedFee"))
    time = time.with_columns(C("fixed_fee_id").cast(nw.String))
    fees = call.fact(
        items, (*_OF_FEES[1:], *ITEM_IDS, *keys.of_items), among=("fixed_fees", "matters"), frame="fixed_fees"
    )
    fees = _with_terms(fees.with_columns(C("fixed_fee_id").cast(nw.String)), time, period)
    counted, unlinked = _counted(time, fees, period), fees.filter(is_in_period("date", period) & ~C("is_linked"))
    note_details(keys, unlinked.with_columns(kind=nw.lit("fixed_fee")), {"fixed_fees": "amount"})
    rates = call.settings.standard_rates
    totals = keys.sum(counted, _sums(rates), date="counted_date")
    totals += keys.sum(unlinked, [Sum("unlinked_fee_amount", "amount")], date="date")
    if rates and totals.total("unrated_hours"):
        unrated = counted.filter(_is_linked() & rate_of(rates).is_nan())
        so = "`standard_amount` and `fixed_fee_realization` are missing in their rows"
        note_missing_rates(call.notes, unrated, "standard", so)
    call.notes.add(UNKNOWN_FEE, totals.total("_not_passed"))
    unknown = {} if rates else {"standard_amount": null_column(nw.Float64)}
    return keys.finish(totals, ANALYSIS.measure_names, **unknown)


def _with_terms(fees: Frame, time: Frame, period: Period) -> Frame:
    """Add whether each fee is of the period and has time, and its part per hour of this time."""
    rows = time.filter(~C("fixed_fee_id").is_null()).select("fixed_fee_id", "hours", gross_hours=C("hours").abs())
    fees = join_by_id(fees, sum_by(rows, ["fixed_fee_id"], ("hours", "gross_hours")), "fixed_fee_id")
    fees = fees.with_columns(C("hours", "gross_hours").fill_null(0.0))
    has_hours = ~(C("gross_hours") <= 0) & ~is_nearly_cancelled("hours")
    fees = fees.with_columns(is_linked=has_hours & is_in_period("date", period))
    return fees.with_columns(per_hour=value_if(C("is_linked"), C("amount") / C("hours")))


def _counted(time: Frame, fees: Frame, period: Period) -> Frame:
    """Return the time of the period's fees, and the time of the period whose fee was not passed, or that has none."""
    terms = fees.select("fixed_fee_id", "is_linked", "per_hour", fee_date=C("date"))
    rows = join_by_id(time, terms, "fixed_fee_id")
    rows = rows.filter(_is_linked() | (C("is_linked").is_null() & is_in_period("date", period)))
    return rows.with_columns(counted_date=nw.when(_is_linked()).then(C("fee_date")).otherwise(C("date")))


def _is_linked() -> nw.Expr:
    return C("is_linked").fill_null(False)


def _sums(rates: Rates) -> list[Sum]:
    linked, unlinked = _is_linked(), C("is_linked").is_null()
    return [
        Sum("fee_amount", C("hours") * C("per_hour"), linked),
        Sum("linked_hours", "hours", linked),
        Sum("standard_amount", at_rates(rates), linked & (C("hours") != 0)),
        Sum("unrated_hours", "hours", linked & rate_of(rates).is_nan()),
        Sum("unlinked_hours", "hours", unlinked),
        Sum("_not_passed", nw.lit(1.0), unlinked & ~C("fixed_fee_id").is_null()),
    ]


ANALYSIS = Analysis(
    function=fixed_fee_realization,
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
    ),
)
