"""Each rule gives its note for a mistake, with its sentence, and not for the same call of a firm that makes none.

`MISTAKES` has, by the name of the rule, a change of a small firm's frames, the call that it spoils, and a part of the
sentence. `test_false_notes` sends all firms of `tests.firms` through all analyses, on every engine.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import billframes as bf
from billframes import FirmSettings, analysis
from billframes._shared.notes import Note, Notes, Rule, collect_notes
from billframes.errors import IncompleteDataWarning
from billframes.loading.load_info import attach
from tests.analysis.conftest import ENGINES
from tests.analysis.forecast_mistakes import FORECAST_MISTAKES, forecast
from tests.analysis.load_mistakes import LOAD_MISTAKES
from tests.analysis.test_false_notes import MISTAKES as OF_COLUMNS, entries, invoices
from tests.firms import CALLS, FIRMS, MONEY, PEOPLE, Tables, add, change, keep, make_firm, notes_of, on

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


def compared(*names: str) -> Callable[[Firm], Any]:
    """Return figures of October beside those of September."""
    frames = (*MONEY, *PEOPLE)
    return lambda firm: bf.figures(*names, start="2026-10", compare="previous", **{each: firm[each] for each in frames})


def without(*names: str) -> Callable[[Tables], Tables]:
    return lambda firm: {name: table for name, table in firm.items() if name not in names}


def only(name: str, condition: Callable[[dict[str, Any]], bool]) -> Callable[[Tables], Tables]:
    return lambda firm: keep(firm, name, condition)


def same(firm: Tables) -> Tables:
    return firm


def of_day(year: int, month: int, day: int = 1) -> Callable[[dict[str, Any]], bool]:
    return lambda row: row["date"] >= dt.date(year, month, day)


def cancelled(firm: Tables) -> Tables:
    """Add entries below 0 that nearly cancel the time of a client's first invoice."""
    rows = [row for row in firm["time_entries"].to_pylist() if row["invoice_id"] == "i5_0"]
    back = [row | {name: -0.99 * row[name] for name in ("hours", "amount")} for row in rows]
    return add(firm, "time_entries", *[row | {"time_entry_id": f"back{nth}"} for nth, row in enumerate(back)])


def loaded(name: str, **info: Any) -> Callable[[Firm], Firm]:
    """Return a change of a firm's frames: one remembers another load."""
    return lambda firm: dict(firm) | {name: attach(firm[name], "load", {"rows": len(firm[name]), **info})}


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
    make: Callable[[], Tables] = FIRMS["two people"]
    right: Callable[[], Tables] = FIRMS["two people"]
    rightly: Callable[[Firm], Any] | None = None
    remember: Callable[[Firm], Firm] | None = None
    whole: bool = False


def by_office(firm: Firm) -> str:
    return "client_cf_office" if "client_cf_office" in firm["time_entries"] else "client"


def fees(firm: Firm, start: str, end: str | None = None) -> Any:
    return analysis.realization(**{name: firm[name] for name in (*MONEY, *PEOPLE)}, by="client", start=start, end=end)


def with_entries(firm: Firm, **columns: Any) -> Firm:
    return dict(firm) | {"time_entries": firm["time_entries"].assign(**columns)}


FIXED = functools.cache(functools.partial(make_firm, kind="fixedFee"))
OLD = functools.cache(functools.partial(make_firm, 1, first=dt.date(2025, 1, 1)))
CLIENTS = functools.cache(functools.partial(make_firm, taxes=(0.0,) * 6))

MISTAKES: dict[str, Mistake] = {
    "hidden_rates": Mistake(realization(), "billable time entries have no amount", make=lambda: make_firm(hidden=True)),
    "unpriced": Mistake(
        CALLS["wip"],
        "1 of the billable time entries in progress has no amount, although others have one (time_entry_id t0_0",
        entries(amount=lambda row: None if row["time_entry_id"] == "t0_0_2026-10-28" else row["amount"]),
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
        CALLS["reconcile"],
        "invoices are above their items by the same 13%",
        make=lambda: make_firm(realization=1.0, taxes=(0.13, 0.13)),
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
    "hidden_rates_beside_fixed_fees": Mistake(
        realization(discounts="items"),
        "have time without an amount, so their fees billed are missing",
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
    "past_balances": Mistake(
        compared("receivables", "billed_amount"),
        "receivable_amount_previous is missing for earlier days: balances are as loaded",
        rightly=compared("billed_amount", "wip"),
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
    "users_filtered": Mistake(
        utilization(),
        "users was loaded with role=",
        whole=True,
        remember=loaded("users", arguments={"role": "principal"}),
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
    "unmatched": Mistake(
        realization(by="practice_area"),
        "6 of 6 matters are not among the matters passed",
        only("matters", lambda row: row["matter_id"] == "m_office"),
        CLIENTS,
        CLIENTS,
    ),
    "late_start": Mistake(
        realization(),
        "time entries were loaded for days from 2025-11-15 on only",
        lambda firm: only("time_entries", of_day(2025, 11, 15))(firm),
        lambda: make_firm(first=dt.date(2025, 6, 2)),
        whole=True,
        remember=loaded("time_entries", period={"start": "2025-11-15", "end": None}),
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
    "unlike_invoice": Mistake(
        realization(by="client"),
        "time_entries: client_id is not that of the invoice in 456 of 456 rows that are on an invoice passed (for "
        "example time_entry_id t0_0_2025-10-01, t0_0_2025-10-03, t0_0_2025-10-08). They may have been loaded on",
        entries(client_id=lambda row: f"{row['client_id']}0"),
    ),
    "unlike_amount": Mistake(
        CALLS["wip"],
        "time_entries: amount is not hours times rate in",
        entries(hours=lambda row: row["hours"] * 1.25),
    ),
    "unlike_balance": Mistake(
        CALLS["aging"],
        "invoices: balance is above 0 on a credit, or above amount by more than half, in",
        invoices(amount=lambda row: -row["amount"]),
    ),
    "unbilled_on_invoice": Mistake(
        CALLS["wip"],
        "time_entries: billed is false, but invoice_id is there in",
        entries(billed=lambda _row: False),
    ),
    "repeated_rows": Mistake(
        utilization(),
        "rows repeated, equal in every column",
        lambda firm: add(firm, "time_entries", *firm["time_entries"].slice(0, 3).to_pylist()),
    ),
    "missing_numbers": Mistake(
        utilization(),
        "hours is missing in 1 row",
        entries(hours=lambda row: None if row["time_entry_id"] == "t0_0_2026-10-28" else row["hours"]),
    ),
    "infinite_numbers": Mistake(
        utilization(),
        "hours is infinite in 1 row",
        entries(hours=lambda row: float("inf") if row["time_entry_id"] == "t0_0_2026-10-28" else row["hours"]),
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
        "these values of billing_type are unknown: missing",
        entries(billing_type=lambda row: None if row["date"].day == 7 else row["billing_type"]),
    ),
    "short_history": Mistake(
        CALLS["new business"],
        "so every client counts as new",
        make=lambda: make_firm(first=dt.date(2026, 8, 3)),
        right=OLD,
    ),
    "no_time_zone": Mistake(
        CALLS["timekeeping lag"],
        "created_at has no time zone, so UTC is assumed",
        remember=lambda firm: with_entries(firm, created_at=firm["time_entries"]["created_at"].dt.tz_localize(None)),
    ),
    "not_entered": Mistake(
        CALLS["timekeeping lag"],
        "time entries have no created_at",
        entries(created_at=lambda row: row["created_at"] if row["user_id"] == "u0" else None),
    ),
    "details_not_in_all": Mistake(
        lambda firm: analysis.realization(**{name: firm[name] for name in MONEY}, **YEAR, by=by_office(firm)),
        "client_cf_office is not a column of `invoices`".replace("`", ""),
        lambda firm: add(
            change(firm, "time_entries", client_cf_office=lambda _row: "Bonn"),
            "invoices",
            {"invoice_id": "credit", "invoice_date": dt.date(2026, 5, 5), "amount": -500.0, "balance": 0.0},
        ),
    ),
    "unequal_lengths": Mistake(
        lambda firm: analysis.bridge(fees(firm, "2026-07-01", "2026-09-30"), fees(firm, "2026-10"), "billed_amount"),
        "the period before has 92 days and the period 31",
        rightly=lambda firm: analysis.bridge(fees(firm, "2026-09"), fees(firm, "2026-10"), "billed_amount"),
    ),
    "unequal_periods": Mistake(
        lambda firm: analysis.compare({year: fees(firm, year) for year in ("2025", "2026")}, "billed_amount"),
        "2026 counts only the days up to 2026-10-31, and 2025 is whole",
        make=OLD,
        right=OLD,
        rightly=lambda firm: analysis.compare(
            {name: fees(firm, name) for name in ("2026-08", "2026-09")}, "billed_amount"
        ),
        whole=True,
    ),
    "unchecked_items": Mistake(
        CALLS["code check"],
        "time entries were not checked, because their matters",
        only("matters", lambda row: row["matter_id"] != "m0"),
    ),
    "unknown_code_sets": Mistake(
        CALLS["code check"],
        "Matters have code sets that don't exist: lost",
        lambda firm: change(firm, "matters", ledes_enabled=lambda _row: True, ledes_code_set_ids=lambda _row: ["lost"]),
    ),
    "unchecked_codes": Mistake(
        call("prebill_review", *MONEY, "codes", as_of="2026-10-31"),
        "codes were not checked, because matters= was not passed",
        rightly=call("prebill_review", *MONEY, "codes", "matters", as_of="2026-10-31"),
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


def noted(mistake: Mistake, name: str) -> list[dict[str, Any]]:
    """Return the notes of one rule that a call gives for a mistake."""
    frames = on(mistake.change(mistake.make()), ENGINES["pandas"], whole=mistake.whole)
    with collect_notes(Notes()) as notes:
        mistake.call(mistake.remember(frames) if mistake.remember else frames)
    return [each for each in notes.data() if each["rule"] == name]


MISTAKES |= {
    rule: Mistake(OF_COLUMNS[name].call, OF_COLUMNS[name].note, OF_COLUMNS[name].make, whole=OF_COLUMNS[name].whole)
    for rule, name in {
        "impossible_dates": "years of another century",
        "joined_matters": "a responsible lawyer joined by hand",
        "no_users": "no users",
        "days_outside": "hours after the end",
        "later_joiners": "a lawyer who joined in September",
        "net_invoices": "net invoices beside a tax",
    }.items()
}
MISTAKES |= {
    name: Mistake(wrong, sentence, rightly=forecast()) for name, (wrong, sentence) in FORECAST_MISTAKES.items()
}
MISTAKES |= {name: Mistake(wrong, sentence, rightly=right) for name, (wrong, sentence, right) in LOAD_MISTAKES.items()}
# The right calls of mistakes that are in the arguments.
MISTAKES["joined_matters"] = dataclasses.replace(MISTAKES["joined_matters"], rightly=CALLS["aging by responsible"])
MISTAKES["days_outside"] = dataclasses.replace(MISTAKES["days_outside"], rightly=utilization())

FOLDERS = [f"billframes.{name}" for name in ("analysis", "loading", "schema", "book", "forecast", "ledger")]
# A mirror must have kept an earlier report: `tests/report/test_mirror.py`. Frames beside their loads: `test_stamp.py`.
ELSEWHERE = {"restated", "changed_since_load", "more_rows", "other_account", "other_day", "from_part", "unknown_load"}
PYTHON = re.compile(r"`|\w=|\w\(|\bbf\.|\[|[a-z]{2}_[a-z]|\bframes?\b|{|}")


def test_every_rule_has_a_mistake():
    names = set()
    for folder in map(importlib.import_module, FOLDERS):
        for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            there = vars(importlib.import_module(module.name)).values()
            names |= {each.name for each in there if isinstance(each, Rule)}
    assert names == MISTAKES.keys() | ELSEWHERE


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gives_the_note_with_its_amount_and_a_remedy_for_each_reader(name):
    (found,) = noted(MISTAKES[name], name)
    assert MISTAKES[name].sentence in found["text"]
    assert found["amount"]
    assert found["text"].endswith(found["remedy"])
    assert not PYTHON.search(found["plain"]), found["plain"]
    assert found["plain"][0].isupper() or not found["plain"][0].isalpha()


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_a_firm_that_makes_no_mistake_is_not_given_the_note(name):
    mistake = MISTAKES[name]
    right = dataclasses.replace(
        mistake, make=mistake.right, change=same, remember=None, call=mistake.rightly or mistake.call
    )
    assert noted(right, name) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_result_of_any_engine_has_its_notes_and_gives_them_as_warnings(engine):
    mistake = MISTAKES["no_due_date"]
    with pytest.warns(IncompleteDataWarning) as caught:
        result = mistake.call(on(mistake.change(mistake.make()), ENGINES[engine]))
    *found, fact = bf.notes(result)
    assert fact["rule"] == "unknown_load"
    assert [each["text"] for each in found] == [str(each.message) for each in caught]
    assert [(each["rule"], each["amount"], each["unit"]) for each in found] == [("no_due_date", 4.0, "invoices")]
    if engine.startswith("pandas"):
        assert (result.attrs["notes"], result.attrs["facts"]) == (found, [fact])


def test_readers_are_told_what_they_can_do():
    rule = Rule(name="cut", seen="`by`={key} of `time_entries`, {n:it|they}.", remedy="Use bf.book.", page="Ask.")
    note = Note(rule, "wip", 2.0, values={"key": dt.date(2026, 10, 1)})
    assert note.text() == "by=2026-10-01 of time_entries, they. Use bf.book."
    assert note.text("book") == "by=2026-10-01 of time_entries, they. Ask."
    assert note.text("page") == "1 October 2026 of time entries, they. Ask."


@pytest.mark.parametrize(
    ("amount", "seen"), [(0.5, "1 row, 0.50"), (2.5, "3 rows, 2.50"), (1000.125, "1,000 rows, 1,000.13")]
)
def test_notes_round_half_up(amount, seen):
    rule = Rule(name="made_up", seen="{n} {n:row|rows}, {amount:,.2f} {half:,.0f}")
    assert Note(rule, "wip", amount, values={"half": 4.5}).text() == f"{seen} 5"


@pytest.mark.parametrize("engine", [each for each in ENGINES if each != "pandas"])
def test_amounts_in_notes_are_the_same_on_every_engine(engine):
    def of_first(name, value):
        return lambda row: value if row["time_entry_id"] == "t0_0_2026-10-02" else row[name]

    columns = {"hours": of_first("hours", 0.125), "billing_type": of_first("billing_type", "gift")}
    firm = change(make_firm(), "time_entries", **columns)
    (note,) = (each for each in notes_of(utilization(), on(firm, ENGINES[engine])) if "gift" in each)
    assert "'gift' (1 row, hours 0.13)" in note
