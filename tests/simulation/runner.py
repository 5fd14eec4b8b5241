"""Simulate one load with the real reader, and check what it promises.

The seed determines everything: the data, what others write, the order in which the server serves requests, and the
order in which responses arrive. So a load that breaks a promise can be repeated.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from dataclasses import dataclass, replace
from typing import Any

from billframes._shared.names import snake_case
from billframes.errors import PagingError
from billframes.loading.table_builder import TableBuilder
from billframes.paging import ListReader, ListSchema, LoadResult
from billframes.schema.decode import decode_page, parse_instant
from billframes.schema.resources import RESOURCES
from billframes.schema.sources import sources_of
from tests.simulation.collations import COLLATIONS
from tests.simulation.model import FIRST_DAY, IDS, Model, Reply, Setting

Query = tuple[tuple[str, str], ...]
Versions = dict[str, dt.datetime | None]
BY_NAME = {each.name: each for each in RESOURCES}
SORTS = {"clients": "name", "matters": "name", "invoices": "invoicedate"}

_TIMES = Setting()
_NAMES = Setting(resource="clients", rows=200)
_SCRIPTS = replace(_NAMES, scripts=True, shuffled=True, names=30)
SETTINGS: tuple[tuple[str, Setting], ...] = (
    ("days, quiet", _TIMES),
    ("days, 0.02 changes a request", replace(_TIMES, changes=0.02)),
    ("days, 0.1 changes", replace(_TIMES, changes=0.1)),
    ("days, 0.5 changes", replace(_TIMES, changes=0.5)),
    ("days, 2 changes", replace(_TIMES, changes=2, rows=600, page=60)),
    ("days, 10 changes", replace(_TIMES, changes=10, rows=1200, page=120)),
    ("days, ties shuffled", replace(_TIMES, shuffled=True)),
    ("days, ties shuffled, 0.5 changes", replace(_TIMES, shuffled=True, changes=0.5)),
    ("days, late commits, 0.5 changes", replace(_TIMES, late=0.3, changes=0.5)),
    ("days, silent edits, 0.5 changes", replace(_TIMES, silent=0.3, changes=0.5)),
    ("days, capped limit, 0.1 changes", replace(_TIMES, granted=13, changes=0.1)),
    ("days, a period, 0.5 changes", replace(_TIMES, period=True, changes=0.5)),
    ("days, no metadata, 0.1 changes", replace(_TIMES, meta=False, changes=0.1)),
    ("days, many deleted at once", replace(_TIMES, changes=0.02, purged=0.1)),
    ("dense days, quiet, ties shuffled", replace(_TIMES, days=8, shuffled=True)),
    ("dense days, 0.5 changes", replace(_TIMES, days=8, changes=0.5)),
    ("dense days, late commits, 2 changes", replace(_TIMES, days=8, late=0.3, changes=2, rows=600, page=60)),
    ("dense days, no metadata, 0.1 changes", replace(_TIMES, days=8, meta=False, changes=0.1)),
    ("dense days, imported at once, 0.1 changes", replace(_TIMES, days=30, imported=True, changes=0.1)),
    ("expenses, full days, 0.1 changes", replace(_TIMES, resource="expenses", days=5, changes=0.1, shuffled=True)),
    ("expenses, 0.5 changes", replace(_TIMES, resource="expenses", changes=0.5)),
    ("invoices, full days, 0.1 changes", replace(_TIMES, resource="invoices", days=5, changes=0.1)),
    ("names, quiet", _NAMES),
    ("names, ties shuffled", replace(_NAMES, shuffled=True, names=30)),
    ("names, 0.02 changes", replace(_NAMES, changes=0.02)),
    ("names, 0.5 changes", replace(_NAMES, changes=0.5, shuffled=True)),
    ("names, 2 changes", replace(_NAMES, changes=2, rows=600, page=60)),
    ("names, late commits, 0.5 changes", replace(_NAMES, late=0.3, changes=0.5)),
    ("matters, many ties, 0.1 changes", replace(_NAMES, resource="matters", names=8, shuffled=True, changes=0.1)),
    ("days, more changes than a page", replace(_TIMES, changes=2, overlap=30.0)),
    ("days, edits in the overlap, then quiet", replace(_TIMES, changes=0.02, overlap=3e6)),
    ("expenses, more than a page just before", replace(_TIMES, resource="expenses", overlap=1e7)),
    ("expenses, more than a page in the overlap", replace(_TIMES, resource="expenses", changes=0.02, overlap=1e7)),
    ("clients, more than a page just before", replace(_SCRIPTS, overlap=1e7, collation="Danish")),
    ("clients, more than a page in the overlap", replace(_NAMES, overlap=1e7, changes=0.02)),
    ("days in two lists, 0.5 changes", replace(_TIMES, two_lists=True, changes=0.5)),
    ("two short lists, 2 changes", replace(_TIMES, two_lists=True, rows=30, changes=2)),
    ("three pages, 0.1 changes", replace(_TIMES, rows=50, changes=0.1)),
    ("three pages, 0.5 changes", replace(_TIMES, rows=50, changes=0.5, shuffled=True)),
    ("three pages of names, 0.1 changes", replace(_NAMES, rows=50, names=30, changes=0.1, late=0.3)),
    ("one page, 2 changes", replace(_TIMES, rows=15, changes=2)),
    *((f"{name}, 0.1 changes", replace(_SCRIPTS, collation=name, changes=0.1)) for name in COLLATIONS),
    *((f"{name}, hidden", replace(_SCRIPTS, collation=name, names=3, hidden=2)) for name in COLLATIONS),
    ("many scripts, two pages, 0.3 changes", replace(_SCRIPTS, rows=30, changes=0.3, collation="Swedish")),
    ("many scripts, quiet, long ties", replace(_SCRIPTS, names=2, collation="Danish")),
    ("many scripts, quiet, in order", replace(_SCRIPTS, collation="PostgreSQL ICU, numeric", shuffled=False)),
    ("expenses, many scripts, 0.1 changes", replace(_SCRIPTS, resource="expenses", days=3, changes=0.1)),
    ("expenses, quiet", replace(_TIMES, resource="expenses")),
    ("expenses, late commits, 0.5 changes", replace(_TIMES, resource="expenses", late=0.3, changes=0.5, shuffled=True)),
    ("expenses, silent edits, 0.5 changes", replace(_TIMES, resource="expenses", silent=0.3, changes=0.5)),
    ("expenses, many deleted at once", replace(_TIMES, resource="expenses", changes=0.02, purged=0.1)),
    ("expenses, 2 changes", replace(_TIMES, resource="expenses", changes=2, rows=1200, page=120)),
)


@dataclass(slots=True)
class Outcome:
    """The result of a load: its proof, and the promise that it broke, if any."""

    seed: int
    proof: str
    broken: str = ""
    requests: int = 0


class ShuffledTransport:
    """A transport that serves the requests under way in random order, and returns the responses in random order."""

    def __init__(self, model: Model, seed: int) -> None:
        self._model = model
        self._random = random.Random(seed)
        self._sent: list[tuple[int, Any]] = []
        self._answered: list[tuple[int, Reply]] = []

    def send(self, ticket: int, query: Any) -> None:
        self._sent.append((ticket, query))

    def receive(self) -> tuple[int, Reply]:
        while self._sent and (not self._answered or self._random.random() < 0.5):
            ticket, query = self._sent.pop(self._random.randrange(len(self._sent)))
            self._model.advance()
            self._answered.append((ticket, self._model.reply(query)))
        return self._answered.pop(self._random.randrange(len(self._answered)))

    def close(self) -> None:
        pass


def reader_of(
    setting: Setting, transport: Any, progress: list[tuple[int, int]], builder: TableBuilder, concurrency: int = 4
) -> ListReader:
    """Return the real reader with a transport."""
    resource = BY_NAME[setting.resource]
    return ListReader(
        fetch=lambda _query: None,
        decode=lambda body: decode_page(body, resource),
        pack=builder.block,
        schema=ListSchema(resource, meta=setting.meta),
        page_size=setting.page,
        concurrency=concurrency,
        progress=lambda done, total: progress.append((done, total)),
        overlap=dt.timedelta(seconds=setting.overlap),
        transport=lambda: transport,
    )


def builder_of(setting: Setting) -> TableBuilder:
    """Return the builder of a load's table."""
    record = BY_NAME[setting.resource].record
    details = {source.column.select for source in sources_of(record)} - ({None} if setting.meta else {None, "meta"})
    return TableBuilder(BY_NAME[setting.resource], sources_of(record, frozenset(details)))


def rows_of(loaded: LoadResult, setting: Setting, builder: TableBuilder) -> list[tuple[str, dt.datetime | None]]:
    """Return each record's id and when it was last changed; None without metadata."""
    table = builder.table(loaded.blocks, loaded.rows)
    ids = table.column(snake_case(BY_NAME[setting.resource].id)).to_pylist()
    return list(zip(ids, table.column("modified_at").to_pylist() if setting.meta else [None] * len(ids), strict=True))


def query_of(setting: Setting) -> Query:
    """Return the load's query."""
    query = (("sort", SORTS.get(setting.resource, "date")),)
    if not setting.period:
        return query
    end = FIRST_DAY + dt.timedelta(days=setting.days // 2)
    return (*query, ("startDate", str(FIRST_DAY)), ("endDate", str(end)))


def lists_of(setting: Setting, query: Query) -> list[Query]:
    """Return the queries of the lists that a load merges."""
    return [(*query, ("billed", text)) for text in ("true", "false")] if setting.two_lists else [query]


def simulate(seed: int, setting: Setting | None = None) -> Outcome:
    """Run the load of a seed, and check it."""
    setting = setting or SETTINGS[seed % len(SETTINGS)][1]
    model, progress = Model(setting, seed), []
    transport, query, builder = ShuffledTransport(model, seed + 1), query_of(setting), builder_of(setting)
    if setting.purged:
        _purge_later(model, transport, seed)
    before = model.begin()
    try:
        loaded = reader_of(setting, transport, progress, builder, 1 + seed % 8).read(lists_of(setting, query))
    except PagingError:
        quiet = not (setting.changes or setting.late or setting.hidden)
        return Outcome(seed, "raised", "raised on a quiet server" if quiet else "")
    return Outcome(seed, loaded.proof, broken_promise(model, before, loaded, builder, query, progress), loaded.requests)


def _purge_later(model: Model, transport: ShuffledTransport, seed: int) -> None:
    """Delete a part of all records after a few requests."""
    reply, left = model.reply, [2 + seed % 9]

    def purging(query: Any) -> Reply:
        left[0] -= 1
        if left[0] == 0:
            model.purge(model.setting.purged)
        return reply(query)

    transport._model = _Replying(model, purging)


@dataclass(slots=True)
class _Replying:
    model: Model
    reply: Any

    def advance(self) -> None:
        self.model.advance()


def broken_promise(
    model: Model,
    before: dict[str, Any],
    loaded: LoadResult,
    builder: TableBuilder,
    query: Query,
    progress: list[tuple[int, int]],
) -> str:
    """Return the promise that a load broke; empty if none."""
    setting, parameters = model.setting, dict(query)
    rows = rows_of(loaded, setting, builder)
    versions = dict(rows)
    if len(versions) < len(rows):
        return "a record is twice in the result"
    fitting = {key: row for key, row in before.items() if model.fits(row, parameters)}
    lost = set(fitting) - model.written - set(versions)
    if lost:
        return f"{len(lost)} unchanged records are missing, such as {min(lost)}"
    if progress != sorted(progress) or progress[-1][0] != progress[-1][1]:
        return "progress decreased, or did not end at the total"
    if loaded.proof == "counted":
        return ""
    return _stale(model, fitting, versions) or _not_exact(model, before, loaded.proof, versions, parameters)


def _stale(model: Model, fitting: dict[str, Any], versions: Versions) -> str:
    """Find changed records that still exist but are missing, or that are older than at the beginning."""
    if model.setting.silent:
        return ""
    still = {key for key in fitting if key in model.rows and model.fits(model.rows[key], {})}
    for key, version in versions.items():
        if version and key in fitting and version < parse_instant(fitting[key]["meta"]["modifiedAt"]):
            return f"{key} is older than when the load began"
    if model.setting.period:
        return ""
    gone = still - set(versions)
    return f"{len(gone)} records that were changed are missing" if gone else ""


def _not_exact(model: Model, before: dict[str, Any], proof: str, wanted: Versions, parameters: dict[str, str]) -> str:
    """Check that a snapshot is one of the server's states."""
    if proof != "snapshot" or model.setting.silent or not model.setting.meta:
        return ""
    state = {key: _version(model, row, parameters) for key, row in before.items()}
    wrong = {key for key in wanted.keys() | state.keys() if wanted.get(key) != state.get(key)}
    for key, row in model.history:
        if not wrong:
            return ""
        (wrong.discard if wanted.get(key) == _version(model, row, parameters) else wrong.add)(key)
    return "a snapshot of no instant" if wrong else ""


def _version(model: Model, row: dict[str, Any] | None, parameters: dict[str, str]) -> dt.datetime | None:
    return parse_instant(row["meta"]["modifiedAt"]) if row is not None and model.fits(row, parameters) else None


def read_bare_pages(seed: int) -> Outcome:
    """Read the same list by pages side by side, duplicates removed, as most clients do."""
    setting = SETTINGS[seed % len(SETTINGS)][1]
    model = Model(setting, seed)
    transport, query = ShuffledTransport(model, seed + 1), query_of(setting)
    if setting.purged:
        _purge_later(model, transport, seed)
    before = model.begin()
    size = min(setting.page, setting.granted or setting.page)
    transport.send(0, (*query, ("limit", str(size)), ("offset", "0")))
    first = json.loads(transport.receive()[1].body)
    offsets = range(size, first["pagination"]["total"], size)
    for offset in offsets:
        transport.send(offset, (*query, ("limit", str(size)), ("offset", str(offset))))
    rows = first["data"] + [row for _ in offsets for row in json.loads(transport.receive()[1].body)["data"]]
    ids = {row[IDS[setting.resource]] for row in rows}
    stable = {key for key, row in before.items() if key not in model.written and model.fits(row, dict(query))}
    return Outcome(seed, "counted", "lost" if stable - ids else "", 1 + len(offsets))
