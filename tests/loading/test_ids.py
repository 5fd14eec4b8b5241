"""Impossible ids are refused before anything is sent, and the message says where to find an id."""

from __future__ import annotations

import uuid

import pytest

import billframes as bf
from billframes.loading.ids import identifier

ID = "c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a11"


@pytest.mark.parametrize("given", [ID, ID.upper(), ID.replace("-", ""), f" {ID} ", uuid.UUID(ID), "m1", "1015-011"])
def test_a_possible_id_is_accepted(given):
    assert identifier(given, "matter_id") == str(given).strip()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.time_entries(client_id="Acme Corp"), "in the column client_id of bf.clients('Acme Corp')."),
        (lambda c: c.matters(client_id="Acme"), "client_id='Acme' is not an id"),
        (lambda c: c.matters(responsible_id="ada@firm.test"), "column user_id of bf.users(email='ada@firm.test')."),
        (lambda c: c.time_entries(user_id=["Ada Lovelace", ID]), "user_id='Ada Lovelace' is not an id"),
        (lambda c: c.time_entries(matter_id=f"{ID}, {ID}"), "Give several ids as a list."),
        (lambda c: c.matters(practice_area_id="Tax"), "column practice_area_id of bf.practice_areas()."),
        (
            lambda c: c.expenses(invoice_id=11861),
            "of bf.invoices(), where invoice_number is '11861'.",
        ),
        (lambda c: c.expenses(invoice_id="11861"), "invoice_id of bf.invoices(), where invoice_number is '11861'."),
        (lambda c: c.time_entries.get("4711"), "id='4711' is not an id; an id looks like"),
        (lambda c: c.matters.get("4711"), "Find it in the column matter_id of bf.matters('4711')."),
        (lambda c: c.clients.get(""), "Find it in the column client_id of bf.clients()."),
        (lambda c: c.clients.get("  "), "Find it in the column client_id of bf.clients()."),
        (lambda c: c.clients.get(None), "Find it in the column client_id of bf.clients()."),
        (lambda c: c.matters.get("../users/1"), "Find it in the column matter_id of bf.matters('../users/1')."),
        (lambda c: c.matters.archive(f"{ID}/2"), "Find it in the column matter_id of bf.matters("),
        (lambda c: c.expenses(matter_id=[ID, float("nan")]), "Find it in the column matter_id of bf.matters()."),
        (
            lambda c: c.expenses.create(matter_id="4711", date="2026-10-01", description="x", amount=1),
            "bf.matters('4711')",
        ),
        (lambda c: c.client_balances("Acme"), "client_ids='Acme' is not an id"),
        (lambda c: c.clients.get("Acme"), "column client_id of bf.clients('Acme')."),
        (lambda c: c.time_entries.delete("Call with Ada"), "column time_entry_id of bf.time_entries()."),
        (lambda c: c.matters.update(ID, responsible_id="Ada"), "column user_id of bf.users('Ada')."),
        (lambda c: c.time_entries(client_id="Acme " * 99), "column client_id of bf.clients()."),
    ],
)
def test_an_impossible_id_is_refused_and_the_message_says_where_to_find_it(fake, connect, call, message):
    with pytest.raises(bf.errors.ParameterError) as raised:
        call(connect())
    assert message in str(raised.value)
    assert fake.requests == []
