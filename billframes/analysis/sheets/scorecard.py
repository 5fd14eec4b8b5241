"""Scorecard: each person's hours, fees, open amounts and timekeeping, beside the figures of the firm or the role.

Each figure is calculated by its own analysis (utilization, realization, wip, aging, timekeeping_lag, missing_time) with
the same period and keys.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any, Literal

import narwhals.stable.v2 as nw

from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.expressions import C, as_float, columns_or_null, null_column, ratio, value_if
from billframes.analysis.data.native import nan_to_null
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, BookArgument, ChartSpec, FromBook, TableSpec, TabSpec
from billframes.analysis.facts.capacity import PARTIAL_HOURS
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.results.selected_figures import refuse_periods, selected
from billframes.analysis.rules.loads import LATER_DAYS, note_unfinished_period
from billframes.analysis.sheets.realization import ANALYSIS as REALIZATION
from billframes.analysis.sheets.timekeeping_lag import ANALYSIS as TIMEKEEPING_LAG
from billframes.analysis.sheets.utilization import ANALYSIS as UTILIZATION
from billframes.errors import ParameterError
from billframes.periods import DateLike

_HOURS = ("client_hours", "target_hours", "pace", "capacity_hours", "utilization")
_FEES = ("worked_amount", "billed_amount", "billing_realization", "billable_hours", "effective_rate")
_FIGURES = (*_HOURS, *_FEES, "wip_amount", "receivable_amount", "median_lag_days", "missing_days")
# Ratios of sums, which are calculated from the sums.
_RATIOS = ("utilization", "billing_realization", "effective_rate")
# Figures that can't be added up, and the mark of the analysis they come from. They are missing if it has no such row.
_MARKS = {**dict.fromkeys(_HOURS[1:4], "_utilization"), "median_lag_days": "_timekeeping_lag"}
# The peers' figure of a sum is the mean of people with available hours; of a ratio, the ratio of the sums.
_MEANS = ("client_hours", "worked_amount", "billed_amount", "wip_amount", "receivable_amount", "missing_days")
_DECLARED = {each.name: each.ratios for each in (*UTILIZATION.columns, *REALIZATION.columns)}
_PEER_RATIOS = {name: _DECLARED[name][0] for name in _RATIOS}
_PEER_RATIOS["pace"] = ("_paced_hours", "target_hours")
_TARGETS = ("target_hours", "pace", "peer_pace")
_PEERS = (*_MEANS, *_PEER_RATIOS, "median_lag_days")
_FRAMES = ("time_entries", "invoices")


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters?", "users?", "clients?")
def scorecard(
    call: Call,
    *,
    start: DateLike,
    end: DateLike | None = None,
    as_of: DateLike | None = None,
    by: By = "user",
    beside: Literal["firm", "role"] = "firm",
    matter_types: Collection[str] | None = None,
    discounts: Literal["time", "items"] | None = None,
) -> Frame:
    """
    Hours, fees, open amounts and timekeeping of each person, beside the figures of the firm or of the person's role.

    Hours and lag are of work dated in the period, fees are of final invoices dated in it, and work in progress and
    receivables are those of one day. Hours and fees are of different work, so don't divide one by the other.

    Parameters
    ----------
    time_entries : frame
        With `date`, `user_id`, `matter_id`, `hours`, `billing_type`, `amount`, `invoice_id` and `created_at`, and the
        columns that `by` needs; of all days.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `due_date`, `amount`, `balance` and `client_id`.
    as_of : str or date, optional
        The day of the open amounts, and the last day on which hours are expected; the period's last day by default. If
        the period is not over, pass the day of the load.
    beside : {"firm", "role"}
        Whether the columns `peer_…` are figures of all rows, or of the rows of the same role. For "role", `by` needs
        "user", and the result has a column `role`.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2026-10-01"]), "user_id": ["u1"], "matter_id": ["m1"], "hours": [8.0],
    ...     "billing_type": ["billable"], "amount": [1000.0], "invoice_id": ["i1"], "matter_type": ["hourly"],
    ...     "created_at": pd.to_datetime(["2026-10-02T08:00Z"]),
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-02"]), "invoice_state": ["final"],
    ...     "due_date": pd.to_datetime(["2026-11-01"]), "client_id": ["c1"], "amount": [900.0], "balance": [900.0],
    ... })
    >>> users = pd.DataFrame({"user_id": ["u1", "u2"], "name": ["Ada", "Ben"], "role": ["principal", "attorney"]})
    >>> none = entries.head(0)
    >>> firm = {"expenses": none, "fixed_fees": none, "invoices": invoices, "users": users}
    >>> rows = scorecard(entries, **firm, start="2026-10-01", end="2026-10-02")
    >>> rows[["user_name", "utilization", "peer_utilization", "missing_days", "billing_realization"]]
      user_name  utilization  peer_utilization  missing_days  billing_realization
    0       Ada          0.5              0.25           1.0                  0.9
    1       Ben          0.0              0.25           2.0                  NaN
    """
    check_choice(beside, "beside", ("firm", "role"))
    refuse_periods(by, "open amounts are figures of one day, so they have no {0}s. Call scorecard() once for each {0}.")
    names = _keys(by, beside)
    first, last = call.bounded_period(start, end)
    call.period(first, last)
    day = last if as_of is None else read_date(as_of, "as_of")
    keys = Keys.of(call, names)
    if as_of is None and keys.capacity_known:
        note_unfinished_period(call, last, call.settings, *LATER_DAYS)
    dates: dict[str, Any] = {"start": first, "end": last}
    select = partial(selected, call, keys)
    parts = [
        select("utilization", _HOURS, by=names, **dates, as_of=day),
        select("realization", _FEES, by=names, **dates, matter_types=matter_types, discounts=discounts),
        select("wip", ["wip_amount"], by=names, as_of=day),
        select("aging", ["receivable_amount"], by=names, as_of=day),
        select("timekeeping_lag", ["median_lag_days"], by=names, **dates),
        *_missing_days(call, keys, first, min(day, last)),
    ]
    peer_key = "role" if beside == "role" else None
    peers_lag = call.ask("timekeeping_lag", **dates, by=peer_key)
    figures = [each for each in dict.fromkeys((*_FIGURES, *_MARKS.values())) if each not in _RATIOS]
    totals = nan_to_null(keys.combine(parts, figures))
    totals = _with_known_figures(totals, capacity_known=keys.capacity_known)
    totals = _with_peers(totals, peers_lag, peer_key)
    targets = bool(call.settings.targets_of("hours"))
    columns = [each for each in ANALYSIS.measure_names if targets or each not in _TARGETS]
    return keys.labelled(totals, columns, named=True)


def _keys(by: By, beside: str) -> list[str]:
    names = names_in(by)
    if beside == "role" and not {"user", "user_id", "user_name"}.intersection(names):
        raise ParameterError(f"beside='role' compares people of the same role, so by={by!r} needs 'user'.")
    return [*names, *(["role"] if beside == "role" and "role" not in names else [])]


def _missing_days(call: Call, keys: Keys, first: dt.date, last: dt.date) -> Iterator[Frame]:
    """Yield the number of days on which hours are missing, unless nobody's hours are expected."""
    if not keys.capacity_known or last < first:
        return
    days = call.ask("missing_time", start=first, end=last)
    # Narwhals selects one row if there are only literals, such as without keys.
    rows = days.with_columns(*columns_or_null(days, keys.base, dict.fromkeys(keys.base, nw.String())))
    yield keys.finish(keys.sum(rows, [Sum("missing_days", nw.lit(1.0))]), ["missing_days"])


def _with_known_figures(totals: Frame, *, capacity_known: bool) -> Frame:
    """Make figures missing if their analysis has no such row; people not on the roster have 0 available hours."""
    known: dict[str, nw.Expr] = {name: nw.when(C(mark) > 0).then(C(name)) for name, mark in _MARKS.items()}
    if capacity_known:
        known["capacity_hours"] = known["capacity_hours"].fill_null(0.0)
    else:
        known["missing_days"] = null_column(nw.Float64)
    return totals.with_columns(**known)


def _with_peers(totals: Frame, lag: Frame, key: str | None) -> Frame:
    totals = totals.with_columns(_peer=C(key) if key else nw.lit("all"))
    has_capacity = (C("capacity_hours") > 0).fill_null(False)
    rows = totals.with_columns(
        _paced_hours=(C("pace") * C("target_hours")).fill_null(0.0),
        target_hours=C("target_hours").fill_null(0.0),
        capacity_hours=C("capacity_hours").fill_null(float("nan")),
        _people=as_float(has_capacity),
        **{f"_mean_{name}": value_if(has_capacity, C(name).fill_null(float("nan"))) for name in _MEANS},
        **{name: C(name).fill_null(float("nan")) for name in ("worked_amount", "billed_amount")},
    )
    sums = [*dict.fromkeys(each for pair in _PEER_RATIOS.values() for each in pair)]
    added = rows.group_by("_peer").agg(C(*sums, "_people", *(f"_mean_{name}" for name in _MEANS)).sum())
    peers = added.select(
        "_peer",
        **{f"peer_{name}": ratio(*pair) for name, pair in _PEER_RATIOS.items()},
        **{f"peer_{name}": ratio(f"_mean_{name}", "_people") for name in _MEANS},
    )
    lags = lag.select(_peer=C(key) if key else nw.lit("all"), peer_median_lag_days=C("median_lag_days"))
    return totals.join(peers.join(lags, on="_peer", how="left"), on="_peer", how="left")


_MISSING_DAYS = sum_measure(
    "missing_days", "Missing days", "count", "Working days with less than half of the person’s hours entered."
)
_OPEN_AMOUNTS = shared_measures("wip_amount", "receivable_amount")
_MEASURES = {
    each.name: each
    for each in (*UTILIZATION.columns, *REALIZATION.columns, *TIMEKEEPING_LAG.columns, *_OPEN_AMOUNTS, _MISSING_DAYS)
}


def _peer_measure(name: str) -> Measure:
    own = _MEASURES[name]
    figure = "The mean of the people with available hours" if name in _MEANS else "The same figure"
    return Measure(f"peer_{name}", f"{own.title} of peers", own.unit, f"{figure}, for the firm or the role.")


ANALYSIS = Analysis(
    function=scorecard,
    question="How is each of us doing, compared with the firm or with people of the same role?",
    summary=(
        "Each person has one row: hours, fees, open amounts and timekeeping, equal to those of the other analyses. "
        "Beside them are the figures of the firm or of the person's role."
    ),
    example=(
        "On two days of 8 hours, Ada has 8 client hours, a utilization of 50%, and Ben has 0. The firm's utilization "
        "is 25%. Ada's work worth 1000 was billed at 900, which is 90%."
    ),
    formula="each figure as in `utilization`, `realization`, `wip`, `aging`, `timekeeping_lag` and `missing_time`",
    numerator=(
        "Hours, lag and missing days are of work dated in the period, fees are of final invoices dated in it, and open "
        "amounts are those of `as_of`. A ratio of peers is the ratio of their sums, and an amount of peers is the mean "
        "of the people with available hours."
    ),
    left_out=(
        "Time that the analyses leave out: contingency, pro bono and internal matters in fees, and internal matters in "
        "client hours.",
        "By client, practice area and other keys that do not depend on the person: available hours, utilization and "
        "missing days.",
    ),
    cannot_tell=(
        "Work that was not entered, for clients or for the firm.",
        "Whether the person is the reason for a low figure: fees also depend on the work they were given, and on the "
        "clients' rates.",
    ),
    own=("as_of",),
    arguments={
        "by": (
            "Months, quarters and years are refused. By keys that do not depend on the person, available hours, "
            "utilization and missing days are missing."
        ),
        "matter_types": "Hours and open amounts are of all types.",
        "settings": "Used are the calendar, targets, roles and people's hours.",
    },
    columns=(*(_MEASURES[name] for name in _FIGURES), *map(_peer_measure, _PEERS)),
    table=TableSpec(
        title="Scorecard",
        columns=(
            *("client_hours", "pace", "capacity_hours", "utilization", "peer_utilization", "worked_amount"),
            *("billed_amount", "billing_realization", "peer_billing_realization", "effective_rate"),
            *("wip_amount", "receivable_amount", "median_lag_days", "missing_days"),
        ),
        optional=("pace",),
        brief=(
            *("client_hours", "utilization", "peer_utilization", "billed_amount", "billing_realization"),
            *("peer_billing_realization", "wip_amount", "receivable_amount"),
        ),
    ),
    chart=ChartSpec(
        kind="points",
        title="Utilization and that of peers",
        columns=("utilization", "peer_utilization"),
        words=["{utilization}"],
        hidden="utilization",
        instead={
            "title": "Billing realization and that of peers",
            "columns": ("billing_realization", "peer_billing_realization"),
            "words": ["{billing_realization}"],
        },
        shows="utilization and, beside it, the utilization of the firm or of the person's role.",
        more="The text beside a row is its own utilization. If no row has a utilization, for example by client, the "
        "chart shows billing realization instead.",
    ),
    book=FromBook(
        ends_with_load=False,
        defaults={
            "as_of": BookArgument(
                lambda book, period: book._days.until_load(period, _FRAMES, "scorecard", argument="as_of").end,
                "By default, a book passes the last day of the period, or the day of the load if the period is not "
                "over on that day.",
            )
        },
    ),
    tab=TabSpec(
        place=7,
        title="Scorecard",
        by=("user", "role", "practice_area", "responsible"),
        tiles=("client_hours", "utilization", "billed_amount", "billing_realization"),
        order="client_hours",
        opens="client_hours",
        filters="matters",
        note=PARTIAL_HOURS,
    ),
)
