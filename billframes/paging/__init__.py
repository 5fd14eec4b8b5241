"""Read lists in full and prove that nothing is missing, or raise `PagingError`.

The API pages by offset over data that others change meanwhile, its sorts allow ties, and it has no snapshots. So
offsets are never trusted: what a page proves is derived from the keys of its rows. `date_windows` reads lists with
dates, `key_ranges` lists with names, `changes` adds what changed during the load, counts, and finds what was
deleted. `offset_pages` reads what can't be proved, and the result says so. `strategy` chooses between them.
"""

from billframes.paging.list_schema import ListSchema
from billframes.paging.scheduler import RawPage, Transport
from billframes.paging.strategy import ListReader, LoadResult

__all__ = ["ListReader", "ListSchema", "LoadResult", "RawPage", "Transport"]
