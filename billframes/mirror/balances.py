"""Keep the balances of invoices and clients up to date with few requests.

A payment may leave its invoice's modified date unchanged. So each refresh lists the open final invoices by balance.
Every invoice whose balance changed is in these lists, or it was open in the mirror and is no longer in them.

The API has one request for each client's balance. By its description, a client owes the open final invoices, grouped by
the days they are overdue. If this was right for all balances of the last refresh, a balance is requested again only if
the client's invoices give another one now. Otherwise, or if one of the checks below differs, all are requested.

The server's date may be a day ahead or behind, which moves invoices from one group to the next: for each group, two
such clients are checked. Other clients are checked in turn, each at least once a week.
"""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from billframes.mirror.server_lists import ServerLists
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import to_stored, without

# Balances that differ by less are equal.
CENT = 0.005
# The least number of clients that are checked in turn by one refresh, and the number that are checked for each limit.
CHECKED_CLIENTS = 5
CHECKED_AT_EACH_LIMIT = 2
# Each client's balance is requested at least once within this time.
CHECK_ALL_WITHIN = dt.timedelta(days=7)
# Amounts are compared as whole millionths.
_MILLIONTHS = 1_000_000
# Days overdue that separate the groups of invoices.
_LIMITS = (0, 30, 60, 90)
_COLUMNS = ["client_id", "invoice_date", "due_date", "balance"]
_DAY = dt.timedelta(days=1)
_ZERO = (0,) * (len(_LIMITS) + 1)

Balance = Mapping[str, Any]
AmountsByAge = Mapping[str, tuple[int, ...]]
"""Millionths by client: the amount that is not due, then the overdue amounts above each limit up to the next."""


def store_open_invoices(server: ServerLists, invoices: StoredTable) -> list[str]:
    """Store the open final invoices. Return the clients of invoices that were open in the mirror and are no longer."""
    stored = invoices.read(["invoice_id", "client_id", "balance"], _is_open())
    above = int(pc.sum(pc.greater(stored.column("balance"), 0)).as_py() or 0)
    rows = to_stored(server.open_invoices(above, stored.num_rows - above), invoices.table)
    settled = without(stored, "invoice_id", rows.column("invoice_id"))
    invoices.upsert(rows)
    return list(pc.unique(settled.column("client_id")).to_pylist())


def unreconciled_clients(invoices: StoredTable, balances: pa.Table) -> list[str]:
    """Return the clients whose balance is not the sum of their stored final invoices."""
    final = invoices.read(["client_id", "balance"], pc.field("invoice_state") == "final")
    sums = dict(zip(*final.group_by("client_id").aggregate([("balance", "sum")]).to_pydict().values(), strict=True))
    amounts = zip(balances.column("client_id").to_pylist(), balances.column("balance").to_pylist(), strict=True)
    return [client for client, balance in amounts if abs(sums.get(client, 0.0) - balance) > CENT]


class UnchangedBalances(NamedTuple):
    """
    Balances that should be the same as at the last refresh.

    `at_limits` are the clients with invoices that would cross a limit if the server's date were a day earlier or later,
    one collection for each limit and direction.
    """

    balances: Mapping[str, Balance]
    at_limits: tuple[Collection[str], ...]

    def clients_to_check(self, client_ids: Collection[str], turn: Collection[str], number: int) -> set[str]:
        """Return the clients to check: those in `turn`, and at each limit some others with each version's `number`."""
        known = self.balances.keys() & set(client_ids)
        chosen = known & set(turn)
        for names in self.at_limits:
            stored = sorted(known & set(names))
            first = number * CHECKED_AT_EACH_LIMIT % max(1, len(stored))
            chosen.update([*stored, *stored][first : first + min(CHECKED_AT_EACH_LIMIT, len(stored))])
        return chosen


def next_to_check(client_ids: Collection[str], after: str, since: dt.timedelta) -> list[str]:
    """Return the clients to check in turn, after the one checked last; more if the last refresh is long ago."""
    ids = sorted(client_ids)
    first = bisect_right(ids, after)
    number = max(CHECKED_CLIENTS, math.ceil(len(ids) * (since / CHECK_ALL_WITHIN)))
    return [*ids[first:], *ids[:first]][:number]


def unchanged_balances(
    last: pa.Table, before: StoredTable, now: StoredTable, days: tuple[dt.date, dt.date]
) -> UnchangedBalances | None:
    """
    Return the balances that should be unchanged; None if the invoices did not explain all balances of the last refresh.

    `days` are the date of the last refresh, and today's, in UTC. The server's date may be a day ahead or behind: the
    first one that explains all balances is used.
    """
    balances = {row["client_id"]: row for row in last.to_pylist()}
    open_before, open_now = (each.read(_COLUMNS, _is_open()) for each in (before, now))
    for ahead in (0, 1, -1):
        amounts = _amounts_by_age(open_before, days[0] + ahead * _DAY)
        if all(_explains(amounts.get(id_, _ZERO), row) for id_, row in balances.items()):
            break
    else:
        return None
    earlier, today, later = (_amounts_by_age(open_now, days[1] + (ahead + more) * _DAY) for more in (-1, 0, 1))
    unchanged = {id_: row for id_, row in balances.items() if today.get(id_, _ZERO) == amounts.get(id_, _ZERO)}
    at_limits = tuple(
        [id_ for id_ in unchanged if id_ in today and _crosses_limit(today[id_], other[id_], limit)]
        for other in (earlier, later)
        for limit in range(len(_LIMITS))
    )
    return UnchangedBalances(unchanged, at_limits)


def _crosses_limit(amounts: Sequence[int], other: Sequence[int], limit: int) -> bool:
    """Tell whether the amounts below a limit differ between two days."""
    return list(accumulate(amounts))[limit] != list(accumulate(other))[limit]


def balances_equal(frame: pa.Table, rows: Collection[Balance]) -> bool:
    """Tell whether requested balances equal the expected `rows`; clients without a requested balance are ignored."""
    balances = {row["client_id"]: row for row in frame.to_pylist()}
    return all(
        balances[row["client_id"]][name] == row[name]
        for row in rows
        if row["client_id"] in balances
        for name in frame.column_names
    )


def combine_balances(
    frame: pa.Table, unchanged: UnchangedBalances, client_ids: Collection[str], requested: Collection[str]
) -> pa.Table:
    """Return the requested and the unchanged balances in the order of `client_ids`, without clients deleted since."""
    balances = {row["client_id"]: row for row in frame.to_pylist()}
    others = {id_: row for id_, row in unchanged.balances.items() if id_ not in requested}
    rows = [balances.get(id_) or others.get(id_) for id_ in client_ids]
    return pa.Table.from_pylist([row for row in rows if row is not None], frame.schema)


def _is_open() -> pc.Expression:
    return (pc.field("invoice_state") == "final") & (pc.field("balance") != 0)


def _amounts_by_age(rows: pa.Table, day: dt.date) -> AmountsByAge:
    due = pc.coalesce(rows.column("due_date"), rows.column("invoice_date")).to_numpy()
    overdue = (np.datetime64(day) - due.astype("datetime64[D]")).astype(int)
    units = np.rint(rows.column("balance").to_numpy() * _MILLIONTHS).astype(np.int64)
    clients = pc.unique(rows.column("client_id"))
    amounts = np.zeros((len(clients), len(_ZERO)), np.int64)
    places = pc.index_in(rows.column("client_id"), value_set=clients).to_numpy()
    np.add.at(amounts, (places, np.searchsorted(_LIMITS, overdue, side="left")), units)
    return dict(zip(clients.to_pylist(), map(tuple, amounts.tolist()), strict=True))


def _explains(amounts: Sequence[int], row: Mapping[str, Any]) -> bool:
    """Tell whether the amounts of invoices give the balance; the API has two sets of fields, and a server sends one."""
    expected = {
        "balance": sum(amounts),
        "current": amounts[0],
        "overdue": sum(amounts[1:]),
        "overdue0_to30": amounts[1],
        "overdue30_to60": amounts[2],
        "overdue60_to90": amounts[3],
        "overdue_over90": amounts[4],
        "overdue30": sum(amounts[2:]),
        "overdue60": sum(amounts[3:]),
        "overdue90": amounts[4],
    }
    return all(row[name] is None or abs(row[name] - units / _MILLIONTHS) < CENT for name, units in expected.items())
