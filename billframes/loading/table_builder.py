"""Records become Arrow: page by page while a load goes on, and one table at its end.

A page's records become a `Block` as soon as they came, so that a load never holds more than a few pages of Python
objects, whatever its length. At the end the rows that count become columns of one table, one column after the other,
and each block's part is let go once it has been taken over: a load needs little more memory than its result.

A reference to another record comes as the bytes it is, and many records have the same one: each different one gets a
number, is decoded once, and its fields are read at the end.

Instants and times stay text until they are columns (see `billframes.schema.instants`). They never become datetimes,
because instants near the years 1 and 9999 may lie outside a datetime's range in UTC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
from msgspec.structs import astuple

from billframes._names import snake_case
from billframes._warn import warn
from billframes.errors import DecodeError, UnknownValueWarning
from billframes.loading.dictionary_encoder import UNREADABLE, DictionaryEncoder, EnumEncoder, ReferenceEncoder
from billframes.schema.columns import Column, side_by_side
from billframes.schema.custom_fields import CustomColumn, read_values, warn_of_undefined
from billframes.schema.decode import listed, references_of
from billframes.schema.instants import UnreadableError, read_instants, read_times
from billframes.schema.resources import Resource
from billframes.schema.sources import Source, wire_path

__all__ = ["Block", "TableBuilder", "build_table"]

_READ_AS_TEXT = {"instant": (read_instants, "date-time"), "time": (read_times, "time")}


@dataclass(slots=True)
class Block:
    """
    The records of one page as columns.

    Enums, repeated text and whole references are numbers, which `codes` know. `referred` are the sources of the columns
    that are read from references.
    """

    columns: dict[str, pa.Array]
    rows: int
    codes: dict[str, DictionaryEncoder]
    referred: dict[str, Source]

    def value(self, column: str, row: int) -> Any:
        """Return one value; None if the column is not requested."""
        if source := self.referred.get(column):
            reference = self.value(str(source.parent), row)
            return None if reference is None else getattr(reference, source.attribute)
        if column not in self.columns:
            return None
        value = self.columns[column][row].as_py()
        return self.codes[column].value(value) if column in self.codes else value

    def values(self, column: str) -> list[Any]:
        """Return one value of each, of a column that is kept as it is."""
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
        groups: dict[str | None, list[Source]] = defaultdict(list)
        for source in sources:
            groups[source.parent].append(source)
        self._own = groups.pop(None, [])
        attributes = {source.attribute for source in self._own}
        self._derived = sorted(attributes.difference(resource.record.__struct_fields__))
        # What was not asked for and came all the same is decoded too: an answer is right or it is not.
        references = references_of(resource.record)
        self._references = tuple(references)
        self._referred = {each.column.name: each for parent in references for each in groups.pop(parent, ())}
        self._nested = {str(parent): each for parent, each in groups.items()}
        self.columns = (*(source.column for source in sources), *(each.column for each in custom))
        self._codes = {column.name: _codes_of(column) for column in self.columns if _is_encoded(column)}
        self._codes |= {parent: ReferenceEncoder(kind) for parent, kind in references.items()}
        self._paths = {each.column.name: wire_path(resource.record, each) for each in sources}
        # What blocks hold of a column: its values, or their numbers.
        self._kept = {column.name: column.type for column in self.columns} | dict.fromkeys(self._codes, pa.int32())

    def block(self, records: Sequence[Any]) -> Block:
        """
        Turn a page's records into columns.

        Raises
        ------
        DecodeError
            A value is not what its column holds.
        """
        names = listed(self._resource.record).__struct_fields__
        fields = dict(zip(names, zip(*map(astuple, records), strict=True), strict=False))
        fields |= {name: tuple(map(attrgetter(name), records)) for name in self._derived}
        arrays = {parent: self._referring(parent, fields.get(parent, ()), records) for parent in self._references}
        for source in self._own:
            arrays[source.column.name] = self._array(fields.get(source.attribute, ()), source.column, records)
        for parent, sources in self._nested.items():
            rows = _parents(fields.get(parent, ()), sources)
            for source in sources:
                arrays[source.column.name] = self._array(list(map(_reader(source), rows)), source.column, records)
        if self._custom:
            values, undefined = read_values(records, self._custom, resource=self._resource.name, id_attribute=self._id)
            self._undefined |= undefined
            arrays |= {
                each.column.name: self._array(values[each.column.name], each.column, records) for each in self._custom
            }
        return Block(arrays, len(records), self._codes, self._referred)

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

        def finished(name: str) -> pa.Array | pa.ChunkedArray:
            source = self._referred.get(name)
            came = self._joined(str(source.parent) if source else name, blocks)
            came = came if rows is None else came.take(rows)
            if source:
                came = self._read_references(source).take(came)
            return self._codes[name].column(came.combine_chunks()) if name in self._codes else came

        if order is not None and (indices := order(finished)) is not None:
            rows = indices if rows is None else rows.take(indices)

        def built(column: Column) -> pa.Array | pa.ChunkedArray:
            array = finished(column.name)
            for block in blocks:
                block.columns.pop(column.name, None)
            return array

        arrays = side_by_side(built, self.columns)
        for block in blocks:
            block.columns.clear()
        self._report()
        # What the blocks took goes back before the table becomes a frame.
        pa.default_memory_pool().release_unused()
        # Enums of very many unknown values are wider than their declaration.
        fields = [column.field.with_type(array.type) for column, array in zip(self.columns, arrays, strict=True)]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _referring(self, parent: str, raws: Sequence[Any], records: Sequence[Any]) -> pa.Array:
        """Return which reference each record has, by number."""
        try:
            return self._codes[parent].encode(raws)
        except UNREADABLE:
            # The bytes stay out of the message and the chain: they can hold client names.
            message = self._unreadable(parent, raws, records)
        raise DecodeError(message)

    def _unreadable(self, parent: str, raws: Sequence[Any], records: Sequence[Any]) -> str:
        names = listed(self._resource.record)
        name = dict(zip(names.__struct_fields__, names.__struct_encode_fields__, strict=True))[parent]
        for row, raw in enumerate(raws):
            try:
                self._codes[parent].encode([raw])
            except UNREADABLE as error:
                what, _, path = str(error).partition(" - at ")
                at = f"$.data[{row}].{name}{path.strip('`').removeprefix('$')}"
                return f"{self._name_of(records[row])} breaks the API's description at {at}: {what}."
        raise AssertionError("a reference could not be decoded, and each of them could")

    def _read_references(self, source: Source) -> pa.Array:
        """Return one field of the references, by their numbers."""
        references = self._codes[str(source.parent)].known
        return self._array(list(map(attrgetter(source.attribute), references)), source.column, references)

    def _joined(self, name: str, blocks: Sequence[Block]) -> pa.ChunkedArray:
        return pa.chunked_array([block.columns[name] for block in blocks], self._kept[name])

    def _array(self, values: Sequence[Any], column: Column, records: Sequence[Any]) -> pa.Array:
        if values.count(None) == len(values):
            return pa.nulls(len(values), self._kept[column.name])
        if column.name in self._codes:
            return self._codes[column.name].encode(values)
        if column.kind in _READ_AS_TEXT:
            return self._read_text(values, column, records)
        return pa.array(values, column.type)

    def _read_text(self, values: Sequence[Any], column: Column, records: Sequence[Any]) -> pa.Array:
        read, what = _READ_AS_TEXT[column.kind]
        try:
            return read(values)
        except UnreadableError as error:
            row = error.row
        raise DecodeError(
            f"{self._name_of(records[row])} breaks the API's description at "
            f"$.data[{row}].{self._paths[column.name]}: what came is not a {what}."
        )

    def _name_of(self, record: Any) -> str:
        return f"{self._resource.name}: record {getattr(record, self._id)}"

    def _report(self) -> None:
        for name, codes in self._codes.items():
            if isinstance(codes, EnumEncoder) and codes.strays:
                warn(
                    f"{self._resource.name}: column {name!r} holds values the API's description does not have: "
                    f"{', '.join(map(repr, codes.strays))}. They are kept as extra categories.",
                    UnknownValueWarning,
                )
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


def _is_encoded(column: Column) -> bool:
    return column.repeated or column.kind == "enum"


def _codes_of(column: Column) -> DictionaryEncoder:
    return EnumEncoder(column.values) if column.kind == "enum" else DictionaryEncoder()


def _parents(parents: Iterable[Any], sources: Sequence[Source]) -> list[Any]:
    """Return the structs that columns are read from; one with nothing in it where there is none."""
    nothing = SimpleNamespace(**dict.fromkeys((source.attribute for source in sources), None))
    return [nothing if parent is None else parent for parent in parents]


def _reader(source: Source) -> Callable[[Any], Any]:
    get = attrgetter(source.attribute)
    if source.parent is None or source.column.kind != "texts":
        return get
    return lambda parent: [get(each) for each in parent] if isinstance(parent, list) else get(parent)
