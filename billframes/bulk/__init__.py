"""Bulk edits: plan the changes of an edited frame, apply them with a journal, and undo them.

`bf.time_entries.plan(edited)` compares an edited frame with the server's current state and writes nothing (`planning`,
`comparison`). `.apply()` sends the changes with the status `will change` (`apply`, `sender`, `writer`). Every change is
saved in a `journal` on disk before it is sent and after its response, so that `bf.bulk.resume(journal)` can finish an
apply that was killed, without sending a change twice.
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
