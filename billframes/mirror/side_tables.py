"""Store data that is in no list: names of records that are gone, codes of items, and reports of the firm's books.

Every row shows the name of its client, matter and user, and some columns of its invoice. The table `references` has
these values only for records that are not in the list of clients, matters, users or invoices, such as a user who left
the firm. The values of all other records are joined from these lists, so they are never out of date.

Only single records show the codes of expenses and fixed fees. The table `item_codes` has the codes that were read. It
does not belong to a version. A code is found by its record's id and the instant of the record's last change, so it is
right for every version in which the record has that instant. Rows are only added.

The table `ledgers` has the reports of the firm's books that were read, so that last month's cash is known next month.
It does not belong to a version either. If a later report has the same days, it takes the place of the earlier one.
"""

from __future__ import annotations

import datetime as dt
import functools
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from billframes._shared.messages import warn
from billframes.errors import BillframesWarning, MirrorError
from billframes.mirror.data_files import check_content
from billframes.mirror.storage import Storage
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import (
    REFERENCE_SCHEMA,
    REFERENCES,
    TABLES,
    Table,
    as_stored,
    shown_columns,
    without,
)

if TYPE_CHECKING:
    from billframes.ebilling.codes import ItemCodes, ItemKey


class ReferenceCollector:
    """Collects the shown values of other records during a refresh, and stores those of records in no list."""

    def __init__(self, storage: Storage, version: int | None) -> None:
        self._storage, self._version = storage, version
        # The newest values of each record, by its table and the names of its columns.
        self._tables: dict[tuple[str, ...], pa.Table] = {}

    def collect(self, frame: pa.Table, table: Table) -> None:
        """Collect the values that loaded rows show of other records."""
        for reference in table.references:
            if set(reference.columns) <= set(frame.column_names):
                rows = frame.select([reference.key, *reference.columns])
                if reference.shown:
                    rows = _unnested(rows)
                self._add(reference.table, rows.rename_columns(["id", *reference.columns.values()]))

    def collect_removed(self, stored: StoredTable) -> None:
        """Collect the values of rows that a refresh removes from a list, because other records may still show them."""
        name, shown = stored.table.name, shown_columns(stored.table.name)
        for rows in stored.removed_rows if shown else ():
            self._add(name, rows.select([stored.table.id, *shown]).rename_columns(["id", *shown]))

    def _add(self, table: str, rows: pa.Table) -> None:
        key = table, *rows.column_names[1:]
        earlier = [self._tables[key]] if key in self._tables else []
        self._tables[key] = _first_of_each(pa.concat_tables([_first_of_each(rows), *earlier]))

    def commit(self, versions: dict[str, int]) -> int:
        """Store the values of records in no list, if they changed; return the table's Delta version."""
        before = REFERENCE_SCHEMA.empty_table()
        if self._version is not None:
            before = self._storage.read(REFERENCES.name, self._version)
        rows: dict[tuple[str, str], dict[str, Any]] = {(row["table"], row["id"]): row for row in before.to_pylist()}
        for name in {table for table, *_ in self._tables}:
            listed = self._storage.read(name, versions[name], [TABLES[name].id]).column(0)
            for id_, values in self._unlisted(name, listed).items():
                rows[name, id_] = {**values, "table": name, "id": id_}
        kept = pa.Table.from_pylist([rows[key] for key in sorted(rows)], REFERENCE_SCHEMA)
        stored = StoredTable(self._storage, REFERENCES, self._version)
        stored.replace_all(kept)
        return stored.current_version

    def _unlisted(self, name: str, listed: pa.ChunkedArray) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for (table, *columns), shown in self._tables.items():
            if table == name:
                for row in without(shown, "id", listed).to_pylist():
                    if any(row[each] is not None for each in columns):
                        found.setdefault(row["id"], {}).update(row)
        return found


def _unnested(rows: pa.Table) -> pa.Table:
    """Return a row for each element of lists of ids and of values, without lists of other lengths than the ids."""
    lengths = [pc.list_value_length(column) for column in rows.columns]
    rows = rows.filter(functools.reduce(pc.and_, [pc.equal(lengths[0], each) for each in lengths]))
    return pa.table([pc.list_flatten(column) for column in rows.columns], rows.column_names)


def _first_of_each(rows: pa.Table) -> pa.Table:
    """Return the first row of each id, without dictionaries and wide types."""
    ids = as_stored(rows.column("id"))
    each = rows.take(pc.index_in(pc.drop_null(pc.unique(ids)), value_set=ids))
    return pa.table({name: as_stored(each.column(name)) for name in each.column_names})


_ITEM_CODES = "item_codes"
_KEY = ("kind", "id", "modified_at")
_CODES = ("activity_code", "task_code", "expense_code")
_CODES_SCHEMA = pa.schema(
    {"kind": pa.string(), "id": pa.string(), "modified_at": pa.timestamp("us", "UTC")}
    | dict.fromkeys(_CODES, pa.string())
)


class ItemCodeTable:
    """The table `item_codes` of a mirror."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        """Return the stored codes by record and the instant of its last change."""
        rows = self._storage.rows(_ITEM_CODES, _CODES_SCHEMA)
        return {(row["kind"], row["id"], row["modified_at"]): {name: row[name] for name in _CODES} for row in rows}

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        """Store codes; if the mirror can't be written, only warn, because they can be requested again."""
        rows = [dict(zip(_KEY, key, strict=True)) | dict(found) for key, found in codes.items()]
        try:
            self._storage.add_rows(_ITEM_CODES, rows, _CODES_SCHEMA)
        except MirrorError as error:
            warn(f"The codes of {len(rows):,} items were read but not stored. {error}", BillframesWarning)


_LEDGERS = "ledgers"
_TEXTS = ("file", "report", "company", "basis", "as_of", "start", "end", "stamp")
# The columns of a report that is read with its texts.
_MORE = ("memo", "description")
_DAMAGED = (MirrorError, msgspec.MsgspecError, pa.ArrowException, OSError, ValueError, TypeError, KeyError)
_LEDGER_SCHEMA = pa.schema(
    dict.fromkeys(_TEXTS, pa.string())
    | {"amount": pa.float64(), "open_balance": pa.float64(), "rows": pa.int64(), "about": pa.string()}
    | {"transactions": pa.binary()}
)


class LedgerTable:
    """The table `ledgers` of a mirror."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self, like: pd.DataFrame) -> list[pd.DataFrame]:
        """
        Return the reports that were kept, as `read_ledger` returned them, in the order in which they were read.

        `like` is an empty one. Raise `MirrorError` if the table has others.
        """
        rows = self._storage.rows(_LEDGERS, _LEDGER_SCHEMA)
        try:
            return [_frame(row, like) for row in rows]
        except _DAMAGED as error:
            raise self._storage.unusable(_LEDGERS) from error

    def add(self, ledger: pd.DataFrame) -> None:
        """Keep a report, if the same one is not kept already."""
        row = _row(ledger)
        shown = pa.schema([each for each in _LEDGER_SCHEMA if each.name not in {"about", "transactions"}])
        if {name: row[name] for name in shown.names} not in self._storage.rows(_LEDGERS, shown):
            self._storage.add_rows(_LEDGERS, [row], _LEDGER_SCHEMA)


def _row(ledger: pd.DataFrame) -> dict[str, Any]:
    about = ledger.attrs["ledger"]
    buffer = io.BytesIO()
    plain = ledger.copy(deep=False)
    plain.attrs = {}
    pq.write_table(pa.Table.from_pandas(plain, preserve_index=False), buffer)
    return {
        **{name: about[name] for name in _TEXTS},
        "amount": round(float(ledger["amount"].sum()), 2),
        "open_balance": round(float(ledger["open_balance"].sum()), 2),
        "rows": len(ledger),
        "about": json.dumps(about),
        "transactions": buffer.getvalue(),
    }


class _About(TypedDict):
    """What is known of a report; others are in some reports only."""

    report: str
    file: str
    company: str | None
    as_of: dt.date | None
    start: dt.date | None
    end: dt.date | None
    basis: str | None
    open_items: bool
    history: bool
    by_account: bool
    payments: str | None


def _frame(row: dict[str, Any], like: pd.DataFrame) -> pd.DataFrame:
    content, columns = row["transactions"], pa.Schema.from_pandas(like, preserve_index=False)
    check_content(io.BytesIO(content), _LEDGERS, row["rows"], len(content))
    stored = pq.read_table(io.BytesIO(content))
    texts = [pa.field(name, pa.string()) for name in stored.column_names if name in _MORE]
    frame: pd.DataFrame = stored.cast(pa.schema([*columns, *texts])).to_pandas().astype(like.dtypes)
    msgspec.json.decode(row["about"], type=_About)
    frame.attrs["ledger"] = msgspec.json.decode(row["about"])
    return frame
