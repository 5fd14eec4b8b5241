"""Packed changes take a tenth of the memory of their objects, and are the same when they are unpacked."""

from __future__ import annotations

import datetime as dt
import tracemalloc

from billframes.bulk.changes import Cell, Change, Changes

AT = dt.datetime(2026, 10, 31, 20, tzinfo=dt.UTC)


def change(number: int) -> Change:
    current = {"modified_at": AT, "date": AT.date(), "description": f"Before {number}"}
    cells = [Cell("description", f"Before {number}", f"After {number}"), Cell("hours", 1.25, "two", "invalid", "no")]
    return Change("update", number, f"{number:08}-1b5c-4f7a-9c1d-2f6f0c3e8a11", cells, current, existing_ids=("a",))


def test_unpacked_changes_have_their_order_and_the_kept_columns_of_the_record():
    changes = Changes(map(change, range(2_500)))
    changes += [Change("delete", None, "x", status="gone")]
    assert len(changes) == 2_501
    for number, each in zip(range(2_500), changes, strict=False):
        expected = change(number)
        assert each.current == {"modified_at": AT, "date": AT.date()}
        each.current = expected.current
        assert each == expected
    assert list(changes)[-1] == Change("delete", None, "x", status="gone")


def test_packed_changes_take_little_memory():
    tracemalloc.start()
    changes = Changes(map(change, range(5_000)))
    packed, _ = tracemalloc.get_traced_memory()
    objects = list(changes)
    unpacked, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert packed / len(objects) < 100
    assert (unpacked - packed) / len(objects) > 600
