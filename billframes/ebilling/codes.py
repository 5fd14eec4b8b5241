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

from billframes._forks import PerProcess
from billframes.client import Client
from billframes.ebilling.source import CODES, KINDS, BillItem
from billframes.loading.connection import request_threads
from billframes.loading.progress import Progress, progress_reporter

__all__ = ["CodeStore", "ItemCodes", "ItemKey", "read_codes"]

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


class _MemoryStore:
    """Remembers codes as long as the client exists."""

    def __init__(self) -> None:
        self._codes: dict[ItemKey, ItemCodes] = {}

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        return self._codes

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        self._codes.update(codes)


_stores: weakref.WeakKeyDictionary[Client, _MemoryStore] = weakref.WeakKeyDictionary()
_lock = PerProcess(threading.Lock)


def read_codes(
    items: Iterable[BillItem],
    client: Client | None,
    *,
    progress: bool | Progress | None = None,
    store: CodeStore | None = None,
) -> None:
    """
    Fill in the codes of expenses and fixed fees. Without a client, only remembered codes are filled in.

    Parameters
    ----------
    items : iterable of BillItem
    client : Client, optional
        The client to read with.
    progress : bool or callable, optional
        As for the loaders.
    store : CodeStore, optional
        Remembers codes; by default the client's store in memory.

    Raises
    ------
    ApiError
        A record could not be read.
    """
    uncoded = {_key(item): item for item in items if not item.has_codes}
    if not uncoded:
        return
    if store is None and client is not None:
        with _lock.own:
            store = _stores.setdefault(client, _MemoryStore())
    codes = dict(store.read()) if store else {}
    unread = {key: item for key, item in uncoded.items() if key not in codes}
    if unread and client is not None:
        read: dict[ItemKey, ItemCodes] = {}
        try:
            _read_all(unread, client, progress, read)
        finally:
            # After an error, the items already read are not read again.
            dated = {key: found for key, found in read.items() if key[2] is not None}
            if store and dated:
                store.add(dated)
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
        keys = {pool.submit(_read, client, item): key for key, item in unread.items()}
        for done, future in enumerate(as_completed(keys), start=1):
            found[keys[future]] = future.result()
            report(done, len(unread))


def _key(item: BillItem) -> ItemKey:
    return item.kind, item.id, item.modified_at


def _read(client: Client, item: BillItem) -> dict[str, str | None]:
    record = getattr(client, KINDS[item.kind]).get(item.id)
    return {name: getattr(record, name) for name in CODES[item.kind]}
