"""All days with deleted records are found in few requests."""

from __future__ import annotations

import datetime as dt
import random

import pytest

from billframes.mirror.day_search import Days, SpanResult, search_days

FIRST = dt.date(2026, 1, 1)
MOST = 5000


class Firm:
    """A list with numbers of stored and served rows per day, which answers as a server with pages of 100 rows."""

    page = 100

    def __init__(self, stored, served):
        self.stored, self.served = stored, served
        self.days = Days({FIRST + dt.timedelta(number): rows for number, rows in enumerate(stored)})
        self.requests, self.compared = 0, set()

    def search(self):
        search_days(self.days, sum(self.stored) - sum(self.served), self.page, MOST, self.send)
        return self.compared

    def send(self, requests):
        return [self.answer(each.span.first, each.last, each.kind) for each in requests]

    def answer(self, first, last, how):
        rows = self.served[first : last + 1]
        self.requests += 1
        if how == "total":
            return SpanResult(sum(rows), first - 1, 0)
        until = last
        if how == "all":
            self.requests += sum(rows) // self.page
        elif sum(rows) >= self.page:
            fit = [place for place in range(len(rows)) if sum(rows[: place + 1]) < self.page]
            until = first + fit[-1] if fit else first
            self.requests += 0 if fit else sum(rows[:1]) // self.page
        self.compared |= {*range(first, until + 1)}
        return SpanResult(sum(rows), until, sum(self.served[first : until + 1]))


def firm(chosen, number, least, most, deleted, since=0):
    stored = [chosen.randint(least, most) for _ in range(number)]
    served = list(stored)
    for day in chosen.choices(range(since, number), stored[since:], k=deleted):
        served[day] = max(0, served[day] - 1)
    return Firm(stored, served)


@pytest.mark.parametrize("rows", [(0, 20), (5, 40), (30, 90), (80, 300)])
@pytest.mark.parametrize("deleted", [1, 5, 60])
def test_every_day_that_lacks_a_row_is_compared(rows, deleted):
    for seed in range(10):
        made = firm(random.Random(seed), 400, *rows, deleted)
        assert {day for day in range(400) if made.stored[day] != made.served[day]} <= made.search()


def test_days_with_more_rows_on_the_server_are_compared_too():
    made = firm(random.Random(1), 400, 5, 40, 0)
    made.served[33] -= 1
    made.served[366] += 1
    made.served[100] -= 1
    assert {33, 100, 366} <= made.search()


def test_deletions_on_all_days_take_less_than_a_request_for_each_page():
    """There are as many deletions as pages: more than a third of the pages lack no row."""
    requests, pages = [], []
    for seed in range(10):
        made = firm(random.Random(seed), 360, 15, 35, 50, since=180)
        made.search()
        requests.append(made.requests)
        pages.append(sum(made.stored[180:]) / made.page)
    assert sum(requests) < 1.05 * sum(pages)


def test_one_deletion_is_found_by_halves():
    made = firm(random.Random(2), 1000, 5, 40, 1)
    made.search()
    assert made.requests <= 12
