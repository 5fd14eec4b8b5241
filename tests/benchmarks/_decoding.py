"""Bytes to typed Arrow, beside `orjson.loads` of the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson
import pyarrow as pa

from billframes.loading.table_builder import TableBuilder
from billframes.schema.custom_fields import CustomColumn, columns_from
from billframes.schema.decode import decode_page
from billframes.schema.records import CustomFieldList, CustomFieldOption
from billframes.schema.resources import MATTERS, TIME_ENTRIES, Resource
from billframes.schema.sources import sources_of
from tests.benchmarks._replay import Entries

__all__ = ["custom_fields", "decoding"]

Pair = tuple[Callable[[], Any], Callable[[], Any]]
PAGES, ROWS = 20, 1000
_VALUES: dict[str, tuple[Any, ...]] = {
    "text": ("Superior Court", "Court of Appeal", "Arbitration"),
    "date": ("2026-01-12", "2026-06-30"),
    "number": (18000.0, 52500.5, 9000.0),
    "boolean": (True, False),
    "enum": ("Intake", "Active", "Closed"),
}


def decoding(templates: list[bytes]) -> Pair:
    """Pages of time entries with everything selected."""
    entries = Entries(templates, PAGES * ROWS, 700)
    return _pair(TIME_ENTRIES, [entries.body({"offset": str(page * ROWS)}) for page in range(PAGES)], ())


def custom_fields() -> Pair:
    """Pages of matters, each with five custom fields."""
    fields = [
        CustomFieldList(id=f"cf-{kind}", entity="matter", name=f"A {kind}", value_type=kind, options=_options(kind))
        for kind in _VALUES
    ]
    pages = [
        json.dumps({"data": [_matter(page * ROWS + row) for row in range(ROWS)]}).encode() for page in range(PAGES)
    ]
    return _pair(MATTERS, pages, columns_from(fields))


def _pair(resource: Resource, pages: list[bytes], custom: tuple[CustomColumn, ...]) -> Pair:
    def ours() -> pa.Table:
        builder = TableBuilder(resource, sources_of(resource.record), custom)
        return builder.table([builder.block(decode_page(page, resource).data or []) for page in pages])

    return ours, lambda: [orjson.loads(page) for page in pages]


def _options(kind: str) -> list[CustomFieldOption] | None:
    return [CustomFieldOption(option_id=label, label=label) for label in _VALUES[kind]] if kind == "enum" else None


def _matter(number: int) -> dict[str, Any]:
    client = number // 7
    return {
        "matterId": f"{number:08}-0000-4000-8000-000000000001",
        "name": f"Acquisition of Saltmarsh {number}",
        "reference": f"1019-{number}",
        "matterType": "hourly",
        "archived": number % 3 == 0,
        "opened": f"2024-05-{number % 28 + 1:02}",
        "clientId": f"{client:08}-0000-4000-8000-000000000002",
        "responsibleId": f"{number % 9:08}-0000-4000-8000-000000000003",
        "practiceAreaId": f"{number % 5:08}-0000-4000-8000-000000000004",
        "client": {"name": f"Northfork Capital {client}", "reference": str(client)},
        "originatorIds": [f"{number % 9:08}-0000-4000-8000-000000000003"],
        "meta": {"createdAt": "2024-05-04T19:58:30.326357Z", "modifiedAt": "2025-06-01T17:15:56.511895Z"},
        "customFields": [
            {"id": f"cf-{kind}", "name": f"A {kind}", "valueType": kind, "value": values[number % len(values)]}
            for kind, values in _VALUES.items()
        ],
    }
