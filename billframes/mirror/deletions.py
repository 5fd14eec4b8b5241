"""Find the records that were deleted, of which the API leaves no trace.

After all changes are stored, *stored rows − the server's total* is the number of deleted records; new records can't
hide them. Totals of spans of days are compared, and days for which the server has fewer rows are loaded (`day_search`).
The API refuses to delete billed records. So if as many unbilled records are missing as records in total, only unbilled
records are counted and loaded. Lists without dates are loaded completely.

Deletions are confirmed by requests for their ids: all of them if that takes few requests compared with a load of the
table, else a sample, and all if a record of the sample still exists. If much of a table or a billed record seems to be
deleted, nothing is removed, because permissions may have changed instead of data.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from billframes.errors import MirrorError
from billframes.loading.connection import request_threads
from billframes.mirror.day_search import Days, SpanRequest, SpanResult, Window, search_days
from billframes.mirror.server_lists import WINDOW_ROWS, ServerLists, cut_windows
from billframes.mirror.stored_table import StoredTable, newest_rows, unchanged_mask
from billframes.mirror.tables import Table, to_stored, within_days, without

# Nothing is removed if at least this share of a table, and at least this number of rows, seems to be deleted.
_MOST = ((0.1, 100), (0.5, 2))
# The least number of deletions to confirm.
SAMPLE = 10
# To find and confirm deletions takes at most this share of the requests for a load of the table.
_MOST_COST = 0.072
_UNBILLED = ~pc.field("billed")


def check_vanished(name: str, missing: int, rows: int) -> None:
    """Raise `MirrorError` if much of a table seems to be deleted."""
    if any(missing >= number and missing >= share * rows for share, number in _MOST):
        raise _vanished(name, f"{missing:,} of {rows:,} records seem to have vanished from the server at once")


def check_billed(server: ServerLists, stored: StoredTable, invoices: StoredTable, ids: list[str]) -> None:
    """
    Raise `MirrorError` if a billed record seems to be deleted, because the API refuses that.

    It can have been taken off a bill before, if the bill was not final, and was changed or deleted, too.
    """
    if not _can_be_billed(stored.table):
        return
    deleted = pc.field(stored.table.id).isin(pa.array(ids, pa.string()))
    rows = stored.read(["invoice_id", "client_id"], deleted & pc.field("billed"))
    bills = pc.field("invoice_id").isin(rows["invoice_id"].unique())
    drafts = invoices.read(rows=bills & (pc.field("invoice_state") != "final"))
    left = without(rows, "invoice_id", drafts["invoice_id"])
    if drafts.num_rows and not left.num_rows:
        now = to_stored(server.invoices_of(drafts["client_id"].unique().to_pylist()), invoices.table)
        unchanged = drafts.filter(unchanged_mask(drafts, now.select(drafts.column_names), "invoice_id"))
        left = rows.filter(pc.is_in(rows["invoice_id"], value_set=unchanged["invoice_id"]))
    if left.num_rows:
        raise _vanished(
            stored.table.name,
            f"{left.num_rows:,} billed records, which can't be deleted, seem to have vanished from the server",
        )


def _vanished(name: str, what: str) -> MirrorError:
    return MirrorError(
        f"{name}: {what}, so nothing was removed and the mirror is unchanged. The credential may see less than before. "
        f"If they are really gone, accept the server's data with refresh(full=[{name!r}]), or `billframes sync` with "
        "--full."
    )


def find_missing(server: ServerLists, stored: StoredTable, total: int) -> list[str]:
    """
    Find stored rows that the server lacks, by its totals, and return their ids. Store other differences, too.

    All additions and changes must be stored already; `total` is the server's number of rows.
    """
    unbilled = _only_unbilled(server, stored, total)
    missing, days = _MissingRows(stored, unbilled), _count_by_day(stored, unbilled)
    if len(days):
        search = _DaySearch(server, days, missing)
        search_days(days, len(stored) - total, server.page_size, WINDOW_ROWS, search.send)
        search.compare()
    else:
        missing.compare(server.load_window(stored.table), [(None, None)])
    return missing.ids()


class _MissingRows:
    """The stored rows that are not among the loaded rows of the same days; only unbilled ones if `unbilled`."""

    def __init__(self, stored: StoredTable, unbilled: bool = False) -> None:
        self.table, self.unbilled, self._stored = stored.table, unbilled, stored
        self._columns = [name for name in (self.table.id, self.table.date) if name]
        self._missing: list[pa.Array] = []
        self._moved: set[str] = set()

    def compare(self, frame: pa.Table, windows: Sequence[Window]) -> None:
        """Compare with all rows of some windows, and store the rows that differ."""
        # If a record's date changes between two responses, it can be in both.
        rows = newest_rows(to_stored(frame, self.table), self.table.id)
        stored = self._stored.read(self._columns, _within(self.table.date, windows, self.unbilled))
        self._missing += without(stored, self.table.id, rows.column(self.table.id)).column(0).chunks
        self._moved |= self._stored.upsert(rows)

    def ids(self) -> list[str]:
        """Return the ids of the missing rows, without rows that only moved to another window."""
        missing = pa.chunked_array(self._missing, pa.string())
        return [each for each in missing.to_pylist() if each not in self._moved]


class _DaySearch:
    def __init__(self, server: ServerLists, days: Days, missing: _MissingRows) -> None:
        self._server, self._days, self._missing = server, days, missing
        self._options = {"billed": False} if missing.unbilled else {}
        self._rows: list[pa.Table] = []
        self._loaded_spans: list[tuple[int, int]] = []

    def send(self, requests: Sequence[SpanRequest]) -> list[SpanResult]:
        """Send requests side by side, but only for so many rows at once that little memory is needed."""
        results: list[SpanResult] = []
        most = max(1, WINDOW_ROWS // self._server.page_size)
        with request_threads(self._server.concurrency) as pool:
            for at in range(0, len(requests), most):
                batch = requests[at : at + most]
                # A load of all rows already sends its pages side by side.
                small = pool.map(self._request_first, [each for each in batch if each.kind != "all"])
                for each in batch:
                    result, rows = self._load_all(each.span.first, each.last) if each.kind == "all" else next(small)
                    results.append(result)
                    self._collect(rows, each.span.first, result.compared_until)
        return results

    def _load_all(self, first: int, last: int) -> tuple[SpanResult, pa.Table]:
        rows = self._server.load(self._missing.table.name, *self._days.window(first, last), **self._options)
        return SpanResult(rows.num_rows, last, rows.num_rows), rows

    def _request_first(self, request: SpanRequest) -> tuple[SpanResult, pa.Table | None]:
        table, first = self._missing.table, request.span.first
        window = self._days.window(first, request.last)
        if request.kind == "total":
            return SpanResult(self._server.count(table.name, *window, **self._options), first - 1, 0), None
        page = self._server.first_page(table, *window, **self._options)
        if page is None:
            return self._load_all(first, request.last)
        rows, total = page
        if rows.num_rows == total:
            return SpanResult(total, request.last, total), rows
        # The last day on the page can have more rows on the next page.
        last_complete = self._days.before(rows.column(table.date)[-1].as_py())
        if last_complete < first:
            result, rows = self._load_all(first, first)
            return SpanResult(total, first, result.rows), rows
        complete = rows.filter(within_days(table.date, *self._days.window(first, last_complete)))
        return SpanResult(total, last_complete, complete.num_rows), complete

    def _collect(self, rows: pa.Table | None, first: int, last: int) -> None:
        if rows is None:
            return
        self._rows.append(rows)
        self._loaded_spans.append((first, last))
        if sum(each.num_rows for each in self._rows) >= WINDOW_ROWS:
            self.compare()

    def compare(self) -> None:
        """Compare the rows that were collected."""
        if self._rows:
            windows = [self._days.window(*span) for span in _join_spans(self._loaded_spans)]
            self._missing.compare(pa.concat_tables(self._rows), windows)
            self._rows, self._loaded_spans = [], []


def _join_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    together: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if together and together[-1][1] + 1 == first:
            together[-1] = together[-1][0], last
        else:
            together.append((first, last))
    return together


def _only_unbilled(server: ServerLists, stored: StoredTable, total: int) -> bool:
    """Tell whether all missing rows are unbilled; False for lists without that state, or with one page."""
    if not _can_be_billed(stored.table) or len(stored) <= server.page_size:
        return False
    stored_ids: int = stored.read([stored.table.id], _UNBILLED).num_rows
    return stored_ids - server.count(stored.table.name, billed=False) == len(stored) - total


def _count_by_day(stored: StoredTable, unbilled: bool) -> Days:
    """Return the days that have rows; no days for lists without dates."""
    date = stored.table.date
    if not date:
        return Days({})
    counted = stored.read([date], _UNBILLED if unbilled else None).column(0).value_counts()
    return Days(dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)))


def _can_be_billed(table: Table) -> bool:
    return table.resource is not None and "billed" in {each.name for each in table.resource.filters}


def reload_table(server: ServerLists, stored: StoredTable) -> list[str]:
    """Load a whole table, store the rows that differ, and return the ids of stored rows that the server lacks."""
    table, missing = stored.table, _MissingRows(stored)
    for window in cut_windows(server, table, server.count(table.name)):
        missing.compare(server.load_window(table, window), [window])
    return missing.ids()


def sample_size(server: ServerLists, stored: StoredTable, requests: int, *, totals_agree: bool) -> int:
    """Return how many deletions to confirm after so many requests for the search; more if totals and rows disagree."""
    pages = len(stored) / server.page_size
    return max(SAMPLE, round(pages * _MOST_COST) - requests if totals_agree else round(pages))


def confirm_deleted(server: ServerLists, stored: StoredTable, ids: list[str], most: int) -> list[str]:
    """Return the ids of deleted records. Of more than `most`, only a sample is requested, unless one still exists."""
    asked, existing = ids, functools.partial(_existing, server, stored.table)
    if stored.table.name == "invoices":
        # The API has no request for one invoice, so the lists of its clients are requested.
        rows = stored.read(["invoice_id", "client_id"], pc.field("invoice_id").isin(ids))
        asked, most = rows.column("client_id").drop_null().unique().to_pylist(), SAMPLE
        existing = functools.partial(_listed, server)
    found = existing(_sample(asked, most))
    if len(asked) > most and not found.isdisjoint(ids):
        found = existing(asked)
    return [each for each in ids if each not in found]


def _sample(values: list[str], most: int) -> list[str]:
    """Return all values, or `most` of them at equal distances."""
    return values if len(values) <= most else [values[len(values) * place // most] for place in range(most)]


def _existing(server: ServerLists, table: Table, ids: list[str]) -> set[str]:
    with request_threads(server.concurrency) as pool:
        deleted = pool.map(lambda id_: server.is_deleted(table, id_), ids)
        return {id_ for id_, is_deleted in zip(ids, deleted, strict=True) if not is_deleted}


def _listed(server: ServerLists, clients: list[str]) -> set[str]:
    return set(server.invoices_of(clients).column("invoice_id").to_pylist()) if clients else set()


def _within(date: str | None, windows: Sequence[Window], unbilled: bool) -> pc.Expression | None:
    """Return the condition that a row is in one of the windows; None means all rows."""
    within = None
    if date and (None, None) not in windows:
        within = functools.reduce(operator.or_, [within_days(date, *window) for window in windows])
    if not unbilled:
        return within
    return _UNBILLED if within is None else within & _UNBILLED
