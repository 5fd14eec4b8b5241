"""Keep beside the tables what no list shows: names of records that are gone, and codes of expenses and fixed fees.

Every row shows its client, matter, user and invoice in short. That is stored only for ids that the list of clients,
matters, users or invoices lacks, such as a user who left the firm; all others are joined from those lists, so they
never go stale.

Only single records show the codes of expenses and fixed fees. The table `item_codes` has those that were read. It does
not belong to a version: a code is found by its record's id and the instant of the record's last change, so it is right
for every version whose record has that instant. Rows are only added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes._messages import warn
from billframes.ebilling import ItemCodes, ItemKey
from billframes.errors import BillframesWarning, MirrorError
from billframes.mirror.changing import Changing
from billframes.mirror.lock import private_files
from billframes.mirror.storage import Storage
from billframes.mirror.tables import REFERENCES, TABLES, Table, reference_type

__all__ = ["ITEM_CODES", "MirrorCodes", "Seen"]


class Seen:
    """
    References seen during a refresh.

    Parameters
    ----------
    storage : Storage
    version : int, optional
        The version of the table of references before; None if there is none.
    """

    def __init__(self, storage: Storage, version: int | None) -> None:
        self._storage = storage
        self._version = version
        self._found: dict[tuple[str, str], dict[str, Any]] = {}
        # What tables show in columns of their own: by the other record's table and what is shown of it.
        self._shown: dict[tuple[str, ...], pa.Table] = {}

    def look(self, frame: pa.Table, table: Table) -> None:
        """Note the references of rows as they came."""
        for reference in table.references:
            keys = frame.column(reference.key)
            if pa.types.is_list(keys.type):
                self._look_in_lists(frame, reference.key, reference.table, dict(reference.columns))
                continue
            if not set(reference.columns) <= set(frame.column_names):
                continue
            names = {reference.key: "id", **reference.columns}
            rows = _last_of_each(frame.select(list(names)).rename_columns(list(names.values())))
            of = reference.table, *reference.columns.values()
            self._shown[of] = _last_of_each(pa.concat_tables([rows, self._shown[of]])) if of in self._shown else rows

    def keep_removed(self, changing: Changing) -> None:
        """Note the rows that a refresh removes from a list, as others may still show them."""
        shown = {
            own
            for table in TABLES.values()
            for reference in table.references
            if reference.table == changing.table.name
            for own in reference.columns.values()
        }
        for rows in changing.removed_rows if shown else ():
            for row in rows.to_pylist():
                self._note(changing.table.name, row[changing.table.id], {name: row[name] for name in shown})

    def commit(self, at: dict[str, int]) -> int:
        """Write what is in no list, if it changed; return the version of the table."""
        rows = {(row["table"], row["id"]): row for row in self._before()}
        for name in {table for table, *_ in (*self._shown, *self._found)}:
            listed = self._storage.read(name, at[name], [TABLES[name].id]).column(0)
            for id_, values in self._unlisted(name, listed).items():
                rows[name, id_] = {**values, "table": name, "id": id_}
        kept = pa.Table.from_pylist([rows[key] for key in sorted(rows)], reference_type())
        changing = Changing(self._storage, REFERENCES, self._version)
        changing.replace_all(kept)
        return changing.at

    def _unlisted(self, name: str, listed: pa.ChunkedArray) -> dict[str, dict[str, Any]]:
        """Return what was seen of another table's records that its list lacks, by id."""
        last: dict[str, dict[str, Any]] = {}
        for (table, *own), shown in self._shown.items():
            if table == name:
                lacking = shown.filter(pc.invert(pc.is_in(shown.column("id"), value_set=listed)))
                for row in lacking.to_pylist():
                    if any(row[each] is not None for each in own):
                        last.setdefault(row["id"], {}).update(row)
        ids = set(listed.to_pylist())
        for (table, id_), values in self._found.items():
            if table == name and id_ not in ids:
                last.setdefault(id_, {}).update(values)
        return last

    def _before(self) -> list[dict[str, Any]]:
        if self._version is None:
            return []
        rows: list[dict[str, Any]] = self._storage.read(REFERENCES.name, self._version).to_pylist()
        return rows

    def _look_in_lists(self, frame: pa.Table, key: str, table: str, columns: dict[str, str]) -> None:
        for name, own in columns.items():
            if name not in frame.column_names:
                continue
            for ids, values in zip(frame.column(key).to_pylist(), frame.column(name).to_pylist(), strict=True):
                if ids and values and len(ids) == len(values):
                    for id_, value in zip(ids, values, strict=True):
                        self._note(table, id_, {own: value})

    def _note(self, table: str, id_: str | None, values: dict[str, Any]) -> None:
        if id_ is not None and any(value is not None for value in values.values()):
            self._found.setdefault((table, id_), {}).update(values)


def _last_of_each(rows: pa.Table) -> pa.Table:
    """Return one row for each id, the first, in plain types."""
    ids = _plain(rows.column("id"))
    each = rows.take(pc.index_in(pc.drop_null(pc.unique(ids)), value_set=ids))
    return pa.table({name: _plain(each.column(name)) for name in each.column_names})


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    return column.cast(pa.string()) if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind) else column


ITEM_CODES = "item_codes"
_KEY = ("kind", "id", "modified_at")
_CODES = ("activity_code", "task_code", "expense_code")
_SCHEMA = pa.schema(
    {"kind": pa.string(), "id": pa.string(), "modified_at": pa.timestamp("us", "UTC")}
    | dict.fromkeys(_CODES, pa.string())
)


class MirrorCodes:
    """
    The codes that are remembered in one mirror.

    Parameters
    ----------
    storage : Storage
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        """Return all codes that were read, by record and instant of its last change."""
        if not self._storage.exists(ITEM_CODES):
            return {}
        rows = self._storage.read(ITEM_CODES, self._storage.version(ITEM_CODES)).to_pylist()
        return {(row["kind"], row["id"], row["modified_at"]): {name: row[name] for name in _CODES} for row in rows}

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        """Keep codes; if the mirror can't be written, warn, as they are only read again next time."""
        rows = [dict(zip(_KEY, key, strict=True)) | dict(found) for key, found in codes.items()]
        try:
            with private_files():
                self._storage.write(
                    ITEM_CODES, pa.Table.from_pylist(rows, _SCHEMA), append=self._storage.exists(ITEM_CODES)
                )
        except MirrorError as error:
            warn(f"The codes of {len(rows):,} items were read but not remembered. {error}", BillframesWarning)
