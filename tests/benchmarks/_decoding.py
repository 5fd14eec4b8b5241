"""Measure decoding to Arrow, compared with `orjson.loads` of the same bytes, for each shape of data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from billframes.loading.table_builder import TableBuilder
from billframes.schema.custom_fields import CustomColumn, FieldNames
from billframes.schema.decode import decode_page
from billframes.schema.records import CustomFieldList
from billframes.schema.resources import MATTERS, TIME_ENTRIES, Resource
from billframes.schema.sources import sources_of
from tests.benchmarks._replay import Pages
from tests.benchmarks._shapes import SHAPES, Firm

__all__ = ["bodies", "decoding", "table_of"]

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]
PAGES, ROWS = 20, 1000


def decoding() -> Iterator[Pair]:
    """Yield pages of time entries and of matters of each shape."""
    for shape in SHAPES:
        firm = Firm(shape)
        entries = bodies(firm.entry)
        yield f"time entries: {shape.name}", *_pair(TIME_ENTRIES, entries, ())
        custom = FieldNames().columns(msgspec.convert(firm.definitions(), list[CustomFieldList]))
        matters = bodies(firm.matter, PAGES // 4)
        yield f"matters with {shape.custom} custom fields: {shape.name}", *_pair(MATTERS, matters, custom)


def bodies(row: Callable[[int], bytes], pages: int = PAGES, rows: int = ROWS) -> list[bytes]:
    """Return pages of records as bytes."""
    served = Pages(row, pages * rows)
    return [served.body({"offset": str(page * rows), "limit": str(rows)}) for page in range(pages)]


def table_of(resource: Resource, pages: list[bytes], custom: tuple[CustomColumn, ...] = ()) -> pa.Table:
    """Decode pages into a table."""
    builder = TableBuilder(resource, sources_of(resource.record), custom)
    return builder.table([builder.block(decode_page(page, resource).data or []) for page in pages])


def _pair(
    resource: Resource, pages: list[bytes], custom: tuple[CustomColumn, ...]
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    import orjson

    return lambda: table_of(resource, pages, custom), lambda: [orjson.loads(page) for page in pages]
