"""The mirror that the benchmarks multiply has as many more records."""

from __future__ import annotations

import pytest

import billframes as bf
from tests.benchmarks._engines import grown


@pytest.mark.slow
def test_a_grown_mirror_has_copies_of_its_records(client, tmp_path):
    place = tmp_path / "firm"
    mirror = bf.mirror(place, client=client)
    mirror.refresh()
    before = {name: len(getattr(mirror, name)()) for name in ("time_entries", "invoices", "matters", "clients")}
    grown(place, 3)
    now = bf.mirror(place)
    assert {name: len(getattr(now, name)()) for name in before} == {name: 3 * count for name, count in before.items()}
