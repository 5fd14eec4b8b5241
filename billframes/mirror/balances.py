"""Keep invoices' and clients' balances true with few requests: the API has one request a client, and no dates.

A payment may leave its invoice's modified date alone. So each refresh lists the final invoices with the largest
balances first, down to 0, and those with credits from the other end: every balance that moved is among them, or was
open here and is not among them any more. That takes a request for each 1,000 open invoices.

What clients owe is asked for only where it can have changed. Open final invoices, by how long they are overdue, explain
what a server says a client owes, on most servers. If they explained it at the last refresh, and explain the same now,
the answer would be the same. Everybody else is asked about, and a few more as a check: those whose answer would differ
if the server's calendar were a day ahead or behind, and others in turn. If one of these differs, all clients are asked
about.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from billframes.mirror.changing import Changing
from billframes.mirror.server import Server
from billframes.mirror.tables import to_stored

__all__ = ["Steady", "agree", "merged", "settled_clients", "steady_clients", "unbalanced_clients"]

# Balances that differ by less are equal.
CENT = 0.005
# Clients of each kind that are asked about although nothing should have changed.
CHECKED = 5
_LIMITS = (0, 30, 60, 90)
_COLUMNS = ["client_id", "invoice_date", "due_date", "balance"]
_DAY = dt.timedelta(days=1)
_NOTHING = (0,) * (len(_LIMITS) + 1)

Answer = Mapping[str, Any]
Owed = Mapping[str, tuple[int, ...]]
"""Cents by client: not due, then by the limits that the days overdue are above."""


def settled_clients(server: Server, invoices: Changing) -> list[str]:
    """Take in the open final invoices; return the clients of those that were open here and are not any more."""
    here = invoices.read(["invoice_id", "client_id", "balance"], _open())
    above = int(pc.sum(pc.greater(here.column("balance"), 0)).as_py() or 0)
    rows = to_stored(server.open_invoices(above, here.num_rows - above), invoices.table)
    settled = here.filter(pc.invert(pc.is_in(here.column("invoice_id"), value_set=rows.column("invoice_id"))))
    invoices.upsert(rows)
    return list(pc.unique(settled.column("client_id")).to_pylist())


def unbalanced_clients(invoices: Changing, balances: pa.Table) -> list[str]:
    """Return the clients whose balance is not the sum of their final invoices' here."""
    final = invoices.read(["client_id", "balance"], pc.field("invoice_state") == "final")
    sums = dict(zip(*final.group_by("client_id").aggregate([("balance", "sum")]).to_pydict().values(), strict=True))
    owed = zip(balances.column("client_id").to_pylist(), balances.column("balance").to_pylist(), strict=True)
    return [client for client, balance in owed if abs(sums.get(client, 0.0) - balance) > CENT]


@dataclass(frozen=True, slots=True)
class Steady:
    """
    Clients whose answer should be as it was.

    Parameters
    ----------
    answers : mapping of str to mapping
        The answers at the last refresh, by client.
    by_day : tuple of collection of str
        Those whose answer would differ if the server's day were one earlier, and one later.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    by_day: tuple[Collection[str], Collection[str]] = ((), ())

    def checks(self, client_ids: Collection[str], number: int) -> set[str]:
        """Return which of these clients to ask about as a check: others at each refresh, by its number."""
        known = self.answers.keys() & client_ids
        kinds = [sorted(known), *(sorted(known & set(each)) for each in self.by_day)]
        return {name for names in kinds for name in _in_turn(names, number)}


def steady_clients(balances: pa.Table, before: Changing, now: Changing, days: tuple[dt.date, dt.date]) -> Steady:
    """
    Return the clients who would be answered as they were.

    Parameters
    ----------
    balances : Table
        As they were answered at the last refresh.
    before, now : Changing
        The invoices at the last refresh, and now.
    days : tuple of date
        The day of the last refresh, and today, by UTC. The server's calendar may be a day ahead or behind: the day that
        explains most answers is taken.
    """
    answers = {row["client_id"]: row for row in balances.to_pylist()}
    open_before, open_now = (each.read(_COLUMNS, _open()) for each in (before, now))
    explained = {}
    for ahead in (0, 1, -1):
        owed = _owed(open_before, days[0] + ahead * _DAY)
        explained[ahead] = {id_: of for id_, row in answers.items() if _explains(of := owed.get(id_, _NOTHING), row)}
    ahead = max(explained, key=lambda each: len(explained[each]))
    earlier, today, later = (_owed(open_now, days[1] + (ahead + more) * _DAY) for more in (-1, 0, 1))
    steady = {id_ for id_, of in explained[ahead].items() if today.get(id_, _NOTHING) == of}
    by_day = tuple([id_ for id_ in steady if other.get(id_) != today.get(id_)] for other in (earlier, later))
    return Steady({id_: answers[id_] for id_ in steady}, (by_day[0], by_day[1]))


def _in_turn(names: Sequence[str], number: int) -> Sequence[str]:
    first = number * CHECKED % max(1, len(names))
    return [*names, *names][first : first + min(CHECKED, len(names))]


def agree(frame: pa.Table, rows: Collection[Answer]) -> bool:
    """Tell whether clients were answered as they were, those left out who are not among the answers."""
    answers = {row["client_id"]: row for row in frame.to_pylist()}
    return all(
        answers[row["client_id"]][name] == row[name]
        for row in rows
        if row["client_id"] in answers
        for name in frame.column_names
    )


def merged(frame: pa.Table, steady: Steady, client_ids: Collection[str]) -> pa.Table:
    """Return the answers together with the balances that are as they were, in the order of all clients."""
    answers = {row["client_id"]: row for row in frame.to_pylist()}
    rows = [answers.get(id_) or steady.answers.get(id_) for id_ in client_ids]
    return pa.Table.from_pylist([row for row in rows if row is not None], frame.schema)


def _open() -> pc.Expression:
    return (pc.field("invoice_state") == "final") & (pc.field("balance") != 0)


def _owed(rows: pa.Table, day: dt.date) -> Owed:
    due = pc.coalesce(rows.column("due_date"), rows.column("invoice_date")).to_numpy()
    overdue = (np.datetime64(day) - due.astype("datetime64[D]")).astype(int)
    cents = np.rint(rows.column("balance").to_numpy() * 100).astype(np.int64)
    clients = pc.unique(rows.column("client_id"))
    owed = np.zeros((len(clients), len(_NOTHING)), np.int64)
    places = pc.index_in(rows.column("client_id"), value_set=clients).to_numpy()
    np.add.at(owed, (places, np.searchsorted(_LIMITS, overdue, side="left")), cents)
    return dict(zip(clients.to_pylist(), map(tuple, owed.tolist()), strict=True))


def _explains(owed: Sequence[int], row: Mapping[str, Any]) -> bool:
    """Tell whether what is owed gives the answer, in either of the API's two sets of fields."""
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
    return all(row[name] is None or abs(row[name] - cents / 100) < CENT for name, cents in expected.items())
