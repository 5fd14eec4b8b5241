"""The mirror: a local copy of all resources, as Delta Lake tables.

There is one table per resource, with the columns of its frame (`tables`, `storage`). Columns that show another record,
such as the client's name on a time entry, are joined from that record's own table when they are read, so a renamed
client shows on every entry. A refresh commits table by table (`refresh`). At its end it adds a row to the table
`versions`, with the Delta versions of all tables that belong together (`catalogue`). Readers open the tables at the
versions of one row (`snapshot`), so their tables are always consistent, and earlier versions can be read until `vacuum`
removes them (`cleanup`). The mirror's loaders are the client's, with a connection that answers from the tables.
"""

from __future__ import annotations

from billframes.mirror.mirror import Mirror

__all__ = ["Mirror"]
