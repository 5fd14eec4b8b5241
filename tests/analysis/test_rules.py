"""Each rule gives its note for a mistake, with its sentence, and not for the same call of a legitimate firm.

`MISTAKES` has, by the name of the rule, a change of a small firm's frames, the call that it spoils, and a part of the
sentence. Rules of columns are checked on every engine by `test_false_notes`, which also sends all firms of `tests.firms`
through all analyses.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import pytest

import billframes as bf
from billframes import FirmSettings, analysis
from billframes._notes import RULES
from billframes.loading.load_info import attach_load_info
from tests.analysis.conftest import ENGINES
from tests.analysis.test_false_notes import MISTAKES as OF_COLUMNS, entries, invoices
from tests.firms import CALLS, MONEY, PEOPLE, Tables, add, change, keep, make_firm, on

Firm = Mapping[str, Any]
YEAR = {"start": "2026-01-01", "end": "2026-10-31"}


def call(name: str, *frames: str, **options: Any) -> Callable[[Firm], Any]:
    function = getattr(analysis, name)
    return lambda firm: function(**{each: firm[each] for each in frames if each in firm}, **options)


def utilization(**options: Any) -> Callable[[Firm], Any]:
    return call("utilization", "time_entries", *PEOPLE, **{"start": "2026-10", **options})


def realization(**options: Any) -> Callable[[Firm], Any]:
    return call("realization", *MONEY, *PEOPLE, **YEAR, **options)


def aging(**options: Any) -> Callable[[Firm], Any]:
    return call("aging", "invoices", **{"as_of": "2026-10-31", **options})


def burn(**options: Any) -> Callable[[Firm], Any]:
    return call("budget_burn", *MONEY, settings=FirmSettings(**options))


def costs(**options: Any) -> Callable[[Firm], Any]:
    return call("profitability", *MONEY, *PEOPLE, **YEAR, settings=FirmSettings(**options))


def without(*names: str) -> Callable[[Tables], Tables]:
    return lambda firm: {name: table for name, table in firm.items() if name not in names}


def only(name: str, condition: Callable[[dict[str, Any]], bool]) -> Callable[[Tables], Tables]:
    return lambda firm: keep(firm, name, condition)


def same(firm: Tables) -> Tables:
    return firm


def of_day(year: int, month: int, day: int = 1) -> Callable[[dict[str, Any]], bool]:
    return lambda row: row["date"] >= dt.date(year, month, day)


def cancelled(firm: Tables) -> Tables:
    """Add an entry below 0 that nearly cancels the time of a client's first invoice."""
    rows = [row for row in firm["time_entries"].to_pylist() if row["invoice_id"] == "i0_0"]
    taken = {name: -0.99 * sum(row[name] for row in rows) for name in ("hours", "amount")}
    return add(firm, "time_entries", rows[0] | taken | {"time_entry_id": "taken back"})


def loaded(name: str, **info: Any) -> Callable[[Firm], Firm]:
    """Return a change of a firm's frames: one remembers another load."""
    return lambda firm: dict(firm) | {name: attach_load_info(firm[name], {"rows": len(firm[name]), **info})}


def cut(name: str) -> Callable[[Firm], Firm]:
    """Return a change of a firm's frames: rows are removed after the load."""
    return lambda firm: dict(firm) | {name: firm[name].head(len(firm[name]) // 2)}


@dataclasses.dataclass(frozen=True)
class Mistake:
    """
    A mistake, and the part of the sentence by which it is told.

    `change` changes the tables, and `remember` the frames, which are whole loads if `whole`. The same call of `right`,
    a firm that makes no mistake, gives no note of the rule.
    """

    call: Callable[[Firm], Any]
    sentence: str
    change: Callable[[Tables], Tables] = same
    make: Callable[[], Tables] = make_firm
    right: Callable[[], Tables] = make_firm
    rightly: Callable[[Firm], Any] | None = None
    remember: Callable[[Firm], Firm] | None = None
    whole: bool = False


FIXED = functools.partial(make_firm, kind="fixedFee")
MANY = functools.partial(make_firm, 8)
CLIENTS = functools.partial(make_firm, taxes=(0.0,) * 6)

MISTAKES: dict[str, Mistake] = {
    "hidden_rates": Mistake(realization(), "billable time entries have no amount", make=lambda: make_firm(hidden=True)),
    "unpriced": Mistake(
        CALLS["wip"],
        "1 of the billable time entries in progress has no amount, although others have one (time_entry_id t0_0_2026-10-28",
        entries(amount=lambda row: None if row["time_entry_id"] == "t0_0_2026-10-28" else row["amount"]),
    ),
    "no_worth": Mistake(
        realization(),
        "amount is 0 in all of the",
        entries(amount=lambda row: 0.0 if row["amount"] else None, rate=lambda _: 0.0),
    ),
    "other_unit": Mistake(
        realization(),
        "invoices bill about a hundred times the worth of their time. The invoices may be in cents",
        invoices(amount=lambda row: row["amount"] * 100, balance=lambda row: row["balance"] * 100),
    ),
    "high_rates": Mistake(
        costs(cost_rates={"u0": 90_000.0, "u1": 80.0}),
        "cost_rates of the settings are money per hour, but these are more than 10 times",
        rightly=costs(cost_rates={"u0": 90.0, "u1": 80.0}),
    ),
    "no_rate": Mistake(
        costs(cost_rates={"u0": 90.0}),
        "hours of 1 person have no cost rate in the settings (user_id u1)",
        rightly=costs(cost_rates={"u0": 90.0, "u1": 80.0}),
    ),
    "cancelled_work": Mistake(
        realization(by="user"), "1 invoice has entries below 0 that nearly cancel its other time", cancelled
    ),
    "same_share": Mistake(
        realization(), "invoices are above their items by the same 13%", make=lambda: make_firm(taxes=(0.13, 0.13))
    ),
    "unknown_invoice": Mistake(
        realization(),
        "name an invoice that is not among those passed",
        only("invoices", lambda row: row["invoice_id"] != "i9_0"),
    ),
    "unknown_fixed_fee": Mistake(
        call("fixed_fee_realization", "time_entries", "fixed_fees", *PEOPLE, **YEAR),
        "time entries name a fixed fee that is not among those passed",
        only("fixed_fees", lambda row: row["fixed_fee_id"] != "f0_2026-05"),
        FIXED,
        FIXED,
    ),
    "items_not_passed": Mistake(realization(), "No expenses were passed, so the amounts", without("expenses")),
    "work_not_passed": Mistake(CALLS["wip"], "No fixed_fees were passed, so none are counted", without("fixed_fees")),
    "inner_merge": Mistake(
        CALLS["wip"],
        "The time entries have columns of the invoices, and none of them is unbilled",
        lambda firm: change(
            only("time_entries", lambda row: row["invoice_id"])(firm), "time_entries", balance=lambda _: 0.0
        ),
    ),
    "no_prebills": Mistake(
        CALLS["wip"],
        "None of the time entries passed is on an invoice, so prebill_amount has no time",
        only("time_entries", lambda row: not row["invoice_id"]),
    ),
    "earlier_work": Mistake(
        call("billing_lag", "time_entries", "invoices", *PEOPLE, **YEAR),
        "the earliest of the time entries passed is of 2026-01-02, so work that waited long can be missing",
        only("time_entries", of_day(2026, 1)),
    ),
    "work_on_invoices": Mistake(
        realization(),
        "more than the time entries, expenses and fixed fees passed can explain",
        only("time_entries", lambda row: row["user_id"] == "u0"),
    ),
    "hidden_rates_beside_fixed_fees": Mistake(
        realization(discounts="items"),
        'with discounts="items" their fees billed are missing',
        lambda firm: change(
            entries(billing_type=lambda row: "billable" if row["user_id"] == "u0" else row["billing_type"])(firm),
            "time_entries",
            fixed_fee_id=lambda row: None if row["user_id"] == "u0" else row["fixed_fee_id"],
        ),
        FIXED,
    ),
    "no_due_date": Mistake(aging(), "no due date; the invoice date is used instead", invoices(due_date=lambda _: None)),
    "long_after_load": Mistake(
        aging(as_of="2027-06-30"),
        "as_of=2027-06-30 is 242 days after the day the invoices were loaded",
        whole=True,
        rightly=aging(),
    ),
    "later_balances": Mistake(
        aging(as_of="2026-09-30"),
        "as_of=2026-09-30 is before the day the invoices were loaded",
        whole=True,
        rightly=aging(),
    ),
    "unknown_ids": Mistake(
        utilization(settings=FirmSettings(targets={"u7": {"hours": 100, "period": "month"}})),
        "settings name 1 user that is not among those passed: u7 (targets)",
        rightly=utilization(settings=FirmSettings(targets={"u1": {"hours": 100, "period": "month"}})),
    ),
    "missing_holidays": Mistake(
        utilization(settings=FirmSettings(holidays=["2025-12-25"])),
        "The settings have holidays, but none of 2026, so available hours are too high",
        rightly=utilization(settings=FirmSettings(holidays=["2026-12-25"])),
    ),
    "no_budgeted_work": Mistake(
        burn(budgets={"m7": 1.0}), "No item is on a matter that has a budget (m7)", rightly=burn(budgets={"m0": 1.0})
    ),
    "few_people": Mistake(
        utilization(),
        "Only 1 of 8 timekeepers have entries in the period",
        only("time_entries", lambda row: row["user_id"] == "u0"),
        MANY,
        MANY,
    ),
    "hours_in_minutes": Mistake(
        utilization(),
        "people are more than the 31 days of the period have",
        entries(hours=lambda row: row["hours"] * 100),
    ),
    "other_people": Mistake(
        utilization(),
        "6 of 8 people with entries are not among the users passed",
        only("users", lambda row: row["user_id"] < "u2"),
        MANY,
        MANY,
    ),
    "users_filtered": Mistake(
        utilization(),
        "users was loaded with role=",
        whole=True,
        remember=loaded("users", arguments={"role": "principal"}),
    ),
    "removed_rows": Mistake(
        call("exposure", *MONEY, *PEOPLE, as_of="2026-10-31"),
        "rows of time_entries were removed after the load",
        whole=True,
        remember=cut("time_entries"),
    ),
    "unknown_role": Mistake(
        call("leverage", "time_entries", *PEOPLE, **YEAR),
        "client hours are of people whose role is unknown",
        only("users", lambda row: row["user_id"] == "u0"),
    ),
    "unknown_type": Mistake(
        realization(),
        "are on matters of unknown type; they are counted",
        only("matters", lambda row: row["matter_id"] != "m0"),
    ),
    "unknown_matters": Mistake(
        call("stale", *MONEY, *PEOPLE, as_of="2026-10-31"),
        "6 of 7 matters with work are not among the matters passed",
        only("matters", lambda row: row["matter_id"] == "m_office"),
        CLIENTS,
        CLIENTS,
    ),
    "unmatched": Mistake(
        realization(by="practice_area"),
        "6 of 6 matters are not among the matters passed",
        only("matters", lambda row: row["matter_id"] == "m_office"),
        CLIENTS,
        CLIENTS,
    ),
    "late_start": Mistake(
        realization(),
        "time entries were loaded for days from 2025-06-01 on only",
        lambda firm: only("time_entries", of_day(2025, 6))(firm),
        lambda: make_firm(first=dt.date(2025, 6, 2)),
        whole=True,
        remember=loaded("time_entries", period={"start": "2025-06-01", "end": None}),
    ),
    "after_load": Mistake(
        call("wip", *MONEY, *PEOPLE, as_of="2027-06-30"),
        "as_of=2027-06-30 is 242 days after the load (2026-10-31)",
        whole=True,
        rightly=call("wip", *MONEY, *PEOPLE, as_of="2026-10-31"),
    ),
    "unfinished_period": Mistake(
        utilization(start="2026-10-01", end="2026-12-31"),
        "the period ends on 2026-12-31, after the load (2026-10-31)",
        whole=True,
        rightly=utilization(),
    ),
    "repeated_rows": Mistake(
        utilization(),
        "rows repeated, equal in every column",
        lambda firm: add(firm, "time_entries", *firm["time_entries"].slice(0, 3).to_pylist()),
    ),
    "repeated_days": Mistake(
        utilization(start="2026-01-01", end="2026-10-31"),
        "time_entries has no time_entry_id, and every row of",
        lambda firm: {
            **firm,
            "time_entries": __import__("pyarrow")
            .concat_tables([firm["time_entries"]] * 2)
            .drop_columns(["time_entry_id"]),
        },
    ),
    "no_time_entries": Mistake(
        realization(), "time_entries has no rows, but invoices has", only("time_entries", lambda _row: False)
    ),
    "missing_numbers": Mistake(
        utilization(),
        "hours is missing in 1 row",
        entries(hours=lambda row: None if row["time_entry_id"] == "t0_0_2026-10-28" else row["hours"]),
    ),
    "no_date": Mistake(
        utilization(),
        "date is missing in 1 row",
        entries(date=lambda row: None if row["time_entry_id"] == "t0_0_2026-10-28" else row["date"]),
    ),
    "billed_without_invoice": Mistake(
        CALLS["wip"],
        "billed is true but invoice_id is missing in",
        entries(billed=lambda row: row["date"].month == 10, invoice_id=lambda row: None),
    ),
    "unknown_values": Mistake(
        utilization(),
        "these values of billing_type are unknown: 'gift'",
        entries(billing_type=lambda row: "gift" if row["date"].day == 7 else row["billing_type"]),
    ),
    "new_clients": Mistake(
        CALLS["new business"],
        "so every client counts as new",
        make=lambda: make_firm(first=dt.date(2026, 8, 3)),
        right=lambda: make_firm(first=dt.date(2024, 8, 1)),
    ),
    "late_history": Mistake(
        CALLS["new business"],
        "the first of the time entries is of 2026-06-0",
        only("time_entries", of_day(2026, 6)),
        lambda: make_firm(first=dt.date(2024, 8, 1), taxes=(0.0,) * 6),
        lambda: make_firm(first=dt.date(2024, 8, 1), taxes=(0.0,) * 6),
    ),
    "no_time_zone": Mistake(
        CALLS["timekeeping lag"],
        "created_at has no time zone, so UTC is assumed",
        entries(created_at=lambda row: row["created_at"].replace(tzinfo=None)),
    ),
    "not_created": Mistake(
        CALLS["timekeeping lag"],
        "time entries have no created_at",
        entries(created_at=lambda row: row["created_at"] if row["user_id"] == "u0" else None),
    ),
    "details_not_in_all": Mistake(
        call("realization", *MONEY, "matters", **YEAR, by="cf_office"),
        "cf_office is not a column of invoices",
        lambda firm: change(
            only("time_entries", lambda row: row["invoice_id"] != "i3_0")(firm),
            "time_entries",
            cf_office=lambda _: "Bonn",
        ),
    ),
    "undivided_change": Mistake(
        lambda firm: analysis.bridge(
            *(
                analysis.realization(**{n: firm[n] for n in (*MONEY, *PEOPLE)}, by="client", start=m)
                for m in ("2026-08", "2026-09")
            ),
            "billed_amount",
        ),
        "worked_amount is missing in 2 of 2 rows",
        make=lambda: make_firm(hidden=True),
    ),
}
