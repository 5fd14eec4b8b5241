"""Changes and deletions during a load are found, with few requests."""

from __future__ import annotations

import pytest

import billframes as bf
from billframes.errors import PagingError
from billframes.loading.table_builder import Block
from billframes.paging import undated
from billframes.sandbox import Sandbox
from tests.simulation.model import Model, Setting
from tests.simulation.runner import ShuffledTransport, broken_promise, builder_of, query_of, reader_of, simulate


def test_a_load_ends_if_more_than_a_page_was_created_just_before():
    with Sandbox() as running, bf.Client(running.base_url, running.tokens["full"], page_size=10) as client:
        matter = client.matters(limit=1)["matter_id"].iloc[0]
        for number in range(25):
            client.expenses.create(matter_id=matter, date="2026-10-30", amount=number + 1, description="Copies")
        frame = client.expenses(matter_id=matter)
    assert frame.attrs["load"]["proof"] == "snapshot"
    assert (frame["description"] == "Copies").sum() == 25


@pytest.mark.parametrize("resource", ["expenses", "invoices", "clients", "matters"])
def test_a_quiet_list_is_a_snapshot_if_many_records_were_changed_just_before(resource):
    changed_lately = Setting(resource=resource, overlap=1e7)
    assert {simulate(seed, changed_lately).proof for seed in range(4)} == {"snapshot"}


def test_more_changes_than_a_page_are_all_read():
    busy = [simulate(seed, Setting(changes=2, overlap=30.0)) for seed in range(4)]
    assert [(load.proof, load.broken) for load in busy] == [("complete", "")] * 4


def test_the_search_for_deletions_reads_only_a_part_of_the_records(monkeypatch):
    read, value = [], Block.value
    monkeypatch.setattr(Block, "value", lambda self, *place: (read.append(place), value(self, *place))[1])
    deleted = Setting(rows=1000, page=50, days=200, hidden=4)
    for seed in range(3):
        read.clear()
        outcome = simulate(seed, deleted)
        assert (outcome.proof, outcome.broken) == ("snapshot", "")
        assert sum(column == "date" for column, _ in read) < deleted.rows / 10


def error_of(setting: Setting) -> str:
    """Return the message of the error for a list that changes faster than it can be read."""
    model = Model(setting, 1)
    model.begin()
    with pytest.raises(PagingError) as caught:
        reader_of(setting, ShuffledTransport(model, 2), [], builder_of(setting)).read([query_of(setting)])
    return str(caught.value)


@pytest.mark.slow
def test_names_that_cannot_be_joined_while_people_write_are_read_three_times(monkeypatch):
    begun, reader = [], undated.KeyRangeReader
    monkeypatch.setattr(
        undated, "KeyRangeReader", lambda *given, **first: (begun.append(given), reader(*given, **first))[1]
    )
    alike = Setting(resource="clients", rows=200, page=10, names=1, scripts=True, collation="Danish", changes=0.3)
    assert "could not be joined" in error_of(alike)
    assert len(begun) == 3


def test_the_error_suggests_a_shorter_period_only_if_the_list_has_dates():
    busy = {"changes": 8.0, "overlap": 1e7, "rows": 100}
    assert "load a shorter period" in error_of(Setting(resource="expenses", **busy))
    message = error_of(Setting(resource="clients", **busy))
    assert "narrow the list with filters" in message
    assert "period" not in message


class InOrder:
    """A transport that answers one request after the other; `then[number]` is what others do after one of them."""

    def __init__(self, model, then):
        self._model, self._then, self._sent, self._number = model, then, [], 0

    def send(self, ticket, query):
        self._sent.append((ticket, query))

    def receive(self):
        ticket, query = self._sent.pop(0)
        self._number += 1
        self._model.second += 1
        reply = self._model.reply(query)
        self._then.get(self._number, lambda: None)()
        return ticket, reply

    def close(self):
        pass


def put(model, row, **values):
    """Write a record with these values."""
    model.second += 1
    at = model._instant(model.second)
    row = {**row, "meta": {**row["meta"], "modifiedAt": at}, **values}
    model.written.add(model._id(row))
    model._make_visible(row)
    return row


def test_two_pages_that_count_different_totals_are_no_snapshot():
    setting = Setting(resource="expenses", rows=15, page=10, days=1000)
    model, builder = Model(setting, 1), builder_of(setting)
    rows = sorted(model.rows.values(), key=lambda row: row["date"])
    new = model._new_record(0)

    def between():
        model._delete(model._id(rows[0]))
        put(model, new, date="2099-12-31")
        model._delete(model._id(rows[-1]))

    before, progress = model.begin(), []
    transport = InOrder(model, {1: between, 2: lambda: model._delete(model._id(new))})
    loaded = reader_of(setting, transport, progress, builder, 1).read([query_of(setting)])
    assert broken_promise(model, before, loaded, builder, query_of(setting), progress) == ""


def test_key_ranges_that_count_different_totals_are_no_snapshot():
    setting = Setting(rows=30, page=10)
    model, builder = Model(setting, 1), builder_of(setting)
    rows = sorted(model.rows.values(), key=lambda row: row["meta"]["createdAt"])
    early, late = model._new_record(-40_000_000), model._new_record(0)

    def after_the_first_page():
        delete(rows[0], rows[20])
        put(model, early)

    def delete(*records):
        for row in records:
            model._delete(model._id(row))

    before, progress = model.begin(), []
    transport = InOrder(model, {2: after_the_first_page, 3: lambda: put(model, late), 5: lambda: delete(early, late)})
    loaded = reader_of(setting, transport, progress, builder, 1).read([query_of(setting)])
    assert broken_promise(model, before, loaded, builder, query_of(setting), progress) == ""


def test_a_load_fails_if_the_server_counts_one_record_that_it_does_not_return():
    setting = Setting(resource="expenses", rows=40, page=10)
    model = Model(setting, 1)
    # It becomes visible on a day that was read, and among no changes.
    late = {**model._new_record(-1000), "date": "2026-01-01"}
    reader = reader_of(setting, InOrder(model, {3: lambda: model._make_visible(late)}), [], builder_of(setting), 1)
    with pytest.raises(PagingError, match="40 of the 41 records that the server counts were received, 3 times"):
        reader.read([query_of(setting)])


def test_changes_whose_number_fits_by_chance_are_read_on():
    setting = Setting(resource="matters", rows=40, page=10, overlap=0)
    model, builder = Model(setting, 1), builder_of(setting)
    for number, row in enumerate(list(model.rows.values())):
        model.rows[row["matterId"]] = {**row, "name": f"Matter {number:02}", "clientId": f"c{number // 20}"}
    rows = list(model.rows.values())

    def rename():
        for number, row in enumerate([*rows[:10], rows[19], *rows[11:15]]):
            put(model, row, name=f"Ω {number:02}")

    def between():
        model._delete(rows[0]["matterId"])
        for number in (1, 2):
            put(model, rows[number], name=f"Ω 9{number}")
        put(model, model._new_record(0), name="Ω 95", clientId="c0")

    # The last matter of the first client moves to a page that was read; only the changes can show it.
    then = {1: lambda: put(model, rows[19], name="A matter"), 6: rename, 7: between}
    before, progress = model.begin(), []
    lists = [(("sort", "name"), ("clientId", client)) for client in ("c0", "c1")]
    loaded = reader_of(setting, InOrder(model, then), progress, builder, 1).read(lists)
    assert broken_promise(model, before, loaded, builder, (), progress) == ""
