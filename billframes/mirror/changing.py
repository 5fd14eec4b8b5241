"""Change one table during a refresh: compare rows, write the differences, and count them.

A row that is stored as it was received is not written. A write replaces the partitions that hold the changed rows,
and leaves every other file alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from billframes.mirror.storage import Storage
from billframes.mirror.tables import PARTITION, POSITION, Table, partition_of

__all__ = ["Changing", "newest_rows", "same_rows"]

# Rows of the partitions that are rewritten in one commit.
BATCH = 200_000


@dataclass
class Changing:
    """
    A table on its way from one version of the mirror to the next.

    Parameters
    ----------
    storage : Storage
    table : Table
    version : int, optional
        The Delta version it is at; None if there is none yet.
    removed_rows : list of Table
        The rows that were removed, as they were last seen.
    """

    storage: Storage
    table: Table
    version: int | None
    added: int = 0
    updated: int = 0
    removed: int = 0
    removed_rows: list[pa.Table] = field(default_factory=list)

    def __len__(self) -> int:
        """Return how many rows the table has, from the statistics of its files."""
        if self.version is None:
            return 0
        return sum(part.rows for part in self.storage.parts(self.table.name, self.version))

    @property
    def at(self) -> int:
        """The Delta version it is at."""
        if self.version is None:
            raise AssertionError(f"{self.table.name} was not written yet")
        return self.version

    def read(self, columns: Sequence[str] | None = None, rows: pc.Expression | None = None) -> pa.Table:
        """Read the table as it is now."""
        return self.storage.read(self.table.name, self.at, columns, rows)

    def append(self, rows: pa.Table) -> None:
        """Add rows that are surely new; the first ones make the table."""
        self.version = self.storage.write(self.table.name, self._sorted(rows), append=self.version is not None)
        self.added += rows.num_rows

    def fits(self, rows: pa.Table) -> bool:
        """Tell whether rows have the columns that are stored."""
        schema = self.storage.schema(self.table.name, self.at)
        came = pa.schema([each for each in rows.schema if each.name != PARTITION])
        return [(each.name, each.type) for each in schema] == [(each.name, each.type) for each in came]

    def replace_all(self, rows: pa.Table) -> None:
        """Replace the table's rows by these if they differ."""
        if self.version is None:
            self.append(rows)
            return
        old = self.read()
        if self.fits(rows):
            stored = _without_partition(rows)
            if POSITION in old.column_names:
                old = old.sort_by(POSITION)
            if old.equals(stored.select(old.column_names).cast(old.schema)):
                return
            self._count(rows, old)
        else:
            self.updated += rows.num_rows
        gone = _missing(old, rows, self.table.key)
        self.removed += gone.num_rows
        self.removed_rows.append(gone)
        self.version = self.storage.write(self.table.name, self._sorted(rows))

    def upsert(self, rows: pa.Table, gone: Collection[str] = ()) -> set[str]:
        """
        Store rows, and remove the rows of deleted ids.

        Returns
        -------
        set of str
            The ids of stored rows that changed.
        """
        id_ = self.table.id
        ids = pa.chunked_array([*rows.column(id_).chunks, pa.array(list(gone), pa.string())], pa.string())
        if not len(ids):
            return set()
        old = self._with(ids.combine_chunks(), rows)
        changed = rows.filter(pc.invert(same_rows(rows, old, id_)))
        known = pc.is_in(changed.column(id_), value_set=old.column(id_))
        leaving = old.filter(pc.field(id_).isin(pa.array(list(gone), pa.string())))
        if not changed.num_rows and not leaving.num_rows:
            return set()
        updated: set[str] = set(changed.filter(known).column(id_).to_pylist())
        self._rewrite(changed, [*changed.column(id_).to_pylist(), *leaving.column(id_).to_pylist()], old)
        self.updated += len(updated)
        self.added += changed.num_rows - len(updated)
        self.removed += leaving.num_rows
        self.removed_rows.append(leaving)
        return updated

    def _with(self, ids: pa.Array, rows: pa.Table) -> pa.Table:
        """Read the rows with these ids: first from the partitions of `rows`, then the others from all partitions."""
        id_ = self.table.id
        if not self.table.partition:
            return self.read(rows=pc.field(id_).isin(ids))
        name, near = self.table.name, set(rows.column(PARTITION).to_pylist())
        old = self.storage.read(name, self.at, rows=pc.field(id_).isin(ids), partitions=near)
        others = ids.filter(pc.invert(pc.is_in(ids, value_set=old.column(id_).combine_chunks())))
        if not len(others):
            return old
        # Only ids and dates are read: other columns are many times as large.
        found = self._partitioned(self.read([id_, str(self.table.date)], pc.field(id_).isin(others)))
        far = set(found.column(PARTITION).to_pylist())
        if not far:
            return old
        moved = self.storage.read(name, self.at, rows=pc.field(id_).isin(others), partitions=far)
        return pa.concat_tables([old, moved])

    def remove(self, ids: Collection[str]) -> None:
        """Remove rows."""
        nothing = self.storage.schema(self.table.name, self.at).empty_table()
        self.upsert(self._partitioned(nothing), ids)

    def drop_doubles(self) -> None:
        """Keep the newest row of each id: a record can move between two windows of a first refresh."""
        ids = self.read([self.table.id]).column(self.table.id)
        if pc.count_distinct(ids).as_py() == len(ids):
            return
        counts = pc.value_counts(ids)
        double = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        rows = self.read(rows=pc.field(self.table.id).isin(double))
        newest = self._partitioned(newest_rows(rows, self.table.id))
        self._rewrite(newest, double.to_pylist(), rows)
        self.added -= rows.num_rows - newest.num_rows

    def _count(self, rows: pa.Table, old: pa.Table) -> None:
        kept = _missing(rows, old, self.table.key).num_rows
        self.added += kept
        keys = list(self.table.key)
        both = rows.num_rows - kept
        equal = _equal_rows(rows, old, keys)
        self.updated += both - equal

    def _rewrite(self, rows: pa.Table, ids: Collection[str], old: pa.Table) -> None:
        """Write the rows in place of those with these ids, which `old` holds."""
        leave = pa.array(list(ids), pa.string())
        if not self.table.partition:
            kept = self.read().filter(pc.invert(pc.is_in(self.read([self.table.id]).column(0), value_set=leave)))
            together = pa.concat_tables([kept, rows.select(kept.column_names).cast(kept.schema)])
            self.version = self.storage.write(self.table.name, self._sorted(together))
            return
        stale = self._partitioned(old.filter(pc.is_in(old.column(self.table.id), value_set=leave)))
        touched = {*stale.column(PARTITION).to_pylist(), *rows.column(PARTITION).to_pylist()}
        for batch in self._batches(sorted(touched)):
            kept = self.storage.read(self.table.name, self.at, partitions=batch)
            kept = self._partitioned(kept.filter(pc.invert(pc.is_in(kept.column(self.table.id), value_set=leave))))
            new = rows.filter(pc.is_in(rows.column(PARTITION), value_set=pa.array(batch, pa.string())))
            together = pa.concat_tables([kept, new.select(kept.column_names).cast(kept.schema)])
            self.version = self.storage.replace(self.table.name, self._sorted(together), batch)

    def _batches(self, partitions: Sequence[str]) -> Iterator[list[str]]:
        rows: dict[str | None, int] = {}
        for part in self.storage.parts(self.table.name, self.at):
            rows[part.partition] = rows.get(part.partition, 0) + part.rows
        batch: list[str] = []
        for each in partitions:
            if batch and sum(rows.get(one, 0) for one in (*batch, each)) > BATCH:
                yield batch
                batch = []
            batch.append(each)
        if batch:
            yield batch

    def _partitioned(self, rows: pa.Table) -> pa.Table:
        if not self.table.partition or PARTITION in rows.column_names:
            return rows
        return rows.append_column(PARTITION, partition_of(rows.column(str(self.table.date)), self.table.partition))

    def _sorted(self, rows: pa.Table) -> pa.Table:
        # Rows of a period lie together; lists without dates keep the server's order.
        if not self.table.date:
            return rows
        return rows.sort_by([(self.table.date, "ascending"), (self.table.id, "ascending")])


def newest_rows(rows: pa.Table, id_: str) -> pa.Table:
    """Return the newest row of each id."""
    ids = rows.column(id_)
    if pc.count_distinct(ids).as_py() == len(ids):
        return rows
    rows = rows.sort_by([("modified_at", "descending")])
    return rows.take(pc.index_in(pc.unique(rows.column(id_)), value_set=rows.column(id_)))


def same_rows(rows: pa.Table, old: pa.Table, id_: str) -> pa.ChunkedArray:
    """Return which rows are in `old` with the same values."""
    places = pc.index_in(rows.column(id_), value_set=old.column(id_))
    same = pc.is_valid(places)
    beside = old.take(places)
    for name in old.column_names:
        if name == POSITION:
            continue
        same = pc.and_(same, _same_values(rows.column(name), beside.column(name)))
    return same


def _same_values(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_list(one.type):
        return pa.chunked_array([[a == b for a, b in zip(one.to_pylist(), other.to_pylist(), strict=True)]], pa.bool_())
    both_missing = pc.and_(pc.is_null(one), pc.is_null(other))
    return pc.or_(pc.fill_null(pc.equal(one, other), False), both_missing)


def _keys(rows: pa.Table, key: Sequence[str]) -> pa.ChunkedArray:
    columns = [rows.column(name).cast(pa.string()) for name in key]
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, "\x1f", null_handling="replace")


def _missing(rows: pa.Table, others: pa.Table, key: Sequence[str]) -> pa.Table:
    """Return the rows whose keys the other table lacks."""
    return rows.filter(pc.invert(pc.is_in(_keys(rows, key), value_set=_keys(others, key))))


def _equal_rows(rows: pa.Table, old: pa.Table, key: Sequence[str]) -> int:
    keyed = [each.append_column("_key", _keys(each, key)) for each in (_without_partition(rows), old)]
    return int(pc.sum(pc.cast(same_rows(keyed[0], keyed[1], "_key"), pa.int64())).as_py() or 0)


def _without_partition(rows: pa.Table) -> pa.Table:
    return rows.drop_columns([PARTITION]) if PARTITION in rows.column_names else rows
