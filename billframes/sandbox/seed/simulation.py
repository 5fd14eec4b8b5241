"""Simulate the firm month by month: work, expenses and fixed fees are drawn, then the month is billed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import count
from operator import attrgetter
from typing import Any

from billframes.sandbox.credentials import credential_rows
from billframes.sandbox.schema import table_columns
from billframes.sandbox.seed.basics import FIRST_MONTH, LAST_MONTH, Expense, FixedFee, Item, SeededRandom, TimeEntry
from billframes.sandbox.seed.billing import Invoice, bill_month
from billframes.sandbox.seed.clients import SeedClient, client_rows, draw_clients
from billframes.sandbox.seed.custom_fields import draw_options, draw_value_rows, field_rows, option_rows
from billframes.sandbox.seed.data_files import AREA_LABELS, code_rows, code_set_rows, load_toml
from billframes.sandbox.seed.matters import SeedMatter, Staffing, draw_matter, matter_rows, originator_rows
from billframes.sandbox.seed.people import draw_people, person_rows
from billframes.sandbox.seed.showcase import (
    adjust_invoices,
    draw_showcase_matters,
    invoices_without_items,
    set_auditor_write_downs,
)
from billframes.sandbox.seed.work import Workload, charge_fixed_fees, draw_expenses, draw_intensities, draw_month

_MATTERS = 200


class Simulation:
    """The simulated firm: its people, clients and matters."""

    def __init__(self, rng: SeededRandom, scale: int) -> None:
        self.rng = rng
        self.people = draw_people(rng, scale)
        self.clients = draw_clients(rng, scale)
        staffing = Staffing(self.people)
        self.matters = list(draw_showcase_matters(rng, self.clients, self.people, staffing))
        self.internal = [matter for matter in self.matters if matter.internal_topic]
        for client in self._next_clients(_MATTERS * scale - len(self.matters)):
            self.matters.append(draw_matter(rng, client, staffing, len(self.matters)))
        set_auditor_write_downs(self.matters)
        self.invoice_numbers = count(10_412)
        self.check_numbers = count(20_411)

    def _next_clients(self, number: int) -> Iterator[SeedClient]:
        """Yield the clients of the next matters: each client without a matter once, then clients at random."""
        complete = load_toml("clients")["complete"]
        have_matters = {matter.client.client_id for matter in self.matters}
        growing = [client for client in self.clients[:-1] if not client.name.startswith(complete)]
        new = [client for client in growing if client.client_id not in have_matters]
        yield from new
        for _ in range(number - len(new)):
            yield growing[int(len(growing) * self.rng.chance() ** 1.7)]

    def insert_into(self, connection: sqlite3.Connection) -> None:
        """Simulate the months in order, and insert all rows."""
        self._insert_records(connection)
        _insert_invoices(connection, list(invoices_without_items(self.matters, self.invoice_numbers, self.rng)))
        clients_matters = _by_client(self.matters)
        adjusted: set[str] = set()
        for month in range(FIRST_MONTH, LAST_MONTH + 1):
            self._draw_items(month)
            invoices = bill_month(clients_matters, month, self.invoice_numbers, self.rng)
            adjust_invoices(invoices, adjusted)
            _insert_invoices(connection, invoices)
        _insert_items(connection, [item for matter in self.matters for item in matter.items])

    def _draw_items(self, month: int) -> None:
        """Draw a month's fixed fees, expenses and time entries, and add them to their matters."""
        active = draw_intensities([matter for matter in self.matters if not matter.internal_topic], month, self.rng)
        for matter in self.matters:
            charge_fixed_fees(matter, month, self.rng)
        for matter in active:
            draw_expenses(matter, month, self.check_numbers, self.rng)
        for load in Workload.by_person(self.people, month, active, self.internal, self.rng):
            for matter, entry in draw_month(load, month, self.rng):
                matter.items.append(entry)

    def _insert_records(self, connection: sqlite3.Connection) -> None:
        rng, matters = self.rng, self.matters
        areas = {key: rng.uuid() for key, _ in AREA_LABELS}
        options = draw_options(rng)
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
            ("custom_value", draw_value_rows(self.clients, matters, self.people, options, rng)),
        )
        for table, rows in tables:
            _insert(connection, table, rows)


def _by_client(matters: list[SeedMatter]) -> list[tuple[SeedClient, list[SeedMatter]]]:
    groups: dict[str, tuple[SeedClient, list[SeedMatter]]] = {}
    for matter in matters:
        if not matter.internal_topic:
            groups.setdefault(matter.client.client_id, (matter.client, []))[1].append(matter)
    return list(groups.values())


def _insert_invoices(connection: sqlite3.Connection, invoices: list[Invoice]) -> None:
    _insert_objects(connection, "invoice", invoices)
    covered = ((each.id, matter.matter_id, at) for each in invoices for at, matter in enumerate(each.matters))
    _insert(connection, "invoice_matter", covered)
    _insert_items(connection, [item for each in invoices for item in each.items])


def _insert_items(connection: sqlite3.Connection, items: list[Item]) -> None:
    for kind, table in ((FixedFee, "fixed_fee"), (Expense, "expense"), (TimeEntry, "time_entry")):
        _insert_objects(connection, table, (item for item in items if type(item) is kind))


def _insert_objects(connection: sqlite3.Connection, table: str, objects: Iterable[Any]) -> None:
    """Insert objects whose attributes are the table's columns; `id` is its id column."""
    names = ["id" if name == f"{table}_id" else name for name in table_columns(connection, table)]
    _insert(connection, table, map(attrgetter(*names), objects))


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    marks = ", ".join("?" for _ in table_columns(connection, table))
    connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
