"""What a mirror holds of clients' balances is what the server says, though a refresh asks for few of them."""

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
from billframes.mirror.server import EXTRA_INVOICES, Server
from billframes.sandbox import Sandbox, app
from billframes.sandbox.clients import read_balances
from tests.frames import assert_frame_equal

# Clients asked about as a check: five in turn, two at each of four limits, a day earlier and later.
CHECKS = 5 + 2 * 4 * 2


@dataclass
class Answers:
    """What the server adds to its answers, which calendar it has, and about whom it was asked."""

    extra: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    days: int = 0
    asked: list[str] = field(default_factory=list)

    def __call__(self, connection: sqlite3.Connection, client_id: str, today: dt.date, field_set: str) -> Any:
        self.asked.append(client_id)
        answer = read_balances(connection, client_id, today + dt.timedelta(days=self.days), field_set)
        answer["balance"] += self.extra[client_id]
        return answer


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A mirror of a firm; the firm's file goes through all tests."""
    folder = tmp_path_factory.mktemp("balances")
    with Sandbox(db=folder / "firm.db") as firm, bf.Client(firm.base_url, firm.tokens["full"], progress=False) as made:
        sql(firm, "DELETE FROM time_entry WHERE rowid % 20")
        opened = mirror(folder / "mirror", client=made)
        opened.refresh()
        yield firm, made, opened


@pytest.fixture
def answers(template, monkeypatch):
    """What the server says of the balances, for tests that begin with a full refresh of them."""
    answers = Answers()
    for name, value in vars(app).items():
        if value is read_balances:
            monkeypatch.setattr(app, name, answers)
    return answers


@pytest.fixture
def served(template, answers):
    """The answers of a server whose clients all were asked about a moment ago."""
    _, _, opened = template
    opened.refresh(full="client_balances")
    answers.asked.clear()
    return answers


@pytest.fixture
def firm(template):
    return template[0]


@pytest.fixture
def client(template):
    return template[1]


@pytest.fixture
def m(template):
    return template[2]


def same(opened, client):
    for name in ("client_balances", "invoices"):
        assert_frame_equal(getattr(client, name)(), getattr(opened, name)(), obj=name)


def sql(firm, text, *values):
    with contextlib.closing(sqlite3.connect(firm.database, timeout=30)) as connection, connection:
        return connection.execute(text, values).fetchall()


def owed(firm):
    """Return what clients owe, by the database."""
    rows = sql(
        firm,
        "SELECT c.client_id, coalesce(sum(i.balance), 0) / 10000.0 FROM client c LEFT JOIN invoice i"
        " ON i.client_id = c.client_id AND i.invoice_state = 'final' GROUP BY c.client_id",
    )
    return dict(rows)


def shown(opened):
    return dict(opened.client_balances()[["client_id", "balance"]].itertuples(index=False))


@contextlib.contextmanager
def days_pass(firm):
    """Give a function that sets the server's clock to so many days from now."""
    clock = firm._store.clock
    begun = clock.offset
    try:
        yield lambda days: object.__setattr__(clock, "offset", begun + dt.timedelta(days=days))
    finally:
        object.__setattr__(clock, "offset", begun)


def steady_ones(m, answers, number=2):
    """Return clients that owe something and that the next refreshes do not check of themselves."""
    m.refresh()
    checked = {*answers.asked}
    answers.asked.clear()
    frame = m.client_balances()
    return [id_ for id_ in frame.loc[frame["balance"] > 0, "client_id"] if id_ not in checked][:number]


def test_a_quiet_refresh_asks_about_few_clients(m, served):
    m.refresh()
    assert 5 <= len(served.asked) <= CHECKS < len(m.client_balances())


def test_each_client_is_asked_about_in_its_turn(m, served, monkeypatch):
    monkeypatch.setattr(balances, "CHECKED_CLIENTS", 20)
    asked: set[str] = set()
    everybody = set(m.client_balances()["client_id"])
    for _ in range(-(-len(everybody) // 20)):
        m.refresh()
        asked.update(served.asked)
    assert asked == everybody


def test_payments_and_write_offs_are_asked_about(m, served, firm, client):
    invoices = m.invoices(invoice_state="final").query("balance > 100").drop_duplicates("client_id").head(3)
    first, second, third = invoices["invoice_id"]
    firm.admin.pay(first)
    firm.admin.write_off(second, 40.0)
    sql(firm, "UPDATE invoice SET balance = balance - 100000 WHERE invoice_id = ?", third)
    served.asked.clear()
    m.refresh()
    assert set(invoices["client_id"]) <= set(served.asked)
    assert len(served.asked) <= CHECKS + 3
    assert shown(m) == pytest.approx(owed(firm))
    same(m, client)


def test_a_silent_payment_of_less_than_half_a_cent_is_seen(m, served, firm, client):
    sql(
        firm,
        "UPDATE invoice SET balance = balance - 40 WHERE invoice_id ="
        " (SELECT invoice_id FROM invoice WHERE invoice_state = 'final' AND balance > 10000 LIMIT 1)",
    )
    m.refresh()
    same(m, client)


def test_all_open_invoices_are_listed_however_few_are_expected(client):
    final = client.invoices(invoice_state="final")
    expected = sorted(final.loc[final["balance"] != 0, "invoice_id"])
    assert len(expected) > EXTRA_INVOICES
    for about in (0, len(expected) - 1, len(expected), 5 * len(expected)):
        assert sorted(Server(client).open_invoices(about, 0).column("invoice_id").to_pylist()) == expected


def test_a_silently_settled_invoice_beside_one_that_is_overpaid_is_seen(m, served, firm, client):
    rows = m.invoices(invoice_state="final").query("balance > 100")
    pair = rows[rows["client_id"] == rows["client_id"].value_counts().index[0]].head(2)
    one, other = pair["invoice_id"]
    moved = round(pair["balance"].iloc[0] * 10000)
    sql(firm, "UPDATE invoice SET balance = 0 WHERE invoice_id = ?", one)
    sql(firm, "UPDATE invoice SET balance = balance + ? WHERE invoice_id = ?", moved, other)
    m.refresh()
    assert shown(m) == pytest.approx(owed(firm))
    same(m, client)


def test_where_one_balance_holds_more_than_invoices_all_are_asked_about(m, served, client):
    """A credit that comes to a client whose invoices explained everything would not be seen otherwise."""
    first, second = steady_ones(m, served)
    served.extra[first] = -250.0
    m.refresh(full="client_balances")
    served.extra[second] = 99.5
    m.refresh()
    same(m, client)


def test_the_first_credit_of_a_firm_is_found_in_turn(m, served, client, monkeypatch):
    monkeypatch.setattr(balances, "CHECKED_CLIENTS", 20)
    (first,) = steady_ones(m, served, 1)
    served.extra[first] = -250.0
    for _ in range(-(-len(m.client_balances()) // 20)):
        m.refresh()
    same(m, client)


def test_a_disagreeing_check_asks_about_all(m, served, client):
    for id_ in client.clients()["client_id"]:
        served.extra[id_] = 10.0
    m.refresh()
    assert set(served.asked) == set(client.clients()["client_id"])
    same(m, client)


@pytest.mark.parametrize(("before", "after"), [(0, 1), (1, 0), (-1, 0), (0, 40)])
def test_a_calendar_that_moves_between_refreshes_moves_the_balances(m, answers, client, before, after):
    """A server's day may differ from UTC's at one time of day and not at another."""
    answers.days = before
    m.refresh(full="client_balances")
    answers.days = after
    m.refresh()
    same(m, client)


def test_invoices_that_become_overdue_while_days_pass_are_asked_about(m, served, firm, client):
    with days_pass(firm) as to:
        for days in (1, 3, 31):
            to(days)
            m.refresh()
            same(m, client)
        served.asked.clear()
        m.refresh()
        assert len(served.asked) <= CHECKS


def test_a_credit_is_found_within_a_week(m, served, firm, client):
    (first,) = steady_ones(m, served, 1)
    served.extra[first] = -250.0
    with days_pass(firm) as to:
        for days in (1, 3.5, 7):
            to(days)
            m.refresh()
        same(m, client)


def test_a_client_that_is_new_or_gone_is_so_in_the_balances(m, served, firm, client):
    made = client.clients.create(name="Entirely New Ltd", contact={"company_name": "Entirely New Ltd"})
    m.refresh()
    assert shown(m)[made.client_id] == 0
    same(m, client)
    client.clients.delete(made.client_id)
    m.refresh()
    assert made.client_id not in shown(m)
    for name in ("clients", "client_balances"):
        assert made.client_id not in m.scan(name, engine="polars").collect()["client_id"]
    same(m, client)


def test_a_client_deleted_while_balances_are_read_does_not_stay(m, answers, firm, client, monkeypatch):
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
        return answers(*args)

    for name, value in vars(app).items():
        if value is answers:
            monkeypatch.setattr(app, name, delete_at_first)
    removed = m.refresh().set_index("resource")["removed"]
    assert made.client_id not in ids
    assert made.client_id not in shown(m)
    assert (removed["clients"], removed["client_balances"]) == (1, 1)
    same(m, client)
