"""How long a load waits, in rounds of latency: each request takes one, and no other work takes time."""

from __future__ import annotations

import datetime as dt
import heapq
import random
from types import SimpleNamespace

import pytest

from billframes.paging import ListReader, ListSchema
from billframes.schema.decode import ListBody
from billframes.schema.records import Pagination
from billframes.schema.resources import EXPENSES, TIME_ENTRIES

ENTRIES, DAYS, PAGE, CONNECTIONS = 100_000, 1000, 1000, 8
PAGES = ENTRIES // PAGE
# Only downloading the pages.
BARE = -(-PAGES // CONNECTIONS)
FIRST_DAY = dt.date(2024, 1, 1)
DISTRIBUTIONS = {
    "even": lambda chance, _: chance.randrange(DAYS),
    "growing": lambda chance, _: int(DAYS * chance.random() ** 0.5),
    "bursts at month ends": lambda chance, _: chance.randrange(DAYS // 30) * 30 + 29 - int(30 * chance.random() ** 4),
    "one day of 3,000 entries": lambda chance, number: 500 if number < 3000 else chance.randrange(DAYS),
}


class Server:
    """A quiet server, and the clock: a connection answers one round of latency after it has sent a request."""

    def __init__(self, resource, days):
        chance = random.Random(1)
        self.rows = [self._record(resource, number, day, chance) for number, day in enumerate(sorted(days))]
        self.by_creation = sorted(self.rows, key=lambda row: row.meta.created_at)
        self.now = 0
        self._free, self._under_way, self._waiting = CONNECTIONS, [], []

    def _record(self, resource, number, day, chance):
        date = FIRST_DAY + dt.timedelta(days=day)
        created = dt.datetime.combine(date, dt.time(8)) + dt.timedelta(days=7 * chance.random(), microseconds=number)
        meta = SimpleNamespace(created_at=f"{created.isoformat()}Z", modified_at=f"{created.isoformat()}Z")
        values = {resource.id_column: str(number), "billed": chance.random() < 0.5, "amount": float(number)}
        return SimpleNamespace(date=date, meta=meta, description="Copies", **values)

    def send(self, ticket, query):
        self._waiting.append((ticket, query))
        self._begin()

    def _begin(self):
        while self._waiting and self._free:
            self._free -= 1
            heapq.heappush(self._under_way, (self.now + 1, *self._waiting.pop(0)))

    def receive(self):
        self.now, ticket, query = heapq.heappop(self._under_way)
        self._free += 1
        self._begin()
        return ticket, SimpleNamespace(body=self._page(dict(query)), date=dt.datetime(2027, 1, 1, tzinfo=dt.UTC))

    def close(self):
        pass

    def _page(self, query):
        rows = self.by_creation if query["sort"] == "created" else self.rows
        if "modifiedSince" in query:
            rows = []
        if "startDate" in query:
            low, high = (dt.date.fromisoformat(query[name]) for name in ("startDate", "endDate"))
            rows = [row for row in rows if low <= row.date <= high]
        if "billed" in query:
            rows = [row for row in rows if row.billed == (query["billed"] == "true")]
        if query["sort"] == "-date":
            rows = rows[::-1]
        limit, offset = int(query["limit"]), int(query["offset"])
        return ListBody(rows[offset : offset + limit], Pagination(limit=limit, offset=offset, total=len(rows)))


class Block:
    def __init__(self, records):
        self.rows = len(records)

    def value(self, _column, _row):
        return None


def loaded(resource, distribution):
    chance = random.Random(1)
    server = Server(resource, [DISTRIBUTIONS[distribution](chance, number) for number in range(ENTRIES)])
    reader = ListReader(
        fetch=lambda _query: None,
        decode=lambda body: body,
        pack=Block,
        schema=ListSchema(resource),
        page_size=PAGE,
        concurrency=CONNECTIONS,
        progress=lambda _done, _total: None,
        transport=lambda: server,
    )
    result = reader.read([(("sort", "date"),)])
    assert (len(result.rows), result.proof) == (ENTRIES, "snapshot")
    return result.requests, server.now


@pytest.mark.slow
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_load_waits_little_longer_than_a_download_of_the_pages(distribution):
    requests, rounds = loaded(TIME_ENTRIES, distribution)
    assert requests <= 1.05 * PAGES
    assert rounds <= 1.25 * BARE


@pytest.mark.slow
def test_days_of_more_than_a_page_are_read_side_by_side():
    _, rounds = loaded(EXPENSES, "bursts at month ends")
    assert rounds <= 2.5 * BARE
