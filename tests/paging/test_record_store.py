"""The index of records by day is updated by the records that changed since it was last used."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from billframes.loading.table_builder import TableBuilder
from billframes.paging import ListSchema
from billframes.paging.page import Page
from billframes.paging.record_store import RecordStore
from billframes.schema.decode import decode_page
from billframes.schema.resources import TIME_ENTRIES
from billframes.schema.sources import sources_of
from tests.conftest import entry


@pytest.fixture
def schema():
    return ListSchema(TIME_ENTRIES)


@pytest.fixture
def page_of(schema):
    """Make a page of entries, given as pairs of number and day of October."""
    builder = TableBuilder(TIME_ENTRIES, sources_of(TIME_ENTRIES.record, frozenset()))

    def make(*entries):
        rows = [entry(number, date=f"2026-10-{day:02}") for number, day in entries]
        page = Page(decode_page(json.dumps({"data": rows}).encode(), TIME_ENTRIES), schema)
        page.block = builder.block(page.records)
        return page

    return make


def days_of(store):
    return {day.day: number for day, number in store.days().counts(dt.date(2026, 10, 1), dt.date(2026, 10, 31))}


def test_records_added_moved_and_removed_after_the_index_was_used_are_in_it(schema, page_of):
    store = RecordStore(schema)
    store.add(page_of((1, 5), (2, 5)))
    assert days_of(store) == {5: 2}
    store.add(page_of((3, 6)))
    assert days_of(store) == {5: 2, 6: 1}
    store.add(page_of((2, 7)))
    assert days_of(store) == {5: 1, 6: 1, 7: 1}
    store.remove(["t0001", "t0009"])
    assert days_of(store) == {6: 1, 7: 1}


def test_records_merged_after_the_index_was_used_are_in_it(schema, page_of):
    store, other = RecordStore(schema), RecordStore(schema)
    store.add(page_of((1, 5)))
    assert days_of(store) == {5: 1}
    other.add(page_of((1, 6), (2, 8)))
    store.merge(other)
    assert days_of(store) == {6: 1, 8: 1}
