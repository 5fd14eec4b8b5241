"""Lists become one set of records that is proved whole, or `PagingError`.

The API pages by offset over data that others change meanwhile, with sorts that allow ties and without snapshots. So
nothing here trusts an offset: what an answer proves is read off the keys of its rows. `windows` reads lists that have
dates, `cover` those that have names; `catchup` takes in what changed meanwhile and counts; `gone` finds what was
deleted. `pages` is the plain way for what can't be proved, and says so. `reader` chooses.
"""

from billframes.paging.list_schema import ListSchema
from billframes.paging.scheduler import RawPage, Transport
from billframes.paging.strategy import ListReader, LoadResult

__all__ = ["ListReader", "ListSchema", "LoadResult", "RawPage", "Transport"]
