"""Keep invoices' and clients' balances true with few requests: the API has one request a client, and no dates.

A payment may leave its invoice's modified date alone. So each refresh lists the final invoices with the largest
balances first, down to 0, and those with credits from the other end: every balance that moved is among them, or was
open here and is not among them any more. That takes a request for each 1,000 open invoices.

What clients owe is asked for only where it can have changed. Open final invoices, by how long they are overdue, explain
what a server says a client owes, on most servers. If they explained it at the last refresh, and have not changed since,
nor passed a limit of 30 days on a day between, the answer would be the same. Everybody else is asked about, and a few
more as a check: if one of these differs, all clients are asked about.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from billframes.mirror.changing import Changing
from billframes.mirror.server import Server
from billframes.mirror.tables import to_stored

__all__ = ["agree", "checked", "merged", "settled_clients", "steady_clients", "unbalanced_clients"]

# Balances that differ by less are equal.
CENT = 0.005
# Clients that are asked about although nothing should have changed.
CHECKED = 10
_LIMITS = (0, 30, 60, 90)
_DAY = dt.timedelta(days=1)
_NOTHING = (0,) * (len(_LIMITS) + 1)

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


def steady_clients(
    balances: pa.Table, before: Changing, now: Changing, days: tuple[dt.date, dt.date]
) -> dict[str, dict[str, Any]]:
    """
    Return the balances that would be answered as they were, by client.

    Parameters
    ----------
    balances : Table
        As they were answered at the last refresh.
    before, now : Changing
        The invoices at the last refresh, and now.
    days : tuple of date
        The server's day at the last refresh, and now, by UTC; its calendar may be a day ahead or behind.
    """
    ends = [(before, days[0] - _DAY), (before, days[0] + _DAY), (now, days[1] - _DAY), (now, days[1] + _DAY)]
    first, *others = [_owed(invoices, day) for invoices, day in ends]
    return {
        row["client_id"]: row
        for row in balances.to_pylist()
        for owed in [first.get(row["client_id"], _NOTHING)]
        if _explains(owed, row) and all(each.get(row["client_id"], _NOTHING) == owed for each in others)
    }


def checked(steady: Collection[str], number: int) -> list[str]:
    """Return the clients to ask about as a check: others at each refresh, by its number."""
    names = sorted(steady)
    first = number * CHECKED % max(1, len(names))
    return [*names, *names][first : first + min(CHECKED, len(names))]


def agree(frame: pa.Table, rows: Collection[Mapping[str, Any]]) -> bool:
    """Tell whether clients were answered as they were, those left out who are not among the answers."""
    answers = {row["client_id"]: row for row in frame.to_pylist()}
    return all(
        answers[row["client_id"]][name] == row[name]
        for row in rows
        if row["client_id"] in answers
        for name in frame.column_names
    )


def merged(frame: pa.Table, steady: Mapping[str, Mapping[str, Any]], client_ids: Collection[str]) -> pa.Table:
    """Return the answers together with the balances that are as they were, in the order of all clients."""
    answers = {row["client_id"]: row for row in frame.to_pylist()}
    rows = [answers.get(id_) or steady.get(id_) for id_ in client_ids]
    return pa.Table.from_pylist([row for row in rows if row is not None], frame.schema)


def _open() -> pc.Expression:
    return (pc.field("invoice_state") == "final") & (pc.field("balance") != 0)


def _owed(invoices: Changing, day: dt.date) -> Owed:
    rows = invoices.read(["client_id", "invoice_date", "due_date", "balance"], _open())
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
