"""Read whole lists and prove that no record is missing, or raise `PagingError`.

The API pages by offset over data that others change at the same time. Its sorts allow ties, and it has no snapshots. So
offsets are never trusted: the keys of a page's rows show which part of the list is complete. `date_windows` reads lists
with dates, `key_ranges` lists with names. `changes` adds records that changed during the load, counts, and finds
deletions. `offset_pages` reads lists that can't be proved complete, and the result says so. `strategy` chooses between
them.
"""

from billframes.paging.list_schema import ListSchema
from billframes.paging.strategy import ListReader, LoadResult

__all__ = ["ListReader", "ListSchema", "LoadResult"]
