"""New business: matters opened, fees of new clients, clients without work, and the share of the largest clients.

New clients and clients without work are those of the twelve months up to the period's last day. Fees are those of the
period and of the same period a year before, calculated as in `contribution`. The new clients and the largest clients
are the same in every row, so all amounts add up. Clients can be counted only if each client is in one row; by other
keys these counts are missing.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes.analysis.data.arguments import read_whole_number
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, collect_values, sum_by, to_dicts
from billframes.analysis.data.expressions import (
    RESIDUE,
    C,
    as_day,
    as_float,
    is_in_period,
    midnight,
    null_column,
    or_nan,
    value_if,
)
from billframes.analysis.data.sheet import sheet
from billframes.analysis.declare.columns import Frame
from billframes.analysis.declare.metrics import Measure, money, ratio_measure, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.facts.client_days import client_days
from billframes.analysis.keys.by import By
from billframes.analysis.keys.formulas import with_formulas
from billframes.analysis.keys.groupby import Keys, Sum
from billframes.analysis.keys.key_columns import as_text
from billframes.analysis.rules.fees import all_fees
from billframes.analysis.rules.loads import need_all_dates, need_period, need_work_on_invoices, note_unfinished_period
from billframes.analysis.rules.periods import NEW_CLIENTS
from billframes.errors import ParameterError
from billframes.loading.load_info import load_info
from billframes.periods import DateLike, Period, shift_days

_ONE = nw.lit(1.0)
_MATTER_COUNTS = ("opened_matters", "undated_matters")
_FEES = ("fees_amount", "fees_before_amount")
_OF_CLIENTS = ("new_client_amount", "largest_amount", "largest_before_amount")
_CLIENT_COUNTS = ("new_clients", "dormant_clients")
_DATES = ("client_since", "last_work_date")
_SUMS = (*_MATTER_COUNTS, *_FEES, *_OF_CLIENTS, *_CLIENT_COUNTS)


@sheet("time_entries", "expenses?", "fixed_fees?", "invoices", "matters", "users?", "clients?")
def new_business(
    call: Call, *, start: DateLike, end: DateLike | None = None, by: By = "practice_area", largest: int = 10
) -> Frame:
    """
    Matters opened, fees of new clients, clients without work, and the share of the largest clients.

    A client is new if its first matter, work or invoice is in the twelve months up to `end`. The largest clients are
    the clients of the firm with the highest fees above 0 in the period; for the year before, those with the highest
    fees then. Fees are calculated as in `contribution`, for matters of every type.

    Parameters
    ----------
    time_entries : frame
        All of them, with `date`, `client_id`, `matter_id`, `hours`, `billing_type`, `amount` and `invoice_id`, and the
        columns that `by` needs.
    invoices : frame
        All of them, with `invoice_id`, `invoice_date`, `invoice_state`, `client_id`, `amount` and `balance`.
    matters : frame
        All of them, archived ones too, with `matter_id`, `client_id`, `opened` and the columns that `by` names;
        `client_name` for labels.
    largest : int
        The number of clients that count as the largest.

    Examples
    --------
    >>> entries = pd.DataFrame({
    ...     "date": pd.to_datetime(["2024-05-02", "2026-10-02", "2026-10-05"]), "client_id": ["c1", "c1", "c2"],
    ...     "matter_id": ["m1", "m1", "m2"], "hours": [3.0, 2.0, 1.0], "billing_type": ["billable"] * 3,
    ...     "amount": [900.0, 600.0, 200.0], "invoice_id": [None, "i1", "i2"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1", "i2"], "invoice_date": pd.to_datetime(["2026-10-30", "2026-10-31"]),
    ...     "invoice_state": ["final"] * 2, "client_id": ["c1", "c2"], "amount": [600.0, 200.0], "balance": [0.0, 0.0],
    ... })
    >>> matters = pd.DataFrame({
    ...     "matter_id": ["m1", "m2"], "name": ["Sale", "Lease"], "client_id": ["c1", "c2"],
    ...     "client_name": ["Acme", "Zenith"], "opened": pd.to_datetime(["2024-05-01", "2026-10-01"]),
    ... })
    >>> none = pd.DataFrame(columns=["invoice_id", "client_id", "matter_id", "amount"])
    >>> result = new_business(
    ...     entries, expenses=none, fixed_fees=none, invoices=invoices, matters=matters, start="2026-10", by=None,
    ...     largest=1,
    ... )
    >>> result[["opened_matters", "fees_amount", "new_client_share", "largest_share", "new_clients"]]
       opened_matters  fees_amount  new_client_share  largest_share  new_clients
    0             1.0        800.0              0.25           0.75          1.0
    """
    read_whole_number(largest, "largest", "clients")
    spans = _Spans.of(*call.bounded_period(start, end))
    call.period(spans.period.start, spans.period.end)
    keys = Keys.of(call, by, (), columns=[*call.columns("matters"), "user_id"])
    _refuse_people_and_periods(by, keys)
    _need_history(call, spans)
    so = "the fees of a part of the period are compared with those of the whole period a year before"
    advice = f"Pass start='{spans.period.start}' and end='{{day}}'."
    note_unfinished_period(call, spans.last, call.settings, so, advice)
    clients = _clients(call, spans)
    fees = _fees(call, Keys.of(call, by), spans, clients, largest)
    _note_short_history(call, clients, spans)
    parts = [_matters_opened(call, keys, spans.period), fees, *_client_counts(call, by, keys, clients)]
    return _result(keys.combine(parts, _SUMS, _DATES), keys)


@dataclass(frozen=True, slots=True)
class _Spans:
    """A period, the same a year before, and the first and last day of the twelve months up to the period's end."""

    period: Period
    before: Period
    year_start: dt.date
    last: dt.date

    @classmethod
    def of(cls, first: dt.date, last: dt.date) -> _Spans:
        """Return the periods to compare with the days from `first` to `last`."""
        # Counted from the day after the last day, so that the twelve months are whole also if they end in February.
        ends_year = (last.month, last.day) == (12, 31)
        year_start = last.replace(month=1, day=1) if ends_year else _year_before(last + dt.timedelta(days=1))
        before = Period(_year_before(first), shift_days(year_start, -1))
        return cls(Period(first, last), before, year_start, last)


def _year_before(day: dt.date) -> dt.date:
    """Return the same day a year before, or the first day of the calendar; for 29 February, 1 March."""
    if day.year == dt.MINYEAR:
        return dt.date.min
    return dt.date(day.year - 1, 3, 1) if (day.month, day.day) == (2, 29) else day.replace(year=day.year - 1)


def _refuse_people_and_periods(by: By, keys: Keys) -> None:
    if keys.times or "user_id" in keys.base:
        raise ParameterError(
            f"by={by!r} has a key of people or a period, which matters opened and new clients do not have. It takes "
            "keys of matters or clients, such as 'practice_area', 'originator' or 'client'. For another period, pass "
            "start= and end=."
        )


def _need_history(call: Call, spans: _Spans) -> None:
    """Refuse loads without the year before, or in which all clients would look new."""
    need_period(call, ("time_entries",), Period(_year_before(spans.year_start), spans.last))
    need_work_on_invoices(call, Period(spans.before.start, spans.period.end))
    need_all_dates(call, ("time_entries", "matters"))


def _clients(call: Call, spans: _Spans) -> Frame:
    """Return the first day and the last work of each client, and whether it is new or without work."""
    past = C("is_work") & (C("day") <= midnight(spans.last))
    days = call.fact(client_days).with_columns(worked=nw.when(past).then(C("day")))
    rows = days.group_by("client_id").agg(client_since=C("day").min(), last_work_date=C("worked").max())
    new = is_in_period("client_since", Period(spans.year_start, spans.last))
    dormant = C("last_work_date") < midnight(spans.year_start)
    return as_text(collect(rows)).with_columns(new_clients=as_float(new), dormant_clients=as_float(dormant))


def _fees(call: Call, keys: Keys, spans: _Spans, clients: Frame, largest: int) -> Frame:
    periods = (spans.period, spans.before)
    sums = [
        Sum(name, C("fees") + C("amount"), is_in_period("invoice_date", period))
        for name, period in zip(_FEES, periods, strict=True)
    ]
    totals = all_fees(call, keys, *periods, sums=sums, more=("client_id",))
    new = [row["client_id"] for row in to_dicts(clients.filter(C("new_clients") > 0).select("client_id"))]
    of_clients = (
        _of_clients(new, _FEES[0]),
        _of_largest(totals.rows, _FEES[0], largest),
        _of_largest(totals.rows, _FEES[1], largest),
    )
    totals = totals.with_sums([Sum(name, of) for name, of in zip(_OF_CLIENTS, of_clients, strict=True)])
    return keys.finish(totals, (*_FEES, *_OF_CLIENTS))


def _of_largest(rows: Frame, amount: str, largest: int) -> nw.Expr:
    """Return the fees of the largest clients; missing if the fees of any client are unknown."""
    known = sum_by(rows.filter(~C("client_id").is_null()), ["client_id"], [amount])
    fees = {row["client_id"]: or_nan(row[amount]) for row in to_dicts(known)}
    if any(each != each for each in fees.values()):
        return nw.lit(float("nan"))
    # Rounded, so that equal fees are ranked by id on every engine. A client with only credits is not large.
    ranked = sorted(fees, key=lambda client: (-round(fees[client], 6), client))
    return _of_clients([client for client in ranked if fees[client] > RESIDUE][:largest], amount)


def _of_clients(clients: Collection[str], amount: str) -> nw.Expr:
    return value_if(C("client_id").is_in(list(clients)), amount) if clients else nw.lit(0.0)


def _matters_opened(call: Call, keys: Keys, period: Period) -> Frame:
    rows = call.select("matters", ("matter_id", "opened", *keys.base))
    sums = [
        Sum("opened_matters", _ONE, is_in_period("opened", period)),
        Sum("undated_matters", _ONE, C("opened").is_null()),
    ]
    return keys.finish(keys.sum(rows, sums), _MATTER_COUNTS)


def _client_counts(call: Call, by: By, keys: Keys, clients: Frame) -> Iterator[Frame]:
    """Count the clients that are new or without work, if each client is in one row."""
    if _has_client_keys_only(keys):
        dates = _DATES if "client_id" in keys.columns else ()
        own = Keys.of(call, by, (), columns=("client_id",))
        yield own.finish(own.listed(clients, _CLIENT_COUNTS, dates), (*_CLIENT_COUNTS, *dates))


def _has_client_keys_only(keys: Keys) -> bool:
    return {*keys.base} <= {"client_id"}


def _note_short_history(call: Call, clients: Frame, spans: _Spans) -> None:
    """Note that no record is older than twelve months."""
    first = as_day(collect_values((clients, {"first": C("client_since").min()}))["first"])
    loads = [load_info(call.natives[name]) for name in ("time_entries", "invoices", "matters")]
    whole = all(info is not None and info.start is None for info in loads)
    if first is not None and first >= spans.year_start and not whole:
        call.notes.add(NEW_CLIENTS, len(clients.to_native()), first=first, last=spans.last)


def _result(totals: Frame, keys: Keys) -> Frame:
    unknown = {} if _has_client_keys_only(keys) else dict.fromkeys(_CLIENT_COUNTS, null_column(nw.Float64))
    rows = with_formulas(totals.with_columns(**unknown), ANALYSIS.measure_names)
    # By key, the largest clients of both periods can be in different rows.
    change = null_column(nw.Float64) if keys.keys else C("largest_share") - C("largest_share_before")
    return keys.labelled(rows.with_columns(largest_share_change=change), ANALYSIS.measure_names, named=True)


ANALYSIS = Analysis(
    function=new_business,
    by_period=False,
    question="Where does new business come from, and how much do we depend on our largest clients?",
    summary=(
        "It counts the matters opened, and shows the share of the fees from clients that are new within twelve months. "
        "It also counts clients without work for twelve months, and shows the share of the largest clients in the "
        "fees, compared with the year before."
    ),
    example=(
        "Acme, a client since 2024, is billed 600 in October. Zenith, whose first matter was opened in October, is "
        "billed 200. New clients have 25% of the fees, and the largest client has 75%."
    ),
    formula="fees of new clients ÷ fees; fees of the largest clients ÷ fees",
    numerator="fees, as in contribution, of the new clients, or of the firm's largest clients (10, or "
    "the number in `largest`)",
    denominator="net billed time fees and fixed fees on final invoices dated in the period",
    left_out=(
        "Expenses: they are not fees.",
        "Matters without a date in `opened`: they are counted in `undated_matters`.",
        "Fees without a client, in the numerators only: they are part of all fees.",
    ),
    cannot_tell=(
        "Whether several clients belong together: each client record counts separately.",
        "The first day of a client whose matters have no date in `opened`: the first work or invoice counts.",
        "The originator or practice area when a matter was opened: the present ones count.",
        "Whether a client without work has left.",
    ),
    arguments={
        "by": 'Keys of matters and clients, such as "practice_area", "originator" or "client".',
        "start": "Matters count by the day they were opened, and fees by the invoice date.",
        "settings": "`originator_weights` also divide the number of matters opened.",
    },
    columns=(
        sum_measure("opened_matters", "Matters opened", "count", "Matters opened in the period; parts by originator."),
        sum_measure(
            "undated_matters",
            "Matters without opening date",
            "count",
            "Matters without the day on which they were opened.",
        ),
        *shared_measures("fees_amount"),
        money(
            "new_client_amount",
            "Fees of new clients",
            "Fees of clients whose first matter, work or invoice is within twelve months.",
        ),
        ratio_measure("new_client_share", "Share of new clients", "new_client_amount / fees_amount"),
        money("largest_amount", "Fees of the largest clients", "Fees of the firm’s largest clients of the period."),
        ratio_measure("largest_share", "Share of the largest clients", "largest_amount / fees_amount"),
        money("fees_before_amount", "All fees a year before", "All fees of the period a year before."),
        money(
            "largest_before_amount",
            "Fees of the largest clients a year before",
            "Fees of the clients that were the firm’s largest a year before.",
        ),
        ratio_measure(
            "largest_share_before",
            "Share of the largest clients a year before",
            "largest_before_amount / fees_before_amount",
        ),
        Measure(
            "largest_share_change",
            "Change in the share of the largest clients",
            "points",
            "Share of the largest clients − their share a year before; only for the whole firm.",
        ),
        sum_measure("new_clients", "New clients", "count", "Clients that are new within twelve months."),
        sum_measure(
            "dormant_clients", "Clients without work", "count", "Clients with earlier work, but none for twelve months."
        ),
        Measure("client_since", "Client since", "date", "First matter, work or invoice of the client."),
        *shared_measures("last_work_date"),
    ),
    table=TableSpec(
        title="New business",
        columns=(
            *("opened_matters", "undated_matters", "fees_amount", "new_client_amount", "new_client_share"),
            *("largest_amount", "largest_share", "largest_share_change", "new_clients", "dormant_clients"),
        ),
        brief=("opened_matters", "fees_amount", "new_client_share", "largest_share", "largest_share_change"),
        # By practice area and similar keys, these are missing in all rows.
        optional=("largest_share_change", "new_clients", "dormant_clients"),
    ),
    chart=ChartSpec(
        kind="bars",
        title="All fees, and those of new clients",
        columns=("fees_amount", "new_client_amount"),
        words=["{new_client_share}", "{opened_matters} opened"],
        shows="the fees of new clients (dark) on all fees (pale).",
        more="The text beside a bar is the share of new clients or, without fees, the number of matters opened.",
    ),
    book=FromBook(),
)
