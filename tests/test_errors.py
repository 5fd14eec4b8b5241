"""Texts of errors and warnings are readable: without terminal commands, and not too long."""

from __future__ import annotations

import datetime as dt
import pickle

import pytest

import billframes as bf
from billframes._shared.messages import LONGEST, clean_text
from billframes.periods import parse_period
from billframes.schema.resources import ALL_ZERO_ID

LONG = "9" * 3_000_000


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.time_entries(LONG),
        lambda client: client.time_entries("2026-10", billing_type=LONG),
        lambda client: client.time_entries("2026-10", select=LONG),
        lambda client: client.time_entries("2026-10", sort=[LONG, "date"]),
        lambda client: client.time_entries("2026-10", to=LONG),
        lambda client: client.time_entries("2026-10", modified_since=LONG),
        lambda client: client.time_entries("2026-10", progress=LONG),
        lambda client: client.time_entries("2026-10", limit=LONG),
        lambda client: client.clients.update(ALL_ZERO_ID, contact={LONG: "x"}),
        lambda client: bf.enrich(client.practice_areas(), by=LONG),
        lambda client: bf.analysis.utilization(client.practice_areas(), by=LONG),
        lambda client: bf.explain(LONG),
        lambda client: bf.book(LONG, client=client),
        lambda client: bf.Client(LONG, "token"),
        lambda client: bf.Client("https://billing.example.com", "token", timeout=LONG),
        lambda client: bf.FirmSettings(hours_per_day=LONG),
        lambda client: parse_period(LONG),
    ],
)
def test_long_arguments_are_shortened_in_errors(client, call):
    with pytest.raises((bf.errors.BillframesError, TypeError, AttributeError)) as raised:
        call(client)
    error = raised.value
    while error is not None:
        assert len(str(error)) <= LONGEST
        error = None if error.__suppress_context__ else error.__cause__ or error.__context__


@pytest.mark.parametrize(
    "kind",
    [bf.errors.ParameterError, bf.errors.MissingColumnError, bf.errors.RefusedError, bf.errors.IncompleteDataWarning],
)
def test_errors_and_warnings_have_no_terminal_commands_of_the_server(kind):
    error = kind("The server says: \x1b[2Jno\x07\x9d0;pwned\x9c \u202eway\r\nelse")
    assert str(error) == "The server says: no way\nelse"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_letters_of_all_scripts_stay():
    words = "Söhne & Cie, 株式会社, שלום, Ελλάδα, 👩🏽‍⚖️, naïve\tno"
    assert clean_text(words) == words


def test_a_loader_can_be_pickled_with_its_client_and_without(client, sandbox, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    monkeypatch.setattr("billframes._session._default", [])
    stored = pickle.dumps([bf.time_entries, client.time_entries, client.clients])
    assert sandbox.tokens["full"].encode() not in stored
    of_default, of_client, clients = pickle.loads(stored)
    day = dt.date(2026, 10, 5)
    expected = len(client.time_entries(day, day))
    assert len(of_default(day, day)) == expected
    assert of_client._owner().base_url == client.base_url
    assert clients._resource is client.clients._resource
    for each in (of_default, of_client, clients):
        each._owner().close()
