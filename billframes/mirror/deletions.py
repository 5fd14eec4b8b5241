"""Find the records that were deleted: the API leaves no trace of them.

When all changes are stored, *stored rows − the server's total* is the number of deleted records, and additions can't
hide them. Totals of parts of the period are compared, and days for which the server has fewer rows are loaded: stored
rows that are not among them are deleted. The API refuses to delete billed records: if as many unbilled records are
missing as records in all, only unbilled ones are counted and loaded. Lists without dates are loaded whole.

Each deletion is confirmed by a request for the id, if that and the search take few requests compared with a load of the
table. Otherwise a sample of at least ten is requested, or of as many as the table has pages if the totals state another
number than was found. If a record of the sample still exists, all of them are requested.

If much of a table seems to be deleted, nothing is removed: permissions may have changed, and not the data.
"""

from __future__ import annotations

import datetime as dt
import functools
import operator
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc

from billframes.errors import MirrorError
from billframes.mirror.changing import Changing, newest_rows
from billframes.mirror.narrowing import Answer, Days, Look, Window, narrow
from billframes.mirror.server import Server
from billframes.mirror.tables import Table, to_stored
from billframes.mirror.windows import ROWS, windows_of

__all__ = ["ASKED", "check_vanished", "confirmed", "missing", "number_asked", "reload"]

# More than this share, and more than this number, is not taken for deletions.
SHARE, LEAST = 0.1, 100
ASKED = 10
# Finding and confirming deletions takes at most this share of the requests that a load of the table takes.
COST = 0.072
_UNBILLED = ~pc.field("billed")


def check_vanished(name: str, gone: int, rows: int) -> None:
    """Raise `MirrorError` if much of a table seems to be deleted."""
    if gone >= LEAST and gone >= SHARE * rows:
        raise MirrorError(
            f"{name}: {gone:,} of {rows:,} records seem to have vanished from the server at once, so nothing was "
            f"removed and the mirror is as it was. The credential may see less than before. If they were really "
            f"deleted, take the server's data as they are with refresh(full=[{name!r}])."
        )


def missing(server: Server, changing: Changing, total: int) -> list[str]:
    """
    Find stored rows that the server lacks, by its totals, and return their ids. Store other differences, too.

    Parameters
    ----------
    server : Server
    changing : Changing
        After all additions and changes were stored.
    total : int
        The server's number of rows.
    """
    unbilled = _only_unbilled(server, changing, total)
    found, days = _Missing(changing, unbilled), _by_day(changing, unbilled)
    if len(days):
        search = _Search(server, days, found)
        narrow(days, len(changing) - total, server.page_size, ROWS, search.look)
        search.compare()
    else:
        found.compare(server.load(changing.table.name), [(None, None)])
    return found.ids()


class _Missing:
    """
    Finds stored rows that are not among the loaded rows of the same days.

    Parameters
    ----------
    changing : Changing
    unbilled : bool
        Rows that are not billed only.
    """

    def __init__(self, changing: Changing, unbilled: bool = False) -> None:
        self.table = changing.table
        self.unbilled = unbilled
        self._changing = changing
        self._columns = [name for name in (self.table.id, self.table.date) if name]
        self._found: list[pa.Array] = []
        self._moved: set[str] = set()

    def compare(self, frame: pa.Table, windows: Sequence[Window]) -> None:
        """Compare with all rows of some windows, and store those that differ."""
        # A record whose date changed between two responses is in both.
        rows = newest_rows(to_stored(frame, self.table), self.table.id)
        here = self._changing.read(self._columns, _within(self.table.date, windows, self.unbilled)).column(0)
        self._found += here.filter(pc.invert(pc.is_in(here, value_set=rows.column(self.table.id)))).chunks
        self._moved |= self._changing.upsert(rows)

    def ids(self) -> list[str]:
        """Return the ids of the rows; one that only moved to another window is not among them."""
        found = pa.chunked_array(self._found, pa.string())
        return [each for each in found.to_pylist() if each not in self._moved]


class _Search:
    """
    Requests totals and rows of days, and compares the rows.

    Parameters
    ----------
    server : Server
    days : Days
    found : _Missing
    """

    def __init__(self, server: Server, days: Days, found: _Missing) -> None:
        self._server = server
        self._days = days
        self._found = found
        self._options = {"billed": False} if found.unbilled else {}
        self._rows: list[pa.Table] = []
        self._looked: list[tuple[int, int]] = []

    def look(self, looks: Sequence[Look]) -> list[Answer]:
        """Send requests side by side, for few enough rows at once that memory stays flat."""
        answers: list[Answer] = []
        most = max(1, ROWS // self._server.page_size)
        with ThreadPoolExecutor(self._server.concurrency) as pool:
            for at in range(0, len(looks), most):
                batch = looks[at : at + most]
                small = pool.map(self._small, [each for each in batch if each.how != "all"])
                for each in batch:
                    answer, rows = self._all(each.part.first, each.last) if each.how == "all" else next(small)
                    answers.append(answer)
                    self._keep(rows, each.part.first, answer.until)
        return answers

    def _all(self, first: int, last: int) -> tuple[Answer, pa.Table]:
        rows = self._server.load(self._found.table.name, *self._days.window(first, last), **self._options)
        return Answer(rows.num_rows, last, rows.num_rows), rows

    def _small(self, look: Look) -> tuple[Answer, pa.Table | None]:
        """Request a total, or the first page, which states it."""
        table, first = self._found.table, look.part.first
        window = self._days.window(first, look.last)
        if look.how == "total":
            return Answer(self._server.count(table.name, *window, **self._options), first - 1, 0), None
        if table.resource is None or table.date is None:
            raise AssertionError(f"{table.name} has no dates")
        page = self._server.first_page(table.name, table.resource, *window, **self._options)
        if page is None:
            return self._all(first, look.last)
        rows, total = page
        if rows.num_rows == total:
            return Answer(total, look.last, total), rows
        # Other rows of the last day may be on the next page.
        until = self._days.before(rows.column(table.date)[-1].as_py())
        if until < first:
            answer, rows = self._all(first, first)
            return Answer(total, first, answer.rows), rows
        whole = rows.filter(_days(table.date, *self._days.window(first, until)))
        return Answer(total, until, whole.num_rows), whole

    def _keep(self, rows: pa.Table | None, first: int, last: int) -> None:
        if rows is None:
            return
        self._rows.append(rows)
        self._looked.append((first, last))
        if sum(each.num_rows for each in self._rows) >= ROWS:
            self.compare()

    def compare(self) -> None:
        """Compare the rows that were kept."""
        if self._rows:
            windows = [self._days.window(*places) for places in _together(self._looked)]
            self._found.compare(pa.concat_tables(self._rows), windows)
            self._rows, self._looked = [], []


def _together(looked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    Join ranges of places that follow each other.

    Examples
    --------
    >>> _together([(4, 4), (0, 1), (2, 2)])
    [(0, 2), (4, 4)]
    """
    together: list[tuple[int, int]] = []
    for first, last in sorted(looked):
        if together and together[-1][1] + 1 == first:
            together[-1] = together[-1][0], last
        else:
            together.append((first, last))
    return together


def _only_unbilled(server: Server, changing: Changing, total: int) -> bool:
    """Tell whether all deleted rows are unbilled, as the API deletes no others; False for lists without that state."""
    if not _bills(changing.table) or len(changing) <= server.page_size:
        return False
    here: int = changing.read([changing.table.id], _UNBILLED).num_rows
    return here - server.count(changing.table.name, billed=False) == len(changing) - total


def _by_day(changing: Changing, unbilled: bool) -> Days:
    """Return the days that rows have; none for lists without dates."""
    date = changing.table.date
    if not date:
        return Days([], [])
    counted = changing.read([date], _UNBILLED if unbilled else None).column(0).value_counts()
    rows = dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
    return Days(sorted(rows), [rows[day] for day in sorted(rows)])


def _bills(table: Table) -> bool:
    return table.resource is not None and "billed" in {each.name for each in table.resource.filters}


def reload(server: Server, changing: Changing) -> list[str]:
    """Load a whole table, store what differs, and return the ids of stored rows that the server lacks."""
    table, found = changing.table, _Missing(changing)
    for window in windows_of(server, table, server.count(table.name)):
        found.compare(server.load(table.name, *(window if table.date else ())), [window])
    return found.ids()


def number_asked(server: Server, changing: Changing, requests: int, *, agree: bool) -> int:
    """Return how many deletions to confirm after this many requests; more if totals and rows disagree."""
    pages = len(changing) / server.page_size
    return max(ASKED, round(pages * COST) - requests if agree else round(pages))


def confirmed(server: Server, changing: Changing, ids: list[str], most: int) -> list[str]:
    """Return the ids that the server has no record of. Of more than `most` ids, a sample of that size is requested."""
    table = changing.table
    if table.name == "invoices":
        return _not_listed(server, changing, ids)
    chosen = ids if len(ids) <= most else [ids[len(ids) * place // most] for place in range(most)]
    alive = _alive(server, table, chosen)
    if alive and len(chosen) < len(ids):
        alive = _alive(server, table, ids)
    return [each for each in ids if each not in alive]


def _alive(server: Server, table: Table, ids: list[str]) -> set[str]:
    with ThreadPoolExecutor(server.concurrency) as pool:
        gone = pool.map(lambda id_: server.gone(table, id_), ids)
        return {id_ for id_, is_gone in zip(ids, gone, strict=True) if not is_gone}


def _not_listed(server: Server, changing: Changing, ids: list[str]) -> list[str]:
    """Return the invoices that their clients' lists lack; the API has no request for a single invoice."""
    own = changing.read(["invoice_id", "client_id"], pc.field("invoice_id").isin(ids))
    clients = own.column("client_id").unique().to_pylist()
    if not clients or len(clients) > ASKED:
        return ids
    listed = set(server.invoices_of(clients).column("invoice_id").to_pylist())
    return [each for each in ids if each not in listed]


def _within(date: str | None, windows: Sequence[Window], unbilled: bool) -> pc.Expression | None:
    """Return the condition that a row is in one of the windows; None means all rows."""
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
