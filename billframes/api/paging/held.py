"""The records that a load holds so far, each once: the newest version that came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from billframes.api.paging.listing import Listing

__all__ = ["Held"]


class Held:
    """
    Records by id.

    Attributes
    ----------
    rows : dict
        Record by id.
    news : int
        How many records came that were not here, or not in that version.
    """

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self.rows: dict[str, Any] = {}
        self.news = 0

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, records: Iterable[Any]) -> None:
        """Take records in; of two versions the newer stays, of equally old ones the one that came later."""
        rows, id_of = self.rows, self._listing.id_of
        for record in records:
            name = id_of(record)
            old = rows.get(name)
            age = 1 if old is None else self._newer(record, old)
            if age >= 0:
                rows[name] = record
            self.news += age > 0

    def drop(self, ids: Iterable[str]) -> None:
        """Let records go."""
        for name in ids:
            self.rows.pop(name, None)

    def _newer(self, record: Any, old: Any) -> int:
        """Return 1 for a newer version, 0 for the same instant, -1 for an older one."""
        if getattr(record, "meta", None) is None or old.meta is None:
            return 0
        if record.meta.modified_at == old.meta.modified_at:
            return 0
        now, then = self._listing.modified(record), self._listing.modified(old)
        return 0 if now is None or then is None else (now > then) - (now < then)
