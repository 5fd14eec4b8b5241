"""Build the Arrow table of a load: a block of columns for each page, and one table at the end.

A page's records become a `Block` as soon as the page is received, so that a load never has more than a few pages of
Python objects in memory. At the end the blocks become one table, one column after the other. The memory of a column's
blocks is released before the next column is made, so that a load needs little more memory than its result.

Instants and times stay text until they become columns (see `billframes.schema.instants`). They never become datetimes,
because an instant near the year 1 or 9999 may be outside a datetime's range in UTC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import astuple

from billframes.errors import DecodeError
from billframes.loading.checks import note_unknown
from billframes.schema.columns import (
    ENCODED_TEXT,
    Column,
    dictionary_encode,
    enum_column,
    join_pages,
    repeated_column,
    without_empty_texts,
)
from billframes.schema.custom_fields import CustomColumn, note_undefined, read_values
from billframes.schema.instants import UnreadableError, read_instants, read_times
from billframes.schema.resources import Resource
from billframes.schema.sources import ColumnSource, json_path

# The pages of a column are concatenated in groups of this many, because a large piece of memory can be released as soon
# as the column is made. Small pieces of all columns lie side by side, and are released only after the last column.
PAGES_TOGETHER = 32
# In smaller tables, memory is not released column by column.
LARGE_TABLE = 100_000
_READ_AS_TEXT = {"instant": (read_instants, "date-time"), "time": (read_times, "time")}


@dataclass(slots=True)
class Block:
    """The records of one page as columns; enums and repeated text are dictionary-encoded."""

    columns: dict[str, pa.Array]
    rows: int

    def value(self, column: str, row: int) -> Any:
        """Return one value; None if the column was not requested."""
        return self.columns[column][row].as_py() if column in self.columns else None

    def values(self, column: str) -> list[Any]:
        """Return the values of one column."""
        return self.columns[column].to_pylist()  # type: ignore[no-any-return]


class TableBuilder:
    """Builds a load's table: the declared columns in order, then those of custom fields."""

    def __init__(
        self, resource: Resource, sources: Sequence[ColumnSource], custom: Sequence[CustomColumn] = ()
    ) -> None:
        self._resource = resource
        self._custom = custom
        self._id = resource.id_column
        self._undefined: set[str] = set()
        self._unshared: list[Block] = []
        groups: dict[str | None, list[ColumnSource]] = defaultdict(list)
        for source in sources:
            groups[source.parent].append(source)
        self._own = groups.pop(None, [])
        attributes = {source.attribute for source in self._own}
        self._computed = sorted(attributes.difference(resource.record.__struct_fields__))
        self._nested = {str(parent): each for parent, each in groups.items()}
        self.columns = (*(source.column for source in sources), *(each.column for each in custom))
        self._paths = {each.column.name: json_path(resource.record, each) for each in sources}

    def block(self, records: Sequence[Any]) -> Block:
        """Turn a page's records into columns; raise `DecodeError` if a value is not of its column's kind."""
        fields = _fields_of(records, self._resource.record.__struct_fields__)
        fields |= {name: list(map(attrgetter(name), records)) for name in self._computed}
        every = range(len(records))
        arrays = {}
        for source in self._own:
            arrays[source.column.name] = self._array(fields.get(source.attribute, ()), source.column, records, every)
        for parent, sources in self._nested.items():
            arrays |= self._nested_arrays(fields.get(parent, ()), sources, records)
        if self._custom:
            values, undefined = read_values(records, self._custom, resource=self._resource.name, id_attribute=self._id)
            self._undefined |= undefined
            arrays |= {
                each.column.name: self._array(values[each.column.name], each.column, records, every)
                for each in self._custom
            }
        block = Block(arrays, len(records))
        self._unshared.append(block)
        if len(self._unshared) == PAGES_TOGETHER:
            _share_memory(self._unshared)
            self._unshared.clear()
        return block

    def table(
        self,
        blocks: Sequence[Block],
        rows: pa.Array | None = None,
        order: Callable[[Callable[[str], pa.ChunkedArray]], pa.Array | None] | None = None,
    ) -> pa.Table:
        """
        Return the table of all blocks, which are empty afterwards.

        `rows` are the rows to use, numbered through all blocks. `order` is called with a function that returns a column
        by name, and returns the order of these rows. The schema depends only on the columns, except for an enum that
        has more than 128 values because of undeclared ones.
        """
        by_name = {column.name: column for column in self.columns}
        self._unshared.clear()

        def table_column(name: str) -> pa.Array | pa.ChunkedArray:
            return _table_column([block.columns[name] for block in blocks], by_name[name], rows)

        if order is not None and (indices := order(table_column)) is not None:
            rows = indices if rows is None else rows.take(indices)

        def take_column(column: Column) -> pa.Array | pa.ChunkedArray:
            # A block can be among the blocks twice.
            pages = [block.columns[column.name] for block in blocks]
            for block in blocks:
                block.columns.pop(column.name, None)
            array = _table_column(pages, column, rows)
            _release(array)
            return array

        arrays = list(map(take_column, self.columns))
        for block in blocks:
            block.columns.clear()
        self._warn(arrays)
        # The memory of the blocks is released before the table is converted to a frame.
        pa.default_memory_pool().release_unused()
        # An enum with many undeclared values has a wider type than declared.
        fields = [column.field.with_type(array.type) for column, array in zip(self.columns, arrays, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _nested_arrays(
        self, parents: Sequence[Any], sources: Sequence[ColumnSource], records: Sequence[Any]
    ) -> dict[str, pa.Array]:
        present = [each for each in parents if each is not None]
        if not present:
            return {each.column.name: pa.nulls(len(parents), _block_type(each.column)) for each in sources}
        rows: Sequence[int] = range(len(parents))
        places = None
        if len(present) < len(parents):
            filled = np.array([each is not None for each in parents])
            rows = np.flatnonzero(filled).tolist()
            places = pa.array(np.cumsum(filled) - 1, mask=~filled)
        arrays = {
            source.column.name: self._array(list(map(_reader(source), present)), source.column, records, rows)
            for source in sources
        }
        return arrays if places is None else {name: array.take(places) for name, array in arrays.items()}

    def _array(self, values: Sequence[Any], column: Column, records: Sequence[Any], rows: Sequence[int]) -> pa.Array:
        """Return a column of a page; `rows` are the row numbers of the values, for messages."""
        # Missing values are counted only if the first one is missing, because comparing texts with None is slow.
        if (not values or values[0] is None) and values.count(None) == len(values):
            return pa.nulls(len(values), _block_type(column))
        if _is_encoded(column):
            return dictionary_encode(values)
        if column.kind in _READ_AS_TEXT:
            return self._read_text(values, column, records, rows)
        return pa.array(values, column.type)

    def _read_text(
        self, values: Sequence[Any], column: Column, records: Sequence[Any], rows: Sequence[int]
    ) -> pa.Array:
        read, what = _READ_AS_TEXT[column.kind]
        try:
            return read(values)
        except UnreadableError as error:
            row = rows[error.row]
        raise DecodeError(
            f"{self._name_of(records[row])} breaks the API's description at "
            f"$.data[{row}].{self._paths[column.name]}: the value is not a {what}."
        )

    def _name_of(self, record: Any) -> str:
        return f"{self._resource.name}: record {getattr(record, self._id)}"

    def _warn(self, arrays: Sequence[pa.Array]) -> None:
        for column, array in zip(self.columns, arrays, strict=True):
            if column.kind == "enum":
                note_unknown(array, column, self._resource.name)
        if self._undefined:
            note_undefined(self._undefined, self._resource.name)


def build_table(records: Sequence[Any], resource: Resource, sources: Sequence[ColumnSource]) -> pa.Table:
    """Return the Arrow table of all records at once (see `TableBuilder`)."""
    builder = TableBuilder(resource, sources)
    return builder.table([builder.block(records)])


def _fields_of(records: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    # In a list with all records one after the other, a field is a slice with a step; this takes a third of zip's time.
    values: list[Any] = []
    for record in records:
        values += astuple(record)
    return {name: values[place :: len(names)] for place, name in enumerate(names)}


def _share_memory(blocks: list[Block]) -> None:
    """Concatenate each column of these blocks; the blocks then have slices of it."""
    for name in blocks[0].columns:
        whole, first = pa.concat_arrays([block.columns[name] for block in blocks]), 0
        for block in blocks:
            block.columns[name] = whole.slice(first, block.rows)
            first += block.rows
    pa.default_memory_pool().release_unused()


def _is_encoded(column: Column) -> bool:
    return column.repeated or column.kind == "enum"


def _block_type(column: Column) -> pa.DataType:
    return ENCODED_TEXT if _is_encoded(column) else column.type


def _table_column(pages: list[pa.Array], column: Column, rows: pa.Array | None) -> pa.Array | pa.ChunkedArray:
    """Return a column of the table, from its parts in all pages and the rows to use."""
    parts = pa.chunked_array(pages, _block_type(column))
    merged = join_pages(parts) if _is_encoded(column) else parts.combine_chunks()
    # To take rows, Arrow concatenates the parts, too, but keeps them meanwhile.
    del parts
    pages.clear()
    _release(merged)
    merged = merged if rows is None else merged.take(rows)
    if column.kind == "id" and not column.required:
        merged = without_empty_texts(merged)
    if column.kind == "enum":
        return enum_column(merged, column.values)
    return repeated_column(merged) if column.repeated else merged


def _release(column: pa.Array | pa.ChunkedArray) -> None:
    """Return free memory to the system if a column is large."""
    if len(column) >= LARGE_TABLE:
        pa.default_memory_pool().release_unused()


def _reader(source: ColumnSource) -> Callable[[Any], Any]:
    get = attrgetter(source.attribute)
    if source.parent is None or source.column.kind != "texts":
        return get
    return lambda parent: [get(each) for each in parent] if isinstance(parent, list) else get(parent)
