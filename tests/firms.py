"""Small made-up law firms of any shape, for tests that every firm can be told its figures without a false note.

`make_firm` makes the frames of a firm as Arrow tables, and `FIRMS` has the shapes that tests go through. `on` converts
them to frames of an engine, as loaded whole or as read from a file. `CALLS` calls each analysis once, and `notes_of`
returns what a call said.
"""

from __future__ import annotations

import datetime as dt
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes import FirmSettings, analysis
from billframes.analysis.data import sheet
from billframes.analysis.data.data import Data
from billframes.loading.load_info import attach
from tests.analysis.conftest import arrow

__all__ = ["CALLS", "FIRMS", "LAST", "add", "change", "keep", "make_firm", "notes_of", "on", "one_data"]

LAST = dt.date(2026, 10, 31)
"""The last day of every firm's data, on which whole loads were made."""

ROLES = ("principal", "attorney", "paralegal")
_LOADED = dt.datetime(2026, 10, 31, 18, tzinfo=dt.UTC).isoformat()

Tables = dict[str, pa.Table]
Rows = list[dict[str, Any]]

COLUMNS = {
    "time_entries": (
        "time_entry_id date user_id user_name client_id client_name matter_id matter_name billing_type hours rate "
        "amount invoice_id fixed_fee_id description activity_code task_code created_at"
    ),
    "expenses": "expense_id date user_id client_id client_name matter_id matter_name amount invoice_id created_at",
    "fixed_fees": "fixed_fee_id date user_id client_id client_name matter_id matter_name amount invoice_id created_at",
    "invoices": (
        "invoice_id invoice_number invoice_date invoice_state due_date client_id client_name matter_id amount balance"
    ),
    "matters": (
        "matter_id name matter_type archived opened client_id client_name responsible_id responsible_name "
        "practice_area_id practice_area_label originator_ids originator_names ledes_enabled "
        "ledes_activity_code_required ledes_task_code_required ledes_expense_code_required ledes_code_set_ids"
    ),
    "users": "user_id name role email",
    "clients": "client_id name reference",
    "codes": "code_type code code_set_id selectable",
    "code_sets": "code_set_id label",
}


def make_firm(
    people: int = 2,
    *,
    first: dt.date | None = None,
    kind: str = "hourly",
    realization: float = 0.95,
    taxes: tuple[float, ...] = (0.0, 0.0),
    hidden: bool = False,
    invoiced: Callable[[int, int], bool] = lambda _client, _month: True,
) -> Tables:
    """
    Return the frames of a firm with one client for each tax rate, and one matter for each client.

    Everybody works 6.4 hours on two days a week, and 0.6 on internal matters. Final invoices follow on the fifth of
    the next month; those of the last month are still drafts.

    Parameters
    ----------
    people : int
    first : date, optional
        The first day of the firm; by default 1 October 2025.
    kind : {"hourly", "fixedFee", "contingency"}
        The type of all matters. Matters of fixed fees have one fee a month. Work on contingency is never billed.
    realization : float
        Invoices bill this part of the worth of their time.
    taxes : tuple of float
        The tax on invoices of each client.
    hidden : bool
        Whether rates and amounts of time are hidden.
    invoiced : callable
        Whether a client's work of a month, both by number, is invoiced.
    """
    first = first or dt.date(LAST.year - 1, LAST.month, 1)
    rows: dict[str, Rows] = {name: [] for name in COLUMNS}
    _add_people_and_clients(rows, people, first, kind, len(taxes))
    days = [first + dt.timedelta(each) for each in range((LAST - first).days + 1)]
    months = sorted({(day.year, day.month) for day in days})
    for number, month in enumerate(months):
        of_month = [day for day in days if (day.year, day.month) == month and day.weekday() in (2, 4)]
        for client, tax in enumerate(taxes):
            bill = None
            if kind != "contingency" and invoiced(client, number):
                bill = _invoice(client, number, is_last=number == len(months) - 1, tax=tax)
            _add_work(rows, people, client, of_month, kind, bill, realization)
    if hidden:
        rows["time_entries"] = [each | {"rate": None, "amount": None} for each in rows["time_entries"]]
    return {name: _table(name, each) for name, each in rows.items()}


def _table(name: str, rows: Rows) -> pa.Table:
    return arrow({column: [row.get(column) for row in rows] for column in COLUMNS[name].split()})


def _text(day: dt.date) -> str:
    return day.isoformat()


def _add_people_and_clients(rows: dict[str, Rows], people: int, first: dt.date, kind: str, clients: int) -> None:
    rows["users"] = [
        {"user_id": f"u{each}", "name": f"Person {each}", "role": ROLES[min(each, 2)], "email": f"p{each}@firm.example"}
        for each in range(people)
    ]
    rows["clients"] = [{"client_id": f"c{each}", "name": f"Client {each}"} for each in range(clients)]
    of_clients = [(f"m{each}", f"Matter {each}", kind, f"c{each}") for each in range(clients)]
    rows["matters"] = [
        {
            "matter_id": id_,
            "name": name,
            "matter_type": type_,
            "archived": False,
            "opened": _text(first),
            "client_id": client,
            "client_name": f"Client {client[1:]}",
            "responsible_id": "u0",
            "responsible_name": "Person 0",
            "practice_area_id": "p0",
            "practice_area_label": "Sales",
            "originator_ids": ["u0"],
            "originator_names": ["Person 0"],
            "ledes_enabled": False,
        }
        for id_, name, type_, client in [*of_clients, ("m_office", "Office", "internal", "c0")]
    ]


def _invoice(client: int, month: int, *, is_last: bool, tax: float) -> dict[str, Any]:
    return {
        "invoice_id": f"i{month}_{client}",
        "invoice_number": str(100 * month + client + 1),
        "invoice_state": "draft" if is_last else "final",
        "client_id": f"c{client}",
        "client_name": f"Client {client}",
        "matter_id": f"m{client}",
        "_tax": tax,
    }


def _add_work(
    rows: dict[str, Rows],
    people: int,
    client: int,
    days: list[dt.date],
    kind: str,
    bill: dict[str, Any] | None,
    realization: float,
) -> None:
    ids = {"client_id": f"c{client}", "client_name": f"Client {client}", "matter_id": f"m{client}"}
    ids |= {"matter_name": f"Matter {client}", "invoice_id": bill["invoice_id"] if bill else None}
    month = f"{days[0]:%Y-%m}"
    fee = f"f{client}_{month}" if kind == "fixedFee" else None
    worth = 0.0
    clients = len(rows["clients"])
    for day in days:
        made = {"date": _text(day), "created_at": f"{day + dt.timedelta(1)}T09:30:00+00:00"}
        for person in range(people):
            rate = 300.0 - 50.0 * person
            of_person = {"user_id": f"u{person}", "user_name": f"Person {person}", "description": f"Work {day}"}
            hours = 6.4 / clients
            entry = {**ids, **made, **of_person, "hours": hours, "time_entry_id": f"t{client}_{person}_{day}"}
            if fee:
                entry |= {"billing_type": "fixedFee", "fixed_fee_id": fee}
            else:
                entry |= {"billing_type": "billable", "rate": rate, "amount": hours * rate}
                worth += hours * rate
            rows["time_entries"].append(entry)
            if not client:
                office = {"matter_id": "m_office", "matter_name": "Office", "invoice_id": None, "hours": 0.6}
                office |= {"billing_type": "nonBillable", "time_entry_id": f"o{person}_{day}", "fixed_fee_id": None}
                rows["time_entries"].append(entry | office | {"rate": None, "amount": None})
    first = {**ids, "date": _text(days[0]), "created_at": f"{days[0]}T18:00:00+00:00", "user_id": "u0"}
    rows["expenses"].append({**first, "expense_id": f"e{client}_{month}", "amount": 40.0})
    if fee:
        rows["fixed_fees"].append({**first, "fixed_fee_id": fee, "amount": 9_000.0})
    if bill:
        _add_invoice(rows["invoices"], bill, days[-1], worth * realization + (9_000.0 if fee else 0.0) + 40.0)


def _add_invoice(invoices: Rows, bill: dict[str, Any], last: dt.date, amount: float) -> None:
    """Add an invoice of the fifth of the next month, half of which is still open if it is recent."""
    day = (last.replace(day=1) + dt.timedelta(35)).replace(day=5)
    amount = round(amount * (1 + bill.pop("_tax")), 2)
    final = bill["invoice_state"] == "final"
    dates = {"invoice_date": _text(day) if final else _text(LAST), "due_date": _text(day + dt.timedelta(30))}
    recent = (LAST - day).days < 60
    invoices.append(bill | dates | {"amount": amount, "balance": round(amount / 2, 2) if recent else 0.0})


def change(tables: Tables, name: str, /, **columns: Callable[[dict[str, Any]], Any]) -> Tables:
    """Return the tables with columns of one table calculated anew from each of its rows."""
    rows = tables[name].to_pylist()
    made = {column: [each(row) for row in rows] for column, each in columns.items()}
    table = tables[name]
    for column, values in made.items():
        kind = table.schema.field(column).type if column in table.column_names else None
        kind = None if kind is not None and pa.types.is_date(kind) else kind
        array = pa.array(values, kind)
        at = table.column_names.index(column) if column in table.column_names else None
        table = table.append_column(column, array) if at is None else table.set_column(at, column, array)
    return tables | {name: table}


def add(tables: Tables, name: str, *rows: Mapping[str, Any]) -> Tables:
    """Return the tables with more rows in one table; each is a copy of its first row with other values."""
    first = tables[name].slice(0, 1).to_pylist()
    model = first[0] if first else {}
    kinds = tables[name].schema
    more = pa.Table.from_pylist([{**model, **each} for each in rows], kinds)
    return tables | {name: pa.concat_tables([tables[name], more]).unify_dictionaries()}


def keep(tables: Tables, name: str, condition: Callable[[dict[str, Any]], bool]) -> Tables:
    """Return the tables with only those rows of one table that meet a condition."""
    rows = [condition(row) for row in tables[name].to_pylist()]
    return tables | {name: tables[name].filter(pa.array(rows, pa.bool_()))}


def on(tables: Mapping[str, pa.Table], make: Callable[[pa.Table], Any], *, whole: bool = False) -> dict[str, Any]:
    """Convert tables to frames of an engine; with `whole`, they remember that all records were loaded."""
    frames = {name: make(table) for name, table in tables.items()}
    if not whole:
        return frames
    return {
        name: attach(frame, "load", {"resource": name, "rows": len(tables[name]), "time": _LOADED})
        for name, frame in frames.items()
    }


def without_work(tables: Tables) -> Tables:
    """Return a firm that has people, clients and matters, but no work and no invoices yet."""
    return tables | {name: tables[name].slice(0, 0) for name in ("time_entries", "expenses", "fixed_fees", "invoices")}


def _with_leave() -> Tables:
    """Return a firm in which a person has entered next month's leave."""
    leave = {"billing_type": "nonBillable", "matter_id": "m_office", "rate": None, "amount": None, "invoice_id": None}
    leave |= {"description": "Vacation", "hours": 8.0, "created_at": dt.datetime(2026, 10, 20, 9, tzinfo=dt.UTC)}
    days = (dt.date(2026, 12, 21), dt.date(2026, 12, 22), dt.date(2026, 11, 20))
    rows = [leave | {"date": day, "time_entry_id": f"leave{nth}"} for nth, day in enumerate(days)]
    return add(make_firm(), "time_entries", *rows)


def _with_appointments() -> Tables:
    """Return a firm in which a few hearings were entered two months in advance."""
    made = dt.datetime(2026, 7, 1, 9, tzinfo=dt.UTC)
    days = [dt.date(2026, 9, day) for day in (7, 8, 14, 15, 21, 22)]
    rows = [{"date": day, "created_at": made, "time_entry_id": f"hearing{day}"} for day in days]
    return add(make_firm(3), "time_entries", *rows)


def _with_a_settlement() -> Tables:
    """Return a contingency firm whose first settlement was invoiced in July."""
    firm = make_firm(kind="contingency")
    settled = {"invoice_id": "i0", "invoice_number": "1", "invoice_state": "final", "client_id": "c0"}
    settled |= {"invoice_date": dt.date(2026, 7, 15), "due_date": dt.date(2026, 8, 14), "amount": 90_000.0}
    rows = [settled | {"client_name": "Client 0", "matter_id": "m0", "balance": 0.0}]
    firm["invoices"] = pa.Table.from_pylist(rows, firm["invoices"].schema)
    of_matter = [day <= dt.date(2026, 6, 30) for day in firm["time_entries"]["date"].to_pylist()]
    ids = [
        "i0" if early and matter == "m0" else None
        for early, matter in zip(of_matter, firm["time_entries"]["matter_id"].to_pylist(), strict=True)
    ]
    at = firm["time_entries"].column_names.index("invoice_id")
    firm["time_entries"] = firm["time_entries"].set_column(at, "invoice_id", pa.array(ids, pa.string()))
    return firm


def _with_interest() -> Tables:
    """Return a firm that adds interest to the balance of late invoices, and whose clients seldom pay in part."""
    tables = make_firm(taxes=(0.0,) * 6)
    return change(tables, "invoices", balance=lambda row: row["balance"] and row["amount"] * 1.03)


FIRMS: dict[str, Callable[[], Tables]] = {
    "two people": functools.cache(make_firm),
    "one lawyer": functools.partial(make_firm, 1, taxes=(0.0,)),
    "first month": functools.partial(make_firm, first=dt.date(2026, 10, 1), invoiced=lambda *_: False),
    "contingency only": functools.partial(make_firm, kind="contingency"),
    "first settlement": _with_a_settlement,
    "fixed fees only": functools.partial(make_firm, kind="fixedFee"),
    "from August on": functools.partial(make_firm, first=dt.date(2026, 8, 3)),
    "hidden rates": functools.partial(make_firm, hidden=True),
    "no work": lambda: without_work(make_firm()),
    "leave in advance": _with_leave,
    "appointments in advance": _with_appointments,
    "interest on balances": _with_interest,
    "nominal fees": functools.partial(make_firm, 1, realization=0.01, taxes=(0.0,) * 6),
}
"""Firms of every shape, each with right figures."""

MONEY = ("time_entries", "expenses", "fixed_fees", "invoices")
PEOPLE = ("matters", "users")

SETTINGS = FirmSettings(budgets={"m0": 100_000.0}, time_zone="Europe/Berlin")
_OF_MONTH = {"start": "2026-10"}
_OF_YEAR = {"start": "2026-01-01", "end": "2026-10-31"}
_OF_DAY = {"as_of": "2026-10-31"}


def _call(name: str, *frames: str, **options: Any) -> Callable[[Mapping[str, Any]], Any]:
    function = getattr(analysis, name)
    return lambda firm: function(**{each: firm.get(each) for each in frames}, **options)


def _profitability(firm: Mapping[str, Any]) -> Any:
    """Call `profitability` with a cost rate of everybody."""
    people = nw.from_native(firm["users"]).lazy().select("user_id").collect()["user_id"].to_list()
    settings = FirmSettings(cost_rates=dict.fromkeys(people, 100.0))
    return _call("profitability", *MONEY, *PEOPLE, **_OF_YEAR, settings=settings)(firm)


CALLS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "utilization": _call("utilization", "time_entries", *PEOPLE, **_OF_MONTH),
    "utilization of the year": _call("utilization", "time_entries", *PEOPLE, **_OF_YEAR, by=None),
    "missing time": _call("missing_time", "time_entries", *PEOPLE, **_OF_MONTH),
    "leverage": _call("leverage", "time_entries", *PEOPLE, **_OF_YEAR),
    "timekeeping lag": _call("timekeeping_lag", "time_entries", *PEOPLE, settings=SETTINGS),
    "billing lag": _call("billing_lag", "time_entries", "invoices", *PEOPLE),
    "realization": _call("realization", *MONEY, *PEOPLE, **_OF_YEAR),
    "realization by work date": _call("realization", *MONEY, *PEOPLE, **_OF_YEAR, basis="work_date"),
    "write-downs": _call("write_downs", *MONEY, *PEOPLE, **_OF_YEAR),
    "contribution": _call("contribution", *MONEY, *PEOPLE, **_OF_YEAR),
    "fees by originator": _call("contribution", *MONEY, *PEOPLE, **_OF_YEAR, by="originator"),
    "effective rates": _call("effective_rates", *MONEY, *PEOPLE, **_OF_YEAR),
    "profitability": _profitability,
    "fixed-fee realization": _call("fixed_fee_realization", "time_entries", "fixed_fees", *PEOPLE, **_OF_YEAR),
    "reconcile": _call("reconcile", *MONEY),
    "aging": _call("aging", "invoices", **_OF_DAY),
    "aging by responsible": _call("aging", *MONEY, *PEOPLE, **_OF_DAY, by="responsible"),
    "wip": _call("wip", *MONEY, *PEOPLE, **_OF_DAY, by="client"),
    "exposure": _call("exposure", *MONEY, *PEOPLE, **_OF_DAY),
    "stale": _call("stale", *MONEY, *PEOPLE, **_OF_DAY),
    "overdue invoices": _call("overdue_invoices", *MONEY, "matters", **_OF_DAY),
    "budget burn": _call("budget_burn", *MONEY, "matters", settings=SETTINGS),
    "scorecard": _call("scorecard", *MONEY, *PEOPLE, **_OF_MONTH),
    "prebill review": _call("prebill_review", *MONEY, "matters", **_OF_DAY),
    "new business": _call("new_business", *MONEY, *PEOPLE, start="2026-10"),
    "duplicates": _call("duplicates", "time_entries"),
    "code check": _call("code_check", "time_entries", "matters", "codes", "code_sets"),
}
"""A call of each analysis with the frames of a firm."""


@contextmanager
def one_data(frames: Mapping[str, Any]) -> Iterator[None]:
    """Let functions that are called with these frames share what is made of them, as a book's methods do."""
    kept = Data.of_book()
    kept.add(**frames)

    def data(settings: FirmSettings | None, **given: Any) -> Data:
        names = [name for name, each in given.items() if each is not None]
        own = all(given[name] is frames.get(name) for name in names)
        return kept.view(names, settings) if own else Data(settings, **given)

    with patch.object(sheet, "Data", data):
        yield


def notes_of(call: Callable[[Mapping[str, Any]], Any], frames: Mapping[str, Any]) -> list[str]:
    """Return the texts of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(frames)
    return [str(each.message) for each in caught]
