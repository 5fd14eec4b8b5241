"""Update one table during a refresh: compare rows, write the differences, and count them.

A received row that equals the stored row is not written. A write replaces the partitions that hold changed rows, and
leaves all other files unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from billframes.mirror.storage import Storage
from billframes.mirror.tables import PARTITION, POSITION, Table, partition_of, without

# Rows of the partitions that are rewritten in one commit.
BATCH_ROWS = 200_000


@dataclass
class StoredTable:
    """A table at a Delta version, which a refresh changes, with the numbers of changed rows and the removed rows."""

    storage: Storage
    table: Table
    version: int | None
    added: int = 0
    updated: int = 0
    removed: int = 0
    removed_rows: list[pa.Table] = field(default_factory=list)

    def __len__(self) -> int:
        if self.version is None:
            return 0
        return sum(part.rows for part in self.storage.data_files(self.table.name, self.version))

    @property
    def current_version(self) -> int:
        """The current Delta version of a table that exists."""
        if self.version is None:
            raise AssertionError(f"{self.table.name} was not written yet")
        return self.version

    def read(self, columns: Sequence[str] | None = None, rows: pc.Expression | None = None) -> pa.Table:
        """Read the current rows."""
        return self.storage.read(self.table.name, self.current_version, columns, rows)

    def append(self, rows: pa.Table) -> None:
        """Add rows without comparing them; create the table if it does not exist."""
        self.version = self.storage.write(self.table.name, self._sorted(rows), append=self.version is not None)
        self.added += rows.num_rows

    def replace_all(self, rows: pa.Table) -> None:
        """Replace all rows of the table if these rows differ."""
        if self.version is None:
            self.append(rows)
            return
        old, new = self.read(), _without_partition(rows)
        if [(each.name, each.type) for each in old.schema] == [(each.name, each.type) for each in new.schema]:
            if POSITION in old.column_names:
                old = old.sort_by(POSITION)
            if old.equals(new.cast(old.schema)):
                return
            added = _rows_not_in(rows, old, self.table.key).num_rows
            self.added += added
            self.updated += rows.num_rows - added - _count_unchanged(rows, old, self.table.key)
        else:
            self.updated += rows.num_rows
        removed = _rows_not_in(old, rows, self.table.key)
        self.removed += removed.num_rows
        self.removed_rows.append(removed)
        self.version = self.storage.write(self.table.name, self._sorted(rows))

    def upsert(self, rows: pa.Table, deleted_ids: Collection[str] = ()) -> set[str]:
        """Add new rows, update those that differ, and remove those with deleted ids; return the ids of updated rows."""
        id_, deleted = self.table.id, pa.array(list(deleted_ids), pa.string())
        ids = pa.chunked_array([*rows.column(id_).chunks, deleted], pa.string())
        if not len(ids):
            return set()
        old = self._rows_with_ids(ids.combine_chunks(), rows)
        changed = rows.filter(pc.invert(unchanged_mask(rows, old, id_)))
        known = pc.is_in(changed.column(id_), value_set=old.column(id_))
        removed = old.filter(pc.field(id_).isin(deleted))
        if not changed.num_rows and not removed.num_rows:
            return set()
        updated: set[str] = set(changed.filter(known).column(id_).to_pylist())
        self._rewrite(changed, [*changed.column(id_).to_pylist(), *removed.column(id_).to_pylist()], old)
        self.updated += len(updated)
        self.added += changed.num_rows - len(updated)
        self.removed += removed.num_rows
        self.removed_rows.append(removed)
        return updated

    def _rows_with_ids(self, ids: pa.Array, rows: pa.Table) -> pa.Table:
        """Return the stored rows with these ids. First search the partitions of `rows`, then all other partitions."""
        id_ = self.table.id
        if not self.table.partition:
            return self.read(rows=pc.field(id_).isin(ids))
        name, version = self.table.name, self.current_version
        partitions = set(rows.column(PARTITION).to_pylist())
        old = self.storage.read(name, version, rows=pc.field(id_).isin(ids), partitions=partitions)
        others = ids.filter(pc.invert(pc.is_in(ids, value_set=old.column(id_).combine_chunks())))
        if not len(others):
            return old
        # Read only ids and dates at first, because the other columns are many times larger.
        found = self._with_partition(self.read([id_, str(self.table.date)], pc.field(id_).isin(others)))
        partitions = set(found.column(PARTITION).to_pylist())
        if not partitions:
            return old
        moved = self.storage.read(name, version, rows=pc.field(id_).isin(others), partitions=partitions)
        return pa.concat_tables([old, moved])

    def remove(self, ids: Collection[str]) -> None:
        """Remove rows."""
        no_rows = self.storage.schema(self.table.name, self.current_version).empty_table()
        self.upsert(self._with_partition(no_rows), ids)

    def drop_duplicates(self) -> None:
        """Keep only the newest row of each id, because a record can move between two windows of a first refresh."""
        ids = self.read([self.table.id]).column(self.table.id)
        if pc.count_distinct(ids).as_py() == len(ids):
            return
        counts = pc.value_counts(ids)
        duplicated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        rows = self.read(rows=pc.field(self.table.id).isin(duplicated))
        newest = self._with_partition(newest_rows(rows, self.table.id))
        self._rewrite(newest, duplicated.to_pylist(), rows)
        self.added -= rows.num_rows - newest.num_rows

    def _rewrite(self, rows: pa.Table, ids: Collection[str], old: pa.Table) -> None:
        """Replace the stored rows with these ids, which are in `old`, by `rows`."""
        replaced = pa.array(list(ids), pa.string())
        if not self.table.partition:
            together = _replace_rows(self.read(), rows, self.table.id, replaced)
            self.version = self.storage.write(self.table.name, self._sorted(together))
            return
        old = self._with_partition(old.filter(pc.is_in(old.column(self.table.id), value_set=replaced)))
        changed = {*old.column(PARTITION).to_pylist(), *rows.column(PARTITION).to_pylist()}
        for batch in self._batches(sorted(changed)):
            stored = self._with_partition(self.storage.read(self.table.name, self.current_version, partitions=batch))
            new = rows.filter(pc.is_in(rows.column(PARTITION), value_set=pa.array(batch, pa.string())))
            together = _replace_rows(stored, new, self.table.id, replaced)
            self.version = self.storage.replace_partitions(self.table.name, self._sorted(together), batch)

    def _batches(self, partitions: Sequence[str]) -> Iterator[list[str]]:
        """Yield the partitions in batches of about `BATCH_ROWS` stored rows."""
        rows: dict[str | None, int] = {}
        for file in self.storage.data_files(self.table.name, self.current_version):
            rows[file.partition] = rows.get(file.partition, 0) + file.rows
        batch: list[str] = []
        for each in partitions:
            if batch and sum(rows.get(name, 0) for name in (*batch, each)) > BATCH_ROWS:
                yield batch
                batch = []
            batch.append(each)
        if batch:
            yield batch

    def _with_partition(self, rows: pa.Table) -> pa.Table:
        if not self.table.partition or PARTITION in rows.column_names:
            return rows
        return rows.append_column(PARTITION, partition_of(rows.column(str(self.table.date)), self.table.partition))

    def _sorted(self, rows: pa.Table) -> pa.Table:
        # Sorted by date, so that the rows of a period are together. Lists without dates keep the server's order.
        if not self.table.date:
            return rows
        return rows.sort_by([(self.table.date, "ascending"), (self.table.id, "ascending")])


def _replace_rows(stored: pa.Table, new: pa.Table, id_: str, replaced: pa.Array) -> pa.Table:
    kept = without(stored, id_, replaced)
    return pa.concat_tables([kept, new.select(kept.column_names).cast(kept.schema)])


def newest_rows(rows: pa.Table, id_: str) -> pa.Table:
    """Return the row of each id that was modified last."""
    ids = rows.column(id_)
    if pc.count_distinct(ids).as_py() == len(ids):
        return rows
    rows = rows.sort_by([("modified_at", "descending")])
    return rows.take(pc.index_in(pc.unique(rows.column(id_)), value_set=rows.column(id_)))


def unchanged_mask(rows: pa.Table, old: pa.Table, id_: str) -> pa.ChunkedArray:
    """Return for each row whether `old` has the same row, as a column of bool."""
    places = pc.index_in(rows.column(id_), value_set=old.column(id_))
    unchanged = pc.is_valid(places)
    old_beside = old.take(places)
    for name in old.column_names:
        if name == POSITION:
            continue
        unchanged = pc.and_(unchanged, _equal_values(rows.column(name), old_beside.column(name)))
    return unchanged


def _equal_values(values: pa.ChunkedArray, old_values: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_list(values.type):
        pairs = zip(values.to_pylist(), old_values.to_pylist(), strict=True)
        return pa.chunked_array([[new == old for new, old in pairs]], pa.bool_())
    both_missing = pc.and_(pc.is_null(values), pc.is_null(old_values))
    return pc.or_(pc.fill_null(pc.equal(values, old_values), False), both_missing)


def _keys(rows: pa.Table, key: Sequence[str]) -> pa.ChunkedArray:
    columns = [rows.column(name).cast(pa.string()) for name in key]
    return columns[0] if len(columns) == 1 else pc.binary_join_element_wise(*columns, "\x1f", null_handling="replace")


def _rows_not_in(rows: pa.Table, others: pa.Table, key: Sequence[str]) -> pa.Table:
    return rows.filter(pc.invert(pc.is_in(_keys(rows, key), value_set=_keys(others, key))))


def _count_unchanged(rows: pa.Table, old: pa.Table, key: Sequence[str]) -> int:
    keyed = [each.append_column("_key", _keys(each, key)) for each in (_without_partition(rows), old)]
    return int(pc.sum(pc.cast(unchanged_mask(keyed[0], keyed[1], "_key"), pa.int64())).as_py() or 0)


def _without_partition(rows: pa.Table) -> pa.Table:
    return rows.drop_columns([PARTITION]) if PARTITION in rows.column_names else rows
