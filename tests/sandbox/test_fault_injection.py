"""Injected faults: each kind does what its documentation says."""

import asyncio
import datetime as dt
import shutil
import sqlite3
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from itertools import islice

import httpx
import pytest

from billframes.errors import ConfigError
from billframes.sandbox import Sandbox, Throttle, Trouble
from billframes.sandbox.fault_injection import BackgroundWriter
from billframes.sandbox.throttle import Throttled

NEW = {"matterId": "a1", "date": "2026-10-30", "description": "Work", "hours": 1}


@pytest.fixture
def start_api(firm, tmp_path, tools):
    @contextmanager
    def make(**options):
        path = tmp_path / "troubled.db"
        shutil.copyfile(firm, path)
        trouble = {name: options.pop(name) for name in [*options] if name in Trouble.__dataclass_fields__}
        with Sandbox(db=path, trouble=Trouble(**trouble), **options) as sandbox:
            api = tools.Api(sandbox)
            with api.http:
                yield api

    return make


def outcome(api, *call, **options):
    try:
        answer = api.send(*call, **options)
    except (httpx.RemoteProtocolError, httpx.ReadError):
        # Which of the two is raised depends on how much of the response was received.
        return "dropped"
    return answer.status_code


def test_faults_by_rate(start_api):
    """faults: share of calls that fail; the same seed fails the same calls."""
    runs = []
    for _ in range(2):
        with start_api(faults=0.3, seed=5) as api:
            runs.append([outcome(api, "GET", "clients") for _ in range(100)])
    assert runs[0] == runs[1]
    counts = Counter(runs[0])
    assert 55 < counts[200] < 85
    assert {200, 500, 502, 503, 504, "dropped"} == set(counts)


@pytest.mark.parametrize(("kind", "done"), [("503", False), ("drop", False), ("cut", True), ("lost", True)])
def test_kinds_of_faults(start_api, kind, done):
    """With a status or "drop" a call is not processed; with "cut" and "lost" it is, but the response is lost."""
    with start_api(faults=1, fault_kinds=(kind,)) as api:
        before = len(api.all_rows())
        results = {outcome(api, "POST", "time-entries", NEW) for _ in range(8)}
        assert results <= ({503} if kind == "503" else {500, "dropped"})
        entries = [row for row in api.all_rows() if row[0] == "time_entry"]
        assert len(entries) == (13 if done else 5)
        assert (len(api.all_rows()) > before) == done


def test_ties_in_another_order_each_time(start_api):
    """shuffled_ties: records that are equal under the sort are in another order in each response."""
    with start_api(shuffled_ties=True) as api:
        orders = {api.ids("clients", sort="name") for _ in range(40)}
        assert len(orders) == 2
    with start_api() as api:
        assert len({api.ids("clients", sort="name") for _ in range(40)}) == 1


def test_commits_that_become_visible_late(start_api):
    """late_commits: a write becomes visible later than its modified date."""
    with start_api(late_commits=1, late_seconds=0.3) as api:
        started = time.monotonic()
        entry = api.write("POST", "time-entries", NEW)
        assert time.monotonic() - started > 0.3
        clock = api.sandbox._store.clock
        assert entry["meta"]["modifiedAt"] < clock.now().isoformat()[:26]
        lateness = clock.now().timestamp() - _timestamp(entry["meta"]["modifiedAt"])
        assert 0.3 < lateness < 60


def test_edits_that_do_not_move_the_modified_date(start_api):
    """still_edits: share of updates that do not set the modified date."""
    with start_api(still_edits=1) as api:
        before = api.record("time-entries", "e2")
        api.write("PUT", "time-entries/e2", {"hours": 7})
        after = api.record("time-entries", "e2")
        assert (after["hours"], after["meta"]) == (7.0, before["meta"])


def test_a_smaller_limit_is_granted(start_api):
    """most_granted: the granted limit is in the pagination."""
    with start_api(most_granted=2) as api:
        rows, pagination = api.list("time-entries", limit=1000)
        assert (len(rows), pagination["limit"], pagination["total"]) == (2, 2, 5)


def test_ignored_filters(start_api):
    """ignored: query parameters that are ignored."""
    with start_api(ignored=("userId", "modifiedSince")) as api:
        assert api.ids("time-entries", userId="b3", modifiedSince="2027-01-01T00:00:00Z") == "e1 e4 e2 e3 e5"
        assert api.ids("time-entries", matterId="a1") == "e1 e2"


def test_the_background_writer_writes(start_api):
    """writes_per_second: the background writer works while others read."""
    with start_api(writes_per_second=200) as api:

        def written():
            return sum("colleague" in row["description"] for row in api.rows("time-entries"))

        until = time.monotonic() + 60
        while written() <= 3 and time.monotonic() < until:
            time.sleep(0.05)
        assert written() > 3
        assert {row["description"] for row in api.rows("time-entries", billed="true")} == {"Draft complaint", "Will"}


def test_the_background_writers_changes_are_found_by_their_modified_date(start_api):
    with start_api() as api:
        writer = BackgroundWriter(api.sandbox._store, Trouble(writes_per_second=1, seed=1))
        for _ in range(20):
            writer.write()
        changed = [row["timeEntryId"] for row in api.rows("time-entries") if "colleague's change" in row["description"]]
        assert changed
        since = api.rows("time-entries", modifiedSince="2026-10-31T20:00:00Z")
        assert set(changed) <= {row["timeEntryId"] for row in since}


def test_latency(start_api):
    """latency_ms: every call is delayed."""
    with start_api(latency_ms=120) as api:
        started = time.monotonic()
        api.call("/v2/clients")
        assert time.monotonic() - started > 0.12


def test_throttle_by_the_minute(start_api):
    """Calls beyond the limit per minute get 429 with `Retry-After`; the health check does not count."""
    with start_api(throttle=Throttle(per_minute=3)) as api:
        started = time.monotonic()
        answers = [api.send("GET", "clients") for _ in range(5)]
        assert [each.status_code for each in answers] == [200, 200, 200, 429, 429]
        assert 60 - (time.monotonic() - started) <= int(answers[-1].headers["Retry-After"]) <= 60
        assert answers[-1].json()["title"] == "Too Many Requests"
        assert api.send("GET", "health").status_code == 200


def test_throttle_at_once(start_api):
    """Calls beyond the limit of calls in progress get 429."""
    with (
        start_api(throttle=Throttle(at_once=2)) as api,
        ThreadPoolExecutor(6) as pool,
        closing(sqlite3.connect(api.database, isolation_level=None)) as outsider,
    ):
        # No write can finish before all have been received.
        outsider.execute("BEGIN IMMEDIATE")
        sent = [pool.submit(api.send, "POST", "time-entries", NEW) for _ in range(6)]
        answers = [each.result() for each in islice(as_completed(sent), 4)]
        outsider.execute("ROLLBACK")
        answers += [each.result() for each in sent if each.result() not in answers]
        assert sorted(each.status_code for each in answers) == [200, 200, 429, 429, 429, 429]
        assert {each.headers["Retry-After"] for each in answers if each.status_code == 429} == {"1"}


def test_limits_end():
    """A limit ends when the oldest call is a minute or a day ago."""
    now, statuses = [0.0], []

    async def app(_scope, _receive, send):
        await send({"status": 200})

    async def send(message):
        if "status" in message:
            statuses.append(message["status"])

    throttled = Throttled(app, Throttle(per_minute=2, per_day=3), unlimited=frozenset(), now=lambda: now[0])
    for moment in (0, 10, 20, 60.1, 70.1, 86_400, 86_461):
        now[0] = moment
        asyncio.run(throttled({"type": "http", "path": "/v2/clients"}, None, send))
    assert statuses == [200, 200, 429, 200, 429, 200, 200]


@pytest.mark.parametrize(
    "text", ["faults=2", "faults=x", "nonsense=1", "fault_kinds=418", "most_granted=0", "late_seconds=-1"]
)
def test_unusable_trouble(text):
    """Shares outside of 0 to 1, unknown words and numbers out of range are refused."""
    with pytest.raises(ConfigError):
        Trouble.parse(text)


@pytest.mark.parametrize("text", ["per_minute=0", "per_hour=1", "at_once=x", "5"])
def test_unusable_throttles(text):
    """Limits below 1 and unknown limits are refused."""
    with pytest.raises(ConfigError):
        Throttle.parse(text)


def test_trouble_on_the_command_line():
    """Every kind of fault can be set on the command line."""
    text = "faults=0.1,fault_kinds=500+lost,shuffled_ties,late_commits=1,late_seconds=3,still_edits=0.5"
    text += ",most_granted=10,ignored=billed+userId,writes_per_second=2,seed=9"
    assert Trouble.parse(text) == Trouble(
        faults=0.1,
        fault_kinds=("500", "lost"),
        shuffled_ties=True,
        late_commits=1,
        late_seconds=3,
        still_edits=0.5,
        most_granted=10,
        ignored=("billed", "userId"),
        writes_per_second=2,
        seed=9,
    )
    assert Trouble.parse("") == Trouble()


def _timestamp(text):
    return dt.datetime.fromisoformat(text).timestamp()


def test_replaced_objects(start_api):
    """replaced_objects: an update replaces a contact or conflictInformation as a whole."""
    sent = {"clients/c1": {"contact": {"phone": "7"}}, "matters/a1": {"conflictInformation": {"opposing": "Nut"}}}
    for replaces in (False, True):
        with start_api(replaced_objects=replaces) as api:
            for path, body in sent.items():
                (name,) = body
                before = api.send("GET", path).json()["data"].get(name) or {}
                after = api.write("PUT", path, body)[name]
                assert after == (body[name] if replaces else before | body[name])
                assert before.keys() - body[name].keys()


@pytest.mark.parametrize(
    ("kind", "described", "mixed"), [("strict", 400, 400), ("lenient", {}, {"client"}), ("dropping", {}, set())]
)
def test_other_names(start_api, kind, described, mixed):
    """other_names: `client` selects a matter's client; unknown names are refused, ignored, or drop the `select`."""

    def shown(api, path, select):
        answer = api.call(f"/v2/{path}", select=select, limit=1)
        if answer.status_code != 200:
            return answer.status_code
        (record,) = answer.json()["data"]
        return {"client", "invoice", "responsible"} & record.keys()

    with start_api(other_names=kind) as api:
        assert shown(api, "matters", "client,responsible") == {"client", "responsible"}
        assert shown(api, "matters", "") == set()
        assert shown(api, "matters", "matter") == (described or set())
        assert shown(api, "matters", "client,matter") == mixed
        ids = {row["invoiceId"] for row in api.rows("time-entries", billed="true")}
        assert ids
        assert all("invoice" not in row for row in api.rows("time-entries", billed="true"))
        assert all("invoice" in row for row in api.rows("time-entries", select="invoice", billed="true"))
    with pytest.raises(ConfigError, match="strict, lenient, dropping"):
        Trouble(other_names="odd")
    assert Trouble.parse(f"other_names={kind}").other_names == kind
