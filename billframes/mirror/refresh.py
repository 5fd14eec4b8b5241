"""Bring the mirror up to date with the server.

Tables are brought up to date one after another, those that others refer to last, and a version that names them all is
committed at the end. Until then readers see the version before; if the process ends, the next refresh puts every table
back to that version and starts again.

A refresh requests what changed since the server's time at which the last run began, less an overlap for clocks,
replicas and late commits. It does not start at the newest modified date received, because a commit may become visible
late. Lists without `modifiedSince` are loaded whole, and written only if they differ.
"""

from __future__ import annotations

import datetime as dt
import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes._messages import warn
from billframes._names import closest
from billframes.errors import BillframesWarning, MirrorError, PagingError, ParameterError
from billframes.mirror.balances import (
    Steady,
    agree,
    in_turn,
    merged,
    settled_clients,
    steady_clients,
    unbalanced_clients,
)
from billframes.mirror.catalogue import Catalogue, Version
from billframes.mirror.changing import Changing
from billframes.mirror.deletions import ASKED, check_vanished, confirmed, missing, number_asked, reload
from billframes.mirror.remembered import Seen
from billframes.mirror.server import Server
from billframes.mirror.storage import Storage
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, Table, to_stored
from billframes.mirror.windows import fill, windows_of

__all__ = ["OVERLAP", "Refresh", "checked_full"]

OVERLAP = dt.timedelta(minutes=15)
# Taken further back if the server does not say what time it is.
NO_DATE = dt.timedelta(days=1)
# After the changes, a table's rows and the server's total must agree within this many rounds.
ROUNDS = 4


def checked_full(full: bool | str | Collection[str]) -> frozenset[str]:
    """Return the names of the tables to reload."""
    if isinstance(full, bool):
        return frozenset(TABLES) if full else frozenset()
    names = [full] if isinstance(full, str) else list(full)
    for name in names:
        if name not in TABLES:
            raise ParameterError(
                f"full={name!r} is not known; it takes True, or some of {', '.join(TABLES)}.{closest(name, TABLES)}"
            )
    return frozenset(names)


@dataclass
class Refresh:
    """
    One run, from the newest version to the next.

    Parameters
    ----------
    storage : Storage
    server : Server
    full : frozenset of str
        The tables to reload.
    """

    storage: Storage
    server: Server
    full: frozenset[str]
    _old: Version | None = None
    _at: dict[str, int] = field(default_factory=dict)
    _summary: list[dict[str, Any]] = field(default_factory=list)
    _redefined: bool = False
    # The last client whose balance was requested in turn.
    _checked: str = ""
    # The changes of each table so far.
    _taken: dict[str, pa.Table] = field(default_factory=dict)

    def run(self) -> Version:
        """Refresh all tables and commit the new version. The caller holds the lock."""
        here = dt.datetime.now(dt.UTC)
        catalogue = Catalogue(self.storage)
        self._old = catalogue.newest() if catalogue.exists() else None
        self._checked = self._old.firm.get("checked", "") if self._old else ""
        with _once_each():
            firm = self._firm()
            self._put_back()
            self._seen = Seen(self.storage, self._old.tables.get(REFERENCES.name) if self._old else None)
            for table in TABLES.values():
                self._timed(table)
            self._at[REFERENCES.name] = self._seen.commit(self._at)
        began = self.server.time or here
        overlap = OVERLAP if self.server.time else NO_DATE
        version = Version(
            number=(self._old.number if self._old else 0) + 1,
            time=began,
            began=here,
            tables=self._at,
            firm={**firm, "mark": (began - overlap).isoformat(), "checked": self._checked},
            summary=self._summary,
        )
        catalogue.commit(version)
        return version

    def _firm(self) -> Mapping[str, Any]:
        """Return whose data the server has. Refuse if the mirror has another firm's, or the credential sees less."""
        now = {"address": self.server.address, "rates": self.server.shows_rates()}
        if self._old is None:
            return now
        known = self._old.firm
        if known["address"] != now["address"]:
            raise MirrorError(
                f"The mirror {self.storage.place} holds the data of {known['address']}, and this client is connected "
                f"to {now['address']}. Keep a mirror for each firm; nothing was changed."
            )
        if known["rates"] and now["rates"] is False:
            raise MirrorError(
                f"The mirror {self.storage.place} holds rates, and this credential lacks the scope read.rates. "
                "Refresh it with a credential that has it; nothing was changed."
            )
        if known["rates"] is False and now["rates"]:
            # Rates that were hidden are loaded now: what a credential may see does not change an entry's modified date.
            self.full |= {"time_entries"}
        if now["rates"] is None:
            now["rates"] = known["rates"]
        self._check_people()
        return now

    def _check_people(self) -> None:
        """Refuse if the server has none of the mirror's users: one address can serve several firms."""
        old = Changing(self.storage, TABLES["users"], self._version_of("users"))
        known = set(old.read(["user_id"]).column(0).to_pylist())
        there = set(self.server.load("users", select="").column("user_id").to_pylist())
        if known and not known & there:
            raise MirrorError(
                f"The mirror {self.storage.place} holds another firm's data: none of its {len(known)} users is on the "
                "server. Connect with that firm's credential, or keep another mirror; nothing was changed."
            )

    def _put_back(self) -> None:
        """Undo the commits of a run that did not finish."""
        for name, version in (self._old.tables if self._old else {}).items():
            self._at[name] = self.storage.restore(name, version)

    def _version_of(self, name: str) -> int | None:
        return self._old.tables.get(name) if self._old else None

    def _timed(self, table: Table) -> None:
        begun, requests = time.monotonic(), self.server.requests
        changing = Changing(self.storage, table, self._at.get(table.name))
        if table.incremental:
            self._incremental(changing)
        elif table.name == "client_balances":
            self._balances(changing)
        else:
            self._whole(changing)
        self._at[table.name] = changing.at
        self._seen.keep_removed(changing)
        self._summary.append(
            {
                "resource": table.name,
                "added": changing.added,
                "updated": changing.updated,
                "removed": changing.removed,
                "requests": self.server.requests - requests,
                "seconds": time.monotonic() - begun,
            }
        )

    def _whole(self, changing: Changing) -> None:
        """Load a list that has no `modifiedSince`, and write it if it differs."""
        name = changing.table.name
        rows = to_stored(self.server.load(name), changing.table)
        self._replace(changing, rows)
        if name == "custom_fields":
            self._redefined = self._old is not None and changing.version != self._old.tables[name]

    def _replace(self, changing: Changing, rows: pa.Table) -> None:
        name, before = changing.table.name, len(changing)
        if name not in self.full:
            check_vanished(name, before - rows.num_rows, before)
        changing.replace_all(rows)

    def _balances(self, changing: Changing) -> None:
        """Load the balances of clients that can have changed, and reload invoices that don't add up to them."""
        invoices = Changing(self.storage, TABLES["invoices"], self._at["invoices"])
        steady = self._steady(changing)
        answered, balances = (steady and self._changed_balances(changing, steady)) or (self.server.balances(),) * 2
        self._reload_invoices(invoices, unbalanced_clients(invoices, answered))
        self._amended(invoices)
        clients = Changing(self.storage, TABLES["clients"], self._at["clients"])
        listed, answered_for = clients.read(["client_id"]).column(0), balances.column("client_id")
        # These clients were deleted after they were listed; all others have balances.
        gone = listed.filter(pc.invert(pc.is_in(listed, value_set=answered_for.cast(pa.string())))).to_pylist()
        if gone:
            check_vanished("clients", len(gone), len(clients))
            clients.remove(gone)
            self._amended(clients)
        self._replace(changing, to_stored(balances, changing.table))

    def _amended(self, changing: Changing) -> None:
        """Keep changes that were made to a table after its turn."""
        self._at[changing.table.name] = changing.at
        self._seen.keep_removed(changing)
        row = next(each for each in self._summary if each["resource"] == changing.table.name)
        for name in ("added", "updated", "removed"):
            row[name] += getattr(changing, name)

    def _steady(self, changing: Changing) -> Steady | None:
        if self._old is None or self.server.time is None or changing.table.name in self.full:
            return None
        before, now = (
            Changing(self.storage, TABLES["invoices"], at["invoices"]) for at in (self._old.tables, self._at)
        )
        return steady_clients(changing.read(), before, now, (self._old.time.date(), self.server.time.date()))

    def _changed_balances(self, changing: Changing, steady: Steady) -> tuple[pa.Table, pa.Table] | None:
        """Return the requested balances, and those of all clients; None if all of them must be requested."""
        if self._old is None or self.server.time is None:
            return None
        ids = self._clients(changing)
        turn = in_turn(ids, self._checked, self.server.time - self._old.time)
        self._checked = turn[-1] if turn else ""
        checks = steady.checks(ids, turn, self._old.number)
        asked = [id_ for id_ in ids if id_ not in steady.answers or id_ in checks]
        answered = self.server.balances(asked)
        if not agree(answered, [steady.answers[id_] for id_ in checks]):
            # This server's balances contain more than the invoices show.
            return None
        return answered, merged(answered, steady, ids, asked)

    def _clients(self, balances: Changing) -> list[str]:
        """Return all clients after their refresh: first those with a stored balance, in that order."""
        known = balances.read(["client_id", POSITION]).sort_by(POSITION).column("client_id").to_pylist()
        listed = {*self.storage.read("clients", self._at["clients"], ["client_id"]).column(0).to_pylist()}
        return [*(id_ for id_ in known if id_ in listed), *sorted(listed - {*known})]

    def _incremental(self, changing: Changing) -> None:
        table = changing.table
        if changing.version is None or self._misfits(table):
            self._first(changing)
            self._catch_up(changing)
        elif table.name in self.full:
            self._remove(changing, reload(self.server, changing), check=False)
            self._catch_up(changing)
        else:
            self._catch_up(changing)
            if table.name == "invoices":
                self._reload_invoices(changing, settled_clients(self.server, changing))

    def _misfits(self, table: Table) -> bool:
        """Tell whether custom fields were redefined, so that the table needs other columns."""
        return self._redefined and table.resource is not None and table.resource.entity is not None

    def _first(self, changing: Changing) -> None:
        """Fill a table, or fill it again in other columns."""
        table = changing.table
        if changing.version is not None:
            changing.replace_all(to_stored(self.server.load(table.name), table))
            return
        windows = windows_of(self.server, table, self.server.count(table.name))
        for frame in fill(self.server, changing, windows):
            self._seen.look(frame, table)
        if len(windows) > 1:
            changing.drop_doubles()

    def _catch_up(self, changing: Changing) -> None:
        """Store changes and remove deleted records until the number of rows equals the server's total."""
        table = changing.table
        busy, alive = False, False
        for _ in range(1 + ROUNDS):
            # The total comes first: if nothing changed afterwards, nothing had when it was counted.
            total = self.server.count(table.name)
            quiet = not self._take_changes(changing)
            if not quiet:
                busy = True
            elif total == len(changing):
                return
            else:
                alive = not self._remove_deleted(changing, total, thorough=alive)
        total = self.server.count(table.name)
        if total >= len(changing) or self._take_changes(changing):
            # If people are writing at this moment, the next refresh finds the deletions since then.
            return
        if not busy:
            raise PagingError(
                f"{table.name}: the server counts fewer records than its lists hold, {ROUNDS} times in a row. Nothing "
                "of this refresh was kept; try again."
            )
        for thorough in (alive, True):
            if self._remove_deleted(changing, total, thorough=thorough):
                return

    def _remove_deleted(self, changing: Changing, total: int, *, thorough: bool) -> bool:
        """
        Find and remove the rows that the server's totals lack. Return whether all rows that were found are deleted.

        A row that was found and still exists has another date without a new modified date, and can hide a deleted one
        in the totals. Then `thorough` loads the whole table.
        """
        name, gone, requests = changing.table.name, len(changing) - total, self.server.requests
        if name not in self.full:
            check_vanished(name, gone, len(changing))
        found = reload(self.server, changing) if thorough else missing(self.server, changing, total)
        most = number_asked(self.server, changing, self.server.requests - requests, agree=len(found) == gone)
        return self._remove(changing, found, most, check=name not in self.full)

    def _take_changes(self, changing: Changing) -> bool:
        """Store what changed since the last run began. Return whether any of it was new."""
        frame = self.server.load(changing.table.name, modified_since=self._mark())
        rows = to_stored(frame, changing.table)
        if rows.equals(self._taken.get(changing.table.name)):
            return False
        self._taken[changing.table.name] = rows
        self._seen.look(frame, changing.table)
        before = changing.version
        changing.upsert(rows)
        return before != changing.version

    def _mark(self) -> dt.datetime:
        if self._old is not None:
            return dt.datetime.fromisoformat(self._old.firm["mark"])
        return (self.server.time - OVERLAP) if self.server.time else dt.datetime.now(dt.UTC) - NO_DATE

    def _remove(self, changing: Changing, ids: list[str], most: int = ASKED, *, check: bool) -> bool:
        """Remove the ids that are deleted, with at most `most` requests. Return whether all of them are."""
        if check:
            check_vanished(changing.table.name, len(ids), len(changing))
        gone = confirmed(self.server, changing, ids, most) if ids else []
        if gone:
            changing.remove(gone)
            taken = self._taken.get(changing.table.name)
            if taken is not None and {*gone} & {*taken.column(changing.table.id).to_pylist()}:
                del self._taken[changing.table.name]
        return len(gone) == len(ids)

    def _reload_invoices(self, invoices: Changing, client_ids: list[str]) -> None:
        """Load the invoices of some clients again, or all invoices if that takes fewer requests."""
        if not client_ids:
            return
        if len(client_ids) > ASKED + len(invoices) // self.server.page_size:
            self._remove(invoices, reload(self.server, invoices), check=True)
        else:
            frame = self.server.invoices_of(client_ids)
            self._seen.look(frame, invoices.table)
            rows = to_stored(frame, invoices.table)
            here = invoices.read(["invoice_id"], pc.field("client_id").isin(client_ids)).column(0)
            gone = here.filter(pc.invert(pc.is_in(here, value_set=rows.column("invoice_id")))).to_pylist()
            check_vanished("invoices", len(gone), len(invoices))
            invoices.upsert(rows, gone)


@contextmanager
def _once_each() -> Iterator[None]:
    """Give each warning of a run once, although many loads give it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    seen = {(str(each.message), each.category): each for each in caught}
    for each in seen.values():
        if issubclass(each.category, BillframesWarning):
            warn(str(each.message), each.category)
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
