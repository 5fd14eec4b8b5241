"""Bulk edits: a plan of what would change, an apply that keeps a journal, and the way back.

`bf.time_entries.plan(edited)` compares an edited frame with the server's present state and writes nothing. `.apply()`
sends what the plan marks as `will change`. Every change is in a journal on disk before it is sent and after it is
answered, so that `bf.resume(journal)` finishes an apply that was killed without doing anything twice.

================== ==============================================================================
`columns`          the columns that can be edited, and the comparison of two cells
`edited`           an edited frame of any engine, read and checked
`present`          the server's present state, in few requests
`records`          records as the server has them, in little memory
`creations`        find records that are the same as new rows, and what became of creates without an answer
`rules`            the API's refusals, and the matter's LEDES requirements, before anything is sent
`mistakes`         note edits that are allowed and look like a mistake
`comparison`       compare an edited frame with the server
`changes`          a change of one record; many changes in little memory
`journal`          the file that remembers each change and its outcome
`writing`          send one change, and find out what became of it
`moved`            find out by one list which records changed
`sending`          send changes side by side, in waves
`apply`            write the changes into a journal, and send them
`planned_changes`  compare an edited frame, or the changes of a journal, with the server
`plan`             `Plan`: every cell that differs, with its status; `Outcomes`: what became of each change
`workbook`         read an edited workbook
================== ==============================================================================
"""
