"""The mirror's tables: which columns each resource stores, and which it joins from other tables.

The columns come from the resources' declaration. A column that comes from a reference to another record is not stored;
it is joined from that record's own table. Delta has no time of day and no categories: times are stored as microseconds
since midnight, categories as text, and both get their declared type back when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from billframes._names import snake_case
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

__all__ = [
    "PARTITION",
    "POSITION",
    "REFERENCES",
    "TABLES",
    "Reference",
    "Table",
    "partition_of",
    "reference_type",
    "to_stored",
]

PARTITION = "partition"
# Keeps the server's order of a list that has no order of its own.
POSITION = "position"


@dataclass(frozen=True, slots=True)
class Reference:
    """
    What a record shows of another one.

    Parameters
    ----------
    key : str
        The column that holds the other record's id, or a list of ids.
    table : str
        The other record's table.
    columns : mapping of str to str
        The columns it brings, each with the other table's own column.
    """

    key: str
    table: str
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """
    One table of the mirror.

    Parameters
    ----------
    name : str
        The loader's name.
    key : tuple of str
        The columns that identify a row.
    resource : Resource, optional
        The declaration of a list that has one.
    references : tuple of Reference
        What is joined when the table is read.
    partition : {"month", "year"}, optional
        How the table is partitioned by its date.
    """

    name: str
    key: tuple[str, ...]
    resource: Resource | None = None
    references: tuple[Reference, ...] = ()
    partition: str | None = None

    @property
    def id(self) -> str:
        """The column that identifies a row of a table with one key."""
        return self.key[0]

    @property
    def date(self) -> str | None:
        """The column that periods apply to."""
        return snake_case(self.resource.date) if self.resource and self.resource.date else None

    @property
    def incremental(self) -> bool:
        """Whether the API can be asked for what changed."""
        return self.resource is not None and self.resource.paginated

    @property
    def joined(self) -> frozenset[str]:
        """The columns that are not stored."""
        return frozenset(name for each in self.references for name in each.columns)


# Which table a reference's fields are found in, and under which names.
_PARENTS: Mapping[str, tuple[str, Mapping[str, str]]] = MappingProxyType(
    {
        "client": ("clients", {}),
        "matter": ("matters", {}),
        "user": ("users", {}),
        "responsible": ("users", {}),
        "originators": ("users", {"names": "name"}),
        "practice_area": ("practice_areas", {}),
        "invoice": (
            "invoices",
            {
                "number": "invoice_number",
                "date": "invoice_date",
                "state": "invoice_state",
                "amount": "amount",
                "balance": "balance",
            },
        ),
        "fixed_fee": ("fixed_fees", {"label": "description"}),
    }
)


def _references(resource: Resource) -> tuple[Reference, ...]:
    found: dict[str, dict[str, str]] = {}
    for source in sources_of(resource.record):
        parent = source.parent or ""
        if parent in _PARENTS:
            own = source.column.name.removeprefix(f"{parent.removesuffix('s')}_")
            found.setdefault(parent, {})[source.column.name] = _PARENTS[parent][1].get(own, own)
    return tuple(
        Reference("originator_ids" if parent == "originators" else f"{parent}_id", _PARENTS[parent][0], columns)
        for parent, columns in found.items()
    )


def _of(resource: Resource, partition: str | None = None) -> Table:
    return Table(resource.name, (snake_case(resource.id),), resource, _references(resource), partition)


# In the order in which a refresh brings them up to date: what others refer to comes last, so that a record that is
# named by a row is in its own table at least as new as the row.
TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for table in (
            Table("custom_fields", ("entity", "id")),
            Table("codes", ("code_type", "code_set_id", "code")),
            Table("code_sets", ("code_set_id",)),
            _of(TIME_ENTRIES, "month"),
            _of(EXPENSES, "year"),
            _of(FIXED_FEES, "year"),
            _of(INVOICES, "year"),
            _of(MATTERS),
            _of(CLIENTS),
            Table("client_balances", ("client_id",)),
            _of(USERS),
            _of(PRACTICE_AREAS),
        )
    }
)

# What was last seen of records that are in no list: the table they would be in, their id, and their columns.
REFERENCES = Table("references", ("table", "id"))
_REFERENCE_COLUMNS = {
    "table": pa.string(),
    "id": pa.string(),
    "name": pa.string(),
    "reference": pa.string(),
    "label": pa.string(),
    "description": pa.string(),
    "amount": pa.float64(),
    "balance": pa.float64(),
    "invoice_number": pa.string(),
    "invoice_date": pa.date32(),
    "invoice_state": pa.string(),
}


def reference_type() -> pa.Schema:
    """Return the columns of the table `references`."""
    return pa.schema(list(_REFERENCE_COLUMNS.items()))


def to_stored(frame: pa.Table, table: Table) -> pa.Table:
    """Return a loader's Arrow table in the columns and types that are stored, with its partition."""
    names = [name for name in frame.column_names if name not in table.joined]
    columns = {name: _stored(frame.column(name)) for name in names}
    if table.partition and table.date:
        columns[PARTITION] = partition_of(columns[table.date], table.partition)
    if not table.incremental:
        columns[POSITION] = pa.array(range(frame.num_rows), pa.int64())
    return pa.table(columns)


def partition_of(dates: pa.ChunkedArray, partition: str) -> pa.ChunkedArray:
    """
    Return which partition each date belongs to.

    Examples
    --------
    >>> partition_of(pa.chunked_array([pa.array(["2026-10-31"]).cast(pa.date32())]), "month").to_pylist()
    ['2026-10']
    """
    return pc.utf8_slice_codeunits(dates.cast(pa.string()), 0, 7 if partition == "month" else 4)


def _stored(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    return column.cast(pa.int64()) if pa.types.is_time(kind) else column
