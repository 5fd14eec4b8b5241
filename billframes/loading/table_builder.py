"""Build the Arrow table of a load: page by page while it goes on, and one table at its end.

A page's records become a `Block` as soon as they came, so that a load never holds more than a few pages of Python
objects, whatever its length. At the end the rows that count become columns of one table, one column after the other,
and each block's part is let go once it has been taken over: a load needs little more memory than its result.

Instants and times stay text until they are columns (see `billframes.schema.instants`). They never become datetimes,
because instants near the years 1 and 9999 may lie outside a datetime's range in UTC.
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

from billframes._names import snake_case
from billframes.errors import DecodeError
from billframes.loading.checks import warn_of_unknown
from billframes.schema.columns import ENCODED_TEXT, Column, dictionary_encode, enum_column, join_pages, repeated_column
from billframes.schema.custom_fields import CustomColumn, read_values, warn_of_undefined
from billframes.schema.instants import UnreadableError, read_instants, read_times
from billframes.schema.resources import Resource
from billframes.schema.sources import Source, json_path

__all__ = ["Block", "TableBuilder", "build_table"]

# A column of so many pages is put into one piece of memory, which is free for others once a table has taken the column
# over. Small pieces, of all columns in turn, keep a whole load's memory until the last of them is free.
PAGES_TOGETHER = 32
# Tables with fewer rows are so small that memory is not given back column by column.
MANY = 100_000
_READ_AS_TEXT = {"instant": (read_instants, "date-time"), "time": (read_times, "time")}


@dataclass(slots=True)
class Block:
    """The records of one page as columns; enums and repeated text are dictionary-encoded."""

    columns: dict[str, pa.Array]
    rows: int

    def value(self, column: str, row: int) -> Any:
        """Return one value; None if the column is not requested."""
        return self.columns[column][row].as_py() if column in self.columns else None

    def values(self, column: str) -> list[Any]:
        """Return one column's values."""
        return self.columns[column].to_pylist()  # type: ignore[no-any-return]


class TableBuilder:
    """
    Builds a load's table.

    Parameters
    ----------
    resource : Resource
    sources : sequence of Source
        The declared columns, in order.
    custom : sequence of CustomColumn
        The custom fields' columns, which come last.
    """

    def __init__(self, resource: Resource, sources: Sequence[Source], custom: Sequence[CustomColumn] = ()) -> None:
        self._resource = resource
        self._custom = custom
        self._id = snake_case(resource.id)
        self._undefined: set[str] = set()
        self._apart: list[Block] = []
        groups: dict[str | None, list[Source]] = defaultdict(list)
        for source in sources:
            groups[source.parent].append(source)
        self._own = groups.pop(None, [])
        attributes = {source.attribute for source in self._own}
        self._derived = sorted(attributes.difference(resource.record.__struct_fields__))
        self._nested = {str(parent): each for parent, each in groups.items()}
        self.columns = (*(source.column for source in sources), *(each.column for each in custom))
        self._paths = {each.column.name: json_path(resource.record, each) for each in sources}

    def block(self, records: Sequence[Any]) -> Block:
        """
        Turn a page's records into columns.

        Raises
        ------
        DecodeError
            A value is not what its column holds.
        """
        fields = _fields_of(records, self._resource.record.__struct_fields__)
        fields |= {name: list(map(attrgetter(name), records)) for name in self._derived}
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
        self._apart.append(block)
        if len(self._apart) == PAGES_TOGETHER:
            _share_memory(self._apart)
            self._apart.clear()
        return block

    def table(
        self,
        blocks: Sequence[Block],
        rows: pa.Array | None = None,
        order: Callable[[Callable[[str], pa.ChunkedArray]], pa.Array | None] | None = None,
    ) -> pa.Table:
        """
        Put blocks together, which are empty afterwards.

        Parameters
        ----------
        blocks : sequence of Block
        rows : pyarrow.Array of int64, optional
            The rows that count, numbered through all blocks; all of them if not given.
        order : callable, optional
            Is given what returns a column by name, and returns the order of these rows.

        Returns
        -------
        pyarrow.Table
            Its schema depends on the columns alone, never on the records (but for enums of over a hundred values that
            nobody declared).
        """
        by_name = {column.name: column for column in self.columns}
        self._apart.clear()

        def finished(name: str) -> pa.Array | pa.ChunkedArray:
            return _finished([block.columns[name] for block in blocks], by_name[name], rows)

        if order is not None and (indices := order(finished)) is not None:
            rows = indices if rows is None else rows.take(indices)

        def built(column: Column) -> pa.Array | pa.ChunkedArray:
            array = finished(column.name)
            for block in blocks:
                block.columns.pop(column.name, None)
            if len(array) >= MANY:
                pa.default_memory_pool().release_unused()
            return array

        arrays = list(map(built, self.columns))
        for block in blocks:
            block.columns.clear()
        self._report(arrays)
        # What the blocks took goes back before the table becomes a frame.
        pa.default_memory_pool().release_unused()
        # Enums of very many unknown values are wider than their declaration.
        fields = [column.field.with_type(array.type) for column, array in zip(self.columns, arrays, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _nested_arrays(
        self, parents: Sequence[Any], sources: Sequence[Source], records: Sequence[Any]
    ) -> dict[str, pa.Array]:
        """Return the columns that are read from the structs (or lists of structs) that records hold."""
        present = [each for each in parents if each is not None]
        if not present:
            return {each.column.name: pa.nulls(len(parents), _kept_type(each.column)) for each in sources}
        rows: Sequence[int] = range(len(parents))
        places = None
        if len(present) < len(parents):
            filled = np.array([each is not None for each in parents])
            rows = np.flatnonzero(filled).tolist()
            places = pa.array(np.cumsum(filled) - 1, mask=~filled)
        arrays = {}
        for source in sources:
            arrays[source.column.name] = self._array(list(map(_reader(source), present)), source.column, records, rows)
        return arrays if places is None else {name: array.take(places) for name, array in arrays.items()}

    def _array(self, values: Sequence[Any], column: Column, records: Sequence[Any], rows: Sequence[int]) -> pa.Array:
        """Return the column of values that are of these rows of the page."""
        # Counted only where the first is missing: comparing a text with None takes its time.
        if (not values or values[0] is None) and values.count(None) == len(values):
            return pa.nulls(len(values), _kept_type(column))
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

    def _report(self, arrays: Sequence[pa.Array]) -> None:
        for column, array in zip(self.columns, arrays, strict=True):
            if column.kind == "enum":
                warn_of_unknown(array, column, self._resource.name)
        if self._undefined:
            warn_of_undefined(self._undefined, self._resource.name)


def build_table(
    records: Sequence[Any],
    resource: Resource,
    sources: Sequence[Source],
    custom: Sequence[CustomColumn] = (),
) -> pa.Table:
    """Turn records into an Arrow table, all at once (see `TableBuilder`)."""
    builder = TableBuilder(resource, sources, custom)
    return builder.table([builder.block(records)])


def _fields_of(records: Sequence[Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each field of records."""
    # Record after record in one list, a field is a slice with a step. That takes a third of zip's time.
    values: list[Any] = []
    for record in records:
        values += astuple(record)
    return {name: values[place :: len(names)] for place, name in enumerate(names)}


def _share_memory(blocks: list[Block]) -> None:
    """Let each column of these blocks be slices of one array."""
    for name in blocks[0].columns:
        together, first = pa.concat_arrays([block.columns[name] for block in blocks]), 0
        for block in blocks:
            block.columns[name] = together.slice(first, block.rows)
            first += block.rows


def _is_encoded(column: Column) -> bool:
    return column.repeated or column.kind == "enum"


def _kept_type(column: Column) -> pa.DataType:
    """Return the type that blocks hold a column in."""
    return ENCODED_TEXT if _is_encoded(column) else column.type


def _finished(pages: list[pa.Array], column: Column, rows: pa.Array | None) -> pa.Array | pa.ChunkedArray:
    """Return a column of a table from its pages' parts, and the rows that count."""
    parts = pa.chunked_array(pages, _kept_type(column))
    came = join_pages(parts) if _is_encoded(column) else parts
    came = came if rows is None else came.take(rows)
    if column.kind == "enum":
        return enum_column(came, column.values)
    return repeated_column(came) if column.repeated else came


def _reader(source: Source) -> Callable[[Any], Any]:
    get = attrgetter(source.attribute)
    if source.parent is None or source.column.kind != "texts":
        return get
    return lambda parent: [get(each) for each in parent] if isinstance(parent, list) else get(parent)
