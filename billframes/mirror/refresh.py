"""Update the mirror to the server's current state.

Tables are updated one after another, those that others refer to last. At the end, a version is committed that names the
Delta versions of all tables. Until then, readers see the version before. If the process is killed, the next refresh
undoes what it left and starts again.

A refresh requests the changes since the server's time at which the last refresh began, less an overlap for differing
clocks, replicas and late commits. It does not start at the newest modified date received, because a commit may become
visible late. Lists without `modifiedSince` are loaded completely, and written only if they differ.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import closest
from billframes._shared.notes import Notes, collect_notes
from billframes.errors import PagingError, ParameterError
from billframes.mirror.balances import (
    balances_equal,
    combine_balances,
    next_to_check,
    store_open_invoices,
    unchanged_balances,
    unreconciled_clients,
)
from billframes.mirror.catalogue import Catalogue, Firm, Refreshed, Version
from billframes.mirror.cleanup import undo_unfinished, undone_if_it_fails
from billframes.mirror.deletions import (
    SAMPLE,
    check_billed,
    check_vanished,
    confirm_deleted,
    find_missing,
    reload_table,
    sample_size,
)
from billframes.mirror.firm_check import check_firm
from billframes.mirror.server_lists import ServerLists, cut_windows, fill
from billframes.mirror.side_tables import ReferenceCollector
from billframes.mirror.storage import Storage
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, to_stored, without

OVERLAP = dt.timedelta(minutes=15)
# The overlap if the server does not state its time.
NO_DATE = dt.timedelta(days=1)
# The number of rounds in which a table's number of rows and the server's total must become equal.
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
    """One refresh, from the newest version to the next."""

    storage: Storage
    server: ServerLists
    full: frozenset[str]
    _previous: Version | None = None
    _known: Firm | None = None
    _tables: dict[str, StoredTable] = field(default_factory=dict)
    # The requests and seconds of each table.
    _costs: dict[str, tuple[int, float]] = field(default_factory=dict)
    _custom_fields_changed: bool = False
    # Tables to load completely whose rows can't be read: they are written again without reading them.
    _lost: frozenset[str] = frozenset()
    # The last client whose balance was checked in turn.
    _last_checked: str = ""
    # The last list of changes of each table.
    _last_changes: dict[str, pa.Table] = field(default_factory=dict)

    def run(self) -> Version:
        """Refresh all tables and commit the new version. The caller holds the lock."""
        here = dt.datetime.now(dt.UTC)
        catalogue = Catalogue(self.storage)
        undo_unfinished(self.storage, catalogue)
        self._previous = catalogue.newest() if catalogue.exists() else None
        self._known = self._previous.firm if self._previous else None
        self._last_checked = self._known.checked if self._known else ""
        self.server.keep_field_names(self._known.fields if self._known else ())
        with collect_notes(Notes()) as notes:
            self._lost = self._lost_tables()
            firm = check_firm(self.storage, self.server, self._previous, read_users="users" not in self._lost)
            if self._known and self._known.rates is False and firm["rates"]:
                # Hidden rates become visible without a new modified date, so all entries are loaded.
                self.full |= {"time_entries"}
            with undone_if_it_fails(self.storage, catalogue):
                version = self._new_version(here, firm, self._refresh_tables())
                catalogue.commit(version)
        notes.finish()
        return version

    def _lost_tables(self) -> frozenset[str]:
        """Return the tables of the last version that can't be read; raise `MirrorError` if they are to be read."""
        lost = set()
        for name, version in (self._previous.tables if self._previous else {}).items():
            if name not in self.full and (name in TABLES or len(self.full) < len(TABLES)):
                self.storage.checked(self.storage.data_files(name, version))
            elif not self.storage.is_readable(name, version):
                lost.add(name)
        return frozenset(lost)

    def _refresh_tables(self) -> dict[str, int]:
        previous = self._previous.tables if self._previous else {}
        # Undo the commits of a refresh that did not finish.
        at = {name: self.storage.restore(name, version) for name, version in previous.items() if name not in self._lost}
        self._tables = {name: StoredTable(self.storage, table, at.get(name)) for name, table in TABLES.items()}
        self._references = ReferenceCollector(self.storage, at.get(REFERENCES.name))
        for stored in self._tables.values():
            started, requests = time.monotonic(), self.server.requests
            self._refresh_table(stored)
            self._costs[stored.table.name] = self.server.requests - requests, time.monotonic() - started
        for stored in self._tables.values():
            self._references.collect_removed(stored)
        versions = {name: stored.current_version for name, stored in self._tables.items()}
        return versions | {REFERENCES.name: self._references.commit(versions)}

    def _new_version(self, here: dt.datetime, firm: Mapping[str, Any], versions: Mapping[str, int]) -> Version:
        began = self.server.time or here
        overlap = OVERLAP if self.server.time else NO_DATE
        known = Firm(**firm, mark=began - overlap, checked=self._last_checked, fields=self._field_ids())
        number = self._previous.number + 1 if self._previous else 1
        summary = [
            Refreshed(name, each.added, each.updated, each.removed, *self._costs[name])
            for name, each in self._tables.items()
        ]
        return Version(number, began, here, versions, known, summary)

    def _field_ids(self) -> tuple[str, ...]:
        """Return the ids of the custom fields: first those of the last version, which keep their names, then new."""
        before = self._known.fields if self._known else ()
        stored = self._tables["custom_fields"].read(["id", POSITION]).sort_by(POSITION).column("id").to_pylist()
        return (*(id_ for id_ in before if id_ in stored), *(id_ for id_ in stored if id_ not in before))

    def _refresh_table(self, stored: StoredTable) -> None:
        if stored.table.incremental:
            self._refresh_changes(stored)
        elif stored.table.name == "client_balances":
            self._refresh_balances(stored)
        else:
            self._refresh_whole(stored)
        if stored.table.name == "invoices" and self._previous and (stored.added or stored.updated or stored.removed):
            self._check_billed()

    def _check_billed(self) -> None:
        """Reload items if another number is billed on the server: some bill items without a new modified date."""
        for name in ("time_entries", "expenses", "fixed_fees"):
            stored = self._tables[name]
            if self._knows_billed(stored):
                continue
            self._store_changes(stored)
            if not self._knows_billed(stored):
                self._remove(stored, reload_table(self.server, stored), check=name not in self.full)

    def _knows_billed(self, stored: StoredTable) -> bool:
        billed: int = stored.read([stored.table.id], pc.field("billed")).num_rows
        counted = self.server.count(stored.table.name, billed=True)
        if billed == counted:
            return True
        # A server that ignores the filter counts all.
        return counted == len(stored) and counted == self.server.count(stored.table.name, billed=False)

    def _refresh_whole(self, stored: StoredTable) -> None:
        before = stored.version
        self._replace(stored, to_stored(self.server.load(stored.table.name), stored.table))
        if stored.table.name == "custom_fields":
            self._custom_fields_changed = before is not None and stored.version != before

    def _replace(self, stored: StoredTable, rows: pa.Table) -> None:
        name, before = stored.table.name, len(stored)
        if name not in self.full:
            check_vanished(name, before - rows.num_rows, before)
        stored.replace_all(rows)

    def _refresh_balances(self, stored: StoredTable) -> None:
        """Load the balances that can have changed, and reload invoices that don't add up to their client's balance."""
        invoices, clients = self._tables["invoices"], self._tables["clients"]
        requested, balances = self._load_balances(stored)
        self._reload_invoices(invoices, unreconciled_clients(invoices, requested))
        # Clients without a balance were deleted after they were listed.
        with_balance = balances.column("client_id").cast(pa.string())
        deleted = without(clients.read(["client_id"]), "client_id", with_balance).column(0).to_pylist()
        if deleted:
            check_vanished("clients", len(deleted), len(clients))
            clients.remove(deleted)
        self._replace(stored, to_stored(balances, stored.table))

    def _load_balances(self, stored: StoredTable) -> tuple[pa.Table, pa.Table]:
        previous, now = self._previous, self.server.time
        if previous is not None and now is not None and not {stored.table.name, "invoices"} & self.full:
            found = self._load_changed_balances(stored, previous, now)
            if found is not None:
                return found
        balances = self.server.balances()
        return balances, balances

    def _load_changed_balances(
        self, stored: StoredTable, previous: Version, now: dt.datetime
    ) -> tuple[pa.Table, pa.Table] | None:
        before = StoredTable(self.storage, TABLES["invoices"], previous.tables["invoices"])
        days = previous.time.date(), now.date()
        unchanged = unchanged_balances(stored.read(), before, self._tables["invoices"], days)
        if unchanged is None:
            return None
        ids = self._client_ids(stored)
        turn = next_to_check(ids, self._last_checked, now - previous.time)
        self._last_checked = turn[-1] if turn else ""
        checked = unchanged.clients_to_check(ids, turn, previous.number)
        requested_ids = [id_ for id_ in ids if id_ not in unchanged.balances or id_ in checked]
        requested = self.server.balances(requested_ids)
        if not balances_equal(requested, [unchanged.balances[id_] for id_ in checked]):
            # On this server, balances contain more than invoices.
            return None
        return requested, combine_balances(requested, unchanged, ids, requested_ids)

    def _client_ids(self, balances: StoredTable) -> list[str]:
        """Return the ids of all clients: first those with a stored balance in their order, then new clients."""
        known = balances.read(["client_id", POSITION]).sort_by(POSITION).column("client_id").to_pylist()
        listed = {*self._tables["clients"].read(["client_id"]).column(0).to_pylist()}
        return [*(id_ for id_ in known if id_ in listed), *sorted(listed - {*known})]

    def _refresh_changes(self, stored: StoredTable) -> None:
        table = stored.table
        if stored.version is None or self._needs_other_columns(stored):
            self._fill(stored)
            self._catch_up(stored)
        elif table.name in self.full:
            self._remove(stored, reload_table(self.server, stored), check=False)
            self._catch_up(stored)
        else:
            self._catch_up(stored)
            if table.name == "invoices":
                self._reload_invoices(stored, store_open_invoices(self.server, stored))

    def _needs_other_columns(self, stored: StoredTable) -> bool:
        """Tell whether custom fields were changed, or an earlier billframes wrote the table."""
        table = stored.table
        if self._custom_fields_changed and table.resource is not None and table.resource.entity:
            return True
        return not table.shown <= {*self.storage.schema(table.name, stored.current_version).names}

    def _fill(self, stored: StoredTable) -> None:
        table = stored.table
        if stored.version is not None:
            stored.replace_all(to_stored(self.server.load(table.name), table))
            return
        windows = cut_windows(self.server, table, self.server.count(table.name))
        for frame in fill(self.server, stored, windows):
            self._references.collect(frame, table)
        if len(windows) > 1:
            stored.drop_duplicates()

    def _catch_up(self, stored: StoredTable) -> None:
        """Store changes and remove deleted records until the number of rows equals the server's total."""
        table = stored.table
        busy, thorough = False, False
        for _ in range(1 + ROUNDS):
            # The total is requested first: if there is no change after it, there was none before it either.
            total = self.server.count(table.name)
            if self._store_changes(stored):
                busy = True
            elif total == len(stored):
                return
            else:
                thorough = not self._remove_deleted(stored, total, thorough=thorough)
        total = self.server.count(table.name)
        if total >= len(stored) or self._store_changes(stored):
            # People are writing, so the next refresh will find the deletions.
            return
        if not busy:
            raise PagingError(
                f"{table.name}: the server's total is lower than the number of records in its lists, {ROUNDS} times in "
                "a row. Nothing of this refresh was kept; try again."
            )
        if not self._remove_deleted(stored, total, thorough=thorough):
            self._remove_deleted(stored, total, thorough=True)

    def _remove_deleted(self, stored: StoredTable, total: int, *, thorough: bool) -> bool:
        """
        Find and remove deleted rows. Return whether all rows that seemed to be deleted are.

        If one of them still exists, its date was changed without a new modified date. Such a record can hide a deleted
        one in the totals, so the next search has to be `thorough`: it loads the whole table.
        """
        name, number, requests = stored.table.name, len(stored) - total, self.server.requests
        if name not in self.full:
            check_vanished(name, number, len(stored))
        missing = reload_table(self.server, stored) if thorough else find_missing(self.server, stored, total)
        most = sample_size(self.server, stored, self.server.requests - requests, totals_agree=len(missing) == number)
        return self._remove(stored, missing, most, check=name not in self.full)

    def _store_changes(self, stored: StoredTable) -> bool:
        """Store the changes since the last refresh began. Return whether any of them was new."""
        frame = self.server.load(stored.table.name, modified_since=self._changes_since())
        rows = to_stored(frame, stored.table)
        if rows.equals(self._last_changes.get(stored.table.name)):
            return False
        self._last_changes[stored.table.name] = rows
        self._references.collect(frame, stored.table)
        before = stored.version
        stored.upsert(rows)
        return before != stored.version

    def _changes_since(self) -> dt.datetime:
        if self._known:
            return self._known.mark
        return (self.server.time - OVERLAP) if self.server.time else dt.datetime.now(dt.UTC) - NO_DATE

    def _remove(self, stored: StoredTable, ids: list[str], most: int = SAMPLE, *, check: bool) -> bool:
        """Remove the rows whose deletion is confirmed, as `confirm_deleted` does. Return whether all are."""
        if check:
            check_vanished(stored.table.name, len(ids), len(stored))
        deleted = confirm_deleted(self.server, stored, ids, most) if ids else []
        if deleted and check and self._previous:
            invoices = StoredTable(self.storage, TABLES["invoices"], self._previous.tables["invoices"])
            check_billed(self.server, stored, invoices, deleted)
        if deleted:
            stored.remove(deleted)
            changes = self._last_changes.get(stored.table.name)
            if changes is not None and {*deleted} & {*changes.column(stored.table.id).to_pylist()}:
                del self._last_changes[stored.table.name]
        return len(deleted) == len(ids)

    def _reload_invoices(self, invoices: StoredTable, client_ids: list[str]) -> None:
        """Reload the invoices of some clients, or all invoices if that takes fewer requests."""
        if not client_ids:
            return
        if len(client_ids) > SAMPLE + len(invoices) // self.server.page_size:
            self._remove(invoices, reload_table(self.server, invoices), check=True)
        else:
            frame = self.server.invoices_of(client_ids)
            self._references.collect(frame, invoices.table)
            rows = to_stored(frame, invoices.table)
            stored = invoices.read(["invoice_id"], pc.field("client_id").isin(client_ids))
            deleted = without(stored, "invoice_id", rows.column("invoice_id")).column(0).to_pylist()
            check_vanished("invoices", len(deleted), len(invoices))
            invoices.upsert(rows, deleted)
