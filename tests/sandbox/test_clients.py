"""GET /v2/clients, /v2/clients/{id} and /v2/clients/{id}/balances."""

import datetime as dt
import sqlite3

import httpx
import pytest

from billframes.sandbox import Sandbox
from billframes.sandbox.clients import read_balances
from billframes.sandbox.schema import SCHEMA
from billframes.sandbox.store import Store
from billframes.schema import records as r


def test_list_item_is_short(api):
    """In lists, contact and meta are added via `select`."""
    assert api.rows("clients")[0] == {"clientId": api.id("c1"), "name": "Acme", "reference": "C-1"}
    full = api.rows("clients", select="contact,meta")[0]
    assert full["contact"]["emailCC"] == "cc@acme.example"
    assert full["contact"]["street"] == "1 Road\nFloor 2"
    assert set(full["meta"]) == {"createdAt", "modifiedAt"}


def test_custom_fields_come_in_meta(api):
    """Metadata: customFields (in list items only returned when `customFields` is requested via `select`)."""
    rows = api.rows("clients", select="customFields")
    assert rows[0]["meta"]["customFields"] == [
        {"id": "cf-tier", "name": "Tier", "valueType": "enum", "value": "Gold", "optionId": api.id("31")},
        {"id": "cf-since", "name": "Since", "valueType": "date", "value": "2020-02-29"},
    ]
    assert rows[1]["meta"]["customFields"] == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, "c1 c3 c2"),
        ({"query": "acm"}, "c1 c3"),
        ({"query": "c-1"}, "c1"),
        ({"query": "SÖHNE"}, "c2"),
        ({"query": "%"}, ""),
        ({"reference": "C-1"}, "c1"),
        ({"reference": "C-"}, ""),
        ({"sort": "-name"}, "c2 c1 c3"),
        ({"sort": "reference"}, "c2 c3 c1"),
        ({"modifiedSince": "2026-01-01T12:00:00Z"}, "c3 c2"),
    ],
)
def test_filters_and_sorts(api, query, expected):
    """`query` (partial match on name or reference), `reference` (exact match), sort (name, reference)."""
    assert api.ids("clients", **query) == expected


def test_single_client(api):
    """ClientDetail: contact (R), notes (string, N, internal notes), meta."""
    client = api.one("clients", "c1")
    assert client["notes"] == "old friend"
    assert client["contact"]["companyName"] == "Acme Inc"
    assert len(client["meta"]["customFields"]) == 2


def test_balances_set_a(api, tools):
    """balance (all open final invoices), current (not yet due), overdue (all past due), and its buckets."""
    balances = api.call(f"/v2/clients/{api.id('c1')}/balances").json()["data"]
    tools.as_declared(balances, r.ClientBalances)
    assert balances == {
        "balance": 1310.0,
        "current": 70.0,
        "overdue": 1240.0,
        "overdue0To30": -10.0,
        "overdue30To60": 250.0,
        "overdue60To90": 0.0,
        "overdueOver90": 1000.0,
    }


def test_drafts_do_not_count(api):
    """Only final invoices carry a due date and count toward client balances."""
    balances = api.call(f"/v2/clients/{api.id('c2')}/balances").json()["data"]
    assert set(balances.values()) == {0.0}


def test_balances_set_b(api, tools, tmp_path):
    """Set B: balance, overdue, overdue30 (overdue more than 30 days), overdue60, overdue90."""
    Store(tmp_path / "firm.db", tools.seed_by_hand).close()
    with Sandbox(db=tmp_path / "firm.db", balances="B") as sandbox:
        url = f"{sandbox.base_url}/v2/clients/{api.id('c1')}/balances"
        balances = httpx.get(url, headers={"Authorization": "Bearer sandbox-full"}, timeout=60).json()["data"]
    tools.as_declared(balances, r.ClientBalances)
    assert balances == {
        "balance": 1310.0,
        "overdue": 1240.0,
        "overdue30": 1250.0,
        "overdue60": 1000.0,
        "overdue90": 1000.0,
    }


def test_the_limits_of_the_buckets():
    """current (not yet due), overdue (past due), 0 to 30, ..., over 90: a due date belongs to one bucket alone."""
    connection, today = sqlite3.connect(":memory:"), dt.date(2026, 10, 31)
    connection.executescript(SCHEMA)
    for place, days in enumerate((-1, 0, 1, 30, 31, 60, 61, 90, 91)):
        due = (today - dt.timedelta(days=days)).isoformat()
        row = (str(place), "c1", str(place), "2026-01-01", "final", due, 10**12, 10_000 * 2**place, "", "")
        connection.execute("INSERT INTO invoice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    owed = read_balances(connection, "c1", today, "A")
    assert [owed[name] for name in ("current", "overdue0To30", "overdue30To60", "overdue60To90", "overdueOver90")] == [
        1 + 2, 4 + 8, 16 + 32, 64 + 128, 256
    ]  # fmt: skip
    since = read_balances(connection, "c1", today, "B")
    assert [since[name] for name in ("overdue", "overdue30", "overdue60", "overdue90")] == [508, 496, 448, 256]
    connection.close()
