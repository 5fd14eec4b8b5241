"""A change of unknown outcome is sent again only if the record did not change since it was first sent."""

from __future__ import annotations

import datetime as dt
import json
import time

import pytest

from billframes.errors import DecodeError
from billframes.schema.resources import EXPENSES
from billframes.transport.request import Response
from billframes.transport.unanswered_updates import check_update

NOW = dt.datetime(2026, 10, 31, 20, tzinfo=dt.UTC)


def test_an_edit_since_the_first_attempt_may_be_a_colleagues(monkeypatch):
    """The record was changed five seconds ago, by the server's clock."""
    record = {"expenseId": "e1", "amount": 5, "meta": {"modifiedAt": "2026-10-31T19:59:55Z"}}
    answer = Response(json.dumps({"data": record}).encode(), NOW)
    check_outcome = check_update(lambda: answer, b'{"amount": 9}', EXPENSES, "e1")
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    assert check_outcome(99.0) is None
    with pytest.raises(DecodeError, match="changed meanwhile"):
        check_outcome(90.0)
