"""Find the records that were deleted: the API leaves no trace of them.

When everything that changed has been taken in, *rows here − total there* is the number deleted, and additions can't
hide it. Totals of halves of the period are compared until only small windows differ; those are loaded, and what is here
and not there is gone. Each is confirmed by asking for it by id: of more than ten, ten are asked for, and all of them if
one is still there. Lists without dates are loaded whole.

If much of a table seems to have vanished, nothing is removed: permissions may have changed rather than data.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc

from billframes.errors import MirrorError
from billframes.mirror.changing import Changing
from billframes.mirror.server import Server
from billframes.mirror.tables import to_stored
from billframes.mirror.windows import ROWS, Window, windows_of

__all__ = ["ASKED", "check_vanished", "compare_windows", "confirmed", "differing", "reload"]

# A differing window of no more rows is loaded.
FEW = 1000
# A larger window, of up to so many times as many, is loaded if much in it differs.
MOST = 8
# More than this share, and this many, is a disaster rather than deletions.
SHARE, LEAST = 0.1, 100
ASKED = 10
_DAY = dt.timedelta(days=1)


def check_vanished(name: str, gone: int, rows: int) -> None:
    """Raise `MirrorError` if much of a table seems to have vanished."""
    if gone >= LEAST and gone >= SHARE * rows:
        raise MirrorError(
            f"{name}: {gone:,} of {rows:,} records seem to have vanished from the server at once, so nothing was "
            f"removed and the mirror is as it was. The credential may see less than before. If they were really "
            f"deleted, take the server's data as they are with refresh(full=[{name!r}])."
        )


def differing(server: Server, changing: Changing, total: int) -> Iterator[Window]:
    """Yield windows whose totals differ here and there; one open window for lists without dates."""
    days, upto = _by_day(changing)
    if not days:
        yield None, None
        return

    def window(first: int, last: int) -> Window:
        return days[first] if first else None, days[last + 1] - _DAY if last + 1 < len(days) else None

    def before(first: int, end: int) -> int:
        return server.count(changing.table.name, window(first, end)[0], days[end] - _DAY)

    found: tuple[int, int] | None = None
    for first, last in _narrowed(upto, total, before):
        # Neighbours are loaded as one: each load has a few requests of its own.
        if found and found[1] + 1 == first and _rows(upto, found[0], last) <= ROWS:
            found = found[0], last
            continue
        if found:
            yield window(*found)
        found = first, last
    if found:
        yield window(*found)


def _by_day(changing: Changing) -> tuple[list[dt.date], list[int]]:
    """Return the days that rows have, and how many rows there are up to each; nothing for lists without dates."""
    if not changing.table.date:
        return [], []
    counted = changing.read([changing.table.date]).column(0).value_counts()
    pairs = sorted(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
    return [day for day, _ in pairs], list(accumulate(count for _, count in pairs))


def _rows(upto: list[int], first: int, last: int) -> int:
    return upto[last] - (upto[first - 1] if first else 0)


def _narrowed(upto: list[int], total: int, count: Callable[[int, int], int]) -> Iterator[tuple[int, int]]:
    """
    Yield parts of the days, from the first to the last, whose totals differ and that are best loaded.

    Parameters
    ----------
    upto : list of int
        Rows here up to each day.
    total : int
        Rows there. The outermost parts are open: they count rows of other days, too.
    count : callable
        Returns how many rows there are there from one of the days up to before another.
    """
    waiting = [(0, len(upto) - 1, total)]
    while waiting:
        first, last, there = waiting.pop()
        rows = _rows(upto, first, last)
        if rows == there:
            continue
        # Looking for many among few rows takes more requests than loading them.
        if rows <= FEW * min(max(1, 2 * (rows - there)), MOST) or first == last:
            yield first, last
            continue
        middle = min(max(bisect_right(upto, upto[last] - rows // 2), first), last - 1)
        before = count(first, middle + 1)
        waiting.append((middle + 1, last, there - before))
        waiting.append((first, middle, before))


def compare_windows(server: Server, changing: Changing, periods: Iterator[Window] | list[Window]) -> list[str]:
    """
    Load windows, take in what differs, and return the ids of rows that are here and not there.

    A row that only moved to another window is not among them.
    """
    table = changing.table
    missing: list[str] = []
    moved: set[str] = set()
    for start, end in periods:
        frame = server.load(table.name, start, end) if table.date else server.load(table.name)
        rows = to_stored(frame, table)
        here = changing.read([table.id], _within(table.date, start, end)).column(0)
        ids = rows.column(table.id)
        missing += here.filter(pc.invert(pc.is_in(here, value_set=ids))).to_pylist()
        moved |= changing.upsert(rows)
    return [each for each in missing if each not in moved]


def reload(server: Server, changing: Changing) -> list[str]:
    """Load a table whole, take in what differs, and return the ids of rows that are here and not there."""
    total = server.count(changing.table.name)
    return compare_windows(server, changing, windows_of(server, changing.table, total))


def confirmed(server: Server, changing: Changing, ids: list[str]) -> list[str]:
    """Return those of the ids that the server has no record of."""
    table = changing.table
    if table.name == "invoices":
        return _not_listed(server, changing, ids)
    step = max(1, len(ids) // ASKED)
    sample = ids[::step][:ASKED]
    alive = [each for each in sample if not server.gone(table, each)]
    if not alive or len(sample) == len(ids):
        return [each for each in ids if each not in alive]
    return [each for each in ids if server.gone(table, each)]


def _not_listed(server: Server, changing: Changing, ids: list[str]) -> list[str]:
    """Return those of the invoices that their clients' lists lack; the API shows no single invoice."""
    own = changing.read(["invoice_id", "client_id"], pc.field("invoice_id").isin(ids))
    clients = own.column("client_id").unique().to_pylist()
    if not clients or len(clients) > ASKED:
        return ids
    listed = set(server.invoices_of(clients).column("invoice_id").to_pylist())
    return [each for each in ids if each not in listed]


def _within(date: str | None, start: dt.date | None, end: dt.date | None) -> pc.Expression | None:
    if date is None or (start is None and end is None):
        return None
    parts = []
    if start is not None:
        parts.append(pc.field(date) >= pa.scalar(start))
    if end is not None:
        parts.append(pc.field(date) <= pa.scalar(end))
    return parts[0] if len(parts) == 1 else parts[0] & parts[1]
