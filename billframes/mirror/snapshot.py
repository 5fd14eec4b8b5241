"""Read the tables of one version of the mirror, and the columns that records show of other records."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from billframes.mirror.catalogue import Version
from billframes.mirror.data_files import DataFile, damaged
from billframes.mirror.storage import Storage
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, Table, TableReference, shown_columns, without


class Snapshot:
    """The tables of one version."""

    def __init__(self, storage: Storage, version: Version) -> None:
        self.storage = storage
        self.version = version
        self._lookups: dict[str, pa.Table] = {}

    def read(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        rows: ds.Expression | None = None,
        partitions: Collection[str] | None = None,
    ) -> pa.Table:
        """Read a table's stored columns, in the server's order if that is kept."""
        table = self.storage.read(name, self.version.tables[name], columns, rows, partitions)
        for key in TABLES[name].key if name in TABLES else REFERENCES.key:
            if key in table.column_names and table.column(key).null_count:
                raise damaged(f"a row of {name} has no {key}")
        return table.sort_by(POSITION) if POSITION in table.column_names else table

    def columns(self, name: str) -> list[str]:
        """Return the names of a table's stored columns."""
        return list(self.empty(name).column_names)

    def files(self, name: str) -> list[str]:
        """Return the addresses of a table's files that have rows."""
        files = self.storage.checked(self._data_files(name), self.columns(name))
        return [file.uri for file in files if file.rows]

    def dataset(self, name: str) -> ds.Dataset:
        """Open a table's stored columns as an Arrow dataset."""
        return self.storage.dataset(name, self.version.tables[name])

    def sizes(self) -> pd.DataFrame:
        """Return the rows and bytes of each table."""
        files = {name: self._data_files(name) for name in TABLES}
        return pd.DataFrame(
            {
                "resource": list(files),
                "rows": [sum(file.rows for file in each) for each in files.values()],
                "bytes": [sum(file.size for file in each) for each in files.values()],
            }
        )

    def empty(self, name: str) -> pa.Table:
        """Return an empty table with the stored columns."""
        return self.storage.schema(name, self.version.tables[name]).empty_table()

    def partitions(self, table: Table, start: dt.date | None, end: dt.date | None) -> set[str] | None:
        """Return the partitions that can have rows of a period; None for all."""
        if not table.partition or not (start or end):
            return None
        cut = 7 if table.partition == "month" else 4
        first, last = (start or dt.date.min).isoformat()[:cut], (end or dt.date.max).isoformat()[:cut]
        files = self._data_files(table.name)
        return {file.partition for file in files if file.partition and first <= file.partition <= last}

    def _data_files(self, name: str) -> tuple[DataFile, ...]:
        return self.storage.data_files(name, self.version.tables[name])

    def reference_columns(
        self, rows: pa.Table, reference: TableReference, since: dt.date | None = None
    ) -> dict[str, pa.ChunkedArray]:
        """
        Return the columns of a reference, with a value for each row.

        The other records mostly have later dates than `since`, the first day of the rows' period, so these are read
        first.
        """
        keys, id_ = rows.column(reference.key), TABLES[reference.table].id
        if reference.shown:
            shown = self.lookup(reference.table)
            if reference.shown in rows.column_names:
                keys = _lists_as_shown(keys, rows.column(reference.shown))
            ids = shown.column(id_)
            return {name: _look_up_lists(keys, ids, shown.column(source)) for name, source in reference.columns.items()}
        for shown in self._lookups_from(reference.table, since):
            places = pc.index_in(keys, value_set=shown.column(id_))
            if places.null_count == keys.null_count:
                break
        return {name: shown.column(source).take(places) for name, source in reference.columns.items()}

    def _lookups_from(self, name: str, since: dt.date | None) -> Iterator[pa.Table]:
        partitions = None if name in self._lookups else self.partitions(TABLES[name], since, None)
        if partitions is not None:
            yield self.read(name, [TABLES[name].id, *shown_columns(name)], partitions=partitions)
        yield self.lookup(name)

    def lookup(self, name: str) -> pa.Table:
        """Return the columns of a table that other records show, also for records that are no longer in its list."""
        if name not in self._lookups:
            id_ = TABLES[name].id
            columns = [id_, *shown_columns(name)]
            listed = self.read(name, columns)
            unlisted = self.unlisted(name).rename_columns({"id": id_}).select(columns)
            unlisted = without(unlisted, id_, listed.column(id_))
            self._lookups[name] = pa.concat_tables([listed, unlisted]).combine_chunks()
        return self._lookups[name]

    def unlisted(self, name: str) -> pa.Table:
        """Return the last shown values of a table's records that were once missing in its list."""
        return self._unlisted_references.filter(pc.field("table") == name)

    @functools.cached_property
    def _unlisted_references(self) -> pa.Table:
        return self.read(REFERENCES.name)

    @functools.cached_property
    def balances(self) -> dict[str, dict[str, Any]]:
        """The balances of each client by the client's id."""
        return {row["client_id"]: row for row in self.rows("client_balances")}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a small table."""
        rows: list[dict[str, Any]] = self.read(name).to_pylist()
        return rows


def _lists_as_shown(keys: pa.ChunkedArray, shown: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return lists of ids, missing where the server showed no list of records, and empty where it showed one."""
    given = pc.if_else(keys.is_valid(), keys, pa.scalar([], keys.type))
    return pc.if_else(shown, given, pa.scalar(None, keys.type))


def _look_up_lists(keys: pa.ChunkedArray, ids: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    lists = keys.combine_chunks()
    found = values.take(pc.index_in(pc.list_flatten(lists), value_set=ids)).combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths).cast(pa.int32())])
    return pa.chunked_array([pa.ListArray.from_arrays(offsets, found, mask=lists.is_null())])
