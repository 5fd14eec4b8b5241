"""Find the records that were deleted: the API leaves no trace of them.

When everything that changed has been taken in, *rows here − total there* is the number deleted, and additions can't
hide it. Totals of parts of the period are compared until only small parts differ; those are loaded, and what is here
and not there is gone. The API refuses to delete billed records: if as many unbilled ones are gone as records in all,
only unbilled ones are loaded, and each part must lack as many as its totals say. Lists without dates are loaded whole.

Each that is gone is confirmed by asking for it by id: of more than ten, ten are asked for, and all of them if one is
still there.

If much of a table seems to have vanished, nothing is removed: permissions may have changed rather than data.
"""

from __future__ import annotations

import datetime as dt
import functools
import operator
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes.errors import MirrorError
from billframes.mirror.changing import Changing, newest_rows
from billframes.mirror.narrowing import Days, Part, Window, narrowed
from billframes.mirror.server import Server
from billframes.mirror.tables import Table, to_stored
from billframes.mirror.windows import ROWS, windows_of

__all__ = ["ASKED", "check_vanished", "confirmed", "missing", "reload"]

# More than this share, and this many, is a disaster rather than deletions.
SHARE, LEAST = 0.1, 100
ASKED = 10
_UNBILLED = ~pc.field("billed")


def check_vanished(name: str, gone: int, rows: int) -> None:
    """Raise `MirrorError` if much of a table seems to have vanished."""
    if gone >= LEAST and gone >= SHARE * rows:
        raise MirrorError(
            f"{name}: {gone:,} of {rows:,} records seem to have vanished from the server at once, so nothing was "
            f"removed and the mirror is as it was. The credential may see less than before. If they were really "
            f"deleted, take the server's data as they are with refresh(full=[{name!r}])."
        )


def missing(server: Server, changing: Changing, total: int) -> list[str]:
    """
    Return the ids of rows that are here and not there, found by totals; take in what else differs in what was loaded.

    Parameters
    ----------
    server : Server
    changing : Changing
        With everything that was added or changed there.
    total : int
        Rows there.
    """
    table, unbilled = changing.table, _only_unbilled(server, changing, total)
    days = _by_day(changing, unbilled)
    if not len(days):
        return _ids(_compared(server, changing, [[(None, None)]]))
    with ThreadPoolExecutor(server.concurrency) as pool:

        def count(windows: Sequence[Window]) -> list[int]:
            return list(pool.map(lambda window: server.count(table.name, *window), windows))

        parts = narrowed(days, total, server.page_size, count)
    if not unbilled:
        return _ids(_compared(server, changing, _cut(days, _together(days, parts), server)))
    found = _compared(server, changing, _cut(days, parts, server), unbilled=True)
    ids: list[str] = []
    for part in parts:
        window = days.window(part.first, part.last)
        gone = found.filter(_within(table.date, [window], False)) if window != (None, None) else found
        # One that was billed without its date moving looks like one that is gone.
        ids += _ids(gone if len(gone) == part.gone else _compared(server, changing, [[window]]))
    return ids


def _ids(rows: pa.Table) -> list[str]:
    ids: list[str] = rows.column(0).to_pylist()
    return ids


def _together(days: Days, parts: Sequence[Part]) -> list[Part]:
    """Put parts next to each other together, up to `ROWS`."""
    together: list[Part] = []
    for part in parts:
        before = together[-1] if together else None
        if before and before.last + 1 == part.first and days.loads(before.first, part.last) <= ROWS:
            together[-1] = Part(before.first, part.last, before.gone + part.gone)
        else:
            together.append(part)
    return together


def _cut(days: Days, parts: Sequence[Part], server: Server) -> list[list[Window]]:
    """Cut parts into windows; those that are loaded side by side are in one list."""
    alone, pages = days.cut(parts, server.page_size, ROWS)
    most = max(1, ROWS // server.page_size)
    return [*([window] for window in alone), *(pages[at : at + most] for at in range(0, len(pages), most))]


def _only_unbilled(server: Server, changing: Changing, total: int) -> bool:
    """Tell whether only unbilled rows are gone, as the API deletes no others; False for lists without that state."""
    if not _bills(changing.table) or len(changing) <= server.page_size:
        return False
    here: int = changing.read([changing.table.id], _UNBILLED).num_rows
    return here - server.count(changing.table.name, billed=False) == len(changing) - total


def _by_day(changing: Changing, unbilled: bool) -> Days:
    """Return the days that rows have; none for lists without dates."""
    table = changing.table
    if not table.date:
        return Days([], [], [])
    rows = _counted(changing.read([table.date]))
    loads = _counted(changing.read([table.date], _UNBILLED)) if unbilled else rows
    days = sorted(rows)
    return Days(days, [rows[day] for day in days], [loads.get(day, 0) for day in days])


def _counted(rows: pa.Table) -> dict[dt.date, int]:
    counted = rows.column(0).value_counts()
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))


def _bills(table: Table) -> bool:
    return table.resource is not None and "billed" in {each.name for each in table.resource.filters}


def _compared(
    server: Server, changing: Changing, batches: Sequence[Sequence[Window]], *, unbilled: bool = False
) -> pa.Table:
    """
    Load windows, take in what differs, and return the ids and dates of rows that are here and not there.

    A row that only moved to another window is not among them.

    Parameters
    ----------
    batches : sequence of sequence of window
        Those in one are loaded side by side.
    unbilled : bool, default False
        Look through rows that are not billed only.
    """
    table = changing.table
    columns = [table.id, table.date] if table.date else [table.id]
    found: list[pa.Table] = []
    moved: set[str] = set()

    def load(window: Window) -> pa.Table:
        # Several at once can't all show how far they are.
        options: dict[str, Any] = {"progress": False} if len(batch) > 1 else {}
        if unbilled:
            options["billed"] = False
        return to_stored(server.load(table.name, *(window if table.date else ()), **options), table)

    with ThreadPoolExecutor(server.concurrency) as pool:
        for batch in batches:
            # One whose date moved between two answers is in both.
            rows = newest_rows(pa.concat_tables(list(pool.map(load, batch))), table.id)
            here = changing.read(columns, _within(table.date, batch, unbilled))
            found.append(here.filter(pc.invert(pc.is_in(here.column(0), value_set=rows.column(table.id)))))
            moved |= changing.upsert(rows)
    gone = pa.concat_tables(found) if found else changing.read(columns).slice(0, 0)
    return gone.filter(pc.invert(pc.is_in(gone.column(0), value_set=pa.array(sorted(moved), pa.string()))))


def reload(server: Server, changing: Changing) -> list[str]:
    """Load a table whole, take in what differs, and return the ids of rows that are here and not there."""
    total = server.count(changing.table.name)
    return _ids(_compared(server, changing, [[window] for window in windows_of(server, changing.table, total)]))


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


def _within(date: str | None, windows: Sequence[Window], unbilled: bool) -> pc.Expression | None:
    """Return the condition of being in one of some windows; None is all rows."""
    within = None
    if date and (None, None) not in windows:
        within = functools.reduce(operator.or_, [_days(date, *window) for window in windows])
    if not unbilled:
        return within
    return _UNBILLED if within is None else within & _UNBILLED


def _days(date: str, start: dt.date | None, end: dt.date | None) -> pc.Expression:
    first = None if start is None else pc.field(date) >= pa.scalar(start)
    last = None if end is None else pc.field(date) <= pa.scalar(end)
    return last if first is None else first if last is None else first & last
