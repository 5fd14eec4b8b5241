"""The number of requests for a quiet list."""

import datetime as dt
from email.utils import formatdate

import httpx
import pytest

import billframes as bf

PAGES, ROWS = 20, 100


@pytest.mark.parametrize("of_one_name", [1, 30, 150])
@pytest.mark.parametrize("imported", [False, True])
def test_a_quiet_list_of_names_takes_a_seventh_more_requests_than_it_has_pages(of_one_name, imported):
    """With any number of records of one name, and also if all records were last changed at one instant."""
    asked = []
    rows = [matter(number, number // of_one_name, 0 if imported else number % 28) for number in range(PAGES * ROWS)]

    def answer(request):
        query = dict(request.url.params)
        if not request.url.path.endswith("/matters"):
            return httpx.Response(200, json={"data": []})
        asked.append(query)
        found = [row for row in rows if row["meta"]["modifiedAt"] >= query.get("modifiedSince", "")]
        offset, limit = int(query["offset"]), int(query["limit"])
        where = {"limit": limit, "offset": offset, "total": len(found)}
        body = {"data": found[offset : offset + limit], "pagination": where}
        return httpx.Response(200, json=body, headers={"Date": formatdate(usegmt=True)})

    transport = httpx.MockTransport(answer)
    with bf.Client("http://127.0.0.1:1/api", transport=transport, page_size=ROWS) as client:
        frame = client.matters(select="meta")
    assert len(frame) == len(rows)
    assert len(asked) <= 1.15 * PAGES


@pytest.mark.parametrize(("created", "most"), [("imported at once", 30), ("unknown of some", 50), ("one a day", 25)])
def test_time_entries_without_different_creation_times_are_read_by_their_days(created, most):
    asked = []
    rows = [entry(number, created) for number in range(PAGES * ROWS)]

    def answer(request):
        query = dict(request.url.params)
        asked.append(query)
        low, high = query.get("startDate", ""), query.get("endDate", "9")
        found = [row for row in rows if low <= row["date"] <= high and "modifiedSince" not in query]
        if query["sort"] == "-date":
            found.reverse()
        offset, limit = int(query["offset"]), int(query["limit"])
        body = {
            "data": found[offset : offset + limit],
            "pagination": {"limit": limit, "offset": offset, "total": len(found)},
        }
        return httpx.Response(200, json=body, headers={"Date": formatdate(usegmt=True)})

    transport = httpx.MockTransport(answer)
    with bf.Client("http://127.0.0.1:1/api", transport=transport, page_size=ROWS) as client:
        frame = client.time_entries(select="meta")
    assert len(frame) == len(rows)
    assert len(asked) <= most


def entry(number, created):
    day = dt.date(2024, 1, 1) + dt.timedelta(days=number // 5)
    at = "2023-12-31T10:00:00Z" if created == "imported at once" else f"{day}T10:00:0{number % 5}Z"
    without = created == "unknown of some" and number % 700 == 650
    return {
        "timeEntryId": f"t{number:05}",
        "date": str(day),
        "matterId": "m1",
        "clientId": "c1",
        "userId": "u1",
        "description": "Review",
        "hours": 1.0,
        "billingType": "nonBillable",
        "billed": False,
        "meta": None if without else {"createdAt": at, "modifiedAt": at},
    }


def matter(number, name, day):
    at = f"2025-01-{day + 1:02}T10:00:00Z"
    return {
        "matterId": f"m{number:05}",
        "name": f"Acme {name:05}",
        "reference": f"{number:05}",
        "matterType": "hourly",
        "archived": False,
        "clientId": "c1",
        "client": {"name": "Acme"},
        "responsibleId": "u1",
        "originatorIds": [],
        "meta": {"createdAt": at, "modifiedAt": at},
    }
