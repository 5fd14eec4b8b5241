"""Read a long list of dated records window by window, so that memory stays flat.

Each window is a load of its own, proved like any other. A record whose date moves while the windows are read can be in
two of them, or in none; the caller takes in what changed since the run began, which brings the latter, and drops what
came twice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from billframes.mirror.changing import Changing
from billframes.mirror.narrowing import Window
from billframes.mirror.server import Server
from billframes.mirror.tables import Table, to_stored

__all__ = ["ROWS", "fill", "windows_of"]

# Records of one window.
ROWS = 50_000
_DAY = dt.timedelta(days=1)


def windows_of(server: Server, table: Table, total: int) -> list[Window]:
    """Cut a list into windows of no more than about `ROWS` records; the first and last are open."""
    if not table.date or total <= ROWS:
        return [(None, None)]
    sort = next(name for name, path in _sorts(table) if path == table.resource.date)  # type: ignore[union-attr]
    first, last = (
        server.load(table.name, sort=order, limit=1, progress=False).column(table.date)[0].as_py()
        for order in (sort, f"-{sort}")
    )
    cuts = list(_cuts(server, table, first, last, total))
    starts = [None, *(cut + _DAY for cut in cuts)]
    return list(zip(starts, [*cuts, None], strict=True))


def fill(server: Server, changing: Changing, windows: list[Window]) -> Iterator[pa.Table]:
    """
    Load all windows into an empty table; each is written while the next one is loaded.

    Yields
    ------
    Table
        Each window's rows as they came.
    """
    with ThreadPoolExecutor(1) as writing:
        pending = None
        for window in windows:
            frame = (
                server.load(changing.table.name, *window) if changing.table.date else server.load(changing.table.name)
            )
            if pending is not None:
                pending.result()
            pending = writing.submit(changing.append, to_stored(frame, changing.table))
            yield frame
        if pending is not None:
            pending.result()


def _sorts(table: Table) -> list[tuple[str, str]]:
    return list(table.resource.sort.items()) if table.resource else []


def _cuts(server: Server, table: Table, first: dt.date, last: dt.date, total: int) -> Iterator[dt.date]:
    """Return the last days of windows between two days, at ends of months where there are any."""
    if total <= ROWS or first >= last:
        return
    cut = _middle(first, last)
    before = server.count(table.name, first, cut)
    yield from _cuts(server, table, first, cut, before)
    yield cut
    yield from _cuts(server, table, cut + _DAY, last, total - before)


def _middle(first: dt.date, last: dt.date) -> dt.date:
    """Return a day before `last`, about in the middle; the end of a month if that is between the two."""
    day = first + (last - first) // 2
    end_of_month = day.replace(day=1) - _DAY
    return end_of_month if first <= end_of_month < last else day
