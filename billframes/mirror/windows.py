"""Load a long list of dated records window by window, so that little memory is needed.

Each window is loaded separately, and proved to be complete. A record whose date changes while the windows are loaded
can be in two of them, or in none. So the caller removes duplicates, and stores the changes since the refresh began.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from billframes.mirror.day_search import Window
from billframes.mirror.server_lists import ServerLists
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import Table, to_stored

# The number of records in a window.
WINDOW_ROWS = 50_000
_DAY = dt.timedelta(days=1)


def cut_windows(server: ServerLists, table: Table, total: int) -> list[Window]:
    """Cut a list into windows of at most about `WINDOW_ROWS` records; the first and last window are open."""
    if not table.date or total <= WINDOW_ROWS:
        return [(None, None)]
    first, last = (
        server.load(table.name, sort=order, limit=1, progress=False).column(table.date)[0].as_py()
        for order in (table.date_sort, f"-{table.date_sort}")
    )
    cuts = list(_cuts(server, table, first, last, total))
    starts = [None, *(cut + _DAY for cut in cuts)]
    return list(zip(starts, [*cuts, None], strict=True))


def fill(server: ServerLists, stored: StoredTable, windows: list[Window]) -> Iterator[pa.Table]:
    """Load all windows into an empty table; each window is written while the next one is loaded."""
    with ThreadPoolExecutor(1) as writing:
        pending = None
        for window in windows:
            frame = server.load_window(stored.table, window)
            if pending is not None:
                pending.result()
            pending = writing.submit(stored.append, to_stored(frame, stored.table))
            yield frame
        if pending is not None:
            pending.result()


def _cuts(server: ServerLists, table: Table, first: dt.date, last: dt.date, total: int) -> Iterator[dt.date]:
    """Yield the last days of windows between two days; these are ends of months if possible."""
    if total <= WINDOW_ROWS or first >= last:
        return
    cut = _middle(first, last)
    before = server.count(table.name, first, cut)
    yield from _cuts(server, table, first, cut, before)
    yield cut
    yield from _cuts(server, table, cut + _DAY, last, total - before)


def _middle(first: dt.date, last: dt.date) -> dt.date:
    """Return a day before `last`, about in the middle; the end of a month if there is one between the days."""
    day = first + (last - first) // 2
    end_of_month = day.replace(day=1) - _DAY
    return end_of_month if first <= end_of_month < last else day
