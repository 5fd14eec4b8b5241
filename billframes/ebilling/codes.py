"""Read the codes of expenses and fixed fees, which the API has only in single records: one request for each item.

Several items are read at the same time, and no item is read again until it changes: a client remembers codes in memory,
and a mirror on disk. An item without a modified date is read each time.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping
from concurrent.futures import as_completed
from typing import Any, Protocol

from billframes._shared.forks import PerProcess
from billframes.client import Client
from billframes.ebilling.source import CODES, KINDS, BillItem
from billframes.loading.connection import request_threads
from billframes.loading.progress import Progress, progress_reporter

ItemKey = tuple[str, str, Any]
"""An item's kind, its id, and the instant of its last change."""
ItemCodes = Mapping[str, str | None]
"""Codes by column name."""


class CodeStore(Protocol):
    """Remembers codes."""

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        """Return the remembered codes."""

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        """Remember codes."""


# The codes that each client has read, as long as it exists.
_read: weakref.WeakKeyDictionary[Client, dict[ItemKey, ItemCodes]] = weakref.WeakKeyDictionary()
_lock = PerProcess(threading.Lock)


def read_codes(
    items: Iterable[BillItem],
    client: Client | None,
    *,
    progress: bool | Progress | None = None,
    store: CodeStore | None = None,
) -> None:
    """
    Fill in the codes of expenses and fixed fees. Without a client, only codes remembered in `store` are filled in.

    By default, `store` is the client's, in memory. An item that can't be read is an `ApiError`.
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
