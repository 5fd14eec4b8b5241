"""Codes of expenses and fixed fees, which the API gives with single records only: one request each.

Only the requested ones are read, side by side, and each once for as long as it does not change: in memory while the
client lives, and on disk by a mirror. An item that does not show when it was changed is read each time.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol

from billframes.client import Client
from billframes.ebilling.source import KINDS, Item
from billframes.loading.progress import Progress, reporting

__all__ = ["CodeStore", "ItemCodes", "ItemKey", "read_codes"]

ItemKey = tuple[str, str, Any]
"""An item's kind, its id, and the instant of its last change."""
ItemCodes = Mapping[str, str | None]
"""Codes by the name of their column."""


class CodeStore(Protocol):
    """Remembers codes."""

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        """Return the codes that are remembered."""

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        """Remember codes."""


class _InMemory:
    """Remembers codes while a client lives."""

    def __init__(self) -> None:
        self._codes: dict[ItemKey, ItemCodes] = {}

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        return self._codes

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        self._codes.update(codes)


_FIELDS = {"expense": ("expense_code",), "fixed_fee": ("activity_code", "task_code")}
_remembered: weakref.WeakKeyDictionary[Client, _InMemory] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def read_codes(
    items: Iterable[Item],
    client: Client | None,
    *,
    progress: bool | Progress | None = None,
    known: CodeStore | None = None,
) -> None:
    """
    Fill in the codes of expenses and fixed fees; without a client, those that are not remembered stay unknown.

    Parameters
    ----------
    items : iterable of Item
    client : Client, optional
        What to read with.
    progress : bool or callable, optional
        As for the loaders.
    known : CodeStore, optional
        Where codes are remembered; in memory, by client, if not given.

    Raises
    ------
    ApiError
        A record could not be read.
    """
    waiting = {_key(item): item for item in items if not item.coded}
    if not waiting:
        return
    if known is None and client is not None:
        with _lock:
            known = _remembered.setdefault(client, _InMemory())
    codes = dict(known.read()) if known else {}
    unread = {key: item for key, item in waiting.items() if key not in codes}
    if unread and client is not None:
        read: dict[ItemKey, ItemCodes] = {}
        try:
            _read_all(unread, client, progress, read)
        finally:
            # What was read before an error is not read again.
            lasting = {key: found for key, found in read.items() if key[2] is not None}
            if known and lasting:
                known.add(lasting)
        codes |= read
    for key, item in waiting.items():
        if key in codes:
            for name in _FIELDS[item.kind]:
                setattr(item, name, codes[key][name])
            item.coded = True


def _read_all(
    unread: Mapping[ItemKey, Item],
    client: Client,
    progress: bool | Progress | None,
    found: dict[ItemKey, ItemCodes],
) -> None:
    shown = client.progress if progress is None else progress
    with reporting(shown, "codes") as tell, ThreadPoolExecutor(client.concurrency) as pool:
        reads = {pool.submit(_read, client, item): key for key, item in unread.items()}
        try:
            for done, read in enumerate(as_completed(reads), start=1):
                found[reads[read]] = read.result()
                tell(done, len(unread))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _key(item: Item) -> ItemKey:
    return item.kind, item.id, item.modified_at


def _read(client: Client, item: Item) -> dict[str, str | None]:
    record = getattr(client, KINDS[item.kind]).get(item.id)
    return {name: getattr(record, name) for name in _FIELDS[item.kind]}
