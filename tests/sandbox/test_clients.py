"""Clients and their balances over HTTP, compared with the API description's own sentences."""

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
    client = api.record("clients", "c1")
    assert client["notes"] == "old friend"
    assert client["contact"]["companyName"] == "Acme Inc"
    assert len(client["meta"]["customFields"]) == 2


def test_balances_set_a(api, tools):
    """balance (all open final invoices), current (not yet due), overdue (all past due), and its buckets."""
    balances = api.call(f"/v2/clients/{api.id('c1')}/balances").json()["data"]
    tools.assert_as_declared(balances, r.ClientBalances)
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
    tools.assert_as_declared(balances, r.ClientBalances)
    assert balances == {
        "balance": 1310.0,
        "overdue": 1240.0,
        "overdue30": 1250.0,
        "overdue60": 1000.0,
        "overdue90": 1000.0,
    }


def test_the_limits_of_the_buckets():
    """current (not yet due), overdue (past due), 0 to 30, ..., over 90: a due date belongs to exactly one bucket."""
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


CONTACT = {"companyName": "New Inc"}


def test_create_answers_with_the_client(fresh_api):
    """POST /v2/clients: {data: ClientDetail}."""
    client = fresh_api.write("POST", "clients", {"name": "New", "reference": "N-1", "contact": CONTACT, "notes": "n"})
    assert (client["name"], client["reference"], client["notes"]) == ("New", "N-1", "n")
    assert client["contact"] == CONTACT
    assert client["meta"]["createdAt"] == client["meta"]["modifiedAt"]
    assert fresh_api.call(f"/v2/clients/{client['clientId']}").json()["data"] == client


@pytest.mark.parametrize("contact", [{"companyName": "X"}, {"firstName": "A", "lastName": "B"}])
def test_contact_needs_a_name(fresh_api, contact):
    """The contact must give a company name, or a first and last name, or both."""
    fresh_api.write("POST", "clients", {"name": "New", "contact": contact})


@pytest.mark.parametrize(
    "contact", [{}, {"companyName": ""}, {"firstName": "A"}, {"lastName": "B", "firstName": None}, {"email": "a@b"}]
)
def test_contact_without_a_name_is_refused(fresh_api, contact):
    """The contact must give a company name, or a first and last name, or both."""
    assert fresh_api.wrong_places("POST", "clients", {"name": "New", "contact": contact}) == ["#/contact"]


def test_name_is_needed(fresh_api):
    """POST /v2/clients: name missing or empty (min length 1)."""
    assert fresh_api.wrong_places("POST", "clients", {"contact": CONTACT}) == ["#/name"]
    assert fresh_api.wrong_places("POST", "clients", {"name": "", "contact": CONTACT}) == ["#/name"]
    assert fresh_api.wrong_places("POST", "clients", {"name": None, "contact": CONTACT}) == ["#/name"]


def test_everything_wrong_is_said_at_once(fresh_api):
    """A required field of the body is missing: every fault is listed with its path."""
    body = {"reference": 5, "contact": {"phone": 7}, "customFields": [{"id": "nope", "value": 1}, {"value": 1}]}
    wrong = fresh_api.wrong_places("POST", "clients", body)
    assert set(wrong) == {
        "#/name",
        "#/reference",
        "#/contact/phone",
        "#/contact",
        "#/customFields/0/id",
        "#/customFields/1/id",
    }


def test_update_is_sparse(fresh_api):
    """Updates (PUT) are sparse: only the properties sent are changed."""
    before = fresh_api.record("clients", "c1")
    after = fresh_api.write("PUT", "clients/c1", {"name": "Acme & Sons"})
    assert after.pop("name") == "Acme & Sons"
    assert after["meta"].pop("modifiedAt") > before["meta"].pop("modifiedAt")
    before.pop("name")
    assert after == before


def test_contact_is_sparse_too(fresh_api):
    """contact (Contact): only the properties sent are changed; null clears one."""
    after = fresh_api.write("PUT", "clients/c1", {"contact": {"city": "Rome", "emailCC": None}})
    assert after["contact"] == {"companyName": "Acme Inc", "street": "1 Road\nFloor 2", "city": "Rome"}


def test_null_in_updates(fresh_api):
    """UpdateClient: name, reference, notes (all string, N; not provided means unchanged)."""
    after = fresh_api.write("PUT", "clients/c1", {"name": None, "reference": None, "notes": None, "customFields": None})
    assert (after["name"], after["reference"], after["notes"]) == ("Acme", None, None)
    assert len(after["meta"]["customFields"]) == 2


def test_an_empty_name_is_refused(fresh_api):
    """ClientDetail: name (string, min length 1)."""
    assert fresh_api.wrong_places("PUT", "clients/c1", {"name": ""}) == ["#/name"]


def values(client):
    return {each["id"]: (each["value"], each.get("optionId")) for each in client["meta"]["customFields"]}


def test_only_listed_custom_fields_change(fresh_api):
    """customFields: only listed fields change; an entry whose value is null clears that field."""
    after = fresh_api.write("PUT", "clients/c1", {"customFields": [{"id": "cf-since", "value": "2021-03-04"}]})
    assert values(after) == {"cf-tier": ("Gold", fresh_api.id("31")), "cf-since": ("2021-03-04", None)}
    after = fresh_api.write("PUT", "clients/c1", {"customFields": [{"id": "cf-tier", "value": None}]})
    assert values(after) == {"cf-since": ("2021-03-04", None)}


def test_option_id_takes_precedence_over_value(fresh_api):
    """optionId: takes precedence over value; preferred because labels can be renamed."""
    fields = [{"id": "cf-tier", "value": "Gold", "optionId": "32"}]
    assert values(fresh_api.write("PUT", "clients/c1", {"customFields": fields}))["cf-tier"] == (
        "Silver",
        fresh_api.id("32"),
    )
    fields = [{"id": "cf-tier", "value": None, "optionId": "31"}]
    assert values(fresh_api.write("PUT", "clients/c1", {"customFields": fields}))["cf-tier"] == (
        "Gold",
        fresh_api.id("31"),
    )
    fields = [{"id": "cf-tier", "value": "Silver", "optionId": None}]
    assert values(fresh_api.write("PUT", "clients/c1", {"customFields": fields}))["cf-tier"] == (
        "Silver",
        fresh_api.id("32"),
    )


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"id": "cf-tier", "value": "Bronze"}, "/value"),
        ({"id": "cf-tier", "value": 3}, "/value"),
        ({"id": "cf-tier", "optionId": "39"}, "/optionId"),
        ({"id": "cf-tier", "optionId": "gold"}, "/optionId"),
        ({"id": "cf-since", "optionId": "31"}, "/optionId"),
        ({"id": "cf-since", "value": "04.03.2021"}, "/value"),
        ({"id": "cf-since", "value": "2021-02-29"}, "/value"),
        ({"id": "cf-since", "value": {}}, "/value"),
        ({"id": "cf-since"}, ""),
        ({"id": "cf-score", "value": 1}, "/id"),
        ({"id": "", "value": 1}, "/id"),
    ],
)
def test_wrong_custom_fields(fresh_api, entry, place):
    """value (typed by valueType); id (string min 1, R) of a field of this entity."""
    assert fresh_api.wrong_places("PUT", "clients/c1", {"customFields": [entry]}) == ["#/customFields/0" + place]


def test_custom_fields_of_a_new_client(fresh_api):
    """CreateClient: customFields; unlisted fields stay unset."""
    fields = [{"id": "cf-since", "value": "2021-03-04"}]
    client = fresh_api.write("POST", "clients", {"name": "New", "contact": CONTACT, "customFields": fields})
    assert values(client) == {"cf-since": ("2021-03-04", None)}


def test_delete_answers_with_no_body(fresh_api):
    """DELETE /v2/clients/{id}: no body."""
    assert fresh_api.write("DELETE", "clients/c3") is None
    fresh_api.expect_problem(f"/v2/clients/{fresh_api.id('c3')}", 404)
    fresh_api.expect_refusal(404, "DELETE", "clients/c3")


def test_a_client_with_matters_is_kept(fresh_api):
    """DELETE /v2/clients/{id}: the client has associated matters."""
    detail = fresh_api.expect_refusal(409, "DELETE", "clients/c1")["detail"]
    assert "has associated matters" in detail
    # Matters can be archived, but the client still has them.
    assert "archived matters count, too" in detail


def test_a_client_with_invoices_is_kept(fresh_api):
    """An invoice's clientId (uuid, R) is that of an existing client."""
    fresh_api.write("PUT", "matters/a3", {"clientId": "c3"})
    assert "invoices" in fresh_api.expect_refusal(409, "DELETE", "clients/c2")["detail"]
