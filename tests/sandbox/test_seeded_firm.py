"""The seeded firm over HTTP: responses are as declared and fast, and sums are those of the database."""

import sqlite3
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from billframes.sandbox import Sandbox
from billframes.schema import records as r
from billframes.schema.resources import RESOURCES


@pytest.fixture(scope="module")
def seeded():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def api(seeded, tools):
    caller = tools.Api(seeded)
    with caller.http:
        yield caller


@pytest.fixture(scope="module")
def sql(seeded):
    connection = sqlite3.connect(seeded.database)
    yield lambda text: connection.execute(text).fetchall()
    connection.close()


def all_records(api, resource):
    """Return all records of a resource with all details; each page must be as declared."""
    name, rows, total = resource.path.removeprefix("/v2/"), [], 1
    while len(rows) < total:
        page, pagination = api.list(name, offset=len(rows), select=",".join(resource.select))
        rows, total = rows + page, pagination.get("total", 0)
    return rows


@pytest.mark.parametrize("name", [each.name for each in RESOURCES if each.paginated])
def test_every_record_is_as_declared_and_comes_once(api, sql, name):
    """The response of a paginated list is `{data, pagination}`; total (int32, R, total items available)."""
    resource = next(each for each in RESOURCES if each.name == name)
    ids = Counter(row[resource.id] for row in all_records(api, resource))
    table = {"time_entries": "time_entry", "matters": "matter"}.get(name, name.removesuffix("s"))
    assert set(ids.values()) == {1}
    assert len(ids) == sql(f"SELECT count(*) FROM {table}")[0][0]


@pytest.mark.parametrize("name", ["clients", "expenses", "fixed-fees", "matters", "time-entries"])
def test_single_records_are_as_declared(api, tools, name):
    """A single-record response is wrapped as an object with one property `data`."""
    resource = next(each for each in RESOURCES if each.path == "/v2/" + name)
    for row in api.rows(name, limit=40):
        answer = api.call(f"{resource.path}/{row[resource.id]}")
        tools.assert_as_declared(answer.json()["data"], resource.detail)


def test_the_rest_is_as_declared(api, tools):
    """Users, practice areas, custom fields and codes are lists without pages."""
    for name in ("users", "practice-areas", "custom-fields"):
        assert api.rows(name)
    tools.assert_as_declared(api.call("/v2/codes").json()["data"], r.CodeList)


@pytest.mark.slow
def test_sums_are_the_databases(api, sql):
    """Money and hour amounts are JSON numbers (double)."""
    rows = all_records(api, next(each for each in RESOURCES if each.name == "time_entries"))
    hours, amount = sql("SELECT sum(hours), sum(amount) FROM time_entry")[0]
    assert sum(round(row["hours"] * 10_000) for row in rows) == hours
    assert sum(round(row.get("amount", 0) * 10_000) for row in rows) == amount


def test_balances_are_the_open_final_invoices(api, sql):
    """balance (all open final invoices)."""
    owed = dict(sql("SELECT client_id, sum(balance) FROM invoice WHERE invoice_state = 'final' GROUP BY client_id"))
    for client in api.rows("clients"):
        balances = api.call(f"/v2/clients/{client['clientId']}/balances").json()["data"]
        assert round(balances["balance"] * 10_000) == owed.get(client["clientId"], 0)
        assert balances["balance"] == pytest.approx(balances["current"] + balances["overdue"])


def test_many_readers_at_once(api):
    """Many clients at once get the same response."""
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: api.call("/v2/time-entries", limit=200).content, range(60)))
    assert len(set(answers)) == 1


def test_a_full_page_is_quick(api):
    """1,000 time entries with all details take server and caller 30 ms; the limit here is ten times that."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        answer = api.call("/v2/time-entries", select="client,matter,user,meta,fixedFee")
        taken.append(time.process_time() - start)
        assert answer.json()["pagination"]["limit"] == 1000
    assert min(taken) < 0.3
