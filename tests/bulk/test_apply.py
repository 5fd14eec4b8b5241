"""Applying a plan makes each change once, whatever the server, the network and colleagues do."""

from __future__ import annotations

import datetime as dt
import json
import pydoc
import re
import shutil
import sqlite3
import stat
import sys
import threading
from collections import Counter
from contextlib import closing

import httpx
import pandas as pd
import pytest

import billframes as bf
from billframes.bulk import apply as applying
from billframes.bulk.journal import Journal
from billframes.bulk.plan import Outcomes, Plan
from billframes.sandbox import Sandbox, throttle as throttling
from billframes.sandbox.fault_injection import BackgroundWriter, Trouble
from billframes.sandbox.throttle import Throttle
from billframes.transport import http
from billframes.transport.retry import retry_after
from tests.bulk.concurrent_edits import apply_beside_colleague
from tests.bulk.conftest import Firm
from tests.frames import assert_frame_equal


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.01)
    monkeypatch.setattr(applying, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(applying, "ABANDONED_SECONDS", 0.0)


def new_rows(entries: pd.DataFrame, number: int, text: str = "New work") -> pd.DataFrame:
    one = entries.iloc[0]
    return pd.DataFrame(
        {
            "time_entry_id": None,
            "matter_id": one["matter_id"],
            "user_id": one["user_id"],
            "date": dt.date(2026, 10, 12),
            "hours": 0.3,
            "description": [f"{text} {place}" for place in range(number)],
        }
    )


def outcomes_of(outcomes: pd.DataFrame) -> dict[str, int]:
    return dict(Counter(outcomes["outcome"].astype(str)))


@pytest.mark.slow
def test_every_change_is_made_once_and_the_way_back_gives_the_same_frame(firm, entries, journal):
    client, before = firm.client, firm.client.time_entries("2026-10-20", "2026-10-31", billed=False)
    edited = before.assign(description=before["description"] + " (checked)", hours=before["hours"] + 0.1)
    plan = client.time_entries.plan(pd.concat([edited, new_rows(before, 3)]))
    at = firm.position()
    outcomes = plan.apply(journal)
    assert outcomes_of(outcomes) == {"done": len(before) + 3}
    assert outcomes["id"].notna().all()
    assert outcomes.journal == journal
    written = Counter(id_ for id_, _ in firm.changes(at))
    assert len(written) == len(before) + 3
    assert set(written.values()) == {1}
    after = client.time_entries("2026-10-20", "2026-10-31", billed=False).set_index("time_entry_id")
    assert (after.loc[before["time_entry_id"], "description"].to_numpy() == edited["description"].to_numpy()).all()
    back = plan.reverse()
    assert (back.counts["update"], back.counts["delete"]) == (len(before), 3)
    assert outcomes_of(back.apply()) == {"done": len(before) + 3}
    again = client.time_entries("2026-10-20", "2026-10-31", billed=False)
    assert_frame_equal(again.drop(columns="modified_at"), before.drop(columns="modified_at"))


def test_only_changed_fields_are_sent(firm, entries, monkeypatch):
    bodies = []
    send = type(firm.client._connection).send
    monkeypatch.setattr(type(firm.client._connection), "send", lambda *a, **k: (bodies.append(a[3]), send(*a, **k))[1])
    loaded = firm.client.time_entries("2026-10", billed=False).head(2)
    firm.client.time_entries.plan(loaded.assign(hours=[9.1, 9.2])).apply()
    assert [json.loads(each) for each in sorted(bodies)] == [{"hours": 9.1}, {"hours": 9.2}]


def test_a_record_that_moved_after_the_plan_is_skipped(firm):
    loaded = firm.client.time_entries("2026-10", billed=False).head(3)
    plan = firm.client.time_entries.plan(loaded.assign(description="Mine"))
    firm.client.time_entries.update(loaded["time_entry_id"].iloc[1], hours=3.3)
    outcomes = plan.apply()
    assert outcomes["outcome"].tolist() == ["done", "changed since planned", "done"]
    assert firm.client.time_entries.get(loaded["time_entry_id"].iloc[1]).description != "Mine"
    again = outcomes.failed
    assert (again.counts["update"], again.frame["column"].tolist()) == (1, ["description"])
    assert outcomes_of(again.apply()) == {"done": 1}


def test_a_record_that_was_deleted_or_billed_after_the_plan_does_not_stop_the_rest(firm):
    loaded = firm.client.time_entries("2026-10", billed=False).tail(3)
    plan = firm.client.time_entries.plan(loaded.assign(description="Still there"))
    ids = loaded["time_entry_id"].tolist()
    firm.client.time_entries.delete(ids[0])
    with closing(sqlite3.connect(firm.sandbox.database)) as database, database:
        database.execute(
            "UPDATE time_entry SET invoice_id = (SELECT invoice_id FROM invoice LIMIT 1) WHERE time_entry_id = ?",
            [ids[1]],
        )
    assert sorted(plan.apply()["outcome"].astype(str)) == ["billed", "done", "gone"]


def test_one_refusal_does_not_stop_the_others_and_its_reason_is_the_servers_message(firm, monkeypatch):
    loaded = firm.client.time_entries("2026-10", billed=False).head(4)
    plan = firm.client.time_entries.plan(loaded.assign(description="Refused once", hours=[1.1, 2_000_000.0, 1.3, 1.4]))
    outcomes = plan.apply()
    assert outcomes["outcome"].tolist() == ["done", "refused", "done", "done"]
    assert "expected a number from" in outcomes["reason"].iloc[1]


def test_records_get_their_ids_if_the_response_has_no_body(firm):
    expenses = firm.client.expenses("2026-10", limit=1)
    row = {"expense_id": None, "matter_id": expenses["matter_id"].iloc[0], "date": "2026-10-08", "amount": 12.5}
    frame = pd.DataFrame([{**row, "description": text} for text in ("Taxi", "Courier", "Courier")])
    plan = firm.client.expenses.plan(frame)
    outcomes = plan.apply()
    assert outcomes_of(outcomes) == {"done": 3}
    assert outcomes["id"].nunique() == 3
    assert firm.client.expenses.get(outcomes["id"].iloc[0]).description == "Taxi"
    # Applied by mistake once more, nothing is created.
    assert firm.client.expenses.plan(frame)._sent == []
    assert outcomes_of(plan.reverse().apply()) == {"done": 3}


def test_undo_lists_what_cannot_be_undone(firm):
    loaded = firm.client.time_entries("2026-10", billed=False).iloc[10:13]
    ids = loaded["time_entry_id"].tolist()
    plan = firm.client.time_entries.plan(loaded.iloc[:2].assign(description="To be undone"), delete=[ids[2]])
    with pytest.raises(bf.errors.ParameterError, match="has not been applied"):
        plan.reverse()
    plan.apply()
    firm.client.time_entries.update(ids[0], description="A colleague's correction")
    back = plan.reverse()
    shown = back.frame.set_index("id")["status"].astype(str).to_dict()
    assert shown == {ids[0]: "changed since loaded", ids[1]: "will change", ids[2]: "gone"}
    assert back.apply()["id"].tolist() == [ids[1]]


def test_a_plan_is_applied_once(firm):
    loaded = firm.client.time_entries("2026-10", billed=False).head(1)
    plan = firm.client.time_entries.plan(loaded.assign(description="Once"))
    plan.apply()
    with pytest.raises(bf.errors.ParameterError, match="has been applied"):
        plan.apply()


def test_the_journal_is_private_and_holds_no_credential(firm, journal):
    loaded = firm.client.time_entries("2026-10", billed=False).head(1)
    firm.client.time_entries.plan(loaded.assign(description="A private narrative")).apply(journal)
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    content = journal.read_bytes()
    assert b"A private narrative" in content
    assert all(token.encode() not in content for token in firm.sandbox.tokens.values())


# The faults: lost responses to writes, writes that fail before or after they are done, and reads that fail.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_with_faults_every_change_is_still_made_once(entries, journal, seed):
    trouble = Trouble(faults=0.25, seed=seed)
    with Sandbox(audit=True, trouble=trouble) as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False, retries=12)
        loaded = client.time_entries("2026-10", billed=False).head(60)
        edited = loaded.assign(description=loaded["description"] + "!")
        outcomes = client.time_entries.plan(pd.concat([edited, new_rows(loaded, 25)])).apply(journal)
        done = all_done = outcomes_of(outcomes)["done"]
        # A create that was lost four times in a row, one in a thousand, has failed and is planned again.
        for turn in range(4):
            if all_done < 85:
                outcomes = outcomes.failed.apply(journal.with_name(f"again{turn}.journal"))
                assert set(outcomes_of(outcomes)) <= {"done", "failed"}
                all_done += outcomes_of(outcomes).get("done", 0)
        with closing(sqlite3.connect(sandbox.database)) as database:
            written = database.execute("SELECT id, count(*) FROM audit GROUP BY id").fetchall()
            created = database.execute(
                "SELECT description, count(*) FROM time_entry WHERE description LIKE 'New work %' GROUP BY 1"
            ).fetchall()
        database.close()
    assert done >= 82
    assert all_done == 85
    assert all(number == 1 for _, number in written)
    assert len(written) == 85
    assert len(created) == 25
    assert all(number == 1 for _, number in created)


@pytest.mark.slow
def test_a_colleague_who_writes_throughout_loses_nothing(firm, journal):
    loaded = firm.client.time_entries("2026-10", billed=False)
    plan = firm.client.time_entries.plan(loaded.assign(description="Edited in bulk"))
    at = firm.position()
    # A colleague writes everywhere, and to records of this plan among others.
    colleague = BackgroundWriter(firm.sandbox._store, Trouble(writes_per_second=40, seed=3)).start()
    with closing(sqlite3.connect(firm.sandbox.database)) as database, database:
        ids = loaded["time_entry_id"].iloc[-40:].tolist()
        now = "2026-12-01T00:00:00.000000Z"
        for id_ in ids:
            database.execute("UPDATE time_entry SET hours = 5000, modified_at = ? WHERE time_entry_id = ?", [now, id_])
    database.close()
    outcomes = plan.apply(journal)
    colleague.stop()
    by_id = dict(zip(outcomes["id"], outcomes["outcome"].astype(str), strict=True))
    changes = firm.changes(at)
    # One change of the colleague in ten is a deletion.
    deleted = {id_ for id_, record in changes if record is None}
    assert {by_id[id_] for id_ in ids if id_ not in deleted} == {"changed since planned"}
    assert {by_id[id_] for id_ in ids if id_ in deleted} <= {"changed since planned", "gone"}
    edited = Counter(id_ for id_, record in changes if record and record["description"] == "Edited in bulk")
    for id_, outcome in by_id.items():
        assert (edited[id_] >= 1) == (outcome == "done")


@pytest.mark.slow
def test_in_waves_no_edit_is_lost_that_a_colleague_made_before_the_record_was_read(firm, journal):
    result = apply_beside_colleague(firm.sandbox, firm.client, 120, 60, journal)
    assert result.lost_before_read == []
    assert result.waves > 50
    assert result.outcomes["changed since planned"] > 0
    assert set(result.outcomes) == {"done", "changed since planned"}


@pytest.mark.slow
def test_a_server_that_lists_all_records_as_changed_is_asked_three_times(firm, journal, monkeypatch):
    loaded = firm.client.time_entries("2026-10", billed=False)
    plan = firm.client.time_entries.plan(loaded.assign(description="Edited without lists"))
    fetch, lists = firm.client._connection.fetch, []

    def of_all_times(path, query=(), **more):
        if "modifiedSince" in dict(query):
            lists.append(path)
        return fetch(path, [each for each in query if each[0] != "modifiedSince"], **more)

    monkeypatch.setattr(firm.client._connection, "fetch", of_all_times)
    assert outcomes_of(plan.apply(journal)) == {"done": len(loaded)}
    assert len(lists) == 3


@pytest.mark.parametrize(
    ("throttle", "part"), [(Throttle(at_once=3), 20), (Throttle(per_minute=35), 2)], ids=["at once", "a minute"]
)
def test_rate_limits_hold(journal, monkeypatch, throttle, part):
    monkeypatch.setattr(throttling, "_MINUTE", 0.5)
    # A server states whole seconds to wait; here they last a part, but a minute of calls is over afterwards.
    monkeypatch.setattr(http, "retry_after", lambda *headers: (wait := retry_after(*headers)) and wait / part)
    with Sandbox(throttle=throttle, audit=True) as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False)
        loaded = client.time_entries("2026-10", billed=False).head(40)
        outcomes = client.time_entries.plan(loaded.assign(description="Slowly")).apply(journal)
        written = Firm(sandbox=sandbox).changes(0)
    assert outcomes_of(outcomes) == {"done": 40}
    assert Counter(id_ for id_, _ in written) == Counter(loaded["time_entry_id"])


@pytest.mark.slow
def test_a_days_quota_that_is_used_up_stops_the_apply_and_it_can_be_resumed_the_next_day(journal, monkeypatch):
    with Sandbox(throttle=Throttle(per_day=60), audit=True) as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False)
        loaded = client.time_entries("2026-10", billed=False).head(180)
        plan = client.time_entries.plan(loaded.assign(description="Over two days"))
        with pytest.raises(bf.errors.TransportError, match=r"calls a day.*Finish them with bf\.bulk\.resume"):
            plan.apply(journal)
        firm = Firm(sandbox=sandbox)
        assert 0 < len(firm.changes(0)) < 60
        monkeypatch.setattr(throttling, "_DAY", 0.0)
        outcomes = bf.bulk.resume(journal, client=client)
        written = firm.changes(0)
    assert outcomes_of(outcomes) == {"done": 180}
    assert Counter(id_ for id_, _ in written) == Counter(loaded["time_entry_id"])


def interrupt_apply(client: bf.Client, plan: Plan, journal, after: int, monkeypatch) -> None:
    """Apply a plan in a process that ends after some writes, and saves no outcome."""
    send, sent = type(client._connection).send, []

    def counted(*args, **kwargs):
        if len(sent) >= after:
            raise SystemExit
        sent.append(args[1])
        return send(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(type(client._connection), "send", counted)
        patch.setattr(Journal, "save", lambda *_: None)
        with pytest.raises(SystemExit):
            plan.apply(journal)


@pytest.mark.slow
def test_resume_finishes_without_doing_anything_twice(firm, journal, monkeypatch):
    loaded = firm.client.time_entries("2026-10", billed=False).head(30)
    edited = pd.concat([loaded.assign(description="Resumed"), new_rows(loaded, 20, "Resumed new")])
    plan = firm.client.time_entries.plan(edited)
    at = firm.position()
    interrupt_apply(firm.client, plan, journal, 30, monkeypatch)
    assert 0 < len(firm.changes(at)) < 50
    outcomes = bf.bulk.resume(journal, client=firm.client)
    assert outcomes_of(outcomes) == {"done": 50}
    written = Counter(
        record["description"] if record["description"] != "Resumed" else id_ for id_, record in firm.changes(at)
    )
    assert len(written) == 50
    assert set(written.values()) == {1}
    with pytest.raises(bf.errors.ParameterError, match="is finished, so there is nothing to resume"):
        bf.bulk.resume(journal, client=firm.client)


@pytest.mark.slow
@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("begun", [0, 7])
@pytest.mark.parametrize("copy_first", [True, False])
@pytest.mark.parametrize("equal", [True, False])
def test_a_copied_journal_creates_no_record_twice(firm, journal, tmp_path, monkeypatch, begun, copy_first, equal):
    """A journal is copied before its apply ends, and both are resumed, also with several new rows that are equal."""
    loaded = firm.client.time_entries("2026-10", billed=False).head(4)
    text = f"Copied {begun} {copy_first} {equal}"
    new = new_rows(loaded, 40, text).assign(**({"description": text} if equal else {}))
    plan = firm.client.time_entries.plan(pd.concat([loaded.assign(description=text + " edit"), new]))
    at = firm.position()
    interrupt_apply(firm.client, plan, journal, begun, monkeypatch)
    copy = tmp_path / "copy.journal"
    shutil.copyfile(journal, copy)
    copy.chmod(0o600)
    for path in (copy, journal) if copy_first else (journal, copy):
        outcomes = bf.bulk.resume(path, client=firm.client)
        assert set(outcomes.loc[outcomes["action"] == "create", "outcome"]) == {"done"}
    made = [record["description"] for _, record in firm.changes(at)]
    assert len([each for each in made if each.startswith(text) and not each.endswith("edit")]) == 40
    assert len([each for each in made if each.endswith("edit")]) == 4


def test_a_create_that_the_server_commits_after_its_process_was_killed_is_not_created_again(firm, journal, monkeypatch):
    plan = firm.client.time_entries.plan(new_rows(firm.client.time_entries("2026-10", limit=1), 1, "Committed late"))
    send, sent = type(firm.client._connection).send, []
    with monkeypatch.context() as patch:
        patch.setattr(type(firm.client._connection), "send", lambda *a, **k: (sent.append((a, k)), sys.exit())[1])
        patch.setattr(Journal, "save", lambda *_: None)
        with pytest.raises(SystemExit):
            plan.apply(journal)
    monkeypatch.setattr(applying, "ABANDONED_SECONDS", 3.0)
    late = threading.Timer(0.3, lambda: send(*sent[0][0], **sent[0][1]))
    at = firm.position()
    late.start()
    assert outcomes_of(bf.bulk.resume(journal, client=firm.client)) == {"done": 1}
    late.join()
    assert len(firm.changes(at)) == 1


def test_a_create_that_equals_a_colleagues_is_uncertain(firm, journal, monkeypatch):
    rows = new_rows(firm.client.time_entries("2026-10", limit=1), 1, "The very same")
    plan = firm.client.time_entries.plan(rows)
    send = type(firm.client._connection).send

    def lost(*args, **kwargs):
        for _ in range(2):
            send(*args, **kwargs)
        raise bf.errors.UncertainWriteError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(type(firm.client._connection), "send", lost)
        outcomes = plan.apply(journal)
    assert outcomes["outcome"].tolist() == ["uncertain"]
    assert "more records with these values than were sent" in outcomes["reason"].item()
    assert outcomes.failed._sent == []


def test_a_credential_that_is_not_accepted_stops_at_once_and_can_be_resumed(firm, journal):
    loaded = firm.client.time_entries("2026-10", billed=False).head(20)
    plan = firm.client.time_entries.plan(loaded.assign(description="With another token"))
    # A client that is garbage-collected closes its connection.
    other = bf.Client(firm.sandbox.base_url, "wrong", progress=False)
    plan._connection = other._connection
    with pytest.raises(bf.errors.AuthenticationError):
        plan.apply(journal)
    with pytest.raises(bf.errors.ParameterError, match=r"bf\.bulk\.resume"):
        plan.apply(journal)
    assert outcomes_of(bf.bulk.resume(journal, client=firm.client)) == {"done": 20}


@pytest.mark.slow
def test_a_server_that_is_down_stops_the_apply_and_it_can_be_resumed(firm, journal, monkeypatch):
    loaded = firm.client.time_entries("2026-10", billed=False).head(80)
    plan = firm.client.time_entries.plan(loaded.assign(description="After the outage"))
    other = bf.Client("http://127.0.0.1:9", "token", progress=False, retries=0)
    plan._connection = other._connection
    with pytest.raises(bf.errors.TransportError, match=r"the last \d+ changes could not be sent"):
        plan.apply(journal)
    with Journal.open(journal) as opened:
        assert opened.count("failed") == 0
    with closing(sqlite3.connect(journal)) as database, database:
        database.execute("UPDATE about SET value = ? WHERE name = 'base_url'", [firm.sandbox.base_url])
    database.close()
    assert outcomes_of(bf.bulk.resume(journal, client=firm.client)) == {"done": 80}


def test_a_journal_of_another_firm_is_refused(firm, journal):
    loaded = firm.client.time_entries("2026-10", billed=False).head(1)
    firm.client.time_entries.plan(loaded.assign(description="Ours")).apply(journal)
    other = bf.Client("https://other.example.com", "token")
    with pytest.raises(
        bf.errors.ParameterError, match=r"has changes for http://127.*connected to https://other\.example\.com"
    ):
        bf.bulk.resume(journal, client=other)


def test_a_file_that_is_not_a_journal_is_refused(firm, tmp_path, journal):
    (tmp_path / "notes.txt").write_text("not a database, and long enough to be read as one " * 20)
    sqlite3.connect(tmp_path / "other.db").executescript("CREATE TABLE t (a)").connection.close()
    for name, message in [
        ("absent", "There is no journal"),
        ("notes.txt", "is not a journal"),
        ("other.db", "is not a journal"),
    ]:
        with pytest.raises(bf.errors.ParameterError, match=message):
            bf.bulk.resume(tmp_path / name, client=firm.client)


def test_a_journal_is_not_written_by_two_at_once_and_not_overwritten(firm, journal):
    loaded = firm.client.time_entries("2026-10", billed=False).head(1)
    firm.client.time_entries.plan(loaded.assign(description="First")).apply(journal)
    with Journal.open(journal), pytest.raises(bf.errors.ParameterError, match="is being written by another process"):
        bf.bulk.resume(journal, client=firm.client)
    plan = firm.client.time_entries.plan(firm.client.time_entries("2026-10", limit=1).assign(hours=1.01))
    with pytest.raises(bf.errors.ParameterError, match=re.escape("exists already. bf.bulk.resume(")):
        plan.apply(journal)


def test_clients_keep_what_is_not_edited_on_a_server_that_replaces_nested_objects(journal):
    with Sandbox(trouble=Trouble(replaced_objects=True)) as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False)
        loaded = client.clients(limit=3)
        client.clients.plan(loaded.assign(contact_phone="1")).apply(journal)
        after = client.clients(limit=3)
    assert after["contact_phone"].tolist() == ["1"] * 3
    same = [name for name in loaded.columns if name not in {"contact_phone", "modified_at"}]
    assert_frame_equal(after[same], loaded[same])


class SwappingTransport(httpx.HTTPTransport):
    """Sends requests to the sandbox, and answers every second write of a kind with the response to the one before."""

    def __init__(self):
        super().__init__()
        self.last, self.writes, self.lock = {}, Counter(), threading.Lock()

    def handle_request(self, request):
        response = super().handle_request(request)
        if request.method == "GET" or not response.is_success:
            return response
        content = response.read()
        response.close()
        with self.lock:
            self.writes[request.method] += 1
            kind, second = request.method, self.writes[request.method] % 2 == 0
            content, self.last[kind] = (self.last[kind] if second else content), content
        return httpx.Response(response.status_code, headers={"date": response.headers["date"]}, content=content)


def test_swapped_responses_to_creates_are_searched_for_and_not_sent_again(firm, entries, journal):
    transport = SwappingTransport()
    with bf.Client(firm.sandbox.base_url, firm.sandbox.tokens["full"], transport=transport, progress=False) as client:
        at = firm.position()
        outcomes = client.time_entries.plan(new_rows(entries, 9, "Swapped")).apply(journal)
    assert outcomes_of(outcomes) == {"done": 9}
    assert transport.writes["POST"] == 9
    made = {id_: record["description"] for id_, record in firm.changes(at)}
    assert sorted(made.values()) == [f"Swapped {place}" for place in range(9)]
    assert outcomes["id"].map(made).tolist() == [f"Swapped {place}" for place in outcomes["row"]]


def test_swapped_responses_to_updates_are_read_again(firm, journal):
    transport = SwappingTransport()
    with bf.Client(firm.sandbox.base_url, firm.sandbox.tokens["full"], transport=transport, progress=False) as client:
        matters = client.matters(archived=False).head(8)
        outcomes = client.matters.plan(matters.assign(name=matters["matter_id"])).apply(journal)
        assert outcomes_of(outcomes) == {"done": 8}
        assert transport.writes["PUT"] == 8
        assert [client.matters.get(matter).name for matter in matters["matter_id"]] == matters["matter_id"].tolist()


def test_an_update_is_uncertain_if_another_record_comes_back_and_nothing_was_changed(firm, journal):
    class Ignoring(httpx.HTTPTransport):
        writes = 0

        def handle_request(self, request):
            if request.method == "GET":
                return super().handle_request(request)
            self.writes += 1
            return httpx.Response(200, json={"data": {"matterId": "another"}})

    transport = Ignoring()
    with bf.Client(firm.sandbox.base_url, firm.sandbox.tokens["full"], transport=transport, progress=False) as client:
        matter = client.matters(archived=False).head(1)
        outcomes = client.matters.plan(matter.assign(name="Another name")).apply(journal)
    assert outcomes_of(outcomes) == {"uncertain": 1}
    assert "the server sent another" in outcomes["reason"].item()
    assert transport.writes == 1


def test_help_of_outcomes_shows_what_they_add_to_a_frame():
    text = pydoc.plain(pydoc.render_doc(Outcomes))
    assert "reverse" in text
    assert "groupby" not in text
