"""Codes of expenses and fixed fees, which the API gives with single records only: one request each.

Only the requested ones are read, side by side, and each once for as long as it does not change: a client's codes are
remembered while it lives. A mirror that keeps them on disk passes its own mapping as `known`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

from billframes.client import Client
from billframes.ebilling.source import KINDS, Item
from billframes.loading.progress import Progress, reporting

__all__ = ["Codes", "read_codes"]

Codes = MutableMapping[tuple[str, str, Any], dict[str, str | None]]
"""Codes by kind, id and the instant of the last change."""

_FIELDS = {"expense": ("expense_code",), "fixed_fee": ("activity_code", "task_code")}
_remembered: weakref.WeakKeyDictionary[Client, Codes] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def read_codes(
    items: Iterable[Item],
    client: Client | None,
    *,
    progress: bool | Progress | None = None,
    known: Codes | None = None,
) -> None:
    """
    Fill in the codes of expenses and fixed fees that are not known; without a client they stay unknown.

    Parameters
    ----------
    items : iterable of Item
    client : Client, optional
        What to read with.
    progress : bool or callable, optional
        As for the loaders.
    known : mapping, optional
        Codes that are known already, and where new ones are kept; those that the client remembers if not given.

    Raises
    ------
    ApiError
        A record could not be read.
    """
    if client is None:
        return
    if known is None:
        with _lock:
            known = _remembered.setdefault(client, {})
    waiting = [item for item in items if not item.coded]
    unread = [item for item in waiting if _key(item) not in known]
    if unread:
        shown = client.progress if progress is None else progress
        with reporting(shown, "codes") as tell, ThreadPoolExecutor(client.concurrency) as pool:
            reads = {pool.submit(_read, client, item): item for item in unread}
            try:
                for done, read in enumerate(as_completed(reads), start=1):
                    known[_key(reads[read])] = read.result()
                    tell(done, len(unread))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    for item in waiting:
        for name, code in known[_key(item)].items():
            setattr(item, name, code)
        item.coded = True


def _key(item: Item) -> tuple[str, str, Any]:
    return item.kind, item.id, item.modified_at


def _read(client: Client, item: Item) -> dict[str, str | None]:
    record = getattr(client, KINDS[item.kind]).get(item.id)
    return {name: getattr(record, name) for name in _FIELDS[item.kind]}
