"""Simulate the firm month by month: people and clients first, then work, expenses, fees and bills."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from billframes.sandbox.credentials import credential_rows
from billframes.sandbox.seed.basics import (
    FIRST_MONTH,
    LAST_MONTH,
    Expense,
    FixedFee,
    Invoice,
    SeededRandom,
    TimeEntry,
    insert_statement,
    row_of,
)
from billframes.sandbox.seed.billing import Bill, Numbers, month_end
from billframes.sandbox.seed.clients import Client, client_rows, draw_clients
from billframes.sandbox.seed.costs import Checkbook, charge_fees, draw_expenses
from billframes.sandbox.seed.custom import field_rows, make_options, option_rows, value_rows
from billframes.sandbox.seed.data import AREA_LABELS, code_rows, code_set_rows, read
from billframes.sandbox.seed.matters import (
    Matter,
    Staffing,
    draw_matter,
    matter_rows,
    originator_rows,
)
from billframes.sandbox.seed.people import draw_people, person_rows
from billframes.sandbox.seed.showcase import audit, courtesy, paid_twice, showcase_matters, standalone
from billframes.sandbox.seed.work import Workload, month_of_work, set_pulses

__all__ = ["Firm"]

MATTERS = 200


class Firm:
    """The simulated firm: its people, clients and matters."""

    def __init__(self, rng: SeededRandom, scale: int) -> None:
        self.rng = rng
        self.people = draw_people(rng, scale)
        self.clients = draw_clients(rng, scale)
        staffing = Staffing(self.people)
        self.matters = list(showcase_matters(rng, self.clients, self.people, staffing))
        self.internal = [matter for matter in self.matters if matter.internal]
        for client in self._next_clients(MATTERS * scale - len(self.matters)):
            self.matters.append(draw_matter(rng, client, staffing, len(self.matters)))
        audit(self.matters)

    def _next_clients(self, count: int) -> Iterator[Client]:
        """Yield the clients of the next matters: each but the last once, then some more often than others."""
        known = {matter.client.client_id for matter in self.matters}
        growing = [client for client in self.clients[:-1] if not client.name.startswith(read("clients")["complete"])]
        new = [client for client in growing if client.client_id not in known]
        yield from new
        for _ in range(count - len(new)):
            yield growing[int(len(growing) * self.rng.chance() ** 1.7)]

    def live(self, connection: sqlite3.Connection) -> None:
        """Insert everything, the months in order."""
        self._stand(connection)
        numbers, checks = Numbers(), Checkbook()
        _insert_bills(connection, list(standalone(self.matters, numbers, self.rng)))
        by_client = _by_client(self.matters)
        seen: set[str] = set()
        for month in range(FIRST_MONTH, LAST_MONTH + 1):
            self._work(month, checks)
            bills = month_end(by_client, month, numbers, self.rng)
            courtesy(bills, seen)
            paid_twice(bills, seen)
            _insert_bills(connection, bills)
        _insert_items(connection, FixedFee, (fee for matter in self.matters for fee in matter.fees))
        _insert_items(connection, Expense, (cost for matter in self.matters for cost in matter.expenses))
        _insert_items(connection, TimeEntry, (entry for matter in self.matters for entry in matter.times))

    def _work(self, month: int, checks: Checkbook) -> None:
        live = set_pulses([matter for matter in self.matters if not matter.internal], month, self.rng)
        for matter in self.matters:
            charge_fees(matter, month, self.rng)
        for matter in live:
            draw_expenses(matter, month, checks, self.rng)
        for load in Workload.by_person(self.people, month, live, self.internal, self.rng):
            for matter, entry in month_of_work(load, month, self.rng):
                matter.times.append(entry)

    def _stand(self, connection: sqlite3.Connection) -> None:
        """Insert the rows that exist before any work is done."""
        rng, matters = self.rng, self.matters
        areas = {key: rng.uuid() for key, _ in AREA_LABELS}
        options = make_options(rng)
        associate = next(person for person in self.people if person.role == "attorney")
        area_rows = [(areas[key], label, int(key == "litigation")) for key, label in AREA_LABELS]
        tables: tuple[tuple[str, Iterable[tuple[Any, ...]]], ...] = (
            ("user", person_rows(self.people, rng)),
            ("credential", credential_rows(self.people[0].user_id, associate.user_id)),
            ("practice_area", area_rows),
            ("code_set", code_set_rows()),
            ("code", code_rows()),
            ("custom_field", field_rows()),
            ("custom_field_option", option_rows(options)),
            ("client", client_rows(self.clients, rng)),
            ("matter", matter_rows(matters, areas, rng)),
            ("matter_originator", originator_rows(matters)),
            ("custom_value", value_rows(self.clients, matters, self.people, options, rng)),
        )
        for table, rows in tables:
            _insert(connection, table, rows)


def _by_client(matters: list[Matter]) -> list[tuple[Client, list[Matter]]]:
    groups: dict[str, tuple[Client, list[Matter]]] = {}
    for matter in matters:
        if not matter.internal:
            groups.setdefault(matter.client.client_id, (matter.client, []))[1].append(matter)
    return list(groups.values())


def _insert_bills(connection: sqlite3.Connection, bills: list[Bill]) -> None:
    _insert_items(connection, Invoice, (bill.invoice for bill in bills))
    _insert(connection, "invoice_matter", chain.from_iterable(map(_covered, bills)))
    _insert_items(connection, FixedFee, (fee for bill in bills for fee in bill.fees))
    _insert_items(connection, Expense, (cost for bill in bills for cost in bill.expenses))
    _insert_items(connection, TimeEntry, (entry for bill in bills for entry in bill.times))


def _covered(bill: Bill) -> Iterator[tuple[str, str, int]]:
    for position, matter in enumerate(bill.matters):
        yield bill.invoice.invoice_id, matter.matter_id, position


_TABLES = {FixedFee: "fixed_fee", Expense: "expense", TimeEntry: "time_entry", Invoice: "invoice"}


def _insert_items(connection: sqlite3.Connection, kind: type[Any], items: Iterable[Any]) -> None:
    _insert(connection, _TABLES[kind], map(row_of(kind), items))


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert whole rows; the first one gives the number of columns."""
    rows = iter(rows)
    first = next(rows, None)
    if first is not None:
        connection.executemany(insert_statement(table, len(first)), chain((first,), rows))
