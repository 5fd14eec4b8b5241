"""Codes of expenses and fixed fees, which only single records show: those that were read are kept beside the tables.

The table `item_codes` does not belong to a version. A code is found by its record's id and the instant of the record's
last change, so it is right for every version whose record has that instant. Rows are only added.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from billframes._user_lines import warn
from billframes.ebilling import ItemCodes, ItemKey
from billframes.errors import BillframesWarning, MirrorError
from billframes.mirror.lock import private_files
from billframes.mirror.storage import Storage

__all__ = ["NAME", "MirrorCodes"]

NAME = "item_codes"
_KEY = ("kind", "id", "modified_at")
_CODES = ("activity_code", "task_code", "expense_code")
_SCHEMA = pa.schema(
    {"kind": pa.string(), "id": pa.string(), "modified_at": pa.timestamp("us", "UTC")}
    | dict.fromkeys(_CODES, pa.string())
)


class MirrorCodes:
    """
    The codes that are remembered in one mirror.

    Parameters
    ----------
    storage : Storage
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        """Return all codes that were read, by record and instant of its last change."""
        if not self._storage.exists(NAME):
            return {}
        rows = self._storage.read(NAME, self._storage.version(NAME)).to_pylist()
        return {(row["kind"], row["id"], row["modified_at"]): {name: row[name] for name in _CODES} for row in rows}

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        """Keep codes; if the mirror can't be written, warn, as they are only read again next time."""
        rows = [dict(zip(_KEY, key, strict=True)) | dict(found) for key, found in codes.items()]
        try:
            with private_files():
                self._storage.write(NAME, pa.Table.from_pylist(rows, _SCHEMA), append=self._storage.exists(NAME))
        except MirrorError as error:
            warn(f"The codes of {len(rows):,} items were read but not remembered. {error}", BillframesWarning)
