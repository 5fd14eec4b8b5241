"""A mirror's balances equal the server's, although a refresh requests few of them."""

from __future__ import annotations

import contextlib
import datetime as dt
import sqlite3
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror import balances
from billframes.mirror.server_lists import EXTRA_INVOICES, ServerLists
from billframes.sandbox import Sandbox, app
from billframes.sandbox.clients import read_balances
from tests.frames import assert_frame_equal

# The most balances requested as a check: five in turn, and two at each of four limits, a day earlier and later.
CHECKS = 5 + 2 * 4 * 2


@dataclass
class ServedBalances:
    """Serves balances: adds amounts to them, moves the server's date by some days, and notes the requested clients."""

    added: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    days: int = 0
    requested: list[str] = field(default_factory=list)

    def __call__(self, connection: sqlite3.Connection, client_id: str, today: dt.date, field_set: str) -> Any:
        self.requested.append(client_id)
        answer = read_balances(connection, client_id, today + dt.timedelta(days=self.days), field_set)
        answer["balance"] += self.added[client_id]
        return answer


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A firm, its client and its mirror, which all tests use one after another."""
    folder = tmp_path_factory.mktemp("balances")
    with Sandbox(db=folder / "firm.db") as firm, bf.Client(firm.base_url, firm.tokens["full"], progress=False) as made:
        sql(firm, "DELETE FROM time_entry WHERE rowid % 20")
        opened = mirror(folder / "mirror", client=made)
        opened.refresh()
        yield firm, made, opened


@pytest.fixture
def served(template, monkeypatch):
    """The balances that the server returns, for tests that begin with a full refresh of them."""
    served = ServedBalances()
    for name, value in vars(app).items():
        if value is read_balances:
            monkeypatch.setattr(app, name, served)
    return served


@pytest.fixture
def refreshed_balances(template, served):
    """The same after a refresh that requested all balances."""
    _, _, opened = template
    opened.refresh(full="client_balances")
    served.requested.clear()
    return served


@pytest.fixture
def firm(template):
    return template[0]


@pytest.fixture
def client(template):
    return template[1]


@pytest.fixture
def m(template):
    return template[2]


def assert_same(opened, client):
    for name in ("client_balances", "invoices"):
        assert_frame_equal(getattr(client, name)(), getattr(opened, name)(), obj=name)


def sql(firm, text, *values):
    with contextlib.closing(sqlite3.connect(firm.database, timeout=30)) as connection, connection:
        return connection.execute(text, values).fetchall()


def sums_of_invoices(firm):
    """Return the balance of each client by the database's invoices."""
    rows = sql(
        firm,
        "SELECT c.client_id, coalesce(sum(i.balance), 0) / 10000.0 FROM client c LEFT JOIN invoice i"
        " ON i.client_id = c.client_id AND i.invoice_state = 'final' GROUP BY c.client_id",
    )
    return dict(rows)


def balances_of(opened):
    return dict(opened.client_balances()[["client_id", "balance"]].itertuples(index=False))


@contextlib.contextmanager
def moved_clock(firm):
    """Yield a function that sets the server's clock to so many days from now."""
    clock = firm._store.clock
    begun = clock.offset
    try:
        yield lambda days: object.__setattr__(clock, "offset", begun + dt.timedelta(days=days))
    finally:
        object.__setattr__(clock, "offset", begun)


def unchanged_clients(m, served, number=2):
    """Return clients with a balance that the next refreshes don't check in turn."""
    m.refresh()
    checked = {*served.requested}
    served.requested.clear()
    frame = m.client_balances()
    return [id_ for id_ in frame.loc[frame["balance"] > 0, "client_id"] if id_ not in checked][:number]


def test_a_refresh_without_changes_requests_few_balances(m, refreshed_balances):
    m.refresh()
    assert 5 <= len(refreshed_balances.requested) <= CHECKS < len(m.client_balances())


@pytest.mark.slow
def test_each_balance_is_requested_in_turn(m, refreshed_balances, monkeypatch):
    monkeypatch.setattr(balances, "CHECKED_CLIENTS", 20)
    requested: set[str] = set()
    everybody = set(m.client_balances()["client_id"])
    for _ in range(-(-len(everybody) // 20)):
        m.refresh()
        requested.update(refreshed_balances.requested)
    assert requested == everybody


@pytest.mark.slow
def test_balances_are_requested_after_payments_and_write_offs(m, refreshed_balances, firm, client):
    invoices = m.invoices(invoice_state="final").query("balance > 100").drop_duplicates("client_id").head(3)
    first, second, third = invoices["invoice_id"]
    firm.admin.pay(first)
    firm.admin.write_off(second, 40.0)
    sql(firm, "UPDATE invoice SET balance = balance - 100000 WHERE invoice_id = ?", third)
    refreshed_balances.requested.clear()
    m.refresh()
    assert set(invoices["client_id"]) <= set(refreshed_balances.requested)
    assert len(refreshed_balances.requested) <= CHECKS + 3
    assert balances_of(m) == pytest.approx(sums_of_invoices(firm))
    assert_same(m, client)


@pytest.mark.slow
def test_a_silent_payment_of_less_than_half_a_cent_is_seen(m, refreshed_balances, firm, client):
    sql(
        firm,
        "UPDATE invoice SET balance = balance - 40 WHERE invoice_id ="
        " (SELECT invoice_id FROM invoice WHERE invoice_state = 'final' AND balance > 10000 LIMIT 1)",
    )
    m.refresh()
    assert_same(m, client)


def test_all_open_invoices_are_listed_however_few_are_expected(client):
    final = client.invoices(invoice_state="final")
    expected = sorted(final.loc[final["balance"] != 0, "invoice_id"])
    assert len(expected) > EXTRA_INVOICES
    for about in (0, len(expected) - 1, len(expected), 5 * len(expected)):
        assert sorted(ServerLists(client).open_invoices(about, 0).column("invoice_id").to_pylist()) == expected


@pytest.mark.slow
def test_a_silently_settled_invoice_beside_one_that_is_overpaid_is_seen(m, refreshed_balances, firm, client):
    rows = m.invoices(invoice_state="final").query("balance > 100")
    pair = rows[rows["client_id"] == rows["client_id"].value_counts().index[0]].head(2)
    one, other = pair["invoice_id"]
    moved = round(pair["balance"].iloc[0] * 10000)
    sql(firm, "UPDATE invoice SET balance = 0 WHERE invoice_id = ?", one)
    sql(firm, "UPDATE invoice SET balance = balance + ? WHERE invoice_id = ?", moved, other)
    m.refresh()
    assert balances_of(m) == pytest.approx(sums_of_invoices(firm))
    assert_same(m, client)


@pytest.mark.slow
def test_if_a_balance_contains_more_than_invoices_all_are_requested(m, refreshed_balances, client):
    """Otherwise, a later credit of a client whose invoices explained the balance would not be found."""
    first, second = unchanged_clients(m, refreshed_balances)
    refreshed_balances.added[first] = -250.0
    m.refresh(full="client_balances")
    refreshed_balances.added[second] = 99.5
    m.refresh()
    assert_same(m, client)


@pytest.mark.slow
def test_the_first_credit_of_a_firm_is_found_in_turn(m, refreshed_balances, client, monkeypatch):
    monkeypatch.setattr(balances, "CHECKED_CLIENTS", 20)
    (first,) = unchanged_clients(m, refreshed_balances, 1)
    refreshed_balances.added[first] = -250.0
    for _ in range(-(-len(m.client_balances()) // 20)):
        m.refresh()
    assert_same(m, client)


@pytest.mark.slow
def test_if_a_checked_balance_differs_all_are_requested(m, refreshed_balances, client):
    for id_ in client.clients()["client_id"]:
        refreshed_balances.added[id_] = 10.0
    m.refresh()
    assert set(refreshed_balances.requested) == set(client.clients()["client_id"])
    assert_same(m, client)


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), [(0, 1), (1, 0), (-1, 0), (0, 40)])
def test_a_server_whose_date_changes_between_refreshes_has_other_balances(m, served, client, before, after):
    """A server's date may differ from UTC's at one time of day and not at another."""
    served.days = before
    m.refresh(full="client_balances")
    served.days = after
    m.refresh()
    assert_same(m, client)


@pytest.mark.slow
def test_balances_are_requested_when_invoices_become_overdue(m, refreshed_balances, firm, client):
    with moved_clock(firm) as set_days:
        for days in (1, 3, 31):
            set_days(days)
            m.refresh()
            assert_same(m, client)
        refreshed_balances.requested.clear()
        m.refresh()
        assert len(refreshed_balances.requested) <= CHECKS


@pytest.mark.slow
def test_a_credit_is_found_within_a_week(m, refreshed_balances, firm, client):
    (first,) = unchanged_clients(m, refreshed_balances, 1)
    refreshed_balances.added[first] = -250.0
    with moved_clock(firm) as set_days:
        for days in (1, 3.5, 7):
            set_days(days)
            m.refresh()
        assert_same(m, client)


@pytest.mark.slow
def test_new_and_deleted_clients_are_in_the_balances_or_not(m, refreshed_balances, firm, client):
    made = client.clients.create(name="Entirely New Ltd", contact={"company_name": "Entirely New Ltd"})
    m.refresh()
    assert balances_of(m)[made.client_id] == 0
    assert_same(m, client)
    client.clients.delete(made.client_id)
    m.refresh()
    assert made.client_id not in balances_of(m)
    for name in ("clients", "client_balances"):
        assert made.client_id not in m.scan(name, engine="polars").collect()["client_id"]
    assert_same(m, client)


@pytest.mark.slow
def test_a_client_deleted_while_balances_are_read_is_removed(m, served, firm, client, monkeypatch):
    monkeypatch.setattr(balances, "CHECKED_CLIENTS", 1000)
    made = client.clients.create(name="Soon Gone Ltd", contact={"company_name": "Soon Gone Ltd"})
    m.refresh(full="client_balances")
    ids = set(client.clients()["client_id"])
    lock = threading.Lock()

    def delete_at_first(*args):
        with lock:
            if made.client_id in ids:
                ids.discard(made.client_id)
                sql(firm, "DELETE FROM client WHERE client_id = ?", made.client_id)
        return served(*args)

    for name, value in vars(app).items():
        if value is served:
            monkeypatch.setattr(app, name, delete_at_first)
    removed = m.refresh().set_index("resource")["removed"]
    assert made.client_id not in ids
    assert made.client_id not in balances_of(m)
    assert (removed["clients"], removed["client_balances"]) == (1, 1)
    assert_same(m, client)
