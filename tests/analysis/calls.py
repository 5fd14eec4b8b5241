"""A firm with all edge cases, and calls of every analysis that must return the same on all engines.

A new analysis needs a line in `CALLS`.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa

from billframes import FirmSettings
from billframes.analysis import (
    aging,
    billing_lag,
    bridge,
    budget_burn,
    cash_forecast,
    cash_forecast_record,
    code_check,
    compare,
    contribution,
    days_to_pay,
    duplicates,
    effective_rates,
    exposure,
    fees_collected,
    fixed_fee_realization,
    leverage,
    missing_time,
    new_business,
    overdue_invoices,
    prebill_review,
    profitability,
    realization,
    reconcile,
    scorecard,
    stale,
    tie_out,
    timekeeping_lag,
    utilization,
    wip,
    write_downs,
)
from billframes.ledger import read_ledger
from billframes.ledger.writing import write_report
from tests.forecast.firms import Habits, make_firm

__all__ = ["CALLS", "ENGINE_CALLS", "QUERIES", "edge_case_frames"]

Frames = dict[str, Any]

SETTINGS = FirmSettings(
    holidays=["2026-10-05"],
    user_hours={"u2": 4.0},
    leave={"u1": ["2026-10-06"]},
    targets={"u1": {"hours": 1800, "period": "year"}},
    standard_rates={"u1": {"2026-01-01": 380.0, "2026-10-06": 400.0}, "u2": 250.0},
    cost_rates={"u1": 150.0, "u2": 100.0, "u3": 60.0},
    budgets={"m1": 5000.0, "m2": 0.0, "m5": 400.0},
    originator_weights={"m5": {"u1": 0.25, "u2": 0.75}},
    time_zone="America/New_York",
)
TAXED = FirmSettings(
    taxes=[
        {"name": "HST", "rate": 0.13, "on": ["time", "expenses"], "end": "2026-10-06"},
        {"name": "HST", "rate": 0.15, "on": ["time"], "start": "2026-10-07", "except_clients": ["c2"]},
        {"name": "PST", "rate": 0.07, "on": ["fixed_fees"], "clients": ["c3"]},
    ],
    payment_order=("tax", "expenses", "fees"),
    budgets={"m1": 5000.0, "m5": 400.0},
)
UNKNOWN_NAMES = dataclasses.replace(SETTINGS, budgets={**SETTINGS.budgets, "m7": 100.0}, roles={"u8": "attorney"})


def edge_case_frames(firm: Any) -> Frames:
    """
    Return frames with missing ids, names, amounts and due dates, corrections, hidden rates, invoices of several matters
    and of fixed fees only, credit notes, prebills, and unknown ids.
    """
    return {
        "time_entries": firm.entries(
            ("2026-09-30", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
            ("2026-10-01", "u1", "c1", "m1", "billable", 3.0, 900.0, "i1"),
            ("2026-10-01", "u2", "c2", "m2", "billable", 1.5, 300.0, "i1"),
            ("2026-10-02", "u2", "c2", "m2", "billable", -0.5, -100.0, "i2"),
            ("2026-10-10", "u2", "c2", "m2", "billable", 4.0, None, "i2"),
            ("2026-10-12", "u1", "c3", "m3", "nonBillable", 2.0, None, None),
            ("2026-10-12", "u3", "c3", "m4", "nonBillable", 1.0, None, None),
            ("2026-10-13", "u9", "c3", "m5", "billable", 2.0, 500.0, "i3"),
            ("2026-10-14", "u1", "c3", "m5", "fixedFee", 3.0, None, "i3"),
            ("2026-10-15", "u1", "c1", "m1", "billable", 1.0, 300.0, None),
            ("2026-10-16", "u1", "c1", "m1", "billable", 1.0, 300.0, "lost"),
            ("2026-10-31", None, None, "m9", "billable", 1.0, 200.0, "i4"),
            ("2026-11-01", "u1", "c1", "m1", "billable", 8.0, 2400.0, None),
            **_more_columns(),
        ),
        "invoices": firm.invoices(
            ("i1", "2026-10-05", "final", "2026-11-04", "c1", 1700.0, 425.0),
            ("i2", "2026-10-06", "final", None, "c2", 1000.0, 1000.0),
            ("i3", "2026-10-20", "final", "2026-09-01", "c3", 450.0, 450.0),
            ("i4", "2026-10-31", "draft", None, None, 200.0, 200.0),
            ("i5", "2026-10-07", "final", "2026-10-07", "c1", -150.0, -150.0),
            ("i6", "2026-10-08", "final", "2026-06-01", "c3", 80.0, 80.0),
            ("i7", "2026-12-01", "final", "2026-12-31", "c3", 80.0, 80.0),
        ),
        "expenses": firm.items(
            ("m1", "u1", 100.0, "i1"),
            ("m2", None, 40.0, "i2"),
            ("m1", "u1", 10.0, None),
            date=["2026-09-30", "2026-10-01", "2026-10-02"],
            client_id=["c1", "c2", "c1"],
        ),
        "fixed_fees": firm.items(
            ("m5", None, 300.0, "i3"),
            ("m3", "u1", 80.0, "i6"),
            fixed_fee_id=["f1", "f2"],
            date=["2026-10-14", "2026-10-01"],
            client_id=["c3", "c3"],
        ),
        "matters": firm.matters(
            archived=[True, False, False, None, False],
            opened=["2026-01-01", None, None, None, None],
            client_id=["c1", "c2", "c3", "c3", "c3"],
            client_name=["Acme", "Acme", "Zenith", None, "Zenith"],
            ledes_enabled=[True, True, False, None, True],
            ledes_activity_code_required=[True, False, False, None, False],
            ledes_task_code_required=[True, True, False, None, False],
            ledes_expense_code_required=[True, False, False, None, False],
            ledes_code_set_ids=[["ACT", "LIT"], ["LIT", "LOST"], [], None, ["LIT"]],
        ),
        "users": firm.users(),
        "clients": firm.clients(),
        "codes": firm.frame(
            "code_type code code_set_id selectable",
            ("activity", "A101", "ACT", True),
            ("task", "L100", "LIT", False),
            ("task", "L110", "LIT", None),
            ("task", "P100", "PRJ", True),
        ),
        "code_sets": firm.frame("code_set_id label", ("ACT", "Activities"), ("LIT", "Litigation")),
        **{
            f"many_{name.removeprefix('time_')}": firm.make(
                _with_days(pa.Table.from_pandas(many_invoices()[name], preserve_index=False))
            )
            for name in ("invoices", "time_entries")
        },
    }


def _more_columns() -> dict[str, list[Any]]:
    """
    Return more columns of the entries: some were made late, early or at an unknown time, some occur twice, some have
    wrong codes, and some are under a fixed fee.
    """
    days = ["09-30", "10-02", "10-01", "10-12", "10-10", "10-13", None, "10-14", "10-14", "10-14", "10-17", "11-30"]
    created = [day and f"2026-{day}T03:30:00+00:00" for day in [*days, "11-01"]]
    none: list[str | None] = [None] * 13
    return {
        "time_entry_id": [f"t{number:02}" for number in range(13)],
        "created_at": created,
        "description": ["Call", "Brief", "brief.", "Call", None, "Call", "Call", None, None, "Call", "call!", "A", "B"],
        "activity_code": ["A101", None, "A999", "A101", *none[:5], "A101", "L110", None, "A101"],
        "task_code": ["L110", "L100", "L999", "P100", *none[:5], "L110", "", None, "L110"],
        "fixed_fee_id": [*none[:8], "f1", *none[:4]],
        "rate": [300.0, 300.0, 200.0, 200.0, None, None, None, 250.0, None, 300.0, 300.0, 200.0, 300.0],
    }


def call(function: Callable[..., Any], *frames: str, **options: Any) -> Callable[[Frames], Any]:
    """Return a call of an analysis with the frames of these names, by keyword, and these options."""

    def run(_function: Callable[..., Any], firm: Frames) -> Any:
        return function(**{name: firm[name] for name in frames}, **options)

    return functools.partial(run, function)


def call_forecast(function: Callable[..., Any], **options: Any) -> Callable[[Frames], Any]:
    """Return a call with a firm of four years, because a forecast needs 50 invoices a year."""
    made = many_invoices()
    days = {"as_of": made["as_of"], "since": made["since"], "receipts": made["receipts"]}
    return lambda firm: function(firm["many_invoices"], time_entries=firm["many_entries"], **days, **options)


def _with_days(table: pa.Table) -> pa.Table:
    """Convert times to days, because Spark takes times without a zone as instants."""
    kinds = [each.with_type(pa.date32()) if pa.types.is_timestamp(each.type) else each for each in table.schema]
    return table.cast(pa.schema(kinds))


@functools.cache
def many_invoices() -> Frames:
    """Return the frames of a made-up firm with enough invoices."""
    return make_firm(Habits(30, wait=6), 3).frames(300, 240)


def call_bridge(measure: str, keys: str, **options: Any) -> Callable[[Frames], Any]:
    """Return a call that compares the first six days of October with the rest of the year."""
    days = {"before": ("2026-10-01", "2026-10-06"), "after": ("2026-10-07", "2026-12-31")}

    def run(firm: Frames) -> Any:
        given = {name: firm[name] for name in WORK}
        results = {name: realization(**given, by=keys, start=start, end=end) for name, (start, end) in days.items()}
        return bridge(**results, measure=measure, **options)

    return run


def call_compare(
    function: Callable[..., Any], frames: tuple[str, ...], measure: str, by: str
) -> Callable[[Frames], Any]:
    """Return a call that compares three months of autumn."""
    months = ("2026-09", "2026-10", "2026-12")

    def run(firm: Frames) -> Any:
        given = {name: firm[name] for name in frames}
        return compare({month: function(**given, by=by, start=month) for month in months}, measure)

    return run


def ledger() -> Any:
    """Return a report of the books that agrees with one invoice, and differs from the others."""
    headings = ("Date", "Transaction type", "Num", "Due date", "Open balance")
    rows = [[dt.date(2026, 10, 5), "Invoice", "i1", dt.date(2026, 11, 4), 42_500]]
    groups = {"Acme": rows, "Zenith": [[dt.date(2026, 10, 20), "Payment", "7", None, -10_000]]}
    text = write_report("Open Invoices", "As of Oct 31, 2026", headings, groups, summed=("Open balance",))
    return read_ledger(text)


def payments_of(_: Frames | None) -> pd.DataFrame:
    """Return payments of some invoices, from a trust account, on no invoice, and a credit."""
    rows = [
        ("2026-10-20", "cash", "i1", 1000.0, 900.0, 100.0, 0.0, False),
        ("2026-11-02", "cash", "i1", 275.0, 275.0, 0.0, 0.0, True),
        ("2026-10-21", "credit", "i2", 100.0, 96.0, 4.0, 0.0, False),
        ("2026-10-22", "cash", None, 50.0, None, None, None, False),
    ]
    names = ["payment_date", "kind", "invoice_id", "amount", "fee_amount", "expense_amount", "tax_amount", "from_trust"]
    frame = pd.DataFrame(rows, columns=names)
    dates = pd.to_datetime(["2026-10-05", "2026-10-05", "2026-10-06", None])
    others = dict.fromkeys(("invoice_number", "customer", "matched_by", "reference", "account"))
    frame = frame.assign(
        invoice_date=dates, client_id=["c1", "c1", "c2", "c3"], client_name="Acme", ledger_row=1, **others
    )
    return frame.assign(payment_date=pd.to_datetime(frame["payment_date"]))


PEOPLE = ("matters", "users")
BILLS = ("invoices", "expenses", "fixed_fees")
# They take payments or the firm's books, which no loader returns.
OF_LEDGERS = ("fees_collected", "days_to_pay", "tie_out")
ITEMS = ("time_entries", *BILLS)
WORK = (*ITEMS, *PEOPLE)

# Every analysis with `by`, to group by a custom field of clients.
BY_CLIENT: tuple[tuple[Callable[..., Any], tuple[str, ...], dict[str, Any]], ...] = (
    *((each, WORK, {}) for each in (realization, contribution, effective_rates, profitability)),
    (write_downs, WORK, {}),
    (new_business, WORK, {"start": "2026-10"}),
    (reconcile, ITEMS, {}),
    *((each, WORK, {"as_of": "2026-11-15"}) for each in (aging, wip, exposure)),
    *((each, ("time_entries", *PEOPLE), {"start": "2026-10"}) for each in (utilization, leverage)),
    (timekeeping_lag, ("time_entries", *PEOPLE), {}),
    (billing_lag, ("time_entries", "invoices", *PEOPLE), {}),
    (fixed_fee_realization, ("time_entries", "fixed_fees", *PEOPLE), {}),
)

# Each key occurs in some call, and each analysis is called without keys and with several.
CALLS: dict[str, Callable[[Frames], Any]] = {
    "utilization by user": call(utilization, "time_entries", *PEOPLE, start="2026-10", settings=SETTINGS),
    "utilization by role and month": call(
        utilization, "time_entries", *PEOPLE, start="2026-09-30", end="2026-11-01", by=["role", "month"]
    ),
    "utilization of the firm": call(utilization, "time_entries", *PEOPLE, start="2026-10", by=None),
    "utilization by client": call(
        utilization, "time_entries", *PEOPLE, start="2026-10", by="client", roster="active", include_probono=True
    ),
    "realization by originator": call(
        realization, *WORK, start="2026-10", by="originator", matter_types=["hourly", "contingency"], settings=SETTINGS
    ),
    "realization by client and month": call(realization, *WORK, by=["client", "month"], settings=SETTINGS),
    "realization by fiscal quarter": call(
        realization, *WORK, by="fiscal_quarter", settings=FirmSettings(fiscal_year_start="04-06")
    ),
    "realization by work date": call(realization, *WORK, by="matter", basis="work_date", start="2026-10"),
    "realization of the firm": call(realization, *WORK, basis="work_date"),
    "realization of what is due": call(realization, *WORK, by="matter", discounts="items", as_of="2026-11-10"),
    "realization of due work": call(realization, *WORK, basis="work_date", discounts="items", as_of="2026-11-10"),
    "realization with tax": call(realization, *WORK, by=["matter", "user"], settings=TAXED, discounts="items"),
    "fees with tax": call(contribution, *WORK, by=["matter", "month"], settings=TAXED),
    "aging with tax": call(aging, *WORK, as_of="2026-11-15", by=["matter", "user"], settings=TAXED),
    "reconcile with tax": call(reconcile, *ITEMS, settings=TAXED),
    "budgets with tax": call(budget_burn, *ITEMS, "matters", settings=TAXED),
    "aging by client": call(aging, "invoices", as_of="2026-11-15", by="client"),
    "aging by matter and user": call(aging, *WORK, as_of="2026-11-15", by=["matter", "user"]),
    "aging by practice area": call(aging, *WORK, as_of="2026-11-15", by=["practice_area", "quarter"]),
    "aging by invoice date": call(aging, "invoices", as_of="2026-11-15", basis="invoice_date"),
    "wip by originator": call(wip, *WORK, as_of="2026-10-31", by="originator", settings=SETTINGS),
    "wip of some matter types": call(
        wip, *WORK, as_of="2026-10-31", by="user", matter_types=["hourly", "contingency", "internal"]
    ),
    "wip by client and month": call(wip, *WORK, as_of="2026-11-01", by=["client", "month"], include_prebill=False),
    "tie-out": lambda firm: tie_out(firm["invoices"], ledger=ledger(), as_of="2026-10-31"),
    "tie-out by reason": lambda firm: tie_out(firm["invoices"], ledger=ledger(), as_of="2026-10-31", by="reason"),
    **{
        f"fees collected by {key or 'nothing'}": call(fees_collected, *WORK, payments=payments_of(None), by=key)
        for key in (None, "user", "client", "month", "originator")
    },
    "cash forecast": call_forecast(cash_forecast),
    "cash forecast by client": call_forecast(cash_forecast, by="client", horizons="months"),
    "cash forecast by invoice": call_forecast(cash_forecast, by="invoice", horizons=(8,)),
    "record of forecasts": call_forecast(cash_forecast_record),
    "days to pay": call(days_to_pay, "invoices", payments=payments_of(None), by=None),
    "realization with payments": call(realization, *WORK, payments=payments_of(None), by="matter"),
    "reconcile": call(reconcile, *ITEMS),
    "reconcile by month and state": call(reconcile, *ITEMS, by=["month", "invoice_state"], start="2026-10"),
    "write-downs by responsible": call(write_downs, *WORK, start="2026-10"),
    "write-downs by size and originator": call(write_downs, *WORK, by=["size", "originator"], settings=SETTINGS),
    "write-downs of the firm": call(write_downs, *WORK, by=None, matter_types=["hourly"]),
    "prebill review": call(
        prebill_review, *ITEMS, "matters", "codes", "code_sets", as_of="2026-11-15", hours_per_day=0.5
    ),
    "prebill review of a lawyer": call(prebill_review, *ITEMS, "matters", responsible="ada", settings=SETTINGS),
    "overdue_invoices": call(overdue_invoices, *ITEMS, "matters", as_of="2026-11-15"),
    "stale": call(stale, *ITEMS, "matters", "users", as_of="2026-11-15", wip_days=20, idle_days=30, settings=SETTINGS),
    "new business by practice area": call(new_business, *WORK, start="2026-10", settings=SETTINGS, largest=2),
    "new business by originator": call(
        new_business, *WORK, by="originator", start="2027-09-01", end="2027-12-31", settings=SETTINGS, largest=1
    ),
    "new business by client": call(new_business, *WORK, by="client", start="2027-09-01", end="2027-10-12"),
    "new business of the firm": call(new_business, *WORK, by=None, start="2027-09-01", end="2027-10-12"),
    "contribution by client": call(contribution, *WORK, settings=SETTINGS),
    "contribution by role and quarter": call(contribution, *WORK, by=["role", "quarter"], start="2026-10"),
    "contribution by originator": call(contribution, *WORK, by="originator", start="2026-10", settings=SETTINGS),
    "contribution by originator and client": call(contribution, *WORK, by=["originator", "client"]),
    "effective rates by user": call(effective_rates, *WORK, settings=SETTINGS),
    "rates of years by user": call(effective_rates, *WORK, by=["user", "year"], settings=SETTINGS),
    "rates of years by originator": call(effective_rates, *WORK, by=["originator", "year"], basis="work_date"),
    "budget burn": call(budget_burn, *ITEMS, "matters", settings=UNKNOWN_NAMES),
    "utilization with unknown names": call(
        utilization, "time_entries", *PEOPLE, start="2026-10", settings=UNKNOWN_NAMES
    ),
    "budget burn without matters": call(budget_burn, *ITEMS, settings=SETTINGS),
    "leverage of the firm": call(leverage, "time_entries", *PEOPLE, start="2026-10"),
    "leverage by practice area": call(leverage, "time_entries", *PEOPLE, start="2026-10", by="practice_area"),
    "fixed-fee realization by user": call(
        fixed_fee_realization, "time_entries", "fixed_fees", *PEOPLE, by="user", start="2026-10", settings=SETTINGS
    ),
    "profitability by user": call(profitability, *WORK, by="user", start="2026-10", settings=SETTINGS),
    "profitability by month": call(profitability, *WORK, by="month", basis="work_date", settings=SETTINGS),
    "bridge of realization by client": call_bridge("billing_realization", "client"),
    "bridge of the fees by user": call_bridge("billed_amount", "user"),
    "bridge of the firm's rate": call_bridge("effective_rate", "practice_area", by=[]),
    "exposure by client": call(exposure, *WORK, as_of="2026-11-15"),
    "exposure by matter and role": call(exposure, *WORK, as_of="2026-10-31", by=["matter", "role"]),
    "exposure of the firm": call(exposure, *WORK, as_of="2026-10-31", by=None),
    "scorecard by user": call(scorecard, *WORK, start="2026-10", settings=SETTINGS),
    "scorecard beside the role": call(scorecard, *WORK, start="2026-10", by="user", beside="role", as_of="2026-11-15"),
    "scorecard by client": call(scorecard, *WORK, start="2026-10", by="client"),
    "scorecard of the firm": call(scorecard, *WORK, start="2026-10", by=None, as_of="2026-10-20"),
    "comparison of realization by user": call_compare(realization, WORK, "billing_realization", "user"),
    "comparison of the hours by client": call_compare(utilization, ("time_entries", *PEOPLE), "client_hours", "client"),
    "billing lag by client": call(billing_lag, "time_entries", "invoices", *PEOPLE, by="client"),
    "timekeeping lag by user": call(timekeeping_lag, "time_entries", *PEOPLE, settings=SETTINGS),
    "timekeeping lag by originator": call(timekeeping_lag, "time_entries", *PEOPLE, by="originator"),
    "missing time": call(
        missing_time, "time_entries", *PEOPLE, start="2026-10-01", end="2026-10-09", settings=SETTINGS
    ),
    **{
        f"{function.__name__} by industry": call(
            function, *frames, "clients", by=["client_cf_industry", "client"], **more
        )
        for function, frames, more in BY_CLIENT
    },
    "duplicates": call(duplicates, "time_entries", by=["user", "matter", "description"]),
    "no duplicates": call(duplicates, "time_entries"),
    "code check": call(code_check, "time_entries", "matters", "codes", "code_sets"),
}

# They cover the facts and the kinds of keys. Engines other than pandas and Polars make only these, because all analyses
# are made of the same facts, keys and sums.
ENGINE_CALLS = (
    *("utilization by role and month", "realization by originator", "realization with tax", "aging by matter and user"),
    *("wip by originator", "reconcile", "write-downs by size and originator", "new business by originator"),
    *("contribution by client", "effective rates by user", "budget burn", "billing lag by client", "stale"),
    *("missing time", "profitability by user", "realization by industry", "timekeeping lag by user", "duplicates"),
)

# The number of queries of a call on lazy frames, each of which collects counts or sums. Calls that are not listed
# collect more rows, as their documentation says.
QUERIES = {
    "utilization by role and month": 6,
    "realization by originator": 8,
    "realization by industry": 6,
    "aging by matter and user": 9,
    "wip by originator": 10,
    "reconcile": 4,
    "billing lag by client": 5,
    "effective rates by user": 7,
}
