"""The API's creates, updates and deletes, declared as operations on the tables."""

from __future__ import annotations

from billframes.sandbox.writes.clients import CLIENT_WRITES
from billframes.sandbox.writes.edits import Operation
from billframes.sandbox.writes.firm import FIRM_WRITES
from billframes.sandbox.writes.items import ITEM_WRITES

__all__ = ["WRITES"]

WRITES: tuple[Operation, ...] = (*CLIENT_WRITES, *ITEM_WRITES, *FIRM_WRITES)
