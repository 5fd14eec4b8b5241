"""A server made of answers, for faults that the sandbox won't produce."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import billframes as bf


class Fake:
    """Answers requests with what a test says, and remembers them."""

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
        """The query of a request that was sent."""
        return dict(self.requests[place].url.params)


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def connect(fake: Fake) -> Callable[..., bf.Client]:
    """Connect to the fake."""

    def connecting(**options: Any) -> bf.Client:
        options = {"retries": 0, **options}
        return bf.Client("https://billing.test", "t0ken", transport=httpx.MockTransport(fake), **options)

    return connecting


def entry(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A time entry with only what the API requires."""
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
    """Time entries on as many days: a page that ends within a day proves nothing of the days after."""
    return [entry(i, date=f"{dt.date(2026, 9, 1) + dt.timedelta(days=i)}") for i in range(number)]


def paged(rows: list[dict[str, Any]], granted: int = 1000) -> Callable[[httpx.Request], dict[str, Any]]:
    """A list served in pages as the API describes it: days narrow it, and it is sorted by date where asked."""

    def serve(request: httpx.Request) -> dict[str, Any]:
        asked = request.url.params
        limit, offset = min(granted, int(asked.get("limit", 1000))), int(asked.get("offset", 0))
        first, last = asked.get("startDate", ""), asked.get("endDate", "~")
        found = [row for row in rows if first <= row.get("date", "") <= last]
        if asked.get("sort") in {"date", "-date"}:
            found.sort(key=lambda row: row["date"], reverse=asked["sort"] == "-date")
        return {
            "data": found[offset : offset + limit],
            "pagination": {"limit": limit, "offset": offset, "total": len(found)},
        }

    return serve
