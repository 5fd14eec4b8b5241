"""The mirror: a local copy of all resources, as Delta Lake tables.

Tables and storage
    There is one Delta table per resource, with the columns of its frame. Columns that show another record, such as the
    client's name on a time entry, are not stored with it. They are joined from the other record's own table when it is
    read, so a renamed client or an invoice made final shows on every entry. The table `references` has the last shown
    values of records that are in no list. Time entries are partitioned by month, and other dated resources by year. A
    change rewrites only the partitions that it affects, and each partition stays one sorted file. See `tables`,
    `storage` and `side_tables`.

Catalogue of versions
    A refresh commits table by table. At the end, it adds a row to the table `versions`, with the Delta versions of all
    tables that belong together. This row is the mirror's version. Readers open the tables at the versions of one row,
    so their tables are always consistent, even during a refresh. A refresh that was killed leaves commits that are in
    no row; the next refresh undoes them. See `catalogue`.

Refresh
    The first refresh loads dated lists window by window, so little memory is needed. Later ones request the changes
    since the server's time at which the last refresh began, less 15 minutes, and compare totals to find deleted
    records. All requests are sent by the loaders, so a refresh proves as much as a load. See `refresh`, `stored_table`,
    `windows`, `deletions`, `day_search` and `balances`.

Reading and queries
    The mirror's loaders are the client's classes with a connection that answers from the tables. The same code checks
    their arguments. Filters, periods and columns are applied while the files are read. See `connection`, `snapshot` and
    `queries`.

History
    Every version can be read until `vacuum` removes it. `as_of` opens a version, `changes` compares versions, and `tag`
    keeps one forever. `implied_receipts` lists by how much balances fell. See `history` and `falls`.

Engines
    `scan` opens a resource with its references in Polars, DuckDB or Spark, as a lazy table over the same files. See
    `engines`.
"""

from __future__ import annotations

from billframes.mirror.mirror import Mirror

__all__ = ["Mirror"]
