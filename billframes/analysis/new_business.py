"""New business: matters opened, fees of new clients, clients without work, and the share of the largest clients.

New clients and clients without work are those of the twelve months up to the period's last day. Fees are those of the
period and of the same period a year before, calculated as in `contribution`. The new clients and the largest clients
are the same in every row, so all amounts add up. Clients can be counted only if each client is in one row; by other
keys these counts are missing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes.analysis.activity import (
    ClientDays,
    NewBusinessPeriods,
    days_of_clients,
    need_days_of_clients,
    note_short_history,
    table_of_clients,
)
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.metrics import Measure, money, ratio_measure, shared_measures, sum_measure
from billframes.analysis.declare.spec import Analysis, ChartSpec, FromBook, TableSpec
from billframes.analysis.frames.engine import from_arrow, sum_by, to_dicts
from billframes.analysis.frames.expressions import RESIDUE, as_float, is_in_period, null_column, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.arguments import read_whole_number
from billframes.analysis.model.billed_work import FACT
from billframes.analysis.model.billed_work_choice import BilledWork, is_in_nth
from billframes.analysis.model.formulas import with_formulas
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By, names_in
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.loads import note_unfinished_period
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period

C = nw.col

_MATTER_COUNTS = ("opened_matters", "undated_matters")
_FEES = ("fees_amount", "fees_before_amount")
_OF_CLIENTS = ("new_client_amount", "largest_amount", "largest_before_amount")
_CLIENT_COUNTS = ("new_clients", "dormant_clients")
_DATES = ("client_since", "last_work_date")
_SUMS = (*_MATTER_COUNTS, *_FEES, *_OF_CLIENTS, *_CLIENT_COUNTS)


def new_business(
    time_entries: IntoFrameT,
    *,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    invoices: IntoFrameT,
    matters: IntoFrameT,
    users: IntoFrameT | None = None,
    clients: IntoFrameT | None = None,
    start: DateLike,
    end: DateLike | None = None,
    by: By = "practice_area",
    largest: int = 10,
    settings: FirmSettings | None = None,
) -> IntoFrameT:
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
    expenses, fixed_fees : frame, optional
        With None, no rows count, with a warning. If the firm has none, pass an empty frame.
    invoices : frame
        All of them, with `invoice_id`, `invoice_date`, `invoice_state`, `client_id`, `amount` and `balance`.
    matters : frame
        All of them, archived ones too, with `matter_id`, `client_id`, `opened` and the columns that `by` names;
        `client_name` for labels.
    users, clients : frame, optional
        For the columns that `by` names, matter types and roles.
    start, end : str or date
        First and last day, inclusive, or a period such as "2026-Q3" as `start`. Matters count by the day they were
        opened, and fees by the invoice date.
    by : str or list of str, optional
        Keys to group by; None gives one row. Keys of matters and clients, such as "practice_area", "originator" or
        "client".
    largest : int
        The number of clients that count as the largest.
    settings : FirmSettings, optional
        The firm's settings. `originator_weights` also divide the number of matters opened.

    Returns
    -------
    frame
        Of the kind of the input, sorted by label: the keys, then `opened_matters`, `undated_matters`, `fees_amount`,
        `new_client_amount`, `new_client_share`, `largest_amount`, `largest_share`, `fees_before_amount`,
        `largest_before_amount`, `largest_share_before`, `largest_share_change`, `new_clients`, `dormant_clients`,
        `client_since`, `last_work_date`. `bf.explain("new_business")` says what each is.

    Raises
    ------
    MissingColumnError, ParameterError
        A frame lacks a column, or an argument or a frame is not valid. Doubtful data give warnings, also kept as notes.

    Examples
    --------
    Acme has been a client since 2024; Zenith's first matter was opened in October 2026:

    >>> import pandas as pd
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
    frames = Frames.of("new_business", locals())
    spans = NewBusinessPeriods.of(*frames.bounded_period(start, end, settings))
    of_matters = Grouping.of(by, frames, settings, {*column_names(frames["matters"]), "user_id"})
    _refuse_people_and_periods(by, of_matters)
    need_days_of_clients(frames, spans)
    consequence = "the fees of a part of the period are compared with those of the whole period a year before"
    advice = f"Pass start='{spans.period.start}' and end='{{day}}'."
    note_unfinished_period(frames, spans.last, of_matters.settings, consequence, advice)
    known = days_of_clients(frames, spans)
    fees = _fees(spans, by, known, largest, of_matters)
    note_short_history(frames, known, spans)
    parts = [
        _matters_opened(frames, of_matters, spans.period),
        fees,
        *_client_counts(frames, by, of_matters, known, spans),
    ]
    totals = of_matters.combine(parts, _SUMS, _DATES)
    return frames.to_native(_result(totals, of_matters), time_entries, spans.period, settings)


def _refuse_people_and_periods(by: By, grouping: Grouping) -> None:
    if grouping.times or "user_id" in grouping.base:
        raise ParameterError(
            f"by={by!r} has a key of people or a period, which matters opened and new clients do not have. It takes "
            "keys of matters or clients, such as 'practice_area', 'originator' or 'client'. For another period, pass "
            "start= and end=."
        )


def _fees(
    spans: NewBusinessPeriods, by: By, known: Mapping[str, ClientDays], largest: int, grouping: Grouping
) -> Frame:
    frames = grouping.sources.frames
    of_clients = FACT.grouping([*names_in(by), "client"], frames, grouping.settings)
    work = BilledWork(grouping=of_clients, periods=(spans.period, spans.before))
    sums = [Sum(name, C("_fees") + C("_fixed"), is_in_nth(nth, work)) for nth, name in enumerate(_FEES)]
    rows = add_up(FACT.rows(frames, work), sums, of_clients, _FEES)
    new = [client for client, days in known.items() if days.is_new(spans)]
    return rows.with_columns(
        new_client_amount=_of_clients(new, _FEES[0]),
        largest_amount=_of_largest(rows, _FEES[0], largest),
        largest_before_amount=_of_largest(rows, _FEES[1], largest),
    )


def _of_largest(rows: Frame, amount: str, largest: int) -> nw.Expr:
    """Return the fees of the largest clients; missing if the fees of any client are unknown."""
    of_clients = rows.filter(~C("client_id").is_null()).with_columns(C(amount).fill_null(math.nan))
    sums = {row["client_id"]: row[amount] for row in to_dicts(sum_by(of_clients, ["client_id"], [amount]))}
    if any(math.isnan(each) for each in sums.values()):
        return nw.lit(math.nan)
    # Rounded, so that equal fees are ranked by id on every engine. A client with only credits is not large.
    ranked = sorted(sums, key=lambda client: (-round(sums[client], 6), client))
    return _of_clients([client for client in ranked if sums[client] > RESIDUE][:largest], amount)


def _of_clients(clients: Collection[str], amount: str) -> nw.Expr:
    return value_if(C("client_id").is_in(list(clients)), amount) if clients else nw.lit(0.0)


def _matters_opened(frames: Frames, grouping: Grouping, period: Period) -> Frame:
    rows = frames.select("matters", ("matter_id", "opened", *grouping.row_columns))
    counted = rows.with_columns(
        opened_matters=as_float(is_in_period("opened", period)), undated_matters=as_float(C("opened").is_null())
    )
    return grouping.finish(grouping.add_up(counted, _MATTER_COUNTS), _MATTER_COUNTS)


def _client_counts(
    frames: Frames, by: By, grouping: Grouping, known: Mapping[str, ClientDays], spans: NewBusinessPeriods
) -> Iterable[Frame]:
    """Count the clients that are new or without work, if each client is in one row."""
    if not _has_client_keys_only(grouping):
        return
    rows = from_arrow(frames["time_entries"], table_of_clients(known, spans))
    own = Grouping.of(by, frames, grouping.settings, ("client_id",))
    dates = _DATES if "client_id" in grouping.columns else ()
    yield own.finish(own.add_up(rows, _CLIENT_COUNTS, greatest=dates), (*_CLIENT_COUNTS, *dates))


def _has_client_keys_only(grouping: Grouping) -> bool:
    return set(grouping.base) <= {"client_id", "client_name"}


def _result(totals: Frame, grouping: Grouping) -> Frame:
    unknown = {} if _has_client_keys_only(grouping) else dict.fromkeys(_CLIENT_COUNTS, null_column(nw.Float64))
    totals = with_formulas(totals.with_columns(**unknown), ANALYSIS.measure_names)
    # By key, the largest clients of both periods can be in different rows.
    change = null_column(nw.Float64) if grouping.keys else C("largest_share") - C("largest_share_before")
    totals = totals.with_columns(largest_share_change=change)
    return grouping.finish(totals, ANALYSIS.measure_names)


ANALYSIS = Analysis(
    name="new_business",
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
    numerator="fees, as in contribution and origination, of the new clients, or of the firm's largest clients (10, or "
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
        example={
            "practice_area_label": ["Corporate", "Litigation"],
            "opened_matters": [3.0, 1.0],
            "fees_amount": [1000.0, 0.0],
            "new_client_amount": [250.0, 0.0],
            "new_client_share": [0.25, None],
        },
        gives=(["25.0%", "1 opened"], "All fees, and those of new clients by practice area"),
    ),
    book=FromBook(),
)
