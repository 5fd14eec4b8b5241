"""A fake server, for faults that the sandbox can't produce."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import billframes as bf


class FakeServer:
    """Sends the responses that a test sets, and records the requests."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.answers: dict[str, Any] = {"/v2/custom-fields": {"data": []}}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers[request.url.path]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, httpx.Response | bytes):
            return answer if isinstance(answer, httpx.Response) else httpx.Response(200, content=answer)
        return httpx.Response(200, content=json.dumps(answer))

    def query(self, place: int = -1) -> dict[str, str]:
        """The query of a request that was received."""
        return dict(self.requests[place].url.params)


@pytest.fixture
def fake() -> FakeServer:
    return FakeServer()


@pytest.fixture
def connect(fake: FakeServer) -> Callable[..., bf.Client]:
    """Return a function that makes a client of the fake server."""

    def make_client(**options: Any) -> bf.Client:
        options = {"retries": 0, **options}
        return bf.Client("https://billing.test", "t0ken", transport=httpx.MockTransport(fake), **options)

    return make_client


def entry(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A time entry with the fields that the API requires."""
    return {
        "timeEntryId": f"t{number:04}",
        "userId": "u1",
        "matterId": "m1",
        "clientId": "c1",
        "date": "2026-10-01",
        "description": "Draft brief",
        "hours": 1.5,
        "billingType": "billable",
        "billed": False,
        "rate": 300,
        "amount": 450,
        **changes,
    }


def entries(number: int) -> list[dict[str, Any]]:
    """Time entries, each on another day, because a page that ends within a day proves nothing about later days."""
    return [entry(i, date=f"{dt.date(2026, 9, 1) + dt.timedelta(days=i)}") for i in range(number)]


def paged(rows: list[dict[str, Any]], granted: int = 1000) -> Callable[[httpx.Request], dict[str, Any]]:
    """Serve a list in pages as the API describes: filtered by days, and sorted by date if requested."""

    def serve(request: httpx.Request) -> dict[str, Any]:
        params = request.url.params
        limit, offset = min(granted, int(params.get("limit", 1000))), int(params.get("offset", 0))
        first, last = params.get("startDate", ""), params.get("endDate", "~")
        found = [row for row in rows if first <= row.get("date", "") <= last]
        if params.get("sort") in {"date", "-date"}:
            found.sort(key=lambda row: row["date"], reverse=params["sort"] == "-date")
        return {
            "data": found[offset : offset + limit],
            "pagination": {"limit": limit, "offset": offset, "total": len(found)},
        }

    return serve
