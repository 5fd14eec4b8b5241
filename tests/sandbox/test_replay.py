"""The firm of earlier months: what was made or paid later is not in it, and the last one is the sandbox's."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from billframes.errors import ParameterError
from billframes.sandbox import Sandbox, replay

TABLES = ("invoice", "time_entry", "expense", "fixed_fee")


def rows_of(firm: Sandbox) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(firm.database)) as connection:
        return {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in TABLES}


@pytest.mark.slow
def test_an_earlier_firm_lacks_what_came_later_and_the_last_is_the_sandboxs():
    found, addresses = [], set()
    for firm in replay(1):
        found.append(rows_of(firm))
        addresses.add(firm.base_url)
    with Sandbox() as whole:
        today = rows_of(whole)
    assert len(addresses) == 1
    earlier, last = found
    assert last == today
    at = "2026-09-30T20:00:00.000000Z"
    # Each row ends with the instants of its creation and last change, of which entries add whether they are billed.
    for name, place in {"invoice": -1, "time_entry": -2, "expense": -1, "fixed_fee": -1}.items():
        assert max(row[place] for row in earlier[name]) <= at, name
        assert len(earlier[name]) < len(today[name])
    assert {row[0] for row in earlier["invoice"]} == {row[0] for row in today["invoice"] if row[-2] <= at}
    then = {row[0]: row for row in earlier["invoice"]}
    for row in today["invoice"]:
        if row[0] in then:
            # Amount, then balance.
            assert then[row[0]][6:8] == ((row[6], row[6]) if row[-1] > at else row[6:8])


@pytest.mark.parametrize("months", [0, 31, "12"])
def test_only_months_with_data_are_replayed(months):
    with pytest.raises(ParameterError, match="takes a whole number from 1 to 30"):
        next(iter(replay(months)))
