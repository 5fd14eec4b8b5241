"""Keep balances of invoices and clients up to date with few requests: the API has one request a client, and no dates.

A payment may leave its invoice's modified date unchanged. So each refresh lists the final invoices with the largest
balances first, down to 0, and those with credits from the other end: every balance that changed is among them, or was
open in the mirror and is no longer among them. That takes a request for each 1,000 open invoices.

Balances of clients are requested only if they can have changed. By the API's description, a client owes the open final
invoices, by how long they are overdue. If the invoices gave every balance of the last refresh, and a client's invoices
give the same balance now, it is not requested again. If they did not give every balance, the server's balances contain
more than invoices, or have other limits, and those of all clients are requested.

Some balances are requested as a check: of two clients for each limit that a server's calendar a day ahead or behind
would move invoices across, and of others in turn, each at least once a week. If one of these differs, the balances of
all clients are requested.
"""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from billframes.mirror.changing import Changing
from billframes.mirror.server import Server
from billframes.mirror.tables import to_stored

__all__ = ["Steady", "agree", "in_turn", "merged", "settled_clients", "steady_clients", "unbalanced_clients"]

# Balances that differ by less are equal.
CENT = 0.005
# Clients whose balances are checked in turn although nothing should have changed, and those for each limit.
CHECKED = 5
CHECKED_LIMIT = 2
# Within this time, each client's balance is requested.
ROUND = dt.timedelta(days=7)
# Balances are compared in millionths.
_UNITS = 1_000_000
_LIMITS = (0, 30, 60, 90)
_COLUMNS = ["client_id", "invoice_date", "due_date", "balance"]
_DAY = dt.timedelta(days=1)
_NOTHING = (0,) * (len(_LIMITS) + 1)

Answer = Mapping[str, Any]
Owed = Mapping[str, tuple[int, ...]]
"""Millionths by client: not due, then by the limits that the days overdue are above."""


def settled_clients(server: Server, invoices: Changing) -> list[str]:
    """Store the open final invoices. Return the clients of invoices that were open in the mirror and no longer are."""
    here = invoices.read(["invoice_id", "client_id", "balance"], _open())
    above = int(pc.sum(pc.greater(here.column("balance"), 0)).as_py() or 0)
    rows = to_stored(server.open_invoices(above, here.num_rows - above), invoices.table)
    settled = here.filter(pc.invert(pc.is_in(here.column("invoice_id"), value_set=rows.column("invoice_id"))))
    invoices.upsert(rows)
    return list(pc.unique(settled.column("client_id")).to_pylist())


def unbalanced_clients(invoices: Changing, balances: pa.Table) -> list[str]:
    """Return the clients whose balance is not the sum of their stored final invoices."""
    final = invoices.read(["client_id", "balance"], pc.field("invoice_state") == "final")
    sums = dict(zip(*final.group_by("client_id").aggregate([("balance", "sum")]).to_pydict().values(), strict=True))
    owed = zip(balances.column("client_id").to_pylist(), balances.column("balance").to_pylist(), strict=True)
    return [client for client, balance in owed if abs(sums.get(client, 0.0) - balance) > CENT]


@dataclass(frozen=True, slots=True)
class Steady:
    """
    Clients whose balance should be the same as at the last refresh.

    Parameters
    ----------
    answers : mapping of str to mapping
        The balances of the last refresh, by client.
    at_limits : tuple of collection of str
        Clients whose invoices would cross a limit if the server's day were one earlier or later; one collection for
        each limit and direction.
    """

    answers: Mapping[str, Answer]
    at_limits: tuple[Collection[str], ...]

    def checks(self, client_ids: Collection[str], turn: Collection[str], number: int) -> set[str]:
        """Return the clients to check: those whose turn it is, and some at each limit."""
        known = self.answers.keys() & set(client_ids)
        chosen = known & set(turn)
        for names in self.at_limits:
            here = sorted(known & set(names))
            first = number * CHECKED_LIMIT % max(1, len(here))
            chosen.update([*here, *here][first : first + min(CHECKED_LIMIT, len(here))])
        return chosen


def in_turn(client_ids: Collection[str], after: str, since: dt.timedelta) -> list[str]:
    """
    Return the clients whose turn it is, by id: those after the last one whose turn it was.

    Examples
    --------
    >>> in_turn("abcdefghi", "g", dt.timedelta(hours=1))
    ['h', 'i', 'a', 'b', 'c']
    """
    ids = sorted(client_ids)
    first = bisect_right(ids, after)
    number = max(CHECKED, math.ceil(len(ids) * (since / ROUND)))
    return [*ids[first:], *ids[:first]][:number]


def steady_clients(balances: pa.Table, before: Changing, now: Changing, days: tuple[dt.date, dt.date]) -> Steady | None:
    """
    Return the clients whose balance should be the same; None if invoices don't explain this server's balances.

    Parameters
    ----------
    balances : Table
        Those of the last refresh.
    before, now : Changing
        The invoices at the last refresh, and now.
    days : tuple of date
        The day of the last refresh, and today, by UTC. The server's calendar may be a day ahead or behind: the day that
        explains all balances is used.
    """
    answers = {row["client_id"]: row for row in balances.to_pylist()}
    open_before, open_now = (each.read(_COLUMNS, _open()) for each in (before, now))
    for ahead in (0, 1, -1):
        owed = _owed(open_before, days[0] + ahead * _DAY)
        if all(_explains(owed.get(id_, _NOTHING), row) for id_, row in answers.items()):
            break
    else:
        return None
    earlier, today, later = (_owed(open_now, days[1] + (ahead + more) * _DAY) for more in (-1, 0, 1))
    steady = {id_: row for id_, row in answers.items() if today.get(id_, _NOTHING) == owed.get(id_, _NOTHING)}
    at_limits = tuple(
        [id_ for id_ in steady if id_ in today and _across(today[id_], other[id_], limit)]
        for other in (earlier, later)
        for limit in range(len(_LIMITS))
    )
    return Steady(steady, at_limits)


def _across(owed: Sequence[int], other: Sequence[int], limit: int) -> bool:
    """Tell whether a limit separates other invoices on another day."""
    return list(accumulate(owed))[limit] != list(accumulate(other))[limit]


def agree(frame: pa.Table, rows: Collection[Answer]) -> bool:
    """Tell whether the balances are the same. Clients without a requested balance are left out."""
    answers = {row["client_id"]: row for row in frame.to_pylist()}
    return all(
        answers[row["client_id"]][name] == row[name]
        for row in rows
        if row["client_id"] in answers
        for name in frame.column_names
    )


def merged(frame: pa.Table, steady: Steady, client_ids: Collection[str], asked: Collection[str]) -> pa.Table:
    """
    Return requested and unchanged balances together, in the order of all clients.

    A client whose balance was requested and not returned was deleted in the meantime.
    """
    answers = {row["client_id"]: row for row in frame.to_pylist()}
    kept = {id_: row for id_, row in steady.answers.items() if id_ not in asked}
    rows = [answers.get(id_) or kept.get(id_) for id_ in client_ids]
    return pa.Table.from_pylist([row for row in rows if row is not None], frame.schema)


def _open() -> pc.Expression:
    return (pc.field("invoice_state") == "final") & (pc.field("balance") != 0)


def _owed(rows: pa.Table, day: dt.date) -> Owed:
    due = pc.coalesce(rows.column("due_date"), rows.column("invoice_date")).to_numpy()
    overdue = (np.datetime64(day) - due.astype("datetime64[D]")).astype(int)
    units = np.rint(rows.column("balance").to_numpy() * _UNITS).astype(np.int64)
    clients = pc.unique(rows.column("client_id"))
    owed = np.zeros((len(clients), len(_NOTHING)), np.int64)
    places = pc.index_in(rows.column("client_id"), value_set=clients).to_numpy()
    np.add.at(owed, (places, np.searchsorted(_LIMITS, overdue, side="left")), units)
    return dict(zip(clients.to_pylist(), map(tuple, owed.tolist()), strict=True))


def _explains(owed: Sequence[int], row: Mapping[str, Any]) -> bool:
    """Tell whether invoices give the balance, in either of the API's two sets of fields."""
    expected = {
        "balance": sum(owed),
        "current": owed[0],
        "overdue": sum(owed[1:]),
        "overdue0_to30": owed[1],
        "overdue30_to60": owed[2],
        "overdue60_to90": owed[3],
        "overdue_over90": owed[4],
        "overdue30": sum(owed[2:]),
        "overdue60": sum(owed[3:]),
        "overdue90": owed[4],
    }
    return all(row[name] is None or abs(row[name] - units / _UNITS) < CENT for name, units in expected.items())
