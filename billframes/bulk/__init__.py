"""Bulk edits: plan the changes of an edited frame, apply them with a journal, and undo them.

`bf.time_entries.plan(edited)` compares an edited frame with the server's current state and writes nothing. `.apply()`
sends the changes with the status `will change`. Every change is saved in a journal on disk before it is sent and after
its response, so that `bf.bulk.resume(journal)` can finish an apply that was killed, without sending a change twice.

From the bottom to the top:

=================== =============================================================================
`columns`           the columns that can be edited
`cells`             read, compare and show cells
`server_records`    read and hold the current state of records, in few requests and little memory
`edited_frame`      read and check an edited frame of any engine
`changes`           the change of one record, and its cells
`journal`           the file with each change and its outcome
`find_created`      find records on the server by their values, because a new row has no id
`rules`             check changes by the API's rules and the matters' LEDES requirements
`mistakes`          find edits that are allowed but look like a mistake
`comparison`        compare an edited frame with the server
`planning`          make the changes of a plan from an edited frame, or from the changes of a journal
`writer`            send one change, and find out its outcome
`modified_since` find the records that somebody else changed since the plan, by one list request
`sender`            send changes side by side, in waves
`apply`             write the changes into a journal, send them, and note their outcomes
`display`           show a plan and sum up its outcomes
`plan`              `Plan` and `Outcomes`, which users see
`workbook`          read an edited workbook
=================== =============================================================================
"""

from __future__ import annotations

from billframes._shared.namespace import namespace

__getattr__, __dir__, __all__ = namespace(__name__, __file__)
