"""The mirror: a local copy of all resources, as Delta Lake tables.

Tables and storage
    One Delta table a resource, in the columns of its frame. What a record shows of another record (the client's name
    on a time entry, the invoice's state) is not stored with it: it is joined from the other record's own table when it
    is read, so a rename or an invoice made final shows on every entry. The table `references` keeps the last value seen
    of records that are in no list. Time entries are partitioned by month, other dated resources by year; a change
    rewrites only the partitions it touches, and each partition stays one sorted file. See `tables` and `storage`.

Catalogue of versions
    A refresh commits table by table, and at the end one row of the table `versions`: which Delta version of every
    table belongs together. That row is the mirror's version. Readers open the tables at the versions of one row, so
    they always see one consistent set, whatever a refresh does meanwhile. A refresh that was killed leaves commits that
    no row names; the next one writes over them. See `catalogue`.

Refresh
    The first refresh streams windows of records into the tables, so memory stays flat. Later ones ask for what changed
    since the server's time at which the last one began, less 15 minutes, and compare totals to find what was deleted.
    Every request goes through the loaders, so a refresh proves what a load proves. See `refresh`, `windows` and
    `deletions`.

Reading and queries
    The mirror's loaders are the client's own classes, bound to a connection that answers from the tables. Arguments
    are checked by the same code; filters, periods and columns are pushed down to the files. See `connection` and
    `queries`.

History
    Every version stays readable until `vacuum`: `as_of` opens one, `changes` compares them, `tag` keeps one for good;
    `receipts` shows what balances fell by.
    See `history`.

Engines
    `scan` hands a resource, with its references joined, to Polars, DuckDB or Spark as a lazy table over the same files.
    See `engines`.
"""

from __future__ import annotations

from billframes.mirror.implied_receipts import receipts
from billframes.mirror.mirror import Mirror

__all__ = ["Mirror", "receipts"]
