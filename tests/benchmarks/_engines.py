"""Make a mirror with many more entries than were loaded, and run an analysis of it on an engine."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

import billframes as bf
from billframes.mirror.catalogue import Catalogue
from billframes.mirror.storage import Storage
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import TABLES, to_stored

__all__ = ["grown", "realized"]

_IDS = ("time_entry_id", "matter_id", "client_id", "invoice_id", "fixed_fee_id")
_GROWN = ("time_entries", "invoices", "matters", "clients")


def grown(place: Path, copies: int) -> None:
    """Multiply a mirror's entries, invoices, matters and clients, as a new version."""
    storage = Storage(place)
    catalogue = Catalogue(storage)
    old = catalogue.newest()
    at = dict(old.tables)
    for name in _GROWN:
        for file in storage.data_files(name, old.tables[name]):
            rows = storage.dataset(name, old.tables[name], data_files=[file]).to_table()
            stored = StoredTable(storage, TABLES[name], at[name])
            stored.append(_copies(rows, name, copies))
            at[name] = stored.current_version
    now = dt.datetime.now(dt.UTC)
    catalogue.commit(type(old)(old.number + 1, now, now, at, old.firm))


def _copies(rows: pa.Table, name: str, copies: int) -> pa.Table:
    made = []
    for copy in range(1, copies):
        one = rows
        for place, column in enumerate(rows.column_names):
            if column in _IDS:
                ids = pc.utf8_slice_codeunits(rows.column(column), 0, 28)
                tails = pc.utf8_slice_codeunits(rows.column(column), 28)
                one = one.set_column(place, column, pc.binary_join_element_wise(tails, ids, f"{copy:02}"))
        made.append(one)
    return to_stored(pa.concat_tables(made), TABLES[name])


def realized(place: str, engine: str, columns: str = "needed") -> dict[str, float]:
    """Compute realization by client over all entries, from all columns or only those that are needed."""
    few = columns == "needed"
    mirror = bf.mirror(place)
    if engine == "polars":
        # As docs/mirror.md recommends, so that Polars works on parts of the data instead of filling the memory.
        pl.Config.set_engine_affinity("streaming")
    items = ["invoice_id", "amount"]
    entries = [*items, "client_id", "client_name", "matter_id", "date", "hours", "billing_type"]
    result = bf.analysis.realization(
        mirror.scan("time_entries", engine=engine, columns=entries if few else None),
        expenses=mirror.scan("expenses", engine=engine, columns=items if few else None),
        fixed_fees=mirror.scan("fixed_fees", engine=engine, columns=items if few else None),
        invoices=mirror.scan("invoices", engine=engine),
        matters=mirror.scan("matters", engine=engine),
        by="client",
        start="2024-01-01",
        end="2026-12-31",
    )
    frame: Any = nw.from_native(result)
    rows = len(frame.collect() if isinstance(frame, nw.LazyFrame) else frame)
    entries = int(mirror.sizes().set_index("resource").loc["time_entries", "rows"])
    return {"rows": float(entries), "clients": float(rows)}
