"""The mirror's tables: the columns that each resource stores, and the columns that it joins from other tables.

The columns are those of the resources' declarations. A column that shows another record is not stored; it is joined
from that record's own table. Delta has no time of day and no categories. Times are stored as microseconds since
midnight and categories as text, and both are converted to their declared types when they are read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from billframes.schema.resources import (
    CLIENTS,
    EXPENSES,
    FIXED_FEES,
    INVOICES,
    MATTERS,
    PRACTICE_AREAS,
    TIME_ENTRIES,
    USERS,
    Resource,
)
from billframes.schema.sources import sources_of

PARTITION = "partition"
# The column that keeps the server's order, for lists without an order of their own.
POSITION = "position"


@dataclass(frozen=True, slots=True)
class TableReference:
    """
    The columns of a table that show another record.

    `key` is the column with the other record's id, or with a list of ids. `columns` has the name of each column, and
    its name in the other table. `shown`, if the key has lists: the stored column with whether the API showed a list of
    records, even an empty one. Ids can't tell this, because a server may show no list if there are no ids, or an empty
    one.
    """

    key: str
    table: str
    columns: Mapping[str, str]
    shown: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the mirror: the loader's name, the columns that identify a row, and those joined on reading."""

    name: str
    key: tuple[str, ...]
    resource: Resource | None = None
    references: tuple[TableReference, ...] = ()
    partition: str | None = None

    @property
    def id(self) -> str:
        """The id's column, for tables with one key column."""
        return self.key[0]

    @property
    def date(self) -> str | None:
        """The column by which periods are filtered."""
        return self.resource.date_column if self.resource else None

    @property
    def date_sort(self) -> str | None:
        """The API's name of the sort by date."""
        sorts = self.resource.sort.items() if self.resource and self.resource.date else ()
        return next((name for name, path in sorts if self.resource and path == self.resource.date), None)

    @property
    def incremental(self) -> bool:
        """Whether the API can list the changes since an instant."""
        return self.resource is not None and self.resource.paginated

    @property
    def joined(self) -> frozenset[str]:
        """The columns that are joined and not stored."""
        return frozenset(name for each in self.references for name in each.columns)

    @property
    def shown(self) -> frozenset[str]:
        """The stored columns that tell whether lists of other records were shown."""
        return frozenset(each.shown for each in self.references if each.shown)


# The table of each referenced record, and the names of columns that are different there.
_REFERENCED_TABLES: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "client": ("clients", {}),
        "matter": ("matters", {}),
        "user": ("users", {}),
        "responsible": ("users", {}),
        "originators": ("users", {"names": "name"}),
        "practice_area": ("practice_areas", {}),
        "invoice": ("invoices", {name: f"invoice_{name}" for name in ("number", "date", "state")}),
        "fixed_fee": ("fixed_fees", {"label": "description"}),
    }
)


def _references(resource: Resource) -> tuple[TableReference, ...]:
    found: dict[str, dict[str, str]] = {}
    lists: set[str] = set()
    for source in sources_of(resource.record):
        parent = source.parent or ""
        if parent in _REFERENCED_TABLES:
            if source.column.kind == "texts":
                lists.add(parent)
            own = source.column.name.removeprefix(f"{parent.removesuffix('s')}_")
            found.setdefault(parent, {})[source.column.name] = _REFERENCED_TABLES[parent][1].get(own, own)
    return tuple(
        TableReference(
            f"{parent.removesuffix('s')}_ids" if parent in lists else f"{parent}_id",
            _REFERENCED_TABLES[parent][0],
            columns,
            f"{parent}_shown" if parent in lists else None,
        )
        for parent, columns in found.items()
    )


def _table_of(resource: Resource, partition: str | None = None) -> Table:
    return Table(resource.name, (resource.id_column,), resource, _references(resource), partition)


# In the order of a refresh. Tables that others refer to are last, so that a referenced record is at least as new as the
# row that refers to it.
TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for table in (
            Table("custom_fields", ("entity", "id")),
            Table("codes", ("code_type", "code_set_id", "code")),
            Table("code_sets", ("code_set_id",)),
            _table_of(TIME_ENTRIES, "month"),
            _table_of(EXPENSES, "year"),
            _table_of(FIXED_FEES, "year"),
            _table_of(INVOICES, "year"),
            _table_of(MATTERS),
            _table_of(CLIENTS),
            Table("client_balances", ("client_id",)),
            _table_of(USERS),
            _table_of(PRACTICE_AREAS),
        )
    }
)

# The last shown values of records that are in no list: the table they would be in, their id, and the shown columns.
REFERENCES = Table("references", ("table", "id"))
REFERENCE_SCHEMA = pa.schema(
    dict.fromkeys(("table", "id", "name", "reference", "label", "description"), pa.string())
    | dict.fromkeys(("amount", "balance"), pa.float64())
    | {"invoice_number": pa.string(), "invoice_date": pa.date32(), "invoice_state": pa.string()}
)


def shown_columns(name: str) -> list[str]:
    """Return the names of a table's columns that other tables show."""
    references = [each for table in TABLES.values() for each in table.references if each.table == name]
    return list(dict.fromkeys(column for each in references for column in each.columns.values()))


def to_stored(frame: pa.Table, table: Table) -> pa.Table:
    """Return the columns of a loader's Arrow table that are stored, in the stored types, with the partition."""
    names = [name for name in frame.column_names if name not in table.joined]
    columns = {name: as_stored(frame.column(name)) for name in names}
    for each in table.references:
        # Rows that were stored before have it.
        if each.shown and each.shown not in columns:
            columns[each.shown] = frame.column(next(iter(each.columns))).is_valid()
    if table.partition and table.date:
        columns[PARTITION] = partition_of(columns[table.date], table.partition)
    if not table.incremental:
        columns[POSITION] = pa.array(range(frame.num_rows), pa.int64())
    return pa.table(columns)


def partition_of(dates: pa.ChunkedArray, partition: str) -> pa.ChunkedArray:
    """Return the partition of each date, such as "2026-10"."""
    return pc.utf8_slice_codeunits(dates.cast(pa.string()), 0, 7 if partition == "month" else 4)


def as_stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without categories, wide texts and times of day."""
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    return column.cast(pa.int64()) if pa.types.is_time(kind) else column


def within_days(date: str | None, start: dt.date | None, end: dt.date | None) -> pc.Expression | None:
    """Return the condition that a row's date is from `start` to `end`, inclusive; None means all rows."""
    first = pc.field(date) >= pa.scalar(start) if date and start else None
    last = pc.field(date) <= pa.scalar(end) if date and end else None
    return last if first is None else first if last is None else first & last


def without(rows: pa.Table, column: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    """Return the rows whose value in a column is not one of these."""
    return rows.filter(pc.invert(pc.is_in(rows.column(column), value_set=values)))
