"""Loads from a server that changes between any two requests keep their promises, and defects would be noticed."""

from __future__ import annotations

import queue
import threading
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st, target
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from billframes.errors import PagingError
from billframes.paging import date_windows, key_ranges, undated
from billframes.paging.changes import ChangeReader
from tests.examples import example_count
from tests.simulation.model import Model, Reply, Setting
from tests.simulation.runner import (
    SETTINGS,
    ShuffledTransport,
    broken_promise,
    builder_of,
    query_of,
    reader_of,
    simulate,
)

SEEDS = example_count(4)
NAMED = dict(SETTINGS)


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, id=name, marks=[pytest.mark.slow] if place % 3 else [])
        for place, (name, _) in enumerate(SETTINGS)
    ],
)
def test_no_load_breaks_a_promise(place):
    outcomes = [simulate(place + len(SETTINGS) * turn) for turn in range(SEEDS)]
    assert [f"seed {each.seed}: {each.broken}" for each in outcomes if each.broken] == []


@pytest.mark.parametrize(
    "name", ["days, quiet", "names, quiet", "days, ties shuffled", "dense days, quiet, ties shuffled"]
)
def test_a_quiet_server_gives_snapshots(name):
    assert {simulate(seed, NAMED[name]).proof for seed in range(5)} == {"snapshot"}


@pytest.mark.slow
def test_on_a_quiet_server_a_hundred_pages_cost_at_most_a_fifth_more():
    setting = Setting(rows=10_000, days=900, page=100)
    assert simulate(1, setting).requests <= 120


def test_one_page_is_one_request():
    assert simulate(1, Setting(rows=10)).requests == 1


@pytest.mark.parametrize(("rows", "pages"), [(70, 4), (90, 5)])
def test_a_few_pages_of_days_cost_at_most_three_requests_more(rows, pages):
    assert max(simulate(seed, Setting(rows=rows, days=200, page=20)).requests for seed in range(6)) <= pages + 3


def test_pages_of_one_record_are_a_snapshot_too():
    assert simulate(1, Setting(rows=7, page=1)).proof == "snapshot"


def broken_among(name: str, seeds: int) -> list[str]:
    return [outcome.broken for seed in range(seeds) if (outcome := simulate(seed, NAMED[name])).broken]


# Seeds with which the rule "unequal without case, accents and punctuation" loses records and claims a snapshot.
LOSING = [
    ("Hungarian, hidden", 5),
    ("DUCET, utf8mb4_0900_ai_ci, hidden", 19),
    ("DUCET, shifted, hidden", 72),
    ("PostgreSQL ICU, numeric, hidden", 27),
    ("German phone book, hidden", 27),
    ("Swedish, hidden", 28),
]


@pytest.mark.parametrize(("name", "seed"), LOSING)
def test_names_that_are_equal_for_the_server_lose_no_rows(name, seed, monkeypatch):
    assert simulate(seed, NAMED[name]).broken == ""

    def plain(text):
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text or "").casefold())
        return "".join(each for each in decomposed if each.isalnum())

    monkeypatch.setattr(key_ranges, "surely_differ", lambda one, other: plain(one) != plain(other))
    assert "missing" in simulate(seed, NAMED[name]).broken


def test_a_quiet_list_is_proved_by_its_count_in_any_script():
    names = Setting(resource="clients", scripts=True, shuffled=True, names=2, collation="Danish")
    assert {simulate(seed, names).proof for seed in range(8)} == {"snapshot"}


def test_a_count_without_a_request_for_changes_proves_nothing(monkeypatch):
    monkeypatch.setattr(undated, "_unchanged", lambda scheduler, query, store, mark: True)
    names = Setting(resource="clients", rows=30, scripts=True, shuffled=True, names=2, collation="Swedish", changes=3)
    assert any(simulate(seed, names).broken for seed in range(60))


def test_continuing_from_the_day_after_loses_rows(monkeypatch):
    def skip_the_day(self, window, _request, page):
        window.low = page.records[-1].date + date_windows.DAY
        return window.low > window.high

    monkeypatch.setattr(date_windows._Windows, "_advance", skip_the_day)
    assert broken_among("expenses, quiet", 5)


@pytest.mark.slow
def test_ranges_joined_by_any_shared_key_lose_rows(monkeypatch):
    monkeypatch.setattr(key_ranges, "leave_no_gap", lambda one, other: bool(one.key_set & other.key_set))
    assert broken_among("matters, many ties, 0.1 changes", 60)


@pytest.mark.slow
def test_without_catch_up_promises_are_broken(monkeypatch):
    monkeypatch.setattr(ChangeReader, "_catch_up", lambda _self: False)
    assert broken_among("days, 0.5 changes", 30)


def test_without_a_count_a_snapshot_may_be_of_no_instant(monkeypatch):
    monkeypatch.setattr(ChangeReader, "prove", lambda self, _counted: ("snapshot", self._catch_up())[0])
    assert "a snapshot of no instant" in broken_among("days, 0.5 changes", 10)


@pytest.mark.slow
def test_commits_later_than_the_overlap_are_noticed_or_missed(monkeypatch):
    """The promise is limited to the overlap: with later commits, promises are broken."""
    beyond = Setting(late=0.5, late_seconds=40.0, changes=0.5)
    assert any(simulate(seed, beyond).broken or simulate(seed, beyond).proof == "raised" for seed in range(30))


@pytest.mark.parametrize("resource", ["expenses", "clients"])
def test_a_short_list_that_changes_at_each_request_is_read_with_the_larger_page_of_the_message(resource):
    busy = Setting(resource=resource, rows=60, page=8, changes=1.0, overlap=60.0)
    with pytest.raises(PagingError, match=r"fewer people are writing, with a page_size larger than 8, or"):
        reader_of(busy, ShuffledTransport(Model(busy, 1), 2), [], builder_of(busy)).read([query_of(busy)])
    assert {simulate(seed, busy).proof for seed in range(2)} == {"raised"}
    larger = [simulate(seed, replace(busy, page=100)) for seed in range(2)]
    assert [(each.proof, each.broken) for each in larger] == [("snapshot", "")] * 2


class SteppedTransport:
    """A transport for which the state machine chooses the request to serve and the response to return."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sent: list[tuple[int, Any]] = []
        self.answered: list[tuple[int, Reply]] = []
        self.waiting = threading.Semaphore(0)
        self.arriving: queue.Queue[tuple[int, Reply]] = queue.Queue()

    def send(self, ticket: int, query: Any) -> None:
        self.sent.append((ticket, query))

    def receive(self) -> tuple[int, Reply]:
        self.waiting.release()
        return self.arriving.get(timeout=30)

    def close(self) -> None:
        pass


class ServerAndReader(RuleBasedStateMachine):
    """Hypothesis chooses the writes between requests, and the order of requests and responses."""

    @initialize(
        seed=st.integers(0, 10_000),
        resource=st.sampled_from(["time_entries", "expenses", "invoices", "clients", "matters"]),
        rows=st.integers(0, 60),
        days=st.sampled_from([1, 4, 12, 30]),
        page=st.sampled_from([4, 8, 15]),
        names=st.sampled_from([1, 5, 100]),
        late=st.sampled_from([0.0, 0.5]),
        shuffled=st.booleans(),
    )
    def begin(self, seed, **chosen):
        self.model = Model(Setting(**chosen), seed)
        self.before = self.model.begin()
        self.transport, self.progress, self.ended = SteppedTransport(self.model), [], []
        self.builder = builder_of(self.model.setting)
        self.thread = threading.Thread(target=self._load)
        self.thread.start()
        self.transport.waiting.acquire()

    def _load(self):
        try:
            reader = reader_of(self.model.setting, self.transport, self.progress, self.builder)
            loaded = reader.read([query_of(self.model.setting)])
            self.ended.append(loaded)
        except PagingError as error:
            self.ended.append(error)
        finally:
            self.transport.waiting.release()

    @rule(kind=st.sampled_from(["insert", "edit", "delete"]))
    def write_one(self, kind):
        self.model.write(kind)

    @rule()
    def delete_many(self):
        self.model.purge(0.2)

    @precondition(lambda self: self.transport.sent)
    @rule(place=st.integers(0, 100))
    def serve_request(self, place):
        ticket, query = self.transport.sent.pop(place % len(self.transport.sent))
        self.model.advance()
        self.transport.answered.append((ticket, self.model.reply(query)))

    @precondition(lambda self: self.transport.answered and not self.ended)
    @rule(place=st.integers(0, 100))
    def return_response(self, place):
        self.transport.arriving.put(self.transport.answered.pop(place % len(self.transport.answered)))
        self.transport.waiting.acquire()

    def teardown(self):
        if not hasattr(self, "thread"):
            return
        while not self.ended:
            if not self.transport.answered:
                self.serve_request(0)
            self.return_response(0)
        self.thread.join()
        (end,) = self.ended
        if not isinstance(end, PagingError):
            target(float(len(self.model.history)))
            assert (
                broken_promise(self.model, self.before, end, self.builder, query_of(self.model.setting), self.progress)
                == ""
            )


TestServerAndReader = ServerAndReader.TestCase
TestServerAndReader.settings = settings(
    max_examples=example_count(60),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
