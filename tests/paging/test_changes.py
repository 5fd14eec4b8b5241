"""Changes and deletions during a load are found, with few requests."""

from __future__ import annotations

import pytest

import billframes as bf
from billframes.errors import PagingError
from billframes.loading.table_builder import Block
from billframes.paging import undated
from billframes.sandbox import Sandbox
from tests.simulation.model import Model, Setting
from tests.simulation.runner import ShuffledTransport, builder_of, query_of, reader_of, simulate


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
