"""The codes of items: read those of expenses and fixed fees, and check all as `code_check` does.

The API has codes of expenses and fixed fees only in single records, so that each needs a request.

Several items are read at the same time, and no item is read again until it changes: a client remembers codes in memory,
and a mirror on disk. An item without a modified date is read each time.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from typing import Any

import pyarrow as pa

from billframes._shared.forks import PerProcess
from billframes.analysis.sheets.code_check import code_check
from billframes.client import Client
from billframes.ebilling.bill_lines import Bill, Line
from billframes.ebilling.findings import Finding
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.source import CODES, KINDS, OPEN_STATES, BillItem, BillSource
from billframes.loading.connection import request_threads
from billframes.loading.progress import Progress, progress_reporter
from billframes.schema.records import LEDES_CODES

CODE_FIELDS = {"task_code": 15, "expense_code": 16, "activity_code": 17}
_TAKE_OFF = " It is on an invoice that is not final: take it off first, because billed items can't be changed."
ItemKey = tuple[str, str, Any]
"""An item's kind, its id, and the instant of its last change."""
ItemCodes = Mapping[str, str | None]
"""Codes by column name."""


# The codes that each client has read, as long as it exists.
_read: weakref.WeakKeyDictionary[Client, dict[ItemKey, ItemCodes]] = weakref.WeakKeyDictionary()
_lock = PerProcess(threading.Lock)


def read_codes(
    items: Iterable[BillItem],
    client: Client | None,
    *,
    progress: bool | Progress | None = None,
    store: Any = None,
) -> None:
    """
    Fill in the codes of expenses and fixed fees. Without a client, only codes remembered in `store` are filled in.

    `store` is a mirror's `ItemCodeTable`, by default the client's memory. An item that can't be read is an `ApiError`.
    """
    uncoded = {(item.kind, item.id, item.modified_at): item for item in items if not item.has_codes}
    if not uncoded:
        return
    memory: dict[ItemKey, ItemCodes] = {}
    if client is not None:
        with _lock.own:
            memory = _read.setdefault(client, memory)
    codes = dict(store.read() if store else memory)
    unread = {key: item for key, item in uncoded.items() if key not in codes}
    if unread and client is not None:
        read: dict[ItemKey, ItemCodes] = {}
        try:
            _read_all(unread, client, progress, read)
        finally:
            # After an error, the items already read are not read again.
            dated = {key: found for key, found in read.items() if key[2] is not None}
            if dated:
                (store.add if store else memory.update)(dated)
        codes |= read
    for key, item in uncoded.items():
        if key in codes:
            for name in CODES[item.kind]:
                setattr(item, name, codes[key][name])
            item.has_codes = True


def _read_all(
    unread: Mapping[ItemKey, BillItem],
    client: Client,
    progress: bool | Progress | None,
    found: dict[ItemKey, ItemCodes],
) -> None:
    progress = client._connection.progress if progress is None else progress
    with progress_reporter(progress, "codes") as report, request_threads(client._connection.concurrency) as pool:
        keys = {pool.submit(_codes_of, client, item): key for key, item in unread.items()}
        for done, future in enumerate(as_completed(keys), start=1):
            found[keys[future]] = future.result()
            report(done, len(unread))


def _codes_of(client: Client, item: BillItem) -> dict[str, str | None]:
    record = getattr(client, KINDS[item.kind]).get(item.id)
    return {name: getattr(record, name) for name in CODES[item.kind]}


def needs_code(item: BillItem, source: BillSource, profile: LedesProfile) -> bool:
    """Tell whether the matter or the client requires a code of an item."""
    matter = source.matters.get(item.matter_id or "", {})
    enabled = matter.get("ledes_enabled") is True
    return any(
        kind in profile.require or (enabled and matter[flag] is True)
        for kind, flag in (LEDES_CODES[name] for name in CODES[item.kind])
    )


def code_findings(
    bills: Sequence[Bill],
    lines: Sequence[tuple[Bill, Line]],
    source: BillSource,
    profile: LedesProfile,
    *,
    of_bills: bool,
) -> Iterator[Finding]:
    """Check codes as `code_check` does, also of items without an amount, and report those that could not be read."""
    items = {line.item.id: (bill, line.item) for bill, line in lines if line.item is not None}
    items |= {item.id: (bill, item) for bill in bills for item in bill.unpriced}
    for bill, item in items.values():
        if not item.has_codes and (of_bills or needs_code(item, source, profile)):
            number = 16 if item.kind == "expense" else 15
            fix = "Pass client=, or a book: codes of expenses and fixed fees are read one by one."
            yield _item_finding(bill, item, number, "its code is not known: the API's lists have none", "", fix)
    checked = [item for _, item in items.values() if item.has_codes and item.matter_id in source.matters]
    if not checked:
        return
    tables = {kind: _table(kind, [item for item in checked if item.kind == kind]) for kind in KINDS}
    found = code_check(
        tables["time_entry"],
        expenses=tables["expense"],
        fixed_fees=tables["fixed_fee"],
        matters=_code_settings({item.matter_id for item in checked}, source, profile),
        codes=_codes(source),
    )
    for row in found.to_pylist():
        bill, item = items[row["item_id"]]
        fix = "Add the code." if row["problem"] == "missing" else "Choose a code from the matter's code sets."
        yield _item_finding(bill, item, CODE_FIELDS[row["field"]], row["problem"], row["code"] or "", fix)


def _item_finding(bill: Bill, item: BillItem, number: int, problem: str, value: str, fix: str) -> Finding:
    is_open = bill.invoice is None or bill.invoice["invoice_state"] in OPEN_STATES
    fix += _TAKE_OFF if item.invoice_id is not None and is_open else ""
    return bill.rejection(number, problem, value, fix, item)


def _table(kind: str, items: Sequence[BillItem]) -> pa.Table:
    columns = {f"{kind}_id": [item.id for item in items], "matter_id": [item.matter_id for item in items]}
    columns |= {name: [getattr(item, name) for item in items] for name in CODES[kind]}
    arrays = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    return pa.table({**arrays, "date": pa.array([item.date for item in items], pa.timestamp("us"))})


def _code_settings(matter_ids: Iterable[str | None], source: BillSource, profile: LedesProfile) -> pa.Table:
    """Return the matters' settings for codes, and require those that the profile requires, too."""
    rows = [source.matters[each] for each in matter_ids if each is not None]
    required = {LEDES_CODES[f"{kind}_code"][1] for kind in profile.require}
    table = {"matter_id": pa.array([row["matter_id"] for row in rows], pa.string())}
    enabled = [row["ledes_enabled"] is True or bool(required) for row in rows]
    table["ledes_enabled"] = pa.array(enabled, pa.bool_())
    for _, name in LEDES_CODES.values():
        table[name] = pa.array([name in required or row[name] is True for row in rows], pa.bool_())
    # A matter without LEDES billing has no code sets, so codes of any set are accepted.
    sets = [row["ledes_code_set_ids"] if row["ledes_enabled"] is True else None for row in rows]
    table["ledes_code_set_ids"] = pa.array(sets, pa.list_(pa.string()))
    return pa.table(table)


def _codes(source: BillSource) -> pa.Table:
    columns = source.codes
    types = {"selectable": pa.bool_()}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})
