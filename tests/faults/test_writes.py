"""No write is done twice, and a write that raises an error was not done unless the error says so."""

from __future__ import annotations

import datetime as dt
import json
from types import SimpleNamespace

import pytest

import billframes as bf
from billframes.schema.resources import EXPENSES
from billframes.transport import http, unanswered_updates
from billframes.transport.request import Response
from tests.faults.cases import connect
from tests.faults.kinds import reset_before_the_answer, reset_before_the_work
from tests.faults.server import OLD, Server, expense, respond_correctly


@pytest.fixture(autouse=True)
def no_waits(monkeypatch):
    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.0)


def first_write(fault):
    """Return a fault that affects only the first write."""
    affected = []

    def answer(exchange):
        strikes = exchange.method != "GET" and not affected
        affected.extend([1] * strikes)
        (fault if strikes else respond_correctly)(exchange)

    return answer


def methods(server):
    return [method for _, method, _ in server.arrivals]


def test_a_create_without_a_response_is_uncertain_and_sent_once():
    with Server(first_write(reset_before_the_answer)) as server, connect(server, retries=5) as client:
        with pytest.raises(bf.errors.UncertainWriteError, match=r"not known whether.*created.*Load expenses") as raised:
            client.expenses.create(matter_id="m1", date="2026-10-02", description="Ada Lovelace's will", amount=7)
        assert methods(server) == ["POST"]
        assert len(server.firm.expenses) == 2
    assert raised.value.sent["description"] == "Ada Lovelace's will"
    assert "Lovelace" not in str(raised.value) + repr(raised.value)


@pytest.mark.parametrize(("fault", "sent"), [(reset_before_the_answer, 1), (reset_before_the_work, 2)])
def test_a_lost_deletion_is_checked_and_repeated_only_if_the_record_is_still_there(fault, sent):
    with Server(first_write(fault)) as server, connect(server) as client:
        client.expenses.delete("e1")
        assert methods(server).count("DELETE") == sent
        assert "e1" not in server.firm.expenses


@pytest.mark.parametrize(("fault", "sent"), [(reset_before_the_answer, 1), (reset_before_the_work, 2)])
def test_a_lost_change_is_checked_and_repeated_only_if_nothing_was_changed(fault, sent):
    with Server(first_write(fault)) as server, connect(server) as client:
        client.expenses.update("e1", amount=9, description="Copies", expense_code=None)
        assert methods(server).count("PUT") == sent
        assert server.firm.expenses["e1"]["amount"] == 9


def test_a_lost_change_does_not_overwrite_a_colleagues_change():
    def fault(exchange):
        now = "2100-01-01T00:00:00Z"
        meta = {"createdAt": OLD, "modifiedAt": now}
        exchange.server.firm.expenses["e1"] = expense(1, amount=50.0, meta=meta)
        exchange.reset()

    with Server(first_write(fault)) as server, connect(server) as client:
        with pytest.raises(bf.errors.UncertainWriteError, match="changed"):
            client.expenses.update("e1", amount=9)
        assert methods(server).count("PUT") == 1
        assert server.firm.expenses["e1"]["amount"] == 50


@pytest.mark.parametrize(("seconds", "untouched"), [(4.01, True), (3.99, False)])
def test_a_record_that_changed_within_a_second_of_the_write_is_not_taken_as_unchanged(monkeypatch, seconds, untouched):
    """The three seconds since the write are measured by the server's date, which has whole seconds."""
    monkeypatch.setattr(unanswered_updates, "time", SimpleNamespace(monotonic=lambda: 10.0))
    now = dt.datetime(2026, 10, 31, 20, tzinfo=dt.UTC)
    meta = {"createdAt": OLD, "modifiedAt": (now - dt.timedelta(seconds=seconds)).isoformat()}
    read_back = Response(json.dumps({"data": expense(1, meta=meta)}).encode(), now)
    check_outcome = unanswered_updates.check_update(lambda: read_back, b'{"amount": 9}', EXPENSES, "e1")
    if untouched:
        assert check_outcome(7.0) is None
    else:
        with pytest.raises(bf.errors.DecodeError, match="changed meanwhile"):
            check_outcome(7.0)


def test_a_late_deletion_is_done_if_its_repetition_finds_no_record():
    def fault(exchange):
        if exchange.method == "GET":
            respond_correctly(exchange)
            # Only now is the first deletion done.
            exchange.server.firm.expenses.clear()
        elif methods(exchange.server).count("DELETE") == 1:
            exchange.reset()
        else:
            respond_correctly(exchange)

    with Server(fault) as server, connect(server) as client:
        client.expenses.delete("e1")
        assert methods(server) == ["DELETE", "GET", "DELETE"]


def test_a_lost_change_of_a_user_can_not_be_checked():
    with Server(lambda exchange: exchange.reset()) as server, connect(server) as client:
        with pytest.raises(bf.errors.UncertainWriteError, match="users"):
            client.users.update("u1", custom_fields=None)
        assert methods(server) == ["PUT"]


def test_a_create_with_a_response_that_is_not_json_is_uncertain():
    with Server(first_write(lambda exchange: (exchange.perform(), exchange.send(200, b"<html>")))) as server:
        with connect(server) as client, pytest.raises(bf.errors.UncertainWriteError, match="web page"):
            client.expenses.create(matter_id="m1", date="2026-10-02", description="Will", amount=7)
        assert methods(server) == ["POST"]
