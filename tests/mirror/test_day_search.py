"""The days that records are gone from are all looked through, in few requests."""

from __future__ import annotations

import datetime as dt
import random

import pytest

from billframes.mirror.day_search import Days, SpanResult, search_days

FIRST = dt.date(2026, 1, 1)
MOST = 5000


class Firm:
    """A list with so many rows a day, here and there; it answers as a server with pages of 100 rows does."""

    page = 100

    def __init__(self, here, there):
        self.here, self.there = here, there
        self.days = Days([FIRST + dt.timedelta(number) for number in range(len(here))], here)
        self.requests, self.looked = 0, set()

    def search(self):
        search_days(self.days, sum(self.here) - sum(self.there), self.page, MOST, self.send)
        return self.looked

    def send(self, requests):
        return [self.answer(each.span.first, each.last, each.kind) for each in requests]

    def answer(self, first, last, how):
        rows = self.there[first : last + 1]
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
        self.looked |= {*range(first, until + 1)}
        return SpanResult(sum(rows), until, sum(self.there[first : until + 1]))


def firm(chosen, number, least, most, gone, since=0):
    here = [chosen.randint(least, most) for _ in range(number)]
    there = list(here)
    for day in chosen.choices(range(since, number), here[since:], k=gone):
        there[day] = max(0, there[day] - 1)
    return Firm(here, there)


@pytest.mark.parametrize("rows", [(0, 20), (5, 40), (30, 90), (80, 300)])
@pytest.mark.parametrize("gone", [1, 5, 60])
def test_every_day_that_lacks_a_row_is_looked_through(rows, gone):
    for seed in range(10):
        made = firm(random.Random(seed), 400, *rows, gone)
        assert {day for day in range(400) if made.here[day] != made.there[day]} <= made.search()


def test_a_part_that_has_more_rows_there_is_looked_through_too():
    made = firm(random.Random(1), 400, 5, 40, 0)
    made.there[33] -= 1
    made.there[366] += 1
    made.there[100] -= 1
    assert {33, 100, 366} <= made.search()


def test_deletions_all_over_take_less_than_a_request_for_each_page():
    """As many as pages: more than a third of the pages lack none, and a total that a page states costs nothing."""
    requests, pages = [], []
    for seed in range(10):
        made = firm(random.Random(seed), 360, 15, 35, 50, since=180)
        made.search()
        requests.append(made.requests)
        pages.append(sum(made.here[180:]) / made.page)
    assert sum(requests) < 1.05 * sum(pages)


def test_one_deletion_is_found_by_halves():
    made = firm(random.Random(2), 1000, 5, 40, 1)
    made.search()
    assert made.requests <= 12
